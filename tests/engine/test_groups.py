"""Compact groups against a dictionary of sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.index.groups import Groups, join_name, split_name

NAMES = st.sampled_from(["a", "b", ""])
ORDERS = st.one_of(st.integers(0, 5), st.integers(0, 100), st.integers(0, 2**40))


@given(st.lists(st.tuples(st.sampled_from(["add", "add", "add", "discard"]), NAMES, ORDERS), max_size=400))
def test_groups(steps: list[tuple[str, str, int]]) -> None:
    groups, oracle = Groups(), dict[str, set[int]]()
    for step, name, order in steps:
        getattr(groups, step)(name, order)
        getattr(oracle.setdefault(name, set()), step)(order)
    assert sorted(groups) == sorted(name for name, orders in oracle.items() if orders)
    for name in ("a", "b", "", "never"):
        assert groups.orders(name) == sorted(oracle.get(name, ()))


def test_a_large_group_and_back() -> None:
    groups = Groups()
    for order in range(1000):
        groups.add("a", order)
        groups.add("a", order)
    assert groups.orders("a") == list(range(1000))
    for order in range(1000):
        groups.discard("a", order)
    assert (list(groups), groups.orders("a")) == ([], [])


@given(st.text(), st.text(), st.text(), st.text())
def test_names(a: str, b: str, c: str, d: str) -> None:
    assert split_name(join_name(a, b)) == (a, b)
    assert (join_name(a, b) == join_name(c, d)) == ((a, b) == (c, d))
