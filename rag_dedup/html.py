"""HTML -> Markdown with trafilatura, and what a page says about itself.

trafilatura decides what on a page is content; repetition is none of its business here. Its own
``deduplicate`` stays off: its memory is global to the process, so that reading a page twice gives
nothing the second time.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from rag_dedup.errors import MissingExtraError
from rag_dedup.url import read_page
from rag_dedup.url.reference import is_web_url

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["Page", "decode_html", "extract_html", "find_saved_url", "is_html", "is_page", "read_visible_text"]

FALLBACK_ENCODING = "windows-1252"
"""What bytes are read as that declare no charset and are not UTF-8 (as browsers do for Latin scripts)."""

# trafilatura compares its result with another extractor's, which walks from every short paragraph to
# its neighbours: on pages beyond this number of elements it is told to be fast and leave that out.
_MANY_ELEMENTS = 10_000
# Expressions that read embedded JSON are quadratic in its size; real blocks are small.
_EMBEDDED_JSON = 64 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """What was read out of an HTML page.

    Args:
        text: Markdown, ``""`` when the page shows nothing.
        title, language, date, sitename: as far as the page declares them; ``date`` is YYYY-MM-DD.
        url: the address under which the page was fetched, if given or written into the saved file.
        canonical_hint: what the page calls its own address, absolute; a claim, followed by nobody here.
        encoding: how the bytes were read, ``None`` for a ``str``.
        method: ``"trafilatura"``, or ``"visible text"`` when it found nothing.
    """

    text: str
    title: str | None = None
    language: str | None = None
    date: str | None = None
    sitename: str | None = None
    url: str | None = None
    canonical_hint: str | None = None
    encoding: str | None = None
    method: str = "trafilatura"


def extract_html(
    html: str | bytes,
    url: str | None = None,
    *,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_links: bool = False,
) -> Page:
    """Read the content of an HTML page as Markdown.

    Tables and code are kept. When trafilatura finds no content, all visible text is taken instead.
    Broken HTML is read as far as it can be; nothing is raised for it.

    Args:
        html: the page; bytes are decoded by :func:`decode_html`.
        url: the address it was fetched from; by default what the browser wrote into a saved page.
        favor_precision, favor_recall, include_links: passed on to ``trafilatura.extract``.

    Raises:
        MissingExtraError: trafilatura is not installed.

    >>> page = extract_html("<main><h1>Ports</h1><p>The server listens on port 80.</p></main>")
    >>> print(page.text)
    # Ports
    <BLANKLINE>
    The server listens on port 80.
    """
    try:
        import trafilatura
    except ImportError as error:  # it, or something that it needs
        raise MissingExtraError("html", error.name or "lxml_html_clean") from error

    encoding = None
    if isinstance(html, bytes):
        html, encoding = decode_html(html)
    html = _drop_illegal(html)
    url = url or find_saved_url(html)
    tree, complete = _parse(html)
    if tree is None:
        return Page(read_visible_text(html), url=url, encoding=encoding, method="visible text")

    facts = _read_facts(tree, url)
    canonical_hint = read_page(url or "", html).find_target()
    text = None
    if complete:
        _drop_scripts(tree)
        try:
            text = trafilatura.extract(
                tree,
                url=url,
                output_format="markdown",
                fast=sum(1 for _ in tree.iter()) > _MANY_ELEMENTS,
                favor_precision=favor_precision,
                favor_recall=favor_recall,
                include_links=include_links,
            )
        except Exception:  # whatever a hostile page does to it, there is another way to read the page
            text = None
    method = "trafilatura" if text else "visible text"
    return Page(
        text or read_visible_text(html),
        url=url,
        canonical_hint=canonical_hint,
        encoding=encoding,
        method=method,
        **facts,
    )


# --- bytes -> text -------------------------------------------------------------------------------

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta\s[^>]{0,512}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.I)
# The charsets of the Encoding Standard. Python knows more "encodings", some of which are programs.
_CHARSETS = re.compile(
    r"(?:windows|cp)-?(?:125[0-8]|874|949)|iso-?8859-?\d{1,2}|latin-?1|(?:us-)?ascii|koi8-[ru]|ibm866"
    r"|gbk|gb_?2312|gb18030|big5|euc-jp|euc-kr|shift[_-]jis|x-sjis|iso-2022-jp|macintosh|tis-620|utf-?8"
)
_SAME_CHARSET = {  # what the standard reads these labels as
    "ascii": FALLBACK_ENCODING,
    "us-ascii": FALLBACK_ENCODING,
    "latin1": FALLBACK_ENCODING,
    "latin-1": FALLBACK_ENCODING,
    "iso-8859-1": FALLBACK_ENCODING,
    "iso8859-1": FALLBACK_ENCODING,
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "euc-kr": "cp949",
    "utf8": "utf-8",
}


def decode_html(data: bytes) -> tuple[str, str]:
    """Return the text of ``data`` and the name of the encoding it was read with.

    By byte order mark, else the charset that a ``<meta>`` in the first 1024 bytes declares, else UTF-8
    if that fits, else :data:`FALLBACK_ENCODING`. Bytes that do not fit become U+FFFD.
    Source: HTML Living Standard 13.2.3.2, determining the character encoding.

    >>> decode_html("<p>Größe".encode("utf-8")), decode_html("<p>Größe".encode("latin-1"))
    (('<p>Größe', 'utf-8'), ('<p>Größe', 'windows-1252'))
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), encoding
    declared = _META.search(data[:1024])
    if declared:
        name = declared[1].decode("ascii").lower()
        if _CHARSETS.fullmatch(name):
            name = _SAME_CHARSET.get(name, name)
            try:
                return data.decode(name, "replace"), name
            except LookupError:
                pass
    try:
        # Not final: a file cut in the middle of a character is still UTF-8.
        return codecs.getincrementaldecoder("utf-8")().decode(data), "utf-8"
    except UnicodeDecodeError:
        return data.decode(FALLBACK_ENCODING, "replace"), FALLBACK_ENCODING


