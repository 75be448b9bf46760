"""Session tokens in URLs, recognised by name and by the shape of the value.

A name alone is not enough: ``session=101`` is a talk at a conference. Nor is a shape:
``id=<32 hex digits>`` is an identifier.
"""

from __future__ import annotations

import re

__all__ = ["drop_path_sessions", "is_session_token"]

_HASH = re.compile(r"[0-9a-f]{32}(?:[0-9a-f]{8})?", re.IGNORECASE)
_PHP = re.compile(r"[0-9a-z,-]{22,64}", re.IGNORECASE)
# Servlet containers: 16 characters or more with a digit, often with the node behind a dot, colon or "!"
_SERVLET = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z._~:!*-]{16,256}")
_ASP = re.compile(r"[A-Z]{24}", re.IGNORECASE)
_ASP_NET = re.compile(r"[0-5a-z]{24}", re.IGNORECASE)

_SHAPES = {
    "asp.net_sessionid": _ASP_NET,
    "cfid": re.compile(r"[0-9]{1,20}"),
    "cftoken": re.compile(r"[0-9]{1,20}|[0-9a-f-]{16,64}", re.IGNORECASE),
    "jsessionid": _SERVLET,
    "oscsid": _PHP,
    "phpsessid": _PHP,
    "sessid": _HASH,
    "session_id": _HASH,
    "sessionid": _HASH,
    "sid": _HASH,
    "zenid": _PHP,
}
_ASP_PREFIX = "aspsessionid"  # followed by eight letters that name the server process

# ASP.NET without cookies: /(S(24 characters))/, with other tickets beside it
_ASP_NET_SEGMENT = re.compile(r"\((?:[AFX]\([^()]*\))*S\([0-5a-z]{24}\)(?:[AFX]\([^()]*\))*\)", re.IGNORECASE)


def is_session_token(name: str, value: str, *, beside_cftoken: bool = False) -> bool:
    """Tell whether a parameter carries a session and no content.

    Args:
        name: in lower case.
        value: its value, escapes in normal form.
        beside_cftoken: a ``cftoken`` is in the query too. Only then ``cfid`` is the one of ColdFusion.

    >>> is_session_token("jsessionid", "8DBFC2FEDBD740BBC8B4D1A504A6DE7F.node2")
    True
    >>> is_session_token("sessionid", "summer-2024")
    False
    """
    shape = _SHAPES.get(name)
    if shape is None:
        if not name.startswith(_ASP_PREFIX):
            return False
        suffix = name[len(_ASP_PREFIX) :]
        return len(suffix) == 8 and suffix.isalpha() and _ASP.fullmatch(value) is not None
    return shape.fullmatch(value) is not None and (name != "cfid" or beside_cftoken)


def drop_path_sessions(path: str) -> str:
    """Drop session tokens from a path: ``;jsessionid=...`` and the ``/(S(...))`` of ASP.NET.

    >>> drop_path_sessions("/a;jsessionid=8DBFC2FEDBD740BBC8B4D1A504A6DE7F/b;v=1")
    '/a/b;v=1'
    """
    segments = [_drop_parameters(segment) for segment in path.split("/")]
    segments = [segment for segment in segments if not _ASP_NET_SEGMENT.fullmatch(segment)]
    return "/".join(segments) if len(segments) > 1 else "/"


def _drop_parameters(segment: str) -> str:
    name, *parameters = segment.split(";")
    if name in (".", ".."):  # would become a dot segment
        return segment
    kept = []
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if not is_session_token(key.lower(), value):
            kept.append(parameter)
    return ";".join([name, *kept])
