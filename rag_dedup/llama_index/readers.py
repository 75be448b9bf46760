"""A reader around a reader: canonical URLs, and ids that last, before a pipeline sees the documents."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.readers.base import BasePydanticReader, BaseReader
from llama_index.core.schema import Document

from rag_dedup.llama_index.nodes import annotate_canonical, copy_nodes
from rag_dedup.llama_index.transforms import URL_KEYS
from rag_dedup.url import SAFE, WEB, UrlPolicy, canonicalize_url, find_url

__all__ = ["CanonicalUrlReader"]


class CanonicalUrlReader(BasePydanticReader):
    """Read with another reader, and write ``metadata["canonical_url"]``; the URL itself stays as it was.

    A pipeline compares what it is given with what its docstore remembers. What is done here is done before,
    so the hash of a page that did not change is the same in every run. Web readers give a page a random id
    in every run, and no pipeline can tell that it is the same page: it gets one that lasts.

    Args:
        reader: reads the documents; copies of them are given out.
        url_keys: where to look for the URL, in this order.
        policy: what counts as the same page, for ``canonical_url``.
        rewrite_source: as for :class:`CanonicalizeUrls`.
        stable_ids: a document with a URL and a random id (UUIDv4) gets the UUIDv5 of its ``SAFE`` canonical
            URL; further ones with the same URL, in the order in which they are read, that of the URL and
            their number.

    >>> class Reader(BaseReader):
    ...     def load_data(self, url):
    ...         return [Document(text="Hello", metadata={"url": url})]
    >>> first, second = (CanonicalUrlReader(Reader()).load_data("http://www.e.org/a/?gclid=1") for _ in "12")
    >>> first[0].metadata["canonical_url"], first[0].id_ == second[0].id_
    ('https://e.org/a', True)
    """

    reader: BaseReader = Field(exclude=True)
    url_keys: tuple[str, ...] = URL_KEYS
    policy: UrlPolicy = Field(default=WEB, exclude=True)
    rewrite_source: bool = False
    stable_ids: bool = True

    def __init__(self, reader: BaseReader, **settings: Any) -> None:
        settings["reader"] = reader
        settings.setdefault("is_remote", bool(getattr(reader, "is_remote", False)))
        super().__init__(**settings)

    @classmethod
    def class_name(cls) -> str:
        return "rag_dedup.CanonicalUrlReader"

    def lazy_load_data(self, *args: Any, **kwargs: Any) -> Iterable[Document]:
        """Yield the documents one by one, if the reader can do that; else as :meth:`load_data`."""
        try:
            documents = self.reader.lazy_load_data(*args, **kwargs)
        except NotImplementedError:
            documents = self.reader.load_data(*args, **kwargs)
        return self._prepare(documents)

    def load_data(self, *args: Any, **kwargs: Any) -> list[Document]:
        """Return the documents."""
        return list(self._prepare(self.reader.load_data(*args, **kwargs)))

    async def aload_data(self, *args: Any, **kwargs: Any) -> list[Document]:
        """Return the documents; the reader itself is awaited."""
        return list(self._prepare(await self.reader.aload_data(*args, **kwargs)))

    def _prepare(self, documents: Iterable[Document]) -> Iterator[Document]:
        seen: Counter[str] = Counter()
        for document in documents:
            (copy,) = copy_nodes([document])
            assert isinstance(copy, Document)
            if self.stable_ids:  # before the source is rewritten, which must not change the id
                self._replace_random_id(copy, seen)
            annotate_canonical(copy, self.url_keys, self.policy, rewrite_source=self.rewrite_source)
            yield copy

    def _replace_random_id(self, document: Document, seen: Counter[str]) -> None:
        url = find_url(document.metadata, self.url_keys)
        if url is not None and _is_random(document.id_):
            key = canonicalize_url(url, SAFE)
            document.id_ = _make_id(key, seen[key])
            seen[key] += 1


def _make_id(key: str, number: int) -> str:
    # A key has no blank: no URL has the id of another one's second document
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{key} {number}" if number else key))


def _is_random(id: str) -> bool:
    try:
        return uuid.UUID(id).version == 4
    except ValueError:
        return False
