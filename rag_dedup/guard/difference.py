"""Where do two texts differ, word for word?"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from rag_dedup.guard.marks import CJK, is_short_flag
from rag_dedup.guard.words import CASED_UNITS

__all__ = ["Pair", "Part", "cut_differences", "cut_middle", "cut_regions"]

_AROUND = 2
"""Equal words that are shown on each side of a difference."""

_AROUND_UNSPACED = 6
"""As many, where each character may count as one."""

_FAR = 100
"""Characters in which those words are looked for."""

_SENTENCE = 6
"""So many words, and an end mark, make a sentence that was added."""

_WINDOW = 4096
"""Characters in which lines are paired at a time."""

_DEPTH = 6
"""So often a difference is cut where both sides have a word just once."""

_TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_END = re.compile(r"[.!?:。！？](?:\s|\Z)|[。！？\n]")
_DIGITS = "0123456789.,"
_MARKUP = ".,;:!?\"'()[]{}*`_#|…“”‘’«»。，、！？：；（）「」"


class Token(NamedTuple):
    """A word.

    Args:
        start, stop: its place in the text.
        key: what it is compared by: without punctuation, in lower case.
    """

    start: int
    stop: int
    key: str


class Gap(NamedTuple):
    """Tokens that differ: from ``start`` to ``stop`` here, and there."""

    start: int
    stop: int
    other_start: int
    other_stop: int


class Part(NamedTuple):
    """What stands in the place of what, each with a few words of what is equal around it.

    Args:
        here, there: as they are in the two texts.
        added: whether only one of the texts has it, and it is a sentence at least.
    """

    here: str
    there: str
    added: bool


class Pair:
    """Two texts and what differs in them, cut when it is asked for.

    Args:
        here, there: the texts.
    """

    def __init__(self, here: str, there: str) -> None:
        self.here = here
        self.there = there

    @cached_property
    def middle(self) -> tuple[str, str]:
        """All between the first and the last difference."""
        return cut_middle(self.here, self.there)

    @cached_property
    def parts(self) -> list[Part]:
        """The differences, each with what stands in its place."""
        return cut_differences(*self.middle)


def cut_regions(here: str, there: str) -> Iterator[tuple[str, str]]:
    r"""Yield the parts in which two texts differ, line by line, with some of what is equal around each.

    Reads no further than it is asked to, a window at a time, since most pairs that differ in a fact differ
    in their first lines. However lines are paired, what is not yielded is equal.

    >>> list(cut_regions("one\ntwo\nthree four", "one\n2\nthree four"))
    [('one\ntwo\nthree four', 'one\n2\nthree four')]
    """
    start = other_start = done = 0
    window = _WINDOW
    while True:
        same = _count_common(here, there, start, other_start)
        if start + same == len(here) and other_start + same == len(there):
            return
        line = max(here.rfind("\n", start, start + same) + 1, start) - start
        start, other_start = start + line, other_start + line
        stop, other_stop = _find_line_end(here, start + window), _find_line_end(there, other_start + window)
        mine, theirs = here[start:stop].split("\n"), there[other_start:other_stop].split("\n")
        whole = Gap(0, len(mine), 0, len(theirs))
        at_end = stop == len(here) and other_stop == len(there)
        if not at_end:
            anchors = _find_anchors(mine, theirs, whole)
            last, other_last = anchors[-1] if anchors else (0, 0)
            if last == other_last == 0:  # nothing, or no way forward: one text ends here
                window *= 4
                continue
            whole = Gap(0, last + 1, 0, other_last + 1)
        starts = list(itertools.accumulate((len(line) + 1 for line in mine), initial=start))
        other_starts = list(itertools.accumulate((len(line) + 1 for line in theirs), initial=other_start))
        for gap in _find_gaps(mine, theirs, whole, _DEPTH):
            first, other_first = starts[gap.start], other_starts[gap.other_start]
            end, other_end = (
                max(starts[gap.stop] - 1, first),
                max(other_starts[gap.other_stop] - 1, other_first),
            )
            before = min(first - done, _FAR)
            after = _count_common(here, there, end, other_end, _FAR)
            yield here[first - before : end + after], there[other_first - before : other_end + after]
            done = end
        if at_end:
            return
        start, other_start = starts[whole.stop] - 1, other_starts[whole.other_stop] - 1
        window = _WINDOW


def cut_differences(here: str, there: str) -> list[Part]:
    """Return the parts in which two texts differ, with a few words of what is equal around each.

    Case and punctuation are no difference. Between words that both have just once, parts are aligned by
    patience: the longest run of such words in one order is what is equal. Takes linear time but for the
    sort.

    >>> parts = cut_differences("A is not so, and B is so.", "A is so, and B is not so")
    >>> [(part.here, part.there) for part in parts]
    [('A is not so, and', 'A is so, and'), ('B is so.', 'B is not so')]
    """
    mine, theirs = _read_tokens(here), _read_tokens(there)
    keys, other_keys = [token.key for token in mine], [token.key for token in theirs]
    gaps = list(_find_gaps(keys, other_keys, Gap(0, len(keys), 0, len(other_keys)), _DEPTH))
    return [
        Part(
            _show(here, mine, gap.start - before, gap.stop + after),
            _show(there, theirs, gap.other_start - before, gap.other_stop + after),
            _is_sentence(here, mine, gap.start, gap.stop)
            if gap.other_start == gap.other_stop
            else gap.start == gap.stop and _is_sentence(there, theirs, gap.other_start, gap.other_stop),
        )
        for gap, before, after in _measure_around(
            gaps, len(keys), _AROUND if here.isascii() else _AROUND_UNSPACED
        )
    ]


def cut_middle(here: str, there: str) -> tuple[str, str]:
    """Return two texts without the words that both begin and end with, but for a few.

    >>> cut_middle("In all of these cases it is not so", "In all of these cases it is so")
    (' cases it is not so', ' cases it is so')
    """
    first, last = _measure_common(here, there)
    first = _step_back(here, first)
    last = len(here) - _step_on(here, len(here) - last)
    return here[first : len(here) - last], there[first : len(there) - last]


def _measure_common(here: str, there: str) -> tuple[int, int]:
    """Return how many characters two texts begin with, and how many they end with behind these."""
    first = _count_common(here, there)
    length = min(len(here), len(there)) - first
    return first, _count_common(here[: -length - 1 : -1], there[: -length - 1 : -1]) if length else 0


def _find_line_end(text: str, place: int) -> int:
    """Return where the line ends that a place is in."""
    end = text.find("\n", place) if place < len(text) else -1
    return end if end >= 0 else len(text)


def _step_back(text: str, place: int) -> int:
    """Return where the word begins that is a few words in front of a place."""
    start = max(place - _FAR, 0)
    words = text[start:place].rsplit(None, _AROUND + 1)
    return start + len(words[0]) if len(words) > _AROUND + 1 else start


def _step_on(text: str, place: int) -> int:
    """Return where the word ends that is a few words behind a place."""
    stop = min(place + _FAR, len(text))
    words = text[place:stop].split(None, _AROUND + 1)
    return stop - len(words[-1]) if len(words) > _AROUND + 1 else stop


def _count_common(
    here: str, there: str, start: int = 0, other_start: int = 0, most: int | None = None
) -> int:
    """Return how many characters two texts have in common from their starts on, ``most`` at most."""
    limit = max(min(len(here) - start, len(there) - other_start), 0)
    if most is not None:
        limit = min(limit, most)
    low, step = 0, 64
    while low < limit:  # in steps that grow, then in halves
        high = min(low + step, limit)
        if here[start + low : start + high] != there[other_start + low : other_start + high]:
            break
        low, step = high, 2 * step
    else:
        return limit
    while low < high - 1:
        middle = (low + high) // 2
        if here[start + low : start + middle] == there[other_start + low : other_start + middle]:
            low = middle
        else:
            high = middle
    return low


def _read_tokens(text: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        key = word.strip(_MARKUP)
        if key:
            if key.lstrip(_DIGITS) not in CASED_UNITS and not is_short_flag(key):
                key = key.lower()
            tokens.append(Token(match.start(), match.end(), key))
    return tokens


def _find_gaps(mine: Sequence[str], theirs: Sequence[str], whole: Gap, depth: int) -> Iterator[Gap]:
    """Yield which tokens differ, in order."""
    start, stop, other_start, other_stop = whole
    while start < stop and other_start < other_stop and mine[start] == theirs[other_start]:
        start, other_start = start + 1, other_start + 1
    while start < stop and other_start < other_stop and mine[stop - 1] == theirs[other_stop - 1]:
        stop, other_stop = stop - 1, other_stop - 1
    rest = Gap(start, stop, other_start, other_stop)
    if start == stop and other_start == other_stop:
        return
    anchors = list(_find_anchors(mine, theirs, rest)) if depth else []
    if not anchors:
        yield rest
        return
    for place, other_place in (*anchors, (stop, other_stop)):
        yield from _find_gaps(mine, theirs, Gap(start, place, other_start, other_place), depth - 1)
        start, other_start = place + 1, other_place + 1


def _find_anchors(mine: Sequence[str], theirs: Sequence[str], gap: Gap) -> list[tuple[int, int]]:
    """Return the longest run of tokens that each side has just once and in one order."""
    if gap.start == gap.stop or gap.other_start == gap.other_stop:
        return []
    counts = Counter(mine[gap.start : gap.stop])
    other_counts = Counter(theirs[gap.other_start : gap.other_stop])
    places = {theirs[j]: j for j in range(gap.other_start, gap.other_stop) if other_counts[theirs[j]] == 1}
    pairs = [
        (i, places[mine[i]]) for i in range(gap.start, gap.stop) if counts[mine[i]] == 1 and mine[i] in places
    ]
    return _find_longest_rise(pairs)


def _find_longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest run of pairs in which the second number rises as the first does."""
    ends: list[int] = []  # the smallest second number that a run of this length ends with
    last: list[int] = []  # and its pair
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    run = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _measure_around(gaps: Sequence[Gap], stop: int, most: int) -> Iterator[tuple[Gap, int, int]]:
    """Yield gaps with how much of what is equal is to be shown on each side, no more than ``most``."""
    end = 0
    for gap, following in zip(gaps, [*(gap.start for gap in gaps[1:]), stop], strict=False):
        yield gap, min(gap.start - end, most), min(following - gap.stop, most)
        end = gap.stop


def _is_sentence(text: str, tokens: Sequence[Token], start: int, stop: int) -> bool:
    """Return whether tokens hold an end of a sentence or of a line, and enough words."""
    if stop - start < _SENTENCE:
        return False
    first = tokens[start - 1].stop if start else 0
    last = tokens[stop].start if stop < len(tokens) else len(text)
    return _END.search(text, max(first - 1, 0), last) is not None


def _show(text: str, tokens: Sequence[Token], start: int, stop: int) -> str:
    return text[tokens[start].start : tokens[stop - 1].stop] if start < stop else ""
