"""A document as the segment cache sees it: segments, and the keys of those near its edges.

What stands behind twelve long segments, from the top as from the bottom, belongs to no template. It gets
no key: on long pages, most of the text is not even read.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from rag_dedup.document import Document
from rag_dedup.segment import Kind, split_columns
from rag_dedup.url import SAFE, canonicalize_url

__all__ = ["LONG", "Page", "PageReader", "link"]

LONG = 10
"""Words from which a segment is long: no menu has it, and a template only on half of its pages."""

_DEEP_SEGMENTS, _DEEP_WORDS = 12, 25
"""How many segments of how many words a template may have at an edge."""

_LONGEST_DATE = 20
"""Words below which a line is that of a date or a time, whatever the digits, if it has one."""

_LONGEST = 4
"""Segments of a page that tell its family: versions of one page are one family."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_DIGITS = re.compile(r"\d+")
_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d:\d\d|©")

_ONES = (1 << 64) - 1
_MULTIPLIERS = 0x9E3779B97F4A7C15, 0xB7E151628AED2A6B


@dataclass(frozen=True, slots=True)
class Page:
    """A document in segments, and hashes of those near its edges.

    Args:
        document: what was read.
        group: what names the site, with the scope; ``None`` when nobody knows it.
        starts, ends, kinds: the segments.
        top, bottom: how many of them can be reached from the top, and from the bottom; all, or less than all
            together.
        keys: of those, in order; a line with a date has the key of all its dates.
        words: the lengths of these.
        edge: the key of what stands before the first and behind the last segment.
        name: of the page, the same whatever it says.
        names: ``name`` and two of the family of its versions, 32 bits each.
    """

    document: Document
    group: bytes | None
    starts: list[int]
    ends: list[int]
    kinds: list[Kind]
    top: int
    bottom: int
    keys: list[int]
    words: list[int]
    edge: int
    name: int
    names: tuple[int, int, int]

    @property
    def positions(self) -> Sequence[int]:
        """The segments that have a key."""
        count = len(self.starts)
        return [*range(self.top), *range(count - self.bottom, count)] if self.is_broken else range(count)

    @property
    def is_broken(self) -> bool:
        """Whether there is text between what can be reached from the top and from the bottom."""
        return self.top + self.bottom < len(self.starts)

    def is_step(self, segment: int) -> bool:
        """Tell whether a segment is a numbered item: a menu has none, and each step of a list matters."""
        return self.kinds[segment] == "item" and self.document.text[self.starts[segment]].isdigit()


class PageReader:
    """Turns documents into pages.

    Args:
        groups: the name of the group for each host; ``""`` stands for pages without one.
        whole: give each segment a key.

    >>> page = PageReader({}).read(Document("a", "Home\\n\\nText.", url="https://example.com/a"))
    >>> page.starts, page.words, len(page.keys)
    ([0, 6], [1, 1], 2)
    """

    def __init__(self, groups: dict[str, str], *, whole: bool = False) -> None:
        self._groups = groups
        self._whole = whole

    def read(self, document: Document) -> Page:
        """Split a document and hash the segments near its edges."""
        text = document.text
        starts, ends, kinds = split_columns(text)
        group = self._find_group(document)
        count = len(starts)
        if self._whole:
            head, tail = _fold(text, starts, ends, range(count), None), []
        else:
            head = _fold(text, starts, ends, range(count), _DEEP_SEGMENTS)
            tail = _fold(text, starts, ends, range(count - 1, len(head) - 1, -1), _DEEP_SEGMENTS)[::-1]
        keys, words = [], []
        for line, length in (*head, *tail):
            if length < _LONGEST_DATE and _DATED.search(line):
                line = _DIGITS.sub("0", line) + "\0masked"
            keys.append(_hash(line, group))
            words.append(length)
        broken = len(keys) < count
        name = _hash(_name(document), group)
        return Page(
            document=document,
            group=group,
            starts=starts,
            ends=ends,
            kinds=kinds,
            top=len(head) if broken else count,
            bottom=len(tail) if broken else count,
            keys=keys,
            words=words,
            edge=_hash("\0edge", group),
            name=name,
            names=(name >> 32, *_find_family(text, starts, ends, group)),
        )

    def _find_group(self, document: Document) -> bytes | None:
        """Return a name of scope and site, ``None`` when the site is not known."""
        host = next(filter(None, map(_find_host, (document.url, document.source))), "")
        site = self._groups.get(host, host)
        if not site:
            return None
        kind = "group" if host in self._groups else "host"
        name = f"{document.scope}\0{kind}\0{site}".encode("utf-8", "surrogatepass")
        return blake2b(name, digest_size=16).digest()


def _fold(
    text: str, starts: list[int], ends: list[int], order: Iterable[int], deep: int | None
) -> list[tuple[str, int]]:
    """Return the folded text and the words of each segment in order, until ``deep`` of them were long."""
    found = []
    for i in order:
        pieces = text[starts[i] : ends[i]].split()
        line = " ".join(pieces)
        words = len(pieces)
        if not line.isascii():
            words = max(words, len(_UNSPACED.findall(line)) // 2)
        found.append((line, words))
        if deep is not None and words >= _DEEP_WORDS:
            deep -= 1
            if not deep:
                break
    return found


def _find_family(text: str, starts: list[int], ends: list[int], group: bytes | None) -> tuple[int, int]:
    """Return two MinHashes of the longest segments, 32 bits each.

    Versions of a page mostly share them; pages that share a template share at most one, if a segment
    of the template is long and happens to have the smallest hash. A small page has little but template,
    so that only a third of its segments count.
    """
    count = max(1, min(_LONGEST, len(starts) // 3))
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    longest = heapq.nlargest(count, range(len(lengths)), lengths.__getitem__)
    keys = [_hash(" ".join(text[starts[i] : ends[i]].split()), group) for i in longest] or [0]
    return min(keys) >> 32, min(key * _MULTIPLIERS[0] & _ONES for key in keys) >> 32


def _name(document: Document) -> str:
    """Return what stays the same when a page is read again: its address, else its id."""
    return canonicalize_url(document.source or document.url or "", SAFE) or document.id


def _find_host(address: str | None) -> str | None:
    try:
        parts = urlsplit(address or "")
        return parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:  # malformed, such as http://[::1
        return None


def _hash(text: str, group: bytes | None) -> int:
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8, person=group or b"").digest(), "little")


def link(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of the successions of two segments each.

    >>> pair = np.array([1, 2], dtype=np.uint64)
    >>> bool((link(pair, pair[::-1]) == link(pair[::-1], pair)).any())
    False
    """
    keys: NDArray[np.uint64] = first * np.uint64(_MULTIPLIERS[0]) + second * np.uint64(_MULTIPLIERS[1])
    return keys
