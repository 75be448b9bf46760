"""A sorted run that is kept in pages, of which only those that are needed are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import numpy as np

from rag_dedup.errors import CorruptIndexError
from rag_dedup.index.runs import ArrayRun, Window, find_starts
from rag_dedup.kernels.sets import I64, U64

__all__ = ["PAGE", "PagedRun", "RunCache", "cut_pages", "decode_postings"]

PAGE = 1000
"""Postings in a page, except in the last one of a run."""
_MOST_PAGES = 4096
"""So many pages are held at once: 32 MB."""
_HALF = np.uint64(32)
_ORDER = np.uint64(0xFFFFFFFF)
_DTYPE = np.dtype("<u8")

ReadPages = Callable[[Sequence[int]], Sequence[U64]]
"""Returns the pages with these numbers, which are sorted and differ."""


class RunCache:
    """Runs that were read whole: they never change, and most of them stay for long.

    Args:
        most: so many postings are kept, 0 or more; 2**25 are 256 MB.
    """

    def __init__(self, most: int = 1 << 25) -> None:
        self._most = most
        self._runs: dict[Hashable, U64] = {}

    def keep_only(self, names: Iterable[Hashable]) -> None:
        """Forget runs that are gone."""
        self._runs = {name: self._runs[name] for name in names if name in self._runs}

    def get(self, name: Hashable) -> U64 | None:
        """Return a run if it is here."""
        return self._runs.get(name)

    def has_room(self, length: int) -> bool:
        """Tell whether a run of so many postings would be kept."""
        return sum(map(len, self._runs.values())) + length <= self._most

    def put(self, name: Hashable, run: U64) -> None:
        """Keep a run."""
        self._runs[name] = run


class PagedRun:
    """A run of which the first posting of each page is known.

    Args:
        name: what no other run has.
        fences: these postings.
        length: postings in all.
        read: reads pages.
        cache: where the run may be kept.
    """

    def __init__(self, name: Hashable, fences: U64, length: int, read: ReadPages, cache: RunCache) -> None:
        self._name = name
        self._fences = fences
        self._length = length
        self._read = read
        self._cache = cache

    def __len__(self) -> int:
        return self._length

    def windows(self, wanted: U64) -> Iterator[tuple[slice, Window]]:
        """Return parts of the half keys whose pages can be held at once."""
        first = self._find_page(wanted << _HALF)
        last = self._find_page((wanted << _HALF) | _ORDER)
        whole = self._cache.get(self._name)
        if whole is None and self._is_worth_keeping(first):
            whole = self.read_all()
            self._cache.put(self._name, whole)
        if whole is not None:
            yield from ArrayRun(whole).windows(wanted)
            return
        start = 0
        while start < len(wanted):
            stop = int(np.searchsorted(first, first[start] + _MOST_PAGES))
            pages = np.union1d(first[start:stop], last[start:stop])
            yield slice(start, stop), PageWindow(self._fences, self._read, pages)
            start = stop

    def _is_worth_keeping(self, pages: I64) -> bool:
        """Tell whether most of the run is needed now, and can be kept."""
        return 2 * len(find_starts(pages)) >= len(self._fences) and self._cache.has_room(self._length)

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
    """Return postings that were written as bytes.

    Raises:
        CorruptIndexError: they are no such thing.
    """
    try:
        return np.frombuffer(data, _DTYPE).astype(np.uint64, copy=False)
    except (TypeError, ValueError) as error:
        raise CorruptIndexError(f"postings of the index cannot be read: {error}") from error
