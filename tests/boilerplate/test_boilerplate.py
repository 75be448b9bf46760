"""What is cut, what stays, and that counting cannot be fooled."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import Document, SegmentCache, Stripped, strip_boilerplate
from rag_dedup.errors import ConfigurationError
from tests.boilerplate.sites import FOOTER, MENU, SITES, Site, write_prose

Labelled = list[tuple[Document, list[tuple[int, int, str]]]]
BY_NAME = pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n\n") if line.strip()]


class TestSites:
    @BY_NAME
    def test_nothing_of_the_content_is_lost(self, site: Site) -> None:
        for result, content in zip(strip_boilerplate(site.pages), site.content, strict=True):
            left = lines_of(result.text)
            assert [line for line in left if line in content] == content

    @BY_NAME
    def test_template_is_cut(self, site: Site) -> None:
        words = cut = 0
        for result, template in zip(strip_boilerplate(site.pages), site.template, strict=True):
            words += sum(len(line.split()) for line in template)
            cut += sum(len(span.text.split()) for span in result.removed)
        assert cut >= 0.9 * words

    @BY_NAME
    def test_pages_of_another_order_lose_the_same(self, site: Site) -> None:
        expected = {page.id: r for page, r in zip(site.pages, strip_boilerplate(site.pages), strict=True)}
        shuffled = random.Random(7).sample(site.pages, len(site.pages))
        for page, result in zip(shuffled, strip_boilerplate(shuffled), strict=True):
            assert result == expected[page.id]

    @BY_NAME
    def test_one_pass_catches_up(self, site: Site) -> None:
        streamed = list(SegmentCache().stream(site.pages))
        two_pass = strip_boilerplate(site.pages)
        for result, content in zip(streamed, site.content, strict=True):
            assert [line for line in lines_of(result.text) if line in content] == content
        late = sum(len(r.text) for r in streamed[10:])
        assert late <= 1.02 * sum(len(r.text) for r in two_pass[10:])

    @BY_NAME
    def test_once_more_changes_nothing(self, site: Site) -> None:
        """Law 3: neither learning the pages again nor stripping what is stripped."""
        cache = SegmentCache()
        cache.observe(site.pages)
        first = cache.strip(site.pages)
        for _ in range(3):
            cache.observe(site.pages)
        assert cache.strip(site.pages) == first
        stripped = [replace(p, text=r.text) for p, r in zip(site.pages, first, strict=True)]
        assert [r.text for r in cache.strip(stripped)] == [r.text for r in first]


class TestCounting:
    def test_versions_of_one_page_are_no_template(self) -> None:
        """Forty copies, some of them edited: what they share is their content."""
        prose = write_prose(1, 6)
        pages = [
            Document(
                f"{i}",
                "\n\n".join([*prose[:3], f"Edited {i} times.", *prose[3:]]),
                url=f"https://e.example/{i}",
            )
            for i in range(40)
        ]
        assert [r.removed for r in strip_boilerplate(pages)] == [()] * 40

    def test_one_page_many_times_is_one_page(self) -> None:
        page = SITES[0].pages[0]
        cache = SegmentCache()
        for _ in range(50):
            cache.observe([page])
        assert cache.strip([page])[0].removed == ()

    def test_one_page_under_edits_is_one_page(self) -> None:
        cache = SegmentCache()
        for i in range(50):
            text = "\n\n".join([*MENU, *write_prose(i), *FOOTER])
            cache.observe([Document("a", text, source="https://e.example/a")])
        page = Document("a", "\n\n".join([*MENU, "Text."]), source="https://e.example/a")
        assert cache.strip([page])[0].removed == ()

    def test_three_pages_are_not_enough(self) -> None:
        site = SITES[0]
        assert [r.removed for r in strip_boilerplate(site.pages[:3])] == [()] * 3
        assert all(r.removed for r in strip_boilerplate(site.pages[:6]))

    @pytest.mark.parametrize("repetitions", [1, 63, 64, 70])
    def test_many_repetitions(self, repetitions: int) -> None:
        def build(count: int) -> list[Document]:
            return [
                Document(f"{i}", "\n\n".join([*MENU, *write_prose(i), *FOOTER]), url=f"https://e.example/{i}")
                for i in range(count)
            ]

        for count, expected in ((repetitions, False), (5 * repetitions + 20, True)):
            results = strip_boilerplate(build(count), SegmentCache(max_repetitions=repetitions))
            assert all(bool(r.removed) is expected for r in results)

    def test_max_repetitions(self) -> None:
        site = SITES[0]
        cache = SegmentCache(max_repetitions=20)
        assert all(r.removed for r in strip_boilerplate(site.pages, cache))
        assert not any(r.removed for r in strip_boilerplate(site.pages, SegmentCache(max_repetitions=40)))

    @pytest.mark.parametrize(
        "pages",
        [
            [replace(page, scope=f"tenant {i}") for i, page in enumerate(SITES[0].pages)],
            [replace(page, url=f"https://host{i}.example/") for i, page in enumerate(SITES[0].pages)],
            [replace(page, url=None, source=f"file{i}.txt") for i, page in enumerate(SITES[0].pages)],
            [replace(page, url="http://[broken") for page in SITES[0].pages],
        ],
        ids=["scopes", "hosts", "no host", "malformed"],
    )
    def test_statistics_do_not_mix(self, pages: list[Document]) -> None:
        assert not any(r.removed for r in strip_boilerplate(pages))

    def test_hosts_of_one_group_count_together(self) -> None:
        pages = [replace(page, url=f"https://host{i}.example/") for i, page in enumerate(SITES[0].pages)]
        groups = {f"host{i}.example": "all" for i in range(len(pages))}
        assert all(r.removed for r in strip_boilerplate(pages, SegmentCache(groups=groups)))
        scoped = [replace(page, scope=page.id) for page in pages]
        assert not any(r.removed for r in strip_boilerplate(scoped, SegmentCache(groups=groups)))

    def test_another_tenant_changes_nothing(self) -> None:
        mine = SITES[0].pages[:12]
        theirs = [replace(page, scope="them") for page in SITES[0].pages + SITES[1].pages]
        both = strip_boilerplate([*theirs, *mine])[-12:]
        assert both == strip_boilerplate(mine)

    def test_dates_are_one_line_and_prices_are_not(self) -> None:
        def page(i: int, last: str) -> Document:
            return Document(f"{i}", "\n\n".join([*write_prose(i), last]), url=f"https://e.example/{i}")

        dated = strip_boilerplate([page(i, f"Last updated {i} May 2026") for i in range(1, 21)])
        assert all(len(r.removed) == 1 for r in dated)
        assert not any(
            r.removed for r in strip_boilerplate([page(i, f"Price: {i} EUR") for i in range(1, 21)])
        )


class TestContentThatRecurs:
    """What a few pages of a site say alike, and no template does."""

    @pytest.mark.parametrize(
        "lines",
        [
            ["- with alcohol", "- with grapefruit", "- when pregnant"],
            ["1. Stop the service", "2. Delete the lock file", "3. Start the service"],
            ["Berlin", "Full time", "Permanent"],
            ["Stop the service", "Delete the lock file", "Start the service"],
        ],
    )
    @pytest.mark.parametrize("title", ["# Page {}", "Page {}"])
    @pytest.mark.parametrize("place", ["top", "bottom"])
    def test_facts_of_three_pages(self, lines: list[str], title: str, place: str) -> None:
        pages = []
        for i in range(60):
            prose, shared = write_prose(i), lines if i < 3 else []
            body = [*shared, *prose] if place == "top" else [*prose, *shared]
            text = "\n\n".join([*MENU, title.format(i), *body, *FOOTER])
            pages.append(Document(f"{i}", text, url=f"https://e.example/{i}"))
        for result in strip_boilerplate(pages)[:3]:
            assert [line for line in lines_of(result.text) if line in lines] == lines

    def test_steps_of_five_versions(self) -> None:
        steps = [f"{n}. Do step {n} of the guide as it is written" for n in range(1, 9)]
        pages = [
            Document(
                f"v{v}", "\n".join(["guide", *steps, "", write_prose(v)[0]]), url=f"https://e.example/{v}"
            )
            for v in range(5)
        ]
        assert all(step in r.text for r in strip_boilerplate(pages) for step in steps)

    def test_paragraphs_without_spaces_are_long(self) -> None:
        shared = "本产品不得与酒精饮料同时使用，孕妇及哺乳期妇女应在医生指导下谨慎使用本品。"
        pages = [
            Document(
                f"{i}", "\n\n".join([*write_prose(i), *([shared] * (i < 3))]), url=f"https://e.example/{i}"
            )
            for i in range(40)
        ]
        assert all(shared in r.text for r in strip_boilerplate(pages)[:3])


class TestResults:
    @BY_NAME
    def test_offsets_are_those_of_the_original(self, site: Site) -> None:
        for page, result in zip(site.pages, strip_boilerplate(site.pages), strict=True):
            position = 0
            for span in result.removed:
                assert position <= span.start < span.end
                assert page.text[span.start : span.end] == span.text
                assert span.reason.startswith(("top, on ", "bottom, on "))
                position = span.end
            assert result.text.split() == self.cut(page.text, result).split()

    @staticmethod
    def cut(text: str, result: Stripped) -> str:
        for span in reversed(result.removed):
            text = text[: span.start] + text[span.end :]
        return text

    def test_no_page_is_emptied(self) -> None:
        empty = Document("menu", "\n\n".join([*MENU, *FOOTER]), url="https://warnings.example/menu")
        result = strip_boilerplate([*SITES[0].pages, empty])[-1]
        assert (result.text, result.removed) == (empty.text, ())
        assert result.spared == "only 0 words would be left, headings aside"

    def test_inputs_are_not_mutated(self) -> None:
        before = [replace(page) for page in SITES[0].pages]
        strip_boilerplate(SITES[0].pages)
        assert SITES[0].pages == before

    def test_anywhere(self) -> None:
        """As trafilatura: whatever is repeated and long enough, wherever it stands."""
        repeated = "This sentence stands in the body of every page, and it has words enough. " * 2
        repeated = repeated.strip()
        pages = [
            Document(
                f"{i}",
                "\n\n".join([*write_prose(i), repeated, *write_prose(i + 50)]),
                url=f"https://e.example/{i}",
            )
            for i in range(10)
        ]
        assert not any(r.removed for r in strip_boilerplate(pages))
        cut = strip_boilerplate(pages, SegmentCache(anywhere=True))
        assert all([span.text for span in r.removed] == [repeated] for r in cut)
        assert not any(r.removed for r in strip_boilerplate(pages, SegmentCache(anywhere=True, min_size=200)))

    @given(st.lists(st.text(max_size=60), max_size=12))
    def test_any_text(self, texts: list[str]) -> None:
        pages = [Document(str(i), text, url=f"https://e.example/{i}") for i, text in enumerate(texts)]
        for page, result in zip(pages, strip_boilerplate(pages), strict=True):
            assert "".join(self.cut(page.text, result).split()) == "".join(result.text.split())


class TestBounds:
    def test_a_million_segments_stay_within_maxsize(self) -> None:
        cache = SegmentCache(maxsize=1000)
        for i in range(100):
            text = "\n".join(f"line {i} {n}" for n in range(10_000))
            cache.observe([Document(str(i), text, url=f"https://e.example/{i}")])
        assert len(cache) == 1000

    def test_a_hundred_thousand_segments_on_a_page(self) -> None:
        text = "\n".join(f"line {n % 50_000}" for n in range(100_000))
        pages = [Document(str(i), f"{text}\nlonger line {i}", url=f"https://e.example/{i}") for i in range(4)]
        assert len(strip_boilerplate(pages)) == 4

    @pytest.mark.parametrize(
        "lines", [["menu {n}", "menu b{n}", "menu c{n}", "own {i} {n}"], ["same", "x{n}"]]
    )
    def test_menus_with_many_gaps_take_linear_time(self, lines: list[str]) -> None:
        pages = [
            Document(
                str(i),
                "\n".join(line.format(n=n, i=i) for n in range(20_000) for line in lines)
                + f"\nlonger line {i}" * 3,
                url=f"https://e.example/{i}",
            )
            for i in range(7)
        ]
        assert len(strip_boilerplate(pages)) == 7

    def test_bytes_are_bounded(self) -> None:
        small, large = (SegmentCache(max_bytes=size) for size in (100_000, 1_000_000))
        for cache in (small, large):
            cache.observe(
                Document(str(i), "\n".join(f"line {i} {n}" for n in range(100)), url=f"https://e.example/{i}")
                for i in range(100)
            )
        assert 0 < 5 * len(small) < len(large) < 10_000
        with pytest.raises(ConfigurationError, match="max_bytes"):
            SegmentCache(max_bytes=10)

    def test_least_recently_used_goes_first(self) -> None:
        cache = SegmentCache(maxsize=200)
        cache.observe(SITES[0].pages[:5])
        assert cache.strip(SITES[0].pages[:1])[0].removed
        cache.observe(SITES[2].pages)
        assert not cache.strip(SITES[0].pages[:1])[0].removed

    def test_threads(self) -> None:
        cache = SegmentCache()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda page: cache.observe([page]), SITES[0].pages * 4))
        expected = SegmentCache()
        expected.observe(SITES[0].pages)
        assert cache.strip(SITES[0].pages) == expected.strip(SITES[0].pages)

    @pytest.mark.parametrize("settings", [{"maxsize": 0}, {"max_repetitions": 0}, {"min_size": -1}])
    def test_settings_out_of_range(self, settings: dict[str, int]) -> None:
        with pytest.raises(ConfigurationError, match=next(iter(settings))):
            SegmentCache(**settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def labelled(shared_data: Callable[[str], Path]) -> Labelled:
    with lzma.open(shared_data("boilerplate/sqlalchemy-1.3.24.jsonl.xz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    result = []
    for row in rows:
        spans, start = [], 0
        for label, text in row["segments"]:
            spans.append((start, start + len(text), label))
            start += len(text) + 2
        text = "\n\n".join(text for _, text in row["segments"])
        result.append((Document(row["page"], text, url=f"https://docs.example/{row['page']}"), spans))
    return result


class TestRealSite:
    """Labelled pages of SQLAlchemy's documentation, as plain text."""

    def measure(self, labelled: Labelled, results: list[Stripped]) -> tuple[float, float, float]:
        """Return segment precision, word-weighted recall, and the share of content words that is lost."""
        hits = {"b": 0, "c": 0}
        words = {"b": 0, "c": 0}
        cut_words = {"b": 0, "c": 0}
        for (document, spans), result in zip(labelled, results, strict=True):
            cut = {span.start for span in result.removed}
            for start, end, label in spans:
                count = len(document.text[start:end].split())
                words[label] += count
                if any(start <= position < end for position in cut):
                    hits[label] += 1
                    cut_words[label] += count
        return hits["b"] / sum(hits.values()), cut_words["b"] / words["b"], cut_words["c"] / words["c"]

    def test_two_passes(self, labelled: Labelled) -> None:
        precision, recall, lost = self.measure(labelled, strip_boilerplate(d for d, _ in labelled))
        print(f"\n{len(labelled)} pages: precision {precision:.4f}, recall {recall:.4f}, lost {lost:.5%}")
        assert precision >= 0.999
        assert recall >= 0.9
        assert lost <= 0.0001

    @pytest.mark.parametrize("seed", range(5))
    def test_one_pass_in_random_order(self, labelled: Labelled, seed: int) -> None:
        _, two_passes, _ = self.measure(labelled, strip_boilerplate(d for d, _ in labelled))
        shuffled = random.Random(seed).sample(labelled, len(labelled))
        precision, recall, lost = self.measure(shuffled, list(SegmentCache().stream(d for d, _ in shuffled)))
        print(f"\none pass: precision {precision:.4f}, recall {recall:.4f}, lost {lost:.5%}")
        assert precision >= 0.999
        assert recall >= two_passes - 0.05
        assert lost <= 0.0001
