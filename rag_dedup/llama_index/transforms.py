"""The four transforms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.schema import BaseNode, Document, TransformComponent

from rag_dedup.adapter import (
    FINAL_URL_KEYS,
    Chunk,
    Layout,
    find_origin,
    name_chunks,
    read_html,
    read_span,
    strip_texts,
)
from rag_dedup.boilerplate import SegmentCache
from rag_dedup.deduplicator import Deduplicator, ScopeKey
from rag_dedup.document import Document as EngineDocument
from rag_dedup.document import EntryKey, Plan
from rag_dedup.errors import WorkerError
from rag_dedup.llama_index.links import find_ancestors, list_links, redirect, relink, rename
from rag_dedup.llama_index.nodes import (
    annotate,
    annotate_canonical,
    copy_nodes,
    find_document,
    is_text,
    merge,
    pack,
    read_text,
    set_text,
    unpack,
)
from rag_dedup.url import WEB, UrlPolicy

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["URL_KEYS", "CanonicalizeUrls", "DropNearDuplicates", "ExtractHtml", "StripBoilerplate"]

URL_KEYS = (*FINAL_URL_KEYS, "url", "URL", "Source", "link", "source")
"""Where LlamaIndex's readers write the address of a page, first the one after redirects; only absolute http
and https URLs count."""


class _Transform(TransformComponent):
    """A transform that does not block the loop, and refuses settings that it does not know."""

    model_config = ConfigDict(extra="forbid")

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Do the same in a thread."""
        return await asyncio.to_thread(self, nodes, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy the settings; what is excluded from them belongs to the caller, and is shared."""
        owned = [getattr(self, name) for name, field in type(self).model_fields.items() if field.exclude]
        return super().__deepcopy__({**(memo or {}), **{id(value): value for value in owned}})

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be sent to another process with less than all.

        Raises:
            WorkerError: something cannot be sent; LlamaIndex would leave it behind and go on.
        """
        settings = dict(self.__dict__)
        state = super().__getstate__()
        lost = sorted(settings.keys() - state["__dict__"].keys())
        if lost:
            self.__dict__.update(settings)  # LlamaIndex takes it away from the original too
            raise WorkerError(
                f"{type(self).__name__} cannot be sent to another process: its {' and '.join(lost)} would "
                "stay behind. Run the pipeline with num_workers=None."
            )
        return state


class CanonicalizeUrls(_Transform):
    """Write ``metadata["canonical_url"]``; the URL itself stays as it was.

    Nodes without a URL come back unchanged. The new key goes neither into embeddings nor to the model.

    Args:
        url_keys: where to look for the URL, in this order.
        policy: what counts as the same page.
        rewrite_source: ``metadata["source"]`` becomes the canonical URL too; what it was is kept in
            ``metadata["original_source"]``.

    >>> page = Document(text="Hello", metadata={"url": "http://www.example.com/a/?utm_source=x"})
    >>> CanonicalizeUrls()([page])[0].metadata["canonical_url"]
    'https://example.com/a'
    """

    url_keys: tuple[str, ...] = URL_KEYS
    policy: UrlPolicy = Field(default=WEB, exclude=True)
    rewrite_source: bool = False

    @classmethod
    def class_name(cls) -> str:
        return "rag_dedup.CanonicalizeUrls"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the settings, in the same order in every process."""
        return {**super().to_dict(**kwargs), "policy": _to_plain(self.policy)}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return copies that know their canonical URL."""
        copies = copy_nodes(nodes)
        for node in copies:
            annotate_canonical(node, self.url_keys, self.policy, rewrite_source=self.rewrite_source)
        return copies


class ExtractHtml(_Transform):
    """Turn pages of raw HTML into Markdown.

    Comes first. What is no page of HTML comes back unchanged, as a copy. What a page says of itself
    (title, language, date, sitename, canonical_hint) is added to its metadata unless it is there;
    ``extraction`` tells how the content was found: ``trafilatura``, ``visible text``, or ``nothing`` for a
    page that shows none. The new keys go neither into embeddings nor to the model.

    Args:
        favor_precision, favor_recall, include_links: trafilatura's settings.
        url_keys: where to look for the URL, in this order.

    >>> html = "<html><title>Ports</title><main><p>The server listens on port 80.</p></main></html>"
    >>> ExtractHtml()([Document(text=html)])[0].get_content()
    'The server listens on port 80.'
    """

    favor_precision: bool = False
    favor_recall: bool = False
    include_links: bool = False
    url_keys: tuple[str, ...] = URL_KEYS

    @classmethod
    def class_name(cls) -> str:
        return "rag_dedup.ExtractHtml"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return copies, pages of HTML as Markdown.

        Raises:
            MissingExtraError: trafilatura is not installed.
        """
        settings = {
            "favor_precision": self.favor_precision,
            "favor_recall": self.favor_recall,
            "include_links": self.include_links,
        }
        copies = copy_nodes(nodes)
        for node in filter(is_text, copies):
            found = read_html(read_text(node), node.metadata, self.url_keys, settings)
            if found is not None:
                set_text(node, found[0])
                for key, value in found[1].items():
                    annotate(node, key, value)
        return copies


class StripBoilerplate(_Transform):
    r"""Cut out what the pages of a site repeat: menus, banners, footers.

    Belongs before the node parser. Nodes without a URL come back unchanged, as copies.

    Args:
        cache: what is known of the sites; a new one by default. It goes on learning with every call,
            so that one page alone can be stripped later.
        two_pass: learn from all nodes of a call before the first is stripped; ``False`` strips each by
            what came before it.
        scope_key: what must not be mixed, as for :class:`rag_dedup.Deduplicator`.
        url_keys: where to look for the URL, in this order.

    >>> texts = [f"Home | Docs\n\nThis page is about {n} {n} {n}." for n in ("ants", "bees", "cats", "dogs")]
    >>> pages = [Document(text=t, metadata={"url": f"https://example.com/{n}"}) for n, t in enumerate(texts)]
    >>> StripBoilerplate()(pages)[2].get_content()
    'This page is about cats cats cats.'
    """

    cache: SegmentCache = Field(exclude=True)
    two_pass: bool = True
    scope_key: ScopeKey | None = Field(default=None, exclude=True)
    url_keys: tuple[str, ...] = URL_KEYS

    def __init__(self, cache: SegmentCache | None = None, **settings: Any) -> None:
        settings["cache"] = SegmentCache() if cache is None else cache
        super().__init__(**settings)

    @classmethod
    def class_name(cls) -> str:
        return "rag_dedup.StripBoilerplate"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the settings and what is known: the pipeline's cache must not keep us from learning."""
        known = {"identity": self.cache.identity, "generation": self.cache.generation}
        return {**super().to_dict(**kwargs), "cache": known}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return copies without boilerplate.

        Raises:
            MissingScopeError: a node without the scope that ``scope_key`` promises.
        """
        copies = copy_nodes(nodes)
        before = [read_text(node) for node in copies]
        after = strip_texts(
            before,
            [node.metadata for node in copies],
            self.cache,
            two_pass=self.two_pass,
            scope_key=self.scope_key,
            url_keys=self.url_keys,
        )
        for node, old, new in zip(copies, before, after, strict=True):
            if new != old:
                set_text(node, new)
        return copies


class DropNearDuplicates(_Transform):
    """Let each passage through once, and remember where else it was found.

    What comes out is a copy of every node of the call that belongs into the vector store, known ones
    included, with an id that lasts; then nodes of earlier calls whose survivor is gone, so that they
    are needed now, under their own document. Links between nodes are kept in order: previous and next
    skip what was dropped. Nodes that are more than text (images, references) pass through.

    Args:
        dedup: the engine; several transforms can share one.
        complete: each call holds all nodes of the sources that occur in it, so that what an edited
            page no longer says is released. ``False`` if a page is spread over several calls.
        on_plan: called with each committed plan; ``plan.removed`` is what the store has to delete.
        keep_ids: the ids of the nodes last from run to run. If not, they get ids that do. Documents
            keep theirs always: docstores know them by it.
        url_keys: where to look for the URL, in this order. The source of a node is its URL, else
            ``metadata["source"]``, else its document.

    >>> from llama_index.core.schema import TextNode
    >>> nodes = [TextNode(text="Restart it.", metadata={"url": f"https://example.com/{n}"}) for n in "ab"]
    >>> len(DropNearDuplicates(Deduplicator())(nodes))
    1
    """

    dedup: Deduplicator = Field(exclude=True)
    complete: bool = True
    on_plan: Callable[[Plan], object] | None = Field(default=None, exclude=True)
    keep_ids: bool = False
    url_keys: tuple[str, ...] = URL_KEYS

    def __init__(self, dedup: Deduplicator, **settings: Any) -> None:
        settings["dedup"] = dedup
        super().__init__(**settings)

    @classmethod
    def class_name(cls) -> str:
        return "rag_dedup.DropNearDuplicates"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the settings and the state of the index: the pipeline's cache goes by them."""
        # A function has no honest name: its address makes another one another key.
        index = {
            "identity": self.dedup.index.identity,
            "generation": self.dedup.generation,
            "scope_key": repr(self.dedup.scope_key),
        }
        return {**super().to_dict(**kwargs), "index": index}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> DropNearDuplicates:
        """Return a transform with these settings; give it the engine as ``dedup=``."""
        return super().from_dict({name: data[name] for name in data if name != "index"}, **kwargs)

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return the nodes that belong into the vector store.

        Raises:
            InputError: a node that cannot be copied or written as JSON.
            DuplicateIdError: two nodes with one id and different texts.
            MissingScopeError: a node without the scope that the engine was told to look for.
        """
        copies = copy_nodes(nodes)
        texts = [node for node in copies if is_text(node)]
        named = self._name(texts)
        # Should two nodes have had one id, links to it lead to the first.
        names = {node.id_: document.id for node, document in reversed(list(zip(texts, named, strict=True)))}
        rename(copies, names)
        for node, document in zip(texts, named, strict=True):
            node.id_ = document.id
        plan = self.dedup.run(map(pack, named, texts), complete=self.complete)
        if self.on_plan is not None:
            self.on_plan(plan)
        waiting = {(document.scope, document.id): document for document in self.dedup.survivors_of(plan)}
        decisions = iter(plan.decisions)
        kept = []
        for node in copies:
            if is_text(node):
                decision = next(decisions)
                known = waiting.pop((decision.scope, decision.id), None)
                if known is None:
                    continue
                merge(
                    node,
                    {key: known.metadata[key] for key in self.dedup.merged_keys if key in known.metadata},
                )
                if decision.survivor is not None:  # seen only by those who annotate instead of dropping
                    annotate(node, "duplicate_of", decision.survivor)
            kept.append(node)
        kept_ids = {node.id_ for node in kept}
        survivors = {d.id: d.survivor for d in plan.decisions if d.survivor and d.id not in kept_ids}
        for node in kept:
            redirect(node, survivors)
        promoted = [unpack(document) for document in waiting.values()]
        self._relink(kept + promoted, copies + promoted, [*named, *waiting.values()])
        return kept + promoted

    def rebuild(self, documents: Iterable[EngineDocument]) -> list[BaseNode]:
        """Turn promoted documents of a plan back into nodes, for the vector store.

            >>> dedup = Deduplicator()
            >>> drop = DropNearDuplicates(dedup)
            >>> from llama_index.core.schema import TextNode
        >>> nodes = [TextNode(text="Restart it.", metadata={"url": f"https://example.com/{n}"}) for n in "ab"]
            >>> _ = drop(nodes)
            >>> plan = dedup.forget(source="https://example.com/a")
            >>> [node.metadata["url"] for node in drop.rebuild(plan.promoted)]
            ['https://example.com/b']
        """
        documents = list(documents)
        nodes = [unpack(document) for document in documents]
        self._relink(nodes, nodes, documents)
        return nodes

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be sent to another process when that would decide without the index.

        Raises:
            WorkerError: the index is in memory, or something else cannot be sent.
        """
        if not self.dedup.index.shareable:
            raise WorkerError(
                "DropNearDuplicates cannot be sent to another process: its index is in the memory of "
                "this one, and each worker would keep its own copy of a duplicate. Run the pipeline with "
                "num_workers=None, or give the Deduplicator an index that processes can share."
            )
        return super().__getstate__()

    def _name(self, nodes: Sequence[BaseNode]) -> list[EngineDocument]:
        """Turn text nodes into documents of the engine, with ids that last."""
        ancestors = find_ancestors(nodes)
        origins = [find_origin(node.metadata, self.url_keys, find_document(node)) for node in nodes]
        spans = _find_spans(nodes, ancestors, [origin.source for origin in origins])
        chunks = [
            Chunk(
                text=read_text(node),
                metadata=node.metadata,
                origin=origin,
                id=node.id_ if self.keep_ids or isinstance(node, Document) else None,
                place=("level", len(above)) if above else (),  # a parent can equal its only child
                span=span,
            )
            for node, origin, above, span in zip(nodes, origins, ancestors, spans, strict=True)
        ]
        named = name_chunks(self.dedup, chunks)
        return [
            replace(document, related=tuple(named[i].id for i in above))
            for document, above in zip(named, ancestors, strict=True)
        ]

    def _relink(
        self, nodes: Sequence[BaseNode], batch: Sequence[BaseNode], documents: Iterable[EngineDocument]
    ) -> None:
        """Make the links of ``nodes`` lead to nodes that are in the vector store."""
        known = {node.id_: node for node in reversed(batch)}
        scopes = {document.id: document.scope for document in documents}
        outside = {
            (scopes.get(node.id_, ""), info.node_id): None
            for node in batch
            for info in list_links(node)
            if info.node_id not in known
        }
        live = {node.id_ for node in nodes} | self._find_stored(list(outside))
        relink(nodes, known, live)

    def _find_stored(self, keys: Sequence[EntryKey]) -> set[str]:
        """Return the ids of those that stand for themselves."""
        if not keys:
            return set()
        with self.dedup.index.snapshot() as view:
            return {e.id for e in view.entries(keys) if e is not None and e.survivor is None}


def _find_spans(
    nodes: Sequence[BaseNode], ancestors: Sequence[tuple[int, ...]], sources: Sequence[str | None]
) -> list[tuple[int, int] | None]:
    """Return where each node stands in its source; parsers count from the start of the parent."""
    layout = Layout()
    spans: list[tuple[int, int] | None] = [None] * len(nodes)
    for i in sorted(range(len(nodes)), key=lambda i: len(ancestors[i])):
        node, source = nodes[i], sources[i]
        own = read_span(getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None))
        if ancestors[i]:
            parent = ancestors[i][0]
            outer = spans[parent]
            if own and outer and read_text(nodes[parent])[slice(*own)] == read_text(node):
                spans[i] = outer[0] + own[0], outer[0] + own[1]
        else:
            part = find_document(node)
            spans[i] = layout.place(source, "" if part is None or part == source else part, own)
    return spans


def _to_plain(setting: Any) -> Any:
    """Write a setting with JSON values; sets are sorted."""
    if is_dataclass(setting):
        return {f.name: _to_plain(getattr(setting, f.name)) for f in fields(setting) if f.init}
    if isinstance(setting, (set, frozenset)):
        return sorted(setting)
    return [_to_plain(part) for part in setting] if isinstance(setting, (list, tuple)) else setting
