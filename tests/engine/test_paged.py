"""Runs in pages against the same runs in one array."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_dedup.index import paged
from rag_dedup.index.paged import PagedRun, RunCache, cut_pages, decode_postings
from rag_dedup.index.runs import ArrayRun, Run, count_merged, find_largest_key, merge_runs, search_runs
from rag_dedup.kernels.sets import I64, U64

WIDTH = 4  # two halves of the exact key, two bands


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make everything so small that little data has many pages and windows."""
    monkeypatch.setattr(paged, "PAGE", 3)
    monkeypatch.setattr(paged, "_MOST_PAGES", 2)


class Reader:
    """Pages of a run, which are asked for in order and never twice at once."""

    def __init__(self, pages: Sequence[bytes]) -> None:
        self.pages = pages
        self.most = 0

    def __call__(self, numbers: Sequence[int]) -> list[U64]:
        assert list(numbers) == sorted(set(numbers))
        self.most = max(self.most, len(numbers))
        return [decode_postings(self.pages[number]) for number in numbers]


def page(run: U64, most: int = 0) -> PagedRun:
    fences, pages = cut_pages(run)
    return PagedRun(None, decode_postings(fences), len(run), Reader(pages), RunCache(most))


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[U64], U64, set[int]]:
    """Draw runs with few different keys, the signatures of the orders in them, and who is live."""
    count = draw(st.integers(0, 40))
    keys = draw(st.lists(st.integers(0, 6), min_size=count * WIDTH, max_size=count * WIDTH))
    signatures = (np.array(keys, np.uint64).reshape(count, WIDTH) << np.uint64(32)) + np.uint64(5)
    cuts = sorted(draw(st.lists(st.integers(0, count), max_size=3)))
    runs = [
        np.unique(
            np.concatenate(
                [
                    np.empty(0, np.uint64),
                    *(
                        (signatures[order][[0, 2, 3]] >> np.uint64(32) << np.uint64(32)) | np.uint64(order)
                        for order in range(start, stop)
                    ),
                ]
            )
        )
        for start, stop in zip([0, *cuts], [*cuts, count], strict=True)
    ]
    live = set(draw(st.lists(st.integers(0, max(count - 1, 0)))))
    return [run for run in runs if len(run)], signatures, live


@given(collections(), st.integers(1, 5), st.data())
@settings(max_examples=300)
def test_the_same_is_found(
    collection: tuple[list[U64], U64, set[int]], limit: int, data: st.DataObject
) -> None:
    runs, signatures, live = collection

    def hold(orders: I64) -> tuple[np.ndarray, U64]:  # type: ignore[type-arg]
        return np.isin(orders, sorted(live)), signatures[orders]

    asked = data.draw(st.lists(st.integers(0, 6), min_size=WIDTH, max_size=WIDTH * 8))
    rows = len(asked) // WIDTH
    wanted = (np.array(asked[: rows * WIDTH], np.uint64).reshape(rows, WIDTH) << np.uint64(32)) + np.uint64(5)
    without = np.array(sorted(data.draw(st.sets(st.integers(0, 39), max_size=3))), np.int64)
    places = np.arange(rows * (WIDTH - 1))

    def search(kind: Sequence[Run]) -> list[list[int]]:
        hits = search_runs(kind, wanted, places, limit, without, hold)
        return [column.tolist() for column in hits]

    found = search(list(map(page, runs)))
    assert found == search(list(map(ArrayRun, runs)))
    keeping = [page(run, most=1000) for run in runs]
    assert found == search(keeping) == search(keeping)
    assert found == scan(wanted, signatures, live - set(without.tolist()), limit)


def scan(wanted: U64, signatures: U64, live: set[int], limit: int) -> list[list[int]]:
    """The oracle: compare everything with everything."""
    hits = []
    for row, one in enumerate(wanted.tolist()):
        for column in range(WIDTH - 1):
            there = [
                order
                for order, other in enumerate(signatures.tolist())
                if order in live
                and (one[:2] == other[:2] if column == 0 else one[column + 1] == other[column + 1])
            ]
            hits += [(row, column, order) for order in there[:limit]]
    return [list(column) for column in zip(*hits, strict=True)] if hits else [[], [], []]


@given(collections())
def test_everything_comes_back(collection: tuple[list[U64], U64, set[int]]) -> None:
    runs, _, _ = collection
    for run in runs:
        assert page(run).read_all().tolist() == run.tolist()
    assert find_largest_key(list(map(page, runs))) == find_largest_key(list(map(ArrayRun, runs)))
    postings = merge_runs([np.empty(0, np.uint64), *runs])
    assert len(postings) == len(np.unique(postings))
    sizes = np.unique(postings >> np.uint64(32), return_counts=True)[1]
    assert find_largest_key(list(map(page, runs))) == max(sizes.tolist(), default=0)


@given(st.lists(st.integers(1, 1000), max_size=30))
def test_runs_stay_few(lengths: list[int]) -> None:
    """Each run is several times as long as the next, however they come."""
    runs: list[int] = []
    for length in lengths:
        merged = count_merged(runs, length)
        runs = [*runs[: len(runs) - merged], sum(runs[len(runs) - merged :]) + length]
        assert all(a >= 4 * b for a, b in itertools.pairwise(runs))


def test_few_pages_are_held_at_once() -> None:
    run = np.arange(0, 3000, dtype=np.uint64) << np.uint64(32)
    fences, pages = cut_pages(run)
    reader = Reader(pages)
    paged_run = PagedRun(None, decode_postings(fences), len(run), reader, RunCache(0))
    wanted = np.arange(0, 3000, dtype=np.uint64)
    for part, window in paged_run.windows(wanted):
        assert window.locate(wanted[part] << np.uint64(32)).tolist() == wanted[part].tolist()
    assert reader.most <= 5


def test_what_is_kept_is_not_read_again() -> None:
    run = np.arange(0, 30, dtype=np.uint64) << np.uint64(32)
    fences, pages = cut_pages(run)
    cache = RunCache(30)
    for name, reads in (("a", True), ("a", False), ("b", True)):
        reader = Reader(pages)
        wanted = np.arange(0, 30, dtype=np.uint64)
        list(PagedRun(name, decode_postings(fences), 30, reader, cache).windows(wanted))
        assert bool(reader.most) == reads
    assert cache.get("b") is None  # there was no room
    cache.keep_only(["b"])
    assert cache.get("a") is None


def test_a_single_text_reads_few_pages() -> None:
    run = np.arange(0, 3000, dtype=np.uint64) << np.uint64(32)
    fences, pages = cut_pages(run)
    reader = Reader(pages)
    paged_run = PagedRun("a", decode_postings(fences), len(run), reader, RunCache(10_000))
    list(paged_run.windows(np.array([7, 900], dtype=np.uint64)))
    assert reader.most <= 4
