"""What every adapter does. A framework's test class inherits :class:`AdapterContract`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_dedup import SAFE, Deduplicator, Merge, Plan, SegmentCache
from rag_dedup.errors import InputError, MissingScopeError
from rag_dedup.merge import COUNT_KEY, SOURCES_KEY

SITE = "https://docs.example.com"

# Passages that no guard and no similarity confuses with one another.
PASSAGES = [
    "Restart the server after you have changed its configuration.",
    "Backups are written every night and kept until the disk is full.",
    "A consumer group shares the messages of a topic among its members.",
    "Certificates are renewed by the operator before they expire.",
    "The dashboard shows how far each replica lies behind its leader.",
    "Use a dead letter queue for messages that nobody can read.",
]

MENU = "Home\n\nDocumentation\n\nDownloads and releases"
FOOTER = "© The authors of the manual"

crawls = st.lists(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(range(6)), min_size=1, max_size=4)),
    min_size=1,
    max_size=5,
)
"""A history: what some pages said, crawl after crawl, as numbers of passages."""

# A test that is inherited runs for several classes.
inherited = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors])


class AdapterContract:
    """The tests; a subclass says how its framework does things."""

    # --- what a subclass says ---

    def make(self, text: str, **metadata: Any) -> Any:
        """Return a chunk."""
        raise NotImplementedError

    def drop(self, dedup: Deduplicator, **settings: Any) -> Any:
        """Return the transform that drops near-duplicates."""
        raise NotImplementedError

    def canonicalize(self, **settings: Any) -> Any:
        """Return the transform that canonicalises URLs."""
        raise NotImplementedError

    def extract(self, **settings: Any) -> Any:
        """Return the transform that reads HTML."""
        raise NotImplementedError

    def strip(self, **settings: Any) -> Any:
        """Return the transform that strips boilerplate."""
        raise NotImplementedError

    def run(self, transform: Any, chunks: Sequence[Any]) -> list[Any]:
        """Call a transform."""
        raise NotImplementedError

    async def arun(self, transform: Any, chunks: Sequence[Any]) -> list[Any]:
        """Await a transform."""
        raise NotImplementedError

    def id_of(self, chunk: Any) -> str | None:
        """Return the id of a chunk."""
        raise NotImplementedError

    def text_of(self, chunk: Any) -> str:
        """Return the text of a chunk."""
        raise NotImplementedError

    def metadata_of(self, chunk: Any) -> dict[str, Any]:
        """Return the metadata of a chunk."""
        return dict(chunk.metadata)

    def snapshot(self, chunk: Any) -> Any:
        """Return all that a chunk holds, to see whether it changed."""
        raise NotImplementedError

    def page(self, name: str, passages: Sequence[int | str]) -> list[Any]:
        """Return the chunks of a page."""
        return [
            self.make(PASSAGES[passage] if isinstance(passage, int) else passage, url=f"{SITE}/{name}")
            for passage in passages
        ]

    def texts(self, chunks: Sequence[Any]) -> list[str]:
        return [self.text_of(chunk) for chunk in chunks]

    # --- dropping ---

    def test_one_passage_on_two_pages_comes_once(self) -> None:
        dedup = Deduplicator()
        first, second = self.page("a", [0, 1]), self.page("b", [1, 2])
        out = self.run(self.drop(dedup), first + second)
        assert self.texts(out) == [PASSAGES[0], PASSAGES[1], PASSAGES[2]]
        assert [source.source for source in dedup.sources(self.id_of(out[1]) or "")] == [
            f"{SITE}/a",
            f"{SITE}/b",
        ]

    def test_known_survivors_come_again_with_the_same_ids(self) -> None:
        drop = self.drop(Deduplicator())
        first = self.run(drop, self.page("a", [0, 1]) + self.page("b", [1, 2]))
        again = self.run(drop, self.page("a", [0, 1]) + self.page("b", [1, 2]))
        assert [self.id_of(chunk) for chunk in again] == [self.id_of(chunk) for chunk in first]
        assert self.texts(again) == self.texts(first)

    def test_ids_are_the_same_in_every_process_and_on_every_run(self) -> None:
        ids = [
            [self.id_of(chunk) for chunk in self.run(self.drop(Deduplicator()), self.page("a", [0, 1, 2]))]
            for _ in range(2)
        ]
        assert ids[0] == ids[1]
        assert len(set(ids[0])) == 3

    def test_an_insertion_above_leaves_the_ids_below(self) -> None:
        plans: list[Plan] = []
        drop = self.drop(Deduplicator(), on_plan=plans.append)
        before = self.run(drop, self.page("a", [0, 1]))
        after = self.run(drop, self.page("a", [5, 0, 1]))
        assert [self.id_of(chunk) for chunk in after[1:]] == [self.id_of(chunk) for chunk in before]
        assert [document.text for document in plans[-1].added] == [PASSAGES[5]]
        assert plans[-1].removed == ()

    def test_an_edited_page_is_no_duplicate_of_its_old_version(self) -> None:
        plans: list[Plan] = []
        drop = self.drop(Deduplicator(), on_plan=plans.append)
        old = "The quick start takes five minutes and needs nothing but a shell and a network."
        new = old + " Try it now."
        [before] = self.run(drop, self.page("a", [old]))
        assert self.texts(self.run(drop, self.page("a", [new]))) == [new]
        assert plans[-1].removed == (self.id_of(before),)

    def test_a_passage_is_promoted_when_its_survivor_goes(self) -> None:
        drop = self.drop(Deduplicator())
        self.run(drop, self.page("a", [0, 1]) + self.page("b", [1, 2]))
        out = self.run(drop, self.page("a", [0]))
        assert self.texts(out) == [PASSAGES[0], PASSAGES[1]]
        assert self.snapshot(out[1])["metadata"]["url"] == f"{SITE}/b"

    def test_a_promoted_passage_is_what_its_page_would_give(self) -> None:
        drop = self.drop(Deduplicator())
        self.run(drop, self.page("a", [1]) + self.page("b", [1]))
        [_, promoted] = self.run(drop, self.page("a", [0]))
        [direct] = self.run(self.drop(Deduplicator()), self.page("b", [1]))
        assert self.snapshot(promoted) == self.snapshot(direct)

    def test_a_passage_is_promoted_when_its_survivor_is_forgotten(self) -> None:
        dedup = Deduplicator()
        drop = self.drop(dedup)
        self.run(drop, self.page("a", [0, 1]) + self.page("b", [1, 2]))
        plan = dedup.forget(source=f"{SITE}/a")
        assert self.texts(drop.rebuild(plan.promoted)) == [PASSAGES[1]]

    def test_incomplete_pages_release_nothing(self) -> None:
        plans: list[Plan] = []
        drop = self.drop(Deduplicator(), complete=False, on_plan=plans.append)
        self.run(drop, self.page("a", [0]))
        self.run(drop, self.page("a", [1]))
        assert plans[-1].removed == ()

    def test_a_repeat_within_a_page_comes_once(self) -> None:
        assert len(self.run(self.drop(Deduplicator()), self.page("a", [0, 1, 0]))) == 2

    def test_two_addresses_of_one_page_are_one_page(self) -> None:
        for second in (f"{SITE}/a?utm_source=mail", f"{SITE}/a#top", "HTTPS://DOCS.example.com:443/a"):
            first = [self.make(PASSAGES[0], url=f"{SITE}/a"), self.make(PASSAGES[1], url=f"{SITE}/a")]
            again = [self.make(PASSAGES[0], url=second), self.make(PASSAGES[1], url=second)]
            drop = self.drop(Deduplicator())
            out = self.run(drop, first + again)
            assert len(out) == 2
            assert [self.id_of(chunk) for chunk in self.run(drop, again)] == [self.id_of(c) for c in out]

    def test_a_guard_keeps_what_differs_in_a_number(self) -> None:
        texts = [f"The service promises an uptime of {n} % in every month of the year." for n in (99.5, 99.9)]
        assert len(self.run(self.drop(Deduplicator()), self.page("a", texts))) == 2

    def test_annotating_labels_and_drops_nothing(self) -> None:
        out = self.run(
            self.drop(Deduplicator(on_duplicate="annotate")), self.page("a", [0]) + self.page("b", [0])
        )
        labels = [self.snapshot(chunk)["metadata"].get("duplicate_of") for chunk in out]
        assert labels == [None, self.id_of(out[0])]

    def test_merging_tells_a_survivor_of_its_duplicates(self) -> None:
        plans: list[Plan] = []
        dedup = Deduplicator(on_duplicate="merge", merge=Merge(union=["tags"]))
        drop = self.drop(dedup, on_plan=plans.append)
        pages = {
            name: self.make(PASSAGES[0], url=f"{SITE}/{name}", tags=[name], title=name) for name in "abc"
        }
        [merged] = self.run(drop, [pages["a"], pages["b"]])
        metadata = self.metadata_of(merged)
        assert (metadata["title"], metadata["tags"]) == ("a", ["a", "b"])
        assert json.loads(metadata[SOURCES_KEY]) == [f"{SITE}/a", f"{SITE}/b"]
        assert metadata[COUNT_KEY] == 2
        # A later duplicate: the plan asks to write the survivor again.
        [again] = self.run(drop, [pages["c"]])
        assert self.metadata_of(again)[COUNT_KEY] == 3
        assert self.id_of(again) == self.id_of(merged)
        assert [document.id for document in plans[-1].promoted] == [self.id_of(merged)]
        assert self.run(drop, [pages["c"]]) == []
        assert self.metadata_of(pages["a"])["tags"] == ["a"]

    def test_scopes_never_mix(self) -> None:
        drop = self.drop(Deduplicator(scope_key="tenant"))
        chunks = [self.make(PASSAGES[0], url=f"{SITE}/a", tenant=tenant) for tenant in ("red", "blue")]
        out = self.run(drop, chunks)
        assert len(out) == 2
        assert self.id_of(out[0]) != self.id_of(out[1])
        # One tenant's edit is none of the other's business.
        assert len(self.run(drop, [self.make(PASSAGES[1], url=f"{SITE}/a", tenant="red")])) == 1
        assert len(self.run(drop, [self.make(PASSAGES[0], url=f"{SITE}/a", tenant="blue")])) == 1
        with pytest.raises(MissingScopeError):
            self.run(drop, self.page("a", [0]))

    def test_chunks_without_a_source(self) -> None:
        drop = self.drop(Deduplicator())
        assert len(self.run(drop, [self.make(PASSAGES[0]), self.make(PASSAGES[0], source="N/A")])) == 1
        assert len(self.run(drop, [self.make(PASSAGES[1])])) == 1  # and nothing was promoted

    def test_nothing_in_nothing_out(self) -> None:
        for transform in (self.drop(Deduplicator()), self.canonicalize(), self.strip()):
            assert self.run(transform, []) == []

    def test_strange_metadata(self) -> None:
        class Refuser:
            def __eq__(self, other: object) -> bool:
                raise TypeError("no comparisons")

            __hash__ = None  # type: ignore[assignment]

        strange = {
            "set": {1},
            "date": date(2026, 1, 1),
            "object": Refuser(),
            "source": 17,
            "deep": [[{}]] * 9,
        }
        for transform in (self.drop(Deduplicator()), self.canonicalize(), self.strip()):
            for _ in range(2):
                assert len(self.run(transform, [self.make(PASSAGES[0], **strange)])) == 1

    def test_what_cannot_be_copied_is_named(self) -> None:
        chunks = [self.make("fine"), self.make("broken", lock=threading.Lock())]
        for transform in (self.drop(Deduplicator()), self.canonicalize(), self.strip()):
            with pytest.raises(InputError, match=r"^(document|node) 1\b.* cannot be copied"):
                self.run(transform, chunks)

    def test_what_is_not_of_the_framework_is_named(self) -> None:
        for transform in (self.drop(Deduplicator()), self.canonicalize(), self.strip()):
            with pytest.raises(InputError, match="1 is a str"):
                self.run(transform, [self.make("fine"), "text"])

    def test_the_callers_objects_are_not_kept(self) -> None:
        drop = self.drop(Deduplicator())
        mine = self.make(PASSAGES[0], url=f"{SITE}/b", tags=["old"])
        self.run(drop, [*self.page("a", [0]), mine])
        mine.metadata["tags"].append("new")
        [_, promoted] = self.run(drop, self.page("a", [1]))
        assert promoted.metadata["tags"] == ["old"]

    @inherited
    @given(crawls)
    def test_inputs_are_never_changed(self, history: list[dict[str, list[int]]]) -> None:
        dedup = Deduplicator()
        for transform in (self.drop(dedup), self.canonicalize(), self.strip()):
            for crawl in history:
                chunks = [c for name, said in crawl.items() for c in self.page(name, said)]
                before = [self.snapshot(chunk) for chunk in chunks]
                out = self.run(transform, chunks)
                for chunk in out:  # nor do the outputs lead back to them
                    chunk.metadata["mine"] = True
                assert [self.snapshot(chunk) for chunk in chunks] == before

    @inherited
    @given(crawls)
    def test_a_store_that_follows_holds_what_the_pages_say(self, history: list[dict[str, list[int]]]) -> None:
        store: dict[str, Any] = {}

        def delete(plan: Plan) -> None:
            for id in plan.removed:
                del store[id]

        drop = self.drop(Deduplicator(), on_plan=delete)
        pages: dict[str, list[int]] = {}
        for crawl in history:
            pages.update(crawl)
            chunks = [c for name, said in crawl.items() for c in self.page(name, said)]
            store.update({self.id_of(chunk) or "": chunk for chunk in self.run(drop, chunks)})
            assert sorted(self.texts(list(store.values()))) == sorted(
                PASSAGES[n] for n in {n for said in pages.values() for n in said}
            )
            for chunk in store.values():
                page = chunk.metadata["url"].rpartition("/")[2]
                assert self.text_of(chunk) in [PASSAGES[n] for n in pages[page]]

    # --- async ---

    def test_async_gives_the_same(self) -> None:
        chunks = self.page("a", [0, 1]) + self.page("b", [1, 2])
        for make in (lambda: self.drop(Deduplicator()), self.canonicalize, self.strip):
            assert list(map(self.snapshot, asyncio.run(self.arun(make(), chunks)))) == list(
                map(self.snapshot, self.run(make(), chunks))
            )

    def test_async_does_not_block_the_loop(self) -> None:
        entered, answered = threading.Event(), threading.Event()

        def wait(plan: Plan) -> None:
            entered.set()
            assert answered.wait(60), "the loop was blocked"

        async def answer() -> None:
            while not entered.is_set():
                await asyncio.sleep(0.001)
            answered.set()

        async def both() -> list[Any]:
            drop = self.drop(Deduplicator(), on_plan=wait)
            return (await asyncio.gather(self.arun(drop, self.page("a", [0])), answer()))[0]

        assert len(asyncio.run(both())) == 1

    def test_fifty_calls_at_once(self) -> None:
        dedup = Deduplicator()
        drop = self.drop(dedup)
        words = "alder birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew".split()
        texts = [f"{a} {b} {c}" for a in words[:5] for b in words[5:9] for c in words[9:10]]

        async def crawl() -> list[list[Any]]:
            pages = [self.page(f"{n}", [texts[n % 20], texts[(n + 7) % 20]]) for n in range(50)]
            return await asyncio.gather(*(self.arun(drop, page) for page in pages))

        emitted = [self.text_of(chunk) for out in asyncio.run(crawl()) for chunk in out]
        assert sorted(emitted) == sorted(texts)
        assert dedup.generation == 50

    # --- URLs ---

    def test_canonical_urls(self) -> None:
        chunk = self.make("text", url="http://www.Example.com/a/?utm_source=x#top")
        [out] = self.run(self.canonicalize(), [chunk])
        assert out.metadata["canonical_url"] == "https://example.com/a"
        assert out.metadata["url"] == "http://www.Example.com/a/?utm_source=x#top"

    @pytest.mark.parametrize(
        "source", ["map", "", "N/A", "docs/a.md", "mailto:a@example.com", "/a", 17, None, []]
    )
    def test_what_is_no_url_passes_through(self, source: object) -> None:
        chunk = self.make("text", source=source)
        [out] = self.run(self.canonicalize(), [chunk])
        assert self.snapshot(out) == self.snapshot(chunk)
        assert out is not chunk

    def test_a_url_behind_a_placeholder(self) -> None:
        chunk = self.make("text", source="map", url="https://example.com/a/")
        assert self.run(self.canonicalize(), [chunk])[0].metadata["canonical_url"] == "https://example.com/a"

    def test_canonicalising_twice_is_canonicalising_once(self) -> None:
        once = self.run(self.canonicalize(), self.page("a/", [0]))
        assert list(map(self.snapshot, self.run(self.canonicalize(), once))) == list(map(self.snapshot, once))

    @pytest.mark.parametrize("key", ["final_url", "finalUrl", "redirected_url", "resolved_url", "loadedUrl"])
    def test_the_address_after_redirects_comes_first(self, key: str) -> None:
        chunk = self.make("text", source=f"{SITE}/old", url=f"{SITE}/old", **{key: f"{SITE}/new"})
        [out] = self.run(self.canonicalize(), [chunk])
        assert out.metadata["canonical_url"] == f"{SITE}/new"
        dedup = Deduplicator()
        [kept] = self.run(self.drop(dedup), [chunk])
        assert dedup.sources(self.id_of(kept) or "")[0].source == f"{SITE}/new"

    def test_the_source_is_rewritten_when_asked(self) -> None:
        url = "http://www.Example.com/a/?utm_source=x#top"
        chunk = self.make("text", source=url)
        before = self.snapshot(chunk)
        once = self.run(self.canonicalize(rewrite_source=True), [chunk])
        assert once[0].metadata == {
            "source": "https://example.com/a",
            "canonical_url": "https://example.com/a",
            "original_source": url,
        }
        assert self.snapshot(chunk) == before
        twice = self.run(self.canonicalize(rewrite_source=True), once)
        assert list(map(self.snapshot, twice)) == list(map(self.snapshot, once))

    def test_the_first_source_is_kept_when_it_is_rewritten_again(self) -> None:
        chunk = self.make("text", source=f"{SITE}/old", final_url=f"{SITE}/new/")
        once = self.run(self.canonicalize(rewrite_source=True), [chunk])
        [twice] = self.run(self.canonicalize(rewrite_source=True, policy=SAFE), once)
        assert (twice.metadata["source"], twice.metadata["original_source"]) == (
            f"{SITE}/new/",
            f"{SITE}/old",
        )

    def test_a_source_that_is_no_url_is_kept_when_it_is_rewritten(self) -> None:
        chunk = self.make("text", source="map", url="https://example.com/a/")
        [out] = self.run(self.canonicalize(rewrite_source=True), [chunk])
        assert out.metadata["source"] == "https://example.com/a"
        assert (out.metadata["original_source"], out.metadata["url"]) == ("map", "https://example.com/a/")

    # --- HTML ---

    def test_pages_of_html_become_markdown(self) -> None:
        pages = [
            self.make(
                f"{start}<title>Ports</title><nav>Menu</nav><main><h1>Ports</h1><p>{PASSAGES[0]}</p></main>"
            )
            for start in (
                "<!DOCTYPE html>",
                "\ufeff \n<html lang=de>",
                "<?xml version='1.0'?><!-- x > y --><HTML>",
            )
        ]
        before = [self.snapshot(page) for page in pages]
        out = self.run(self.extract(), pages)
        assert self.texts(out) == [f"# Ports\n\n{PASSAGES[0]}"] * 3
        assert [self.metadata_of(page)["title"] for page in out] == ["Ports"] * 3
        assert self.metadata_of(out[1])["language"] == "de"
        assert [self.snapshot(page) for page in pages] == before
        assert asyncio.run(self.arun(self.extract(), pages)) == out
        assert self.texts(self.run(self.extract(), out)) == self.texts(out)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "<",
            "<!--",
            "<?",
            "<!-- a",
            "Use <html> as the root.",
            '<div align="center">\n\n# A readme\n</div>',
            "<p>Markdown may begin so.</p>",
            "```html\n<html><body>Hello</body></html>\n```",
        ],
    )
    def test_what_is_no_page_of_html_stays(self, text: str) -> None:
        chunk = self.make(text, url=f"{SITE}/a")
        [out] = self.run(self.extract(), [chunk])
        assert self.snapshot(out) == self.snapshot(chunk)

    def test_what_the_loader_says_of_a_page_stays(self) -> None:
        html = f"<html lang=en><title>Theirs</title><main><p>{PASSAGES[0]}</p></main>"
        [out] = self.run(self.extract(), [self.make(html, title="Ours", language="")])
        metadata = self.metadata_of(out)
        assert (metadata["title"], metadata["language"], metadata["extraction"]) == (
            "Ours",
            "en",
            "trafilatura",
        )

    @pytest.mark.parametrize(
        ("html", "extraction"),
        [
            ("<html><script>var text = 'no text'</script>", "nothing"),
            ("<html>" + "<div>" * 20_000 + "deep", "visible text"),
            ("<html><body><p>cut off <b", "trafilatura"),
            ("<html>" + "<!--" * 20_000, "nothing"),
        ],
        ids=["script", "deep", "cut off", "comments"],
    )
    def test_broken_pages_are_read_as_far_as_they_can_be(self, html: str, extraction: str) -> None:
        [out] = self.run(self.extract(), [self.make(html)])
        assert self.metadata_of(out)["extraction"] == extraction
        assert "<" not in self.text_of(out)

    # --- boilerplate ---

    def pages(self, count: int = 6, **metadata: Any) -> list[Any]:
        """Return pages of one site with a menu, a text of their own and a footer."""
        return [
            self.make(f"{MENU}\n\n# Page {name}\n\n{said}\n\n{FOOTER}", url=f"{SITE}/{name}", **metadata)
            for name, said in zip("abcdef"[:count], PASSAGES, strict=False)
        ]

    def test_boilerplate_is_cut_and_the_rest_stays(self) -> None:
        out = self.texts(self.run(self.strip(), self.pages()))
        assert [text.strip() for text in out] == [
            f"# Page {name}\n\n{said}" for name, said in zip("abcdef", PASSAGES, strict=True)
        ]

    def test_what_was_learnt_stays(self) -> None:
        strip = self.strip()
        self.run(strip, self.pages())
        said = "Something new, which no other page has ever said before."
        [out] = self.run(strip, [self.make(f"{MENU}\n\n{said}\n\n{FOOTER}", url=f"{SITE}/new")])
        assert self.text_of(out).strip() == said

    def test_a_cache_can_be_shared(self) -> None:
        cache = SegmentCache()
        self.run(self.strip(cache=cache), self.pages())
        [out] = self.run(self.strip(cache=cache), self.pages(1))
        assert MENU not in self.text_of(out)

    def test_one_pass_learns_as_it_goes(self) -> None:
        out = self.texts(self.run(self.strip(two_pass=False), self.pages()))
        assert MENU in out[0]
        assert MENU not in out[5]

    def test_a_page_that_is_read_again_and_again_is_not_emptied(self) -> None:
        strip = self.strip()
        for _ in range(9):
            assert self.texts(self.run(strip, self.pages(1))) == self.texts(self.pages(1))

    def test_pages_without_a_url_belong_to_no_site(self) -> None:
        pages = [self.make(self.text_of(page)) for page in self.pages()]
        assert self.texts(self.run(self.strip(), pages)) == self.texts(pages)

    def test_pages_without_a_url_may_have_a_group(self) -> None:
        pages = [self.make(self.text_of(page)) for page in self.pages()]
        out = self.run(self.strip(cache=SegmentCache(groups={"": "files"})), pages)
        assert not any(MENU in text for text in self.texts(out))

    def test_no_scope_learns_from_another(self) -> None:
        strip = self.strip(scope_key="tenant")
        self.run(strip, self.pages(tenant="red"))
        [out] = self.run(strip, self.pages(1, tenant="blue"))
        assert MENU in self.text_of(out)
        with pytest.raises(MissingScopeError):
            self.run(strip, self.pages(1))

    def test_many_calls_at_once_on_one_cache(self) -> None:
        strip = self.strip()

        async def strip_all() -> list[list[Any]]:
            return await asyncio.gather(*(self.arun(strip, self.pages()) for _ in range(20)))

        assert {tuple(self.texts(out)) for out in asyncio.run(strip_all())} == {
            tuple(self.texts(self.run(self.strip(), self.pages())))
        }
