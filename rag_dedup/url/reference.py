"""Relative references, and what counts as the address of a page."""

from __future__ import annotations

import re

from rag_dedup.url.parse import BLANK, LINE_BREAKS, SplitUrl, resolve_dots, split_path, split_url

__all__ = ["is_web_url", "resolve_url"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")  # in a page, one letter is no drive
_AUTHORITY = re.compile(r"[/\\]{2}")


def is_web_url(url: str) -> bool:
    """Tell whether ``url`` is an absolute http or https URL with a host that parses.

    >>> is_web_url("https://example.com/a"), is_web_url("/a"), is_web_url("mailto:a@example.com")
    (True, False, False)
    """
    return _split_web(url) is not None


def resolve_url(reference: str, base: str = "") -> str | None:
    r"""Return a reference as an absolute URL, as browsers do (WHATWG URL, section 4.4).

    Not ``urllib.parse.urljoin``: that makes ``a//b`` to ``a/b``, which is another page.

    Args:
        reference: as it stands in a page or a header; blanks around it do not count, and ``\`` is ``/``.
        base: the absolute URL that it is relative to, ``""`` for none.

    Returns:
        An absolute http or https URL, as it stands if it is one; ``None`` for anything else: nothing but a
        fragment, another scheme, a relative reference without a base, a URL that does not parse.

    >>> resolve_url("../b?page=2", "https://example.com/docs/a/")
    'https://example.com/docs/b?page=2'
    >>> resolve_url("#top", "https://example.com/") is resolve_url("javascript:void(0)") is None
    True
    """
    reference = reference.strip(BLANK).translate(LINE_BREAKS)
    start = _split_web(base)
    scheme = _SCHEME.match(reference)
    if scheme:
        rest = reference[scheme.end() :]
        is_absolute = start is None or scheme[1].lower() != start.scheme or _AUTHORITY.match(rest)
        if is_absolute:
            return reference if is_web_url(reference) else None
        reference = rest
    if start is None or not reference or reference[0] == "#":
        return None
    url = _join(reference, start)
    return url if is_web_url(url) else None


def _join(reference: str, base: SplitUrl) -> str:
    path, tail = split_path(reference)
    path = path.replace("\\", "/")
    if path.startswith("//"):
        return f"{base.scheme}:{path}{tail}"
    before = split_path(base.tail)[0] or "/"
    if not path:
        path = before
    elif not path.startswith("/"):
        path = before[: before.rfind("/") + 1] + path
    userinfo = f"{base.userinfo}@" if base.userinfo else ""
    port = "" if base.port is None else f":{base.port}"
    return f"{base.scheme}://{userinfo}{base.host}{port}{resolve_dots(path)}{tail}"


def _split_web(url: str) -> SplitUrl | None:
    parts = split_url(url)
    return parts if parts is not None and parts.scheme in ("http", "https") else None
