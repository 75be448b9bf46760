"""What every index must do; a store that comes gets a line in ``STORES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rag_dedup import Document, MemoryIndex
from rag_dedup.document import Changes, Entry
from rag_dedup.errors import SchemeMismatchError, StalePlanError
from rag_dedup.index import Header, Index

STORES: dict[str, Callable[[], Index]] = {"memory": MemoryIndex}
HEADER = Header("minhash", "exact", "url", 0.8, ("number",), "drop")


def make_entry(
    id: str,
    order: int,
    *,
    survivor: str | None = None,
    scope: str = "",
    exact: bytes | None = None,
    bands: tuple[int, ...] = (),
    source: str | None = None,
    text: str = "text",
) -> Entry:
    return Entry(
        document=Document(id, text, source, scope=scope),
        source=source,
        order=order,
        exact_key=exact or id.encode(),
        shingles=np.array([1, 2, 3], dtype=np.uint64),
        bands=np.array(bands or (order * 2 + 100, order * 2 + 101), dtype=np.uint64),
        survivor=survivor,
    )


@pytest.fixture(params=STORES)
def index(request: pytest.FixtureRequest) -> Index:
    index = STORES[request.param]()
    index.adopt(HEADER)
    return index


def put(index: Index, *entries: Entry, delete: tuple[tuple[str, str], ...] = ()) -> None:
    with index.snapshot() as view:
        generation = view.generation
    index.apply(generation, f"token {generation}", Changes(entries, delete))


def ids(entries: list[Entry]) -> list[str]:
    return [entry.document.id for entry in entries]


class TestIndex:
    def test_identity_names_one_index(self, index: Index, request: pytest.FixtureRequest) -> None:
        other = STORES[request.node.callspec.params["index"]]()
        assert index.identity == index.identity != other.identity

    def test_another_header_is_refused_and_says_what(self, index: Index) -> None:
        index.adopt(HEADER)
        with pytest.raises(
            SchemeMismatchError, match=r"threshold: index 0\.8, wanted 0\.9.*ingest everything again"
        ):
            index.adopt(replace(HEADER, threshold=0.9))

    def test_entries_come_back_whole(self, index: Index) -> None:
        entry = make_entry("a", 0, scope="s", source="page")
        put(index, entry)
        with index.snapshot() as view:
            found = view.entries([("s", "a"), ("", "a"), ("s", "b")])
            assert found[0] is not None
            assert found[1:] == [None, None]
            assert (found[0].document, found[0].order, found[0].source) == (entry.document, 0, "page")
            assert np.array_equal(found[0].shingles, entry.shingles)
            assert view.next_order == 1

    def test_only_survivors_are_candidates_in_history_order(self, index: Index) -> None:
        put(
            index,
            make_entry("late", 3, bands=(7, 8)),
            make_entry("early", 1, exact=b"x", bands=(8, 9)),
            make_entry("duplicate", 2, survivor="early", exact=b"x", bands=(7, 8)),
        )
        with index.snapshot() as view:
            found = view.candidates([b"x", b"y", b"y"], np.array([[1, 2], [8, 8], [1, 2]], dtype=np.uint64))
            assert [ids(entries) for entries in found] == [["early"], ["early", "late"], []]

    def test_empty_texts_are_never_candidates(self, index: Index) -> None:
        put(index, replace(make_entry("empty", 0, exact=b"x", bands=(7,)), shingles=np.empty(0, np.uint64)))
        with index.snapshot() as view:
            assert view.candidates([b"x"], np.array([[7]], dtype=np.uint64)) == [[]]

    def test_clusters_and_sources(self, index: Index) -> None:
        put(
            index,
            make_entry("c", 2, survivor="a", source="p"),
            make_entry("a", 0, source="p"),
            make_entry("b", 1, survivor="a", source="q"),
            make_entry("a", 3, scope="other", source="p"),
        )
        with index.snapshot() as view:
            assert ids(view.of_survivors([("", "a")])[0]) == ["b", "c"]
            assert [ids(e) for e in view.of_sources([("", "p"), ("other", "p"), ("", "x")])] == [
                ["a", "c"],
                ["a"],
                [],
            ]

    def test_replacing_leaves_no_trace_of_the_old(self, index: Index) -> None:
        put(index, make_entry("a", 0, exact=b"x", bands=(7,), source="p"))
        put(index, make_entry("a", 0, survivor="b", exact=b"y", bands=(9,), source="q"), make_entry("b", 1))
        with index.snapshot() as view:
            assert view.candidates([b"x", b"y"], np.array([[7], [9]], dtype=np.uint64)) == [[], []]
            assert ids(view.of_sources([("", "p")])[0]) == []
            assert ids(view.of_survivors([("", "b")])[0]) == ["a"]
        put(index, delete=(("", "a"), ("", "never there")))
        with index.snapshot() as view:
            assert view.entries([("", "a")]) == [None]
            assert view.of_survivors([("", "b")]) == [[]]

    def test_orders_are_not_used_twice(self, index: Index) -> None:
        put(index, make_entry("a", 5))
        put(index, delete=(("", "a"),))
        with index.snapshot() as view:
            assert view.next_order == 6

    def test_generations(self, index: Index) -> None:
        index.apply(0, "one", Changes((make_entry("a", 0),)))
        index.apply(0, "one", Changes((make_entry("a", 0, text="never written"),)))
        with pytest.raises(StalePlanError):
            index.apply(0, "two", Changes((make_entry("b", 1),)))
        with pytest.raises(StalePlanError):
            index.apply(7, "future", Changes((make_entry("b", 1),)))
        with index.snapshot() as view:
            assert view.generation == 1
            (entry,) = view.entries([("", "a")])
            assert entry is not None
            assert entry.document.text == "text"
            assert view.entries([("", "b")]) == [None]
