"""What the metadata of a survivor say of its duplicates."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_dedup.document import Document, Entry
from rag_dedup.preference import newest

__all__ = ["COUNT_KEY", "SOURCES_KEY", "Merge", "add_metadata"]

SOURCES_KEY = "rag_dedup_sources"
"""Where the sources of a passage stand: a JSON list of strings, since flat stores refuse lists."""

COUNT_KEY = "rag_dedup_count"
"""How many sources a passage has, with those that ``SOURCES_KEY`` has no room for."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What a survivor gets from its duplicates; all else in its metadata stays its own.

    A passage with more than one source gets ``rag_dedup_sources`` and ``rag_dedup_count``.

    Args:
        union: keys whose values, or the items of whose lists, are united into one list.
        newest: keys that get the newest date or version, see :func:`rag_dedup.preference.newest`.
        max_characters: of ``rag_dedup_sources``, 2 or more; sources beyond are only counted.

    >>> from rag_dedup.document import Place
    >>> page = Entry(("", "a"), "Hello", "https://example.com/a", 0, Place(metadata={"tags": ["x"]}))
    >>> copy = Entry(("", "b"), "Hello", "https://example.com/b", 1, Place(metadata={"tags": "y"}), "a")
    >>> Merge(union=["tags"]).combine(page, [copy])["tags"]
    ['x', 'y']
    """

    union: Sequence[str] = ()
    newest: Sequence[str] = ()
    max_characters: int = 4000

    @property
    def keys(self) -> tuple[str, ...]:
        """The metadata keys that it may write."""
        return (SOURCES_KEY, COUNT_KEY, *self.union, *self.newest)

    def combine(self, survivor: Entry, duplicates: Sequence[Entry]) -> dict[str, Any]:
        """Return what the metadata of a survivor get; nothing if it is alone.

        Args:
            survivor: stands for all of its sources.
            duplicates: of its own scope, in order.
        """
        members = (survivor, *duplicates)
        sources = list(dict.fromkeys(source for entry in members for source in entry.sources))
        places = [place for e in members for place in (e.place, *(place for _, place in e.elsewhere))]
        if len(places) == 1:
            return {}
        metadata = [place.metadata for place in places]
        found: dict[str, Any] = {key: _unite(metadata, key) for key in self.union if _has(metadata, key)}
        for key in self.newest:
            if _has(metadata, key):
                found[key] = _find_newest(metadata, key)
        if len(sources) > 1:
            found[SOURCES_KEY] = _list_sources(sources, self.max_characters)
            found[COUNT_KEY] = len(sources)
        return found

    def apply(self, survivor: Entry, duplicates: Sequence[Entry]) -> Document:
        """Return a survivor with all that :meth:`combine` gives it."""
        return add_metadata(survivor.document, self.combine(survivor, duplicates))


def add_metadata(document: Document, more: Mapping[str, Any]) -> Document:
    """Return a document with more metadata, copied."""
    return replace(document, metadata={**document.metadata, **copy.deepcopy(dict(more))})


def _has(metadata: Iterable[Mapping[str, Any]], key: str) -> bool:
    return any(key in one for one in metadata)


def _unite(metadata: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """Return the values of a key, each once, in order."""
    values: dict[str, Any] = {}
    for one in metadata:
        value = one.get(key)
        items = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
        for item in items:
            values.setdefault(repr(item), item)  # not every value can be hashed or compared
    return list(values.values())


def _find_newest(metadata: Sequence[Mapping[str, Any]], key: str) -> Any:
    age = newest(key)
    having = [one for one in metadata if key in one]
    return min(having, key=lambda one: age(Document("", "", metadata=one)))[key]


def _list_sources(sources: Sequence[str], most: int) -> str:
    """Return as many sources as there is room for, as JSON."""
    left = most - len("[]")
    listed: list[str] = []
    for source in sources:
        left -= len(json.dumps(source, ensure_ascii=False)) + (2 if listed else 0)
        if left < 0:
            break
        listed.append(source)
    return json.dumps(listed, ensure_ascii=False)
