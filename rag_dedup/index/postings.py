"""Who has this key: sorted runs in memory, and the signatures of survivors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rag_dedup.index.runs import (
    ArrayRun,
    Hits,
    count_merged,
    drop_second_half,
    find_largest_key,
    is_worth_rewriting,
    make_run,
    merge_runs,
    search_runs,
)
from rag_dedup.kernels.sets import I64, U8, U64

__all__ = ["Postings"]

_BITS = (1 << np.arange(8)).astype(np.uint8)


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
        self._slots: I64 = np.empty(0, np.int64)  # by order; -1 for none
        self._runs: tuple[U64, ...] = ()
        self._sieve = Sieve(0)
        self._dead = 0

    def add(self, orders: Sequence[int], signatures: U64) -> None:
        """Add survivors.

        Args:
            orders: their orders, below 2**32; none is there already.
            signatures: ``(n, 2 + bands)``.
        """
        if not len(orders):
            return
        count = self._count + len(orders)
        self._signatures = _grow(self._signatures, self._count, count, signatures.shape[1])
        self._signatures[self._count : count] = signatures
        places = np.asarray(orders, np.int64)
        run = make_run(places, signatures)
        kept = len(self._runs) - count_merged(list(map(len, self._runs)), len(run))
        merged = merge_runs((*self._runs[kept:], run)) if kept < len(self._runs) else run
        runs = (*self._runs[:kept], merged)
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
        flat = drop_second_half(signatures).ravel()
        return search_runs(
            list(map(ArrayRun, self._runs)),
            signatures,
            np.flatnonzero(self._sieve.pass_keys(flat)),
            limit,
            without,
            self._hold,
        )

    def _hold(self, orders: I64) -> tuple[npt.NDArray[np.bool_], U64]:
        slots = self._slots[orders]
        return slots >= 0, self._signatures[slots]

    def compacted(self) -> Postings:
        """Return this, or what is live of it written anew when more than half is dead."""
        return self.rewritten() if is_worth_rewriting(self._dead, self._count - self._dead) else self

    def rewritten(self) -> Postings:
        """Return what is live of it, written anew."""
        orders = np.flatnonzero(self._slots >= 0).tolist()
        fresh = Postings()
        fresh.add(orders, self.signatures_of(orders))
        return fresh

    def size(self) -> int:
        """Return the bytes that the arrays take."""
        return self._signatures.nbytes + self._slots.nbytes + sum(run.nbytes for run in self._runs)

    def count(self) -> tuple[int, int]:
        """Return how many survivors are live, and how many dead."""
        return self._count - self._dead, self._dead

    def find_largest_key(self) -> int:
        """Return the most survivors that share one key."""
        return find_largest_key(list(map(ArrayRun, self._runs)))

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


def _grow(array: U64, count: int, needed: int, width: int) -> U64:
    """Return ``array`` with room for ``needed`` rows, of which ``count`` are in use."""
    if needed <= len(array):
        return array
    wider = np.empty((max(needed, len(array) + len(array) // 8), width), array.dtype)
    wider[:count] = array[:count] if count else 0
    return wider
