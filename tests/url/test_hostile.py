"""Input that was not meant well."""

from __future__ import annotations

from typing import Any

import pytest

from rag_dedup.url import (
    SAFE,
    WEB,
    CanonicalHint,
    WebPage,
    canonicalize_url,
    explain_url,
    find_url,
    resolve_canonical,
)
from rag_dedup.url.reference import resolve_url
from rag_dedup.url.site import find_locale, find_page_number, is_root

N = 1_000_000  # characters: hours, if anything were quadratic

LONG = {
    "a text": "a" * N,
    "blanks": " " * N,
    "a scheme": "a" * N + ":",
    "slashes": "http:" + "/" * N,
    "userinfo": "http://" + "a@:" * (N // 3) + "example.com/",
    "a host": "http://" + "a" * N + "/",
    "a host and a blank": "http://" + "a" * N + " ",
    "labels": "http://" + "a." * (N // 2) + "com/",
    "www": "http://" + "www." * (N // 4) + "com/",
    "dots": "http://" + "." * N + "/",
    "an international host": "http://" + "ü" * N + "/",
    "an escaped host": "http://" + "%61" * (N // 3) + "/",
    "numbers of a host": "http://" + "1." * (N // 2) + "1/",
    "one number": "http://" + "9" * N + "/",
    "an IPv6 address": "http://[" + "1:" * (N // 2) + "]/",
    "a port": "http://example.com:" + "9" * N + "/",
    "zeros of a port": "http://example.com:" + "0" * N + "80/",
    "a path": "https://example.com/" + "a" * N,
    "segments": "https://example.com/" + "a/" * (N // 2),
    "dot segments": "https://example.com/" + "a/../" * (N // 5),
    "parents": "https://example.com/" + "a/" * (N // 4) + "../" * (N // 4),
    "trailing slashes": "https://example.com/" + "/" * N,
    "backslashes": "https://example.com/" + "\\" * N,
    "escapes": "https://example.com/" + "%c3%a9" * (N // 6),
    "unreserved escapes": "https://example.com/" + "%41" * (N // 3),
    "lone percent signs": "https://example.com/" + "%" * N,
    "lone percent signs and escapes": "https://example.com/" + "%%34%31" * (N // 7),
    "illegal characters": "https://example.com/" + "é" * N,
    "surrogates": "https://example.com/" + "\ud800" * N,
    "line breaks": "https://example.com/" + "\n" * N + "a",
    "items": "https://example.com/?" + "b=1&a=2&" * (N // 8),
    "empty items": "https://example.com/?" + "&" * N,
    "one item": "https://example.com/?" + "=" * N,
    "tracking": "https://example.com/?" + "utm_source=1&" * (N // 13),
    "sessions": "https://example.com/?" + "CFID=1&" * (N // 7) + "CFTOKEN=1",
    "a session": "https://example.com/?jsessionid=" + "a" * N,
    "path sessions": "https://example.com/" + ";jsessionid=0123456789abcdef0" * (N // 29),
    "tickets": "https://example.com/(" + "A()" * (N // 3) + "/",
    "open tickets": "https://example.com/(" + "A(" * (N // 2) + "/",
    "ampersands": "https://example.com/?a" + "&amp;" * (N // 5),
    "half ampersands": "https://example.com/?a;" + "&#" * (N // 2),
    "zeros of an ampersand": "https://example.com/?a;&#" + "0" * N,
    "a fragment": "https://example.com/#" + "a" * N,
    "text directives": "https://example.com/#/" + ":~:" * (N // 3),
    "reference segments": "https://www.amazon.com" + "/ref=a" * (N // 6),
    "a file": "file:///" + "%7e" * (N // 3),
    "a file with parents": "file:///C|/" + "a/../" * (N // 5),
    "a file on a host": "file://" + "a." * (N // 2) + "/",
    "a file with backslashes": "file:" + "\\" * N,
    "page numbers": "https://example.com" + "/page/2" * (N // 7) + "?" + "page=2&" * (N // 7),
    "locales": "https://example.com" + "/en" * (N // 3) + "?" + "lang=de&" * (N // 8),
    "digits of a page number": "https://example.com/page" + "0" * N,
}


@pytest.mark.parametrize("name", LONG)
def test_time_is_linear(name: str) -> None:
    for policy in (SAFE, WEB):
        key = canonicalize_url(LONG[name], policy)
        assert canonicalize_url(key, policy) == key
    assert find_url({"url": LONG[name]}, ["url"]) in (LONG[name], None)


@pytest.mark.parametrize("name", LONG)
def test_time_of_all_else_is_linear(name: str) -> None:
    url = LONG[name][: N // 10]
    assert explain_url(url, SAFE).key == canonicalize_url(url, SAFE)
    resolved = resolve_url(url[:-1], "https://example.com/a/b")
    assert resolved is None or resolved.startswith("http")
    assert len(find_locale(url)) + len(find_page_number(url)) + is_root(url) <= len(url)
    page = WebPage(url, (CanonicalHint(url, "tag"), CanonicalHint("https://example.com/b", "og:url")))
    assert resolve_canonical(page, [WebPage(url + "/a")]).canonical_url == url


@pytest.mark.parametrize("value", [None, b"https://example.com/", 17, ["https://example.com/"], object])
def test_only_a_str_has_a_key(value: Any) -> None:
    with pytest.raises(TypeError, match=r"url must be a str, not \w+"):
        canonicalize_url(value)


def test_lone_surrogates_stay_apart() -> None:
    urls = [f"https://example.com/{c}" for c in ("\ud800", "\ud801", "\udc00", "\ufffd", "")]
    keys = {canonicalize_url(url, SAFE) for url in urls}
    assert len(keys) == len(urls)
    assert all(key.isascii() for key in keys)
    assert canonicalize_url("https://\ud800.example/", SAFE) == "https://\ud800.example/"


def test_half_a_pair_is_not_a_pair() -> None:
    assert canonicalize_url("https://example.com/\ud83d\ude00", SAFE) != canonicalize_url(
        "https://example.com/😀", SAFE
    )
