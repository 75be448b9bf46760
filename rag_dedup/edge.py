"""Walk from the edge of a page inwards, as long as the lines are the template's.

* Template lines follow each other as they do on other pages.
* A line that only some pages have after its predecessor (the menu of a section, or the first heading
  of an article) needs two more such lines behind it.
* The contents of the page: lines in a row that stand on the page again, in the same order, further
  inwards. They can be cut though no other page has them.
* Some short lines of the page itself may stand between template lines (a date, a breadcrumb). They stay.

Frequency alone would eat content: in API documentation "Parameters" is everywhere. The position at the
edge, and the order, are what tells a menu from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

__all__ = ["Edge", "Lines", "walk_edge"]

_CHAIN = 3
"""Lines in a row that prove the menu of a section, the contents of a page, or that a menu goes on behind
a gap."""

_PROOFS = ((3, 6), (6, 4))
"""Lines in a row, and pages on which each of them must be: a few products or jobs also have three facts in
common."""

_GAP_LINES, _GAP_WORDS = 12, 10
"""Lines of the page itself between template lines, and words in such a line."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What is known of the segments of a page, from the edge inwards; one column for each fact.

    Args:
        keys: equal for equal segments.
        counts: pages of the host that have it.
        template: whether that is enough for a template, and it may be cut: no code, table or warning.
        expected: whether four in five of the pages with the line before it go on with it.
        linked: whether it usually comes after the line before it, or that one before it.
        bound: whether three in four of the pages with one of the two have both, in this order.
        headings: a heading belongs to what follows.
        whole: a code block, a table or a warning, which is never cut.
        words: its length.
    """

    keys: Sequence[int]
    counts: Sequence[int]
    template: Sequence[bool]
    expected: Sequence[bool]
    linked: Sequence[bool]
    bound: Sequence[bool]
    headings: Sequence[bool]
    whole: Sequence[bool]
    words: Sequence[int]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(slots=True)
class Edge:
    """What a walk found: positions of the lines of the template, and of those of the page's contents.

    ``menu`` holds the keys of the former, so that each walk is linear.
    """

    template: list[int] = field(default_factory=list)
    contents: list[int] = field(default_factory=list)
    menu: set[int] = field(default_factory=set, repr=False)

    def add_template(self, lines: Lines, start: int, stop: int) -> None:
        self.template.extend(range(start, stop))
        self.menu.update(lines.keys[start:stop])


FindAgain = Callable[[int, int], "int | None"]


def walk_edge(lines: Lines, find_again: FindAgain, *, branches: bool = True) -> Edge:
    """Return which lines are the template's, from the edge inwards.

    Args:
        lines: the lines of a page, from the edge on.
        find_again: takes a line and a position, and returns where behind that it stands on the page again.
        branches: allow the menus of sections and gaps, which pages have at the top. At the bottom they
            would be the last section of an article, as would be all lines right under a heading.

    >>> lines = Lines([1, 2, 3], [9, 9, 1], [True, True, False], *[[True] * 3] * 3, [False] * 3,
    ...               [False] * 3, [2, 2, 40])
    >>> walk_edge(lines, lambda line, position: None)
    Edge(template=[0, 1], contents=[])
    """
    found = Edge()
    at = 0
    while at < len(lines):
        if lines.headings[at] and not branches:
            return Edge()
        # What any line follows that only this page has is the title, if the menu has named it.
        again = at - 1 in found.contents[-1:] and lines.keys[at] in found.menu
        if lines.template[at] and lines.expected[at] and (lines.linked[at] or at == 0) and not again:
            found.add_template(lines, at, at + 1)
            at += 1
            continue
        if not found.template:
            break
        stop = _find_contents(lines, find_again, at)
        if stop - at >= _CHAIN:
            found.contents.extend(range(at, stop))
            at = stop
            continue
        stop = _cross_gap(lines, find_again, at, found) if branches else at
        if stop == at:
            break
        at = stop
    _leave_headings(lines, found)
    return found


def _find_contents(lines: Lines, find_again: FindAgain, start: int) -> int:
    """Return the end of the run of lines that stand again, in the same order, behind the run."""
    stop = start
    first = position = None
    while stop < len(lines) and not lines.whole[stop] and not lines.headings[stop]:
        if stop == first:
            break  # here begins what the run names
        again = find_again(stop, stop if position is None else position)
        if again is None:
            break
        first = again if first is None else first
        position = again
        stop += 1
    return stop


def _cross_gap(lines: Lines, find_again: FindAgain, start: int, found: Edge) -> int:
    """Note the template lines behind some lines of the page itself; return where they end."""
    at = start
    contents: list[int] = []
    gap = 0
    while at < len(lines) and not lines.template[at]:
        stop = _find_contents(lines, find_again, at)
        if stop - at >= _CHAIN:
            contents.extend(range(at, stop))
            at = stop
            continue
        if gap == _GAP_LINES or lines.whole[at] or lines.headings[at] or lines.words[at] > _GAP_WORDS:
            return start
        named = find_again(at, -1)
        if named is not None and named < start:
            return start  # the title of the page, which its menu or its contents name
        gap += 1
        at += 1
    # Facts that pages have in common also follow each other, but not always the same.
    stop = _find_chain(lines, find_again, at, lines.bound if gap else lines.linked)
    again = sum(lines.keys[i] in found.menu for i in range(at, stop))
    if stop == at or 2 * again > stop - at:
        return start  # what repeats the menu is the table of contents of the page
    found.contents.extend(contents)
    found.add_template(lines, at, stop)
    return stop


def _find_chain(lines: Lines, find_again: FindAgain, start: int, linked: Sequence[bool]) -> int:
    """Return the end of the run of template lines that follow each other as they do elsewhere.

    It is ``start`` if they prove nothing. The contents of the page may go on with the proof.
    """
    for length, pages in _PROOFS:
        stop = start
        while stop < len(lines) and lines.template[stop] and lines.counts[stop] >= pages:
            if stop > start and not linked[stop]:
                break
            stop += 1
        behind = _find_contents(lines, find_again, stop) - stop if start < stop < start + length else 0
        if stop > start and stop - start + (behind if behind >= _CHAIN else 0) >= length:
            return stop
    return start


def _leave_headings(lines: Lines, found: Edge) -> None:
    """Drop headings from the inner end: they belong to what follows."""
    contents = found.contents[-1] if found.contents else -1
    while found.template and found.template[-1] > contents and lines.headings[found.template[-1]]:
        found.template.pop()