# Control characters and noncharacters have no place in HTML; lone surrogates none in any encoding.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_CONTROL_REFERENCE = re.compile(
    r"&#(?:x0{0,6}(?:[0-8bce]|1[0-9a-f]|7f|fff[ef])|0{0,7}(?:[0-8]|1[1-24-9]|2\d|3[01]|127|6553[45]))(?![\da-f]);?",
    re.I,
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def _drop_illegal(html: str) -> str:
    html = _CONTROL.sub("", html.replace("\f", " "))  # a form feed is white space in HTML
    html = _CONTROL_REFERENCE.sub("\ufffd", html)
    return _SURROGATE.sub("\ufffd", html)


# --- what a page says about itself ---------------------------------------------------------------

_SAVED_FROM = re.compile(r"<!--\s{0,9}saved from url=\((\d{1,9})\)([^\s<>]{1,8000})", re.I)


def find_saved_url(html: str) -> str | None:
    """Return the address that a browser wrote into a page that was saved, the "mark of the web".

    Only an absolute http(s) URL near the top counts. The number is the length of the URL.

    >>> find_saved_url("<!-- saved from url=(0021)https://example.com/a -->")
    'https://example.com/a'
    """
    match = _SAVED_FROM.search(html, 0, 4096)
    if match is None:
        return None
    length, url = int(match[1]), match[2]
    url = url[:length] if 0 < length < len(url) else url
    return url if is_web_url(url) else None


def _read_facts(tree: HtmlElement, url: str | None) -> dict[str, str | None]:
    from trafilatura import extract_metadata

    # No extensive search: a date is a fact only if the page declares it. A fixed last day, so that
    # the same page gives the same date tomorrow.
    dates = {"original_date": True, "extensive_search": False, "max_date": "2099-12-31"}
    try:
        found = extract_metadata(tree, default_url=url, date_config=dates)
        facts = {name: _clean(getattr(found, name)) for name in ("title", "date", "sitename")}
        if facts["sitename"] and f"/{facts['sitename']}/" in f"{found.url}/".replace("www.", ""):
            facts["sitename"] = None  # made from the URL, not declared
    except Exception:  # metadata is a bonus: no page is refused because of it
        facts = {}
    return {**facts, "language": _read_language(tree)}


def _clean(value: object) -> str | None:
    return (" ".join(value.split())[:1000] or None) if isinstance(value, str) else None


