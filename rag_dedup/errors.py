"""What can go wrong, as one tree.

```
RagDedupError
├── InputError                  the documents of this call
│   ├── DuplicateIdError        one id, two texts
│   ├── MissingScopeError       a document without the scope it was told to have
│   └── UnreadableInputError    a file or record that cannot be read
├── ConfigurationError          a setting that cannot be right
│   └── MissingExtraError       an optional package is not installed
├── StateError                  the index
│   ├── SchemeMismatchError     made with other parameters
│   ├── StalePlanError          somebody committed in between
│   ├── UnavailableError        locked, read-only, full, or the server does not answer
│   ├── CorruptIndexError       what it holds cannot be read
│   ├── UnknownIdError          no such document in this scope
│   └── UnknownRunError         no such ingestion run in this scope
└── WorkerError                 an in-memory index cannot be shared by processes
```
"""

from __future__ import annotations

__all__ = [
    "ConfigurationError",
    "CorruptIndexError",
    "DuplicateIdError",
    "InputError",
    "MissingExtraError",
    "MissingScopeError",
    "RagDedupError",
    "SchemeMismatchError",
    "StalePlanError",
    "StateError",
    "UnavailableError",
    "UnknownIdError",
    "UnknownRunError",
    "UnreadableInputError",
    "WorkerError",
]


class RagDedupError(Exception):
    """Base of every error that rag_dedup raises on purpose."""


class InputError(RagDedupError, ValueError):
    """A document of this call cannot be decided on."""


class DuplicateIdError(InputError):
    """One call holds the same id with two different texts."""


class MissingScopeError(InputError):
    """A document lacks the scope that ``scope_key`` promised; there is no default scope."""


class UnreadableInputError(InputError):
    """A file or a record cannot be read; the text says which one and why."""


class ConfigurationError(RagDedupError, ValueError):
    """A setting cannot be right."""


class MissingExtraError(ConfigurationError, ImportError):
    """An optional package is not installed; the text is the pip command that installs it.

    >>> print(MissingExtraError("html", "trafilatura"))
    trafilatura is not installed: pip install 'rag-dedup[html]'
    """

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'rag-dedup[{extra}]'")
        self.extra = extra
        self.package = package

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.extra, self.package)


class StateError(RagDedupError):
    """The index and the caller do not agree."""


class SchemeMismatchError(StateError):
    """The index was filled with other parameters; its signatures cannot be compared with ours."""


class StalePlanError(StateError):
    """The index changed after this plan was made; nothing was written. Plan again."""


class UnavailableError(StateError):
    """The index cannot be reached or written now; nothing was written. Try again."""


class CorruptIndexError(StateError):
    """The index holds something that no version of this library has written."""


class UnknownIdError(StateError, KeyError):
    """The index holds no such document in this scope."""

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0]) if self.args else ""


class UnknownRunError(StateError):
    """The index has seen nothing in this ingestion run."""


class WorkerError(RagDedupError, RuntimeError):
    """An index in the memory of one process was about to be copied into another."""
