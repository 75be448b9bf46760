"""The LangChain adapter, against langchain-core itself."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal

import pytest
from hypothesis import given
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from rag_dedup import Deduplicator, Plan
from rag_dedup.errors import DuplicateIdError
from rag_dedup.langchain import CanonicalizeUrls, DropNearDuplicates, ExtractHtml, StripBoilerplate
from tests.adapters.contract import PASSAGES, SITE, AdapterContract, crawls

Cleanup = Literal["incremental", "full", "scoped_full"]


class TestContract(AdapterContract):
    def make(self, text: str, **metadata: Any) -> Document:
        return Document(text, metadata=metadata)

    def drop(self, dedup: Deduplicator, **settings: Any) -> DropNearDuplicates:
        return DropNearDuplicates(dedup, **settings)

    def canonicalize(self, **settings: Any) -> CanonicalizeUrls:
        return CanonicalizeUrls(**settings)

    def extract(self, **settings: Any) -> ExtractHtml:
        return ExtractHtml(**settings)

    def strip(self, **settings: Any) -> StripBoilerplate:
        return StripBoilerplate(**settings)

    def run(self, transform: BaseDocumentTransformer, chunks: Sequence[Document]) -> list[Document]:
        return list(transform.transform_documents(chunks))

    async def arun(self, transform: BaseDocumentTransformer, chunks: Sequence[Document]) -> list[Document]:
        return list(await transform.atransform_documents(chunks))

    def id_of(self, chunk: Document) -> str | None:
        return chunk.id

    def text_of(self, chunk: Document) -> str:
        return chunk.page_content

    def snapshot(self, chunk: Document) -> dict[str, Any]:
        return chunk.model_dump()


# --- URLs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["source", "loc", "url", "sourceURL", "source_url", "ogUrl"])
def test_every_key_of_the_loaders_is_read(key: str) -> None:
    page = Document("text", metadata={key: "https://Example.com/a/"})
    [out] = CanonicalizeUrls().transform_documents([page])
    assert out.metadata == {key: "https://Example.com/a/", "canonical_url": "https://example.com/a"}
    [kept] = DropNearDuplicates(dedup := Deduplicator()).transform_documents([page])
    assert dedup.sources(kept.id or "")[0].source == "https://example.com/a/"


def test_the_keys_can_be_chosen() -> None:
    page = Document("text", metadata={"source": "https://a.example/", "page_url": "https://b.example/p"})
    [out] = CanonicalizeUrls(["page_url"]).transform_documents([page])
    assert out.metadata["canonical_url"] == "https://b.example/p"


# --- ids and places ------------------------------------------------------------------------------


def test_a_document_keeps_its_own_id() -> None:
    drop = DropNearDuplicates(Deduplicator())
    pages = [Document(PASSAGES[0], id="mine", metadata={"source": f"{SITE}/a"})]
    assert [document.id for document in drop.transform_documents(pages)] == ["mine"]
    with pytest.raises(DuplicateIdError):
        drop.transform_documents([Document("one", id="x"), Document("another", id="x")])


def test_a_revised_document_with_its_own_id_is_replaced() -> None:
    plans: list[Plan] = []
    drop = DropNearDuplicates(Deduplicator(), on_plan=plans.append)
    for text in PASSAGES[:2]:
        drop.transform_documents([Document(text, id="mine", metadata={"source": f"{SITE}/a"})])
    assert [decision.action for decision in plans[-1].decisions] == ["revise"]
    assert plans[-1].removed == ()


def test_rows_and_pages_of_one_file_are_not_confused() -> None:
    rows = [Document("total: 0", metadata={"source": "sums.csv", "row": n}) for n in range(3)]
    drop = DropNearDuplicates(Deduplicator(on_duplicate="annotate"))
    before = [row.id for row in drop.transform_documents(rows)]
    assert len(set(before)) == 3
    # The first row is gone: the others are still the same rows.
    assert [row.id for row in drop.transform_documents(rows[1:])] == before[1:]


def test_overlapping_neighbours_are_no_duplicates_but_pages_of_a_pdf_can_be() -> None:
    text = " ".join(PASSAGES)
    splitter = RecursiveCharacterTextSplitter(chunk_size=100, chunk_overlap=95, add_start_index=True)
    chunks = splitter.split_documents([Document(text, metadata={"source": "a.pdf", "page": 0})])
    assert len(chunks) > 20
    assert len(DropNearDuplicates(Deduplicator(guards=())).transform_documents(chunks)) == len(chunks)
    again = splitter.split_documents(
        [Document(text, metadata={"source": "a.pdf", "page": page}) for page in range(3)]
    )
    assert len(DropNearDuplicates(Deduplicator(guards=())).transform_documents(again)) == len(chunks)


def test_a_page_that_was_loaded_twice() -> None:
    splitter = RecursiveCharacterTextSplitter(chunk_size=70, chunk_overlap=0, add_start_index=True)
    first = Document("Read on Monday.\n\n" + "\n\n".join(PASSAGES), metadata={"source": f"{SITE}/a"})
    second = Document("Read Tuesday.\n\n" + "\n\n".join(PASSAGES), metadata={"source": f"{SITE}/a"})
    chunks = splitter.split_documents([first, second])
    out = DropNearDuplicates(Deduplicator()).transform_documents(chunks)
    assert [chunk.page_content for chunk in out] == ["Read on Monday.", *PASSAGES, "Read Tuesday."]


# --- index() -------------------------------------------------------------------------------------


class CountingEmbeddings(Embeddings):
    """Deterministic vectors, and a list of what was embedded."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [byte + 1.0 for byte in hashlib.sha256(text.encode()).digest()[:8]]


