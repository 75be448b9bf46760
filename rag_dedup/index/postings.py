"""Who has this key: a log-structured list of postings, in arrays.

A posting is a number of 64 bits: the upper half of a key, then the order of the survivor that has it.
New postings become a sorted run; runs of like size are merged (O'Neil et al., The log-structured
merge-tree, 1996), so that there are few and each batch of keys is searched in all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rag_dedup.document import EntryKey

__all__ = ["Hits", "Postings", "cap_hits"]

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_HALF = np.uint64(32)
_ORDER = np.uint64(0xFFFFFFFF)
_RATIO = 4
"""A run is at least so many times as long as the next: few are searched, and each is merged rarely."""
_FEW = 64
"""So many dead ones are not worth writing everything anew."""


class Hits(NamedTuple):
    """Survivors found under keys: text ``rows[i]`` shares key ``columns[i]`` with survivor ``orders[i]``.

    Sorted by row, column and order, and without repeats.
    """

    rows: I64
    columns: I64
    orders: I64

    @classmethod
    def join(cls, parts: Sequence[Hits]) -> Hits:
        """Put several together, sorted."""
        rows, columns, orders = (np.concatenate(column) for column in zip(*parts, strict=True))
        sequence = np.lexsort((orders, columns, rows))
        hits = cls(rows[sequence], columns[sequence], orders[sequence])
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(hits.rows) != 0) | (np.diff(hits.columns) != 0) | (np.diff(hits.orders) != 0)
        return hits.take(new)

    def take(self, which: npt.NDArray[np.bool_]) -> Hits:
        """Return those that are marked."""
        return Hits(self.rows[which], self.columns[which], self.orders[which])


def cap_hits(hits: Hits, limit: int) -> Hits:
    """Keep the earliest ``limit`` survivors under each key."""
    if len(hits.rows) <= limit:
        return hits
    first = np.ones(len(hits.rows), dtype=bool)
    first[1:] = (np.diff(hits.rows) != 0) | (np.diff(hits.columns) != 0)
    starts = np.flatnonzero(first)
    rank = np.arange(len(first)) - np.repeat(starts, np.diff(np.append(starts, len(first))))
    return hits.take(rank < limit)


class State(NamedTuple):
    """What changes in :class:`Postings`, saved."""

    count: int
    dead: int
    runs: tuple[U64, ...]
    orders: I64
    slots: I64


class Postings:
    """The signatures of survivors and, by key, the way back from them.

    A signature is a row of numbers: two halves of the exact key, then the band keys. The exact key counts
    as one key, column 0; the bands are columns 1 and up.
    """

    def __init__(self) -> None:
        self._count = 0
        self._signatures: U64 = np.empty((0, 2), np.uint64)
        self._names: list[EntryKey] = []
        self._slots: I64 = np.empty(0, np.int64)  # by order; -1 for none
        self._runs: tuple[U64, ...] = ()
        self._dead = 0

    def add(self, orders: Sequence[int], names: Sequence[EntryKey], signatures: U64) -> None:
        """Add survivors.

        Args:
            orders: their orders, below 2**32; none is there already.
            names: their keys.
            signatures: ``(n, 2 + bands)``.
        """
        if not len(orders):
            return
        count = self._count + len(orders)
        self._signatures = _grow(self._signatures, self._count, count, signatures.shape[1])
        self._signatures[self._count : count] = signatures
        del self._names[self._count :]
        self._names.extend(names)
        places = np.asarray(orders, np.int64)
        run = ((_keys_of(signatures) >> _HALF) << _HALF) | places.astype(np.uint64)[:, None]
        runs = _merge((*self._runs, np.sort(run, axis=None)))
        last = int(places.max())
        if last >= len(self._slots):
            slots = np.full(max(last + 1, 2 * len(self._slots)), -1, np.int64)
            slots[: len(self._slots)] = self._slots
            self._slots = slots
        # Visible only from here on.
        self._slots[places] = np.arange(self._count, count)
        self._runs, self._count = runs, count

    def withdraw(self, orders: Sequence[int]) -> None:
        """Forget survivors; what is not there is passed over."""
        places = np.asarray(orders, np.int64)
        places = places[places < len(self._slots)]
        self._dead += int(np.count_nonzero(self._slots[places] >= 0))
        self._slots[places] = -1

    def __contains__(self, order: int) -> bool:
        return order < len(self._slots) and bool(self._slots[order] >= 0)

    def name_of(self, order: int) -> EntryKey:
        """Return the key of a survivor."""
        return self._names[self._slots[order]]

    def signatures_of(self, orders: Sequence[int]) -> U64:
        """Return the signatures of survivors that are there."""
        return self._signatures[self._slots[np.asarray(orders, np.int64)]]

    def find(self, signatures: U64, limit: int, without: I64) -> Hits:
        """Find who shares a key.

        Args:
            signatures: of the texts to look for, ``(n, 2 + bands)``.
            limit: at most so many survivors for each key: the earliest.
            without: orders that do not count.
        """
        keys = _keys_of(signatures)
        flat = keys.ravel()
        sequence = np.argsort(flat)  # neighbours are found near each other, in the cache
        wanted = flat[sequence] >> _HALF
        parts = [self._search(run, wanted, sequence, keys, signatures, limit, without) for run in self._runs]
        none = np.empty(0, np.int64)
        return cap_hits(Hits.join([Hits(none, none, none), *parts]), limit)

    def _search(
        self, run: U64, wanted: U64, sequence: I64, keys: U64, signatures: U64, limit: int, without: I64
    ) -> Hits:
        """Find the earliest ``limit`` live survivors of each key in one run."""
        start = np.searchsorted(run, wanted << _HALF)
        found = start < len(run)
        found[found] = run[start[found]] >> _HALF == wanted[found]
        at = np.flatnonzero(found)
        start, places = start[at], sequence[at]
        stop = np.searchsorted(run, (wanted[at] << _HALF) | _ORDER, side="right")
        missing = np.full(len(at), limit, np.int64)
        parts = []
        while len(at):
            sizes = np.minimum(stop - start, missing)
            owner = np.repeat(np.arange(len(at)), sizes)
            offsets = np.cumsum(sizes) - sizes
            orders = (run[start[owner] + np.arange(len(owner)) - offsets[owner]] & _ORDER).astype(np.int64)
            rows, columns = np.divmod(places[owner], keys.shape[1])
            live = self._hold(rows, columns, orders, keys, signatures)
            if len(without):
                live &= ~np.isin(orders, without)
            parts.append(Hits(rows, columns, orders).take(live))
            # Where some were dead, later ones move up.
            start = start + sizes
            missing = missing - np.bincount(owner[live], minlength=len(at))
            at = np.flatnonzero((start < stop) & (missing > 0))
            start, stop, missing, places = start[at], stop[at], missing[at], places[at]
        none = np.empty(0, np.int64)
        return Hits.join([Hits(none, none, none), *parts])

    def _hold(self, rows: I64, columns: I64, orders: I64, keys: U64, signatures: U64) -> npt.NDArray[np.bool_]:
        """Tell which survivors are there and do have the whole key."""
        slots = self._slots[orders]
        there = np.where(columns == 0, 0, columns + 1)
        held = (slots >= 0) & (self._signatures[slots, there] == keys[rows, columns])
        return held & ((columns > 0) | (self._signatures[slots, 1] == signatures[rows, 1]))

    def compacted(self) -> Postings:
        """Return this, or what is live of it written anew when more than half is dead."""
        if self._dead <= _FEW or 2 * self._dead <= self._count:
            return self
        orders = np.flatnonzero(self._slots >= 0).tolist()
        fresh = Postings()
        fresh.add(orders, [self.name_of(order) for order in orders], self.signatures_of(orders))
        return fresh

    def save(self, orders: Sequence[int]) -> State:
        """Return what :meth:`restore` needs to undo changes of ``orders``."""
        places = np.asarray(orders, np.int64)
        places = places[places < len(self._slots)]
        return State(self._count, self._dead, self._runs, places, self._slots[places])

    def restore(self, state: State) -> None:
        """Come back to a saved state."""
        self._slots[self._slots >= state.count] = -1
        self._slots[state.orders] = state.slots
        self._count, self._dead, self._runs = state.count, state.dead, state.runs


def _keys_of(signatures: U64) -> U64:
    """Return one key for each column: the first half stands for the whole exact key."""
    return np.delete(signatures, 1, axis=1)


def _grow(array: U64, count: int, needed: int, width: int) -> U64:
    """Return ``array`` with room for ``needed`` rows, of which ``count`` are in use."""
    if needed <= len(array):
        return array
    wider = np.empty((max(needed, len(array) + len(array) // 2), width), array.dtype)
    wider[:count] = array[:count] if count else 0
    return wider


def _merge(runs: tuple[U64, ...]) -> tuple[U64, ...]:
    """Merge the last runs until each is several times as long as the next."""
    while len(runs) > 1 and len(runs[-2]) < _RATIO * len(runs[-1]):
        *rest, one, two = runs
        both = np.concatenate((one, two))
        both.sort(kind="stable")  # merges two sorted runs in linear time
        new = np.ones(len(both), dtype=bool)
        np.not_equal(both[1:], both[:-1], out=new[1:])
        runs = (*rest, both if new.all() else both[new])
    return runs
