"""What two URLs have in common: the site, the locale, the page number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_dedup.url.parse import split_url

__all__ = ["find_locale", "find_page_number", "find_site", "is_root", "is_same_site"]

# Labels under which registries of countries sell names: co.uk, com.au, or.jp
_REGISTRY_LABELS = frozenset(
    """
    ac asn co com edu go gob gov gouv gr id info ltd me mil ne net nom or org plc sch
    """.split()
)

# Names under which strangers have theirs
_SHARED = frozenset(
    """
    appspot.com azurestaticapps.net azurewebsites.net bitbucket.io blogger.com blogspot.com carrd.co
    cloudfront.net codeberg.page deno.dev firebaseapp.com fly.dev framer.app ghost.io gitbook.io github.io
    gitlab.io glitch.me herokuapp.com hf.space hubspotpagebuilder.com jimdofree.com livejournal.com
    medium.com myshopify.com neocities.org netlify.app ngrok.app ngrok.io notion.site onrender.com pages.dev
    pythonanywhere.com r2.dev railway.app readthedocs.io readthedocs-hosted.com repl.co replit.app
    s3.amazonaws.com sourceforge.io squarespace.com streamlit.app substack.com surge.sh tumblr.com
    typepad.com vercel.app web.app webflow.io weebly.com wixsite.com wordpress.com workers.dev wpengine.com
    """.split()
)

# ISO 639-1
_LANGUAGES = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv
    dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig
    ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh
    mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru
    rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug
    uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()
)
_LOCALE = re.compile(r"([A-Za-z]{2})(?:[-_](?:[A-Za-z]{4}[-_])?(?:[A-Za-z]{2}|[0-9]{3})|[-_][A-Za-z]{4})?")
_LOCALE_NAMES = frozenset("hl l lang language lng locale setlang".split())

_PAGE_NAMES = frozenset("cpage p page page_no pagenum paged pageno page_number pg pn".split())
_OFFSET_NAMES = frozenset("first offset skip start startindex".split())
_PAGE_WORDS = frozenset("page pagina seite strona".split())
_PAGE_SEGMENT = re.compile(r"(?:page|pagina|seite|strona|p)[-_=]?([0-9]{1,9})", re.IGNORECASE)
_NUMBER = re.compile(r"0*([0-9]{1,9})")


def find_site(host: str) -> str:
    """Return the name that was registered, which all hosts of one owner end with.

    To know it takes the Public Suffix List, which changes every week: a verdict would depend on the day that
    a dependency was updated. This goes by the shape of the name (``co.uk``: a country, and below it what
    registries sell under) and by a list of services that give a name to each customer. Where it is wrong,
    the site comes out too small (then the content of two pages decides), or the customers of a small service
    are one site.

    Args:
        host: as in a canonical URL, in lower case. An address is a site of its own.

    >>> find_site("docs.example.co.uk"), find_site("alice.github.io"), find_site("192.0.2.1")
    ('example.co.uk', 'alice.github.io', '192.0.2.1')
    """
    if host[-1:] == "]" or host[-1:].isdigit():
        return host
    labels = host.removesuffix(".").split(".")
    for length in range(min(len(labels), 3), 0, -1):
        if _is_shared(labels[-length:]):
            return ".".join(labels[-length - 1 :])
    return ".".join(labels[-2:])


def is_same_site(a: str, b: str) -> bool:
    """Tell whether one owner stands behind two hosts.

    Args:
        a, b: hosts as in a canonical URL, in lower case.

    >>> is_same_site("www.example.com", "docs.example.com"), is_same_site("alice.github.io", "bob.github.io")
    (True, False)
    """
    return find_site(a) == find_site(b)


def _is_shared(labels: list[str]) -> bool:
    """Tell whether strangers have names below this one."""
    if ".".join(labels) in _SHARED:
        return True
    if len(labels) != 2 or len(labels[1]) != 2:
        return False
    return labels[0] in _REGISTRY_LABELS or len(labels[0]) <= 2


def is_root(url: str) -> bool:
    """Tell whether a URL is the start of a site: no path, no query.

    >>> is_root("https://example.com"), is_root("https://example.com/?p=1")
    (True, False)
    """
    parts = split_url(url)
    return parts is not None and parts.tail.partition("#")[0] in ("", "/", "?", "/?")


def find_locale(url: str) -> tuple[str, ...]:
    """Return the marks of a language or a country in host, path and query, in lower case.

    >>> find_locale("https://example.com/en-US/a?hl=de"), find_locale("https://de.example.com/a")
    (('en-us', 'de'), ('de',))
    """
    parts = split_url(url)
    if parts is None:
        return ()
    path, query = _split_tail(parts.tail)
    label = parts.host.removesuffix(find_site(parts.host)).partition(".")[0]
    _, first, *others = [*path.split("/"), ""]
    marks = [text for text in (label, first) if _is_place(text)]
    values = (value for name, value in _split_items(query) if name in _LOCALE_NAMES)
    marks += [text for text in (*others, *values) if _is_locale(text)]
    return tuple(text.replace("_", "-").lower() for text in marks)


def find_page_number(url: str) -> tuple[int, ...]:
    """Return the page numbers and offsets in path and query; the first page has none.

    >>> find_page_number("https://example.com/a/page/2"), find_page_number("https://example.com/a?page=1")
    ((2,), ())
    """
    parts = split_url(url)
    if parts is None:
        return ()
    path, query = _split_tail(parts.tail)
    found = []
    before = ""
    for segment in path.split("/"):
        match = _PAGE_SEGMENT.fullmatch(segment)
        if match is None and before.lower() in _PAGE_WORDS:
            match = _NUMBER.fullmatch(segment)
        if match:
            found.append((int(match[1]), 1))
        before = segment
    for name, value in _split_items(query):
        if name == "p" and path in ("/", "/index.php"):  # the number of an article in WordPress
            continue
        if (name in _PAGE_NAMES or name in _OFFSET_NAMES) and (match := _NUMBER.fullmatch(value)):
            found.append((int(match[1]), name in _PAGE_NAMES))
    return tuple(number for number, first in found if number > first)


def _split_tail(tail: str) -> tuple[str, str]:
    path, _, query = tail.partition("#")[0].partition("?")
    return path, query


def _split_items(query: str) -> Iterator[tuple[str, str]]:
    for item in query.split("&"):
        name, _, value = item.partition("=")
        yield name.lower(), value


def _is_place(text: str) -> bool:
    """Tell whether the first part of a host or a path names a language or, as ``/us/`` does, a country."""
    return _LOCALE.fullmatch(text) is not None


def _is_locale(text: str) -> bool:
    match = _LOCALE.fullmatch(text)
    return match is not None and match[1].lower() in _LANGUAGES
