"""Segments: what they are, and that nothing falls between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.segment import cut_spans, split_segments

LINES = st.lists(
    st.sampled_from(
        [
            *(
                "",
                " ",
                "Home",
                "# Title",
                "- item",
                "  1. item",
                "| a | b |",
                "|---|---|",
                "```python",
                "```",
            ),
            *("~~~", "> Note", "Warning: hot", "x" * 70, "\t", "    code", "\u3000", "\x1c"),
            "prose that is long enough to be a wrapped line of a paragraph, and goes on",
        ]
    )
    | st.text(max_size=20),
    max_size=25,
).map("\n".join)


@given(LINES)
def test_only_white_space_lies_between(text: str) -> None:
    position = 0
    for segment in split_segments(text):
        assert position <= segment.start < segment.end <= len(text)
        assert not text[position : segment.start].strip()
        assert text[segment.start : segment.end] == text[segment.start : segment.end].strip()
        position = segment.end
    assert not text[position:].strip()


@given(LINES, st.sets(st.integers(0, 24)))
def test_cutting_takes_the_spans_and_no_other_word(text: str, which: set[int]) -> None:
    segments = split_segments(text)
    cut = [(s.start, s.end) for i, s in enumerate(segments) if i in which]
    rest = cut_spans(text, cut)
    kept = [text[s.start : s.end].split() for i, s in enumerate(segments) if i not in which]
    assert rest.split() == [word for words in kept for word in words]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("One long line of prose that was wrapped at some column by its author\nand goes on.", ["paragraph"]),
        ("Home\nDocs\nBlog", ["paragraph"] * 3),
        ("- one\n- two\n* three\n1. four", ["item"] * 4),
        ("# A\n## B\ntext", ["heading", "heading", "paragraph"]),
        ("#hashtag", ["paragraph"]),
        ("| a |\n|---|\n| b |\n\ntext", ["table", "paragraph"]),
        ("```py\n# no heading\n\n- no item\n```\nafter", ["code", "paragraph"]),
        ("~~~~\n```\n~~~\n~~~~", ["code"]),
        ("```\nnever closed\n\n# still code", ["code"]),
        ("> **Warning**\n> do not touch\nlazy line", ["note"]),
        ("WARNING: hot\n\nnoteworthy", ["note", "paragraph"]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_kinds(text: str, kinds: list[str]) -> None:
    assert [segment.kind for segment in split_segments(text)] == kinds


@pytest.mark.parametrize("line", ["x\n", "\n", "- a\n", "```\n", "| a |\n", "> a\n", "x" * 80 + "\n", "#\n"])
def test_long_texts_take_linear_time(line: str) -> None:
    split_segments(line * (2_000_000 // len(line)))
    split_segments(line.strip() * 2_000_000)
