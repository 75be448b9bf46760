"""The example corpus: what it promises, and that the committed folder is what the script writes."""

from __future__ import annotations

import difflib
import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import pytest

from rag_dedup.html import decode_html, find_saved_url

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "examples" / "build_site.py"
SITE = ROOT / "examples" / "site"
PAGES = sorted(SITE.rglob("*.html"))

DOCS = "https://docs.brindle.example"
WWW = "https://www.brindle.example"
VERSIONS = ("v1.2", "v1.3", "v2.0")
SAVED_FROM = re.compile(r"<!DOCTYPE html>\n<!-- saved from url=\((\d{4})\)(https?://[!-~]+) -->\n")
ARTICLE = re.compile(r"<article[^>]*>(.*?)(?:<hr>.*)?</article>", re.S)


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import build_site

    return build_site


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The text of every page by the address that it was saved from."""
    found = {}
    for path in PAGES:
        html, _ = decode_html(path.read_bytes())
        found[SAVED_FROM.match(html)[2]] = html  # type: ignore[index]
    assert len(found) == len(PAGES)
    return found


def run(*arguments: str | Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def article(html: str) -> str:
    """Return the article of a page without what the template adds to its end."""
    found = ARTICLE.search(html)
    assert found
    return re.sub(r"<p>Share this page:.*</p>", "", found[1]).strip()


def differing_words(a: str, b: str) -> list[str]:
    """Return the words that one of two articles has and the other lacks, in order."""
    mine, theirs = (
        re.findall(r"[\w$€£]+(?:\.\w+)*", re.sub(r"<[^>]*>", " ", article(html))) for html in (a, b)
    )
    return [line[2:] for line in difflib.ndiff(mine, theirs) if line[0] in "+-"]


class TestLaws:
    def test_the_folder_is_what_the_script_writes(self, build: ModuleType) -> None:
        assert build.find_differences(build.build_site(), SITE) == []

    @pytest.mark.parametrize("hash_seed", ["1", "2"])
    def test_every_run_writes_the_same(self, hash_seed: str, tmp_path: Path, build: ModuleType) -> None:
        result = run("--out", tmp_path, hash_seed=hash_seed)
        assert (result.returncode, result.stderr) == (0, "")
        assert build.find_differences(build.build_site(), tmp_path) == []

    @pytest.mark.parametrize("harm", ["change", "add", "remove"])
    def test_check_finds_any_difference(self, harm: str, tmp_path: Path) -> None:
        run("--out", tmp_path)
        assert run("--out", tmp_path, "--check").returncode == 0
        victim = tmp_path / "docs.brindle.example" / "licence" / "index.html"
        if harm == "change":
            victim.write_bytes(victim.read_bytes().replace(b"software", b"softwear", 1))
        elif harm == "add":
            victim.with_name("stranger.html").write_bytes(b"")
        else:
            victim.unlink()
        before = sorted(tmp_path.rglob("*"))
        result = run("--out", tmp_path, "--check")
        assert result.returncode == 1
        assert "licence" in result.stderr
        assert sorted(tmp_path.rglob("*")) == before

    def test_a_stranger_in_the_folder_is_reported_and_left_alone(self, tmp_path: Path) -> None:
        stranger = tmp_path / "thesis.txt"
        stranger.write_text("mine")
        result = run("--out", tmp_path)
        assert (result.returncode, stranger.read_text()) == (1, "mine")
        assert "thesis.txt" in result.stderr

    def test_doctests(self, build: ModuleType) -> None:
        from site_content import markdown

        for module in (build, markdown):
            assert doctest.testmod(module) == (0, 1)


class TestFiles:
    @pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
    def test_says_where_it_was_saved_from(self, path: Path, build: ModuleType) -> None:
        html, _ = decode_html(path.read_bytes())
        match = SAVED_FROM.match(html)
        assert match
        length, url = match.groups()
        assert len(url) == int(length)
        assert find_saved_url(html) == url
        assert build.name_file(url) == path.relative_to(SITE).as_posix()
        assert path.relative_to(SITE).parts[0] == urlsplit(url).hostname

    def test_names_are_safe_on_windows(self) -> None:
        names = [path.relative_to(SITE).as_posix() for path in SITE.rglob("*")]
        assert len({name.lower() for name in names}) == len(names)
        for name in names:
            assert len(name) < 120
            for part in name.split("/"):
                assert re.fullmatch(r"[A-Za-z0-9=@~._-]*[A-Za-z0-9]", part)
                assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", part)

    def test_encodings_and_line_ends(self) -> None:
        others = []
        for path in SITE.rglob("*.*"):
            if path.is_file():
                data = path.read_bytes()
                assert b"\r" not in data
                assert data.endswith(b"\n")
                try:
                    data.decode("utf-8")
                except UnicodeDecodeError:
                    others.append(path)
        assert [path.parent.name for path in others] == ["valmorel"]
        assert b'<meta charset="iso-8859-1">' in others[0].read_bytes()
        assert "éc" in others[0].read_bytes().decode("iso-8859-1")

    def test_sizes_and_counts(self) -> None:
        files = [path for path in SITE.rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in files) < 600_000
        assert len(PAGES) == 64
        assert sorted(path.suffix for path in files if path.suffix != ".html") == [".jsonl", ".md", ".txt"]

    def test_tickets(self) -> None:
        lines = (
            (SITE / "support.brindle.example/export/tickets.jsonl").read_text(encoding="utf-8").splitlines()
        )
        tickets = [json.loads(line) for line in lines]
        assert all(ticket.keys() == {"id", "text", "url"} for ticket in tickets)
        assert len({ticket["id"] for ticket in tickets}) == len(tickets) == 24
        assert len({ticket["text"] for ticket in tickets}) == 19


def docs(slug: str) -> list[str]:
    return [f"{DOCS}/{version}/{slug}/" for version in VERSIONS]


EXACT = {
    "introduction": docs("introduction"),
    "installation": [f"{DOCS}/v2.0/installation/", "http://docs.brindle.example/v2.0/installation/"],
    "quickstart, old": docs("quickstart")[:2],
    "quickstart, new": [
        f"{DOCS}/v2.0/quickstart/",
        f"{DOCS}/v2.0/quickstart/?utm_source=newsletter&utm_medium=email",
    ],
    "configuration": [f"{DOCS}/v2.0/configuration/", f"{DOCS}/v2.0/configuration/?print=1"],
    "replication": docs("replication"),
    "security": [*docs("security")[:2], f"{DOCS}/v1.3/security"],
    "backup": [*docs("backup-and-restore"), f"{DOCS}/print/v2.0/backup-and-restore/"],
    "troubleshooting": [*docs("troubleshooting"), f"{DOCS}/v1.3/troubleshooting/?print=1"],
    "tiered storage": [f"{DOCS}/v2.0/tiered-storage/", f"{DOCS}/v2.0/tiered-storage/?gclid=EAIaIQobChMI7f2K"],
    "home": [f"{WWW}/", "http://brindle.example/"],
    "blog": [
        f"{WWW}/blog/election-that-never-ended/",
        "https://brindle.example/blog/election-that-never-ended/",
    ],
    "prices": [
        f"{WWW}/pricing/eu/",
        f"{WWW}/pricing/eu/?utm_source=google&utm_medium=cpc&gclid=Cj0KCQiA4b",
    ],
    "press": [f"{WWW}/press/lisbon-office/", f"{WWW}/press/lisbon-office/?fbclid=IwAR2xkQ9v"],
}


class TestFamilies:
    @pytest.mark.parametrize("family", EXACT)
    def test_exact_duplicates(self, family: str, pages: dict[str, str]) -> None:
        assert len({article(pages[url]) for url in EXACT[family]}) == 1
        # The files differ all the same: what is around the article does.
        assert len({pages[url] for url in EXACT[family]}) == len(EXACT[family])

    def test_nothing_else_is_equal(self, pages: dict[str, str]) -> None:
        whole = [article(html) for html in pages.values() if "<article" in html]
        copies = sum(len(urls) - 1 for urls in EXACT.values())
        assert len(whole) - len(set(whole)) == copies == 21

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            (f"{DOCS}/v1.3/quickstart/", f"{DOCS}/v2.0/quickstart/"),
            (f"{DOCS}/v1.2/consumer-groups/", f"{DOCS}/v1.3/consumer-groups/"),
            (f"{DOCS}/v1.3/consumer-groups/", f"{DOCS}/v2.0/consumer-groups/"),
            (f"{DOCS}/v1.3/monitoring/", f"{DOCS}/v2.0/monitoring/"),
            (f"{DOCS}/zh/v2.0/introduction/", "https://mirror.brindle.example/zh/introduction/"),
        ],
    )
    def test_edited_slightly(self, a: str, b: str, pages: dict[str, str]) -> None:
        assert 0.9 < difflib.SequenceMatcher(None, article(pages[a]), article(pages[b]), False).ratio() < 1

    @pytest.mark.parametrize("a", VERSIONS)
    @pytest.mark.parametrize("b", VERSIONS)
    @pytest.mark.parametrize("slug", ["installation", "configuration"])
    def test_versions_that_differ_in_numbers(self, slug: str, a: str, b: str, pages: dict[str, str]) -> None:
        words = differing_words(pages[f"{DOCS}/{a}/{slug}/"], pages[f"{DOCS}/{b}/{slug}/"])
        assert bool(words) == (a != b)
        assert all(any(char.isdigit() for char in word) for word in words)

    def test_a_threshold(self, pages: dict[str, str]) -> None:
        words = differing_words(*(pages[f"{DOCS}/{version}/monitoring/"] for version in VERSIONS[:2]))
        assert words == ["0.10", "0.15", "10", "15"]

    def test_a_negation(self, pages: dict[str, str]) -> None:
        urls = f"{WWW}/legal/archive/acceptable-use/", f"{WWW}/legal/acceptable-use/"
        assert differing_words(*(pages[url] for url in urls)) == ["not"]
        assert differing_words(*(pages[f"{DOCS}/{v}/security/"] for v in VERSIONS[1:])) == ["not"]

    def test_cities(self, pages: dict[str, str]) -> None:
        lisbon, toronto, osaka = (pages[f"{WWW}/press/{c}-office/"] for c in ("lisbon", "toronto", "osaka"))
        assert set(differing_words(lisbon, toronto)) == {"Lisbon", "Toronto"}
        assert set(differing_words(lisbon, osaka)) == {"Lisbon", "Osaka"}

    def test_prices(self, pages: dict[str, str]) -> None:
        us, eu, uk = (pages[f"{WWW}/pricing/{region}/"] for region in ("us", "eu", "uk"))
        for a, b in ((us, eu), (us, uk), (eu, uk)):
            words = differing_words(a, b)
            assert words
            assert all(any(char.isdigit() for char in word) for word in words)

    def test_the_warning_is_on_every_third_page(self, pages: dict[str, str]) -> None:
        sidebar = re.compile(r'<nav class="sidebar".*?</nav>', re.S)
        for version in VERSIONS:
            menu = sidebar.search(pages[f"{DOCS}/{version}/introduction/"])
            assert menu
            slugs = re.findall(rf"/{version}/([\w-]+)/", menu[0])
            warned = ["Never let two brokers" in pages[f"{DOCS}/{version}/{slug}/"] for slug in slugs]
            assert len(slugs) >= 11
            assert warned == [number % 3 == 0 for number in range(1, len(slugs) + 1)]


class TestPages:
    def test_what_pages_say_of_themselves(self, pages: dict[str, str]) -> None:
        for part, most in (("<title>", 58), ("<html lang=", 59), ('rel="canonical"', 52)):
            assert most <= sum(part in html for html in pages.values()) < len(pages)

    def test_copies_name_the_original_as_canonical(self, pages: dict[str, str]) -> None:
        for url in ("?print=1", "?utm_source=newsletter&utm_medium=email"):
            slug = "configuration" if "print" in url else "quickstart"
            original = f"{DOCS}/v2.0/{slug}/"
            assert f'<link rel="canonical" href="{original}">' in pages[original + url]

    def test_one_canonical_address_is_claimed_by_several_pages(self, pages: dict[str, str]) -> None:
        claim = f'<link rel="canonical" href="{WWW}/pricing/">'
        assert sum(claim in html for html in pages.values()) == 4

    @pytest.mark.parametrize("version", VERSIONS)
    def test_what_surrounds_the_text(self, version: str, pages: dict[str, str]) -> None:
        html = pages[f"{DOCS}/{version}/replication/"]
        assert html.count('aria-current="page">Replication<') == 1
        assert f"Docs › {version} › Operate › Replication" in html
        for text in ("Last updated on", "Was this page helpful?", "We use cookies", "All rights reserved."):
            assert html.count(text) == 1

    @pytest.mark.parametrize(
        ("url", "script"),
        [
            (f"{DOCS}/zh/v2.0/introduction/", "[一-鿿]"),
            ("https://mirror.brindle.example/zh/introduction/", "[一-鿿]"),
            (f"{DOCS}/ar/v2.0/monitoring/", "[ء-ي]"),
            (f"{DOCS}/de/v2.0/backup-and-restore/", "[a-zäöüß]"),
        ],
    )
    def test_languages(self, url: str, script: str, pages: dict[str, str]) -> None:
        text = re.sub(r"<pre>.*?</pre>|<[^>]*>", "", article(pages[url]), flags=re.S)
        assert len(re.findall(script, text)) > 600
        assert article(pages[url]).count("<p>") >= 5

    def test_odd_pages(self, pages: dict[str, str]) -> None:
        assert "<body><p>This page has moved.</p></body>" in pages[f"{WWW}/docs/start"]
        assert "<body></body>" in pages["https://console.brindle.example/"]
        broken = pages["https://wiki.brindle.example/wiki/raspberry-pi"]
        assert broken.count("<p>") > broken.count("</p>") == 0


class TestExtraction:
    def test_main_text_is_found(self, pages: dict[str, str]) -> None:
        trafilatura = pytest.importorskip("trafilatura", reason="needs the extra html")
        for url, html in pages.items():
            if "<article" in html:
                text = trafilatura.extract(html, output_format="markdown", include_tables=True)
                first = re.search(r"<h1[^>]*>(.*?)</h1>", html)
                assert first
                assert text.startswith(f"# {first[1]}\n"), url
                assert "cookie" not in text.lower(), url
                assert len(text) > 0.75 * len(re.sub(r"<[^>]*>", "", article(html))), url
