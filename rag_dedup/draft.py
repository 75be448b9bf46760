"""A draft: the index as it is, with the changes of a plan laid over it. Nothing is written."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from rag_dedup.document import Changes, Entry, EntryKey, Source
from rag_dedup.index import View
from rag_dedup.index.postings import Postings
from rag_dedup.index.runs import Hits
from rag_dedup.kernels.sets import I64, U64

__all__ = ["Draft"]


class Draft:
    """A view with changes laid over it."""

    def __init__(self, base: View) -> None:
        self._base = base
        self._known: dict[EntryKey, Entry | None] = {}  # what the base says, as far as it was asked
        self._members: dict[Source, list[Entry]] = {}  # likewise, by source
        self._new: dict[EntryKey, Entry | None] = {}  # what is otherwise here; None for what is gone
        self._relations: Relations | None = None  # of what is new; made when first asked for
        self._postings = Postings()
        self._posted: dict[int, EntryKey] = {}  # by order: who is in them
        self._unposted: dict[int, tuple[EntryKey, int]] = {}  # by order: rows of what is signed
        self._signed: U64 = np.empty((0, 2), np.uint64)
        self._withdrawn: dict[int, None] = {}  # orders of survivors of the base that are no longer found
        self.next_order = base.next_order
        """The order that the next new entry gets."""

    @property
    def touched(self) -> Iterable[EntryKey]:
        """Every key that was put or removed, in that order."""
        return self._new.keys()

    def load(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return many entries, asking the base but once."""
        unknown = [key for key in keys if key not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._base.entries(unknown), strict=True))
        return list(map(self.entry, keys)) if self._new else list(map(self._known.get, keys))

    def before(self, key: EntryKey) -> Entry | None:
        """Return the entry of a key as the base has it."""
        if key not in self._known:
            (self._known[key],) = self._base.entries([key])
        return self._known[key]

    def entry(self, key: EntryKey) -> Entry | None:
        """Return the entry of a key."""
        if key in self._new:
            return self._new[key]
        return self._known[key] if key in self._known else self.before(key)

    def put(self, entry: Entry) -> None:
        """Insert or replace an entry; it is found by what it was found by before."""
        key = entry.key
        if self._relations is not None:
            if (old := self._new.get(key)) is not None:
                self._relations.discard(old)
            self._relations.add(entry)
        self._new[key] = entry
        if entry.order >= self.next_order:
            self.next_order = entry.order + 1

    def post(self, entry: Entry, signatures: U64, row: int) -> None:
        """Make an entry that is there findable by a row of signatures ``(n, 2 + bands)``."""
        if signatures is not self._signed:
            self._post()
            self._signed = signatures
        self._unposted[entry.order] = entry.key, row

    def remove(self, key: EntryKey) -> None:
        """Remove an entry that is there."""
        entry, before = self.entry(key), self.before(key)
        assert entry is not None, "only what is there is removed"
        self._unposted.pop(entry.order, None)
        self._postings.withdraw([entry.order])
        if before is not None and before.survivor is None:
            self._withdrawn[before.order] = None
        if self._relations is not None and (old := self._new.get(key)) is not None:
            self._relations.discard(old)
        self._new[key] = None

    def load_sources(self, sources: Iterable[Source]) -> None:
        """Ask the base for the entries of many sources at once."""
        unknown = [source for source in dict.fromkeys(sources) if source not in self._members]
        if unknown:
            self._members.update(zip(unknown, self._base.of_sources(unknown), strict=True))

    def of_source(self, source: Source) -> list[Entry]:
        """Return the entries of a source."""
        self.load_sources([source])
        return self._merge(self._members[source], self._relate().of_source(source))

    def of_survivor(self, key: EntryKey) -> list[Entry]:
        """Return the duplicates of a survivor."""
        (there,) = self._base.of_survivors([key])
        return self._merge(there, self._relate().of_survivor(key))

    def before_of_survivor(self, key: EntryKey) -> list[Entry]:
        """Return the duplicates of a survivor as the base has them."""
        return self._base.of_survivors([key])[0]

    def find(self, signatures: U64, limit: int) -> Hits:
        """Find survivors that share a key; for each key the earliest ``limit``."""
        self._post()
        here = self._postings.find(signatures, limit, _to_array(()))
        there = self._base.find(signatures, limit, _to_array(self._withdrawn))
        return Hits.merge([here, there], signatures.shape[1] - 1, limit)

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors of these orders, which :meth:`find` has found."""
        there = [order for order, here in zip(orders, self._postings.hold(orders), strict=True) if not here]
        found = self._base.survivors_at(there) if there else []
        self._known.update((entry.key, entry) for entry in found)
        keys = {entry.order: entry.key for entry in found}
        wanted = [keys[order] if order in keys else self._posted[order] for order in orders]
        return [entry for entry in self.load(wanted) if entry is not None]

    def changes(self) -> Changes:
        """Return what must be written to turn the base into the draft."""
        put = tuple(entry for entry in self._new.values() if entry is not None)
        orders = [entry.order for entry in put]
        posted = self._postings.hold(orders)
        waiting = [order in self._unposted for order in orders]
        signed = self._postings.signatures_of(list(itertools.compress(orders, posted)))
        unposted = self._signed[[self._unposted[order][1] for order in itertools.compress(orders, waiting)]]
        return Changes(
            put=put,
            delete=tuple(key for key, e in self._new.items() if e is None and self.before(key) is not None),
            posted=(*itertools.compress(put, posted), *itertools.compress(put, waiting)),
            signatures=np.concatenate((signed, unposted)) if len(signed) else unposted,
            withdrawn=tuple(self._withdrawn),
        )

    def _post(self) -> None:
        """Make findable what was put."""
        if self._unposted:
            self._posted.update((order, key) for order, (key, _) in self._unposted.items())
            rows = [row for _, row in self._unposted.values()]
            self._postings.add(list(self._unposted), self._signed[rows])
            self._unposted = {}

    def _relate(self) -> Relations:
        if self._relations is None:
            self._relations = Relations(entry for entry in self._new.values() if entry is not None)
        return self._relations

    def _merge(self, from_base: Iterable[Entry], keys: Iterable[EntryKey]) -> list[Entry]:
        entries = [entry for entry in from_base if entry.key not in self._new]
        entries.extend(entry for key in keys if (entry := self._new[key]) is not None)
        entries.sort(key=lambda entry: entry.order)
        return entries


_Keys = dict[EntryKey, None]  # an ordered set


class Relations:
    """The keys of entries, by source and by survivor, each in the order in which they came."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_source: dict[tuple[str, str], _Keys] = {}
        self._by_survivor: dict[EntryKey, _Keys] = {}
        for entry in entries:
            self.add(entry)

    def sources(self) -> Iterable[tuple[str, str]]:
        """Return every (scope, source) that has entries."""
        return self._by_source

    def of_source(self, source: tuple[str, str]) -> Iterable[EntryKey]:
        """Return the keys of the entries of a (scope, source)."""
        return self._by_source.get(source, ())

    def of_survivor(self, survivor: EntryKey) -> Iterable[EntryKey]:
        """Return the keys of the duplicates of a survivor."""
        return self._by_survivor.get(survivor, ())

    def add(self, entry: Entry) -> None:
        """Take in an entry."""
        key = entry.key
        if entry.source is not None:
            _include(self._by_source, (key[0], entry.source), key)
        for source, _ in entry.elsewhere:
            _include(self._by_source, (key[0], source), key)
        if entry.survivor is not None:
            _include(self._by_survivor, (key[0], entry.survivor), key)

    def discard(self, entry: Entry) -> None:
        """Take out an entry."""
        key = entry.key
        for source in entry.sources:
            _exclude(self._by_source, (key[0], source), key)
        if entry.survivor is not None:
            _exclude(self._by_survivor, (key[0], entry.survivor), key)


def _include(table: dict[tuple[str, str], _Keys], name: tuple[str, str], key: EntryKey) -> None:
    keys = table.get(name)
    if keys is None:
        table[name] = {key: None}
    else:
        keys[key] = None


def _exclude(table: dict[tuple[str, str], _Keys], name: tuple[str, str], key: EntryKey) -> None:
    keys = table.get(name, {})
    keys.pop(key, None)  # not there if an interrupt came while it was taken in
    if not keys:
        table.pop(name, None)


def _to_array(orders: Iterable[int]) -> I64:
    return np.array(sorted(orders), dtype=np.int64)
