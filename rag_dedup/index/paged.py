"""A sorted run that is kept in pages, of which only those that are needed are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import numpy as np

from rag_dedup.index.runs import Window
from rag_dedup.kernels.sets import I64, U64

__all__ = ["PAGE", "PageCache", "PagedRun", "cut_pages", "decode_postings"]

PAGE = 1000
"""Postings in a page, except in the last one of a run."""
_MOST_PAGES = 4096
"""So many pages are held at once: 32 MB."""
_HALF = np.uint64(32)
_ORDER = np.uint64(0xFFFFFFFF)
_DTYPE = np.dtype("<u8")

RunName = Hashable
"""What no other run has."""
ReadPages = Callable[[Sequence[int]], Sequence[U64]]
"""Returns the pages with these numbers, which are sorted and differ."""


class PagedRun:
    """A run of which the first posting of each page is known.

    Args:
        fences: these postings.
        length: postings in all.
        read: reads pages.
    """

    def __init__(self, fences: U64, length: int, read: ReadPages) -> None:
        self._fences = fences
        self._length = length
        self._read = read

    def __len__(self) -> int:
        return self._length

    def windows(self, wanted: U64) -> Iterator[tuple[slice, Window]]:
        """Return parts of the half keys whose pages can be held at once."""
        first = self._find_page(wanted << _HALF)
        last = self._find_page((wanted << _HALF) | _ORDER)
        start = 0
        while start < len(wanted):
            stop = int(np.searchsorted(first, first[start] + _MOST_PAGES))
            pages = np.union1d(first[start:stop], last[start:stop])
            yield slice(start, stop), PageWindow(self._fences, self._read, pages)
            start = stop

    def blocks(self) -> Iterator[U64]:
        """Return all postings, block by block."""
        for start in range(0, len(self._fences), _MOST_PAGES):
            pages = range(start, min(start + _MOST_PAGES, len(self._fences)))
            yield np.concatenate(self._read(pages))

    def read_all(self) -> U64:
        """Return the whole run."""
        return np.concatenate([np.empty(0, np.uint64), *self.blocks()])

    def _find_page(self, values: U64) -> I64:
        return np.maximum(np.searchsorted(self._fences, values, side="right") - 1, 0)


class PageCache:
    """Pages that were read before: runs never change, and most of them stay for long.

    Args:
        most: so many pages are kept, 0 or more; others are read each time.
    """

    def __init__(self, most: int = 1 << 14) -> None:
        self._most = most
        self._runs: dict[RunName, dict[int, U64]] = {}

    def keep_only(self, runs: Iterable[RunName]) -> None:
        """Forget the pages of runs that are gone."""
        self._runs = {run: self._runs.get(run, {}) for run in runs}

    def read(self, run: RunName, pages: Sequence[int], read: ReadPages) -> list[U64]:
        """Return pages of a run, and ask ``read`` for those that are not here."""
        here = self._runs.get(run, {})
        missing = [page for page in pages if page not in here]
        found = dict(zip(missing, read(missing), strict=True)) if missing else {}
        result = [found[page] if page in found else here[page] for page in pages]
        room = self._most - sum(map(len, self._runs.values()))
        here.update(itertools.islice(found.items(), max(room, 0)))
        return result


class PageWindow:
    """Some pages of a run, and others as soon as they are needed."""

    def __init__(self, fences: U64, read: ReadPages, pages: I64) -> None:
        self._fences = fences
        self._read = read
        self._pages: dict[int, U64] = {}
        self._load(pages)

    def locate(self, values: U64, *, after: bool = False) -> I64:
        """Return where in the run values would stand; the pages that they belong to are here."""
        pages = np.maximum(np.searchsorted(self._fences, values, side="right") - 1, 0)
        # A value lies behind the first posting of its page and before that of the next page.
        found = np.searchsorted(self._postings, values, side="right" if after else "left")
        return pages * PAGE + found - self._starts[np.searchsorted(self._numbers, pages)]

    def take(self, places: I64) -> U64:
        """Return the postings at these places."""
        pages, within = np.divmod(places, PAGE)
        self._load(np.unique(pages))
        postings: U64 = self._postings[self._starts[np.searchsorted(self._numbers, pages)] + within]
        return postings

    def _load(self, pages: I64) -> None:
        missing = [page for page in pages.tolist() if page not in self._pages]
        if not missing and self._pages:
            return
        self._pages.update(zip(missing, self._read(missing), strict=True))
        self._numbers = np.array(sorted(self._pages), dtype=np.int64)
        loaded = [self._pages[page] for page in self._numbers.tolist()]
        sizes = np.array(list(map(len, loaded)), dtype=np.int64)
        self._starts = np.cumsum(sizes) - sizes
        self._postings = np.concatenate([np.empty(0, np.uint64), *loaded])


def cut_pages(run: U64) -> tuple[bytes, list[bytes]]:
    """Return the first postings of the pages of a run, and the pages."""
    data = run.astype(_DTYPE, copy=False).tobytes()
    size = PAGE * _DTYPE.itemsize
    fences = run[::PAGE].astype(_DTYPE, copy=False).tobytes()
    return fences, [data[start : start + size] for start in range(0, len(data), size)]


def decode_postings(data: bytes) -> U64:
    """Return postings that were written as bytes."""
    return np.frombuffer(data, _DTYPE).astype(np.uint64, copy=False)
