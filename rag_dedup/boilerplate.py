"""Boilerplate: what a site repeats at the top and the bottom of its pages.

A :class:`SegmentCache` counts on how many distinct pages of one host each segment stands, and which
segment follows which; :mod:`rag_dedup.edge` then tells template lines from content.

A segment is *repeated* when it is on more than ``max_repetitions`` pages after its first, which differ in
their longest segments: the versions of one page share their content, which is no template. A long segment
must be on half of the pages of its host.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_dedup.document import Document
from rag_dedup.edge import Lines, walk_edge
from rag_dedup.errors import ConfigurationError, CorruptIndexError
from rag_dedup.outline import Outline
from rag_dedup.page import LONG, Page, PageReader, link
from rag_dedup.saved import read_saved, read_settings, write_saved
from rag_dedup.segment import cut_spans
from rag_dedup.tally import MOST_PAGES, Tally

__all__ = ["Removed", "SegmentCache", "Stripped", "strip_boilerplate"]

_LEAST_WORDS, _LEAST_SHARE = 5, 0.01
"""Words, and share of the characters, below which a page is left alone instead of being emptied."""

Sizes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Removed:
    """A span that was cut out.

    Args:
        start, end: offsets in the original text.
        text: what stood there.
        reason: ``top``, ``bottom`` or ``anywhere``, and on about how many pages of the host it was seen, or
            that it stands on the page again.
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
        spared: why boilerplate was left in the text, ``None`` if none was.
    """

    text: str
    removed: tuple[Removed, ...] = ()
    spared: str | None = None


class SegmentCache:
    """A bounded memory of segments, which the caller owns; several threads may use it.

    Args:
        maxsize: most segments that are remembered, and as many successions of two, 1 or more. The least
            recently seen go first.
        min_size: characters up to which a segment in the body of a page is never cut; trafilatura's
            ``min_duplcheck_size``.
        max_repetitions: how many more pages than one may have a segment that is no boilerplate, 1 or more;
            trafilatura's setting of this name.
        anywhere: cut repeated segments in the body too, as trafilatura does: whatever they are, and though
            the pages are versions of one.
        max_bytes: most memory that is used, 1,000 or more; default: what ``maxsize`` needs.
        groups: the name of the group of each host that shares its template with others, such as
            ``{"docs.example.com": "example", "www.example.com": "example"}``. ``""`` stands for pages without
            a host; they stay as they are if they have no group, for nothing says what they have in common.
            Scopes never mix.

    Attributes:
        identity: names this very cache.
        generation: how many pages brought something new.

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
        max_bytes: int | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        if maxsize < 1 or max_repetitions < 1 or min_size < 0:
            raise ConfigurationError(
                f"maxsize and max_repetitions must be 1 or more and min_size 0 or more, not "
                f"{maxsize}, {max_repetitions}, {min_size}"
            )
        limit = max_repetitions + 2
        room = maxsize
        if max_bytes is not None:
            room = min(room, max_bytes // (Tally.measure_entry(limit) + Tally.measure_entry(0)))
            if room < 1:
                raise ConfigurationError(f"max_bytes is too small for one segment: {max_bytes}")
        self.maxsize = maxsize
        self.min_size = min_size
        self.max_repetitions = max_repetitions
        self.anywhere = anywhere
        self.max_bytes = max_bytes
        self.groups = dict(groups or {})
        self.identity = uuid.uuid4().hex
        self.generation = 0
        self._segments = Tally(room, limit)
        self._successions = Tally(room, 0)
        self._reader = PageReader(self.groups, whole=anywhere)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._segments)

    def observe(self, documents: Iterable[Document]) -> None:
        """Learn what the pages of a host share. A page that was learned already changes nothing."""
        for document in documents:
            self._observe(self._reader.read(document))

    def strip(self, documents: Iterable[Document]) -> list[Stripped]:
        """Return each text without the boilerplate that is known by now."""
        return [self._strip(self._reader.read(document)) for document in documents]

    def stream(self, documents: Iterable[Document], *, ahead: int = 64) -> Iterator[Stripped]:
        """Learn and strip in one pass.

        Args:
            documents: the pages, as they come.
            ahead: pages that are learned before the first is stripped, 0 or more, so that the first ones of
                a host are not all left as they are.

        Raises:
            ConfigurationError: ``ahead`` is negative.
        """
        if ahead < 0:
            raise ConfigurationError(f"ahead must be 0 or more, not {ahead}")
        return self._stream(documents, ahead)

    def _stream(self, documents: Iterable[Document], ahead: int) -> Iterator[Stripped]:
        waiting: deque[Page] = deque()
        for document in documents:
            page = self._reader.read(document)
            self._observe(page)
            waiting.append(page)
            if len(waiting) > ahead:
                yield self._strip(waiting.popleft())
        while waiting:
            yield self._strip(waiting.popleft())

    def merge(self, other: SegmentCache) -> None:
        """Learn what another cache has learned, such as that of another worker.

        In whatever order caches are merged, the same is known, as long as there is room for all.

        Raises:
            ConfigurationError: it counts otherwise: ``max_repetitions`` or ``groups`` differ.
        """
        if (other.max_repetitions, other.groups) != (self.max_repetitions, self.groups):
            raise ConfigurationError("caches are merged only with the same max_repetitions and groups")
        theirs = SegmentCache.from_bytes(other.to_bytes())  # so that no thread holds two locks
        with self._lock:
            news = self._segments.merge(theirs._segments)
            news |= self._successions.merge(theirs._successions)
            self.generation += news

    def to_bytes(self) -> bytes:
        """Return all that was learned, and the settings, with a version and a checksum."""
        settings = {
            "maxsize": self.maxsize,
            "min_size": self.min_size,
            "max_repetitions": self.max_repetitions,
            "anywhere": self.anywhere,
            "max_bytes": self.max_bytes,
            "groups": self.groups,
        }
        with self._lock:
            return write_saved(settings, {"segments": self._segments, "successions": self._successions})

    @classmethod
    def from_bytes(cls, data: bytes) -> SegmentCache:
        """Return the cache that gave ``data``.

        Raises:
            CorruptIndexError: the bytes are damaged, or something else.
            SchemeMismatchError: another version of this library gave them.

        >>> cache = SegmentCache()
        >>> cache.observe([Document("a", "Home", url="https://e.org/a")])
        >>> SegmentCache.from_bytes(cache.to_bytes()).to_bytes() == cache.to_bytes()
        True
        """
        try:
            cache = cls(**read_settings(data))
        except (TypeError, ValueError) as error:
            raise CorruptIndexError(f"saved segments: settings cannot be used: {error}") from error
        read_saved(data, {"segments": cache._segments, "successions": cache._successions})
        return cache

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that :meth:`load` reads. A crash leaves the old file or the new one."""
        target = Path(path)
        part = target.with_name(f"{target.name}.{self.identity}.part")
        try:
            with part.open("wb") as file:
                file.write(self.to_bytes())
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SegmentCache:
        """Read the file that :meth:`save` wrote.

        Raises:
            CorruptIndexError: the file is damaged, or something else.
            SchemeMismatchError: another version of this library wrote it.
            OSError: it cannot be read.
        """
        return cls.from_bytes(Path(path).read_bytes())

    def _observe(self, page: Page) -> None:
        if page.group is None or not page.keys:
            return
        half = len(page.starts) // 2
        low = {key for key, i in zip(page.keys, page.positions, strict=True) if i >= half}
        keys = list(dict.fromkeys((page.edge, *page.keys)))
        successions = list(dict.fromkeys(_link_lines(page).tolist()))
        flags = [key in low for key in keys]
        with self._lock:
            news = self._segments.add(keys, page.name, page.names, flags)
            news |= self._successions.add(successions, page.name, page.names, [False] * len(successions))
            self.generation += news

    def _strip(self, page: Page) -> Stripped:
        text = page.document.text
        if page.group is None or not page.keys:
            return Stripped(text)
        with self._lock:
            evidence = self._gather(page)
        reasons = self._judge(page, evidence)
        spans = [(page.starts[i], page.ends[i]) for i in sorted(reasons)]
        left = _count_left(page, reasons)
        if spans and left is not None:
            return Stripped(text, spared=f"only {left} words would be left, headings aside")
        removed = tuple(
            Removed(start, end, text[start:end], reasons[i])
            for (start, end), i in zip(spans, sorted(reasons), strict=True)
        )
        return Stripped(cut_spans(text, spans), removed)

    def _gather(self, page: Page) -> _Evidence:
        """Return what is known of the keys of a page."""
        rows = self._segments.find([page.edge, *page.keys])
        limit = self._segments.limit
        pages, first, second = self._segments.count_witnesses(rows[1:]).T
        return _Evidence(
            counts=self._segments.count(rows),
            low=self._segments.count_low(rows[1:]),
            often=pages >= limit,
            repeated=(pages >= limit) & (np.maximum(first, second) >= limit - 1),
            successions=self._successions.count(self._successions.find(_link_lines(page).tolist())),
        )

    def _judge(self, page: Page, evidence: _Evidence) -> dict[int, str]:
        """Return why each segment that is boilerplate is."""
        top, bottom = _draw_lines(page, evidence)
        outline = Outline(page.document.text, page.starts, page.ends)
        last = len(page.starts) - 1
        above = walk_edge(top, outline.find_after)
        below = walk_edge(
            bottom,
            lambda line, at: _mirror(outline.find_before(last - line, last - at), last),
            branches=False,
        )
        counts = dict(zip(page.positions, evidence.counts[1:].tolist(), strict=True))
        reasons = {i: f"top, {_tell(counts[i])}" for i in above.template}
        for i in below.template:
            reasons.setdefault(last - i, f"bottom, {_tell(counts[last - i])}")
        contents = dict.fromkeys(above.contents, "top") | {last - i: "bottom" for i in below.contents}
        if self.anywhere:
            for i, often in zip(page.positions, evidence.often.tolist(), strict=True):
                if often and page.ends[i] - page.starts[i] > self.min_size:
                    reasons.setdefault(i, f"anywhere, {_tell(counts[i])}")
        for i, side in contents.items():
            # What is cut here must be left there.
            if i not in reasons and any(
                place not in reasons and place not in contents for place in outline.find_places(i)
            ):
                reasons[i] = f"{side}, stands on the page again"
        return reasons


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a cache knows of the lines of a page that have keys.

    Args:
        counts: pages of the host, then pages with each line.
        low: pages that have the line in their lower half.
        often: whether it is on enough pages.
        repeated: whether it is on enough pages of different families.
        successions: pages that have two lines in a row: edge and first, first and second, last and edge.
    """

    counts: Sizes
    low: Sizes
    often: Flags
    repeated: Flags
    successions: Sizes


