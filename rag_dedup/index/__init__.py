"""The persistent memory: one protocol, one file for each store."""

from __future__ import annotations

from urllib.parse import parse_qsl

from rag_dedup.errors import ConfigurationError
from rag_dedup.index.memory import MemoryIndex
from rag_dedup.index.protocol import Header, Index, Transaction, View, check_header
from rag_dedup.index.stored import StoredIndex

__all__ = ["Header", "Index", "MemoryIndex", "Transaction", "View", "check_header", "open_index"]


def open_index(url: str, namespace: str | None = None, *, timeout: float | None = None) -> Index:
    """Return the index that ``url`` names.

    Args:
        url: ``memory://`` or ``sqlite:///path.db`` (four slashes before an absolute path); namespace and
            timeout can follow, as in ``sqlite:///path.db?namespace=docs&timeout=10``.
        namespace: names one of several indexes in a database (``default``).
        timeout: seconds to wait for another writer (60).

    Raises:
        ConfigurationError: no store is known for it, or it cannot be right.
        UnavailableError: the database cannot be reached.
        CorruptIndexError: the database holds something else.
        SchemeMismatchError: it was made by a newer version of this library.

    >>> type(open_index("memory://")).__name__
    'MemoryIndex'
    """
    scheme, mark, rest = url.partition("://")
    location, _, query = rest.partition("?")
    settings = _read_settings(query)
    if namespace is None:
        namespace = settings.get("namespace", "default")
    if timeout is None:
        timeout = _read_timeout(settings.get("timeout", "60"))
    if scheme == "memory" and mark and not location:
        return MemoryIndex()
    if scheme == "sqlite" and mark and location.startswith("/"):
        from rag_dedup.index.sqlite import SqliteStore

        return StoredIndex(SqliteStore(location[1:], namespace, timeout))
    raise ConfigurationError(  # never the whole URL: it can hold a password
        f"no index store for {scheme + '://...'!r}; there are 'memory://' and 'sqlite:///path.db'"
    )


def _read_settings(query: str) -> dict[str, str]:
    settings = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(settings.keys() - {"namespace", "timeout"})
    if unknown:
        raise ConfigurationError(f"an index has no setting {unknown[0]!r}; there are namespace and timeout")
    return settings


def _read_timeout(text: str) -> float:
    try:
        timeout = float(text)
    except ValueError:
        timeout = -1.0
    if not 0 <= timeout < 1e6:
        raise ConfigurationError(f"timeout must be seconds, 0 or more, not {text!r}")
    return timeout
