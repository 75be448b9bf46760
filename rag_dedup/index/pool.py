"""Connections, handed out to one user at a time; a child process opens its own."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

__all__ = ["Pool"]


class Closable(Protocol):
    """A connection."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)


class Pool(Generic[C]):
    """Connections that are open and not in use. Safe to use from several threads.

    Args:
        connect: opens another one.
    """

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._free: dict[int, list[C]] = {}  # by process: after a fork there are those of the parent
        weakref.finalize(self, _close_free, self._free)

    @contextmanager
    def connection(self) -> Iterator[C]:
        """Return a connection that nobody else uses meanwhile; after an error it is closed."""
        free = self._free.setdefault(os.getpid(), [])
        try:
            connection = free.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        free.append(connection)

    def close(self) -> None:
        """Close the connections that are not in use."""
        _close_free(self._free)


def _close_free(free: Mapping[int, list[C]]) -> None:
    mine = free.get(os.getpid(), [])
    while mine:
        mine.pop().close()
