"""On sites of many layouts, no line of the content is lost, and most of the template is cut."""

from __future__ import annotations

import pytest

from rag_dedup import SegmentCache, Stripped, strip_boilerplate
from tests.boilerplate.layouts import LAYOUTS, Layout

BY_NAME = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
SEPARATORS = pytest.mark.parametrize("separator", ["\n\n", "\n"], ids=["paragraphs", "lines"])
LEAST_RECALL = {"docs-last": 0.4, "docs-first": 0.7}
"""By words; a sidebar behind the article is only cut as far as its own lines go."""


def find_cut(layout: Layout, separator: str, results: list[Stripped]) -> list[tuple[str, str, bool]]:
    """Return label, text and whether it was cut, of each line of each page."""
    found = []
    for lines, page, result in zip(layout.lines, layout.make_pages(separator), results, strict=True):
        end = 0
        for label, text in lines:
            start = page.text.index(text, end)
            end = start + len(text)
            found.append((label, text, any(span.start < end and start < span.end for span in result.removed)))
    return found


@BY_NAME
@SEPARATORS
def test_no_content_is_lost(layout: Layout, separator: str) -> None:
    pages = layout.make_pages(separator)
    for results in (strip_boilerplate(pages), list(SegmentCache().stream(pages, ahead=0))):
        assert [t for label, t, cut in find_cut(layout, separator, results) if label == "c" and cut] == []


@BY_NAME
@SEPARATORS
def test_most_of_the_template_is_cut(layout: Layout, separator: str) -> None:
    found = find_cut(layout, separator, strip_boilerplate(layout.make_pages(separator)))
    words = dict.fromkeys((False, True), 0)
    for label, text, cut in found:
        if label == "b":
            words[cut] += len(text.split())
    least = LEAST_RECALL.get(layout.name.rpartition("-")[0], 0.85)
    assert words[True] >= least * sum(words.values())


@BY_NAME
def test_contents_are_cut_only_where_they_stand_again(layout: Layout) -> None:
    for result in strip_boilerplate(layout.make_pages()):
        left = result.text.casefold()
        for span in result.removed:
            if span.reason.endswith("stands on the page again"):
                assert span.text.casefold() in left
