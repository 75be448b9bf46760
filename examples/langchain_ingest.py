"""Ingest a crawl with LangChain: each passage once, and nothing lost when pages change or go.

Runs offline: the pages are those of ``examples/site``, the vector store is LangChain's own in memory,
and the embedding counts words.

    python examples/langchain_ingest.py
"""

import re
from operator import attrgetter
from pathlib import Path
from zlib import crc32

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from rag_dedup import Deduplicator, Plan, Skipped
from rag_dedup.files import read_files
from rag_dedup.langchain import CanonicalizeUrls, DropNearDuplicates, StripBoilerplate

SITE = Path(__file__).parent / "site"


class WordCounts(Embeddings):
    """A stand-in for a model; it remembers how many texts it was asked to embed."""

    embedded = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += len(texts)
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        counts = [0.0] * 4096
        for word in re.findall(r"\w{5,}", text.lower()):
            counts[crc32(word.encode()) % 4096] += 1
        return counts


def load(folder: Path) -> list[Document]:
    """Read saved pages, as a loader would."""
    pages = []
    for page in read_files([folder]):
        if isinstance(page, Skipped):
            print(f"skipped   {page.name}: {page.reason}")
        else:
            title = page.metadata.get("title", "")
            pages.append(Document(page.text, metadata={"source": page.source, "title": title}))
    return pages


# One engine decides for the whole collection; its index lives as long as the store.
dedup = Deduplicator()
embedding = WordCounts()
store = InMemoryVectorStore(embedding)
records = InMemoryRecordManager("brindle")


def delete(plan: Plan) -> None:
    """Take out of the store what a plan removes."""
    store.delete(list(plan.removed))
    records.delete_keys(list(plan.removed))


canonicalize, strip = CanonicalizeUrls(), StripBoilerplate()
splitter = RecursiveCharacterTextSplitter(chunk_size=800, chunk_overlap=80, add_start_index=True)
drop = DropNearDuplicates(dedup, on_plan=delete)


def write(chunks: list[Document]) -> None:
    """Hand chunks to LangChain's ``index()``, which embeds those that the store lacks."""
    before = embedding.embedded
    by_id = attrgetter("id")
    index(chunks, records, store, cleanup="scoped_full", source_id_key=drop.group_id, key_encoder=by_id)
    print(f"stored    {len(store.store)} chunks; {embedding.embedded - before} were embedded now")


def ingest(pages: list[Document]) -> None:
    """Canonicalise, strip, split, drop, write."""
    stripped = strip.transform_documents(canonicalize.transform_documents(pages))
    chunks = splitter.split_documents(stripped)
    kept = drop.transform_documents(chunks)
    cut = count_characters(pages) - count_characters(stripped)
    print(f"ingested  {len(pages)} pages; {cut} characters of boilerplate cut; ", end="")
    print(f"{len(chunks)} chunks, {len(chunks) - len(kept)} of them dropped")
    write(kept)


def count_characters(pages: list[Document]) -> int:
    return sum(len(page.page_content) for page in pages)


print("--- the first run")
pages = load(SITE)
ingest(pages)

print("--- the same again")
ingest(pages)

print("--- one page was edited")
[page] = [page for page in pages if page.metadata["source"].endswith("/wiki/raspberry-pi")]
page.page_content += "\n\nUpdate: it has survived two power cuts and a flood of tomatoes."
ingest([page])

print("--- one page is gone: what others say too is promoted")
plan = dedup.forget(source="https://docs.brindle.example/v1.2/security/")
print(f"forgotten {len(plan.removed)} chunks; {len(plan.promoted)} promoted")
write(drop.rebuild(plan.promoted))
delete(plan)
dedup.commit(plan)

print("--- a question, and every place that has the answer")
[hit] = store.similarity_search(
    "Why should no life-cycle rule of the storage remove old segments of a backup?", k=1
)
print(hit.page_content[:100].replace("\n", " "), "...")
for place in dedup.sources(hit.id or ""):
    print(f"  {place.method or 'survivor':9} {place.url}")
