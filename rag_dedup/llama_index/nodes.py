"""Copies of nodes, and nodes as documents of the engine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.constants import DATA_KEY, TYPE_KEY
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    TextNode,
)
from llama_index.core.storage.docstore.utils import json_to_doc

from rag_dedup.adapter import copy_deeply, make_canonical_metadata
from rag_dedup.document import Document as EngineDocument
from rag_dedup.errors import InputError
from rag_dedup.llama_index.links import get_link
from rag_dedup.merge import COUNT_KEY, SOURCES_KEY
from rag_dedup.url import UrlPolicy

__all__ = [
    "annotate",
    "annotate_canonical",
    "copy_nodes",
    "find_document",
    "is_text",
    "merge",
    "pack",
    "read_text",
    "set_text",
    "unpack",
]

_NODE_KEY = "rag_dedup_node"
"""In the metadata of an engine document: its node as JSON, for when it is promoted."""


def copy_nodes(nodes: Iterable[BaseNode]) -> list[BaseNode]:
    """Copy nodes with all that they hold.

    Raises:
        InputError: something that is no node, or cannot be copied.
    """
    copies = []
    for number, node in enumerate(nodes):
        if not isinstance(node, BaseNode):
            raise InputError(f"node {number} is a {type(node).__name__}, not a LlamaIndex node")
        # What an IndexNode leads to is not a part of it, and often a whole index.
        shared = {id(node.obj): node.obj} if isinstance(node, IndexNode) else {}
        copies.append(copy_deeply(node, f"node {number} ({node.id_!r})", shared))
    return copies


def is_text(node: BaseNode) -> bool:
    """Tell whether a node is a text and nothing else: equal captions do not make equal images.

    >>> is_text(TextNode(text="A diagram")), is_text(ImageNode(text="A diagram"))
    (True, False)
    """
    if isinstance(node, Node):
        return not (node.image_resource or node.audio_resource or node.video_resource)
    return isinstance(node, TextNode) and not isinstance(node, (ImageNode, IndexNode))


def read_text(node: BaseNode) -> str:
    """Return the text of a node without its metadata."""
    return node.get_content(MetadataMode.NONE)


def set_text(node: BaseNode, text: str) -> None:
    """Replace the text of a node; what was derived from the old one goes."""
    if isinstance(node, TextNode):
        node.text = text
    elif isinstance(node, Node) and (text or node.text_resource):
        resource = node.text_resource or MediaResource()
        node.text_resource = resource.model_copy(update={"text": text, "embeddings": None})
    node.embedding = None


def annotate(node: BaseNode, key: str, value: Any) -> None:
    """Add metadata that neither the embedding nor the model gets to see."""
    node.metadata[key] = value
    for keys in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
        if key not in keys:
            keys.append(key)


def merge(node: BaseNode, metadata: Mapping[str, Any]) -> None:
    """Give a node what its duplicates say; neither the embedding nor the model gets to see new keys."""
    for key, value in metadata.items():
        if key in node.metadata:
            node.metadata[key] = value
        else:
            annotate(node, key, value)


def annotate_canonical(
    node: BaseNode, url_keys: Sequence[str], policy: UrlPolicy, *, rewrite_source: bool
) -> None:
    """Write what :func:`rag_dedup.adapter.make_canonical_metadata` says into the metadata of a node."""
    found = make_canonical_metadata(node.metadata, url_keys, policy, rewrite_source=rewrite_source)
    for key, value in found.items():
        if key == "source" and key in node.metadata:  # whoever saw the old one may see the new one
            node.metadata[key] = value
        else:
            annotate(node, key, value)


def find_document(node: BaseNode) -> str | None:
    """Return the id of the document that a node is from.

    >>> find_document(Document(text="Hello", id_="a")), find_document(TextNode(text="Hello"))
    ('a', None)
    """
    info = get_link(node, NodeRelationship.SOURCE)
    if info is not None:
        return info.node_id
    return node.id_ if isinstance(node, Document) else None


def pack(document: EngineDocument, node: BaseNode) -> EngineDocument:
    """Give a document of the engine all that it takes to rebuild its node.

    Raises:
        InputError: the node cannot be written as JSON.
    """
    # The engine has text and metadata, and an embedding would be of no use to it.
    without = {"embedding": True, "metadata": True, "text": True, "text_resource": {"text"}}
    try:
        data = {TYPE_KEY: node.get_type(), DATA_KEY: node.to_dict(exclude=without)}
        packed = json.dumps(data, default=str)
    except Exception as error:
        raise InputError(f"node {node.id_!r} cannot be written as JSON: {error}") from error
    return replace(document, metadata={**node.metadata, _NODE_KEY: packed})


def unpack(document: EngineDocument) -> BaseNode:
    """Rebuild the node of a document.

    >>> node = TextNode(text="Hello", id_="a", metadata={"page": 1})
    >>> unpack(pack(EngineDocument("a", "Hello"), node)) == node
    True
    """
    metadata = copy_deeply(dict(document.metadata), f"node {document.id!r}")
    node = json_to_doc(json.loads(metadata.pop(_NODE_KEY)))
    node.metadata = metadata
    for key in (SOURCES_KEY, COUNT_KEY):
        if key in metadata:
            annotate(node, key, metadata[key])
    set_text(node, document.text)
    return node
