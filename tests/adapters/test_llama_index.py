"""The LlamaIndex adapter, against llama-index-core itself."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionCache, IngestionPipeline
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter, get_leaf_nodes
from llama_index.core.postprocessor import PrevNextNodePostprocessor
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from pydantic import PrivateAttr

from rag_dedup import SAFE, Deduplicator, Plan
from rag_dedup.errors import DuplicateIdError, InputError, WorkerError
from rag_dedup.llama_index import CanonicalizeUrls, DropNearDuplicates, ExtractHtml, StripBoilerplate
from rag_dedup.merge import SOURCES_KEY
from tests.adapters.contract import FOOTER, PASSAGES, SITE, AdapterContract, crawls

PREVIOUS, NEXT = NodeRelationship.PREVIOUS, NodeRelationship.NEXT
PARENT, CHILD = NodeRelationship.PARENT, NodeRelationship.CHILD


class TestContract(AdapterContract):
    def make(self, text: str, **metadata: Any) -> TextNode:
        return TextNode(text=text, metadata=metadata)

    def drop(self, dedup: Deduplicator, **settings: Any) -> DropNearDuplicates:
        return DropNearDuplicates(dedup, **settings)

    def canonicalize(self, **settings: Any) -> CanonicalizeUrls:
        return CanonicalizeUrls(**settings)

    def extract(self, **settings: Any) -> ExtractHtml:
        return ExtractHtml(**settings)

    def strip(self, **settings: Any) -> StripBoilerplate:
        return StripBoilerplate(**settings)

    def run(self, transform: TransformComponent, chunks: Sequence[BaseNode]) -> list[BaseNode]:
        return list(transform(chunks))

    async def arun(self, transform: TransformComponent, chunks: Sequence[BaseNode]) -> list[BaseNode]:
        return list(await transform.acall(chunks))

    def id_of(self, chunk: BaseNode) -> str:
        return chunk.id_

    def text_of(self, chunk: BaseNode) -> str:
        return chunk.get_content(MetadataMode.NONE)

    def snapshot(self, chunk: BaseNode) -> dict[str, Any]:
        return chunk.model_dump()


class CountingEmbedding(BaseEmbedding):
    """Deterministic vectors, and a list of what was embedded."""

    _embedded: list[str] = PrivateAttr(default_factory=list)

    @property
    def embedded(self) -> list[str]:
        return self._embedded

    def _get_text_embedding(self, text: str) -> list[float]:
        self._embedded.append(text)
        return self._get_query_embedding(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return [query.count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class PassageParser(TransformComponent):
    """Split documents into their paragraphs, with links, as node parsers do."""

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        return [node for document in nodes for node in split(document)]


def split(document: BaseNode) -> list[BaseNode]:
    """Return one node for each paragraph, with random ids, linked as node parsers link them."""
    source = document.as_related_node_info()
    parts = document.get_content(MetadataMode.NONE).split("\n\n")
    nodes: list[BaseNode] = [TextNode(text=part, metadata=dict(document.metadata)) for part in parts]
    for node in nodes:
        node.relationships[NodeRelationship.SOURCE] = source  # one object for all, as in LlamaIndex
    for before, after in pairwise(nodes):
        before.relationships[NEXT] = after.as_related_node_info()
        after.relationships[PREVIOUS] = before.as_related_node_info()
    return nodes


def make_page(name: str, *passages: int, **metadata: Any) -> Document:
    text = "\n\n".join(PASSAGES[passage] for passage in passages)
    return Document(text=text, id_=name, metadata={"url": f"{SITE}/{name}", **metadata})


def follow(nodes: Sequence[BaseNode], relation: NodeRelationship = NEXT) -> list[list[str]]:
    """Return the texts along the links, from each node that nothing leads to."""
    by_id = {node.id_: node for node in nodes}
    opposite = PREVIOUS if relation == NEXT else NEXT
    chains = []
    for node in nodes:
        if opposite not in node.relationships:
            chain = [node]
            while (info := chain[-1].relationships.get(relation)) is not None:
                assert isinstance(info, RelatedNodeInfo)
                chain.append(by_id[info.node_id])
            chains.append([link.get_content(MetadataMode.NONE) for link in chain])
    return chains


# --- URLs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["url", "URL", "Source", "link", "source"])
def test_every_key_of_the_readers_is_read(key: str) -> None:
    [out] = CanonicalizeUrls()([Document(text="text", metadata={key: "https://Example.com/a/"})])
    assert out.metadata == {key: "https://Example.com/a/", "canonical_url": "https://example.com/a"}
    node = TextNode(text="text", metadata={key: "https://Example.com/a/"})
    [kept] = DropNearDuplicates(dedup := Deduplicator())([node])
    assert dedup.sources(kept.id_)[0].source == "https://example.com/a/"


def test_i7_i8_what_we_add_is_flat_and_seen_by_no_model() -> None:
    page = make_page("a", 0)
    page.excluded_llm_metadata_keys = ["mine"]
    [out] = CanonicalizeUrls()([page])
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert out.get_content(mode) == page.get_content(mode)
    assert page.excluded_embed_metadata_keys == []
    assert page.excluded_llm_metadata_keys == ["mine"]
    dedup = Deduplicator(on_duplicate="annotate")
    labelled = DropNearDuplicates(dedup)([*split(out), *split(make_page("b", 0))])[1]
    assert "duplicate_of" not in labelled.get_content(MetadataMode.EMBED)
    assert "duplicate_of" not in labelled.get_content(MetadataMode.LLM)
    node_to_metadata_dict(labelled, flat_metadata=True)
    drop = DropNearDuplicates(Deduplicator(on_duplicate="merge"))
    [merged] = drop([*split(out), *split(make_page("b", 0))])
    [rebuilt] = drop(split(make_page("c", 0)))
    for node in (merged, rebuilt):
        assert SOURCES_KEY in node.metadata
        for mode in (MetadataMode.EMBED, MetadataMode.LLM):
            assert "rag_dedup" not in node.get_content(mode)
        node_to_metadata_dict(node, flat_metadata=True)


def test_i7_a_small_chunk_size_has_room_for_what_we_add() -> None:
    page = make_page("a", *range(6), title="x")
    page.metadata["url"] += "/" + "long" * 60
    page.excluded_embed_metadata_keys = page.excluded_llm_metadata_keys = ["url"]
    pipeline = IngestionPipeline(
        transformations=[CanonicalizeUrls(), SentenceSplitter(chunk_size=64, chunk_overlap=0)]
    )
    assert len(pipeline.run(documents=[page])) > 1


# --- ids -----------------------------------------------------------------------------------------


def test_ids_are_kept_when_the_user_says_that_they_last() -> None:
    node = TextNode(text="one", id_="mine")
    assert [n.id_ for n in DropNearDuplicates(Deduplicator(), keep_ids=True)([node])] == ["mine"]
    assert DropNearDuplicates(Deduplicator())([node])[0].id_ != "mine"
    with pytest.raises(DuplicateIdError):
        DropNearDuplicates(Deduplicator(), keep_ids=True)([node, TextNode(text="two", id_="mine")])


def test_documents_keep_their_ids_for_the_docstore_knows_them() -> None:
    out = DropNearDuplicates(Deduplicator())([make_page("a", 0), make_page("b", 0), make_page("c", 1)])
    assert [node.id_ for node in out] == ["a", "c"]


def test_one_id_on_two_texts_is_two_nodes() -> None:
    nodes = [TextNode(text=text, id_="same") for text in PASSAGES[:2]]
    assert len({node.id_ for node in DropNearDuplicates(Deduplicator())(nodes)}) == 2


def test_the_document_is_the_source_of_nodes_without_a_url() -> None:
    dedup = Deduplicator()
    drop = DropNearDuplicates(dedup)
    [node] = drop(split(Document(text=PASSAGES[0], id_="handbook", metadata={"source": "map"})))
    assert dedup.sources(node.id_)[0].source == "handbook"
    assert [n.get_content() for n in drop(split(Document(text=PASSAGES[1], id_="handbook")))] == [PASSAGES[1]]
    assert dedup.plan([]).report.documents == 0
    with pytest.raises(KeyError):
        dedup.sources(node.id_)


# --- links ---------------------------------------------------------------------------------------


def test_i5_previous_and_next_skip_what_was_dropped() -> None:
    drop = DropNearDuplicates(Deduplicator())
    out = drop([*split(make_page("a", 1, 2)), *split(make_page("b", 0, 1, 2, 3, 1, 4, 2))])
    texts = [PASSAGES[n] for n in (0, 3, 4)]
    assert follow(out) == [[PASSAGES[1], PASSAGES[2]], texts]
    assert follow(out, PREVIOUS) == [[PASSAGES[2], PASSAGES[1]], texts[::-1]]


def test_i5_prev_next_postprocessor_works_after_drops() -> None:
    out = DropNearDuplicates(Deduplicator())(
        [*split(make_page("a", 1, 2)), *split(make_page("b", 0, 1, 3, 2))]
    )
    docstore = SimpleDocumentStore()
    docstore.add_documents(out)
    processor = PrevNextNodePostprocessor(docstore=docstore, num_nodes=5, mode="both")
    found = processor.postprocess_nodes([NodeWithScore(node=out[2])])
    assert [node.node.get_content() for node in found] == [PASSAGES[0], PASSAGES[3]]


@given(crawls)
def test_links_lead_to_live_nodes_in_the_order_of_the_page(history: list[dict[str, list[int]]]) -> None:
    store: dict[str, BaseNode] = {}

    def delete(plan: Plan) -> None:
        for id in plan.removed:
            del store[id]

    drop = DropNearDuplicates(Deduplicator(), on_plan=delete)
    for crawl in history:
        pages = [make_page(name, *passages) for name, passages in crawl.items()]
        out = drop([node for page in pages for node in split(page)])
        store.update({node.id_: node for node in out})
        for node in out:
            for relation in (PREVIOUS, NEXT):
                info = node.relationships.get(relation)
                if info is not None:
                    assert isinstance(info, RelatedNodeInfo)
                    assert store[info.node_id].ref_doc_id == node.ref_doc_id
        for name in crawl:
            of_page = [node for node in out if node.ref_doc_id == name]
            # What was promoted before its page came again is among them, in its place.
            assert [PASSAGES.index(text) for chain in follow(of_page) for text in chain] == [
                PASSAGES.index(node.get_content()) for node in of_page
            ]


def test_a_circle_of_links_ends() -> None:
    nodes = split(make_page("a", 0, 0, 0))
    nodes[2].relationships[NEXT] = nodes[1].as_related_node_info()
    [out] = DropNearDuplicates(Deduplicator())(nodes)
    assert NEXT not in out.relationships


def test_many_parents_take_no_quadratic_time() -> None:
    nodes = [TextNode(text=f"a{n} b{n} c{n}", id_=f"{n}") for n in range(3000)]
    for outer, inner in pairwise(nodes):
        inner.relationships[PARENT] = RelatedNodeInfo(node_id=outer.id_)
        inner.relationships[NEXT] = RelatedNodeInfo(node_id=outer.id_)
    assert len(DropNearDuplicates(Deduplicator())(nodes)) == len(nodes)


def test_i10_shared_links_of_siblings_are_not_shared_in_the_copies() -> None:
    nodes = split(make_page("a", 0, 1))
    assert nodes[0].relationships[NodeRelationship.SOURCE] is nodes[1].relationships[NodeRelationship.SOURCE]
    out = DropNearDuplicates(Deduplicator())(nodes)
    assert out[0].relationships[NodeRelationship.SOURCE] is not out[1].relationships[NodeRelationship.SOURCE]


def hierarchy(*documents: Document) -> list[BaseNode]:
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[128, 48], chunk_overlap=8)
    return parser.get_nodes_from_documents(documents)


def test_i5b_parents_and_children_are_no_duplicates_of_one_another() -> None:
    nodes = hierarchy(Document(text=PASSAGES[0], id_="a"))  # parent and child say the same
    out = DropNearDuplicates(Deduplicator())(nodes)
    assert len(out) == 2
    assert out[0].id_ != out[1].id_
    assert [child.node_id for child in out[0].child_nodes or []] == [out[1].id_]
    assert out[1].parent_node is not None
    assert out[1].parent_node.node_id == out[0].id_


def test_i5b_auto_merging_works_after_drops() -> None:
    first = Document(text=" ".join(PASSAGES * 2), id_="a")
    second = Document(text=" ".join(PASSAGES[3:] + PASSAGES[:3]) + " And this is new.", id_="b")
    out = DropNearDuplicates(Deduplicator())(hierarchy(first, second))
    ids = {node.id_ for node in out}
    for node in out:
        assert node.parent_node is None or node.parent_node.node_id in ids
        assert {child.node_id for child in node.child_nodes or []} <= ids
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents(out)
    index = VectorStoreIndex(get_leaf_nodes(out), storage_context=storage, embed_model=CountingEmbedding())
    retriever = AutoMergingRetriever(index.as_retriever(similarity_top_k=6), storage)
    found = retriever.retrieve(PASSAGES[4])
    assert any(PASSAGES[4] in node.get_content() for node in found)


def test_duplicates_inside_one_hierarchy_are_still_found() -> None:
    text = " ".join(PASSAGES)
    nodes = hierarchy(Document(text=f"{text}\n\n\n{text}", id_="a"))
    children = [node for node in nodes if node.parent_node is not None]
    out = DropNearDuplicates(Deduplicator())(nodes)
    assert len([node for node in out if node.parent_node is not None]) < len(children)


# --- promotion -----------------------------------------------------------------------------------


def test_a_promoted_node_is_under_its_own_document() -> None:
    embedding = CountingEmbedding()
    drop = DropNearDuplicates(Deduplicator())
    nodes = [*split(make_page("a", 0)), *split(make_page("b", 0, 1, when="2026", tags="x"))]
    nodes[1].excluded_embed_metadata_keys = ["when"]
    for node in nodes:
        node.embedding = [1.0]
    drop(nodes)
    promoted = drop(split(make_page("a", 2)))[-1]
    assert promoted.ref_doc_id == "b"
    assert promoted.embedding is None
    assert promoted.metadata == {"url": f"{SITE}/b", "when": "2026", "tags": "x"}
    assert promoted.excluded_embed_metadata_keys == ["when"]
    store = SimpleVectorStore()
    store.add(embedding([promoted]))
    store.delete("b")
    assert store.data.embedding_dict == {}


def test_a_promoted_node_links_to_what_is_live() -> None:
    drop = DropNearDuplicates(Deduplicator())
    first = drop([*split(make_page("a", 1, 2)), *split(make_page("b", 0, 1, 2, 3))])
    promoted = drop(split(make_page("a", 4)))[1:]
    assert [node.get_content() for node in promoted] == [PASSAGES[1], PASSAGES[2]]
    assert [node.prev_node and node.prev_node.node_id for node in promoted] == [
        first[2].id_,
        promoted[0].id_,
    ]
    assert [node.next_node and node.next_node.node_id for node in promoted] == [
        promoted[1].id_,
        first[3].id_,
    ]


def test_a_whole_page_is_promoted_with_all_it_has() -> None:
    drop = DropNearDuplicates(Deduplicator())
    pages = [make_page("a", 0), make_page("b", 0, when=date(2026, 1, 1), tags=["x"])]
    drop(pages)
    promoted = drop([make_page("a", 1)])[-1]
    assert isinstance(promoted, Document)
    assert promoted.model_dump() == pages[1].model_dump()


def test_what_cannot_be_written_is_named() -> None:
    circle: dict[str, Any] = {}
    circle["itself"] = circle
    node = TextNode(text="text", id_="strange")
    node.relationships[NEXT] = RelatedNodeInfo(node_id="other", metadata=circle)
    with pytest.raises(InputError, match="cannot be written as JSON"):
        DropNearDuplicates(Deduplicator())([node])


# --- more than text ------------------------------------------------------------------------------


def test_what_is_more_than_text_passes_through() -> None:
    nodes = [
        ImageNode(text="A diagram", image_url="https://example.com/1.png"),
        ImageNode(text="A diagram", image_url="https://example.com/2.png"),
        Node(text_resource=MediaResource(text="A diagram"), image_resource=MediaResource(data=b"1")),
        Node(text_resource=MediaResource(text="A diagram")),
        TextNode(text="A diagram"),
    ]
    out = DropNearDuplicates(Deduplicator())(nodes)
    assert [type(node) for node in out] == [ImageNode, ImageNode, Node, Node]
    assert [node.id_ for node in out[:3]] == [node.id_ for node in nodes[:3]]


def test_references_lead_to_the_survivor() -> None:
    engine = object()
    first, second = TextNode(text=PASSAGES[0]), TextNode(text=PASSAGES[0])
    references = [
        IndexNode(text="a part", index_id=first.id_),
        IndexNode(text="a part", index_id=second.id_, obj=engine),
        IndexNode(text="a part", index_id="elsewhere"),
    ]
    out = DropNearDuplicates(Deduplicator())([first, second, *references])
    targets = [node.index_id for node in out if isinstance(node, IndexNode)]
    assert targets == [out[0].id_, out[0].id_, "elsewhere"]
    assert [node.obj for node in out if isinstance(node, IndexNode)] == [None, engine, None]


def make_site(kind: type[Document] | type[TextNode] = Document) -> list[BaseNode]:
    """Return pages with a footer."""
    return [
        kind(text=f"{said}\n\n{FOOTER}", id_=name, metadata={"url": f"{SITE}/{name}"})
        for name, said in zip("abcdef", PASSAGES, strict=True)
    ]


@pytest.mark.parametrize("kind", [Document, TextNode])
def test_i11_a_stripped_text_has_no_stale_embedding(kind: type[Document] | type[TextNode]) -> None:
    pages = make_site(kind)
    for page in pages:
        page.embedding = [1.0]
    out = StripBoilerplate()(pages)
    assert [node.get_content().strip() for node in out] == PASSAGES
    assert {str(node.embedding) for node in out} == {"None"}
    assert all(FOOTER in page.get_content() and page.embedding == [1.0] for page in pages)


# --- pipelines -----------------------------------------------------------------------------------


class Site:
    """A pipeline with a docstore and a vector store, and a caller that deletes what plans remove."""

    def __init__(self, strategy: DocstoreStrategy = DocstoreStrategy.UPSERTS, **settings: Any) -> None:
        self.dedup = Deduplicator()
        self.embedding = CountingEmbedding()
        self.store = SimpleVectorStore()
        self.texts: dict[str, str] = {}
        self.pipeline = IngestionPipeline(
            transformations=[
                CanonicalizeUrls(),
                PassageParser(),
                DropNearDuplicates(self.dedup, on_plan=self.delete),
                self.embedding,
            ],
            docstore=SimpleDocumentStore(),
            docstore_strategy=strategy,
            vector_store=self.store,
            **settings,
        )

    def delete(self, plan: Plan) -> None:
        self.store.delete_nodes(list(plan.removed))

    def ingest(self, *pages: Document) -> Sequence[BaseNode]:
        nodes = self.pipeline.run(documents=list(pages))
        self.texts.update({node.id_: node.get_content() for node in nodes})
        return nodes

    @property
    def held(self) -> list[tuple[str, int]]:
        """What the store holds, as (document, passage)."""
        return sorted(
            (document, PASSAGES.index(self.texts[id]))
            for id, document in self.store.data.text_id_to_ref_doc_id.items()
        )


every_strategy = pytest.mark.parametrize(
    "strategy", [DocstoreStrategy.UPSERTS, DocstoreStrategy.DUPLICATES_ONLY]
)


@every_strategy
def test_i4_a_rerun_embeds_nothing_and_adds_nothing(strategy: DocstoreStrategy) -> None:
    site = Site(strategy)
    for _ in range(3):
        site.ingest(make_page("a", 0, 1), make_page("b", 1, 2))
    assert len(site.embedding.embedded) == 3
    assert site.held == [("a", 0), ("a", 1), ("b", 2)]


@every_strategy
@pytest.mark.parametrize("disable_cache", [False, True])
def test_i6b_an_edited_page_keeps_its_other_chunks(strategy: DocstoreStrategy, disable_cache: bool) -> None:
    site = Site(strategy, disable_cache=disable_cache)
    site.ingest(make_page("a", 0, 1), make_page("b", 1, 2))
    site.ingest(make_page("a", 0, 1, 3), make_page("b", 1, 2))
    assert site.held == [("a", 0), ("a", 1), ("a", 3), ("b", 2)]
    site.ingest(make_page("a", 0), make_page("b", 1, 2))
    assert site.held == [("a", 0), ("b", 1), ("b", 2)]
    site.ingest(make_page("a", 4), make_page("b", 2))
    assert site.held == [("a", 4), ("b", 2)]


@every_strategy
@given(history=crawls)
def test_the_store_holds_what_the_pages_say(
    strategy: DocstoreStrategy, history: list[dict[str, list[int]]]
) -> None:
    site = Site(strategy)
    pages: dict[str, list[int]] = {}
    for day, crawl in enumerate(history):
        pages.update(crawl)
        # The day is in the metadata, so that no two versions have one hash: that is up to the docstore.
        site.ingest(*(make_page(name, *passages, day=day) for name, passages in crawl.items()))
        assert sorted(passage for _, passage in site.held) == sorted(
            {passage for passages in pages.values() for passage in passages}
        )
        assert all(passage in pages[page] for page, passage in site.held)


def test_i6_a_deleted_page_is_forgotten() -> None:
    site = Site(DocstoreStrategy.UPSERTS_AND_DELETE)
    site.ingest(make_page("a", 0, 1), make_page("b", 1, 2))
    site.ingest(make_page("b", 1, 2))
    assert site.held == [("b", 2)]  # the pipeline has deleted without asking
    plan = site.dedup.forget(source=f"{SITE}/a")
    drop = site.pipeline.transformations[2]
    assert isinstance(drop, DropNearDuplicates)
    nodes = drop.rebuild(plan.promoted)
    site.texts.update({node.id_: node.get_content() for node in nodes})
    site.store.add(site.embedding(nodes))
    site.dedup.commit(plan)
    assert site.held == [("b", 1), ("b", 2)]


def test_i9_pre_split_nodes_are_not_doubled() -> None:
    site = Site()
    for _ in range(2):
        site.pipeline.run(nodes=split(make_page("a", 0, 1)))
    assert len(site.store.data.embedding_dict) == 2


def test_i2_the_cache_does_not_hide_a_changed_index() -> None:
    cache = IngestionCache()

    def run(dedup: Deduplicator, *pages: Document) -> list[str]:
        steps = [PassageParser(), DropNearDuplicates(dedup)]
        nodes = IngestionPipeline(transformations=steps, cache=cache).run(documents=list(pages))
        return [node.get_content() for node in nodes]

    first, second = Deduplicator(), Deduplicator()
    both = make_page("a", 0), make_page("b", 0, 1)
    assert run(first, *both) == [PASSAGES[0], PASSAGES[1]]
    assert run(second, *both) == [PASSAGES[0], PASSAGES[1]]
    assert second.generation == 1  # it was asked, though the cache knew the nodes
    assert run(second, make_page("c", 0)) == []
    assert run(second, make_page("a", 2)) == [PASSAGES[2], PASSAGES[0]]
    assert run(first, make_page("c", 0)) == []


def test_i2_the_cache_does_not_hide_what_was_learnt() -> None:
    strip = StripBoilerplate()
    pipeline = IngestionPipeline(transformations=[strip])
    [first, *others] = make_site()
    assert FOOTER in pipeline.run(nodes=[first])[0].get_content()
    pipeline.run(nodes=others)
    assert pipeline.run(nodes=[first])[0].get_content().strip() == PASSAGES[0]
    # A transform that has learnt nothing must not be spared the learning.
    fresh = StripBoilerplate()
    IngestionPipeline(transformations=[fresh], cache=pipeline.cache).run(nodes=others)
    assert len(fresh.cache) > 0


def test_i2_an_unchanged_index_is_a_hit() -> None:
    plans: list[Plan] = []
    drop = DropNearDuplicates(Deduplicator(), on_plan=plans.append)
    pipeline = IngestionPipeline(transformations=[drop])
    nodes = split(make_page("a", 0, 0, 1))
    out = [pipeline.run(nodes=list(nodes)) for _ in range(4)]
    assert len({tuple(node.id_ for node in run) for run in out}) == 1
    assert len(plans) == 2


def test_i2b_transforms_are_told_apart() -> None:
    dedup = Deduplicator()
    transforms = [
        CanonicalizeUrls(),
        CanonicalizeUrls(policy=SAFE),
        CanonicalizeUrls(url_keys=("link",)),
        StripBoilerplate(),
        StripBoilerplate(two_pass=False),
        DropNearDuplicates(dedup),
        DropNearDuplicates(dedup, complete=False),
        DropNearDuplicates(dedup, keep_ids=True),
        DropNearDuplicates(Deduplicator()),
    ]
    assert len({str(transform.to_dict()) for transform in transforms}) == len(transforms)
    assert len({transform.class_name() for transform in transforms}) == 3
    assert str(transforms[0].to_dict()) == str(CanonicalizeUrls().to_dict())
    assert str(transforms[5].to_dict()) == str(DropNearDuplicates(dedup).to_dict())


def test_to_dict_is_the_same_in_every_process() -> None:
    code = "from rag_dedup.llama_index import CanonicalizeUrls; print(CanonicalizeUrls().to_dict())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in "12"
    }
    assert len(seen) == 1


def test_i2c_the_index_is_not_in_the_cache_key() -> None:
    drop = DropNearDuplicates(Deduplicator())
    drop(split(make_page("a", *range(6))))
    assert len(str(drop.to_dict())) < 500


@every_strategy
def test_i4_stripping_leaves_the_hashes_of_the_docstore(strategy: DocstoreStrategy) -> None:
    store, embedding = SimpleVectorStore(), CountingEmbedding()
    pipeline = IngestionPipeline(
        transformations=[StripBoilerplate(), SentenceSplitter(), embedding],
        docstore=SimpleDocumentStore(),
        docstore_strategy=strategy,
        vector_store=store,
    )
    for _ in range(3):
        pipeline.run(nodes=make_site())
    assert len(embedding.embedded) == len(store.data.embedding_dict) == 6


def test_a_pipeline_can_be_awaited() -> None:
    pages = [make_page("a", 0, 1), make_page("b", 1, 2)]
    steps = [CanonicalizeUrls(), StripBoilerplate(), PassageParser(), DropNearDuplicates(Deduplicator())]
    out = asyncio.run(IngestionPipeline(transformations=steps).arun(documents=pages))
    assert [node.get_content() for node in out] == PASSAGES[:3]


def test_i16_an_index_made_from_documents() -> None:
    embedding = CountingEmbedding()
    VectorStoreIndex.from_documents(
        [make_page("a", 0, 1), make_page("b", 1, 2)],
        transformations=[PassageParser(), DropNearDuplicates(Deduplicator())],
        embed_model=embedding,
    )
    assert len(embedding.embedded) == 3


# --- copies and processes ------------------------------------------------------------------------


def test_copies_share_the_engine() -> None:
    plans: list[Plan] = []
    drop = DropNearDuplicates(Deduplicator(), complete=False, on_plan=plans.append)
    for twin in (copy.copy(drop), copy.deepcopy(drop), drop.model_copy(), drop.model_copy(deep=True)):
        assert isinstance(twin, DropNearDuplicates)
        assert twin.dedup is drop.dedup
        assert twin.complete is False
        twin(split(make_page("a", 0)))
    assert len(plans) == 4


def test_copies_share_the_cache() -> None:
    strip = StripBoilerplate(two_pass=False)
    for twin in (copy.copy(strip), copy.deepcopy(strip), strip.model_copy(deep=True)):
        assert twin.cache is strip.cache
        assert twin.two_pass is False


def test_unknown_settings_are_refused() -> None:
    for make in (CanonicalizeUrls, StripBoilerplate, lambda **s: DropNearDuplicates(Deduplicator(), **s)):
        with pytest.raises(ValueError, match="complet"):
            make(complet=False)


def test_transforms_can_be_read_back() -> None:
    canonicalize = CanonicalizeUrls(policy=SAFE, url_keys=("link",))
    assert CanonicalizeUrls.from_dict(canonicalize.to_dict()) == canonicalize
    drop = DropNearDuplicates(Deduplicator(), complete=False)
    twin = DropNearDuplicates.from_dict(drop.to_dict(), dedup=drop.dedup)
    assert twin.complete is False


def test_i1_pickling_a_cache_says_what_to_do() -> None:
    strip = StripBoilerplate()
    with pytest.raises(WorkerError, match=r"cache would stay behind.* num_workers=None"):
        pickle.dumps(strip)
    assert len(strip.cache) == 0  # it is still there


def test_i1_pickling_an_index_in_memory_says_what_to_do() -> None:
    with pytest.raises(WorkerError, match="num_workers=None"):
        pickle.dumps(DropNearDuplicates(Deduplicator()))


def test_i1_the_stateless_transform_can_be_pickled() -> None:
    twin = pickle.loads(pickle.dumps(CanonicalizeUrls(policy=SAFE)))
    assert twin([make_page("a", 0)])[0].metadata["canonical_url"] == f"{SITE}/a"
    assert twin.policy == SAFE


@pytest.mark.parametrize("asynchronous", [False, True])
def test_i3_workers_are_refused(asynchronous: bool) -> None:
    pipeline = IngestionPipeline(transformations=[DropNearDuplicates(Deduplicator())])
    nodes = [node for name in "abcd" for node in split(make_page(name, 0))]

    def run() -> Sequence[BaseNode]:
        if asynchronous:
            return asyncio.run(pipeline.arun(nodes=nodes, num_workers=2))
        return pipeline.run(nodes=nodes, num_workers=2)

    with pytest.raises(WorkerError, match="num_workers=None"):
        run()


def test_i3_workers_share_an_index_in_a_database(tmp_path: Path) -> None:
    dedup = Deduplicator(f"sqlite:///{tmp_path / 'index.db'}")
    drop = DropNearDuplicates(dedup, complete=False)
    pipeline = IngestionPipeline(transformations=[CanonicalizeUrls(), drop], disable_cache=True)
    nodes = [make_page(f"{name}{copy}", i) for copy in range(6) for i, name in enumerate("abcd")]
    out = pipeline.run(nodes=nodes, num_workers=2)
    assert len({node.get_content() for node in nodes}) == len(out)
    assert {node.get_content() for node in nodes} == {node.get_content() for node in out}


# --- the extra -----------------------------------------------------------------------------------


def test_without_llama_index_the_pip_command_is_named() -> None:
    code = (
        "import sys; sys.modules['llama_index'] = None; sys.modules['llama_index.core'] = None\n"
        "from rag_dedup.errors import MissingExtraError\n"
        "try: import rag_dedup.llama_index\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "llama-index-core is not installed: pip install 'rag-dedup[llama-index]'\n"
