"""Find the lines of a page that stand on it again.

The contents of a page, beside or above the article, name its headings, and the menu of a site names the
page that is open. Such lines can be cut though no other page has them: each word of them stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

__all__ = ["Outline", "fold_title"]

_LONGEST_TITLE = 300
"""Characters; what is longer is no title."""

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_DECORATION = "#*_`=-+•·‣▪–¶§🔗 \t\r\n\u00a0:…"
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*[.)]?\s+")


def fold_title(line: str) -> str:
    """Return what a heading and the line that names it have in common; empty for what is no title.

    >>> fold_title("## 2.1. Set up the **broker**¶") == fold_title("- [Set up the broker](#set-up)")
    True
    """
    if len(line) > _LONGEST_TITLE:
        return ""
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    line = line.strip(_DECORATION)
    if line[:1].isdigit():
        line = _NUMBER.sub("", line, count=1)
    if "*" in line or "`" in line:
        line = line.replace("*", "").replace("`", "")
    return " ".join(line.casefold().split())


class Outline:
    """Where each title of a page stands.

    Args:
        text: of the page.
        starts, ends: offsets of its segments, in order.

    >>> outline = Outline("One\\nTwo\\n# One\\n# Two", [0, 4, 8, 14], [3, 7, 13, 19])
    >>> outline.find_after(0, 1), outline.find_after(1, 3), outline.find_before(2, 2)
    (2, None, 0)
    """

    def __init__(self, text: str, starts: Sequence[int], ends: Sequence[int]) -> None:
        self._text = text
        self._starts = starts
        self._ends = ends
        self._titles: list[str] = []
        self._places: dict[str, list[int]] = {}

    def find_after(self, line: int, position: int) -> int | None:
        """Return the first segment behind ``position`` with the title of ``line``."""
        places = self.find_places(line)
        at = bisect_right(places, position)
        return places[at] if at < len(places) else None

    def find_before(self, line: int, position: int) -> int | None:
        """Return the last segment before ``position`` with the title of ``line``."""
        places = self.find_places(line)
        at = bisect_right(places, position - 1)
        return places[at - 1] if at else None

    def find_places(self, line: int) -> list[int]:
        """Return the segments with the title of ``line``, in order."""
        if not self._titles:
            text = self._text
            bounds = zip(self._starts, self._ends, strict=True)
            self._titles = [
                fold_title(text[start:end]) if end - start <= _LONGEST_TITLE else "" for start, end in bounds
            ]
            for i, title in enumerate(self._titles):
                if title:
                    self._places.setdefault(title, []).append(i)
        return self._places.get(self._titles[line], [])
