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
from rag_dedup.kernels.sets import I64, U8, U64

__all__ = ["Hits", "Postings", "drop_second_half", "find_starts"]

_HALF = np.uint64(32)
_ORDER = np.uint64(0xFFFFFFFF)
_BITS = (1 << np.arange(8)).astype(np.uint8)
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

    def pack(self, width: int) -> U64:
        """Return a number for each, of ``width`` columns; these sort as the hits do."""
        return ((self.rows * width + self.columns) << 32 | self.orders).astype(np.uint64)

    @classmethod
    def unpack(cls, packed: U64, width: int) -> Hits:
        """Return hits for the numbers."""
        rows, columns = np.divmod((packed >> _HALF).astype(np.int64), width)
        return cls(rows, columns, (packed & _ORDER).astype(np.int64))

    @classmethod
    def merge(cls, parts: Sequence[Hits], width: int, limit: int) -> Hits:
        """Put hits together; of each key only the earliest ``limit``."""
        packed = _drop_repeats(np.sort(np.concatenate([part.pack(width) for part in parts])))
        if len(packed) > limit:
            starts = find_starts(packed >> _HALF)
            rank = np.arange(len(packed)) - np.repeat(starts, np.diff(np.append(starts, len(packed))))
            packed = packed[rank < limit]
        return cls.unpack(packed, width)


class Sieve:
    """Tells of most keys that nobody has them: a bit for each value of their first bits (a Bloom filter
    with one hash, since keys are hashes already).

    Args:
        postings: how many there are; there is room for up to as many again.
    """

    def __init__(self, postings: int) -> None:
        width = max(16, (8 * postings).bit_length())
        self._capacity = (1 << width) // 8
        self._shift = np.uint64(64 - width)
        self._bits = np.zeros(1 << (width - 3), np.uint8)

    def widened(self, new: U64, runs: Sequence[U64]) -> Sieve:
        """Return a sieve that lets all runs pass: this one with what is ``new`` in them, or a larger one."""
        postings = sum(map(len, runs))
        if postings <= self._capacity:
            self.add(new)
            return self
        larger = Sieve(postings)
        for run in runs:
            larger.add(run)
        return larger

    def add(self, keys: U64) -> None:
        """Let keys pass from now on."""
        places = keys >> self._shift
        np.bitwise_or.at(self._bits, places >> np.uint64(3), _BITS[places & np.uint64(7)])

    def pass_keys(self, keys: U64) -> npt.NDArray[np.bool_]:
        """Tell which keys somebody may have."""
        places = keys >> self._shift
        passed: U8 = self._bits[places >> np.uint64(3)] & _BITS[places & np.uint64(7)]
        return passed > 0


class State(NamedTuple):
    """What changes in :class:`Postings`, saved."""

    used: int
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
        self._sieve = Sieve(0)
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
        run = ((drop_second_half(signatures) >> _HALF) << _HALF) | places.astype(np.uint64)[:, None]
        run = _drop_repeats(np.sort(run, axis=None))
        runs = _merge((*self._runs, run))
        self._sieve = self._sieve.widened(run, runs)
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

    def hold(self, orders: Sequence[int]) -> list[bool]:
        """Tell for each order whether it is there."""
        places = np.asarray(orders, np.int64)
        slots = np.append(self._slots, -1)  # the last one stands for what is beyond
        there: list[bool] = (slots[np.minimum(places, len(self._slots))] >= 0).tolist()
        return there

    def name_of(self, order: int) -> EntryKey:
        """Return the key of a survivor."""
        return self._names[int(self._slots[order])]

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
        keys = drop_second_half(signatures)
        flat = keys.ravel()
        sequence = np.flatnonzero(self._sieve.pass_keys(flat))
        # Sorted, so that neighbours are found near each other, in the cache.
        sequence = sequence[np.argsort(flat[sequence])]
        wanted = flat[sequence] >> _HALF
        none = np.empty(0, np.int64)
        parts = [Hits(none, none, none)]
        if len(wanted):
            for run in self._runs:
                parts += self._search(run, wanted, sequence, keys, signatures, limit, without)
        return Hits.merge(parts, keys.shape[1], limit)

    def _search(
        self, run: U64, wanted: U64, sequence: I64, keys: U64, signatures: U64, limit: int, without: I64
    ) -> list[Hits]:
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
            parts.append(Hits(rows[live], columns[live], orders[live]))
            # Where some were dead, later ones move up.
            start = start + sizes
            missing = missing - np.bincount(owner[live], minlength=len(at))
            at = np.flatnonzero((start < stop) & (missing > 0))
            start, stop, missing, places = start[at], stop[at], missing[at], places[at]
        return parts

    def _hold(
        self, rows: I64, columns: I64, orders: I64, keys: U64, signatures: U64
    ) -> npt.NDArray[np.bool_]:
        """Tell which survivors are there and do have the whole key."""
        slots = self._slots[orders]
        there = np.where(columns == 0, 0, columns + 1)
        held: npt.NDArray[np.bool_] = (slots >= 0) & (self._signatures[slots, there] == keys[rows, columns])
        held &= (columns > 0) | (self._signatures[slots, 1] == signatures[rows, 1])
        return held

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
        self._slots[self._slots >= state.used] = -1
        self._slots[state.orders] = state.slots
        self._count, self._dead, self._runs = state.used, state.dead, state.runs


def drop_second_half(signatures: U64) -> U64:
    """Return one key for each column: the first half stands for the whole exact key."""
    return np.delete(signatures, 1, axis=1)


def find_starts(values: npt.NDArray[np.generic]) -> I64:
    """Return where each run of equal values begins.

    >>> find_starts(np.array([4, 4, 7, 4])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(values), dtype=bool)
    new[1:] = values[1:] != values[:-1]
    return np.flatnonzero(new)


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
        runs = (*rest, _drop_repeats(both))
    return runs


def _drop_repeats(values: U64) -> U64:
    """Return sorted values, each once."""
    starts = find_starts(values)
    return values if len(starts) == len(values) else values[starts]