_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,8}")


def _read_language(tree: HtmlElement) -> str | None:
    """Return the language tag (BCP 47) that the root element declares."""
    value = (tree.get("lang") or tree.get("xml:lang") or "").strip()
    return value if _LANGUAGE.fullmatch(value) else None


# --- the tree ------------------------------------------------------------------------------------


def _parse(html: str) -> tuple[HtmlElement | None, bool]:
    """Return the tree, and whether the parser reached the end (it stops at some 250 levels)."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        tree = document_fromstring(html.encode("utf-8"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None, False
    complete = all(error.level < etree.ErrorLevels.FATAL for error in parser.error_log)
    return tree, complete


def _drop_scripts(tree: HtmlElement) -> None:
    """Take scripts out, and what is shown without them, but for structured data of reasonable size."""
    left = _EMBEDDED_JSON
    for element in list(tree.iter("script", "noscript")):
        if element.get("type") == "application/ld+json":
            left -= len(element.text or "")
            if left >= 0:
                continue
        element.drop_tree()


# --- visible text --------------------------------------------------------------------------------

_TAG = re.compile(r"<(?:!--|[!?]|(/?)([a-zA-Z][a-zA-Z0-9-]{0,40}))")
_UNSEEN = frozenset({
    "title", "script", "style", "template", "noscript", "noembed", "noframes", "iframe", "object", "svg",
    "math", "select",
})  # fmt: skip
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "dialog", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
_INLINES = frozenset({"title", "a", "b", "code", "em", "i", "img", "small", "span", "strong"})
_HTML_TAG = re.compile(rf"<!doctype\s{{1,9}}html|<(?:{'|'.join(sorted(_BLOCKS | _INLINES))})[\s/>]", re.I)


def is_html(text: str) -> bool:
    """Tell whether ``text`` holds at least one HTML tag.

    >>> is_html("<!DOCTYPE html>"), is_html("a < b, c > d"), is_html('{"a": "<1>"}')
    (True, False, False)
    """
    return _HTML_TAG.search(text) is not None


def is_page(text: str) -> bool:
    """Tell whether ``text`` is a page of HTML, and not a text that has some HTML in it.

    It is when, comments aside, it begins as pages do: with a document type, or one of the elements that only
    a page has.

    >>> is_page("<!-- saved --><html><p>Hello"), is_page("<p>Markdown may begin *so*.")
    (True, False)
    """
    at = _skip_space(text, 0)
    while text.startswith(("<!--", "<?"), at):
        end = text.find("-->" if text[at + 1] == "!" else ">", at)
        if end < 0:
            return False
        at = _skip_space(text, text.index(">", end) + 1)
    return _PAGE.match(text, at) is not None


_PAGE = re.compile(r"<(?:!doctype\s{1,9}html|html|head|body)[\s>]", re.I)
_INK = re.compile(r"[^\s\ufeff]")


def _skip_space(text: str, at: int) -> int:
    ink = _INK.search(text, at)
    return len(text) if ink is None else ink.start()


def read_visible_text(html: str) -> str:
    """Return the text between the tags, a line for each block, without scripts and the like.

    Reads forward only, so that no page takes more than linear time, however broken or deeply nested.

    >>> read_visible_text("<script>1</script><p>A &lt; <b>B</b><p>C")
    'A < B\\nC'
    """
    lines = (" ".join(line.split()) for line in unescape("".join(_strip_tags(html))).split("\n"))
    return "\n".join(line for line in lines if line)


def _strip_tags(html: str) -> Iterator[str]:
    position = 0
    while tag := _TAG.search(html, position):
        yield html[position : tag.start()].replace("\n", " ")
        end = "-->" if tag[0] == "<!--" else ">"
        position = html.find(end, tag.end())
        if position < 0:  # an unfinished tag or comment swallows the rest
            return
        position += len(end)
        name = (tag[2] or "").lower()
        if name in _BLOCKS:
            yield "\n"
        elif name in _UNSEEN and not tag[1]:
            closing = re.compile(rf"</{name}(?![a-z0-9-])", re.I).search(html, position)
            if closing is None:
                return
            position = closing.start()
    yield html[position:].replace("\n", " ")
