"""What a draft means: decisions, and what the vector store must do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from rag_dedup.document import Action, Decision, Document, Entry, EntryKey
from rag_dedup.draft import Draft
from rag_dedup.merge import Merge, add_metadata
from rag_dedup.request import Arrivals

__all__ = ["Outcome", "compare_states"]

IsStored = Callable[[Entry], bool]
"""Tells whether the vector store holds an entry."""


class Outcome(NamedTuple):
    """The first fields of a plan, see :class:`rag_dedup.Plan`."""

    decisions: tuple[Decision, ...]
    added: tuple[Document, ...]
    removed: tuple[str, ...]
    promoted: tuple[Document, ...]


def compare_states(
    draft: Draft,
    is_stored: IsStored,
    merge: Merge | None,
    arrivals: Arrivals,
    labels: Sequence[Action],
    uncertain: Set[EntryKey],
) -> Outcome:
    """Compare before and after: that is what the vector store must do.

    Args:
        draft: the state of the index, and what becomes of it.
        is_stored: tells whether the vector store holds an entry.
        merge: what the metadata of a survivor get from its duplicates, if anything.
        arrivals, labels: the documents of the call, and what was decided when each was taken.
        uncertain: documents of which nobody knows whether the vector store holds them.
    """
    given = dict(zip(map(id, arrivals.places), arrivals.given, strict=True))
    arrived = set(arrivals.keys)
    added: list[Document] = []
    promoted: list[Document] = []
    removed: dict[str, None] = {}
    keys = _sort_touched(draft, arrivals, uncertain)
    merged, changed = ({}, {}) if merge is None else _find_merged(draft, merge, keys)
    for key in dict.fromkeys((*keys, *changed)):
        old, new = draft.before(key), draft.entry(key)
        was_stored = old is not None and is_stored(old)
        doubtful = key in uncertain
        if new is None or not is_stored(new):
            if was_stored or doubtful:
                removed[key[1]] = None
        elif old is None or old.text != new.text or (doubtful and key in arrived):
            added.append(_hand_out(new, given, merged))
        elif not was_stored or doubtful:
            promoted.append(_hand_out(new, given, merged))
        elif key in changed:
            (added if key in arrived else promoted).append(_hand_out(new, given, merged))
    for document in (*added, *promoted):
        removed.pop(document.id, None)
    entries = map(draft.entry, arrivals.keys)
    decisions = tuple(map(partial(_decide, is_stored), entries, labels))
    return Outcome(decisions, tuple(added), tuple(removed), tuple(promoted))


def _find_merged(
    draft: Draft, merge: Merge, touched: Iterable[EntryKey]
) -> tuple[dict[EntryKey, dict[str, Any]], dict[EntryKey, None]]:
    """Return what the metadata of survivors get, and which of them had something else before."""
    clusters: dict[EntryKey, None] = {}
    for key in touched:
        for entry in (draft.before(key), draft.entry(key)):
            if entry is not None:
                clusters[key[0], entry.id if entry.survivor is None else entry.survivor] = None
    merged: dict[EntryKey, dict[str, Any]] = {}
    changed: dict[EntryKey, None] = {}
    for key in sorted(clusters, key=partial(_find_order, draft)):
        old, new = draft.before(key), draft.entry(key)
        if new is None or new.survivor is not None:
            continue
        merged[key] = merge.combine(new, draft.of_survivor(key))
        if old is not None and old.survivor is None:
            had = merge.combine(old, draft.before_of_survivor(key))
            if repr(merged[key]) != repr(had):  # not every value can be compared
                changed[key] = None
    return merged, changed


def _sort_touched(draft: Draft, arrivals: Arrivals, uncertain: Set[EntryKey]) -> list[EntryKey]:
    """Return the keys that were touched: those that arrived, in order, then the others by theirs."""
    others = dict.fromkeys([*draft.touched, *sorted(uncertain)])
    first = [key for key in arrivals.keys if others.pop(key, others) is None]
    return first + sorted(others, key=partial(_find_order, draft))


def _find_order(draft: Draft, key: EntryKey) -> int:
    entry = draft.entry(key)
    return -1 if entry is None else entry.order


def _decide(is_stored: IsStored, entry: Entry | None, label: Action) -> Decision:
    """Say what became of a document, at the end of the plan."""
    assert entry is not None, "an arriving document is in the draft"
    (scope, id), _, _, _, _, survivor, method, similarity, guard, _ = entry
    action = "drop" if label == "keep" and not is_stored(entry) else label
    return Decision(id, action, survivor, method, similarity, guard, scope)


def _hand_out(
    entry: Entry, given: dict[int, Document], merged: Mapping[EntryKey, Mapping[str, Any]]
) -> Document:
    """Return what the caller may do anything to: the document that came in, if it is the same, or a copy."""
    more = merged.get(entry.key)
    if more:
        return add_metadata(entry.document, more)
    own = given.get(id(entry.place))
    return own if own is not None and own.scope == entry.key[0] else entry.document
