"""The persistent memory: one protocol, one file for each store."""

from __future__ import annotations

from rag_dedup.errors import ConfigurationError
from rag_dedup.index.memory import MemoryIndex
from rag_dedup.index.protocol import Header, Index, Transaction, View, check_header

__all__ = ["Header", "Index", "MemoryIndex", "Transaction", "View", "check_header", "open_index"]


def open_index(url: str) -> Index:
    """Return the index that ``url`` names.

    Raises:
        ConfigurationError: no store is known for it.

    >>> type(open_index("memory://")).__name__
    'MemoryIndex'
    """
    if url == "memory://":
        return MemoryIndex()
    scheme = url.partition("://")[0]  # never the whole URL: it can hold a password
    raise ConfigurationError(f"no index store for {scheme + '://...'!r}; there is 'memory://'")