class Collection:
    """A vector store behind ``index()``, with the transform in front of it."""

    def __init__(self, cleanup: Cleanup = "incremental", *, by_id: bool = True) -> None:
        self.embeddings = CountingEmbeddings()
        self.store = InMemoryVectorStore(self.embeddings)
        self.records = InMemoryRecordManager("test")
        self.dedup = Deduplicator()
        self.drop = DropNearDuplicates(self.dedup, on_plan=self.delete if by_id else None)
        self.cleanup = cleanup
        self.key_encoder: Any = attrgetter("id") if by_id else "sha256"

    def delete(self, plan: Plan) -> None:
        if plan.removed:
            self.store.delete(list(plan.removed))
            self.records.delete_keys(list(plan.removed))

    def write(self, documents: Iterable[Document]) -> dict[str, int]:
        return dict(
            index(
                documents,
                self.records,
                self.store,
                cleanup=self.cleanup,
                source_id_key=self.drop.group_id,
                key_encoder=self.key_encoder,
            )
        )

    def ingest(self, **pages: Sequence[int]) -> dict[str, int]:
        chunks = [
            Document(PASSAGES[passage], metadata={"source": f"{SITE}/{name}"})
            for name, passages in pages.items()
            for passage in passages
        ]
        return self.write(self.drop.transform_documents(chunks))

    @property
    def held(self) -> list[tuple[str, int]]:
        """What the store holds, as (page, passage)."""
        return sorted(
            (entry["metadata"]["source"].rpartition("/")[2], PASSAGES.index(entry["text"]))
            for entry in self.store.store.values()
        )


by_id_or_not = pytest.mark.parametrize("by_id", [True, False], ids=["id keys", "default keys"])
every_cleanup = pytest.mark.parametrize("cleanup", ["incremental", "full", "scoped_full"])


@by_id_or_not
@every_cleanup
def test_l1_a_rerun_keeps_everything_and_embeds_nothing(cleanup: Cleanup, by_id: bool) -> None:
    collection = Collection(cleanup, by_id=by_id)
    collection.ingest(a=[0, 1], b=[1, 2])
    collection.embeddings.embedded.clear()
    counts = collection.ingest(a=[0, 1], b=[1, 2])
    assert counts == {"num_added": 0, "num_updated": 0, "num_skipped": 3, "num_deleted": 0}
    assert collection.embeddings.embedded == []
    assert collection.held == [("a", 0), ("a", 1), ("b", 2)]


@by_id_or_not
@every_cleanup
def test_l1_an_edit_costs_one_embedding(cleanup: Cleanup, by_id: bool) -> None:
    collection = Collection(cleanup, by_id=by_id)
    collection.ingest(a=[0, 1], b=[1, 2])
    collection.embeddings.embedded.clear()
    collection.ingest(a=[5, 0, 1], b=[1, 2])
    assert collection.embeddings.embedded == [PASSAGES[5]]
    collection.ingest(a=[0, 1], b=[1, 2])
    assert collection.held == [("a", 0), ("a", 1), ("b", 2)]


