"""Boilerplate: what a site repeats at the top and the bottom of its pages.

A :class:`SegmentCache` counts on how many distinct pages of one host each segment stands, and which
segment follows which; :mod:`rag_dedup.edge` then tells template lines from content.

A segment is *repeated* when it is on more than ``max_repetitions`` pages that differ in their longest
segments: the versions of one page share their content, which is no template. A long segment must be on
half of the pages of its host.
"""

from __future__ import annotations

import hashlib
import heapq
import re
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlsplit

from rag_dedup.document import Document
from rag_dedup.edge import Line, walk_edge
from rag_dedup.errors import ConfigurationError
from rag_dedup.segment import Segment, cut_spans, split_segments
from rag_dedup.url import SAFE, canonicalize_url

__all__ = ["Removed", "SegmentCache", "Stripped", "strip_boilerplate"]

_PAGES_COUNTED = 64
"""Pages that are told apart for one segment; what is on more of them is a template in any case."""

_LONG = 10
"""Words from which a segment must be on half of the pages of its host."""

_LONGEST = 4
"""Segments of a page that tell its family: versions of one page are one family."""

_LEAST_WORDS, _LEAST_SHARE = 5, 0.01
"""Words, and share of the words, below which a page is left alone instead of being emptied."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_DIGITS = re.compile(r"\d+")
_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d:\d\d|©")


@dataclass(frozen=True, slots=True)
class Removed:
    """A span that was cut out.

    Args:
        start, end: offsets in the original text.
        text: what stood there.
        reason: ``top``, ``bottom`` or ``anywhere``, and on how many pages of the host it was seen.
    """

    start: int
    end: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without its boilerplate.

    Args:
        text: what is left: the original with ``removed`` cut out.
        removed: the spans, in order.
        spared: why boilerplate was found and yet left in the text; ``None`` if it was not.
    """

    text: str
    removed: tuple[Removed, ...] = ()
    spared: str | None = None


@dataclass(slots=True)
class _Count:
    """Distinct pages, and distinct families of them: exact up to a limit, then full (``None``)."""

    repetitions: int
    pages: set[int] | None = field(default_factory=set)
    families: tuple[set[int], set[int]] | None = field(default_factory=lambda: (set(), set()))

    def add(self, page: int, family: tuple[int, int]) -> bool:
        """Count a page; tell whether that was news."""
        before = self._fill()
        if self.pages is not None:
            self.pages.add(page)
            if len(self.pages) >= self._limit:
                self.pages = None
        if self.families is not None:
            for names, name in zip(self.families, family, strict=True):
                names.add(name)
            if max(map(len, self.families)) > self.repetitions:
                self.families = None
        return before != self._fill()

    @property
    def _limit(self) -> int:
        return max(_PAGES_COUNTED, self.repetitions + 1)

    def _fill(self) -> tuple[int, int]:
        return self.size, -1 if self.families is None else sum(map(len, self.families))

    @property
    def size(self) -> int:
        """Pages, up to the limit."""
        return self._limit if self.pages is None else len(self.pages)

    @property
    def is_repeated(self) -> bool:
        """Whether more than ``repetitions`` pages have it that differ in their longest segments."""
        return self.families is None and self.size > self.repetitions


@dataclass(frozen=True, slots=True)
class _Page:
    """A document in segments and hashes, made outside of the lock."""

    document: Document
    group: str | None  # host and scope; None when nobody knows the host
    segments: tuple[Segment, ...]
    keys: tuple[int, ...]
    masked: tuple[int, ...]  # of the text without digits; equal to the key when there is no date in it
    words: tuple[int, ...]
    name: int
    family: tuple[int, int]

    @property
    def edge(self) -> int:
        """The key of what stands before the first and behind the last segment."""
        return _hash(f"{self.group}\0edge")


