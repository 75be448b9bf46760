"""Find the URL of a document in what its loader wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_dedup.url.reference import is_web_url

__all__ = ["find_url"]


def find_url(metadata: Mapping[str, object], keys: Sequence[str]) -> str | None:
    """Return the first value that is an absolute http or https URL with a host.

    Loaders put many things under ``source``: a file name, a row number, the name of a mode.

    Args:
        metadata: what the loader wrote; only read.
        keys: where to look, in this order.

    Returns:
        The value as it stands, or ``None``.

    >>> find_url({"source": "map", "page": 17, "url": "https://example.com/a"}, ["source", "page", "url"])
    'https://example.com/a'
    """
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str) and is_web_url(value):
            return value
    return None