@by_id_or_not
@pytest.mark.parametrize("cleanup", ["incremental", "scoped_full"])
def test_l2_e1_a_promotion_brings_the_text_back_and_takes_nothing_away(cleanup: Cleanup, by_id: bool) -> None:
    collection = Collection(cleanup, by_id=by_id)
    collection.ingest(a=[0, 1], b=[1, 2, 3])
    assert collection.held == [("a", 0), ("a", 1), ("b", 2), ("b", 3)]
    collection.ingest(a=[0])  # only this page was crawled
    assert collection.held == [("a", 0), ("b", 1), ("b", 2), ("b", 3)]
    # When its page comes again, the promoted chunk joins the group of the page ...
    collection.embeddings.embedded.clear()
    collection.ingest(b=[1, 2, 3])
    assert collection.embeddings.embedded == []
    assert collection.held == [("a", 0), ("b", 1), ("b", 2), ("b", 3)]
    groups = {record["group_id"] for record in collection.records.records.values()}
    assert groups == {f"{SITE}/a", f"{SITE}/b"}
    # ... and leaves with it.
    collection.ingest(b=[2, 3])
    assert collection.held == [("a", 0), ("b", 2), ("b", 3)]


def test_a_promoted_chunk_that_its_page_no_longer_has() -> None:
    collection = Collection()
    collection.ingest(a=[0, 1], b=[1, 2])
    collection.ingest(a=[0])
    collection.ingest(b=[2])
    assert collection.held == [("a", 0), ("b", 2)]


def test_l8_a_page_that_says_nothing_of_its_own_any_more() -> None:
    collection = Collection("scoped_full")
    collection.ingest(a=[0], b=[1])
    collection.ingest(b=[0])
    assert collection.held == [("a", 0)]


def test_a_page_that_is_gone() -> None:
    collection = Collection()
    collection.ingest(a=[0, 1], b=[1, 2])
    plan = collection.dedup.forget(source=f"{SITE}/a")
    collection.write(collection.drop.rebuild(plan.promoted))
    collection.delete(plan)
    collection.dedup.commit(plan)
    assert collection.held == [("b", 1), ("b", 2)]


def test_groups_are_sources_in_their_scope() -> None:
    drop = DropNearDuplicates(Deduplicator(scope_key="tenant"))
    groups = [
        drop.group_id(Document(PASSAGES[0], metadata={"source": source, "tenant": tenant}))
        for source in (f"{SITE}/a?utm_source=x", f"{SITE}/a", f"{SITE}/b")
        for tenant in ("red", "blue")
    ]
    assert groups[:2] == groups[2:4]
    assert len(set(groups)) == 4


def test_chunks_without_a_source_are_not_one_group() -> None:
    drop = DropNearDuplicates(Deduplicator())
    assert drop.group_id(Document(PASSAGES[0])) != drop.group_id(Document(PASSAGES[1]))


@pytest.mark.parametrize("cleanup", ["incremental", "scoped_full"])
@given(history=crawls)
def test_index_holds_what_the_pages_say(cleanup: Cleanup, history: list[dict[str, list[int]]]) -> None:
    collection = Collection(cleanup)
    pages: dict[str, list[int]] = {}
    for crawl in history:
        pages.update(crawl)
        collection.ingest(**crawl)
        assert sorted(passage for _, passage in collection.held) == sorted(
            {passage for said in pages.values() for passage in said}
        )
        assert all(passage in pages[page] for page, passage in collection.held)


@pytest.mark.parametrize("cleanup", ["incremental", "scoped_full"])
@given(history=crawls)
def test_index_loses_nothing_even_with_its_default_keys(
    cleanup: Cleanup, history: list[dict[str, list[int]]]
) -> None:
    collection = Collection(cleanup, by_id=False)
    pages: dict[str, list[int]] = {}
    for crawl in history:
        pages.update(crawl)
        collection.ingest(**crawl)
        assert {passage for _, passage in collection.held} >= {
            passage for said in pages.values() for passage in said
        }


# --- the extra -----------------------------------------------------------------------------------


def test_without_langchain_the_pip_command_is_named() -> None:
    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "from rag_dedup.errors import MissingExtraError\n"
        "try: import rag_dedup.langchain\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "langchain-core is not installed: pip install 'rag-dedup[langchain]'\n"
