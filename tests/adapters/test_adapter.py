"""Origins, ids and places, whatever the framework."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import Deduplicator
from rag_dedup.adapter import Chunk, Layout, Origin, find_origin, make_id, name_chunks

names = st.one_of(st.none(), st.text(max_size=5))


@pytest.mark.parametrize(
    ("metadata", "source"),
    [
        ({"source": "https://example.com/a?utm_source=x"}, "https://example.com/a"),
        ({"source": "docs/a.md", "url": "https://example.com/a"}, "https://example.com/a"),
        ({"source": "docs/a.md"}, "docs/a.md"),
        ({"source": "map"}, "document"),
        ({"source": "N/A"}, "document"),
        ({"source": ""}, "document"),
        ({"source": 17}, "document"),
        ({"source": ["https://example.com/a"]}, "document"),
        ({}, "document"),
    ],
)
def test_sources(metadata: dict[str, Any], source: str) -> None:
    assert find_origin(metadata, ("source", "url"), "document").source == source


@given(
    st.lists(
        st.tuples(st.text(max_size=3), names, st.lists(st.integers(), max_size=2), st.text()), unique_by=repr
    )
)
def test_ids_are_injective(parts: list[tuple[str, str | None, list[int], str]]) -> None:
    assert len({make_id(*part) for part in parts}) == len(parts)


def test_an_id_is_for_ever() -> None:
    # A change of this id makes every user embed everything again.
    assert make_id("", "https://example.com/", (), "Hello") == "8befab82-677b-5671-b247-78d33451a527"


@given(st.lists(st.sampled_from("abc")))
def test_the_nth_equal_text_has_the_same_id_in_every_order_of_the_others(texts: list[str]) -> None:
    def name(texts: list[str]) -> list[str]:
        chunks = [Chunk(text, {}, Origin(None, "page")) for text in texts]
        return [document.id for document in name_chunks(Deduplicator(), chunks)]

    ids = name(texts)
    assert len(set(ids)) == len(ids)
    assert sorted(ids) == sorted(name(sorted(texts)))
    assert [id for id, text in zip(ids, texts, strict=True) if text == "a"] == name(["a"] * texts.count("a"))


starts = st.lists(st.integers(0, 20), unique=True, min_size=1, max_size=6).map(sorted)


@given(st.lists(starts, min_size=1, max_size=4), st.sampled_from(["", "page 2"]))
def test_copies_of_a_page_never_overlap_and_neighbours_do_as_before(
    copies: list[list[int]], part: str
) -> None:
    layout = Layout()
    placed = []
    for number, page in enumerate(copies):
        if number and page[0] > copies[number - 1][-1]:
            page = [0, *page] if page[0] else page  # a copy starts no later than the last one ended
        placed.append([layout.place("source", part, (start, start + 5)) for start in page])
        for span, start in zip(placed[-1], page, strict=True):
            first = placed[-1][0]
            assert span is not None
            assert first is not None
            assert span[0] - first[0] == start - page[0]
            assert span[1] - span[0] == 5
            assert span[1] < 2**63
    spans = [[span for span in page if span is not None] for page in placed]
    for number, page_spans in enumerate(spans):
        for other in spans[:number]:
            assert all(a[1] <= b[0] or b[1] <= a[0] for a in page_spans for b in other)


def test_the_only_copy_of_a_whole_source_stands_where_it_stands() -> None:
    assert Layout().place("source", "", (3, 9)) == (3, 9)


def test_parts_are_apart() -> None:
    layout = Layout()
    spans = {layout.place("source", part, (0, 9)) for part in ("", "page 1", "page 2")}
    assert len(spans) == 3
    assert layout.place(None, "", (0, 9)) is None
