"""Walk from the edge of a page inwards, as long as the lines are the template's.

* Template lines follow each other as they do on other pages.
* A line that only some pages have after its predecessor (the menu of a section, or the first heading
  of an article) needs two more such lines behind it.
* Some short lines of the page itself may stand between template lines (a date, a breadcrumb, the
  highlighted item of a menu). They stay.

Frequency alone would eat content: in API documentation "Parameters" is everywhere. The position at the
edge, and the order, are what tells a menu from that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Line", "walk_edge"]

_CHAIN = 3
"""Template lines in a row that prove the menu of a section, or that a menu goes on behind a gap."""

_CHAIN_PAGES = 6
"""Pages on which each of them must be: a few products or jobs also have three facts in common."""

_GAP_LINES, _GAP_WORDS = 12, 10
"""Lines of the page itself between template lines, and words in such a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is known of a segment, from the pages of its host.

    Args:
        key: equal for equal segments.
        count: pages that have it.
        repeated: whether that is enough for a template.
        low: whether most of them have it in their lower half.
        whole: a code block, a table or a warning, which is never cut.
        heading: a heading belongs to what follows.
        words: its length.
        before, after: (pages with it and its neighbour in this order, pages with the neighbour).
    """

    key: int
    count: int
    repeated: bool
    low: bool
    whole: bool
    heading: bool
    words: int
    before: tuple[int, int]
    after: tuple[int, int]

    def turn(self) -> Line:
        """Return the line as it is when the page is read from below."""
        return replace(self, repeated=self.repeated and self.low, before=self.after, after=self.before)

    @property
    def is_template(self) -> bool:
        return self.repeated and not self.whole

    @property
    def is_expected(self) -> bool:
        """Whether at least half of the pages with the line before it go on with it."""
        both, neighbour = self.before
        return 2 * both >= neighbour > 0

    @property
    def is_linked(self) -> bool:
        """Whether it usually comes after the line before it, or that one before it."""
        both, neighbour = self.before
        return 2 * both >= min(neighbour, self.count) > 0

    @property
    def is_gap(self) -> bool:
        return not self.whole and not self.heading and self.words <= _GAP_WORDS


def walk_edge(lines: Sequence[Line], *, branches: bool = True) -> list[int]:
    """Return the positions of the template lines from the edge inwards.

    Args:
        lines: the lines of a page, from the edge on.
        branches: allow the menus of sections and gaps, which pages have at the top. At the bottom they
            would be the last section of an article, as would be all lines right under a heading.

    >>> line = Line(1, 9, True, True, False, False, 2, before=(9, 9), after=(9, 9))
    >>> walk_edge([line, replace(line, key=2), replace(line, key=3, repeated=False, words=40)])
    [0, 1]
    """
    found: list[int] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.heading and not branches:
            return []
        if line.is_template and line.is_expected and (line.is_linked or at == 0):
            found.append(at)
            at += 1
            continue
        if not branches or not found:
            break
        start = at
        while start < len(lines) and start - at < _GAP_LINES and not lines[start].is_template:
            if not lines[start].is_gap:
                return _leave_headings(lines, found)
            start += 1
        stop = _find_chain(lines, start)
        menu = {lines[i].key for i in found}
        again = sum(line.key in menu for line in lines[start:stop])
        if stop - start < _CHAIN or 2 * again > stop - start:
            break  # what repeats the menu is the table of contents of the page
        found.extend(range(start, stop))
        at = stop
    return _leave_headings(lines, found)


def _find_chain(lines: Sequence[Line], start: int) -> int:
    """Return the end of the run of template lines that follow each other as they do elsewhere."""
    if start >= len(lines) or not lines[start].is_template:
        return start
    if lines[start].count < _CHAIN_PAGES:
        return start
    stop = start + 1
    while stop < len(lines) and lines[stop].is_template and lines[stop].is_linked:
        if lines[stop].count < _CHAIN_PAGES:
            break
        stop += 1
    return stop


def _leave_headings(lines: Sequence[Line], found: list[int]) -> list[int]:
    """Drop headings from the inner end: they belong to what follows."""
    while found and lines[found[-1]].heading:
        found.pop()
    return found
