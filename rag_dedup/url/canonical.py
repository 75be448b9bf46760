"""The key of a URL."""

from __future__ import annotations

import re

from rag_dedup.url.escape import normalize_escapes
from rag_dedup.url.file import canonicalize_file
from rag_dedup.url.host import drop_www
from rag_dedup.url.parse import BLANK, LINE_BREAKS, SplitUrl, lower_scheme, resolve_dots, split_url
from rag_dedup.url.policy import WEB, HostRule, UrlPolicy
from rag_dedup.url.query import canonicalize_query, split_html_query
from rag_dedup.url.session import drop_path_sessions

__all__ = ["KEY_SCHEME", "canonicalize_url"]

KEY_SCHEME = "url-2"
"""Version of the keys. An index stores it: keys of two versions cannot be compared."""

# What loaders write when they know no source; compared without case and surrounding blanks
_PLACEHOLDERS = frozenset(
    """
    # - -- --- ... ? [] {} '' ""
    about:blank about:srcdoc data:, file: file:// http: http:// https: https://
    javascript: javascript:; javascript:void(0) javascript:void(0);
    n.a. n/a na nan nil none null tba tbd undefined unknown unspecified
    (none) (null) (unknown) <na> <none> <null> <unknown>
    """.split()
) | {"", "no source", "no url", "not available", "not set", "unknown source", "unknown url"}
_SHORT_PATH = re.compile(r"/([A-Za-z0-9_-]+)/*")


def canonicalize_url(url: str, policy: UrlPolicy = WEB) -> str:
    """Return the key of ``url``: two URLs with one key are the same page, as far as ``policy`` goes.

    A key is for comparing. It is never fetched and never replaces the URL it was made from: signed URLs
    would break. The key of a key is the key.

    1. Parsed as browsers do (WHATWG URL): case of scheme and host, IDNA, IPv4 and IPv6 forms, default ports,
       dot segments, backslashes, blanks.
    2. One spelling for each escape (RFC 3986, section 6.2.2).
    3. The rules of the policy and of its hosts.

    Args:
        url: any text. What browsers do not open as http, https, ftp, ws or wss (a path, an object key, a
            malformed URL) comes back as it is, with its scheme in lower case.
        policy: ``SAFE`` for the identity of a page, ``WEB`` (default) for what people call the same page.

    Returns:
        The key; ``""`` for a placeholder such as ``"N/A"``. No key never equals no key.

    Raises:
        TypeError: ``url`` is no ``str``.

    >>> canonicalize_url("HTTP://www.Example.com:80/a/../pricing/?utm_source=mail#faq")
    'https://example.com/pricing'
    >>> from rag_dedup.url import SAFE
    >>> canonicalize_url("HTTP://www.Example.com:80/a/../pricing/?utm_source=mail#faq", SAFE)
    'http://www.example.com/pricing/'
    >>> canonicalize_url("s3://bucket/a/../b"), canonicalize_url("Unknown")
    ('s3://bucket/a/../b', '')
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url).__name__}")
    parts = split_url(url)
    if parts is None:
        return _canonicalize_text(url)
    if parts.scheme in ("http", "https"):
        return _canonicalize_page(parts, policy)
    scheme, userinfo, host, port, tail = parts
    path, query, fragment = _split_tail(tail)
    return _join(scheme, userinfo, host, port, resolve_dots(path or "/"), query, fragment)


def _canonicalize_page(parts: SplitUrl, policy: UrlPolicy) -> str:
    scheme, userinfo, host, port, tail = parts
    if policy.force_https and port is None:
        scheme = "https"
    if host[-1] == "." and policy.drop_root_dot:
        host = _drop_root_dot(host)
    if policy.drop_www:
        host = drop_www(host)

    path, query, fragment = _split_tail(tail, policy.decode_ampersands)
    path = resolve_dots(path or "/")
    if policy.drop_sessions and (";" in path or "/(" in path):
        path = drop_path_sessions(path)
    mirror = policy.find_mirror(host)
    if mirror is not None:
        host, path, query = _rename(host, path, query, *mirror)
        if policy.drop_www:
            host = drop_www(host)
    rules = policy.find_rules(host, query=bool(query))
    if rules:
        path = _apply_path_rules(path, rules)
    if policy.drop_trailing_slash and path[-1] == "/":
        path = path.rstrip("/") or "/"
    if rules:
        rules = tuple(rule for rule in rules if rule.path in path)

    if query:
        query = canonicalize_query(query, policy, rules)
    if fragment and policy.drop_fragment:
        fragment = ""
    elif fragment and policy.drop_anchors:
        fragment = _keep_route(fragment)
    return _join(scheme, userinfo, host, port, path, query, fragment)


def _canonicalize_text(url: str) -> str:
    if url.strip().strip(BLANK + "\u200b\ufeff").casefold() in _PLACEHOLDERS:
        return ""
    text = lower_scheme(url.strip(BLANK).translate(LINE_BREAKS))
    return canonicalize_file(text) if text.startswith("file:") else lower_scheme(url)


def _split_tail(tail: str, html: bool = False) -> tuple[str, str, str]:
    """Split path, query and fragment; with ``html``, ``&#038;`` starts no fragment."""
    path, _, fragment = tail.partition("#")
    if "?" not in path:
        return path, "", fragment
    path, _, rest = tail.partition("?")
    if html and ";" in rest:
        query, fragment = split_html_query(rest)
    else:
        query = rest.partition("#")[0]
    return path, query.replace("'", "%27"), fragment


def _drop_root_dot(host: str) -> str:
    return host if host[-2:-1] in ("", ".") else host[:-1]


def _rename(host: str, path: str, query: str, target: str, rule: HostRule) -> tuple[str, str, str]:
    if not rule.path_to_query:
        return target, path, query
    short = _SHORT_PATH.fullmatch(path)
    if short is None:
        return host, path, query
    path, _, parameter = (rule.path_to_query + short[1]).partition("?")
    return target, path, f"{parameter}&{query}"


def _apply_path_rules(path: str, rules: tuple[HostRule, ...]) -> str:
    for rule in rules:
        if rule.lower_path:
            path = normalize_escapes(path.lower())
        if rule.drop_segments:
            first, *segments = path.split("/")
            path = "/".join([first, *(s for s in segments if not s.startswith(rule.drop_segments))]) or "/"
    return path


def _keep_route(fragment: str) -> str:
    """Return a fragment that selects content, without what only scrolls to a text."""
    route = fragment.partition(":~:")[0]
    selects = route[:1] == "!" or "/" in route or "=" in route or "%2F" in route or "%3D" in route
    return route if selects else ""


def _join(
    scheme: str, userinfo: str, host: str, port: int | None, path: str, query: str, fragment: str
) -> str:
    if userinfo:
        host = f"{userinfo}@{host}"
    if port is not None:
        host = f"{host}:{port}"
    if query:
        path = f"{path}?{query}"
    return f"{scheme}://{host}{path}#{fragment}" if fragment else f"{scheme}://{host}{path}"
