"""What every index can do.

An index answers questions about survivors (who shares this exact key or a band?), entries, sources
and clusters, from a consistent :class:`View`; and it takes writes, one in a :class:`Transaction`,
which is atomic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

from rag_dedup.document import Changes, Document, Entry, EntryKey, Run, Source
from rag_dedup.errors import ConfigurationError, SchemeMismatchError
from rag_dedup.index.runs import Hits
from rag_dedup.kernels.sets import I64, U64

__all__ = [
    "Header",
    "Index",
    "Measures",
    "RunNumbers",
    "Transaction",
    "View",
    "check_header",
    "number_runs",
    "refuse_unfinished",
]


@dataclass(frozen=True, slots=True)
class Header:
    """What an index was filled with; other settings would make its entries mean something else."""

    fingerprint: str
    seed: int
    exact: str
    url: str
    threshold: float
    guards: tuple[str, ...]
    on_duplicate: str


class View(Protocol):
    """A consistent state of an index. Every question takes a batch; lists come in history order."""

    @property
    def identity(self) -> str:
        """Names the index."""

    @property
    def generation(self) -> int:
        """How many writes led to this state."""

    @property
    def next_order(self) -> int:
        """The order that the next new entry gets."""

    def __iter__(self) -> Iterator[Entry]:
        """Return every entry, in history order."""

    def entries(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return the entry of each key, ``None`` where there is none."""

    def of_sources(self, sources: Sequence[tuple[str, str]]) -> list[list[Entry]]:
        """Return the entries of each (scope, source)."""

    def of_survivors(self, survivors: Sequence[EntryKey]) -> list[list[Entry]]:
        """Return the duplicates that each survivor stands for, itself left out."""

    def find(self, signatures: U64, limit: int, without: I64) -> Hits:
        """Return the survivors that share the exact key (column 0) or a band (columns 1 and up).

        Args:
            signatures: of the texts to look for, ``(n, 2 + bands)``: halves of the exact key, then bands.
            limit: at most so many survivors for each key: the earliest.
            without: orders of survivors that do not count.
        """

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors of these orders, which :meth:`find` has found."""

    def list_runs(self) -> list[Run]:
        """Return the ingestion runs, in the order of their first commits; they are numbered from 1."""

    def list_sources(self) -> dict[Source, int]:
        """Return every (scope, source), and the number of the run that has seen it last, 0 for none.

        Some of them may no longer have any document.
        """

    def measure(self) -> Measures:
        """Return how large the index is."""


class Measures(NamedTuple):
    """How large an index is.

    Args:
        bytes: that it takes, as well as can be told.
        live: survivors that can be found.
        dead: others that still take room, until the index is compacted.
        largest_key: most survivors that share one key.
    """

    bytes: int
    live: int
    dead: int
    largest_key: int


@dataclass(slots=True)
class Transaction:
    """A state that nobody else changes meanwhile, and one write, made when the transaction ends.

    Args:
        view: the state.
        was_written: tells whether the write with a token is in the index.
        written: the token and the changes that are to be written.
    """

    view: View
    was_written: Callable[[str], bool]
    written: tuple[str, Changes] | None = None

    def write(self, token: str, changes: Changes) -> None:
        """Write ``changes`` as one step when the transaction ends."""
        self.written = token, changes


class Index(Protocol):
    """What every store can do."""

    @property
    def identity(self) -> str:
        """Names this very index: no other one, and no emptied one, has the same."""

    @property
    def shareable(self) -> bool:
        """Whether another process can open the same index."""

    @property
    def header(self) -> Header | None:
        """What the index was filled with, ``None`` if nothing was."""

    def adopt(self, header: Header, *, filled: bool = False) -> None:
        """Take the header if the index has none, else check it.

        Args:
            header: what the caller goes by.
            filled: the index has entries already. An import says last with which settings they were made.

        Raises:
            SchemeMismatchError: the index was filled with other settings.
            ConfigurationError: it has entries and no header, since what should have filled it did not end.
        """

    def check(self, document: Document) -> None:
        """See whether the index can hold a document.

        Raises:
            InputError: its metadata holds something that cannot be stored.
        """

    def compact(self) -> None:
        """Give back the room of what is gone, and put together what is needed together."""

    def drop(self) -> None:
        """Remove the index and all that it holds from its database."""

    def check_storage(self) -> list[str]:
        """Return what the database finds wrong with itself."""

    def snapshot(self) -> AbstractContextManager[View]:
        """Return a context in which the view does not change."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Return a context in which nobody else writes: what was written is there when it ends.

        An error in it, or the end of the process, leaves the index as it was.
        """


def refuse_unfinished() -> ConfigurationError:
    """Return the error of an index that has entries, and nothing that says what they were made with."""
    return ConfigurationError(
        "what should have filled this index was cut off, by an import or a merge that did not end: drop it "
        "(rag-dedup index drop) and fill it again"
    )


def check_header(stored: Header, wanted: Header) -> None:
    """Compare two headers.

    Raises:
        SchemeMismatchError: they differ; the text names what and says what to do.
    """
    differences = [
        f"{field.name}: index {getattr(stored, field.name)!r}, wanted {getattr(wanted, field.name)!r}"
        for field in fields(Header)
        if getattr(stored, field.name) != getattr(wanted, field.name)
    ]
    if differences:
        raise SchemeMismatchError(
            "this index was filled with other settings (" + "; ".join(differences) + "). "
            "Use those settings, or ingest everything again into a new index."
        )


class RunNumbers(NamedTuple):
    """The numbers of ingestion runs.

    Args:
        new: the runs that the index does not know yet.
        by_scope: the number of the run of each scope, known or not.
    """

    new: list[tuple[Run, int]]
    by_scope: dict[str, int]


def number_runs(known: Sequence[Run], runs: Sequence[Run]) -> RunNumbers:
    """Number ingestion runs from 1, in the order in which they come.

    Args:
        known: those that the index has, in order.
        runs: at most one for each scope.

    >>> number_runs([Run("", "May", 0)], [Run("", "May", 7), Run("b", "May", 7)]).by_scope
    {'': 1, 'b': 2}
    """
    numbers = {(run.scope, run.name): number for number, run in enumerate(known, start=1)}
    fresh = [run for run in runs if (run.scope, run.name) not in numbers]
    new = list(zip(fresh, range(len(known) + 1, len(known) + len(fresh) + 1), strict=True))
    numbers.update(((run.scope, run.name), number) for run, number in new)
    return RunNumbers(new, {run.scope: numbers[run.scope, run.name] for run in runs})
