"""What the framework adapters share: where a chunk comes from, and an id that lasts.

A splitter gives its chunks no id (LangChain) or a new one in every run (LlamaIndex). The id that they
get here is made of where a chunk comes from and what it says, not of where on its page it stands: a
paragraph added at the top of a page moves all chunks below it, and should cost one embedding.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from rag_dedup.boilerplate import SegmentCache, strip_boilerplate
from rag_dedup.deduplicator import Deduplicator, ScopeKey
from rag_dedup.document import Document
from rag_dedup.errors import InputError
from rag_dedup.html import extract_html, is_page
from rag_dedup.text import content_key
from rag_dedup.url import SAFE, UrlPolicy, canonicalize_url, find_url

__all__ = [
    "FINAL_URL_KEYS",
    "Chunk",
    "Layout",
    "Origin",
    "copy_deeply",
    "find_origin",
    "make_canonical_metadata",
    "make_id",
    "name_chunks",
    "read_html",
    "read_span",
    "strip_texts",
]

_T = TypeVar("_T")

_NAMESPACE = uuid.UUID("6f0d3a52-8f6e-5d0c-9a53-3d7be1d5c1f4")

# Room for one part of a source, in characters; 2**30 of them fit into 62 bits.
_STRETCH = 2**32

FINAL_URL_KEYS = ("final_url", "finalUrl", "redirected_url", "resolved_url", "loadedUrl")
"""Where crawlers write the address that a page came from in the end, after redirects."""

# FireCrawlWebReader writes its mode where others write an address.
_MODES = frozenset({"crawl", "extract", "map", "scrape", "search"})


class Origin(NamedTuple):
    """Where a document comes from.

    Args:
        url: its address as the loader gave it.
        source: the key of its source: the ``SAFE`` canonical URL, or a path.
    """

    url: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A document of a framework, before the engine has a name for it.

    Args:
        text, metadata: as the framework has them.
        origin: where it comes from.
        id: its own id, if that lasts from run to run; else one is derived.
        place: what tells it from equal texts of its source, such as the page of a PDF. Part of the id.
        span: where it stands, see :class:`Layout`.
    """

    text: str
    metadata: Mapping[str, Any]
    origin: Origin
    id: str | None = None
    place: tuple[Any, ...] = ()
    span: tuple[int, int] | None = None


def find_origin(metadata: Mapping[str, Any], url_keys: Sequence[str], default: str | None = None) -> Origin:
    """Return where a document comes from.

    Its source is the first absolute URL among ``url_keys``, else ``metadata["source"]`` if that is a
    name (a path), else ``default``.

    >>> find_origin({"source": "map", "url": "https://Example.com/a?utm_source=x"}, ["source", "url"])
    Origin(url='https://Example.com/a?utm_source=x', source='https://example.com/a')
    >>> find_origin({"source": "docs/a.md"}, ["source"]).source
    'docs/a.md'
    """
    url = find_url(metadata, url_keys)
    for name in (url, metadata.get("source"), default):
        if isinstance(name, str) and name not in _MODES and (key := canonicalize_url(name, SAFE)):
            return Origin(url, key)
    return Origin(url, None)


def make_canonical_metadata(
    metadata: Mapping[str, Any], url_keys: Sequence[str], policy: UrlPolicy, *, rewrite_source: bool = False
) -> dict[str, Any]:
    """Return what a canonical URL adds to the metadata of a document, nothing if it has no URL.

    Args:
        metadata: only read.
        url_keys: where to look for the URL, in this order.
        policy: what counts as the same page.
        rewrite_source: ``source`` becomes the canonical URL; what it was is kept in ``original_source``.

    >>> from rag_dedup.url import WEB
    >>> make_canonical_metadata({"source": "http://www.example.com/a/"}, ["source"], WEB)
    {'canonical_url': 'https://example.com/a'}
    """
    url = find_url(metadata, url_keys)
    if url is None:
        return {}
    found: dict[str, Any] = {"canonical_url": canonicalize_url(url, policy)}
    if rewrite_source and metadata.get("source") != found["canonical_url"]:
        found["source"] = found["canonical_url"]
        if "source" in metadata and "original_source" not in metadata:
            found["original_source"] = metadata["source"]
    return found


def read_html(
    text: str, metadata: Mapping[str, Any], url_keys: Sequence[str], settings: Mapping[str, bool]
) -> tuple[str, dict[str, str]] | None:
    """Return the content of a page of HTML and what it adds to the metadata, ``None`` if it is no such page.

    Args:
        text: as the loader gave it.
        metadata: only read. What a page declares of itself does not replace what is there.
        url_keys: where to look for the URL, in this order.
        settings: passed on to :func:`rag_dedup.html.extract_html`.

    Raises:
        MissingExtraError: trafilatura is not installed.

    >>> html = "<html><title>Ports</title><main><p>The server listens on port 80.</p></main></html>"
    >>> read_html(html, {}, (), {})
    ('The server listens on port 80.', {'title': 'Ports', 'extraction': 'trafilatura'})
    >>> read_html("Use <html> as the root.", {}, (), {}) is None
    True
    """
    if not is_page(text):
        return None
    page = extract_html(text, find_url(metadata, url_keys), **settings)
    facts = {
        "title": page.title,
        "language": page.language,
        "date": page.date,
        "sitename": page.sitename,
        "canonical_hint": page.canonical_hint,
    }
    found = {key: fact for key, fact in facts.items() if fact and not metadata.get(key)}
    return page.text, {**found, "extraction": page.method if page.text else "nothing"}


