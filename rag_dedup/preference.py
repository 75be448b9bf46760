"""Which document of a call should survive: keys to sort by, the preferred first.

Give one or several to ``Deduplicator(prefer=...)``; where the first sees no difference, the next one
decides, and in the end the order in which the documents came. What an index holds already stays, however
much a new document is preferred: a later copy cannot displace a survivor.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from rag_dedup.document import Document
from rag_dedup.url import SAFE, canonicalize_url

__all__ = ["Preference", "earliest", "longest", "newest", "self_canonical"]

Preference = Callable[[Document], Any]
"""Returns what documents are sorted by, the smallest first."""

_PART = re.compile(r"\d{1,18}|(?:alpha|beta|rc|dev|pre|snapshot)")
_MOST_PARTS = 12
_END, _EARLY, _NOTHING = 1, 2, 3  # all parts are 0 or less


def longest(document: Document) -> int:
    """Prefer the longest text.

    >>> sorted([Document("a", "short"), Document("b", "not so short")], key=longest)[0].id
    'b'
    """
    return -len(document.text)


def self_canonical(document: Document) -> tuple[int, bool]:
    """Prefer pages that name themselves as canonical, then those that name none, then clean URLs.

    Reads ``url`` and ``metadata["canonical_hint"]``, which ``ExtractHtml`` and the command line write.

    >>> pages = [Document("a", "", url="https://example.com/a?utm_source=x"),
    ...          Document("b", "", url="https://example.com/a")]
    >>> sorted(pages, key=self_canonical)[0].id
    'b'
    """
    url = document.url or document.source
    key = canonicalize_url(url, SAFE) if isinstance(url, str) else None
    hint = document.metadata.get("canonical_hint")
    named = canonicalize_url(hint, SAFE) if isinstance(hint, str) and hint else None
    standing = 1 if named is None else 0 if named == key else 2
    return standing, key is None or key != url


def newest(*names: str) -> Preference:
    """Return a preference for the newest date or version that stands in the metadata.

    Args:
        names: metadata keys, of which the first that is there counts. Values are numbers, dates such as
            ``2026-05-03``, or versions such as ``v2.0`` or ``2.0-rc1``. Documents without come last.

    >>> pages = [Document(v, "", metadata={"version": v}) for v in ("1.10", "1.9", "2.0-rc1", "2.0")]
    >>> [page.id for page in sorted(pages, key=newest("version"))]
    ['2.0', '2.0-rc1', '1.10', '1.9']
    """
    return lambda document: _read_age(document, names)


def earliest(*names: str) -> Preference:
    """Return a preference for the earliest date or version; ``names`` as for :func:`newest`.

    >>> pages = [Document(d, "", metadata={"date": d}) for d in ("2026-05-03", "2025-12-31", "unknown")]
    >>> [page.id for page in sorted(pages, key=earliest("date"))]
    ['2025-12-31', '2026-05-03', 'unknown']
    """

    def read(document: Document) -> tuple[bool, tuple[float, ...]]:
        age = _read_age(document, names)
        return age == (_NOTHING,), tuple(-part for part in age)

    return read


def _read_age(document: Document, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return numbers that are the smaller the newer the document is."""
    for name in names:
        value = document.metadata.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return -value, _END
        parts = _PART.findall(str(value)[:200].lower()) if value is not None else []
        if any(part.isdigit() for part in parts):
            return (*(-int(p) if p.isdigit() else _EARLY for p in parts[:_MOST_PARTS]), _END)
    return (_NOTHING,)
