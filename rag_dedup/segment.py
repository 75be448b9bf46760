"""Split a text into segments, cut segments out of it.

A segment is a block that a template would repeat as a whole: a paragraph, a list item, a heading, a
short line; a table and a code block are never split. Works on plain text, Markdown (CommonMark 0.31
for fences, headings and their underlines) and what trafilatura writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

__all__ = ["Kind", "Segment", "cut_spans", "split_columns", "split_segments"]

Kind = Literal["paragraph", "item", "heading", "table", "code", "note"]

_WRAPPED = range(60, 161)
"""Characters of a line that the next may go on with: a menu has shorter ones, prose that was not wrapped has
longer ones."""

_SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "؟", "।")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"(?:[-*+•·‣▪–]|\d{1,4}[.)])[ \t]")
_NOTE = re.compile(
    r">|!!!|(?:\*\*|__)?(?:note|tip|important|warning|caution|danger|attention|hinweis|achtung"
    r"|warnung|avertissement|advertencia|nota|aviso|avvertenza|注意|警告|提示|تحذير|ملاحظة)\b",
    re.I,
)
_NOTE_STARTS = frozenset(
    "not tip imp war cau dan att hin ach ave adv avi avv 注意 警告 提示 تحذ ملا".split()
)  # the first three characters, of the shorter ones what there is
_MARKS = frozenset("#|>!*_-+•·‣▪–`~=注警提0123456789")
_CODE = re.compile(r"[=(){}\[\];<>$\\_`]|::|->")
"""One of these, and an indented block is code; the menus of plain text are indented too."""


class Segment(NamedTuple):
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
    return list(map(Segment, *split_columns(text)))


def split_columns(text: str) -> tuple[list[int], list[int], list[Kind]]:
    """Return the starts, the ends and the kinds of the segments of ``text``, for large pages.

    >>> split_columns("Title\\n=====\\n\\nText.")
    ([0, 13], [11, 18], ['heading', 'paragraph'])
    """
    starts: list[int] = []
    ends: list[int] = []
    kinds: list[Kind] = []
    kind: Kind | None = None  # of the open block, which is the last of the lists
    fence = ""
    above = ""  # the line before this one, of the open block
    position = 0
    for line in text.split("\n"):
        begin = position
        position += len(line) + 1
        body = line.strip()
        if fence:
            if body:
                ends[-1] = begin + len(line.rstrip())
            fence = "" if _closes(line, body, fence) else fence
            continue
        if not body:
            # Blank lines end a block, but for code that goes on behind them.
            kind = "code" if kind == "code" else None
            continue
        start = begin + line.index(body)
        if kind == "code" and line[:4].isspace():
            ends[-1] = start + len(body)
            continue
        found = _classify(body)
        if found == "code" or (body[0] in "=-" and kind == "paragraph"):
            opening = _FENCE.match(line)
            if opening:
                fence = opening[1]
            elif kind == "paragraph" and _is_rule(body) and text.find("\n", starts[-1], ends[-1]) < 0:
                # CommonMark 4.3: a line of = or - makes the line above it a heading.
                kinds[-1] = "heading"
                ends[-1] = start + len(body)
                kind = None
                continue
            else:
                found = "paragraph" if found == "code" else found
        elif start - begin >= 4 or line[0] == "\t":
            if kind is None and found != "item" and _is_code(body, kinds):
                found = "code"
            elif found == "heading":
                found = "paragraph"
        before, above = above, body
        if kind is not None and _joins(kind, found, before):
            ends[-1] = start + len(body)
            continue
        starts.append(start)
        ends.append(start + len(body))
        kinds.append(found)
        kind = None if fence or found == "heading" else found
    return starts, ends, kinds


def _classify(body: str) -> Kind:
    """Return what a line, without the white space around it, begins or continues."""
    if body[0] not in _MARKS:
        head = body[:3].lower()
        return "note" if head in _NOTE_STARTS and _NOTE.match(body) else "paragraph"
    if body.startswith(("```", "~~~")):
        return "code"
    if _HEADING.match(body):
        return "heading"
    if body[0] == "|":
        return "table"
    if _NOTE.match(body):
        return "note"
    return "item" if _ITEM.match(body) else "paragraph"


def _closes(line: str, body: str, fence: str) -> bool:
    return body.startswith(fence) and not body.strip(fence[0]) and _FENCE.match(line) is not None


def _is_rule(body: str) -> bool:
    return len(body) > 1 and not body.strip(body[0])


def _is_code(body: str, kinds: list[Kind]) -> bool:
    """Tell whether an indented line behind a blank one begins code; behind a list it goes on with it."""
    return bool(kinds) and kinds[-1] != "item" and _CODE.search(body) is not None


def _joins(kind: Kind, found: Kind, above: str) -> bool:
    """Tell whether a line goes on with the open block, whose last line is ``above``."""
    if kind == "table":
        return found == "table"
    if kind == "note":
        return found in ("note", "paragraph")
    if kind in ("paragraph", "item"):
        return found == "paragraph" and len(above) in _WRAPPED and not above.endswith(_SENTENCE_ENDS)
    return False  # a heading is one line, and a closed fence is closed


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
