"""What a draft means: decisions, and what the vector store must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import NamedTuple

from rag_dedup.document import Action, Decision, Document, Entry, EntryKey, copy_document
from rag_dedup.draft import Draft
from rag_dedup.request import Arrival

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
    arrivals: Sequence[Arrival],
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
    given = {id(arrival.document): arrival.given for arrival in arrivals}
    arrived = {arrival.key for arrival in arrivals}
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
        elif old is None or old.document.text != new.document.text or (doubtful and key in arrived):
            added.append(_hand_out(new.document, given))
        elif not was_stored or doubtful:
            promoted.append(_hand_out(new.document, given))
    for document in (*added, *promoted):
        removed.pop(document.id, None)
    decisions = tuple(map(partial(_decide, draft, is_stored), arrivals, labels))
    return Outcome(decisions, tuple(added), tuple(removed), tuple(promoted))


def _sort_touched(draft: Draft, arrivals: Sequence[Arrival], uncertain: Set[EntryKey]) -> list[EntryKey]:
    """Return the keys that were touched: those that arrived, in order, then the others by theirs."""
    others = dict.fromkeys([*draft.touched, *sorted(uncertain)])
    first = [arrival.key for arrival in arrivals if others.pop(arrival.key, others) is None]
    return first + sorted(others, key=partial(_find_order, draft))


def _find_order(draft: Draft, key: EntryKey) -> int:
    entry = draft.entry(key)
    return -1 if entry is None else entry.order


def _decide(draft: Draft, is_stored: IsStored, arrival: Arrival, label: Action) -> Decision:
    """Say what became of a document, at the end of the plan."""
    entry = draft.entry(arrival.key)
    assert entry is not None, "an arriving document is in the draft"
    action: Action = label
    if label == "keep" and not is_stored(entry):
        action = "drop"
    return Decision(
        arrival.key[1],
        action,
        entry.survivor,
        entry.method,
        entry.similarity,
        entry.guard,
        arrival.key[0],
    )


def _hand_out(document: Document, given: dict[int, Document]) -> Document:
    """Return what the caller may do anything to: the document that came in, if it is the same, or a copy."""
    own = given.get(id(document))
    return own if own is not None and own.scope == document.scope else copy_document(document)
