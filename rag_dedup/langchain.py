"""Transformers for LangChain: between a loader and an embedder.

``CanonicalizeUrls`` and ``StripBoilerplate`` belong before the text splitter, ``DropNearDuplicates``
behind it. None of them changes what it is given.

With LangChain's ``index()``, let the ids of the chunks be the keys of the records, and delete what a
plan removes::

    def delete(plan):
        if plan.removed:
            store.delete(list(plan.removed))
            records.delete_keys(list(plan.removed))

    drop = DropNearDuplicates(dedup, on_plan=delete)
    index(drop.transform_documents(chunks), records, store, cleanup="scoped_full",
          source_id_key=drop.group_id, key_encoder=attrgetter("id"))

A page that is gone from the site is gone from the crawl too, so nobody can see it go: tell
:meth:`rag_dedup.Deduplicator.forget`, and write what it promotes with
:meth:`DropNearDuplicates.rebuild`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from rag_dedup.adapter import (
    FINAL_URL_KEYS,
    Chunk,
    Layout,
    copy_deeply,
    find_origin,
    make_canonical_metadata,
    name_chunks,
    read_html,
    read_span,
    strip_texts,
)
from rag_dedup.boilerplate import SegmentCache
from rag_dedup.deduplicator import Deduplicator, ScopeKey
from rag_dedup.document import Document as EngineDocument
from rag_dedup.document import Plan
from rag_dedup.errors import InputError, MissingExtraError
from rag_dedup.url import WEB, UrlPolicy

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError as error:
    raise MissingExtraError("langchain", "langchain-core") from error

__all__ = ["URL_KEYS", "CanonicalizeUrls", "DropNearDuplicates", "ExtractHtml", "StripBoilerplate"]

URL_KEYS = (*FINAL_URL_KEYS, "source", "loc", "url", "sourceURL", "source_url", "ogUrl")
"""Where LangChain's loaders write the address of a page, first the one after redirects; only absolute http
and https URLs count."""

# What tells the chunks of one file apart: PDF, spreadsheet, CSV and JSON loaders.
_PLACE_KEYS = ("page", "page_number", "page_name", "sheet", "row", "seq_num")


class CanonicalizeUrls(BaseDocumentTransformer):
    """Write ``metadata["canonical_url"]``; the URL itself stays as it was.

    Documents without a URL come back unchanged.

    Args:
        url_keys: where to look for the URL, in this order.
        policy: what counts as the same page.
        rewrite_source: ``metadata["source"]`` becomes the canonical URL too, for what cites it or groups by
            it; what it was is kept in ``metadata["original_source"]``.

    >>> page = Document("Hello", metadata={"source": "http://www.example.com/a/?utm_source=x"})
    >>> CanonicalizeUrls().transform_documents([page])[0].metadata["canonical_url"]
    'https://example.com/a'
    """

    def __init__(
        self, url_keys: Sequence[str] = URL_KEYS, policy: UrlPolicy = WEB, *, rewrite_source: bool = False
    ) -> None:
        self.url_keys = tuple(url_keys)
        self.policy = policy
        self.rewrite_source = rewrite_source

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Return copies that know their canonical URL."""
        copies = _copy_documents(documents)
        for document in copies:
            found = make_canonical_metadata(
                document.metadata, self.url_keys, self.policy, rewrite_source=self.rewrite_source
            )
            document.metadata.update(found)
        return copies


