"""Fingerprints of requests, beside those of the Scrapy that is installed."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from typing import Any

import pytest
import w3lib
from scrapy import Request
from scrapy.utils.request import fingerprint
from w3lib.url import canonicalize_url

from rag_dedup.errors import ConfigurationError, InputError, SchemeMismatchError
from rag_dedup.url import check_request_scheme, name_request_scheme, request_fingerprint

SCHEMES = ["http", "https", "HTTP", "ftp", "about", "data"]
HOSTS = ["example.com", "EXAMPLE.com:80", "www.example.co.uk", "user:pw@h", "bücher.example", "[2001:db8::1]"]
PATHS = ["", "/", "/a", "/a/../b", "//", "/%7e", "/%c3%a9", "/é", "/a b", "/;v=1", "/%2F", "/%25", "/."]
QUERIES = [
    "",
    "?",
    "?b=2&a=1",
    "?a=2&a=1",
    "?10&9",
    "?q=%20+",
    "?x=&y",
    "?é=ü",
    "?utm_source=x",
    "?a=%26",
    "?a;b=1",
]
FRAGMENTS = ["", "#", "#top", "#/route/é", "#!a=1"]
BODIES: list[Any] = [b"", None, "", b"a=1", "é", b"\xff\x00", b"o" * 100]
HEADERS: list[dict[str, Any]] = [
    {},
    {},
    {"Accept-Language": "en"},
    {"X-b": ["1", b"2"], "a": 3, "Cookie": "x=y"},
    {"x-U": "ü", "Empty": []},
]


def draw_requests(count: int) -> list[dict[str, Any]]:
    chance = random.Random(1)
    drawn = []
    for _ in range(count):
        url = "".join(
            [
                chance.choice(SCHEMES[:3]),
                "://",
                chance.choice(HOSTS),
                *(chance.choice(PATHS) for _ in range(chance.randrange(4))),
                chance.choice(QUERIES),
                chance.choice(FRAGMENTS),
            ]
        )
        drawn.append(
            {
                "method": chance.choice(["GET", "post", "Put", "HEAD"]),
                "url": chance.choice([url, f" {url}\n", f"{url}/{chance.randrange(1000)}"]),
                "body": chance.choice(BODIES),
                "headers": chance.choice(HEADERS),
                "keep_fragments": chance.random() < 0.3,
            }
        )
    return drawn


def test_ten_thousand_requests_have_scrapys_fingerprint() -> None:
    seen = set()
    for drawn in draw_requests(10_000):
        keep_fragments = drawn.pop("keep_fragments")
        theirs = fingerprint(
            Request(**drawn), include_headers=drawn["headers"], keep_fragments=keep_fragments
        )
        assert request_fingerprint(**drawn, keep_fragments=keep_fragments) == theirs
        seen.add(theirs)
    assert len(seen) > 5000


def test_so_have_other_urls_that_it_takes() -> None:
    for url in ("data:,a", "about:blank", "s3://bucket/a/../b#c", "file:///tmp/a"):
        assert request_fingerprint("GET", url) == fingerprint(Request(url))


def test_up_to_scrapy_2_6_the_parts_were_joined() -> None:
    url = "http://example.com/b?z=1&a=2#x"
    joined = b"POST" + canonicalize_url(url).encode() + b"body" + b"accept" + b"1" + b"2" + b"x" + b"3"
    headers = {"x": "3", "Accept": ["1", "2"]}
    made = request_fingerprint("post", url, "body", headers, scheme="scrapy-2.6")
    assert made == hashlib.sha1(joined).digest()


def test_the_joined_form_collides_and_the_other_does_not() -> None:
    a, b = ("POST", "http://example.com/foo", b""), ("POST", "http://example.com/fo", b"o")
    assert request_fingerprint(*a, scheme="scrapy-2.6") == request_fingerprint(*b, scheme="scrapy-2.6")
    assert request_fingerprint(*a) != request_fingerprint(*b)


def test_the_version_of_w3lib_is_recorded_and_another_one_is_refused() -> None:
    recorded = name_request_scheme()
    assert recorded == f"scrapy-2.7+w3lib-{w3lib.__version__}"
    check_request_scheme(recorded)
    for other in ("scrapy-2.7+w3lib-1.22.0", name_request_scheme("scrapy-2.6"), ""):
        with pytest.raises(SchemeMismatchError, match="make them anew"):
            check_request_scheme(other)


def test_another_scheme_is_refused() -> None:
    for call in (lambda s: request_fingerprint("GET", "http://a/", scheme=s), name_request_scheme):
        with pytest.raises(ConfigurationError, match=r"scrapy-2\.7, scrapy-2\.6"):
            call("scrapy-3")


@pytest.mark.parametrize(
    "url", ["", "a.html", "http://user:s3cret@[::1", "http://s3cret:port/", "http://s3cret\ud800/"]
)
def test_a_url_that_scrapy_refuses_is_an_input_error_without_secrets(url: str) -> None:
    with pytest.raises(InputError, match="Scrapy refuses") as caught:
        request_fingerprint("GET", url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((None, "http://a/"), "method"),
        (("GET", None), "url"),
        (("GET", b"http://a/"), "url"),
        (("GET", "http://a/", 17), "body"),
        (("GET", "http://a/", b"", {"a": [None]}), "a header's value"),
        (("GET", "http://a/", b"", {b"a": "b"}), "a header's name"),
    ],
)
def test_other_types_are_type_errors(arguments: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be"):
        request_fingerprint(*arguments)


def test_the_name_of_a_header_is_ascii() -> None:
    with pytest.raises(InputError, match="must be ASCII"):
        request_fingerprint("GET", "http://a/", headers={"é": "b"})


def test_without_w3lib_the_error_is_the_command() -> None:
    code = (
        "import sys; sys.modules['w3lib'] = None\n"
        "from rag_dedup.url import request_fingerprint\n"
        "try: request_fingerprint('GET', 'http://a/')\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "w3lib is not installed: pip install 'rag-dedup[scrapy]'"
