"""A draft: the index as it is, with the changes of a plan laid over it. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rag_dedup.document import Changes, Entry, EntryKey
from rag_dedup.index import View
from rag_dedup.index.memory import Tables
from rag_dedup.index.postings import I64, U64, Hits, cap_hits

__all__ = ["Draft"]


class Draft:
    """A view with changes laid over it."""

    def __init__(self, base: View) -> None:
        self._base = base
        self._new = Tables()
        self._new.next_order = base.next_order
        self._known: dict[EntryKey, Entry | None] = {}  # what the base says, as far as it was asked
        self._touched: dict[EntryKey, None] = {}  # here it is no longer so
        self._withdrawn: dict[int, None] = {}  # orders of survivors of the base that are no longer found
        self._unposted: dict[int, tuple[EntryKey, U64]] = {}

    @property
    def next_order(self) -> int:
        """The order that the next new entry gets."""
        return self._new.next_order

    @property
    def touched(self) -> Sequence[EntryKey]:
        """Every key that was put or removed."""
        return list(self._touched)

    def load(self, keys: Iterable[EntryKey]) -> None:
        """Ask the base for many entries at once."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known.update(zip(unknown, self._base.entries(unknown), strict=True))

    def before(self, key: EntryKey) -> Entry | None:
        """Return the entry of a key as the base has it."""
        if key not in self._known:
            self.load([key])
        return self._known[key]

    def entry(self, key: EntryKey) -> Entry | None:
        """Return the entry of a key."""
        return self._new.entry(key) if key in self._touched else self.before(key)

    def put(self, entry: Entry, signature: U64 | None = None) -> None:
        """Insert or replace an entry.

        Args:
            entry: the entry.
            signature: by which it can be found, ``(2 + bands,)``; ``None`` leaves that as it is.
        """
        key = entry.key
        self.before(key)
        self._touched[key] = None
        self._new.put(entry)
        if signature is not None:
            self._unposted[entry.order] = key, signature

    def remove(self, key: EntryKey) -> None:
        """Remove an entry."""
        entry, before = self.entry(key), self.before(key)
        if entry is not None:
            self._unposted.pop(entry.order, None)
            self._new.postings.withdraw([entry.order])
        if before is not None and before.survivor is None:
            self._withdrawn[before.order] = None
        self._touched[key] = None
        self._new.remove(key)

    def of_source(self, scope: str, source: str) -> list[Entry]:
        """Return the entries of a source."""
        return self._merge(
            self._base.of_sources([(scope, source)])[0], self._new.of_sources([(scope, source)])[0]
        )

    def of_survivor(self, key: EntryKey) -> list[Entry]:
        """Return the duplicates of a survivor."""
        return self._merge(self._base.of_survivors([key])[0], self._new.of_survivors([key])[0])

    def find(self, signatures: U64, limit: int) -> Hits:
        """Find survivors that share a key; for each key the earliest ``limit``."""
        self._post()
        here = self._new.find(signatures, limit, np.empty(0, np.int64))
        there = self._base.find(signatures, limit, _to_array(self._withdrawn))
        return cap_hits(Hits.join([here, there]), limit)

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors of these orders, which :meth:`find` has found."""
        here = [order for order in orders if order in self._new.postings]
        found = dict(zip(here, self._new.survivors_at(here), strict=True))
        there = [order for order in orders if order not in found]
        for order, entry in zip(there, self._base.survivors_at(there), strict=True):
            found[order] = self._new.entry(entry.key) or entry
        return [found[order] for order in orders]

    def changes(self) -> Changes:
        """Return what must be written to turn the base into the draft."""
        self._post()
        put = tuple(self._new)
        posted = tuple(entry for entry in put if entry.order in self._new.postings)
        return Changes(
            put=put,
            delete=tuple(key for key in self._touched if key not in self._new and self._known[key] is not None),
            posted=posted,
            signatures=self._new.postings.signatures_of([entry.order for entry in posted]),
            withdrawn=tuple(self._withdrawn),
        )

    def _post(self) -> None:
        """Make findable what was put."""
        if self._unposted:
            names = [name for name, _ in self._unposted.values()]
            signatures = np.stack([signature for _, signature in self._unposted.values()])
            self._new.postings.add(list(self._unposted), names, signatures)
            self._unposted = {}

    def _merge(self, from_base: Iterable[Entry], from_new: Iterable[Entry]) -> list[Entry]:
        entries = [entry for entry in from_base if entry.key not in self._touched]
        entries.extend(from_new)
        entries.sort(key=lambda entry: entry.order)
        return entries


def _to_array(orders: Iterable[int]) -> I64:
    return np.array(sorted(orders), dtype=np.int64)
