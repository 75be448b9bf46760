"""Hypothesis strategies: URL-shaped texts, and requests with all their spellings."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hypothesis import strategies as st

from rag_dedup.url import HostRule, UrlPolicy

# ---------------------------------------------------------------- texts of pieces that matter to some rule

PIECES = (
    "http https ftp ws HTTP file s3 :// : / // \\ ? # @ & = + ; , ' ( ) ! * $ ~ - _ < > \" ` { } ^ | [ ] a b "
    "Z % %2e %2E %41 %61mp; %c3%a9 %C3%A9 %4 %2F %23 %26 %3D %2B &amp; &#038; &#38; amp; #38; #/ #! :~:text= "
    ". .. ... 1 07 0x7f 256 [::1] é ü ☃ 。 ß xn-- :80 :443 :8080 :99999 user:pw@ www. www.www. m. com "
    "example.com Example.COM. youtu.be www.youtube.com m.youtube.com de.m.wikipedia.org amazon.com x.com "
    "web.archive.org transfernow.net alice.test mirror.test file:/ file://localhost/ file:C| "
    "file:// N/A none utm_source= utm_zone= gclid fbclid=1 ref= src=a si=1 v=1 ref=sr_1 /dltransfer /status/ "
    "CFID=1 CFTOKEN=2 sid= PHPSESSID= ;jsessionid= 0123456789abcdef0123456789abcdef "
    "(S(lit3py55t21z5v55vlm25s55)) \x00 \x7f \ufeff \u00a0 \u200b \u00ad \ud800"
).split(" ")
BLANKS = [" ", "\t", "\n", "\r"]

pieces = st.sampled_from([*PIECES, *BLANKS])
url_texts = st.builds(
    lambda start, middle: start + "".join(middle),
    st.sampled_from(
        ["", "http://", "https://", "https://example.com/", "https://www.example.com/?", "ftp://"]
    ),
    st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=12),
)

rules = st.lists(
    st.sampled_from(
        [
            HostRule(hosts=("example.com",), lower_path=True, drop=("a",), keep=("utm_source",)),
            HostRule(hosts=("*.example.com",), only=("v", "%41")),
            HostRule(hosts=("x.com", "*.test"), path="/a", drop_segments=("ref=", "b"), keep=("*",)),
            HostRule(hosts=("mirror.test",), rename="www.example.com"),
            HostRule(hosts=("youtu.be",), rename="www.youtube.com", path_to_query="/watch?v="),
            HostRule(hosts=("*.wikipedia.org",), rename="*.wiki.test"),
            HostRule(hosts=("*",), path="/a", drop=("src",), keep=("gclid",), drop_segments=("b",)),
        ]
    ),
    max_size=4,
    unique=True,
)
flags = [field.name for field in fields(UrlPolicy) if field.type == "bool"]
policies = st.builds(UrlPolicy, **{flag: st.booleans() for flag in flags}, rules=rules.map(tuple))

BARE = UrlPolicy(**dict.fromkeys(flags, False), rules=())
"""Nothing but parsing and spelling."""


# ---------------------------------------------------------------- requests and their spellings


@dataclass(frozen=True)
class Request:
    """What a browser would send, one character or escape a text: ``"a"``, ``"%2F"``."""

    scheme: str
    host: str
    port: str
    path: tuple[tuple[str, ...], ...]
    query: tuple[tuple[str, ...], ...]
    fragment: tuple[str, ...]


UNRESERVED = [*"abzAZ059-._~"]
ESCAPES = [
    "%2F",
    "%3F",
    "%23",
    "%26",
    "%3D",
    "%2B",
    "%3B",
    "%25",
    "%20",
    "%22",
    "%7C",
    "%5C",
    "%00",
    "%C3%A9",
    "%FF",
]
IN_PATH = [*"!$&'()*+,;=:@"]
IN_QUERY = [*"!$()*,;:@/?"]  # and "=", between name and value


def _texts(characters: list[str], min_size: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(characters), min_size=min_size, max_size=4).map(tuple)


def _is_no_dot_segment(segment: tuple[str, ...]) -> bool:
    return set(segment) != {"."}


_items = st.tuples(
    st.one_of(
        st.sampled_from([("utm_source",), ("gclid",), ("a",), ("b",)]),
        _texts([*UNRESERVED, *ESCAPES, *IN_QUERY], 1),
    ),
    st.sampled_from([(), ("=",)]),
    _texts([*UNRESERVED, *ESCAPES, *IN_QUERY, "="]),
).map(lambda item: item[0] + item[1] + item[2])

requests = st.builds(
    Request,
    scheme=st.sampled_from(["http", "https"]),
    host=st.sampled_from(
        ["example.com", "www.example.com", "xn--bcher-kva.example", "192.0.2.1", "[2001:db8::1]"]
    ),
    port=st.sampled_from(["", "8080"]),
    path=st.lists(
        _texts([*UNRESERVED, *ESCAPES, *IN_PATH]).filter(_is_no_dot_segment), min_size=1, max_size=3
    ).map(tuple),
    query=st.lists(_items, max_size=3).map(tuple),
    fragment=st.one_of(st.just(()), _texts([*UNRESERVED, "/", "=", "%2F", "!"])),
)

# Other spellings of the same thing, to draw from
_RAW = {
    "%20": [" ", "%20"],
    "%22": ['"', "%22"],
    "%7C": ["|", "%7C", "%7c"],
    "%C3%A9": ["é", "%c3%A9", "%C3%a9"],
}
_HOSTS = {
    "example.com": ["example.com", "EXAMPLE.com", "ex%61mple.com", "ｅxample。com"],
    "www.example.com": ["www.example.com", "WWW.Example.com"],
    "xn--bcher-kva.example": ["bücher.example", "B%C3%BCCHER.example", "XN--bcher-kva.example"],
    "192.0.2.1": ["192.0.2.1", "0300.0.513", "0xC0000201"],
    "[2001:db8::1]": ["[2001:db8::1]", "[2001:DB8:0:0:0:0:0.0.0.1]"],
}


@st.composite
def spellings(draw: st.DrawFn, request: Request) -> str:
    """Draw one way to write ``request``."""

    def spell(text: tuple[str, ...]) -> str:
        return "".join(draw(st.sampled_from(_spell_character(c))) for c in text)

    default = {"http": "80", "https": "443"}[request.scheme]
    port = (
        f":{request.port}"
        if request.port
        else draw(st.sampled_from(["", ":", f":{default}", f":0{default}"]))
    )
    path = "".join(draw(st.sampled_from(["/", "/", "/./", "/x/../", "\\"])) + spell(s) for s in request.path)
    query = draw(st.sampled_from(["&", "&&"])).join(spell(item) for item in request.query)
    fragment = spell(request.fragment)
    url = "".join(
        [
            draw(st.sampled_from(["", " ", "\n"])),
            draw(st.sampled_from([request.scheme, request.scheme.upper()])),
            "://",
            draw(st.sampled_from(_HOSTS[request.host])),
            port,
            path,
            f"?{query}" if query or draw(st.booleans()) else "",
            f"#{fragment}" if fragment or draw(st.booleans()) else "",
        ]
    )
    return url[:-1] + "%20" if url.endswith(" ") else url  # a blank at the end would be none of its


def _spell_character(character: str) -> list[str]:
    if character in _RAW:
        return _RAW[character]
    if character in UNRESERVED:
        return [character, character, f"%{ord(character):02X}", f"%{ord(character):02x}"]
    return [character, character.lower()] if character.startswith("%") else [character]
