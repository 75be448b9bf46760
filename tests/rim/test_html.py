"""HTML: what is read, what a page says about itself, and what no page can do to the reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_dedup.html import Page, decode_html, extract_html, find_saved_url, is_html, read_visible_text

pytest.importorskip("trafilatura")

PAGE = """<!DOCTYPE html>
<!-- saved from url=(0034)https://docs.example.com/a/install -->
<html lang="en-GB"><head><title>Install | Docs</title><link rel="canonical" href="/install">
<meta property="og:site_name" content="Docs"><meta name="date" content="2025-03-04"></head><body>
<nav><a href="/">Home</a></nav>
<main><h1>Install</h1><p>The server listens on <code>port 8080</code>; see <a href="/b">ports</a>.</p>
<h2>Requirements</h2><ul><li>Python 3.10</li><li>2 GB of memory</li></ul>
<pre><code>$ pip install it
  $ run it</code></pre>
<table><tr><th>Option</th><th>Default</th></tr><tr><td>port</td><td>8080</td></tr></table>
<p>Never expose the port to the internet, since nobody has to log in there.</p></main>
<footer>All rights reserved.</footer></body></html>"""


@pytest.fixture(scope="module")
def page() -> Page:
    return extract_html(PAGE)


class TestExtractHtml:
    def test_headings_lists_and_code_are_markdown(self, page: Page) -> None:
        assert page.text.startswith("# Install\n")
        assert "## Requirements" in page.text
        assert "- Python 3.10" in page.text
        assert "`port 8080`" in page.text
        assert "```\n$ pip install it\n  $ run it\n```" in page.text

    def test_tables_are_kept(self, page: Page) -> None:
        assert "| port | 8080 |" in page.text

    def test_navigation_is_not_content(self, page: Page) -> None:
        assert "Home" not in page.text
        assert "All rights reserved" not in page.text

    def test_what_the_page_says_about_itself(self, page: Page) -> None:
        assert page.title == "Install"
        assert page.language == "en-GB"
        assert page.date == "2025-03-04"
        assert page.sitename == "Docs"
        assert page.method == "trafilatura"
        assert page.encoding is None

    def test_the_address_is_where_it_was_saved_from_not_the_canonical_one(self, page: Page) -> None:
        assert page.url == "https://docs.example.com/a/install"
        assert page.canonical_hint == "https://docs.example.com/install"

    def test_a_given_address_comes_first(self) -> None:
        assert extract_html(PAGE, "https://docs.example.com/given").url == "https://docs.example.com/given"

    def test_reading_twice_gives_the_same(self, page: Page) -> None:
        assert all(extract_html(PAGE) == page for _ in range(5))

    def test_what_other_pages_say_is_not_dropped(self) -> None:
        line = (
            "This very paragraph is on many pages, and it is long enough to be noticed by anybody who counts."
        )
        pages = [f"<html><body><main><h1>{i}</h1><p>{line}</p></main></body></html>" for i in range(9)]
        assert all(line in extract_html(page).text for page in pages)

    def test_links_when_asked(self) -> None:
        assert "](https://docs.example.com/b)" in extract_html(PAGE, include_links=True).text

    @pytest.mark.parametrize("options", [{"favor_precision": True}, {"favor_recall": True}])
    def test_options_of_trafilatura(self, options: dict[str, bool]) -> None:
        assert "Requirements" in extract_html(PAGE, **options).text

    def test_visible_text_when_there_is_no_content(self) -> None:
        deep = "<div>" * 5000 + "at the bottom"
        page = extract_html(f"<title>Deep</title>{deep}")
        assert (page.text, page.method, page.title) == ("at the bottom", "visible text", "Deep")


class TestCanonicalHint:
    @pytest.mark.parametrize(
        ("head", "hint"),
        [
            ('<link rel="canonical" href="https://example.com/a">', "https://example.com/a"),
            ('<link rel="alternate CANONICAL" href=" /a ">', "https://example.com/a"),
            (
                '<base href="https://other.example/x/"><link rel=canonical href=a>',
                "https://other.example/x/a",
            ),
            ('<base href="/x/"><link rel=canonical href=a>', "https://example.com/x/a"),
            ("<link rel=canonical href=/a><link rel=canonical href=/a>", "https://example.com/a"),
            ("<link rel=canonical href=/a><link rel=canonical href=/b>", None),
            ('<link rel=canonical href="javascript:alert(1)">', None),
            ('<link rel=canonical href="http://[bad">', None),
            ("<link rel=canonical>", None),
            ("</head><body><p>x</p><link rel=canonical href=/a>", None),
        ],
    )
    def test_hint(self, head: str, hint: str | None) -> None:
        html = f"<html><head><title>t</title>{head}<p>Text.</p></html>"
        assert extract_html(html, "https://example.com/page").canonical_hint == hint

    def test_a_relative_one_needs_an_address(self) -> None:
        assert extract_html("<head><link rel=canonical href=/a></head><p>x").canonical_hint is None


class TestFindSavedUrl:
    @pytest.mark.parametrize(
        ("html", "url"),
        [
            ("<!-- saved from url=(0021)https://example.com/a -->", "https://example.com/a"),
            (
                "<!DOCTYPE html>\r\n<!-- saved from url=(0021)https://example.com/a -->",
                "https://example.com/a",
            ),
            ("<!--saved from url=(0021)https://example.com/a-->", "https://example.com/a"),
            ("<!-- saved from url=(9999)https://example.com/a -->", "https://example.com/a"),
            ("<!-- saved from url=(0014)about:internet -->", None),
            ("<!-- saved from url=(0019)file:///home/me/a.h -->", None),
            ("<!-- saved from url=(0004)/a/b -->", None),
            ("<!-- saved from url=(0012)http://[bad/ -->", None),
            ("<!-- saved from url=()https://example.com/a -->", None),
            (" " * 5000 + "<!-- saved from url=(0021)https://example.com/a -->", None),
            ("", None),
        ],
    )
    def test_mark_of_the_web(self, html: str, url: str | None) -> None:
        assert find_saved_url(html) == url


class TestDecodeHtml:
    @pytest.mark.parametrize(
        ("data", "text", "encoding"),
        [
            ("<p>größe".encode(), "<p>größe", "utf-8"),
            ("<p>größe".encode("utf-8-sig"), "<p>größe", "utf-8"),
            ("\ufeff<p>größe".encode("utf-16-le"), "<p>größe", "utf-16-le"),
            ("\ufeff<p>größe".encode("utf-16-be"), "<p>größe", "utf-16-be"),
            ("<meta charset=koi8-r><p>да".encode("koi8-r"), "<meta charset=koi8-r><p>да", "koi8-r"),
            ("<meta charset='GBK'>漢字".encode("gbk"), "<meta charset='GBK'>漢字", "gb18030"),
            (b"<meta charset=iso-8859-1>\x93a\x94", "<meta charset=iso-8859-1>“a”", "windows-1252"),
            (b"<meta charset=utf-8>a\xff", "<meta charset=utf-8>a\ufffd", "utf-8"),
            (b"<meta charset=punycode>\xe9a", "<meta charset=punycode>éa", "windows-1252"),
            (b"<meta charset=nonsense>a", "<meta charset=nonsense>a", "utf-8"),
            (b"gr\xf6\xdfe", "größe", "windows-1252"),
            ("größe"[:3].encode()[:-1], "gr", "utf-8"),
            (b"", "", "utf-8"),
        ],
    )
    def test_cases(self, data: bytes, text: str, encoding: str) -> None:
        assert decode_html(data) == (text, encoding)

    def test_content_type_in_meta(self) -> None:
        html = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>да'
        assert decode_html(html.encode("windows-1251")) == (html, "windows-1251")

    def test_encoding_is_told(self) -> None:
        assert extract_html(b"<p>gr\xf6\xdfe</p>").encoding == "windows-1252"

    @given(st.binary(max_size=200))
    def test_never_raises(self, data: bytes) -> None:
        decode_html(data)
        decode_html(b"<meta charset=" + data)


class TestIsHtml:
    @pytest.mark.parametrize("text", ["<!doctype html>", "a <b>c", "<P CLASS=x>", "<br/>"])
    def test_yes(self, text: str) -> None:
        assert is_html(text)

    @pytest.mark.parametrize("text", ["", "a < b > c", "%PDF-1.7", '{"a": 1}', "<not-html>", "<3 <b"])
    def test_no(self, text: str) -> None:
        assert not is_html(text)


HOSTILE = json.loads((Path(__file__).parent / "cases" / "hostile_html.json").read_text(encoding="utf-8"))


class TestHostileHtml:
    @pytest.mark.parametrize("case", HOSTILE, ids=[case["name"] for case in HOSTILE])
    def test_cases(self, case: dict[str, str]) -> None:
        text = extract_html(case["html"]).text
        if "text" in case:
            assert text == case["text"]
        assert all(part in text for part in case.get("holds", ()))
        assert not any(part in text for part in case.get("lacks", ()))

    @settings(max_examples=60)
    @given(st.text(st.characters(codec=None) | st.sampled_from("<>/!-&#;= \"'abp\0\ud800"), max_size=120))
    def test_no_text_raises(self, html: str) -> None:
        assert "\0" not in extract_html(html).text

    @pytest.mark.parametrize(
        "unit",
        [
            "<", "<!--", "<a ", '<a "', "</", "&", "&#", "<script>", "<title>", "<div>", "<table><tr><td>x",
            "<!-- saved from url=(", "<meta charset=", "<head>",
        ],
    )  # fmt: skip
    def test_time_is_linear(self, unit: str) -> None:
        html = unit * (3_000_000 // len(unit))
        extract_html(html)
        decode_html(html.encode())
        is_html(html)
        find_saved_url(html)

    @pytest.mark.parametrize(
        "unit", ["<table><tr><td>x</td></tr></table>", "<p>some words here</p>", "<b>x</b> <a href=q>y</a>"]
    )
    def test_many_elements_are_linear(self, unit: str) -> None:
        assert extract_html(f"<html><body>{unit * 20_000}</body></html>").text

    def test_structured_data_is_linear(self) -> None:
        data = '"@type":[' * 300_000
        assert extract_html(f'<script type="application/ld+json">{data}</script><p>one</p>').text == "one"


BLOCKS = st.sampled_from(["p", "div", "li", "h1", "section", "td", "blockquote"])
WORDS = st.text("abcdefgäß漢&<>", min_size=1, max_size=6)


class TestReadVisibleText:
    @given(st.recursive(WORDS, lambda inner: st.tuples(BLOCKS, st.lists(inner, max_size=4)), max_leaves=20))
    def test_every_block_is_a_line(self, tree: object) -> None:
        assert read_visible_text(_render(tree)) == "\n".join(_read_lines(tree))


def _render(tree: object) -> str:
    if isinstance(tree, str):
        return f"<p>{tree.replace('&', '&amp;').replace('<', '&lt;')}</p>"
    name, children = tree  # type: ignore[misc]
    return f"<{name} class='a'>{''.join(map(_render, children))}<!-- c --><script>1 < 2</script></{name}>"


def _read_lines(tree: object) -> list[str]:
    """The same from the tree, where there are no tags to strip."""
    if isinstance(tree, str):
        return [tree]
    return [line for child in tree[1] for line in _read_lines(child)]  # type: ignore[index]


def test_trafilatura_is_imported_when_it_is_used() -> None:
    code = (
        "import sys; sys.modules['trafilatura'] = None\n"
        "from rag_dedup.errors import MissingExtraError\n"
        "from rag_dedup.html import extract_html\n"
        "try: extract_html('<p>x')\n"
        "except MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "trafilatura is not installed: pip install 'rag-dedup[html]'\n"
