"""Canonical URLs: the identity of a page (``SAFE``), and what people would call the same page (``WEB``).

```
canonical.py    canonicalize_url: the order of the rules
parse.py        a URL in parts, as browsers read it
host.py         domain names and addresses
escape.py       percent-escapes
query.py        which parameters stay, and in which order
session.py      session tokens
tracking.py     tracking.toml: tracking parameters, exceptions, host rules
policy.py       UrlPolicy, HostRule, SAFE, WEB
metadata.py     find_url
```
"""

from rag_dedup.url.canonical import KEY_SCHEME, canonicalize_url
from rag_dedup.url.metadata import find_url
from rag_dedup.url.policy import SAFE, WEB, HostRule, UrlPolicy

__all__ = [
    "KEY_SCHEME",
    "SAFE",
    "WEB",
    "HostRule",
    "UrlPolicy",
    "canonicalize_url",
    "find_url",
]
