"""Every passage enters your vector store once.

```
words -> pure -> state -> engine -> rim          each imports only what stands to its left

words    document  errors
pure     text  kernels  url  segment  page  outline  edge  fingerprint  guard  preference
         survivor  merge
state    tally  saved  boilerplate  index
engine   request  intake  draft  matcher  outcome  planner  deduplicator  operations
rim      html  files  adapter  langchain  llama_index  audit  cli
```

Frameworks are imported in the rim, by the module of their name, and only when that is imported.
The names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_dedup.boilerplate import Removed, SegmentCache, Stripped, strip_boilerplate
    from rag_dedup.deduplicator import Deduplicator
    from rag_dedup.document import (
        Decision,
        Document,
        Drift,
        Explanation,
        GuardHit,
        Plan,
        Provenance,
        Report,
        Skipped,
    )
    from rag_dedup.fingerprint import Exact, MinHash, SimHash, simhash
    from rag_dedup.guard import DEFAULT_GUARDS, Guard
    from rag_dedup.index import MemoryIndex, open_index
    from rag_dedup.merge import Merge
    from rag_dedup.text import content_key
    from rag_dedup.url import (
        SAFE,
        WEB,
        CanonicalVerdict,
        HostRule,
        KnownPages,
        UrlPolicy,
        WebPage,
        canonicalize_url,
        explain_url,
        read_page,
        request_fingerprint,
        resolve_canonical,
    )

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_GUARDS",
    "SAFE",
    "WEB",
    "CanonicalVerdict",
    "Decision",
    "Deduplicator",
    "Document",
    "Drift",
    "Exact",
    "Explanation",
    "Guard",
    "GuardHit",
    "HostRule",
    "KnownPages",
    "MemoryIndex",
    "Merge",
    "MinHash",
    "Plan",
    "Provenance",
    "Removed",
    "Report",
    "SegmentCache",
    "SimHash",
    "Skipped",
    "Stripped",
    "UrlPolicy",
    "WebPage",
    "canonicalize_url",
    "content_key",
    "explain_url",
    "open_index",
    "read_page",
    "request_fingerprint",
    "resolve_canonical",
    "simhash",
    "strip_boilerplate",
]

_MODULES = {
    "boilerplate": (
        "Removed",
        "SegmentCache",
        "Stripped",
        "strip_boilerplate",
    ),
    "deduplicator": ("Deduplicator",),
    "document": (
        "Decision",
        "Document",
        "Drift",
        "Explanation",
        "GuardHit",
        "Plan",
        "Provenance",
        "Report",
        "Skipped",
    ),
    "fingerprint": (
        "Exact",
        "MinHash",
        "SimHash",
        "simhash",
    ),
    "guard": (
        "DEFAULT_GUARDS",
        "Guard",
    ),
    "index": (
        "MemoryIndex",
        "open_index",
    ),
    "merge": ("Merge",),
    "text": ("content_key",),
    "url": (
        "SAFE",
        "WEB",
        "CanonicalVerdict",
        "HostRule",
        "KnownPages",
        "UrlPolicy",
        "WebPage",
        "canonicalize_url",
        "explain_url",
        "read_page",
        "request_fingerprint",
        "resolve_canonical",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562), so that whoever needs only a few of them does not wait for all."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
