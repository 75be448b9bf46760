"""Split a text into segments, cut segments out of it.

A segment is a block that a template would repeat as a whole: a paragraph, a list item, a heading, a
short line; a table and a code fence are never split. Works on plain text, Markdown (CommonMark 0.31
for fences and headings) and what trafilatura writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Segment", "cut_spans", "split_segments"]

Kind = Literal["paragraph", "item", "heading", "table", "code", "note"]

_SHORT_LINE = 60
"""Characters below which a line of a paragraph stands alone: a menu has short lines, wrapped prose long."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•·‣▪–]|\d{1,4}[.)])[ \t]")
_TABLE = re.compile(r"\s{0,12}\|")
_NOTE = re.compile(
    r"\s{0,12}(?:>|!!!|(?:\*\*|__)?(?:note|tip|important|warning|caution|danger|attention|hinweis|achtung"
    r"|warnung|attention|avertissement|advertencia|nota|aviso|avvertenza|注意|警告|提示|تحذير|ملاحظة)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A block of a text, ``text[start:end]``, without the white space around it."""

    start: int
    end: int
    kind: Kind


def split_segments(text: str) -> list[Segment]:
    """Return the segments of ``text``, in order. Between them there is only white space.

    >>> text = "Home\\nDocs\\n\\n# Title\\n\\nA paragraph.\\n- one\\n- two"
    >>> [(segment.kind, text[segment.start : segment.end]) for segment in split_segments(text)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('paragraph', 'Home'), ('paragraph', 'Docs'), ('heading', '# Title'), ('paragraph', 'A paragraph.'),
     ('item', '- one'), ('item', '- two')]
    """
    return [
        Segment(start, end, kind)
        for first, last, kind in _group_lines(text)
        for start, end in [_trim(text, first, last)]
        if start < end
    ]


def _group_lines(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield the offsets of each block, white space included."""
    start: int | None = None  # of the open block
    kind: Kind = "paragraph"
    fence = ""
    end = 0
    for first, last in _find_lines(text):
        line = text[first:last]
        if fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line[closing.end() :].strip():
                fence = ""
            end = last
            continue
        found = _classify(line)
        joins = start is not None and _joins(kind, found, end - start)
        if not joins:
            if start is not None:
                yield start, end, kind
            start, kind = (None, "paragraph") if found is None else (first, found)
        if found == "code":
            opening = _FENCE.match(line)
            assert opening is not None
            fence = opening[1]
        end = last
    if start is not None:
        yield start, end, kind


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop + 1
        yield start, stop
        start = stop


def _classify(line: str) -> Kind | None:
    """Return what a line begins or continues, ``None`` for a blank one."""
    if not line or line.isspace():
        return None
    if _FENCE.match(line):
        return "code"
    if _HEADING.match(line):
        return "heading"
    if _TABLE.match(line):
        return "table"
    if _NOTE.match(line):
        return "note"
    if _ITEM.match(line):
        return "item"
    return "paragraph"


def _joins(kind: Kind, found: Kind | None, length: int) -> bool:
    """Tell whether a line goes on with the open block, ``length`` characters long so far."""
    if kind == "table":
        return found == "table"
    if kind == "note":
        return found in ("note", "paragraph")
    if kind in ("paragraph", "item"):
        return found == "paragraph" and length >= _SHORT_LINE
    return False  # a heading is one line, and a closed fence is closed


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    block = text[start:end]
    return start + len(block) - len(block.lstrip()), start + len(block.rstrip())


def cut_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return ``text`` without ``spans``, which are in order and do not overlap.

    Nothing else is changed, but that the white space after a cut goes with it.

    >>> cut_spans("Home\\n\\nHello.\\n\\nFooter", [(0, 4), (14, 20)])
    'Hello.\\n\\n'
    """
    parts = []
    position = 0
    for start, end in spans:
        parts.append(text[position:start])
        position = end
        while position < len(text) and text[position].isspace():
            position += 1
    parts.append(text[position:])
    return "".join(parts)
