"""The Link header of HTTP (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Link", "parse_link_header"]

_BLANKS = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,]*")
_PARAMETER = re.compile(r"\s*;[\s;]*([^\s;,=\"<>]*)\s*")
_TOKEN = re.compile(r"[^;,]*")
# What may stand in quotes: no backslash, or a backslash and whatever it protects
_QUOTED = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_PAIR = re.compile(r"\\(.)", re.DOTALL)
_UNTIL_SEPARATOR = re.compile(r'[^;,"]*')
_NEXT = re.compile(r'[,"]')


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a header.

    Args:
        target: what stands in the angle brackets, not resolved.
        rel: the relation types, in lower case; ``()`` when there are none.
        anchor: what the link is about, not resolved; ``None`` for the resource that was fetched.
        parameters: the other parameters in their order, names in lower case, the first of each name.
    """

    target: str
    rel: tuple[str, ...] = ()
    anchor: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """Return the value of a parameter; one without a value has ``""``."""
        return next((value for key, value in self.parameters if key == name), None)


def parse_link_header(header: str | Iterable[str]) -> tuple[Link, ...]:
    """Return the links of one Link header, or of several.

    Forgiving, as RFC 8288, appendix B.2 asks: what is no link is passed over up to the next comma, a quote
    or bracket that is never closed ends the header. Separators inside ``<...>`` and quotes are data. Of
    several ``rel`` only the first counts (section 3.3). Extended parameters such as ``title*`` and ``rel*``
    stay under their own name, undecoded. Takes linear time.

    Args:
        header: the value of the header, without ``Link:``; of several headers all values in their order.

    Raises:
        TypeError: something that is no ``str``.

    >>> parse_link_header('</a;b,c>; REL="shortlink Canonical"; title="x, y", </d>; rel=next')[0]
    Link(target='/a;b,c', rel=('shortlink', 'canonical'), anchor=None, parameters=(('title', 'x, y'),))
    """
    values = [header] if isinstance(header, str) else header
    return tuple(link for value in values for link in _parse_value(value))


def _parse_value(text: str) -> Iterator[Link]:
    if not isinstance(text, str):
        raise TypeError(f"a Link header must be a str, not {type(text).__name__}")
    position = _skip(_BETWEEN, text, 0)
    while position < len(text):
        if text[position] == "<":
            end = text.find(">", position)
            if end < 0:
                return
            parameters, after = _parse_parameters(text, end + 1)
            yield _make_link(text[position + 1 : end].strip(), parameters)
            position = after
        position = _skip(_BETWEEN, text, _find_next(text, position))


def _parse_parameters(text: str, position: int) -> tuple[dict[str, str], int]:
    """Read ``; name=value`` as often as it comes; return where it ends."""
    parameters: dict[str, str] = {}
    while match := _PARAMETER.match(text, position):
        position = match.end()
        value = ""
        if text[position : position + 1] == "=":
            position = _skip(_BLANKS, text, position + 1)
            if text[position : position + 1] == '"':
                quoted = _QUOTED.match(text, position + 1)
                assert quoted is not None  # it matches nothing, too
                value, position = _PAIR.sub(r"\1", quoted[0]), quoted.end() + 1
            else:
                end = _skip(_TOKEN, text, position)
                value, position = text[position:end].rstrip(), end
        if match[1]:
            parameters.setdefault(match[1].lower(), value)
        # What stands between a value and the next separator means nothing
        position = _skip(_UNTIL_SEPARATOR, text, position)
    return parameters, position


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return position if match is None else match.end()


def _find_next(text: str, position: int) -> int:
    """Return where the next comma outside quotes stands, else the end."""
    while match := _NEXT.search(text, position):
        if match[0] == ",":
            return match.start()
        position = _skip(_QUOTED, text, match.end()) + 1
    return len(text)


def _make_link(target: str, parameters: dict[str, str]) -> Link:
    rel = parameters.pop("rel", "")
    anchor = parameters.pop("anchor", None)
    return Link(target, tuple(rel.lower().split()), anchor, tuple(parameters.items()))
