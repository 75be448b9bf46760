"""Transforms for LlamaIndex: between a reader and an embedder.

``CanonicalizeUrls`` and ``StripBoilerplate`` belong before the node parser, ``DropNearDuplicates``
behind it and before the embedding. None of them changes what it is given, so that a docstore sees
the same hashes in every run. All work in an ``IngestionPipeline``, with its cache and with every
docstore strategy::

    drop = DropNearDuplicates(dedup, on_plan=lambda plan: store.delete_nodes(list(plan.removed)))
    pipeline = IngestionPipeline(
        transformations=[CanonicalizeUrls(), StripBoilerplate(), SentenceSplitter(), drop, embedding],
        docstore=docstore, vector_store=store)

A web reader that gives random ids makes every run a new one. Wrap it, and canonical URLs are there before
the pipeline looks at the documents::

    reader = CanonicalUrlReader(SimpleWebPageReader(html_to_text=True))

A document that is gone is deleted by the pipeline (``UPSERTS_AND_DELETE``) without asking any
transform: tell :meth:`rag_dedup.Deduplicator.forget`, and write what it promotes with
:meth:`DropNearDuplicates.rebuild`.

```
transforms.py   the four transforms
readers.py      a reader around a reader
nodes.py        copies of nodes, and nodes as documents of the engine
links.py        previous and next, parent and child
```
"""

from rag_dedup.errors import MissingExtraError

try:
    import llama_index.core.schema  # noqa: F401
except ImportError as error:
    raise MissingExtraError("llama-index", "llama-index-core") from error

from rag_dedup.llama_index.readers import CanonicalUrlReader
from rag_dedup.llama_index.transforms import (
    URL_KEYS,
    CanonicalizeUrls,
    DropNearDuplicates,
    ExtractHtml,
    StripBoilerplate,
)

__all__ = [
    "URL_KEYS",
    "CanonicalUrlReader",
    "CanonicalizeUrls",
    "DropNearDuplicates",
    "ExtractHtml",
    "StripBoilerplate",
]
