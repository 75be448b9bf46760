"""What a page says its canonical address is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from rag_dedup.url.canonical import canonicalize_url
from rag_dedup.url.head import Element, read_head
from rag_dedup.url.link import parse_link_header
from rag_dedup.url.policy import SAFE
from rag_dedup.url.reference import is_web_url, resolve_url

__all__ = ["CanonicalHint", "HintOrigin", "find_canonical_hints"]

HintOrigin = Literal["header", "tag", "og:url", "alternate"]

# Pages say it once; a page that says it a thousand times is not worth the time.
_MOST_LINKS = 1000
# "rel=canonical annotations that suggest alternate versions of a page are disregarded", says Google:
# developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls
_ALTERNATE = ("hreflang", "lang", "media", "type")


@dataclass(frozen=True, slots=True)
class CanonicalHint:
    """One thing that a page says about its address.

    Args:
        url: an absolute http or https URL.
        origin: ``"header"`` and ``"tag"`` are rel=canonical in the Link header and in the HTML;
            ``"og:url"`` is weaker. ``"alternate"`` is another language of the page, the one thing that it
            is not a copy of.
        language: of an alternate, as in ``hreflang``.
    """

    url: str
    origin: HintOrigin
    language: str = ""

    @property
    def key(self) -> str:
        """The ``SAFE`` key of the URL."""
        return canonicalize_url(self.url, SAFE)


def find_canonical_hints(
    html: str = "", headers: str | Iterable[str] = (), *, url: str = ""
) -> tuple[CanonicalHint, ...]:
    """Return what a page says about its address, each statement once, headers first.

    ``rel`` is a list of types, compared without case (RFC 8288; HTML 4.6.7). Only the head of the HTML
    counts, see :func:`rag_dedup.url.head.read_head`. Links of the HTML are relative to its first
    ``<base>``, links of the header to ``url``. Passed over: links that lead to no http or https URL,
    headers whose ``anchor`` is another resource, and a canonical link with ``hreflang``, ``lang``,
    ``media`` or ``type``.

    Args:
        html: the page, as text; broken HTML raises nothing.
        headers: values of its Link headers.
        url: the address of the page, after redirects. Without it, relative links lead nowhere.

    Raises:
        TypeError: ``html`` or a header is no ``str``.

    >>> html = '<base href="/docs/"><link rel="canonical" href="setup"><meta property="og:url" content="/x">'
    >>> [(hint.origin, hint.url) for hint in find_canonical_hints(html, url="https://example.com/a")]
    [('tag', 'https://example.com/docs/setup')]
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be a str, not {type(html).__name__}")
    return tuple(dict.fromkeys([*_read_headers(headers, url), *_read_html(html, url)]))


def _read_headers(headers: str | Iterable[str], url: str) -> Iterator[CanonicalHint]:
    for number, link in enumerate(parse_link_header(headers)):
        if number >= _MOST_LINKS:
            return
        if link.anchor is None or _is_same_resource(link.anchor, url):
            yield from _make_hints("header", link.rel, link.target, dict(link.parameters), url)


def _is_same_resource(anchor: str, url: str) -> bool:
    if not anchor:
        return True
    about = resolve_url(anchor, url)
    return about is not None and canonicalize_url(about, SAFE) == canonicalize_url(url, SAFE)


def _read_html(html: str, url: str) -> Iterator[CanonicalHint]:
    bases: list[str] = []
    links: list[dict[str, str]] = []
    graph: list[str] = []
    for element in read_head(html):
        if element.name == "base" and not bases and "href" in element.attributes:
            bases.append(element.attributes["href"])
        elif element.name == "link" and "rel" in element.attributes and len(links) < _MOST_LINKS:
            links.append(element.attributes)
        elif element.name == "meta" and not graph and _is_graph_url(element):
            graph.append(element.attributes.get("content", "").strip())
    base = (resolve_url(bases[0], url) if bases else None) or url
    for attributes in links:
        rel = tuple(attributes["rel"].lower().split())
        yield from _make_hints("tag", rel, attributes.get("href", ""), attributes, base)
    for target in graph:
        if is_web_url(target):  # the protocol asks for an absolute one
            yield CanonicalHint(target, "og:url")


def _is_graph_url(element: Element) -> bool:
    names = (element.attributes.get("property", ""), element.attributes.get("name", ""))
    return any(name.strip().lower() == "og:url" for name in names)


def _make_hints(
    origin: HintOrigin, rel: tuple[str, ...], target: str, attributes: dict[str, str], base: str
) -> Iterator[CanonicalHint]:
    url = resolve_url(target, base) if "canonical" in rel or "alternate" in rel else None
    if url is None:
        return
    language = attributes.get("hreflang", "").strip().lower()
    if "alternate" in rel and language:
        yield CanonicalHint(url, "alternate", language)
    elif "canonical" in rel and not any(name in attributes for name in _ALTERNATE):
        yield CanonicalHint(url, origin)