def _draw_lines(page: Page, evidence: _Evidence) -> tuple[Lines, Lines]:
    """Return the lines from the top, and those from the bottom."""
    pages, counts = evidence.counts[0], evidence.counts[1:]
    words = np.array(page.words)
    repeated = evidence.repeated & ((words < LONG) | (2 * counts >= pages))
    kinds = [page.kinds[i] for i in page.positions]
    whole = np.array(
        [
            kind in ("code", "table", "note") or (kind == "item" and page.is_step(i))
            for kind, i in zip(kinds, page.positions, strict=True)
        ]
    )
    headings = np.array([kind == "heading" for kind in kinds])
    keys = np.array(page.keys, dtype=np.uint64)
    around = np.concatenate(([pages], counts, [pages]))
    template = repeated & ~whole

    def draw(which: slice, template: Flags, both: Sizes, beside: Sizes) -> Lines:
        expected = (5 * both >= 4 * beside) & (beside > 0)
        least = np.minimum(beside, counts)
        linked = (2 * both >= least) & (least > 0)
        bound = 4 * both >= 3 * np.maximum(beside, counts)
        columns = (keys, counts, template, expected, linked, bound, headings, whole, words)
        return Lines(*(column[which].tolist() for column in columns))

    low = 2 * evidence.low >= counts
    top = draw(slice(0, page.top), template, evidence.successions[:-1], around[:-2])
    bottom = draw(slice(None, -page.bottom - 1, -1), template & low, evidence.successions[1:], around[2:])
    return top, bottom


def _link_lines(page: Page) -> NDArray[np.uint64]:
    """Return the key of each succession of two lines, the edges of the page included.

    What is known of nothing is known of the place where the page is broken.
    """
    around = np.array([page.edge, *page.keys, page.edge], dtype=np.uint64)
    links = link(around[:-1], around[1:])
    if page.is_broken:
        links[page.top] = page.name
    return links


def _mirror(position: int | None, last: int) -> int | None:
    return None if position is None else last - position


def _tell(count: int) -> str:
    return f"on {count if count < MOST_PAGES else f'more than {MOST_PAGES // 2}'} pages"


def _count_left(page: Page, cut: Mapping[int, str]) -> int | None:
    """Return how many words would be left, headings aside, or ``None`` if they are enough."""
    text = page.document.text
    left = [i for i, kind in enumerate(page.kinds) if i not in cut and kind != "heading"]
    size = sum(page.ends[i] - page.starts[i] for i in left)
    words = 0
    for i in left:
        words += len(text[page.starts[i] : page.ends[i]].split())
        if words >= _LEAST_WORDS and size >= _LEAST_SHARE * len(text):
            return None
    return words


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
