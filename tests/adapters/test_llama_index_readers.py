"""The reader wrapper, with readers and pipelines of llama-index-core."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.readers.base import BasePydanticReader, BaseReader, ReaderConfig
from llama_index.core.schema import Document, MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore

from rag_dedup import SAFE
from rag_dedup.llama_index import CanonicalUrlReader
from tests.adapters.test_llama_index import CountingEmbedding

SITE = "https://www.example.com"


class WebReader(BaseReader):
    """Gives random ids, as most web readers do."""

    def load_data(self, urls: Iterable[str], text: str = "Hello") -> list[Document]:
        return [Document(text=text, metadata={"url": url}) for url in urls]


class LazyReader(BasePydanticReader):
    is_remote: bool = True
    read: list[str] = Field(default_factory=list)

    def lazy_load_data(self, urls: Iterable[str]) -> Iterator[Document]:
        for url in urls:
            self.read.append(url)
            yield Document(text="Hello", metadata={"URL": url})


def test_the_canonical_url_stands_beside_the_original() -> None:
    url = f"{SITE}/a/?utm_source=x"
    [document] = CanonicalUrlReader(WebReader()).load_data([url])
    assert document.metadata == {"url": url, "canonical_url": "https://example.com/a"}
    assert "canonical_url" not in document.get_content(MetadataMode.EMBED)
    assert "canonical_url" not in document.get_content(MetadataMode.LLM)


def test_random_ids_become_those_of_the_canonical_url() -> None:
    reader = CanonicalUrlReader(WebReader())
    first, second = (
        reader.load_data([url])[0] for url in (f"{SITE}/a?utm_source=x#top", "https://WWW.example.com/a")
    )
    assert first.id_ == second.id_ == str(uuid.uuid5(uuid.NAMESPACE_URL, f"{SITE}/a"))
    assert uuid.UUID(first.id_).version == 5


def test_two_documents_of_one_page_have_two_ids() -> None:
    documents = CanonicalUrlReader(WebReader()).load_data(
        [f"{SITE}/a", f"{SITE}/a#b", f"{SITE}/b", f"{SITE}/a"]
    )
    assert len({document.id_ for document in documents}) == 4


def test_pages_that_only_web_calls_the_same_have_two_ids() -> None:
    documents = CanonicalUrlReader(WebReader()).load_data([f"{SITE}/a?ref=main", f"{SITE}/a?ref=next"])
    assert len({document.metadata["canonical_url"] for document in documents}) == 1
    assert len({document.id_ for document in documents}) == 2


@pytest.mark.parametrize("id", ["mine", f"{SITE}/a", str(uuid.uuid5(uuid.NAMESPACE_URL, "a")), "1234"])
def test_ids_that_are_not_random_are_kept(id: str) -> None:
    class Reader(BaseReader):
        def load_data(self) -> list[Document]:
            return [Document(text="Hello", id_=id, metadata={"url": f"{SITE}/a"})]

    assert CanonicalUrlReader(Reader()).load_data()[0].id_ == id


def test_without_a_url_nothing_is_changed() -> None:
    class Reader(BaseReader):
        document = Document(text="Hello", metadata={"source": "map", "file_name": "a.pdf"})

        def load_data(self) -> list[Document]:
            return [self.document]

    [document] = CanonicalUrlReader(Reader()).load_data()
    assert document == Reader.document
    assert document is not Reader.document


def test_what_the_reader_keeps_is_not_changed() -> None:
    class Reader(BaseReader):
        document = Document(text="Hello", metadata={"url": f"{SITE}/a"})

        def load_data(self) -> list[Document]:
            return [self.document]

    before = Reader.document.model_dump()
    assert CanonicalUrlReader(Reader(), rewrite_source=True).load_data()[0] != Reader.document
    assert Reader.document.model_dump() == before


def test_settings() -> None:
    reader = CanonicalUrlReader(WebReader(), policy=SAFE, rewrite_source=True, stable_ids=False)
    first, second = (reader.load_data([f"{SITE}/a/#top"])[0] for _ in range(2))
    assert first.metadata["canonical_url"] == first.metadata["source"] == f"{SITE}/a/"
    assert first.id_ != second.id_
    [other] = CanonicalUrlReader(WebReader(), url_keys=("page",)).load_data([f"{SITE}/a"])
    assert "canonical_url" not in other.metadata


def test_it_is_as_lazy_as_the_reader() -> None:
    inner = LazyReader()
    documents = iter(CanonicalUrlReader(inner).lazy_load_data([f"{SITE}/a", f"{SITE}/b"]))
    assert next(documents).metadata["canonical_url"] == "https://example.com/a"
    assert inner.read == [f"{SITE}/a"]
    eager = CanonicalUrlReader(WebReader()).lazy_load_data([f"{SITE}/a", f"{SITE}/b"])
    assert len(list(eager)) == 2


def test_all_ways_to_read_give_the_same() -> None:
    async def read() -> list[list[Any]]:
        reader = CanonicalUrlReader(WebReader())
        urls = [f"{SITE}/a", f"{SITE}/b"]
        return [
            await reader.aload_data(urls),
            list(await reader.alazy_load_data(urls)),
            reader.load_data(urls),
        ]

    results = asyncio.run(read())
    assert results[0] == results[1] == results[2]


def test_a_page_that_did_not_change_is_not_embedded_again() -> None:
    pipeline = IngestionPipeline(
        transformations=[CountingEmbedding()],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
        vector_store=SimpleVectorStore(stores_text=False),
    )
    reader = CanonicalUrlReader(WebReader())
    urls = [f"{SITE}/a", f"{SITE}/b"]
    assert len(pipeline.run(documents=reader.load_data(urls))) == 2
    assert len(pipeline.run(documents=reader.load_data(urls))) == 0
    assert len(pipeline.run(documents=reader.load_data(urls[:1], text="Edited"))) == 1
    without = WebReader()
    assert len(pipeline.run(documents=without.load_data(urls))) == 2


def test_a_pipeline_reads_with_it() -> None:
    config = ReaderConfig(reader=CanonicalUrlReader(WebReader()), reader_kwargs={"urls": [f"{SITE}/a"]})
    [node] = IngestionPipeline(transformations=[], readers=[config]).run()
    assert node.metadata["canonical_url"] == "https://example.com/a"


def test_it_says_whether_it_is_remote() -> None:
    assert CanonicalUrlReader(LazyReader()).is_remote
    assert not CanonicalUrlReader(WebReader()).is_remote
    assert CanonicalUrlReader(WebReader()).class_name() == "rag_dedup.CanonicalUrlReader"
