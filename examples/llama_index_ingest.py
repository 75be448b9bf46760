"""Ingest a crawl with LlamaIndex: each passage once, and nothing lost when pages change or go.

Runs offline: the pages are those of ``examples/site``, the vector store is LlamaIndex's own in memory,
and the embedding counts words.

    python examples/llama_index_ingest.py
"""

import re
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, Document

from rag_dedup import Deduplicator, Plan, Skipped
from rag_dedup.files import read_files
from rag_dedup.llama_index import CanonicalizeUrls, DropNearDuplicates, StripBoilerplate

SITE = Path(__file__).parent / "site"


class WordCounts(BaseEmbedding):
    """A stand-in for a model; it remembers how many texts it was asked to embed."""

    embedded: int = 0

    def _get_text_embedding(self, text: str) -> list[float]:
        self.embedded += 1
        return self._get_query_embedding(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        counts = [0.0] * 4096
        for word in re.findall(r"\w{5,}", query.lower()):
            counts[crc32(word.encode()) % 4096] += 1
        return counts

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def load(folder: Path) -> list[Document]:
    """Read saved pages, as a reader would."""
    pages = []
    for page in read_files([folder]):
        if isinstance(page, Skipped):
            print(f"skipped   {page.name}: {page.reason}")
        else:
            metadata = {"url": page.source, "title": page.metadata.get("title", "")}
            pages.append(Document(id_=page.id, text=page.text, metadata=metadata))
    return pages


# One engine decides for the whole collection; its index lives as long as the store.
dedup = Deduplicator()
embedding = WordCounts()
index = VectorStoreIndex([], embed_model=embedding)


def delete(plan: Plan) -> None:
    """Take out of the store what a plan removes."""
    index.delete_nodes(list(plan.removed), delete_from_docstore=True)


def report(plan: Plan) -> None:
    """Say what a plan decides, then let the store follow."""
    counts = plan.report
    print(f"decided   {counts.documents} nodes; {counts.dropped} dropped, {counts.unchanged} unchanged")
    delete(plan)


drop = DropNearDuplicates(dedup, on_plan=report)
splitter = SentenceSplitter(chunk_size=200, chunk_overlap=20)
pipeline = IngestionPipeline(transformations=[CanonicalizeUrls(), StripBoilerplate(), splitter, drop])


def write(nodes: Sequence[BaseNode]) -> None:
    """Embed what the store lacks: ids last, so that it knows what it has."""
    before = embedding.embedded
    index.insert_nodes([node for node in nodes if node.node_id not in index.docstore.docs])
    print(f"stored    {len(index.docstore.docs)} nodes; {embedding.embedded - before} were embedded now")


print("--- the first run")
pages = load(SITE)
write(pipeline.run(documents=pages))

print("--- the same again")
write(pipeline.run(documents=pages))

print("--- one page was edited")
[page] = [page for page in pages if page.metadata["url"].endswith("/wiki/raspberry-pi")]
page.set_content(page.text + "\n\nUpdate: it has survived two power cuts and a flood of tomatoes.")
write(pipeline.run(documents=[page]))

print("--- one page is gone: what others say too is promoted")
plan = dedup.forget(source="https://docs.brindle.example/v1.2/security/")
print(f"forgotten {len(plan.removed)} nodes; {len(plan.promoted)} promoted")
write(drop.rebuild(plan.promoted))
delete(plan)
dedup.commit(plan)

print("--- a question, and every place that has the answer")
question = "Why should no life-cycle rule of the storage remove old segments of a backup?"
[hit] = index.as_retriever(similarity_top_k=1).retrieve(question)
print(hit.node.get_content()[:100].replace("\n", " "), "...")
for place in dedup.sources(hit.node_id):
    print(f"  {place.method or 'survivor':9} {place.url}")
