"""What a page says about its address: Link headers, links and metadata of its head."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.url import find_canonical_hints, parse_link_header, read_page
from tests.url.case_files import read_cases

PAGE = "https://example.com/docs/a?b"


@pytest.mark.parametrize("case", read_cases("link")["case"], ids=lambda case: case["why"])
def test_a_header_has_these_links(case: dict[str, Any]) -> None:
    links = parse_link_header(case["header"])
    shown = [[link.target, " ".join(link.rel), "-" if link.anchor is None else link.anchor] for link in links]
    assert shown == case["links"]


def test_parameters_can_be_asked_for() -> None:
    (link,) = parse_link_header('</a>; Title="x \\"y\\""; title=z; flag; rel=canonical')
    assert (link.get("title"), link.get("flag"), link.get("rel"), link.get("none")) == (
        'x "y"',
        "",
        None,
        None,
    )


def test_several_headers_are_one() -> None:
    links = parse_link_header(["</a>; rel=canonical", "</b>; rel=next, </c>"])
    assert [link.target for link in links] == ["/a", "/b", "/c"]


targets = st.text(st.characters(blacklist_characters="<>", blacklist_categories=("Cs", "Zs", "Cc")))
titles = st.text(st.characters(blacklist_categories=("Cs",)))


@given(st.lists(st.tuples(targets, titles), max_size=4))
def test_what_was_written_by_the_rules_is_read_back(links: list[tuple[str, str]]) -> None:
    def quote(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    header = ", ".join(f'<{target}>; title="{quote(title)}"; rel=canonical' for target, title in links)
    read = parse_link_header(header)
    assert [(link.target, link.get("title")) for link in read] == [(a.strip(), b) for a, b in links]
    assert all(link.rel == ("canonical",) for link in read)


@pytest.mark.parametrize("case", read_cases("hints")["case"], ids=lambda case: case["why"])
def test_a_page_says_this(case: dict[str, Any]) -> None:
    hints = find_canonical_hints(case["html"], case.get("headers", ()), url=case.get("url", PAGE))
    assert [f"{hint.origin} {hint.url}" for hint in hints] == case["hints"]


def test_languages_are_kept() -> None:
    html = '<html lang="En-us"><link rel=alternate hreflang="x-Default" href="/"><link rel=alternate href=/f>'
    page = read_page(PAGE, html, '</de>; rel="alternate"; hreflang="de"')
    assert page.language == "en-us"
    assert [hint.language for hint in page.hints] == ["de", "x-default"]


pieces = st.sampled_from(
    "< > </ /> <!-- --> <! <? <link <base <meta <html <head </head> <body <template </template> <title "
    "</title> rel =canonical = \" ' href=/a href=# hreflang=de & &amp; &#1114112; &#xD800; property=og:url "
    "content= ; , "
    '<a> rel=canonical anchor= "x \\" \\ text \x00 \ud800 http://[ //'.split(" ")
)
texts = st.one_of(st.text(), st.lists(st.one_of(pieces, st.just(" ")), max_size=30).map("".join))


@given(texts, texts, texts)
def test_nothing_raises(html: str, header: str, url: str) -> None:
    for hint in read_page(url, html, [header]).hints:
        assert hint.url.lower().lstrip().startswith("http")


@pytest.mark.parametrize("value", [None, b"<link>", 17])
def test_only_texts_are_read(value: Any) -> None:
    with pytest.raises(TypeError, match="html must be a str"):
        find_canonical_hints(value)
    with pytest.raises(TypeError, match="url must be a str"):
        read_page(value)
    with pytest.raises(TypeError, match="a Link header must be a str"):
        parse_link_header([value])


N = 1_000_000
LINK = '<link rel=canonical href="/a">'
LONG = {
    "brackets": "<" * N,
    "comments": "<!--" * (N // 4),
    "open tags": "<link " * (N // 6),
    "an attribute": "<link " + "a" * N,
    "attributes": "<link " + "a=1 " * (N // 4) + ">",
    "blanks": "<link" + " " * N,
    "slashes": "<link" + "/" * N + ">",
    "equals": "<link " + "=" * N + ">",
    "quotes": "<link a=" + "'\"" * (N // 2),
    "links": LINK * (N // len(LINK)),
    "templates": "<template>" * (N // 10),
    "scripts": "<script></script" * (N // 16),
    "references": "<link rel=canonical href='" + "&#" * (N // 2) + "'>",
    "digits of a reference": "<link rel=canonical href='&#" + "0" * N + ";'>",
    "a target": "<link rel=canonical href='/" + "a/../" * (N // 5) + "'>",
    "types": "<link rel='" + "a " * (N // 2) + "' href=/a>",
}
LONG_HEADERS = {
    "brackets": "<" * N,
    "links": "</a>;rel=canonical," * (N // 19),
    "parameters": "</a>" + ";a=1" * (N // 4),
    "semicolons": "</a>" + ";" * N,
    "quotes": "</a>;a=" + '"' * N,
    "open quotes": "</a>" + ';a="\\"' * (N // 6),
    "backslashes": '</a>;a="' + "\\" * N,
    "blanks": "</a>" + " " * N + ";" + " " * N,
    "commas": "," * N,
    "commas and quotes": ',"' * (N // 2),
    "equals": "</a>;" + "=" * N,
}


@pytest.mark.parametrize("name", LONG)
def test_time_of_html_is_linear(name: str) -> None:
    assert len(read_page(PAGE, LONG[name]).hints) <= 1


@pytest.mark.parametrize("name", LONG_HEADERS)
def test_time_of_headers_is_linear(name: str) -> None:
    assert len(read_page(PAGE, "", LONG_HEADERS[name]).hints) <= 1
