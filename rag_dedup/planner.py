"""Work out a plan: what would an index look like after these documents, and what changes in the store?

Documents are taken one after the other, so that batching makes no difference, against a
:class:`Draft`: the index as it is, with the plan's own changes laid over it. Nothing is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rag_dedup.document import (
    Action,
    Changes,
    Decision,
    Document,
    Entry,
    EntryKey,
    Plan,
    Report,
    copy_document,
)
from rag_dedup.guard import Guard, Marks, read_marks
from rag_dedup.index import View
from rag_dedup.index.memory import Tables
from rag_dedup.survivor import Verdict, are_family, choose_survivor

__all__ = ["Draft", "Planner", "Rules", "make_token"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How decisions are made."""

    threshold: float
    guards: tuple[Guard, ...]
    annotate: bool

    def is_stored(self, entry: Entry | None) -> bool:
        """Tell whether the vector store holds this entry."""
        return entry is not None and (self.annotate or entry.survivor is None)


class Draft:
    """A view with changes laid over it."""

    def __init__(self, base: View) -> None:
        self._base = base
        self._new = Tables()
        self._new.next_order = base.next_order
        self._hidden: dict[EntryKey, None] = {}  # touched: what the base says of them is no longer so

    @property
    def next_order(self) -> int:
        """The order that the next new entry gets."""
        return self._new.next_order

    @property
    def touched(self) -> list[EntryKey]:
        """Every key that was put or removed."""
        return list(self._hidden)

    def put(self, entry: Entry) -> None:
        """Insert or replace an entry."""
        self._hidden[entry.key] = None
        self._new.put(entry)

    def remove(self, key: EntryKey) -> None:
        """Remove an entry."""
        self._hidden[key] = None
        self._new.remove(key)

    def entry(self, key: EntryKey) -> Entry | None:
        """Return the entry of a key."""
        return (self._new if key in self._hidden else self._base).entries([key])[0]

    def of_source(self, scope: str, source: str) -> list[Entry]:
        """Return the entries of a source."""
        return self._merge(
            self._base.of_sources([(scope, source)])[0], self._new.of_sources([(scope, source)])[0]
        )

    def of_survivor(self, key: EntryKey) -> list[Entry]:
        """Return the duplicates of a survivor."""
        return self._merge(self._base.of_survivors([key])[0], self._new.of_survivors([key])[0])

    def candidates(self, entry: Entry, from_base: list[Entry] | None = None) -> list[Entry]:
        """Return the survivors that share an exact key or band; ``from_base`` if already asked."""
        if from_base is None:
            from_base = self._base.candidates([entry.exact_key], entry.bands[None, :])[0]
        return self._merge(from_base, self._new.candidates([entry.exact_key], entry.bands[None, :])[0])

    def changes(self) -> Changes:
        """Return what must be written to turn the base into the draft."""
        gone = [key for key in self._hidden if key not in self._new]
        known = self._base.entries(gone)
        return Changes(
            put=tuple(self._new),
            delete=tuple(key for key, entry in zip(gone, known, strict=True) if entry is not None),
        )

    def _merge(self, from_base: Iterable[Entry], from_new: Iterable[Entry]) -> list[Entry]:
        entries = [entry for entry in from_base if entry.key not in self._hidden]
        entries.extend(from_new)
        entries.sort(key=lambda entry: entry.order)
        return entries


