"""Whether a page is another one, as it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.url import (
    SAFE,
    CanonicalHint,
    KnownPages,
    WebPage,
    canonicalize_url,
    is_same_site,
    judge_canonical,
    read_page,
    resolve_canonical,
)
from tests.url.case_files import read_cases

CASES = read_cases("verdicts")["case"]


def make_page(case: str | dict[str, str]) -> WebPage:
    if isinstance(case, str):
        case = {"url": case}
    url, _, content = case["url"].partition(" ")
    html = case.get("html", "")
    if "says" in case:
        html += f'<link rel="canonical" href="{case["says"]}">'
    page = read_page(url.lstrip("!"), html, case.get("header", ""), content=content or None)
    return replace(page, failed=url.startswith("!"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_page_stands_under_this_address(case: dict[str, Any]) -> None:
    page, known = make_page(case["page"]), [make_page(other) for other in case["known"]]
    for pages in (known, KnownPages(known), KnownPages([*known, page]), known[::-1]):
        verdict = resolve_canonical(page, pages)
        assert verdict.reason == case["reason"]
        assert verdict.url == page.url
        assert verdict.canonical_url == case.get("becomes", page.url)
        assert verdict.accepted == ("becomes" in case)
        assert verdict.key == canonicalize_url(verdict.canonical_url, SAFE)
        assert verdict.chain == tuple(case.get("chain", verdict.chain))


def test_both_addresses_and_the_reason_are_kept() -> None:
    page = read_page("https://Example.com/a?sort=up", '<link rel=canonical href="https://example.org/a#x">')
    verdict = resolve_canonical(page)
    assert (verdict.url, verdict.target) == ("https://Example.com/a?sort=up", "https://example.org/a#x")
    assert (verdict.reason, verdict.accepted, verdict.key) == (
        "unseen",
        False,
        "https://example.com/a?sort=up",
    )


def test_a_page_alone_is_judged_by_what_it_says() -> None:
    page = make_page({"url": "https://example.com/a?b", "says": "/a"})
    assert judge_canonical(page).canonical_url == "https://example.com/a"
    assert judge_canonical(make_page({"url": "https://example.com/a", "says": "/"})).reason == "root"
    assert judge_canonical(make_page({"url": "https://example.com/a"})).reason == "none"


def test_what_agrees_can_be_told() -> None:
    page = make_page({"url": "https://example.com/a one", "says": "https://example.org/a"})
    known = [make_page("https://example.org/a two")]
    assert resolve_canonical(page, known).reason == "other site"
    assert resolve_canonical(page, known, agrees=lambda a, b: True).reason == "same content"
    assert resolve_canonical(page, known, same_site=lambda a, b: True).reason == "same site"


def test_an_edited_page_is_not_its_own_rival() -> None:
    others = [make_page({"url": f"https://example.com/{n} {n}", "says": "/news"}) for n in (1, 2)]
    known = KnownPages([make_page("https://example.com/news"), *others])
    edited = make_page({"url": "https://example.com/2 edited", "says": "/news"})
    assert resolve_canonical(edited, known).reason == "same site"


@pytest.mark.parametrize("value", [None, "https://example.com/", {"url": "https://example.com/"}])
def test_only_pages_are_judged(value: Any) -> None:
    page = WebPage("https://example.com/")
    for call in (lambda: KnownPages([value]), lambda: resolve_canonical(page, [value])):
        with pytest.raises(TypeError, match="a page must be a WebPage"):
            call()
    with pytest.raises(TypeError, match="a page must be a WebPage"):
        resolve_canonical(value)
    with pytest.raises(TypeError, match="a page must be a WebPage"):
        resolve_canonical(value, KnownPages())
    with pytest.raises(TypeError, match="a page must be a WebPage"):
        judge_canonical(value)


def test_many_claims_take_linear_time() -> None:
    claims = [make_page({"url": f"https://example.com/{n} {n}", "says": "/news"}) for n in range(20_000)]
    known = KnownPages([make_page("https://example.com/news"), *claims])
    assert len(known) == 20_001
    assert {resolve_canonical(page, known).reason for page in claims[:3000]} == {"distrusted"}


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("example.com", "www.example.com", True),
        ("a.example.com", "b.c.example.com", True),
        ("example.com", "example.org", False),
        ("example.com", "notexample.com", False),
        ("a.co.uk", "b.co.uk", False),
        ("a.example.co.uk", "b.example.co.uk", True),
        ("a.com.au", "b.com.au", False),
        ("alice.github.io", "bob.github.io", False),
        ("docs.alice.github.io", "alice.github.io", True),
        ("alice.github.io", "github.io", False),
        ("192.0.2.1", "192.0.3.1", False),
        ("192.0.2.1", "192.0.2.1", True),
        ("[2001:db8::1]", "[2001:db8::2]", False),
        ("localhost", "localhost", True),
        ("com", "example.com", False),
    ],
)
def test_hosts_of_one_owner(a: str, b: str, same: bool) -> None:
    assert is_same_site(a, b) == is_same_site(b, a) == same


addresses = [f"https://example.com/{name}" for name in "abcdefgh"]
graphs = st.dictionaries(st.sampled_from(addresses), st.sampled_from(addresses), max_size=8).map(
    lambda graph: [
        WebPage(url, (CanonicalHint(target, "tag"),), content=target if url == target else url)
        for url, target in graph.items()
    ]
)


@given(graphs, st.randoms())
def test_the_order_of_pages_does_not_matter(pages: list[WebPage], chance: Any) -> None:
    mixed = list(pages)
    chance.shuffle(mixed)
    for page in pages:
        assert resolve_canonical(page, pages) == resolve_canonical(page, mixed)


@given(graphs)
def test_all_that_leads_into_a_circle_stands_under_one_page_of_it(pages: list[WebPage]) -> None:
    by_url = {page.url: page for page in pages}
    for page in pages:
        verdict = resolve_canonical(page, pages)
        if verdict.reason == "cycle":
            others = {resolve_canonical(by_url[url], pages).canonical_url for url in verdict.chain}
            assert others == {verdict.canonical_url}


@given(graphs)
def test_a_page_stands_under_itself_or_a_live_page(pages: list[WebPage]) -> None:
    live = {page.url for page in pages}
    for page in pages:
        verdict = resolve_canonical(page, pages)
        assert verdict.canonical_url in live
        assert verdict.accepted == (verdict.canonical_url != page.url)
        if not verdict.accepted:
            assert verdict.reason not in ("same site", "same content")
