"""What browsers make of a URL, and what SAFE adds to it by named rules only."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.url import SAFE, canonicalize_url
from rag_dedup.url.reference import resolve_url
from tests.url.case_files import read_cases
from tests.url.strategies import BARE, flags, pieces, url_texts

KINDS: dict[str, list[str]] = read_cases("whatwg")
INPUTS = list(dict.fromkeys(text for kind in KINDS.values() for text in kind))
SPECIAL = ("http:", "https:", "ftp:", "ws:", "wss:", "file:")


def find_href(text: str, base: str | None = None) -> str | None:
    """Return what browsers make of ``text``, ``None`` if they refuse it or do not fetch its scheme."""
    try:
        href: str = ada_url.URL(text, base).href
    except ValueError:
        return None
    return href if href.startswith(SPECIAL) else None


def spell(href: str) -> str:
    """Say slowly what is one spelling to us and two to browsers: escapes, and what is empty."""
    scheme, host, tail = re.fullmatch(r"(\w+:)(//[^/]*)(.*)", href, re.DOTALL).groups()  # type: ignore[union-attr]
    user, at, host = host[2:].rpartition("@")
    path, _, fragment = tail.partition("#")
    path, mark, query = path.partition("?")
    if scheme in ("http:", "https:"):
        query = "&".join(item for item in query.split("&") if item)
        mark = "?" if query else ""
    user, path, query, fragment = map(spell_escapes, (user, path, query, fragment))
    keeps_empty = scheme == "file:" and "#" in tail
    return f"{scheme}//{user}{at}{host}{path}{mark}{query}{'#' if fragment or keeps_empty else ''}{fragment}"


def spell_escapes(text: str) -> str:
    def normalize(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if re.fullmatch(r"[A-Za-z0-9._~-]", character) else match[0].upper()

    text = re.sub(r"%([0-9A-Fa-f]{2})", normalize, text)
    return re.sub(r"[^\w\-.~!$&'()*+,;=:@/?#%]", lambda match: f"%{ord(match[0]):02X}", text, flags=re.ASCII)


HREFS = {text: href for text in INPUTS if (href := find_href(text)) is not None}


def test_the_table_is_worth_something() -> None:
    assert len(HREFS) > 200
    assert len(INPUTS) - len(HREFS) > 60
    assert len(set(HREFS.values())) < len(HREFS) - 50


@pytest.mark.parametrize("text", HREFS)
def test_a_text_and_what_browsers_make_of_it_have_one_key(text: str) -> None:
    assert canonicalize_url(text, SAFE) == canonicalize_url(HREFS[text], SAFE)


def test_urls_that_browsers_tell_apart_share_a_key_by_named_rules_only() -> None:
    by_key = defaultdict(list)
    for href in dict.fromkeys(HREFS.values()):
        by_key[canonicalize_url(href, SAFE)].append(href)
    for hrefs in by_key.values():
        for a, b in combinations(hrefs, 2):
            assert spell(a) == spell(b) or find_rule(a, b), (a, b)


def find_rule(a: str, b: str) -> str | None:
    """Return a flag of ``SAFE`` without which two URLs have two keys."""
    for flag in flags:
        policy = replace(SAFE, **{flag: False})
        if canonicalize_url(a, policy) != canonicalize_url(b, policy):
            return flag
    return None


@pytest.mark.parametrize("text", [text for text in INPUTS if text not in HREFS])
def test_what_browsers_refuse_is_the_key_of_nothing_else(text: str) -> None:
    key = canonicalize_url(text, SAFE)
    assert key == "" or key.lower() == text.lower()
    assert not key or find_href(key) is None


same_urls = st.sampled_from(sorted(HREFS))


@given(st.one_of(url_texts, same_urls), st.one_of(url_texts, same_urls))
def test_without_rules_keys_are_spellings_of_browsers(a: str, b: str) -> None:
    hrefs = [find_href(text) for text in (a, b)]
    for text, href in zip((a, b), hrefs, strict=True):
        if href is not None and not is_ours(text):
            assert canonicalize_url(text, BARE) == canonicalize_url(href, BARE)
    if None not in hrefs and not any(map(is_ours, (a, b))):
        same = canonicalize_url(a, BARE) == canonicalize_url(b, BARE)
        assert same == (spell(hrefs[0] or "") == spell(hrefs[1] or ""))


def is_ours(text: str) -> bool:
    """Tell whether a text is one of the few that we read differently on purpose, or the other one wrongly.

    Lone surrogates are U+FFFD to browsers, and would all be one; a ``%`` that starts no escape may come to
    start one when others are decoded; a byte order mark is no part of a file; ``file:`` names nothing.
    """
    return (
        any("\ud800" <= character <= "\udfff" for character in text)
        or re.search(r"%(?![0-9A-Fa-f]{2})", text) is not None
        or "\ufeff" in text
        or canonicalize_url(text, BARE) == ""
    )


BASES = ["http://example.org/foo/bar?a#b", "https://user:pw@example.org:81/", "http://[::1]/a/b/"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", ["paths", "queries", "schemes", "userinfo", "names"])
def test_a_relative_reference_is_what_browsers_make_of_it(kind: str, base: str) -> None:
    references = [text.replace("http://e.org", "") for text in KINDS[kind]]
    references += [
        "..",
        "../..",
        "./",
        "?",
        "?a=1",
        "//example.net/a",
        "\\a",
        "/\\example.net",
        "a:b",
        "a//b",
        ";a",
    ]
    for reference in references:
        href, resolved = find_href(reference, base), resolve_url(reference, base)
        if reference in ("", "http:") or (href or "").startswith(("ftp:", "ws", "file")):
            continue  # says nothing, or leads to no page
        assert (resolved and canonicalize_url(resolved, BARE)) == (href and canonicalize_url(href, BARE)), (
            reference
        )


@given(st.lists(pieces, max_size=6).map("".join))
def test_no_reference_raises(reference: str) -> None:
    for base in (*BASES, "", "a", "http://["):
        resolved = resolve_url(reference, base)
        assert resolved is None or find_href(resolved) is not None or "\ud800" in resolved
