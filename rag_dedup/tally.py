"""A bounded table of what was seen on which pages.

One entry for each key: on which pages it was seen, and on which of them in the lower half, as sets of
256 bits, and its *witnesses*. A page sets the same bit each time, so that reading it again changes
nothing, and the union of two tables is that of the pages they saw. How many pages there are is
estimated by linear counting (Whang, Vander-Zanden and Taylor, 1990): exact to one page up to ten, to some
15 % up to 500. The few that decide whether something is repeated are counted exactly: up to a limit, the
witnesses hold each of the three names of a page.

Entries lie in arrays, of which each takes a fixed number of bytes; the least recently seen go first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_PAGES", "Tally"]

_WORDS = 4
_BITS = 64 * _WORDS

_DICTIONARY_BYTES = 240
"""Bytes that an entry takes in the dictionary of rows at worst, right after the dictionary has grown."""

_LEAST_ROWS = 256

_POPCOUNT = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
_ESTIMATE = np.array([round(-_BITS * math.log(1 - n / _BITS)) for n in range(_BITS)] + [2048])
MOST_PAGES = int(_ESTIMATE[-1])
"""What an entry says that is on more pages than can be told apart."""

Rows = NDArray[np.intp]
Sizes = NDArray[np.int64]


class Tally:
    """On how many pages each key was seen. Not thread-safe: the owner has the lock.

    Args:
        capacity: most entries, 1 or more.
        limit: names of a page that are told apart exactly for each entry; 0: none are kept.

    >>> tally = Tally(100, 2)
    >>> for page in (7, 8, 8):
    ...     tally.add([1, 2], page, (page, page, 1), low=[False, True])
    True
    True
    False
    >>> rows = tally.find([1, 3])
    >>> tally.count(rows).tolist(), tally.count_witnesses(rows).tolist()
    ([2, 0], [[2, 2, 1], [0, 0, 0]])
    """

    def __init__(self, capacity: int, limit: int) -> None:
        self.capacity = capacity
        self.limit = limit
        self._rows: dict[int, int] = {}
        self._clock = 0
        self._columns = self._make_columns(min(_LEAST_ROWS, capacity + 1))
        self._next = 1  # row 0 stands for all that is not known
        self._free: list[int] = []

    @staticmethod
    def measure_entry(limit: int) -> int:
        """Return the bytes that an entry takes at most, while the arrays grow."""
        return 2 * sum(
            np.dtype(kind).itemsize * math.prod(shape) for kind, shape in _describe(limit).values()
        ) + (_DICTIONARY_BYTES)

    def _make_columns(self, rows: int) -> dict[str, NDArray[Any]]:
        return {
            name: np.zeros((rows, *shape), dtype=kind)
            for name, (kind, shape) in _describe(self.limit).items()
        }

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, keys: Sequence[int]) -> Rows:
        """Return the row of each key, 0 for those that are not known."""
        get = self._rows.get
        return np.fromiter((get(key, 0) for key in keys), dtype=np.intp, count=len(keys))

    def count(self, rows: Rows) -> Sizes:
        """Return on how many pages each was seen, about."""
        estimates = _estimate(self._columns["pages"][rows])
        if not self.limit:
            return estimates
        exact = self._columns["filled"][rows, 0]
        full = exact >= self.limit
        counts: Sizes = np.where(full, np.maximum(estimates, exact), exact)
        return counts

    def count_low(self, rows: Rows) -> Sizes:
        """Return on how many pages each was seen in the lower half, about."""
        return _estimate(self._columns["low"][rows])

    def count_witnesses(self, rows: Rows) -> NDArray[np.uint16]:
        """Return how many of each of the three names were seen, up to the limit."""
        filled: NDArray[np.uint16] = self._columns["filled"][rows]
        return filled

    def add(
        self,
        keys: Sequence[int],
        page: int,
        names: tuple[int, int, int],
        low: Sequence[bool] | NDArray[np.bool_],
    ) -> bool:
        """Note that all ``keys``, each of them once, are on a page.

        Args:
            keys: at most as many as there is room for are noted, the first ones.
            page: its hash, 64 bits.
            names: what it is called, 32 bits each: pages that share one are no witnesses apart.
            low: which keys are in the lower half of the page.

        Returns:
            Whether that was news.
        """
        keys = keys[: self.capacity]
        rows, _ = self._find_or_allot(keys)
        lower = rows[np.asarray(low[: len(keys)], dtype=bool)]
        return bool(
            self._set_bit("pages", rows, page)
            | self._set_bit("low", lower, page)
            | (self.limit > 0 and self._witness(rows, np.array(names, dtype=np.uint32)))
        )

    def _find_or_allot(self, keys: Sequence[int]) -> tuple[Rows, bool]:
        """Return the row of each key, all seen now, and whether some are new."""
        self._clock += 1
        rows = self.find(keys)
        fresh = np.flatnonzero(rows == 0)
        used = self._columns["used"]
        if len(fresh):
            # What this call names is not to go for what this call brings.
            used[rows[rows > 0]] = self._clock
            rows[fresh] = self._allot([keys[i] for i in fresh.tolist()])
        self._columns["used"][rows] = self._clock
        return rows, len(fresh) > 0

    def _set_bit(self, name: str, rows: Rows, page: int) -> bool:
        column = self._columns[name]
        bit = np.uint64(1 << (page & 63))
        word = (page >> 6) % _WORDS
        before = column[rows, word]
        column[rows, word] = before | bit
        return not bool((before & bit).all())

    def _witness(self, rows: Rows, names: NDArray[np.uint32]) -> bool:
        """Add ``names`` to the witnesses of each row that has room and has not got them."""
        filled = self._columns["filled"]
        open_rows = rows[(filled[rows] < self.limit).any(axis=1)]
        if not len(open_rows):
            return False
        held = self._columns["witnesses"][open_rows]
        count = filled[open_rows]
        known = (held == names[None, :, None]) & (np.arange(self.limit) < count[:, :, None])
        at, name = np.nonzero(~known.any(axis=2) & (count < self.limit))
        self._columns["witnesses"][open_rows[at], name, count[at, name]] = names[name]
        filled[open_rows[at], name] += 1
        return bool(len(at))

    def _allot(self, keys: list[int]) -> list[int]:
        """Give each new key a row of zeros."""
        excess = len(self._rows) + len(keys) - self.capacity
        if excess > 0:
            self._evict(max(excess, self.capacity // 16))
        reused = [self._free.pop() for _ in range(min(len(self._free), len(keys)))]
        first = self._next
        self._next += len(keys) - len(reused)
        if self._next > len(self._columns["keys"]):
            self._grow(self._next)
        rows = reused + list(range(first, self._next))
        self._columns["keys"][rows] = np.array(keys, dtype=np.uint64)
        self._rows.update(zip(keys, rows, strict=True))
        return rows

    def _grow(self, least: int) -> None:
        rows = min(max(least, 2 * len(self._columns["keys"])), self.capacity + 1)
        for name in list(self._columns):  # one after the other, so that one only is there twice
            old = self._columns[name]
            new = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            self._columns[name] = new

    def _evict(self, count: int) -> None:
        """Forget the least recently seen; of those seen together, the first. What is seen now stays."""
        used = self._columns["used"][: self._next]
        idle = np.flatnonzero((used > 0) & (used < self._clock))
        oldest = idle[np.argsort(used[idle], kind="stable")[:count]]
        for key in self._columns["keys"][oldest].tolist():
            del self._rows[key]
        for column in self._columns.values():
            column[oldest] = 0
        self._free.extend(oldest[::-1].tolist())

    def merge(self, other: Tally) -> bool:
        """Add what another table of the same limit has seen; tell whether that was news.

        The order in which tables are merged changes nothing but which entries go when there is no room.
        """
        theirs = np.flatnonzero(other._columns["used"][: other._next])
        theirs = theirs[np.argsort(other._columns["used"][theirs], kind="stable")][-self.capacity :]
        news = False
        step = min(4096, self.capacity)
        for start in range(0, len(theirs), step):
            news |= self._merge_rows(other, theirs[start : start + step])
        return news

    def _merge_rows(self, other: Tally, theirs: Rows) -> bool:
        rows, news = self._find_or_allot(other._columns["keys"][theirs].tolist())
        for name in ("pages", "low"):
            mine, added = self._columns[name][rows], other._columns[name][theirs]
            news |= bool((added & ~mine).any())
            self._columns[name][rows] = mine | added
        for position in range(self.limit):
            held = other._columns["filled"][theirs] > position
            for which in range(3):
                has = np.flatnonzero(held[:, which])
                values = other._columns["witnesses"][theirs[has], which, position]
                news |= self._witness_name(rows[has], which, values)
        return news

    def _witness_name(self, rows: Rows, which: int, values: NDArray[np.uint32]) -> bool:
        count = self._columns["filled"][rows, which]
        held = self._columns["witnesses"][rows, which]
        known = ((held == values[:, None]) & (np.arange(self.limit) < count[:, None])).any(axis=1)
        at = np.flatnonzero(~known & (count < self.limit))
        self._columns["witnesses"][rows[at], which, count[at]] = values[at]
        self._columns["filled"][rows[at], which] += 1
        return bool(len(at))

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return the entries as columns, the least recently seen first."""
        used = self._columns["used"][: self._next]
        rows = np.flatnonzero(used)
        rows = rows[np.argsort(used[rows], kind="stable")]
        return {name: column[rows] for name, column in self._columns.items()}

    def load(self, columns: dict[str, NDArray[Any]]) -> None:
        """Take over what :meth:`dump` gave; an empty table only. Of too many entries, the last are kept."""
        columns = {name: column[-self.capacity :] for name, column in columns.items()}
        count = len(columns["keys"])
        self._columns = self._make_columns(max(count + 1, min(_LEAST_ROWS, self.capacity + 1)))
        for name, column in columns.items():
            self._columns[name][1 : count + 1] = column
        self._clock = int(columns["used"][-1]) if count else 0
        self._next = count + 1
        self._rows = dict(zip(columns["keys"].tolist(), range(1, count + 1), strict=True))

    @property
    def layout(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The little-endian type and the shape of an entry in each column."""
        return _describe(self.limit)


def _describe(limit: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    columns: dict[str, tuple[str, tuple[int, ...]]] = {
        "keys": ("<u8", ()),
        "used": ("<i8", ()),
        "pages": ("<u8", (_WORDS,)),
        "low": ("<u8", (_WORDS,)),
    }
    if limit:
        columns["witnesses"] = ("<u4", (3, limit))
        columns["filled"] = ("<u2", (3,))
    return columns


def _estimate(bits: NDArray[np.uint64]) -> Sizes:
    """Return how many pages set the bits of each row."""
    found: Sizes = _ESTIMATE[_POPCOUNT[bits.view(np.uint8)].sum(axis=1, dtype=np.intp)]
    return found