class ExtractHtml(BaseDocumentTransformer):
    """Turn pages of raw HTML, as ``RecursiveUrlLoader`` gives them, into Markdown.

    Comes first. What is no page of HTML comes back unchanged, as a copy. What a page says of itself
    (title, language, date, sitename, canonical_hint) is added to its metadata unless it is there;
    ``extraction`` tells how the content was found: ``trafilatura``, ``visible text``, or ``nothing`` for a
    page that shows none.

    Args:
        favor_precision, favor_recall, include_links: trafilatura's settings.
        url_keys: where to look for the URL, in this order.

    >>> html = "<html><title>Ports</title><main><p>The server listens on port 80.</p></main></html>"
    >>> page = ExtractHtml().transform_documents([Document(html)])[0]
    >>> page.page_content, page.metadata
    ('The server listens on port 80.', {'title': 'Ports', 'extraction': 'trafilatura'})
    """

    def __init__(
        self,
        *,
        favor_precision: bool = False,
        favor_recall: bool = False,
        include_links: bool = False,
        url_keys: Sequence[str] = URL_KEYS,
    ) -> None:
        self.settings = {
            "favor_precision": favor_precision,
            "favor_recall": favor_recall,
            "include_links": include_links,
        }
        self.url_keys = tuple(url_keys)

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Return copies, pages of HTML as Markdown.

        Raises:
            MissingExtraError: trafilatura is not installed.
        """
        copies = _copy_documents(documents)
        for document in copies:
            found = read_html(document.page_content, document.metadata, self.url_keys, self.settings)
            if found is not None:
                document.page_content = found[0]
                document.metadata.update(found[1])
        return copies


class StripBoilerplate(BaseDocumentTransformer):
    r"""Cut out what the pages of a site repeat: menus, banners, footers.

    Belongs before the text splitter. Documents without a URL come back unchanged, as copies.

    Args:
        cache: what is known of the sites; a new one by default. It goes on learning with every call,
            so that one page alone can be stripped later.
        two_pass: learn from all documents of a call before the first is stripped; ``False`` strips each
            by what came before it.
        scope_key: what must not be mixed, as for :class:`rag_dedup.Deduplicator`.
        url_keys: where to look for the URL, in this order.

    >>> texts = [f"Home | Docs\n\nThis page is about {n} {n} {n}." for n in ("ants", "bees", "cats", "dogs")]
    >>> pages = [Document(t, metadata={"source": f"https://example.com/{n}"}) for n, t in enumerate(texts)]
    >>> StripBoilerplate().transform_documents(pages)[2].page_content
    'This page is about cats cats cats.'
    """

    def __init__(
        self,
        cache: SegmentCache | None = None,
        *,
        two_pass: bool = True,
        scope_key: ScopeKey | None = None,
        url_keys: Sequence[str] = URL_KEYS,
    ) -> None:
        self.cache = SegmentCache() if cache is None else cache
        self.two_pass = two_pass
        self.scope_key = scope_key
        self.url_keys = tuple(url_keys)

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Return copies without boilerplate.

        Raises:
            MissingScopeError: a document without the scope that ``scope_key`` promises.
        """
        copies = _copy_documents(documents)
        texts = strip_texts(
            [document.page_content for document in copies],
            [document.metadata for document in copies],
            self.cache,
            two_pass=self.two_pass,
            scope_key=self.scope_key,
            url_keys=self.url_keys,
        )
        for document, text in zip(copies, texts, strict=True):
            document.page_content = text
        return copies


