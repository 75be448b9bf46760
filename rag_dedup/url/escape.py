"""Percent-escapes: one spelling for each, without changing what the server receives."""

from __future__ import annotations

import re

__all__ = ["normalize_escapes"]

# Everything after the authority that RFC 3986 allows to stand as it is, and the delimiters ? # % themselves.
_ILLEGAL = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#%]+")

# Escapes that are not in normal form: an unreserved character, or lower-case hex digits. A "%" that starts no
# escape is matched together with what could turn it into one if the escapes behind it were decoded:
# "%%34%31" must not become "%41", and "A" in the next round.
_LONE = r"%(?![0-9A-Fa-f]{2})[0-9A-Fa-f]?(?:%[0-9A-Fa-f]{2}){0,2}"
_UNRESERVED = r"%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)"
_LOWER_CASE = r"%(?:[a-f][0-9A-F]|[0-9A-F][a-f])"
_IRREGULAR = re.compile(f"{_LONE}|(?i:{_UNRESERVED})|{_LOWER_CASE}|%[a-f][a-f]")


def normalize_escapes(text: str) -> str:
    """Write every percent-escape of ``text`` in its one normal form (RFC 3986, section 6.2.2).

    Hex digits in upper case; unreserved characters decoded, once; what may not stand in a URL encoded as
    UTF-8. Reserved characters stay as they are, for ``%2F`` is data where ``/`` is structure. A ``%`` that
    starts no escape stays too: servers do not agree on what it means. Idempotent.

    Args:
        text: the part of a URL after its authority.

    >>> normalize_escapes("/%7euser/caf%c3%a9/a%2fb/é/100%")
    '/~user/caf%C3%A9/a%2Fb/%C3%A9/100%'
    """
    text = _ILLEGAL.sub(_encode, text)
    return _IRREGULAR.sub(_normalize_escape, text) if "%" in text else text


def _normalize_escape(match: re.Match[str]) -> str:
    escape = match[0]
    if len(escape) != 3:  # a lone "%" with what stands behind it
        kept = 1 if escape[1:2] in ("", "%") else 2
        return escape[:kept] + escape[kept:].upper()
    character = chr(int(escape[1:], 16))
    if character.isascii() and (character.isalnum() or character in "-._~"):
        return character
    return escape.upper()


def _encode(match: re.Match[str]) -> str:
    # A lone surrogate has no UTF-8; WHATWG makes every one of them U+FFFD, which would merge them.
    return "%" + match[0].encode("utf-8", "surrogatepass").hex("%").upper()
