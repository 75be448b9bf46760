"""Postings against a plain list of survivors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rag_dedup.index.postings import Postings

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
        names = [("", str(order)) for order in survivors]
        self.postings.add(list(survivors), names, np.array(list(survivors.values()), dtype=np.uint64))

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
            assert self.postings.name_of(order) == ("", str(order))
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
