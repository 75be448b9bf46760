"""Take documents in: each with its scope and its source, and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rag_dedup.document import Document, EntryKey, Place
from rag_dedup.errors import DuplicateIdError, InputError, MissingScopeError
from rag_dedup.request import Arrivals
from rag_dedup.url import SAFE, canonicalize_url

__all__ = ["ScopeKey", "find_scope", "find_source", "take_in"]

ScopeKey = str | Sequence[str] | Callable[[Document], str]
"""A metadata key, several of them, or a function of the document."""


def take_in(
    documents: Iterable[Document], scope_key: ScopeKey | None, check: Callable[[Document], None]
) -> Arrivals:
    """Return documents with their scope and source and a copy of their metadata.

    Args:
        documents: of one call.
        scope_key: where the scope of a document comes from.
        check: raises for what the index cannot hold.

    Raises:
        DuplicateIdError: one id with two texts.
        MissingScopeError: a document without the scope that ``scope_key`` promises.
        InputError: something that is not a document.
    """
    if isinstance(documents, (Document, str)):
        raise InputError(f"documents must be several Documents, not one {type(documents).__name__}")
    arrivals = Arrivals(list(documents))
    texts: dict[EntryKey, str] = {}
    names: dict[str, str] = {}
    for number, document in enumerate(arrivals.given):
        _check(number, document)
        key = (find_scope(document, scope_key), document.id)
        if texts.setdefault(key, document.text) != document.text:
            raise DuplicateIdError(f"id {document.id!r} occurs twice in this call, with different texts")
        place = Place.of(document)
        check(document)
        arrivals.keys.append(key)
        arrivals.sources.append(find_source(document.source, document.url, names))
        arrivals.places.append(place)
    return arrivals


def _check(number: int, document: object) -> None:
    """See whether it is a document of the right types."""
    if not isinstance(document, Document):
        raise InputError(f"document {number} is a {type(document).__name__}, not a Document")
    if not isinstance(document.id, str) or not isinstance(document.text, str):
        raise InputError(f"document {number}: id and text must be str")
    related = document.related
    named = isinstance(related, tuple) and all(isinstance(id, str) for id in related)
    if not named or not _is_span(document.span):
        raise InputError(
            f"document {document.id!r}: related must be a tuple of ids, span None or (start, end)"
        )


def find_scope(document: Document, key: ScopeKey | None) -> str:
    """Return the scope of a document.

    Raises:
        MissingScopeError: the document lacks it.

    >>> find_scope(Document("a", "", metadata={"tenant": "t"}), "tenant")
    't'
    """
    if key is None:
        scope: object = document.scope
    elif callable(key):
        scope = key(document)
    else:
        names = [key] if isinstance(key, str) else list(key)
        values = [document.metadata.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if value is None or value == "" or value == []:
                raise MissingScopeError(f"document {document.id!r} has no {name!r} in its metadata")
        scope = values[0] if isinstance(key, str) and isinstance(values[0], str) else _encode(values)
    if not isinstance(scope, str) or (key is not None and not scope):
        raise MissingScopeError(f"document {document.id!r}: its scope is {scope!r}, not a name")
    return scope


def find_source(source: str | None, url: str | None, names: dict[str, str]) -> str | None:
    """Return the key of a source: canonical when it is a URL, ``None`` for a placeholder.

    Args:
        source, url: what the document says.
        names: the key of each name so far, since many chunks come from one page.
    """
    for name in (source, url):
        if isinstance(name, str):
            key = names.get(name)
            if key is None:
                key = names[name] = canonicalize_url(name, SAFE)
            if key:
                return key
    return None


_FARTHEST = 1 << 63


def _is_span(span: object) -> bool:
    if span is None:
        return True
    return (
        isinstance(span, tuple)
        and len(span) == 2
        and all(isinstance(place, int) and abs(place) <= _FARTHEST for place in span)
    )


def _encode(values: list[Any]) -> str:
    """Write scope values as JSON; lists are sets (an ACL has no order), dict keys are sorted."""
    plain = [sorted(v, key=repr) if isinstance(v, (list, tuple, set, frozenset)) else v for v in values]
    try:
        return json.dumps(plain, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise MissingScopeError(f"a scope must be made of JSON values: {error}") from error
