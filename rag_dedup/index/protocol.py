"""What every index can do.

An index answers questions about survivors (who shares this exact key or a band?), entries, sources
and clusters, from a consistent :class:`View`; and it takes one write, :meth:`Index.apply`, which is
atomic and says which state it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Protocol

from rag_dedup.document import Changes, Entry, EntryKey
from rag_dedup.errors import SchemeMismatchError
from rag_dedup.index.postings import Hits
from rag_dedup.kernels.sets import I64, U64

__all__ = ["Header", "Index", "View", "check_header"]


@dataclass(frozen=True, slots=True)
class Header:
    """What an index was filled with; other settings would make its entries mean something else."""

    fingerprint: str
    exact: str
    url: str
    threshold: float
    guards: tuple[str, ...]
    on_duplicate: str


class View(Protocol):
    """A consistent state of an index. Every question takes a batch; lists come in history order."""

    @property
    def generation(self) -> int:
        """How many writes led to this state."""

    @property
    def next_order(self) -> int:
        """The order that the next new entry gets."""

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


class Index(Protocol):
    """What every store can do."""

    @property
    def identity(self) -> str:
        """Names this very index: no other one, and no emptied one, has the same."""

    @property
    def shareable(self) -> bool:
        """Whether another process can open the same index."""

    def adopt(self, header: Header) -> None:
        """Take the header if the index is new, else check it.

        Raises:
            SchemeMismatchError: the index was filled with other settings.
        """

    def snapshot(self) -> AbstractContextManager[View]:
        """Return a context in which the view does not change."""

    def apply(self, generation: int, token: str, changes: Changes) -> None:
        """Write ``changes`` as one step from ``generation``; the same token again does nothing.

        Raises:
            StalePlanError: the index is no longer at ``generation``; nothing was written.
        """


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