@dataclass
class Planner:
    """One plan in the making."""

    view: View
    rules: Rules
    draft: Draft = field(init=False)
    _marks: dict[str, Marks] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.draft = Draft(self.view)

    def take_documents(self, arrivals: Sequence[Entry], *, complete: bool) -> Plan:
        """Decide on new documents, in order.

        Args:
            arrivals: the documents, signed; survivor and order are still to be found.
            complete: what a source of these documents has in the index and not here is released.
        """
        found = self._ask_base(arrivals)
        turns = _find_turns(arrivals) if complete else {}
        arriving = {entry.key for entry in arrivals}
        orphans: dict[tuple[str, str], list[EntryKey]] = {}
        labels: list[Action] = []
        for i, (arrival, from_base) in enumerate(zip(arrivals, found, strict=True)):
            source = (arrival.document.scope, arrival.source or "")
            first, last = turns.get(source, (-1, -1))
            if i == first:
                stale = [e for e in self.draft.of_source(*source) if e.key not in arriving]
                orphans[source] = self._remove(self._release(stale, source[1]))
            labels.append(self._take(arrival, from_base))
            if i == last:
                # Now, and not before: an edited passage keeps its duplicates.
                self._settle(key for key in orphans.pop(source) if self._is_orphan(key))
        return self._finish(arrivals, labels)

    def forget(self, entries: Sequence[Entry], source: str | None = None) -> Plan:
        """Remove entries, or those that no other source has, and promote what they stood for."""
        self._settle(self._remove(entries if source is None else self._release(entries, source)))
        return self._finish((), ())

    def _release(self, entries: Iterable[Entry], source: str) -> list[Entry]:
        """Take a source away from entries; return those that have no other."""
        gone = []
        for entry in entries:
            left = tuple(place for place in entry.elsewhere if place[0] != source)
            if entry.source != source:
                self.draft.put(replace(entry, elsewhere=left))
            elif left:
                (source_left, document), *rest = left
                self.draft.put(replace(entry, document=document, source=source_left, elsewhere=tuple(rest)))
            else:
                gone.append(entry)
        return gone

    def _ask_base(self, arrivals: Sequence[Entry]) -> list[list[Entry] | None]:
        """Find the candidates of all new texts at once; ``None`` for those that are known."""
        known = self.view.entries([entry.key for entry in arrivals])
        found: list[list[Entry] | None] = [None] * len(arrivals)
        new = [
            i
            for i, (arrival, entry) in enumerate(zip(arrivals, known, strict=True))
            if entry is None or entry.document.text != arrival.document.text
        ]
        if new:
            keys = [arrivals[i].exact_key for i in new]
            bands = np.stack([arrivals[i].bands for i in new])
            for i, candidates in zip(new, self.view.candidates(keys, bands), strict=True):
                found[i] = candidates
        return found

    def _take(self, arrival: Entry, from_base: list[Entry] | None) -> Action:
        known = self.draft.entry(arrival.key)
        if known is None:
            self._place(replace(arrival, order=self.draft.next_order), from_base)
            return "keep"
        if known.document.text == arrival.document.text:
            self._refresh(known, _add_source(known, arrival))
            return "unchanged"
        orphans = self._remove([known])
        self._place(replace(arrival, order=known.order), from_base)
        self._settle(orphans)
        return "revise"

    def _place(self, entry: Entry, from_base: list[Entry] | None = None) -> None:
        """Put an entry where it belongs: behind its survivor, or as one itself."""
        verdict = choose_survivor(
            entry,
            self.draft.candidates(entry, from_base),
            threshold=self.rules.threshold,
            guards=self.rules.guards,
            read=self._read,
        )
        self.draft.put(_with_verdict(entry, verdict))

    def _refresh(self, known: Entry, fresh: Entry) -> None:
        """Take over what changed around an unchanged text: metadata, source, span, family."""
        if fresh is not known:
            self.draft.put(fresh)
        if fresh.survivor is not None:
            survivor = self._survivor_of(fresh)
            if survivor is None or are_family(fresh, survivor):
                self._place(fresh)
        elif not _same_family(known, fresh):
            self._settle([e.key for e in self.draft.of_survivor(fresh.key) if are_family(fresh, e)])

    def _remove(self, entries: Iterable[Entry]) -> list[EntryKey]:
        """Remove entries; return the keys of those that have lost their survivor."""
        orphans: dict[EntryKey, None] = {}
        for entry in entries:
            orphans.update((orphan.key, None) for orphan in self.draft.of_survivor(entry.key))
            self.draft.remove(entry.key)
            orphans.pop(entry.key, None)
        return [key for key in orphans if self.draft.entry(key) is not None]

    def _survivor_of(self, entry: Entry) -> Entry | None:
        """Return the live survivor of a duplicate, ``None`` if it is gone."""
        assert entry.survivor is not None
        survivor = self.draft.entry((entry.document.scope, entry.survivor))
        return survivor if survivor is not None and survivor.survivor is None else None

    def _is_orphan(self, key: EntryKey) -> bool:
        entry = self.draft.entry(key)
        return entry is not None and entry.survivor is not None and self._survivor_of(entry) is None

    def _settle(self, orphans: Iterable[EntryKey]) -> None:
        """Find a new survivor for each orphan, earliest first, or promote it."""
        waiting = [entry for key in orphans if (entry := self.draft.entry(key)) is not None]
        for entry in sorted(waiting, key=lambda entry: entry.order):
            self._place(entry)

    def _read(self, entry: Entry) -> Marks:
        """Read the marks of an entry once for each plan."""
        text = entry.document.text
        marks = self._marks.get(text)
        if marks is None:
            marks = self._marks[text] = read_marks(self.rules.guards, text)
        return marks

    def _finish(self, arrivals: Sequence[Entry], labels: Sequence[Action]) -> Plan:
        """Compare before and after: that is what the vector store must do."""
        decisions = tuple(self._decide(*pair) for pair in zip(arrivals, labels, strict=True))
        touched = self.draft.touched
        before = dict(zip(touched, self.view.entries(touched), strict=True))
        turn = {entry.key: i for i, entry in reversed(list(enumerate(arrivals)))}
        touched.sort(key=lambda key: (turn.get(key, len(turn)), self._order_of(key)))
        added: list[Document] = []
        promoted: list[Document] = []
        removed: dict[str, None] = {}
        written: set[str] = set()
        for key in touched:
            old, new = before[key], self.draft.entry(key)
            if new is None or not self.rules.is_stored(new):
                if self.rules.is_stored(old):
                    removed[key[1]] = None
            elif old is None or old.document.text != new.document.text:
                added.append(copy_document(new.document))
                written.add(key[1])
            elif not self.rules.is_stored(old):
                promoted.append(copy_document(new.document))
                written.add(key[1])
        for id in written:
            removed.pop(id, None)
        report = Report.count(decisions, added=len(added), removed=len(removed), promoted=len(promoted))
        return Plan(
            decisions=decisions,
            added=tuple(added),
            removed=tuple(removed),
            promoted=tuple(promoted),
            report=report,
            generation=self.view.generation,
            changes=self.draft.changes(),
        )

    def _order_of(self, key: EntryKey) -> int:
        entry = self.draft.entry(key)
        return -1 if entry is None else entry.order

    def _decide(self, arrival: Entry, label: Action) -> Decision:
        """Say what became of a document, at the end of the plan."""
        entry = self.draft.entry(arrival.key)
        assert entry is not None, "an arriving document is in the draft"
        action: Action = label
        if label == "keep" and not self.rules.is_stored(entry):
            action = "drop"
        return Decision(
            id=entry.document.id,
            action=action,
            survivor=entry.survivor,
            method=entry.method,
            similarity=entry.similarity,
            guard=entry.guard,
            scope=entry.document.scope,
        )


