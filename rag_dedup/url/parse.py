"""Take a URL apart as browsers do (WHATWG URL, section 4.4), without a base."""

from __future__ import annotations

import re
from typing import NamedTuple

from rag_dedup.url.escape import normalize_escapes
from rag_dedup.url.host import parse_host

__all__ = ["BLANK", "LINE_BREAKS", "SplitUrl", "lower_scheme", "resolve_dots", "split_path", "split_url"]

DEFAULT_PORTS = {"ftp": 21, "http": 80, "https": 443, "ws": 80, "wss": 443}

BLANK = "".join(map(chr, range(0x21)))
"""C0 control characters and space: not part of a URL that they surround."""

# What most URLs look like: nothing in them needs work but a few characters behind the host.
_ORDINARY = re.compile(r"(https?)://([a-z0-9._-]+)([/?#][!-\[\]-~]*)?")
_IRREGULAR = re.compile(r"[\"%<>\[\]^`{|}]")

LINE_BREAKS = str.maketrans("", "", "\t\n\r")
"""For ``str.translate``: tabs and line breaks are no part of a URL."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # one letter is a drive of Windows
_AUTHORITY_END = re.compile(r"[/\\?#]")
_PATH_END = re.compile(r"[?#]")
_ILLEGAL_IN_USERINFO = re.compile(r"[:;=@]")


class SplitUrl(NamedTuple):
    """The parts of a URL that browsers can open: host in one spelling, escapes in normal form."""

    scheme: str
    userinfo: str
    host: str
    port: int | None
    """``None`` when it is the default port of the scheme."""
    tail: str
    """Path, query and fragment."""


def split_url(url: str) -> SplitUrl | None:
    r"""Split an http, https, ftp, ws or wss URL, or return ``None`` if it is none or does not parse.

    Blanks around it and line breaks in it are removed, ``\`` is ``/`` up to the query, any number of
    slashes may stand before the host.

    >>> split_url("  HTTP:\\Example.COM:080\\a%7e?q=\\")
    SplitUrl(scheme='http', userinfo='', host='example.com', port=None, tail='/a~?q=%5C')
    >>> split_url("http://example.com:port/") is split_url("docs/a.md") is None
    True
    """
    ordinary = _ORDINARY.fullmatch(url)
    if ordinary:
        scheme, host, tail = ordinary.groups("")
        # A last label that starts with a letter is neither empty nor the end of an IPv4 address.
        if host[host.rfind(".") + 1 :][:1].isalpha():
            if _IRREGULAR.search(tail):
                tail = normalize_escapes(tail)
            return SplitUrl(scheme, "", host, None, tail)
    return _split_unusual(url)


def lower_scheme(url: str) -> str:
    """Return ``url`` with its scheme, if it has one, in lower case.

    >>> lower_scheme("S3://Bucket/Key"), lower_scheme("C:/Docs")
    ('s3://Bucket/Key', 'C:/Docs')
    """
    match = _SCHEME.match(url)
    return url[: match.end()].lower() + url[match.end() :] if match else url


def resolve_dots(path: str) -> str:
    """Resolve the segments ``.`` and ``..`` of a path that starts with a slash (RFC 3986, section 5.2.4).

    >>> resolve_dots("/a/./b/../c/.."), resolve_dots("/a//../b")
    ('/a/', '/a/b')
    """
    if "/." not in path:
        return path
    kept: list[str] = []
    _, *segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def split_path(tail: str) -> tuple[str, str]:
    """Split a path from what stands behind it, the ``?`` or ``#`` included.

    >>> split_path("/a?b#c"), split_path("/a")
    (('/a', '?b#c'), ('/a', ''))
    """
    end = _PATH_END.search(tail)
    return (tail[: end.start()], tail[end.start() :]) if end else (tail, "")


def _split_unusual(url: str) -> SplitUrl | None:
    text = url.lstrip(BLANK + "\ufeff").rstrip(BLANK).translate(LINE_BREAKS)
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    if match is None or scheme not in DEFAULT_PORTS:
        return None
    text = text[match.end() :].lstrip("/\\")
    end = _AUTHORITY_END.search(text)
    authority, tail = (text[: end.start()], text[end.start() :]) if end else (text, "")
    userinfo, _, server = authority.rpartition("@")
    name, port_text = _split_server(server)
    host = parse_host(name)
    default = DEFAULT_PORTS[scheme]
    port = _parse_port(port_text, default)
    if host is None or port is None:
        return None
    userinfo = _normalize_userinfo(userinfo)
    tail = normalize_escapes(_straighten(tail))
    return SplitUrl(scheme, userinfo, host, None if port == default else port, tail)


def _split_server(server: str) -> tuple[str, str]:
    """Split host and port at the first colon that is not inside brackets."""
    bracket = server.find("]") if server.startswith("[") else 0
    colon = server.find(":", max(bracket, 0))
    return (server, "") if colon < 0 else (server[:colon], server[colon + 1 :])


def _parse_port(text: str, default: int) -> int | None:
    """Return the port, or ``None`` for a text that is no port."""
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0") or "0"
    port = int(digits[:6])
    return port if port <= 0xFFFF else None


def _normalize_userinfo(userinfo: str) -> str:
    if not userinfo:
        return ""
    user, _, password = userinfo.partition(":")
    user, password = (
        normalize_escapes(_ILLEGAL_IN_USERINFO.sub(lambda match: f"%{ord(match[0]):02X}", part))
        for part in (user, password)
    )
    return f"{user}:{password}" if password else user


def _straighten(tail: str) -> str:
    r"""Turn ``\`` into ``/`` in the path; in query and fragment it is data."""
    if "\\" not in tail:
        return tail
    path, rest = split_path(tail)
    return path.replace("\\", "/") + rest
