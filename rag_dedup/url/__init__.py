"""Canonical URLs: the identity of a page (``SAFE``), and what people would call the same page (``WEB``).

```
the key
    canonical.py    canonicalize_url: the order of the rules
    policy.py       UrlPolicy, HostRule, SAFE, WEB
    explain.py      explain_url: which rules fired
the parts
    parse.py        a URL in parts, as browsers read it
    reference.py    relative references, and which URLs are of the web
    file.py         file URLs
    host.py         domain names and IP addresses
    escape.py       percent-escapes
    query.py        which parameters stay, and in which order
    session.py      session tokens
    tracking.py     tracking.toml: tracking parameters, exceptions, host rules
rel=canonical
    link.py         the Link header
    head.py         the head of an HTML page
    hint.py         what a page says about its address
    page.py         a page and many of them
    site.py         what two URLs have in common: site, locale, page number
    verdict.py      resolve_canonical: whether a page is another one, as it says
others
    metadata.py     find_url: in what a loader wrote
    request.py      request_fingerprint, as Scrapy's
```
"""

from rag_dedup.url.canonical import KEY_SCHEME, canonicalize_url
from rag_dedup.url.explain import FiredRule, UrlExplanation, explain_url
from rag_dedup.url.hint import CanonicalHint, find_canonical_hints
from rag_dedup.url.link import Link, parse_link_header
from rag_dedup.url.metadata import find_url
from rag_dedup.url.page import KnownPages, WebPage, read_page
from rag_dedup.url.policy import SAFE, WEB, HostRule, UrlPolicy
from rag_dedup.url.request import (
    RequestScheme,
    check_request_scheme,
    name_request_scheme,
    request_fingerprint,
)
from rag_dedup.url.site import is_same_site
from rag_dedup.url.verdict import CanonicalVerdict, judge_canonical, resolve_canonical

__all__ = [
    "KEY_SCHEME",
    "SAFE",
    "WEB",
    "CanonicalHint",
    "CanonicalVerdict",
    "FiredRule",
    "HostRule",
    "KnownPages",
    "Link",
    "RequestScheme",
    "UrlExplanation",
    "UrlPolicy",
    "WebPage",
    "canonicalize_url",
    "check_request_scheme",
    "explain_url",
    "find_canonical_hints",
    "find_url",
    "is_same_site",
    "judge_canonical",
    "name_request_scheme",
    "parse_link_header",
    "read_page",
    "request_fingerprint",
    "resolve_canonical",
]
