"""Find the URL in metadata."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from rag_dedup.url import find_url

KEYS = ("source", "loc", "url")


NO_WEB_ADDRESSES: list[Any] = [
    *(None, 17, "map", "", b"https://e.org/", ["https://e.org/"]),
    *("docs/a.md", "/srv/a.md", "README.md", "//e.org/a", "s3://bucket/a", "ftp://e.org/", "file:///a"),
    *("http://", "https:///", "http://[::1", "http://a b/", "https://e.org:port/"),
]


@pytest.mark.parametrize("value", NO_WEB_ADDRESSES)
def test_what_is_no_web_address_is_passed_over(value: Any) -> None:
    assert find_url({"source": value, "url": "https://e.org/a"}, KEYS) == "https://e.org/a"
    assert find_url({"source": value}, KEYS) is None


@pytest.mark.parametrize(
    "url", ["https://e.org", "HTTP://E.org/a", "http://user:pw@[::1]:80/?q#f", " https://e.org/a\n"]
)
def test_a_web_address_is_given_back_as_it_stands(url: str) -> None:
    assert find_url({"url": url}, KEYS) == url


def test_the_first_key_wins() -> None:
    metadata = MappingProxyType({"url": "https://e.org/url", "loc": "https://e.org/loc"})
    assert find_url(metadata, KEYS) == "https://e.org/loc"
    assert find_url(metadata, ()) is None
