"""The stores that an index can be kept in, for tests that all of them must pass."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

from rag_dedup import open_index
from rag_dedup.index import Index
from tests.servers import share_postgres, share_redis

_numbers = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="rag-dedup-", ignore_cleanup_errors=True)


def locate_memory() -> str:
    return "memory://"


def locate_sqlite() -> str:
    """Return the URL of an index that is not there yet, in a file with others."""
    return f"sqlite:///{Path(_folder.name) / 'index.db'}?namespace=test%20{next(_numbers)}"


def locate_postgres() -> str:
    """Return the URL of an index that is not there yet, in a database with others."""
    return f"{share_postgres().url}?namespace=test%20{next(_numbers)}"


def locate_redis() -> str:
    """Return the URL of an index that is not there yet, in a server with others."""
    return f"{share_redis().url}?namespace=test%20{next(_numbers)}"


STORES: dict[str, Callable[[], str]] = {
    "memory": locate_memory,
    "sqlite": locate_sqlite,
    "postgres": locate_postgres,
    "redis": locate_redis,
}
"""By name: what returns the URL of a new index."""


def make_index(store: str) -> Index:
    """Return a new index in a store."""
    return open_index(STORES[store]())
