"""What a draft means: decisions, and what the vector store must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import NamedTuple

from rag_dedup.document import Action, Decision, Document, Entry, EntryKey
from rag_dedup.draft import Draft
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
    arrivals: Arrivals,
    labels: Sequence[Action],
    uncertain: Set[EntryKey],
) -> Outcome:
    """Compare before and after: that is what the vector store must do.

    Args:
        draft: the state of the index, and what becomes of it.
        is_stored: tells whether the vector store holds an entry.
        arrivals, labels: the documents of the call, and what was decided when each was taken.
        uncertain: documents of which nobody knows whether the vector store holds them.
    """
    given = dict(zip(map(id, arrivals.places), arrivals.given, strict=True))
    arrived = set(arrivals.keys)
    added: list[Document] = []
    promoted: list[Document] = []
    removed: dict[str, None] = {}
    for key in _sort_touched(draft, arrivals, uncertain):
        old, new = draft.before(key), draft.entry(key)
        was_stored = old is not None and is_stored(old)
        doubtful = key in uncertain
        if new is None or not is_stored(new):
            if was_stored or doubtful:
                removed[key[1]] = None
        elif old is None or old.text != new.text or (doubtful and key in arrived):
            added.append(_hand_out(new, given))
        elif not was_stored or doubtful:
            promoted.append(_hand_out(new, given))
    for document in (*added, *promoted):
        removed.pop(document.id, None)
    entries = map(draft.entry, arrivals.keys)
    decisions = tuple(map(partial(_decide, is_stored), entries, labels))
    return Outcome(decisions, tuple(added), tuple(removed), tuple(promoted))


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


def _hand_out(entry: Entry, given: dict[int, Document]) -> Document:
    """Return what the caller may do anything to: the document that came in, if it is the same, or a copy."""
    own = given.get(id(entry.place))
    return own if own is not None and own.scope == entry.key[0] else entry.document
