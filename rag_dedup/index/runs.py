"""Sorted runs of postings, and the search in them.

A posting is a number of 64 bits: the upper half of a key, then the order of the survivor that has it.
New postings become a sorted run; runs of like size are merged (O'Neil et al., The log-structured
merge-tree, 1996), so that there are few and each batch of keys is searched in all of them at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rag_dedup.kernels.sets import I64, U64

__all__ = [
    "ArrayRun",
    "Hits",
    "Holders",
    "Run",
    "Window",
    "count_merged",
    "drop_second_half",
    "find_largest_key",
    "find_starts",
    "is_worth_rewriting",
    "make_run",
    "merge_runs",
    "search_runs",
]

_HALF = np.uint64(32)
_ORDER = np.uint64(0xFFFFFFFF)
_COMMON = 32
"""Keys of each run that are looked at to find the largest."""
_FEW = 64
"""So many dead ones are not worth writing everything anew."""
_RATIO = 4
"""A run is at least so many times as long as the next: few are searched, and each is merged rarely."""


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


class Window(Protocol):
    """A part of a run, or all of it."""

    def locate(self, values: U64, *, after: bool = False) -> I64:
        """Return where in the run values would stand: before equal ones, or after them."""

    def take(self, places: I64) -> U64:
        """Return the postings at these places."""


class Run(Protocol):
    """Sorted postings, each once."""

    def windows(self, wanted: U64) -> Iterator[tuple[slice, Window]]:
        """Return parts of sorted half keys, and for each where their postings can be looked up."""

    def blocks(self) -> Iterator[U64]:
        """Return all postings, block by block."""


class ArrayRun:
    """A run in memory: a run and its only window."""

    def __init__(self, postings: U64) -> None:
        self._postings = postings

    def windows(self, wanted: U64) -> Iterator[tuple[slice, Window]]:
        """Return all at once."""
        yield slice(0, len(wanted)), self

    def blocks(self) -> Iterator[U64]:
        """Return all at once."""
        yield self._postings

    def locate(self, values: U64, *, after: bool = False) -> I64:
        """Return where values would stand."""
        return np.searchsorted(self._postings, values, side="right" if after else "left")

    def take(self, places: I64) -> U64:
        """Return the postings at these places."""
        return self._postings[places]


Holders = Callable[[I64], tuple[npt.NDArray[np.bool_], U64]]
"""Tells of orders which survivors are there, and with what signatures; others have any."""


def search_runs(
    runs: Sequence[Run], signatures: U64, places: I64, limit: int, without: I64, holders: Holders
) -> Hits:
    """Find who shares a key.

    Args:
        runs: where to look.
        signatures: of the texts to look for, ``(n, 2 + bands)``.
        places: which of their keys to look for; a place is ``row * columns + column``.
        limit: at most so many survivors for each key: the earliest.
        without: orders that do not count.
        holders: tells who is there.
    """
    keys = drop_second_half(signatures)
    flat = keys.ravel()
    # Sorted, so that neighbours are found near each other, in the cache.
    places = places[np.argsort(flat[places])]
    wanted = flat[places] >> _HALF
    none = np.empty(0, np.int64)
    parts = [Hits(none, none, none)]
    hold = partial(_hold, keys=keys, signatures=signatures, without=without, holders=holders)
    if len(wanted):
        for run in runs:
            for part, window in run.windows(wanted):
                parts += _search(window, wanted[part], places[part], keys.shape[1], limit, hold)
    return Hits.merge(parts, keys.shape[1], limit)


def _search(
    window: Window,
    wanted: U64,
    places: I64,
    width: int,
    limit: int,
    hold: Callable[[I64, I64, I64], npt.NDArray[np.bool_]],
) -> list[Hits]:
    """Find the earliest ``limit`` live survivors of each key in one window."""
    start = window.locate(wanted << _HALF)
    stop = window.locate((wanted << _HALF) | _ORDER, after=True)
    at = np.flatnonzero(start < stop)
    start, stop, places = start[at], stop[at], places[at]
    missing = np.full(len(at), limit, np.int64)
    parts = []
    while len(at):
        sizes = np.minimum(stop - start, missing)
        owner = np.repeat(np.arange(len(at)), sizes)
        offsets = np.cumsum(sizes) - sizes
        found = window.take(start[owner] + np.arange(len(owner)) - offsets[owner])
        orders = (found & _ORDER).astype(np.int64)
        rows, columns = np.divmod(places[owner], width)
        live = hold(rows, columns, orders)
        parts.append(Hits(rows[live], columns[live], orders[live]))
        # Where some were dead, later ones move up.
        start = start + sizes
        missing = missing - np.bincount(owner[live], minlength=len(at))
        at = np.flatnonzero((start < stop) & (missing > 0))
        start, stop, missing, places = start[at], stop[at], missing[at], places[at]
    return parts


def _hold(
    rows: I64,
    columns: I64,
    orders: I64,
    *,
    keys: U64,
    signatures: U64,
    without: I64,
    holders: Holders,
) -> npt.NDArray[np.bool_]:
    """Tell which survivors count: those that are there and do have the whole key."""
    there, held = holders(orders)
    column = np.where(columns == 0, 0, columns + 1)
    same: npt.NDArray[np.bool_] = there & (held[np.arange(len(held)), column] == keys[rows, columns])
    same &= (columns > 0) | (held[:, 1] == signatures[rows, 1])
    if len(without):
        same &= ~np.isin(orders, without)
    return same


def find_largest_key(runs: Sequence[Run]) -> int:
    """Return how many postings the key has that has most; those of dead survivors count too."""
    common = np.unique(np.array([key for run in runs for key in _list_common(run)], np.uint64))
    if not len(common):
        return 0
    total = np.zeros(len(common), np.int64)
    for run in runs:
        for part, window in run.windows(common):
            first, last = common[part] << _HALF, (common[part] << _HALF) | _ORDER
            total[part] += window.locate(last, after=True) - window.locate(first)
    return int(total.max())


def _list_common(run: Run) -> list[int]:
    """Return the half keys of a run that have most postings."""
    counts: dict[int, int] = {}
    for block in run.blocks():
        keys = block >> _HALF
        starts = find_starts(keys)
        sizes = np.diff(np.append(starts, len(keys)))
        # A key can go on in the next block, so that the first and the last always count.
        most = np.union1d(np.argsort(-sizes, kind="stable")[:_COMMON], [0, len(sizes) - 1])
        for i in most.tolist() if len(sizes) else ():
            key = int(keys[starts[i]])
            counts[key] = counts.get(key, 0) + int(sizes[i])
        if len(counts) > 100 * _COMMON:
            counts = _keep_largest(counts)
    return list(_keep_largest(counts))


def _keep_largest(counts: dict[int, int]) -> dict[int, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_COMMON])


def make_run(orders: I64, signatures: U64) -> U64:
    """Return the sorted postings of survivors: orders below 2**32, signatures ``(n, 2 + bands)``."""
    run = ((drop_second_half(signatures) >> _HALF) << _HALF) | orders.astype(np.uint64)[:, None]
    return _drop_repeats(np.sort(run, axis=None))


def count_merged(lengths: Sequence[int], new: int, longest: int = sys.maxsize) -> int:
    """Return how many of the last runs a new one is merged with, by their lengths.

    Args:
        lengths: of the runs.
        new: the length of the new one.
        longest: no merged run is longer.

    Afterwards each run is several times as long as the next, so that few are searched and each posting
    is written rarely.

    >>> count_merged([1000, 90, 20], 10)
    2
    """
    merged = 0
    for length in reversed(lengths):
        if length >= _RATIO * new or length + new > longest:
            break
        new += length
        merged += 1
    return merged


def is_worth_rewriting(dead: int, live: int) -> bool:
    """Tell whether so many are dead that all runs should be written anew."""
    return dead > max(live, _FEW)


def merge_runs(runs: Sequence[U64]) -> U64:
    """Return one run with the postings of all."""
    both = np.concatenate(runs)
    both.sort(kind="stable")  # merges sorted runs in linear time
    return _drop_repeats(both)


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


def _drop_repeats(values: U64) -> U64:
    """Return sorted values, each once."""
    starts = find_starts(values)
    return values if len(starts) == len(values) else values[starts]
