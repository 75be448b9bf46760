"""What the head of an HTML page links to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

__all__ = ["Element", "read_head"]

_TAG = re.compile(r"<(?:!--|[!?]|(/?)([A-Za-z][^\s/>]*))")
_COMMENT_END = re.compile(r"--!?>")
_NAME = re.compile(r"[\s/]*([^\s/>=][^\s/>=]*|=[^\s/>=]*)\s*(=?)\s*")
_TAG_END = re.compile(r"[\s/]*>")
_VALUE = re.compile(r"[^\s>]*")

# Elements that a head holds (HTML Living Standard 13.2.6.4.4); anything else, and any text, ends it
_HEAD_ELEMENTS = frozenset(
    "base basefont bgsound head html link meta noframes noscript script style template title".split()
)
# Elements whose content is no markup, or none that counts: a template is inert, and what is for browsers
# without scripts is not what a visitor or a crawler that runs them sees
_OPAQUE = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("noframes", "noscript", "script", "style", "template", "title")
}
_NESTED_TEMPLATE = re.compile(r"<(/?)template(?=[\s/>])", re.IGNORECASE)
_LINKING = frozenset({"base", "html", "link", "meta"})

# A reference in an attribute: "&copy=1" is none (13.2.5.73), and no number is longer than this
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,8}(?![0-9]);?|#[xX][0-9A-Fa-f]{1,7}(?![0-9A-Fa-f]);?|[A-Za-z][A-Za-z0-9]{1,31};)"
)


@dataclass(frozen=True, slots=True)
class Element:
    """A start tag: its name and attributes, in lower case; of two attributes of one name the first."""

    name: str
    attributes: dict[str, str]


def read_head(html: str) -> Iterator[Element]:
    """Yield the ``html``, ``base``, ``link`` and ``meta`` elements of the head of a page, as they come.

    The head ends as it does in browsers: at ``</head>``, at text, or at the first element that no head
    holds, whether the tags ``<html>`` and ``<head>`` are written or not. So a link in a comment of a visitor
    is not one of the page. What stands in comments, scripts, styles, titles, templates and ``noscript`` is
    no link either. Broken HTML is read as far as it goes. Nothing is built up, and the page is read forward
    only, once: that takes linear time.

    Source: HTML Living Standard 13.2.5 (tokenization) and 13.2.6.4.1 to 13.2.6.4.6 (the modes up to
    "after head"), except that nothing behind ``</head>`` counts.

    >>> html = '<link rel=canonical href="/a?b&amp;c"><p>Text</p><link rel=canonical href=x>'
    >>> [element.attributes for element in read_head(html)]
    [{'rel': 'canonical', 'href': '/a?b&c'}]
    """
    position = 1 if html.startswith("\ufeff") else 0
    while tag := _TAG.search(html, position):
        if html[position : tag.start()].strip(" \t\n\f\r"):  # text
            return
        name = (tag[2] or "").lower()
        if not name:
            position = _skip_declaration(html, tag)
        elif tag[1]:
            if name in ("head", "body", "html", "br"):
                return
            position = _find_end(html, ">", tag.end())  # other end tags mean nothing here
        elif name not in _HEAD_ELEMENTS:
            return
        else:
            attributes: dict[str, str] = {}
            position = _read_attributes(html, tag.end(), attributes)
            if position and name in _LINKING:
                yield Element(name, attributes)
            if position and name in _OPAQUE:
                position = _skip_content(html, name, position)
        if not position:  # never closed: all the rest belongs to it
            return


def _skip_declaration(html: str, tag: re.Match[str]) -> int:
    """Return where a comment, a doctype or a processing instruction ends, 0 if nowhere."""
    if tag[0] != "<!--":
        return _find_end(html, ">", tag.end())
    # "<!-->" and "<!--->" are whole comments
    start = tag.end()
    for short in (">", "->"):
        if html.startswith(short, start):
            return start + len(short)
    end = _COMMENT_END.search(html, start)
    return end.end() if end else 0


def _find_end(html: str, mark: str, position: int) -> int:
    end = html.find(mark, position)
    return end + len(mark) if end >= 0 else 0


def _skip_content(html: str, name: str, position: int) -> int:
    """Return where the end tag of an element ends whose content does not count, 0 if nowhere."""
    if name == "template":
        return _skip_template(html, position)
    closing = _OPAQUE[name].search(html, position)
    return _find_end(html, ">", closing.end()) if closing else 0


def _skip_template(html: str, position: int) -> int:
    depth = 1
    for tag in _NESTED_TEMPLATE.finditer(html, position):
        depth += -1 if tag[1] else 1
        if not depth:
            return _find_end(html, ">", tag.end())
    return 0


def _read_attributes(html: str, position: int, attributes: dict[str, str]) -> int:
    """Read attributes into a mapping; return where the tag ends, 0 if nowhere."""
    while not (end := _TAG_END.match(html, position)):
        name = _NAME.match(html, position)
        if name is None:
            return 0
        position, value = name.end(), ""
        if name[2]:
            quote = html[position : position + 1]
            if quote and quote in "\"'":
                close = html.find(quote, position + 1)
                if close < 0:
                    return 0
                value, position = html[position + 1 : close], close + 1
            else:
                match = _VALUE.match(html, position)
                assert match is not None  # it matches nothing, too
                value, position = match[0], match.end()
        attributes.setdefault(name[1].lower(), _decode(value))
    return end.end()


def _decode(value: str) -> str:
    return _REFERENCE.sub(lambda match: unescape(match[0]), value) if "&" in value else value
