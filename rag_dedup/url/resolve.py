"""Relative references, and what counts as the address of a page."""

from __future__ import annotations

from urllib.parse import urljoin

from rag_dedup.url.parse import BLANK, split_url

__all__ = ["is_web_url", "resolve_url"]

_LINE_BREAKS = str.maketrans("", "", "\t\n\r")


def is_web_url(url: str) -> bool:
    """Tell whether ``url`` is an absolute http or https URL with a host that parses.

    >>> is_web_url("https://example.com/a"), is_web_url("/a"), is_web_url("mailto:a@example.com")
    (True, False, False)
    """
    parts = split_url(url)
    return parts is not None and parts.scheme in ("http", "https")


def resolve_url(reference: str, base: str = "") -> str | None:
    r"""Return a reference as an absolute URL (RFC 3986, section 5.2).

    Args:
        reference: as it stands in a page or a header; blanks around it do not count, and ``\`` is ``/`` as
            in browsers.
        base: the absolute URL that it is relative to, ``""`` for none.

    Returns:
        An absolute http or https URL; ``None`` for anything else: nothing but a fragment, another scheme,
        a relative reference without a base, a URL that does not parse.

    >>> resolve_url("../b?page=2", "https://example.com/docs/a/")
    'https://example.com/docs/b?page=2'
    >>> resolve_url("#top", "https://example.com/") is resolve_url("javascript:void(0)") is None
    True
    """
    reference = reference.strip(BLANK).translate(_LINE_BREAKS)
    if not reference or reference[0] == "#":
        return None
    path, mark, rest = _split_path(reference)
    try:
        url = urljoin(base, path.replace("\\", "/") + mark + rest)
    except ValueError:  # such as an IPv6 address without its bracket
        return None
    return url if is_web_url(url) else None


def _split_path(reference: str) -> tuple[str, str, str]:
    """Split what stands before the first ``?`` or ``#`` from the rest; behind them ``\\`` is data."""
    ends = [end for end in (reference.find("?"), reference.find("#")) if end >= 0]
    end = min(ends, default=len(reference))
    return reference[:end], reference[end : end + 1], reference[end + 1 :]
