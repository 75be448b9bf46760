"""Entries in memory, and the ways to find them."""

from __future__ import annotations

import itertools
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Changes, Entry, EntryKey, GuardHit, Place, Run, Source
from rag_dedup.index.groups import Groups, join_name, split_name
from rag_dedup.index.postings import Postings
from rag_dedup.index.protocol import Measures, number_runs
from rag_dedup.index.runs import Hits
from rag_dedup.kernels.sets import I64, U64

__all__ = ["Tables"]

_SAMPLE = 1000
"""Entries that are measured."""
_LINKS = 300
"""Bytes that the ways to an entry take, about."""
_ATOMS = frozenset({str, int, float, bool, type(None)})
"""Types of metadata that need not be kept as they are."""

Packed = tuple[Any, ...]
"""An entry and its place as one plain tuple.

It takes less than half of the memory of the two, and since there is nothing but strings and numbers in
it, Python's garbage collector does not walk through it again and again. For the same reason these tuples
lie in an array, and are found by strings.
"""


class Tables:
    """A view, and the writes of a commit."""

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self.generation = 0
        self.next_order = 0
        self.postings = Postings()
        self.runs: list[Run] = []
        self.seen: dict[Source, int] = {}
        self._packed: npt.NDArray[np.object_] = np.empty(0, object)  # by order
        self._orders: dict[str, int] = {}  # by name
        self._sources = Groups()
        self._clusters = Groups()

    def __iter__(self) -> Iterator[Entry]:
        for order in range(self.next_order):
            packed = self._packed[order]
            if packed is not None:
                yield _unpack(packed)

    def entries(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return the entry of each key."""
        orders = [self._orders.get(join_name(*key)) for key in keys]
        return [None if order is None else _unpack(self._packed[order]) for order in orders]

    def of_sources(self, sources: Sequence[tuple[str, str]]) -> list[list[Entry]]:
        """Return the entries of each (scope, source)."""
        return [self.survivors_at(self._sources.orders(join_name(*source))) for source in sources]

    def of_survivors(self, survivors: Sequence[EntryKey]) -> list[list[Entry]]:
        """Return the duplicates of each survivor."""
        return [self.survivors_at(self._clusters.orders(join_name(*key))) for key in survivors]

    def find(self, signatures: U64, limit: int, without: I64) -> Hits:
        """Return the survivors that share a key."""
        return self.postings.find(signatures, limit, without)

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors that were found, by their orders."""
        return [_unpack(self._packed[order]) for order in orders]

    def list_runs(self) -> list[Run]:
        """Return the ingestion runs, in order."""
        return list(self.runs)

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        return {**dict.fromkeys(map(split_name, self._sources), 0), **self.seen}

    def measure(self) -> Measures:
        """Return how large the index is; entries are estimated from a few of them."""
        few = list(itertools.islice(filter(None, self._packed), _SAMPLE))
        each = sum(_LINKS + sum(map(sys.getsizeof, (packed, *packed))) for packed in few)
        size = self.postings.size() + each * len(self._orders) // max(len(few), 1)
        return Measures(size, *self.postings.count(), self.postings.find_largest_key())

    def mark(self, changes: Changes) -> None:
        """Remember what a run has seen, and forget sources."""
        for source in changes.forgotten:
            self.seen.pop(source, None)
        numbers = number_runs(self.runs, changes.runs)
        self.runs += [run for run, _ in numbers.new]
        for source in changes.seen:  # a late part of an earlier run takes nothing back
            self.seen[source] = max(self.seen.get(source, 0), numbers.by_scope[source[0]])

    def put(self, entries: Iterable[Entry]) -> None:
        """Insert or replace entries."""
        for entry in entries:
            name, order = join_name(*entry.key), entry.order
            if name in self._orders:
                self._remove(name)
            if order >= len(self._packed):
                self._grow(order + 1)
            # Named first: what an interrupt leaves half done is undone by name.
            self._orders[name] = order
            self._packed[order] = _pack(entry)
            for groups, group in self._name_groups(entry):
                groups.add(group, order)
            if order >= self.next_order:
                self.next_order = order + 1

    def remove(self, keys: Iterable[EntryKey]) -> None:
        """Remove entries, if they are there."""
        for key in keys:
            self._remove(join_name(*key))

    def _remove(self, name: str) -> None:
        order = self._orders.pop(name, None)
        if order is not None and (packed := self._packed[order]) is not None:
            for groups, group in self._name_groups(_unpack(packed)):
                groups.discard(group, order)
            self._packed[order] = None

    def _grow(self, needed: int) -> None:
        """Make room."""
        longer: npt.NDArray[np.object_] = np.empty(max(needed, len(self._packed) * 9 // 8 + 64), object)
        longer[: len(self._packed)] = self._packed
        self._packed = longer

    def _name_groups(self, entry: Entry) -> list[tuple[Groups, str]]:
        """Return what an entry belongs to."""
        scope = entry.key[0]
        groups = [(self._sources, join_name(scope, source)) for source in entry.sources]
        if entry.survivor is not None:
            groups.append((self._clusters, join_name(scope, entry.survivor)))
        return groups


def _pack(entry: Entry) -> Packed:
    (scope, id), text, own, order, place, survivor, method, similarity, guard, elsewhere = entry
    source, url, metadata, span, related = place
    plain = _ATOMS.issuperset(map(type, metadata.values()))
    return (
        *(scope, id, text, own, order, source, url),
        tuple(itertools.chain.from_iterable(metadata.items())) if plain else metadata,
        *(span, related, survivor, method, similarity),
        None if guard is None else tuple(guard),
        elsewhere,
    )


def _unpack(packed: Packed) -> Entry:
    scope, id, text, own, order, source, url, data, span, related, *verdict = packed
    survivor, method, similarity, guard, elsewhere = verdict
    metadata = dict(zip(data[::2], data[1::2], strict=True)) if type(data) is tuple else data
    return Entry(
        (scope, id),
        text,
        own,
        order,
        Place(source, url, metadata, span, related),
        survivor,
        method,
        similarity,
        None if guard is None else GuardHit(*guard),
        elsewhere,
    )