def make_id(scope: str, source: str | None, place: Sequence[Any], text: str, occurrence: int = 0) -> str:
    """Return the UUIDv5 (RFC 9562) of a chunk.

    Args:
        scope, source: where it comes from.
        place: JSON values that tell it from equal texts of the source.
        text: what it says.
        occurrence: how many equal chunks of the source come before it.

    >>> make_id("", "https://example.com/", (), "Hello") == make_id("", "https://example.com/", (), "Hello")
    True
    """
    return str(uuid.uuid5(_NAMESPACE, json.dumps([scope, source, list(place), text, occurrence])))


def name_chunks(dedup: Deduplicator, chunks: Iterable[Chunk]) -> list[Document]:
    """Turn chunks into documents of the engine: find their scopes, derive ids for those without.

    Raises:
        MissingScopeError: a chunk lacks the scope that the engine was told to look for.
    """
    documents = []
    equal: Counter[str] = Counter()
    for number, chunk in enumerate(chunks):
        document = Document(
            id=f"number {number} of this call" if chunk.id is None else chunk.id,
            text=chunk.text,
            source=chunk.origin.source,
            url=chunk.origin.url,
            metadata=chunk.metadata,
            span=chunk.span,
        )
        scope = dedup.find_scope(document)
        id = chunk.id
        if id is None:
            first = make_id(scope, chunk.origin.source, chunk.place, chunk.text)
            again = equal[first]
            equal[first] += 1
            id = make_id(scope, chunk.origin.source, chunk.place, chunk.text, again) if again else first
        documents.append(replace(document, id=id, scope=scope))
    return documents


class Layout:
    """Where chunks stand in their source, so that an overlap is one that the splitter made.

    A splitter counts from the start of what it split. Two pages of one PDF, or one page that was
    fetched twice in a call, would seem to overlap everywhere and never be compared: each such part
    gets a stretch of the number line for itself.
    """

    def __init__(self) -> None:
        self._copies: Counter[tuple[str, str]] = Counter()
        self._starts: dict[tuple[str, str], int] = {}

    def place(self, source: str | None, part: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
        """Return where a chunk stands in its source.

        Args:
            source: its source; without one there is nothing to overlap with.
            part: names what was split, ``""`` for the source as such.
            span: where it stands in the part. The chunks of a part come in order: one that starts no
                later than the one before it begins another copy.
        """
        if source is None or span is None:
            return None
        key = (source, part)
        if span[0] <= self._starts.get(key, -1):
            self._copies[key] += 1
        self._starts[key] = span[0]
        shift = _find_shift(part, self._copies[key])
        return span[0] + shift, span[1] + shift


def read_span(start: object, end: object) -> tuple[int, int] | None:
    """Return two offsets as a span; splitters write ``None`` or -1 where they do not know.

    >>> read_span(0, 5), read_span(-1, 4)
    ((0, 5), None)
    """
    if type(start) is int and type(end) is int and 0 <= start < end < _STRETCH:
        return start, end
    return None


def _find_shift(part: str, copies: int) -> int:
    if not part and not copies:
        return 0
    return (uuid.uuid5(_NAMESPACE, json.dumps([part, copies])).int % 2**30 + 1) * _STRETCH


def copy_deeply(value: _T, name: str, memo: dict[int, Any] | None = None) -> _T:
    """Copy a document or its metadata with all that it holds.

    Args:
        value: what to copy.
        name: names it in the error.
        memo: as for :func:`copy.deepcopy`: what it holds already is shared.

    Raises:
        InputError: it holds something that cannot be copied.

    >>> copy_deeply({"tags": ["a"]}, "document 0")
    {'tags': ['a']}
    """
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:
        raise InputError(f"{name} cannot be copied: {type(error).__name__}: {error}") from error


def strip_texts(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    cache: SegmentCache,
    *,
    two_pass: bool,
    scope_key: ScopeKey | None,
    url_keys: Sequence[str],
) -> list[str]:
    """Cut the boilerplate out of the texts of pages.

    Those without a URL belong to no site, unless ``cache.groups`` names one.

    Args:
        texts, metadatas: the pages.
        cache: what is known of their sites, and goes on learning.
        two_pass: learn from all of them before the first is stripped.
        scope_key: as for the engine.
        url_keys: where to look for the URL.

    Raises:
        MissingScopeError: a page lacks the scope that ``scope_key`` promises.
    """
    find_scope = Deduplicator(scope_key=scope_key).find_scope
    pages: dict[int, Document] = {}
    for number, (text, metadata) in enumerate(zip(texts, metadatas, strict=True)):
        url = find_url(metadata, url_keys)
        source = None if url is None else canonicalize_url(url, SAFE)
        # Nothing else names a page without a URL, in a later call too.
        name = f"number {number} of this call" if url is not None else content_key(text)
        page = Document(name, text, source, url, metadata=metadata)
        page = replace(page, scope=find_scope(page))
        if url is not None or "" in cache.groups:
            pages[number] = page
    found = list(pages.values())
    stripped = strip_boilerplate(found, cache) if two_pass else cache.stream(found, ahead=0)
    result = list(texts)
    for number, rest in zip(pages, stripped, strict=True):
        result[number] = rest.text
    return result
