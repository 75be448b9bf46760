"""Postings against a plain list of survivors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rag_dedup.index import postings as module
from rag_dedup.index.postings import Postings

TraceFunction = Callable[[FrameType, str, Any], Any]

# Keys that often meet, in all of their bits or only in the first 32.
KEYS = st.tuples(st.integers(0, 3), st.integers(0, 1)).map(lambda pair: (pair[0] << 60) + pair[1])
SIGNATURES = st.tuples(KEYS, st.integers(0, 1), KEYS, KEYS)
QUERIES = [(key << 60, 0, (key ^ 1) << 60, ((key ^ 2) << 60) + 1) for key in range(4)]


class PostingsMachine(RuleBasedStateMachine):
    """Add, withdraw, undo, compact; after each step every survivor is found as a list would find it."""

    def __init__(self) -> None:
        super().__init__()
        self.postings = Postings()
        self.live: dict[int, tuple[int, ...]] = {}

    @rule(survivors=st.dictionaries(st.integers(0, 200), SIGNATURES, min_size=1, max_size=6))
    def add(self, survivors: dict[int, tuple[int, ...]]) -> None:
        self.withdraw(list(survivors))
        self.put(survivors)
        self.live.update(survivors)

    @rule(orders=st.lists(st.integers(0, 300), max_size=6))
    def withdraw(self, orders: list[int]) -> None:
        self.postings.withdraw(orders)
        for order in orders:
            self.live.pop(order, None)

    @rule(
        survivors=st.dictionaries(st.integers(0, 400), SIGNATURES, min_size=1, max_size=6),
        orders=st.lists(st.integers(0, 300), max_size=6),
    )
    def undo(self, survivors: dict[int, tuple[int, ...]], orders: list[int]) -> None:
        state = self.postings.save([*survivors, *orders])
        self.postings.withdraw([*survivors, *orders])
        self.put(survivors)
        self.postings.restore(state)

    @rule(count=st.integers(100, 200))
    def come_and_go(self, count: int) -> None:
        """Enough that compaction pays."""
        passing = {1000 + i: (i << 50, 0, i << 51, i << 52) for i in range(count)}
        self.put(passing)
        self.postings.withdraw(list(passing))
        self.postings = self.postings.compacted()

    def put(self, survivors: dict[int, tuple[int, ...]]) -> None:
        self.postings.add(list(survivors), np.array(list(survivors.values()), dtype=np.uint64))

    @invariant()
    def finds_what_a_list_would(self) -> None:
        for limit, without in ((99, ()), (2, ()), (1, tuple(sorted(self.live)[:2]))):
            hits = self.postings.find(
                np.array(QUERIES, dtype=np.uint64), limit, np.array(without, dtype=np.int64)
            )
            found = list(zip(*(column.tolist() for column in hits), strict=True))
            assert found == [
                (row, column, order)
                for row, query in enumerate(QUERIES)
                for column in range(3)
                for order in self.find(query, column, without)[:limit]
            ]
        for order in self.live:
            assert self.postings.hold([order, 5000, order]) == [True, False, True]
            assert tuple(self.postings.signatures_of([order])[0].tolist()) == self.live[order]

    def find(self, query: tuple[int, ...], column: int, without: tuple[int, ...]) -> list[int]:
        places = [0, 1] if column == 0 else [column + 1]
        return [
            order
            for order, signature in sorted(self.live.items())
            if order not in without and all(signature[place] == query[place] for place in places)
        ]


TestPostings = PostingsMachine.TestCase


def test_nothing_is_found_in_nothing() -> None:
    none: npt.NDArray[np.int64] = np.empty(0, np.int64)
    for signatures in (np.empty((0, 4), np.uint64), np.zeros((2, 4), np.uint64)):
        assert [len(column) for column in Postings().find(signatures, 5, none)] == [0, 0, 0]


def sign_many(start: int, count: int) -> npt.NDArray[np.uint64]:
    """Return signatures that share no key."""
    numbers = np.arange(start, start + count, dtype=np.uint64)[:, None]
    return numbers * np.uint64(4) + np.arange(4, dtype=np.uint64) << np.uint64(40)


def test_an_interrupt_at_any_line_is_undone() -> None:
    """Also while the sieve is made anew, as it is here for the second lot."""
    count = 2000
    lots = [sign_many(0, count), sign_many(count, count)]
    nothing: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def add_until(line: int) -> bool:
        """Add the second lot, with an interrupt at one line; tell whether it came that far."""
        postings = Postings()
        postings.add(range(count), lots[0])
        state = postings.save([0, *range(count, 2 * count)])
        left = line

        def interrupt(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
            nonlocal left
            if frame.f_code.co_filename != module.__file__:
                return None
            left -= event == "line"
            if left < 0:
                raise KeyboardInterrupt
            return interrupt

        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            postings.withdraw([0])
            postings.add(range(count, 2 * count), lots[1])
        except KeyboardInterrupt:
            sys.settrace(before)
            postings.restore(state)
            assert postings.find(lots[0], 9, nothing).orders.tolist() == sorted([*range(count)] * 3)
            assert postings.find(lots[1], 9, nothing).orders.tolist() == []
            return True
        finally:
            sys.settrace(before)
        return False

    line = 0
    while add_until(line):
        line += 1
    assert line > 30