class DropNearDuplicates(BaseDocumentTransformer):
    """Let each passage through once, and remember where else it was found.

    What comes out is a copy of every document of the call that belongs into the vector store, known
    ones included (to ``index()``, what does not come is to be deleted), each with an id that lasts;
    then documents of earlier calls whose survivor is gone, so that they are needed now.

    Args:
        dedup: the engine; several transformers can share one.
        complete: each call holds all chunks of the sources that occur in it, so that what an
            edited page no longer says is released. ``False`` if a page is spread over several calls.
        on_plan: called with each committed plan; ``plan.removed`` is what the store has to delete.
        url_keys: where to look for the URL, in this order.

    >>> chunks = [Document("Restart it.", metadata={"source": f"https://example.com/{n}"}) for n in "ab"]
    >>> len(DropNearDuplicates(Deduplicator()).transform_documents(chunks))
    1
    """

    def __init__(
        self,
        dedup: Deduplicator,
        *,
        complete: bool = True,
        on_plan: Callable[[Plan], object] | None = None,
        url_keys: Sequence[str] = URL_KEYS,
    ) -> None:
        self.dedup = dedup
        self.complete = complete
        self.on_plan = on_plan
        self.url_keys = tuple(url_keys)
        self._promoted: set[str] = set()  # keys of chunks that came without the rest of their page

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Return the documents that belong into the vector store.

        Raises:
            InputError: a document whose metadata cannot be copied.
            DuplicateIdError: two documents with one id and different texts.
            MissingScopeError: a document without the scope that the engine was told to look for.
        """
        copies = _copy_documents(documents)
        layout = Layout()
        named = name_chunks(self.dedup, [_read_chunk(copy, self.url_keys, layout) for copy in copies])
        plan = self.dedup.run(named, complete=self.complete)
        if self.on_plan is not None:
            self.on_plan(plan)
        waiting = {(document.scope, document.id): document for document in self.dedup.survivors_of(plan)}
        if self._promoted:
            self._promoted.difference_update(map(self._make_key, copies))
        kept = []
        for document, decision in zip(copies, plan.decisions, strict=True):
            known = waiting.pop((decision.scope, decision.id), None)
            if known is None:
                continue
            document.id = decision.id
            merged = {key: known.metadata[key] for key in self.dedup.merged_keys if key in known.metadata}
            document.metadata.update(merged)
            if decision.survivor is not None:  # seen only by those who annotate instead of dropping
                document.metadata["duplicate_of"] = decision.survivor
            kept.append(document)
        return kept + self.rebuild(waiting.values())

    def rebuild(self, documents: Iterable[EngineDocument]) -> list[Document]:
        """Turn promoted documents of a plan back into LangChain's, for the vector store.

        >>> dedup = Deduplicator()
        >>> drop = DropNearDuplicates(dedup)
        >>> pages = [Document("Restart it.", metadata={"source": f"https://example.com/{n}"}) for n in "ab"]
        >>> _ = drop.transform_documents(pages)
        >>> plan = dedup.forget(source="https://example.com/a")
        >>> [document.metadata["source"] for document in drop.rebuild(plan.promoted)]
        ['https://example.com/b']
        """
        rebuilt = [
            Document(
                page_content=document.text,
                metadata=copy_deeply(dict(document.metadata), f"document {document.id!r}"),
                id=document.id,
            )
            for document in documents
        ]
        self._promoted.update(map(self._make_key, rebuilt))
        return rebuilt

    def group_id(self, document: Document) -> str:
        """Return the group of a document, for the ``source_id_key`` of ``index()``.

        This is its source, but a promoted chunk has a group of its own until its page comes again:
        ``index()`` takes a group that it sees for complete, and would delete the rest of the page.
        """
        named = self._name(document)
        if named.source is None or named.id in self._promoted:
            return named.id
        return json.dumps([named.scope, named.source]) if named.scope else named.source

    def _make_key(self, document: Document) -> str:
        return self._name(document).id

    def _name(self, document: Document) -> EngineDocument:
        """Name a document by what it says, whatever id it has: ``index()`` gives it another one."""
        chunk = _read_chunk(document, self.url_keys, Layout())
        return name_chunks(self.dedup, [replace(chunk, id=None)])[0]


def _copy_documents(documents: Iterable[Document]) -> list[Document]:
    """Copy documents; LangChain's own ``model_copy`` would share their metadata."""
    copies = []
    for number, document in enumerate(documents):
        if not isinstance(document, Document):
            raise InputError(f"document {number} is a {type(document).__name__}, not a LangChain Document")
        name = f"document {number}" if document.id is None else f"document {number} ({document.id!r})"
        copies.append(copy_deeply(document, name))
    return copies


def _read_chunk(document: Document, url_keys: Sequence[str], layout: Layout) -> Chunk:
    metadata = document.metadata
    origin = find_origin(metadata, url_keys)
    place = tuple((key, metadata[key]) for key in _PLACE_KEYS if type(metadata.get(key)) in (str, int))
    start = metadata.get("start_index")
    span = read_span(start, start + len(document.page_content)) if type(start) is int else None
    name = origin.url or metadata.get("source")
    whole = origin.source is None or (not place and name == origin.source)
    return Chunk(
        text=document.page_content,
        metadata=metadata,
        origin=origin,
        id=document.id,
        place=place,
        span=layout.place(origin.source, "" if whole else json.dumps([name, place]), span),
    )
