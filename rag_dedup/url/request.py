"""Fingerprints of requests, as Scrapy makes them.

They are not keys of pages. They answer whether Scrapy would fetch again, so they share w3lib's idea of equal
URLs, with routes (``#/a``) dropped and values sorted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from rag_dedup.errors import ConfigurationError, InputError, MissingExtraError, SchemeMismatchError

__all__ = ["RequestScheme", "check_request_scheme", "name_request_scheme", "request_fingerprint"]

RequestScheme = Literal["scrapy-2.7", "scrapy-2.6"]
"""``scrapy-2.7``: SHA-1 of sorted JSON. ``scrapy-2.6``, and before: SHA-1 of the parts joined. That collides:
``POST /foo`` and ``POST /fo`` with the body ``o`` are one, see scrapy/scrapy#4762."""

HeaderValue = str | bytes | int | Iterable[str | bytes | int]


def request_fingerprint(
    method: str,
    url: str,
    body: bytes | str | None = b"",
    headers: Mapping[str, HeaderValue] | None = None,
    scheme: RequestScheme = "scrapy-2.7",
    *,
    keep_fragments: bool = False,
) -> bytes:
    """Return the fingerprint of a request, byte for byte the one of Scrapy.

    For ``scrapy-2.7`` that is what ``scrapy.utils.request.fingerprint`` returns for
    ``Request(url, method=method, body=body)``; for ``scrapy-2.6``, ``.hex()`` is what
    ``request_fingerprint`` did. The value depends on the version of w3lib: store :func:`name_request_scheme`
    beside a set of them.

    Args:
        method: in any case.
        url: with a scheme.
        body: a ``str`` is encoded as UTF-8.
        headers: the headers that count, with their values; Scrapy's ``include_headers`` names them. None by
            default: a cookie or the language would make a request another one.
        scheme: see :data:`RequestScheme`.
        keep_fragments: what stands behind ``#`` counts.

    Raises:
        MissingExtraError: w3lib is not installed.
        ConfigurationError: another scheme.
        InputError: a URL that Scrapy refuses, the name of a header that is not ASCII.
        TypeError: an argument of another type.

    Source: ``scrapy/utils/request.py`` of Scrapy 2.6 and 2.19.

    >>> request_fingerprint("GET", "http://www.example.com/query?id=111&cat=222").hex()
    '8fcf173c15d0d14f77c0c9a61209caf224e90164'
    >>> request_fingerprint("GET", "http://www.example.com/query?cat=222&id=111", scheme="scrapy-2.6").hex()
    'fad8cefa4d6198af8cb1dcf46add2941b4d32d78'
    """
    _check_scheme(scheme)
    for name, value in (("method", method), ("url", url)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    canonical = _canonicalize(url, keep_fragments)
    named = _list_headers(headers or {})
    content = _to_bytes("body", body or b"")
    if scheme == "scrapy-2.6":
        parts = [method.upper().encode(), canonical.encode(), content]
        parts += [part for name, values in named for part in (name, *values)]
        return hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()
    fields = {
        "method": method.upper(),
        "url": canonical,
        "body": content.hex(),
        "headers": {name.hex(): [value.hex() for value in values] for name, values in named},
    }
    return hashlib.sha1(json.dumps(fields, sort_keys=True).encode(), usedforsecurity=False).digest()


def name_request_scheme(scheme: RequestScheme = "scrapy-2.7") -> str:
    """Return what a set of fingerprints depends on; store it beside the set.

    Raises:
        MissingExtraError: w3lib is not installed.
        ConfigurationError: another scheme.

    >>> name_request_scheme().startswith("scrapy-2.7+w3lib-")
    True
    """
    _check_scheme(scheme)
    return f"{scheme}+w3lib-{_load_w3lib().version}"


def check_request_scheme(recorded: str, scheme: RequestScheme = "scrapy-2.7") -> None:
    """Refuse a set of fingerprints that was made in another way than ours are.

    Between w3lib 2.4 and 2.5, one URL in 25 changed its fingerprint: each would be fetched again.

    Args:
        recorded: what :func:`name_request_scheme` returned when the set was made.

    Raises:
        SchemeMismatchError: made by another scheme, or with another version of w3lib.

    >>> check_request_scheme(name_request_scheme())
    """
    current = name_request_scheme(scheme)
    if recorded != current:
        raise SchemeMismatchError(
            f"these request fingerprints were made with {recorded!r}, ours are {current!r}: install that "
            "version of w3lib, or make them anew"
        )


class _W3lib(NamedTuple):
    canonicalize_url: Callable[..., str]
    safe_url_string: Callable[..., str]
    version: str


def _load_w3lib() -> _W3lib:
    try:
        from w3lib import __version__
        from w3lib.url import canonicalize_url, safe_url_string
    except ImportError as error:
        raise MissingExtraError("scrapy", "w3lib") from error
    return _W3lib(canonicalize_url, safe_url_string, __version__)


def _check_scheme(scheme: str) -> None:
    if scheme not in get_args(RequestScheme):
        raise ConfigurationError(
            f"scheme must be one of {', '.join(get_args(RequestScheme))}, not {scheme!r}"
        )


def _canonicalize(url: str, keep_fragments: bool) -> str:
    """Return what Scrapy hashes: ``Request`` makes a URL safe first."""
    w3lib = _load_w3lib()
    try:
        safe = w3lib.safe_url_string(url)
        canonical = w3lib.canonicalize_url(safe, keep_fragments=keep_fragments)
        canonical.encode()
    except ValueError as error:  # the message would hold the URL, and what is secret in it
        raise InputError(
            f"Scrapy refuses this URL of {len(url):,} characters: {type(error).__name__}"
        ) from None
    if "://" not in safe and not safe.startswith(("about:", "data:")):
        raise InputError("Scrapy refuses a URL without a scheme")
    return canonical


def _list_headers(headers: Mapping[str, HeaderValue]) -> list[tuple[bytes, list[bytes]]]:
    """Return names in lower case and their values, in Scrapy's order."""
    merged: dict[bytes, list[bytes]] = {}
    for name, value in headers.items():
        if not isinstance(name, str):
            raise TypeError(f"a header's name must be a str, not {type(name).__name__}")
        if not name.isascii():  # RFC 9110, section 5.1; Scrapy cannot find it again
            raise InputError("the name of a header must be ASCII")
        values = [value] if isinstance(value, (str, bytes, int)) else list(value)
        key = name.lower().encode()
        merged.setdefault(key, []).extend(_to_bytes("a header's value", _unwrap(part)) for part in values)
    order = dict.fromkeys(name.lower().encode() for name in sorted(headers))
    return [(name, merged[name]) for name in order]


def _unwrap(value: str | bytes | int) -> str | bytes:
    return str(value) if isinstance(value, int) else value


def _to_bytes(name: str, value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"{name} must be a str or bytes, not {type(value).__name__}")
