"""Whether a page is another one, as it says (RFC 6596): rel=canonical is a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rag_dedup.url.canonical import canonicalize_url
from rag_dedup.url.page import KnownPages, WebPage, check_page
from rag_dedup.url.parse import split_url
from rag_dedup.url.policy import SAFE, WEB
from rag_dedup.url.site import find_locale, find_page_number, is_root, is_same_site

__all__ = ["CanonicalVerdict", "Reason", "judge_canonical", "resolve_canonical"]

_MOST_HOPS = 5

# One page whose template names a wrong address is nobody's; two can be an article and its print view.
_DISTRUSTED_CLAIMS = 3

Reason = Literal[
    "none",
    "self",
    "same site",
    "same content",
    "cycle",
    "too many hops",
    "several",
    "header and tag disagree",
    "alternate",
    "other site",
    "root",
    "other locale",
    "other page number",
    "weak",
    "distrusted",
    "failed",
    "unseen",
]
"""Why a verdict is what it is.

``none``: the page says nothing. ``self``: it names itself. ``same site``, ``same content``: the target was
accepted for this. ``cycle``: pages name each other in a circle, the smallest key stands for all. ``too many
hops``: the fifth page of a chain stands for the first. All others say why the target was not accepted:
``several`` targets; ``alternate``: the target is the page in another language; ``weak``: only og:url says so;
``distrusted``: several different pages of the host name this target; ``failed``, ``unseen``: the target.
"""

_FINAL: tuple[Reason, ...] = ("none", "self", "several", "header and tag disagree", "alternate")

Agrees = Callable[[WebPage, WebPage], bool]
SameSite = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class CanonicalVerdict:
    """Which address a page stands under, and why.

    Args:
        url: its own address, untouched.
        target: the address that it names, ``None`` if it names none or several.
        canonical_url: the address that it stands under: of ``url``, ``target`` and what the target names in
            turn, the one that was accepted.
        accepted: it stands under another key than its own.
        reason: why the target was accepted or not.
        chain: the addresses that were accepted one after the other, from ``url`` on.
    """

    url: str
    target: str | None
    canonical_url: str
    accepted: bool
    reason: Reason
    chain: tuple[str, ...]

    @property
    def key(self) -> str:
        """The ``SAFE`` key that the page stands under."""
        return canonicalize_url(self.canonical_url, SAFE)


def judge_canonical(page: WebPage, *, same_site: SameSite = is_same_site) -> CanonicalVerdict:
    """Judge what a page says about its address by that alone, as if its target were there.

    Args:
        page: see :func:`rag_dedup.url.read_page`.
        same_site: tells whether two hosts have one owner.

    >>> from rag_dedup.url import read_page
    >>> page = read_page("https://example.com/a?sort=up", '<link rel="canonical" href="/a">')
    >>> judge_canonical(page).reason, judge_canonical(page).canonical_url
    ('same site', 'https://example.com/a')
    """
    target, reason = _judge_hints(check_page(page), same_site)
    if target is None or reason != "same site":
        return _stay(page, target, reason)
    return CanonicalVerdict(page.url, target, target, True, reason, (page.url, target))


def resolve_canonical(
    page: WebPage,
    known: KnownPages | Iterable[WebPage] = (),
    *,
    agrees: Agrees | None = None,
    same_site: SameSite = is_same_site,
) -> CanonicalVerdict:
    """Return which address a page stands under, given the pages that are known.

    What it says is accepted when the target is a known page of the same site, not the root of a site, of
    the same locale and page number, and not claimed by three different pages of the host (a broken template);
    else only when the contents agree. Never accepted: several targets, a header and a tag that disagree, an
    alternate in another language, a target that failed or was never seen. ``og:url`` needs agreeing contents.
    The target's own word is followed in the same way, five hops at most; in a circle the smallest key counts,
    so that the order of pages does not matter. Whatever is not accepted leaves the page under its own key.

    Args:
        page: see :func:`rag_dedup.url.read_page`.
        known: pages that were seen; for many verdicts build a :class:`rag_dedup.url.KnownPages` once.
        agrees: tells whether two pages say the same, by default whether their ``content`` is equal.
        same_site: tells whether two hosts have one owner.

    Raises:
        TypeError: something that is no :class:`rag_dedup.WebPage`.

    Source: RFC 6596, sections 3 and 5; what it leaves to applications is decided as said above.

    >>> from rag_dedup.url import WebPage, read_page
    >>> page = read_page("https://example.com/a?sort=up", '<link rel="canonical" href="/a">')
    >>> resolve_canonical(page, [WebPage("https://example.com/a")]).reason
    'same site'
    >>> resolve_canonical(page).reason, resolve_canonical(page).canonical_url
    ('unseen', 'https://example.com/a?sort=up')
    """
    pages = known if isinstance(known, KnownPages) else KnownPages([*known, page])
    agrees = agrees or _has_equal_content
    chain, keys = [check_page(page)], [page.key]
    verdict = _stay(page, None, "none")
    while True:
        target, reason = _judge_hints(chain[-1], same_site)
        found = None if target is None else page if _names(target, page) else pages.find(target)
        if reason not in _FINAL:
            reason = _judge_target(chain[-1], found, reason, pages, agrees)
        if len(chain) == 1:
            verdict = replace(verdict, target=target, reason=reason)
        if target is None or found is None or reason not in ("same site", "same content"):
            return verdict
        if found.key in keys:
            circle = chain[keys.index(found.key) :]
            smallest = min(circle, key=lambda member: member.key)
            return _stand_under(verdict, smallest.url, [*chain, smallest], "cycle")
        if len(chain) > _MOST_HOPS:
            return replace(verdict, reason="too many hops")
        chain.append(found)
        keys.append(found.key)
        verdict = _stand_under(verdict, target, chain, verdict.reason)


def _stay(page: WebPage, target: str | None, reason: Reason) -> CanonicalVerdict:
    return CanonicalVerdict(page.url, target, page.url, False, reason, (page.url,))


def _stand_under(
    verdict: CanonicalVerdict, url: str, chain: list[WebPage], reason: Reason
) -> CanonicalVerdict:
    moved = canonicalize_url(url, SAFE) != canonicalize_url(verdict.url, SAFE)
    return replace(
        verdict,
        canonical_url=url if moved else verdict.url,
        accepted=moved,
        reason=reason,
        chain=tuple(member.url for member in chain),
    )


def _has_equal_content(a: WebPage, b: WebPage) -> bool:
    return a.content is not None and a.content == b.content


def _names(url: str, page: WebPage) -> bool:
    return canonicalize_url(url, SAFE) == page.key


def _judge_target(
    page: WebPage, target: WebPage | None, reason: Reason, known: KnownPages, agrees: Agrees
) -> Reason:
    """Return what is left of a doubt, or arises, when the target is looked at."""
    if target is None:
        return "unseen"
    if target.failed:
        return "failed"
    if _is_alternate(target, page.url):
        return "alternate"
    if reason == "same site" and known.count_claims(page) >= _DISTRUSTED_CLAIMS:
        reason = "distrusted"
    return "same content" if reason != "same site" and agrees(page, target) else reason


def _judge_hints(page: WebPage, same_site: SameSite) -> tuple[str | None, Reason]:
    """Return the target that a page names, and the first doubt that arises without looking at it."""
    if page.failed:  # an error page speaks for itself at most
        return None, "none"
    header, tag = page.list_targets("header"), page.list_targets("tag")
    named = {**tag, **header}
    if len(named) > 1:
        return None, "several" if len(header) > 1 or len(tag) > 1 else "header and tag disagree"
    weak = not named
    if weak:
        named = page.list_targets("og:url")
        if len(named) != 1:
            return None, "none"
    ((key, target),) = named.items()
    if key == page.key:
        return target, "self"
    return target, _find_doubt(page, target, weak, same_site)


def _find_doubt(page: WebPage, target: str, weak: bool, same_site: SameSite) -> Reason:
    ours, theirs = split_url(page.url), split_url(target)
    if ours is None or theirs is None or not same_site(ours.host, theirs.host):
        reason: Reason = "other site"
    elif is_root(target) and canonicalize_url(page.url, WEB) != canonicalize_url(target, WEB):
        reason = "root"
    elif find_locale(page.url) != find_locale(target):
        reason = "other locale"
    elif find_page_number(page.url) != find_page_number(target):
        reason = "other page number"
    else:
        reason = "weak" if weak else "same site"
    return "alternate" if _is_alternate(page, target) else reason


def _is_alternate(page: WebPage, target: str) -> bool:
    """Tell whether a page lists the target as itself in another language."""
    languages = _list_languages(page, target)
    if not languages or _is_same_address(page.url, target):
        return False
    own = _list_languages(page, page.url) or ({page.language} if page.language else set())
    return not any(_is_same_language(a, b) for a in own for b in languages)


def _list_languages(page: WebPage, url: str) -> set[str]:
    key = canonicalize_url(url, SAFE)
    return {
        hint.language
        for hint in page.hints
        if hint.origin == "alternate" and hint.language != "x-default" and hint.key == key
    }


def _is_same_language(a: str, b: str) -> bool:
    """Tell whether one tag is the other, or more of it: ``en`` and ``en-GB``, but no two regions."""
    a, b = a.replace("_", "-"), b.replace("_", "-")
    return f"{a}-".startswith(f"{b}-") or f"{b}-".startswith(f"{a}-")


def _is_same_address(a: str, b: str) -> bool:
    """Tell whether two URLs differ in the query at most, by what people call the same page."""
    a, b = (canonicalize_url(url, WEB).partition("?")[0] for url in (a, b))
    return a == b
