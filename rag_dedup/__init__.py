"""Every passage enters your vector store once.

```
words -> pure -> state -> engine -> rim          each imports only what stands to its left

words    document  errors
pure     text  kernels  url  segment  edge  fingerprint  guard  survivor
state    boilerplate  index
engine   request  intake  draft  matcher  outcome  planner  deduplicator  operations
rim      html  files  adapter  langchain  llama_index  audit  cli
```

Frameworks are imported in the rim, by the module of their name, and only when that is imported.
"""

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
