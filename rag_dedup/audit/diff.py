"""What two texts do not share, word by word, for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

__all__ = ["diff_texts"]

_WORD = re.compile(r"\s+|\w+|[^\w\s]")

# Alignment takes quadratic time, at worst, in what lies between the first and the last difference.
_ALIGNED = 2000


def diff_texts(here: str, there: str, *, context: int = 8) -> str:
    """Show what only ``there`` has as ``[-…-]`` and what only ``here`` has as ``{+…+}``.

    As ``git diff --word-diff`` does it, from there to here. Differences of white space are not shown.

    Args:
        here: the text of a document.
        there: the text of its survivor.
        context: words and marks around each difference, 0 or more; what is left out is ``…``.

    >>> diff_texts("It listens on port 9090.", "It listens on port 8080.")
    'It listens on port [-8080-]{+9090+}.'
    """
    mine, theirs = _WORD.findall(" ".join(here.split())), _WORD.findall(" ".join(there.split()))
    parts: list[str] = []
    runs = list(_compare(theirs, mine))
    for number, (equal, old, new) in enumerate(runs):
        if equal:
            parts.append(_shorten(new, context, first=number == 0, last=number == len(runs) - 1))
        else:
            parts.append((f"[-{''.join(old)}-]" if old else "") + (f"{{+{''.join(new)}+}}" if new else ""))
    return "".join(parts)


def _compare(a: list[str], b: list[str]) -> Iterator[tuple[bool, list[str], list[str]]]:
    """Yield runs of equal words and of different ones."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    stop = 0
    while stop < min(len(a), len(b)) - start and a[-1 - stop] == b[-1 - stop]:
        stop += 1
    if start:
        yield True, a[:start], b[:start]
    left, right = a[start : len(a) - stop], b[start : len(b) - stop]
    if max(len(left), len(right)) > _ALIGNED:
        yield False, left, right
    else:
        for tag, i, j, k, m in SequenceMatcher(None, left, right).get_opcodes():
            yield tag == "equal", left[i:j], right[k:m]
    if stop:
        yield True, a[len(a) - stop :], b[len(b) - stop :]


def _shorten(words: list[str], context: int, *, first: bool, last: bool) -> str:
    """Leave out the middle of an equal run, and its outer end at the edge of the text."""
    if first and last:
        return "".join(words)
    before, after = 0 if first else 2 * context, 0 if last else 2 * context
    if len(words) <= before + after + 1:
        return "".join(words)
    return "".join(words[:before]) + "…" + "".join(words[len(words) - after :])
