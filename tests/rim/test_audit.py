"""The audit: the thread from pages to decisions, its table, frames and figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_dedup import Deduplicator, Document, Skipped
from rag_dedup.audit import Audit, audit_pages, diff_texts
from rag_dedup.audit.frames import (
    boilerplate_frame,
    clusters_frame,
    decisions_frame,
    pages_frame,
    read_frame,
    removed_frame,
    threshold_sweep,
)
from rag_dedup.audit.records import encode_json, make_decisions, make_kept
from rag_dedup.audit.screen import escape_control, mask_secrets, show
from rag_dedup.audit.split import split_text
from rag_dedup.audit.table import count_audit, format_audit
from rag_dedup.errors import ConfigurationError, InputError, MissingScopeError

for package in ("semantic_text_splitter", "rich", "pandas", "matplotlib"):
    pytest.importorskip(package)

WORDS = "broker stream offset commit replica leader quorum segment retention consumer producer topic".split()


def write_passage(number: int, length: int = 40) -> str:
    """Return a passage that shares no shingle with those of other numbers."""
    return (
        " ".join(f"{WORDS[(number + i) % len(WORDS)]}{number}x{i}" for i in range(length)).capitalize() + "."
    )


def make_page(id: str, *parts: str, url: str | None = None, **fields: str) -> Document:
    return Document(id, "\n\n".join(parts), url=url, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def audit() -> Audit:
    shared, near = write_passage(0), "The limit is {} requests a minute. " + write_passage(9, 45)
    return audit_pages(
        [
            make_page("a", "# A", write_passage(1), shared, url="https://docs.example.com/a"),
            Skipped("b.pdf", "no reader"),
            make_page("c", "# C", write_passage(2), shared, url="https://help.example.com/c?utm_source=x"),
            make_page("d", near.format(100), url="https://docs.example.com/d"),
            make_page("e", near.format(200), url="https://docs.example.com/e"),
            make_page("f", near.format(100) + " And more.", url="https://docs.example.com/f"),
            make_page("g", write_passage(3)),
        ],
        chunk_size=700,
    )


class TestAuditPages:
    def test_counts_add_up(self, audit: Audit) -> None:
        report = audit.report
        assert report.documents == len(audit.chunks) == len(audit.decisions) == len(audit.owners)
        assert report.documents == report.kept + report.dropped + report.unchanged + report.revised

    def test_chunks_name_their_page(self, audit: Audit) -> None:
        numbers: Counter[str] = Counter()
        for chunk, owner in zip(audit.chunks, audit.owners, strict=True):
            page = audit.pages[owner]
            assert chunk.id == f"{page.id}#{numbers[page.id]}"
            assert chunk.text in audit.stripped[owner].text
            assert (chunk.url, chunk.metadata) == (page.url, page.metadata)
            numbers[page.id] += 1

    def test_hosts(self, audit: Audit) -> None:
        assert [(host.name, host.pages) for host in audit.hosts] == [
            ("docs.example.com", 4),
            ("", 1),
            ("help.example.com", 1),
        ]
        assert all(host.chunks == host.kept + host.exact + host.near for host in audit.hosts)
        assert sum(host.chunks for host in audit.hosts) == len(audit.chunks)
        assert audit.characters == sum(len(page.text) for page in audit.pages)

    def test_a_guard_keeps_numbers_apart(self, audit: Audit) -> None:
        assert dict(audit.report.by_guard) == {"number": 1}
        assert audit.report.by_method == {"exact": 1, "minhash": 1}

    def test_clusters_know_every_place(self, audit: Audit) -> None:
        places = {cluster.urls for cluster in audit.clusters}
        assert ("https://docs.example.com/d", "https://docs.example.com/f") in places
        assert ("https://docs.example.com/a", "https://help.example.com/c?utm_source=x") in places

    def test_skipped_inputs_are_counted(self, audit: Audit) -> None:
        assert audit.skipped == (Skipped("b.pdf", "no reader"),)

    def test_two_copies_of_a_page_are_the_same(self) -> None:
        texts = (write_passage(1), write_passage(2), write_passage(3))
        url = "https://example.com/a"
        copies = [make_page("a", *texts, url=url), make_page("b", *texts, url=url + "?utm_source=x")]
        found = audit_pages(copies, chunk_size=400)
        assert found.report.dropped == found.report.kept

    def test_a_page_given_twice_is_unchanged(self) -> None:
        page = make_page("a", write_passage(1))
        assert audit_pages([page, page]).report.unchanged == 1

    def test_the_same_corpus_again(self) -> None:
        dedup = Deduplicator()
        pages = [make_page("a", write_passage(1), write_passage(2)), make_page("b", write_passage(1))]
        first, second = (audit_pages(pages, dedup=dedup, chunk_size=400) for _ in range(2))
        assert second.report.unchanged == second.report.documents
        assert second.kept == first.kept
        assert second.clusters == first.clusters

    def test_a_page_that_is_split_elsewhere_has_survivors_of_earlier_calls(self) -> None:
        dedup = Deduplicator()
        audit_pages([make_page("a", write_passage(1))], dedup=dedup)
        found = audit_pages([make_page("b", write_passage(1))], dedup=dedup)
        assert [(cluster.id, len(cluster.members)) for cluster in found.clusters] == [("a#0", 2)]
        assert found.clusters[0].text == write_passage(1)

    def test_scopes_do_not_mix(self) -> None:
        pages = [
            Document("a", write_passage(1), metadata={"language": "en"}),
            Document("b", write_passage(1), metadata={"language": "de"}),
        ]
        assert audit_pages(pages).report.dropped == 1
        found = audit_pages(pages, dedup=Deduplicator(scope_key="language"))
        assert found.report.dropped == 0
        assert [page.scope for page in found.pages] == ["en", "de"]

    def test_a_missing_scope_is_an_error(self) -> None:
        with pytest.raises(MissingScopeError, match="language"):
            audit_pages([Document("a", "one")], dedup=Deduplicator(scope_key="language"))

    def test_nothing(self) -> None:
        found = audit_pages([])
        assert (found.pages, found.chunks, found.hosts, found.clusters) == ((), (), (), ())
        assert format_audit(found)

    def test_progress_is_told(self) -> None:
        steps: list[str] = []
        audit_pages([Document("a", "one")], progress=lambda step, done, total: steps.append(step))
        assert list(dict.fromkeys(steps)) == ["Reading", "Finding boilerplate", "Splitting", "Comparing"]

    @settings(max_examples=40)
    @given(
        st.lists(
            st.tuples(st.lists(st.integers(0, 5), max_size=4), st.sampled_from(["", "x", "y"])), max_size=8
        )
    )
    def test_laws(self, corpus: list[tuple[list[int], str]]) -> None:
        pages = [
            make_page(f"p{i}", *map(write_passage, numbers), scope=scope)
            for i, (numbers, scope) in enumerate(corpus)
        ]
        found = audit_pages(pages, chunk_size=600, keep_boilerplate=True)
        # Nothing is lost: every passage is kept, once in each scope.
        kept = Counter((chunk.scope, chunk.text) for chunk in found.kept)
        assert set(kept) == {(chunk.scope, chunk.text) for chunk in found.chunks}
        assert set(kept.values()) <= {1}
        # Every page without a chunk was named.
        assert len(found.skipped) == len(pages) - len(set(found.owners))


class TestBoilerplate:
    FOOTER = "All prices are in euros and include the taxes of the country where you are."

    def make_pages(self) -> list[Document]:
        return [
            make_page(f"p{i}", f"# Page {i}", write_passage(i), self.FOOTER, url=f"https://example.com/{i}")
            for i in range(12)
        ]

    def test_what_recurs_is_cut_out_before_splitting(self) -> None:
        found = audit_pages(self.make_pages())
        assert found.boilerplate >= 12 * len(self.FOOTER)
        assert not any(self.FOOTER in chunk.text for chunk in found.chunks)
        assert found.hosts[0].share == found.boilerplate / found.characters

    def test_what_was_cut_is_told(self) -> None:
        found = audit_pages(self.make_pages())
        removed = removed_frame(found)
        assert list(removed["text"].unique()) == [self.FOOTER]
        assert removed["reason"].str.startswith("bottom").all()
        texts = {page.id: page.text for page in found.pages}
        assert all(texts[row.page][row.start : row.end] == row.text for row in removed.itertuples())

    def test_pages_that_are_nothing_else_are_spared_and_told(self) -> None:
        pages = [*self.make_pages(), make_page("empty", self.FOOTER, url="https://example.com/empty")]
        found = audit_pages(pages)
        assert pages_frame(found).set_index("id")["spared"].notna()["empty"]
        assert re.search(r"spared +1 ", format_audit(found))

    def test_unless_it_shall_be_kept(self) -> None:
        found = audit_pages(self.make_pages(), keep_boilerplate=True)
        assert found.boilerplate == 0
        assert all(self.FOOTER in page.text for page in found.stripped)


class TestSplitText:
    @given(st.text(st.sampled_from("ab #\n`|-漢\ud800\ud83d\ude00"), max_size=300), st.integers(1, 40))
    def test_chunks_are_slices_in_order(self, text: str, size: int) -> None:
        end, rest = 0, ""
        for offset, chunk in split_text(text, size):
            assert end <= offset
            assert text[offset : offset + len(chunk)] == chunk
            assert len(chunk) <= size
            rest += text[end:offset]
            end = offset + len(chunk)
        assert not (rest + text[end:]).strip()

    @pytest.mark.parametrize("unit", ["x", "word ", "- item\n", "| a | b |\n", "> ", "`", "# h\n\ntext\n\n"])
    def test_time_is_linear(self, unit: str) -> None:
        text = unit * (2_000_000 // len(unit))
        assert sum(len(chunk) for _, chunk in split_text(text)) > 0.6 * len(text)

    @pytest.mark.parametrize("size", [0, -1])
    def test_sizes(self, size: int) -> None:
        with pytest.raises(ConfigurationError, match="chunk size"):
            list(split_text("a", size))


class TestDiffTexts:
    @pytest.mark.parametrize(
        ("here", "there", "diff"),
        [
            ("a b c", "a b c", "a b c"),
            ("", "", ""),
            ("a", "", "{+a+}"),
            ("", "a", "[-a-]"),
            ("99.9 %", "99.5 %", "99.[-5-]{+9+} %"),
            ("is not allowed", "is allowed", "is {+not +}allowed"),
            ("a  b\n", "a b", "a b"),
        ],
    )
    def test_cases(self, here: str, there: str, diff: str) -> None:
        assert diff_texts(here, there) == diff

    def test_what_both_share_is_shortened(self) -> None:
        same = "word " * 100
        diff = diff_texts(same + "one " + same, same + "two " + same, context=2)
        assert diff == "…word word [-two-]{+one+} word word…"

    @given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
    def test_both_texts_can_be_read_off(self, here: list[str], there: list[str]) -> None:
        diff = diff_texts(" ".join(here), " ".join(there), context=1000)
        assert _take(diff, "[-", "-]", "{+", "+}") == " ".join(here)
        assert _take(diff, "{+", "+}", "[-", "-]") == " ".join(there)

    def test_long_texts_take_no_quadratic_time(self) -> None:
        assert diff_texts("a b " * 100_000, "b a " * 100_001)


def _take(diff: str, drop: str, drop_end: str, keep: str, keep_end: str) -> str:
    while drop in diff:
        before, _, rest = diff.partition(drop)
        diff = before + rest.partition(drop_end)[2]
    return diff.replace(keep, "").replace(keep_end, "")


class TestScreen:
    @given(st.text(st.characters(codec=None)))
    def test_nothing_steers_the_terminal(self, text: str) -> None:
        shown = show(text)
        assert all(char.isprintable() or char in "\u200c\u200d" for char in shown)
        assert shown == show(shown)

    def test_what_is_written_out(self) -> None:
        assert escape_control("\x1b]0;x\x07\x9b\u202e\ud800") == "\\x1b]0;x\\x07\\x9b\\u202e\\ud800"
        assert escape_control("größe 漢字 🎉") == "größe 漢字 🎉"

    @pytest.mark.parametrize(
        ("text", "masked"),
        [
            ("https://me:pw@example.com/a", "https://***@example.com/a"),
            ("https://me@example.com", "https://***@example.com"),
            ("https://example.com/@me", "https://example.com/@me"),
            ("see https://example.com/?api_key=1&b=2.", "see https://example.com/?api_key=***&b=2."),
            (
                "https://e.com/?X-Amz-Signature=ab&x=1#access_token=z",
                "https://e.com/?X-Amz-Signature=***&x=1#access_token=***",
            ),
            ("https://e.com/a;jsessionid=1A2B?b=2", "https://e.com/a;jsessionid=***?b=2"),
            ("https://e.com/?keyboard=us&monkey=1", "https://e.com/?keyboard=us&monkey=1"),
        ],
    )
    def test_secrets(self, text: str, masked: str) -> None:
        assert mask_secrets(text) == masked

    @pytest.mark.parametrize("unit", ["://", "?token=", "?a-", "://a", "&x_"])
    def test_time_is_linear(self, unit: str) -> None:
        show(unit * (1_000_000 // len(unit)))


class TestTable:
    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_no_line_is_wider_than_the_terminal(self, audit: Audit, width: int) -> None:
        lines = format_audit(audit, width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert not any(line.endswith(" ") for line in lines)

    def test_what_it_tells(self, audit: Audit) -> None:
        table = format_audit(audit, width=100)
        for part in (
            "exact duplicates",
            "near-duplicates",
            "docs.example.com",
            "(no URL)",
            "b.pdf",
            "no reader",
        ):
            assert part in table
        assert 'such as "200" and "100"' in table
        assert "https://help.example.com/c?utm_source=x" in table

    def test_hostile_corpora_are_shown_as_text(self) -> None:
        text = "[bold]x[/bold] :smile: \x1b[2J \u202e " + write_passage(1)
        pages = [Document(f"{i}\x1b[31m", text, url="https://me:pw@example.com/") for i in range(2)]
        table = format_audit(audit_pages([*pages, Skipped("\x07[red]", "\x1b[1m[/]")]), width=100)
        assert "\x1b" not in table
        assert "\x07" not in table
        assert '"[bold]x[/bold] :smile: \\x1b[2J \\u202e' in table
        assert "https://***@example.com/" in table
        assert "\\x07[red]" in table

    def test_counts_as_json(self, audit: Audit) -> None:
        counts = json.loads(encode_json(count_audit(audit)))
        assert counts["pages"] == len(audit.pages)
        assert counts["canonical_urls"] == 5
        assert counts["report"] == json.loads(json.dumps(audit.report.to_dict()))
        assert [host["name"] for host in counts["hosts"]] == [host.name for host in audit.hosts]


class TestRecords:
    def test_kept(self, audit: Audit) -> None:
        records = list(make_kept(audit))
        assert [record["id"] for record in records] == [chunk.id for chunk in audit.kept]
        fields = "id text url canonical_url source title language scope sources metadata"
        assert list(records[0]) == fields.split()
        found = {url for record in records for url in record["sources"]}
        assert found == {chunk.url or chunk.source for chunk in audit.chunks}

    def test_decisions(self, audit: Audit) -> None:
        records = list(make_decisions(audit))
        assert len(records) == len(audit.chunks) + len(audit.skipped)
        assert records[-1] == {"skipped": "b.pdf", "reason": "no reader"}
        guarded = [record for record in records if record.get("guard")]
        assert [record["guard"] for record in guarded] == [{"kind": "number", "here": "200", "there": "100"}]

    @given(st.recursive(st.text(st.characters(codec=None)) | st.integers() | st.none(), st.lists))
    def test_json_survives(self, value: object) -> None:
        line = encode_json(value)
        assert line.count(b"\n") == 1
        assert len(line.decode("utf-8").splitlines()) == 1
        assert json.loads(line) == json.loads(json.dumps(value))


class TestFrames:
    def test_one_row_for_each(self, audit: Audit) -> None:
        pages, decisions = pages_frame(audit), decisions_frame(audit)
        assert len(pages) == len(audit.pages)
        assert len(decisions) == len(audit.chunks)
        assert len(clusters_frame(audit)) == sum(len(cluster.members) for cluster in audit.clusters)
        assert len(boilerplate_frame(audit)) == len(audit.hosts)
        assert pages["chunks"].sum() == len(decisions)
        assert (pages["chunks"] == pages["kept"] + pages["dropped"]).all()

    def test_empty_audits_have_the_same_columns(self, audit: Audit) -> None:
        nothing = audit_pages([])
        for make in (pages_frame, decisions_frame, clusters_frame, boilerplate_frame):
            assert list(make(nothing).columns) == list(make(audit).columns)

    def test_frames_can_be_audited(self) -> None:
        import pandas

        frame = pandas.DataFrame(
            {
                "text": ["one two three"] * 3,
                "url": ["https://e.com/a", None, float("nan")],
                "team": [1, 2, 3],
            },
            index=["x", "y", "z"],
        )
        documents = read_frame(frame)
        assert [document.id for document in documents] == ["x", "y", "z"]
        assert [document.url for document in documents] == ["https://e.com/a", None, None]
        assert documents[1].metadata == {"team": 2}
        assert audit_pages(documents).report.dropped == 2

    def test_frames_without_text(self) -> None:
        import pandas

        with pytest.raises(InputError, match="no column 'text'"):
            read_frame(pandas.DataFrame({"body": ["a"]}))
        with pytest.raises(InputError, match="row 1: the text is a float"):
            read_frame(pandas.DataFrame({"text": ["a", float("nan")]}))
        assert read_frame(pandas.DataFrame({"body": ["a"]}), text="body")[0].text == "a"

    def test_sweep(self, audit: Audit) -> None:
        import pandas

        thresholds: Sequence[float] = (0.5, 0.8, 1.0)
        sweep = threshold_sweep(audit.chunks, thresholds)
        assert list(sweep["threshold"]) == list(thresholds)
        assert (sweep["kept"] + sweep["dropped"] == len(audit.chunks)).all()
        assert (sweep["exact"] == 1).all()
        assert list(sweep["near"]) == [1, 1, 0]
        frame = pandas.DataFrame({"text": [chunk.text for chunk in audit.chunks]})
        assert list(threshold_sweep(frame, thresholds)["kept"]) == list(sweep["kept"])


class TestPlots:
    def test_figures(self, audit: Audit) -> None:
        from rag_dedup.audit import plots

        drawn = [
            plots.plot_boilerplate(boilerplate_frame(audit)),
            plots.plot_similarity(decisions_frame(audit)),
            plots.plot_sweep(threshold_sweep(audit.chunks)),
            plots.plot_clusters(clusters_frame(audit)),
        ]
        assert all(figure.axes[0].get_xlabel() for figure in drawn)
        axes = drawn[0].axes[0]
        assert plots.plot_similarity(decisions_frame(audit), axes) is drawn[0]

    def test_figures_of_nothing(self) -> None:
        from rag_dedup.audit import plots

        nothing = audit_pages([])
        plots.plot_boilerplate(boilerplate_frame(nothing))
        plots.plot_similarity(decisions_frame(nothing))
        plots.plot_sweep(threshold_sweep([]))
        plots.plot_clusters(clusters_frame(nothing))

    def test_no_global_state(self) -> None:
        code = (
            "import sys; from rag_dedup.audit import audit_pages, plots\n"
            "from rag_dedup.audit.frames import boilerplate_frame\n"
            "plots.plot_boilerplate(boilerplate_frame(audit_pages([])))\n"
            "assert 'matplotlib.pyplot' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("semantic-text-splitter", "from rag_dedup.audit.split import split_text; list(split_text('a'))"),
        ("rich", "from rag_dedup.audit.table import format_audit; format_audit(None)"),
        ("pandas", "from rag_dedup.audit.frames import threshold_sweep; threshold_sweep([])"),
        ("matplotlib", "from rag_dedup.audit.plots import plot_sweep; plot_sweep(None)"),
    ],
)
def test_missing_extras_are_named_when_needed(package: str, code: str) -> None:
    module = package.replace("-", "_")
    hide = f"import sys; sys.modules[{module!r}] = None\n"
    done = subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True)
    expected = f"MissingExtraError: {package} is not installed: pip install 'rag-dedup[audit]'"
    assert done.stderr.splitlines()[-1].endswith(expected)