def _find_turns(arrivals: Sequence[Entry]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return where each source has its first and its last document in this call."""
    turns: dict[tuple[str, str], tuple[int, int]] = {}
    for i, entry in enumerate(arrivals):
        if entry.source is not None:
            source = (entry.document.scope, entry.source)
            turns[source] = (turns.get(source, (i, i))[0], i)
    return turns


def _add_source(known: Entry, arrival: Entry) -> Entry:
    """Return a known entry with what an arrival of the same text says of its source."""
    document, source = arrival.document, arrival.source
    if known.source in (None, source):
        fresh = replace(known, document=document, source=source)
        return known if _same_surroundings(known, fresh) else fresh
    if source is None:
        return known
    places = dict(known.elsewhere)
    before = places.get(source)
    if before is not None and _same_document(before, document):
        return known
    return replace(known, elsewhere=tuple({**places, source: document}.items()))


def _with_verdict(entry: Entry, verdict: Verdict) -> Entry:
    return replace(
        entry,
        survivor=verdict.survivor,
        method=verdict.method,
        similarity=verdict.similarity,
        guard=verdict.guard,
    )


def _same_family(a: Entry, b: Entry) -> bool:
    return (a.source, a.document.span, a.document.related) == (b.source, b.document.span, b.document.related)


def _same_surroundings(a: Entry, b: Entry) -> bool:
    return a.source == b.source and _same_document(a.document, b.document)


def _same_document(a: Document, b: Document) -> bool:
    if (a.url, a.source, a.span, a.related) != (b.url, b.source, b.span, b.related):
        return False
    try:
        return bool(a.metadata == b.metadata)
    except Exception:  # values that refuse comparison, such as arrays: take the new ones
        return False


def make_token(plan: Plan) -> str:
    """Return a digest of a plan, so that committing it twice can be told from committing another."""
    digest = hashlib.sha256(str(plan.generation).encode())
    for entry in plan.changes.put:
        part = (entry.document, entry.source, entry.order, entry.survivor, entry.elsewhere)
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    digest.update(repr(plan.changes.delete).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
