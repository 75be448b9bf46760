"""A page, as far as its address is concerned, and many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rag_dedup.url.canonical import canonicalize_url
from rag_dedup.url.head import read_head
from rag_dedup.url.hint import CanonicalHint, HintOrigin, find_canonical_hints
from rag_dedup.url.parse import split_url
from rag_dedup.url.policy import SAFE

__all__ = ["KnownPages", "WebPage", "check_page", "read_page"]

_Mark = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was fetched, or was tried to.

    Args:
        url: its address after redirects.
        hints: what it says about its address.
        content: two pages that say the same have the same; :func:`rag_dedup.content_key` of the text will
            do. ``None``: not known, and equal to nothing.
        language: of the text, as in ``<html lang>``.
        failed: it did not come: an error, a login page, a timeout.

    Raises:
        TypeError: ``url`` is no ``str``.
    """

    url: str
    hints: tuple[CanonicalHint, ...] = ()
    content: str | None = None
    language: str = ""
    failed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.url, str):
            raise TypeError(f"url must be a str, not {type(self.url).__name__}")

    @property
    def key(self) -> str:
        """The ``SAFE`` key of its address."""
        return canonicalize_url(self.url, SAFE)

    def find_target(self) -> str | None:
        """Return the one address that all its rel=canonical links name, ``None`` if they name several.

        It comes as the first link writes it; one of a header goes first.
        """
        named = {**self.list_targets("tag"), **self.list_targets("header")}
        return next(iter(named.values())) if len(named) == 1 else None

    def list_targets(self, origin: HintOrigin) -> dict[str, str]:
        """Return the addresses that its hints of one origin name, by their keys, as the first writes each."""
        return {hint.key: hint.url for hint in reversed(self.hints) if hint.origin == origin}


def read_page(
    url: str, html: str = "", headers: str | Iterable[str] = (), *, content: str | None = None
) -> WebPage:
    """Read what a page says about its address.

    Args:
        url: its address after redirects.
        html: the page, as text.
        headers: values of its Link headers.
        content: see :class:`WebPage`.

    Raises:
        TypeError: an argument of another type.

    >>> read_page("https://example.com/a?b", '<link rel="canonical" href="/a">').find_target()
    'https://example.com/a'
    """
    page = WebPage(url)  # says what is wrong with the url
    hints = find_canonical_hints(html, headers, url=page.url)
    first = next((element for element in read_head(html) if element.name == "html"), None)
    language = first.attributes.get("lang", "").strip().lower() if first else ""
    return WebPage(url, hints, content, language)


class KnownPages:
    """Pages by the key of their address. Build it once for many verdicts.

    Args:
        pages: of two with one key, the last counts.

    Raises:
        TypeError: something that is no :class:`WebPage`.

    >>> pages = KnownPages([WebPage("https://example.com/a#top")])
    >>> pages.find("https://EXAMPLE.com/a")
    WebPage(url='https://example.com/a#top', hints=(), content=None, language='', failed=False)
    """

    def __init__(self, pages: Iterable[WebPage] = ()) -> None:
        self._pages = {check_page(page).key: page for page in pages}
        self._pages.pop("", None)  # no key never equals no key
        self._claims: dict[tuple[str, str], Counter[_Mark]] = {}
        for page in self._pages.values():
            claim = self._find_claim(page)
            if claim is not None:
                self._claims.setdefault(claim, Counter())[_mark(page)] += 1

    def __len__(self) -> int:
        return len(self._pages)

    def find(self, url: str) -> WebPage | None:
        """Return the page at an address, ``None`` if it was never seen."""
        return self._pages.get(canonicalize_url(url, SAFE))

    def count_claims(self, page: WebPage) -> int:
        """Count the different pages of its host that name the target of ``page``, itself among them.

        A page whose content is the target's is right and does not count. Pages of one content are one; so
        are, of those whose content is not known, the ones that differ in the query only.
        """
        claim = self._find_claim(page)
        if claim is None:
            return 0
        marks = self._claims.get(claim, Counter())
        own, before = _mark(page), self._pages.get(page.key)
        count = len(marks) + (own not in marks)
        if before is not None and self._find_claim(before) == claim and _mark(before) != own:
            count -= marks[_mark(before)] == 1  # what it said before it was edited
        return count

    def _find_claim(self, page: WebPage) -> tuple[str, str] | None:
        """Return the key of the target and the host of a page that may be wrong about it."""
        target = None if page.failed else page.find_target()
        if target is None:
            return None
        key = canonicalize_url(target, SAFE)
        found = self._pages.get(key)
        if key == page.key or (found and page.content is not None and found.content == page.content):
            return None
        return key, _get_host(page)


def check_page(page: WebPage) -> WebPage:
    """Return a page as it is.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(page, WebPage):
        raise TypeError(f"a page must be a WebPage, not {type(page).__name__}")
    return page


def _get_host(page: WebPage) -> str:
    parts = split_url(page.url)
    return parts.host if parts else ""


def _mark(page: WebPage) -> _Mark:
    """Return what different pages differ in."""
    if page.content is not None:
        return "content", page.content
    return "path", page.key.partition("#")[0].partition("?")[0]
