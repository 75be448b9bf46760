"""Hosts as browsers read them: domain names, IPv4 addresses, IPv6 addresses (WHATWG URL, section 3.5)."""

from __future__ import annotations

import re

__all__ = ["drop_www", "parse_host"]

# Names longer than this do not exist (RFC 1035 allows 253); the mapping of IDNA is not linear.
_LONGEST_INTERNATIONAL = 1000

_PLAIN = re.compile(r"[a-z0-9._-]+")
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]{2,45}")


def parse_host(text: str) -> str | None:
    """Return the one spelling of a host, or ``None`` if browsers refuse it.

    Escapes are decoded, letters lower-cased, international names written in ASCII (UTS 46, not
    transitional), every form of an IPv4 address written as four decimal numbers and IPv6 addresses
    compressed (RFC 5952). A symbol that IDNA 2008 refuses (``☃.net``) is written as browsers write it.

    Args:
        text: the host as it stands in the URL, without userinfo and port.

    >>> parse_host("BÜCHER.example"), parse_host("0x7f.1"), parse_host("[1:0:0::0.0.0.1]"), parse_host("a b")
    ('xn--bcher-kva.example', '127.0.0.1', '[1::1]', None)
    """
    if text.startswith("["):
        return _parse_ipv6(text[1:-1]) if text.endswith("]") else None
    host = text.lower() if text.isascii() and "%" not in text else _to_ascii(text)
    if not host or (not _PLAIN.fullmatch(host) and _FORBIDDEN.search(host)):
        return None
    return _parse_ipv4(host) if _ends_in_number(host) else host


def drop_www(host: str) -> str:
    """Drop ``www.`` where a name with a dot remains: ``www.com`` is a name of its own.

    >>> drop_www("www.example.com"), drop_www("www.com"), drop_www("www2.example.com")
    ('example.com', 'www.com', 'www2.example.com')
    """
    start = 0
    while host.startswith("www.", start):
        start += 4
    while start and "." not in host[start:-1]:
        start -= 4
    return host[start:]


def _to_ascii(text: str) -> str | None:
    raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text.encode("utf-8", "surrogatepass"))
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if name.isascii():
        return name.lower()
    if len(name) > _LONGEST_INTERNATIONAL:
        return None
    from idna import IDNAError, uts46_remap  # large tables that few URLs need

    try:
        name = uts46_remap(name, std3_rules=False)
    except IDNAError:
        return None
    labels = name.split(".")
    if any(label.startswith("xn--") and not label.isascii() for label in labels):
        return None
    # Punycode (RFC 3492) without the letters-only rule of IDNA 2008
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in labels
    )


def _ends_in_number(host: str) -> bool:
    last = host.removesuffix(".").rpartition(".")[2]
    return bool(last) and (last.isdecimal() or _parse_number(last) is not None)


def _parse_ipv4(host: str) -> str | None:
    parts = host.removesuffix(".").split(".", 4)
    if len(parts) > 4:
        return None
    numbers = [_parse_number(part) for part in parts]
    address = 0
    for position, number in enumerate(numbers):
        is_last = position == len(numbers) - 1
        limit = 256 ** (5 - len(numbers)) if is_last else 256
        if number is None or number >= limit:
            return None
        address += number if is_last else number << (24 - 8 * position)
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def _parse_number(text: str) -> int | None:
    """Read a decimal, octal (``0``) or hexadecimal (``0x``) number of at most 32 bits."""
    if text[:2] == "0x":
        digits, base, allowed = text[2:], 16, "0123456789abcdef"
    elif text[:1] == "0" and len(text) > 1:
        digits, base, allowed = text[1:], 8, "01234567"
    else:
        digits, base, allowed = text, 10, "0123456789"
    if not text or digits.strip(allowed):
        return None
    digits = digits.lstrip("0") or "0"
    # int() refuses very long texts and takes quadratic time for long ones; both are out of range anyway.
    return int(digits, base) if len(digits) <= 11 else 1 << 64


def _parse_ipv6(text: str) -> str | None:
    if not _IPV6.fullmatch(text):
        return None
    from ipaddress import AddressValueError, IPv6Address  # few URLs need it

    try:
        address = int(IPv6Address(text))
    except AddressValueError:
        return None
    # Not str(IPv6Address): it writes IPv4-mapped addresses differently from Python 3.13 on.
    groups = [f"{address >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    start, length = _find_longest_zeros(groups)
    if length < 2:
        return f"[{':'.join(groups)}]"
    return f"[{':'.join(groups[:start])}::{':'.join(groups[start + length :])}]"


def _find_longest_zeros(groups: list[str]) -> tuple[int, int]:
    """Return start and length of the first longest run of ``"0"``."""
    best = (0, 0)
    start = 0
    for position, group in enumerate([*groups, ""]):
        if group != "0":
            if position - start > best[1]:
                best = (start, position - start)
            start = position + 1
    return best