class SegmentCache:
    """An LRU of segments, which the caller owns; several threads may use it.

    Args:
        maxsize: most segments and successions that are remembered, 1 or more.
        min_size: characters below which a segment in the body of a page is never cut.
        max_repetitions: pages on which a segment may stand before it counts as boilerplate, 1 or more.
        anywhere: cut repeated segments in the body too, as trafilatura does. ``min_size`` and
            ``max_repetitions`` mean what they mean in trafilatura's settings.

    Attributes:
        identity: names this very cache.
        generation: how many pages brought something new.

    Pages without a host have nothing in common that could be known, so that they stay as they are.

    Raises:
        ConfigurationError: a setting is out of its range.

    >>> pages = [
    ...     Document(name, f"Home | Docs\\n\\nAll about {name} {name} {name}.\\n\\n© 2026 Example", url=f"https://e.org/{name}")
    ...     for name in ("ants", "bees", "cats", "dogs")
    ... ]
    >>> cache = SegmentCache()
    >>> cache.observe(pages)
    >>> cache.strip(pages)[0].text
    'All about ants ants ants.\\n\\n'
    """

    def __init__(
        self,
        maxsize: int = 1 << 18,
        *,
        min_size: int = 100,
        max_repetitions: int = 2,
        anywhere: bool = False,
    ) -> None:
        if maxsize < 1 or max_repetitions < 1 or min_size < 0:
            raise ConfigurationError(
                f"maxsize and max_repetitions must be 1 or more and min_size 0 or more, not "
                f"{maxsize}, {max_repetitions}, {min_size}"
            )
        self.maxsize = maxsize
        self.min_size = min_size
        self.max_repetitions = max_repetitions
        self.anywhere = anywhere
        self.identity = uuid.uuid4().hex
        self.generation = 0
        self._counts: OrderedDict[int, _Count] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._counts)

    def observe(self, documents: Iterable[Document]) -> None:
        """Learn what the pages of a host share. A page that was learned already changes nothing."""
        for document in documents:
            self._observe(_read_page(document))

    def strip(self, documents: Iterable[Document]) -> list[Stripped]:
        """Return each text without the boilerplate that is known by now."""
        return [self._strip(_read_page(document)) for document in documents]

    def stream(self, documents: Iterable[Document]) -> Iterator[Stripped]:
        """Learn and strip in one pass. The first pages of a host come out as they are."""
        for document in documents:
            page = _read_page(document)
            self._observe(page)
            yield self._strip(page)

    def _observe(self, page: _Page) -> None:
        if page.group is None or not page.keys:
            return
        seen = dict.fromkeys((*page.keys, *page.masked))
        seen.update(dict.fromkeys(_link(a, b) for a, b in _pair(page)))
        seen.update(dict.fromkeys(map(_lower, page.masked[len(page.masked) // 2 :])))
        seen[page.edge] = None
        with self._lock:
            news = False
            for key in seen:
                count = self._counts.get(key)
                if count is None:
                    count = self._counts[key] = _Count(self.max_repetitions)
                news |= count.add(page.name, page.family)
                self._counts.move_to_end(key)
            self.generation += news
            while len(self._counts) > self.maxsize:
                self._counts.popitem(last=False)

    def _strip(self, page: _Page) -> Stripped:
        text = page.document.text
        if page.group is None or not page.keys:
            return Stripped(text)
        with self._lock:
            lines = self._judge(page)
        top = walk_edge(lines)
        bottom = walk_edge([line.turn() for line in reversed(lines)], branches=False)
        reasons = dict.fromkeys(top, "top")
        reasons.update({len(lines) - 1 - i: "bottom" for i in bottom if len(lines) - 1 - i not in reasons})
        if self.anywhere:
            for i, line in enumerate(lines):
                segment = page.segments[i]
                if line.repeated and segment.end - segment.start >= self.min_size:
                    reasons.setdefault(i, "anywhere")
        removed = tuple(
            Removed(
                s.start, s.end, text[s.start : s.end], f"{reasons[i]}, on {_at_least(lines[i].count)} pages"
            )
            for i, s in enumerate(page.segments)
            if i in reasons
        )
        left = sum(
            page.words[i]
            for i, segment in enumerate(page.segments)
            if i not in reasons and segment.kind != "heading"
        )
        if removed and left < max(_LEAST_WORDS, _LEAST_SHARE * sum(page.words)):
            return Stripped(text, spared=f"only {left} words would be left, headings aside")
        rest = cut_spans(text, [(span.start, span.end) for span in removed])
        return Stripped(rest, removed)

    def _judge(self, page: _Page) -> list[Line]:
        """Return what is known of each segment of a page."""
        pages = self._size(page.edge)
        pairs = list(_pair(page))
        follows = [self._size(_link(a, b)) for a, b in pairs]
        lines = []
        for i, segment in enumerate(page.segments):
            count = self._counts.get(page.keys[i])
            if count is None or not count.is_repeated:
                count = self._counts.get(page.masked[i], count)
            size = count.size if count else 0
            repeated = count is not None and count.is_repeated
            if page.words[i] >= _LONG and 2 * size < pages:
                repeated = False
            lines.append(
                Line(
                    key=page.keys[i],
                    count=size,
                    repeated=repeated,
                    low=2 * self._size(_lower(page.masked[i])) >= size,
                    whole=segment.kind in ("code", "table", "note") or _is_step(page, segment),
                    heading=segment.kind == "heading",
                    words=page.words[i],
                    before=(follows[i], self._size(pairs[i][0])),
                    after=(follows[i + 1], self._size(pairs[i + 1][1])),
                )
            )
        return lines

    def _size(self, key: int) -> int:
        count = self._counts.get(key)
        return 0 if count is None else count.size


def _at_least(count: int) -> str:
    return f"{count} or more" if count >= _PAGES_COUNTED else str(count)


def _pair(page: _Page) -> Iterator[tuple[int, int]]:
    """Yield each succession of segments, the edges of the page included."""
    around = (page.edge, *page.masked, page.edge)
    return pairwise(around)


def _link(a: int, b: int) -> int:
    """Return the key of the succession of two segments."""
    return (a * 0x9E3779B97F4A7C15 + b * 0xB7E151628AED2A6B) % (1 << 64)


def _lower(key: int) -> int:
    """Return the key that counts pages which have a segment in their lower half."""
    return key ^ 0x243F6A8885A308D3


def _read_page(document: Document) -> _Page:
    """Split a document and hash its segments."""
    text = document.text
    segments = tuple(split_segments(text))
    group = _find_group(document)
    keys, masked, words = [], [], []
    lengths = []
    for segment in segments:
        folded = text[segment.start : segment.end].split()
        line = " ".join(folded)
        key = _hash(f"{group}\0{line}")
        dated = len(folded) < _LONG and _DATED.search(line)
        keys.append(key)
        masked.append(_hash(f"{group}\0{_DIGITS.sub('0', line)}\0masked") if dated else key)
        words.append(_count_words(line, folded))
        lengths.append((len(line), key))
    return _Page(
        document=document,
        group=group,
        segments=segments,
        keys=tuple(keys),
        masked=tuple(masked),
        words=tuple(words),
        name=_hash(canonicalize_url(document.source or document.url or "", SAFE) or document.id),
        family=_find_family(lengths),
    )


def _is_step(page: _Page, segment: Segment) -> bool:
    """Tell whether a segment is a numbered item: a menu has none, and each step of a list matters."""
    return segment.kind == "item" and page.document.text[segment.start].isdigit()


def _count_words(line: str, folded: list[str]) -> int:
    """Count words; in scripts without spaces, two characters are about one."""
    return len(folded) if line.isascii() else max(len(folded), len(_UNSPACED.findall(line)) // 2)


def _find_family(lengths: list[tuple[int, int]]) -> tuple[int, int]:
    """Return two MinHashes of the longest segments, from (length, key) of each.

    Versions of a page mostly share them; pages that share a template share at most one, if a segment
    of the template is long and happens to have the smallest hash. A small page has little but template,
    so that only a third of its segments count.
    """
    longest = heapq.nlargest(max(1, min(_LONGEST, len(lengths) // 3)), lengths)
    keys = [key for _, key in longest] or [0]
    return min(keys), min(key * 0x9E3779B97F4A7C15 % (1 << 64) for key in keys)


def _find_group(document: Document) -> str | None:
    """Return scope and host, ``None`` without a host."""
    for address in (document.url, document.source):
        host = _find_host(address or "")
        if host:
            return f"{document.scope}\0{host}"
    return None


def _find_host(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        return parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:  # malformed, such as http://[::1
        return None


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def strip_boilerplate(documents: Iterable[Document], cache: SegmentCache | None = None) -> list[Stripped]:
    """Strip a corpus in two passes: learn from all pages, then cut.

    Args:
        documents: the pages.
        cache: what was learned before, and is learned now; default: a new cache with room for all.

    >>> strip_boilerplate([Document("a", "Alone.", url="https://example.com/")])[0].text
    'Alone.'
    """
    documents = list(documents)
    if cache is None:
        cache = SegmentCache(maxsize=max(1 << 18, sum(len(d.text) // 4 for d in documents)))
    cache.observe(documents)
    return cache.strip(documents)
