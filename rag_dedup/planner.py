"""Work out a plan: what would an index look like after these documents, and what changes in the store?

Documents are taken one after the other, so that batching makes no difference, against a
:class:`Draft`: the index as it is, with the plan's own changes laid over it. What can be worked out
beforehand is worked out for a block of them at once, see :class:`Matcher`.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from rag_dedup.document import (
    Action,
    Document,
    Entry,
    EntryKey,
    GuardHit,
    Plan,
    Report,
    Run,
    Source,
)
from rag_dedup.draft import Draft
from rag_dedup.errors import UnknownRunError
from rag_dedup.fingerprint import MinHash
from rag_dedup.guard import Guard, Marks, compare_marks, find_difference, read_marks
from rag_dedup.index import View
from rag_dedup.matcher import MOST_CANDIDATES, Matcher
from rag_dedup.outcome import compare_states
from rag_dedup.request import Arrival, Call, Ingestion, Removal, Request, Sweep
from rag_dedup.survivor import UNLIKE_ALL, Verdict, are_family, choose_survivor

__all__ = ["Rules", "make_plan"]

_FEW = 4
"""So many near survivors are compared one by one."""

_CHARACTERS_PER_BLOCK = 1 << 24
"""Most characters of a block of more than one document: its shingles take about four times as many bytes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How decisions are made.

    Args:
        minhash: the fingerprint, with the threshold.
        guards: what must not differ between near-duplicates.
        annotate: whether duplicates are labelled and not dropped.
        batch_size: documents that are worked on at once, 1 or more; no decision depends on it.
        workers: threads that sign, 1 or more.
        limit: survivors that are compared for each key, 1 or more: the earliest.
    """

    minhash: MinHash
    guards: tuple[Guard, ...]
    annotate: bool
    batch_size: int
    workers: int
    limit: int = MOST_CANDIDATES

    def is_stored(self, entry: Entry) -> bool:
        """Tell whether the vector store holds this entry."""
        return entry.survivor is None or self.annotate


def make_plan(view: View, rules: Rules, request: Request, uncertain: Sequence[EntryKey] = ()) -> Plan:
    """Work out what a call changes in the state of an index that ``view`` shows.

    Args:
        view: the state.
        rules: how decisions are made.
        request: the call.
        uncertain: documents of which nobody knows whether the vector store holds them: the plan says
            of each what it must do.

    Raises:
        UnknownRunError: the run of a sweep has seen nothing of its scope.
    """
    planner = Planner(view, rules, frozenset(uncertain))
    if isinstance(request, Ingestion):
        return planner.take_documents(request)
    if isinstance(request, Sweep):
        return planner.sweep(request)
    return planner.forget(request, request)


class Block(NamedTuple):
    """Texts that were matched together.

    Args:
        matcher: what is like them.
        rows: their places in it, by scope and text.
        whole: whether all is there that may have to be placed while the block is taken.
    """

    matcher: Matcher | None
    rows: dict[tuple[str, str], int]
    whole: bool


NOTHING = Block(None, {}, whole=False)


@dataclass
class Planner:
    """One plan in the making."""

    view: View
    rules: Rules
    uncertain: frozenset[EntryKey]
    draft: Draft = field(init=False)
    _block: Block = field(init=False, default=NOTHING)
    _marks: dict[str, Marks] = field(init=False, default_factory=dict)
    _orphans: dict[Source, list[EntryKey]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.draft = Draft(self.view)

    def take_documents(self, ingestion: Ingestion) -> Plan:
        """Decide on new documents, in order."""
        arrivals = ingestion.arrivals
        call = Call(arrivals, ingestion.complete)
        labels: list[Action] = []
        start = 0
        while start < len(arrivals):
            stop = self._prepare(call, start)
            for i in range(start, stop):
                if i in call.starts:
                    source = call.starts[i]
                    stale = self._find_stale(call, source)
                    self._orphans[source] = self._remove(self._release(stale, source[1]))
                labels.append(self._take(arrivals[i]))
                if i in call.ends:
                    # Now, and not before: an edited passage keeps its duplicates.
                    orphans = self._orphans.pop(call.ends[i])
                    self._settle(key for key in orphans if self._is_orphan(key))
            start = stop
        return self._finish(ingestion, arrivals, labels)

    def forget(self, removal: Removal, request: Request) -> Plan:
        """Remove entries, and promote what they stood for; ``request`` is what asked for it."""
        gone = [entry for entry in self.view.entries(removal.keys) if entry is not None]
        for (_, name), entries in zip(removal.sources, self.view.of_sources(removal.sources), strict=True):
            gone += self._release([self.draft.entry(entry.key) or entry for entry in entries], name)
        self._settle(self._remove(gone))
        return self._finish(request, (), (), forgotten=tuple(removal.sources))

    def sweep(self, sweep: Sweep) -> Plan:
        """Forget the sources that a run, and perhaps the runs since, have not seen."""
        names = [run.name for run in self.view.list_runs()]
        number = names.index(sweep.run) + 1 if sweep.run in names else None
        seen = {key: last for key, last in self.view.list_sources().items() if key[0] == sweep.scope}
        if number is None or (number not in seen.values() and not sweep.spare_unmarked):
            raise UnknownRunError(
                f"run {sweep.run!r} has seen no source of scope {sweep.scope!r}; nothing is forgotten"
            )
        gone = [
            source
            for source, last in sorted(seen.items())
            if last < number and (last or not sweep.spare_unmarked)
        ]
        return self.forget(Removal(sources=gone), sweep)

    def _prepare(self, call: Call, start: int) -> int:
        """Work out a block that begins with document ``start``; return where it ends."""
        size = self.rules.batch_size
        arrivals = call.arrivals[start : start + size]
        if call.starts:
            sources = (call.starts.get(i) for i in range(start, start + len(arrivals)))
            self.draft.load_sources(source for source in sources if source is not None)
        texts: Counter[tuple[str, str]] = Counter()
        waiting: dict[EntryKey, Entry] = {}
        going = False
        characters, stop = 0, start
        for arrival, known in zip(arrivals, self.draft.load([a.key for a in arrivals]), strict=True):
            characters += len(arrival.document.text)
            moving: list[Entry] = []
            if known is not None or stop in call.starts or stop in call.ends:
                gone, moving = self._foresee(call, stop, known)
                going = going or gone
            full = stop - start + len(waiting) + len(moving) >= size or characters > _CHARACTERS_PER_BLOCK
            if full and stop > start:
                break
            waiting.update((entry.key, entry) for entry in moving)
            if known is None or arrival.key in waiting or known.document.text != arrival.document.text:
                texts[arrival.key[0], arrival.document.text] += 1
            stop += 1
        # The orphans of a single document can be too many to hold: they wait until it is placed.
        whole = len(waiting) < size
        if whole:
            texts.update(map(_name_text, waiting.values()))
        self._block = self._match(texts, changing=going or bool(waiting), whole=whole)
        return stop

    def _match(self, texts: Counter[tuple[str, str]], *, changing: bool, whole: bool) -> Block:
        """Sign texts of a scope, each once, and find what is like them."""
        if not texts:
            return Block(None, {}, whole)
        self._marks.clear()
        scopes, distinct = [scope for scope, _ in texts], [text for _, text in texts]
        signed = self.rules.minhash.sign_all(distinct, scopes, workers=self.rules.workers)
        matcher = Matcher(
            self.draft,
            distinct,
            signed,
            list(texts.values()),
            threshold=self.rules.minhash.threshold,
            changing=changing,
            limit=self.rules.limit,
        )
        return Block(matcher, dict(zip(texts, range(len(texts)), strict=True)), whole)

    def _foresee(self, call: Call, i: int, known: Entry | None) -> tuple[bool, list[Entry]]:
        """Tell whether taking a document may remove a survivor, and what may have to be placed again."""
        arrival = call.arrivals[i]
        going: list[Entry] = []
        moving: list[Entry] = []
        if (source := call.starts.get(i)) is not None:
            going += self._find_stale(call, source)
        if (source := call.ends.get(i)) is not None:
            orphans = map(self.draft.entry, self._orphans.get(source, ()))
            moving += [entry for entry in orphans if entry is not None]
        if known is None:
            pass
        elif known.document.text != arrival.document.text:
            going.append(known)
        elif _changes_family(known, arrival):
            going.append(known)
            moving.append(known)
        elif known.survivor is not None:
            survivor = self._survivor_of(known)
            if survivor is None or _are_relatives(known, survivor):
                moving.append(known)
        for entry in going:
            if entry.survivor is None:
                moving += self.draft.of_survivor(entry.key)
        return bool(going), moving

    def _find_stale(self, call: Call, source: Source) -> list[Entry]:
        """Return what a complete source has lost."""
        return [entry for entry in self.draft.of_source(source) if entry.key not in call.keys]

    def _release(self, entries: Iterable[Entry], source: str) -> list[Entry]:
        """Take a source away from entries; return those that have no other."""
        gone = []
        for entry in entries:
            left = tuple(place for place in entry.elsewhere if place[0] != source)
            if entry.source != source:
                self.draft.put(entry._replace(elsewhere=left))
            elif left:
                (source_left, document), *rest = left
                self.draft.put(entry._replace(document=document, source=source_left, elsewhere=tuple(rest)))
            else:
                gone.append(entry)
        return gone

    def _take(self, arrival: Arrival) -> Action:
        key, document, source, _ = arrival
        known = self.draft.entry(key)
        if known is None:
            self._place(key, document, source, self.draft.next_order)
            return "keep"
        if known.document.text == document.text:
            self._refresh(known, _add_source(known, arrival))
            return "unchanged"
        orphans = self._remove([known])
        self._place(key, document, source, known.order)
        self._settle(orphans)
        return "revise"

    def _place(
        self,
        key: EntryKey,
        document: Document,
        source: str | None,
        order: int,
        elsewhere: tuple[tuple[str, Document], ...] = (),
    ) -> None:
        """Put a document where it belongs: behind its survivor, or as one itself."""
        matcher, row = self._block.matcher, self._block.rows[key[0], document.text]
        assert matcher is not None, "a text that has a row was matched"
        verdict = self._judge(document, source, matcher, row)
        entry = Entry(
            key,
            document,
            source,
            order,
            verdict.survivor,
            verdict.method,
            verdict.similarity,
            verdict.guard,
            elsewhere,
        )
        self.draft.put(entry)
        if verdict.survivor is None and matcher.has_keys(row):
            self.draft.post(entry, matcher.signatures, row)
            matcher.place(row, entry)

    def _judge(self, document: Document, source: str | None, matcher: Matcher, row: int) -> Verdict:
        """Say which survivor a document has."""
        equal = matcher.find_equal(row)
        if equal is not None and not are_family(document, source, equal):
            return Verdict(equal.document.id, "exact", 1.0)
        near = matcher.find_near(row)
        if not near:
            return UNLIKE_ALL
        # Where there are many, reading each text once pays.
        differ = self._find_difference if len(near) <= _FEW else self._compare_marks
        return choose_survivor(document, source, near, differ)

    def _place_again(self, entry: Entry) -> None:
        """Place again what is there."""
        self._place(entry.key, entry.document, entry.source, entry.order, entry.elsewhere)

    def _refresh(self, known: Entry, fresh: Entry) -> None:
        """Take over what changed around an unchanged text: metadata, source, span, family."""
        if fresh is not known:
            self.draft.put(fresh)
        if fresh.survivor is not None:
            survivor = self._survivor_of(fresh)
            if survivor is None or _are_relatives(fresh, survivor):
                self._place_again(fresh)
        elif not _same_family(known, fresh):
            self._settle([e.key for e in self.draft.of_survivor(fresh.key) if _are_relatives(fresh, e)])

    def _remove(self, entries: Iterable[Entry]) -> list[EntryKey]:
        """Remove entries; return the keys of those that have lost their survivor."""
        orphans: dict[EntryKey, None] = {}
        for entry in entries:
            if entry.survivor is None:
                orphans.update((orphan.key, None) for orphan in self.draft.of_survivor(entry.key))
            self.draft.remove(entry.key)
            orphans.pop(entry.key, None)
        return [key for key in orphans if self.draft.entry(key) is not None]

    def _survivor_of(self, entry: Entry) -> Entry | None:
        """Return the live survivor of a duplicate, ``None`` if it is gone."""
        assert entry.survivor is not None
        survivor = self.draft.entry((entry.key[0], entry.survivor))
        return survivor if survivor is not None and survivor.survivor is None else None

    def _is_orphan(self, key: EntryKey) -> bool:
        entry = self.draft.entry(key)
        return entry is not None and entry.survivor is not None and self._survivor_of(entry) is None

    def _settle(self, orphans: Iterable[EntryKey]) -> None:
        """Find a new survivor for each orphan, earliest first, or promote it."""
        waiting = [entry for key in orphans if (entry := self.draft.entry(key)) is not None]
        waiting.sort(key=lambda entry: entry.order)
        if self._block.whole:
            for entry in waiting:
                self._place_again(entry)
            return
        for cut in range(0, len(waiting), self.rules.batch_size):
            part = waiting[cut : cut + self.rules.batch_size]
            self._block = self._match(Counter(map(_name_text, part)), changing=True, whole=False)
            for entry in part:
                self._place_again(entry)

    def _find_difference(self, here: str, there: str) -> GuardHit | None:
        """Compare two texts where they differ."""
        return find_difference(self.rules.guards, here, there)

    def _compare_marks(self, here: str, there: str) -> GuardHit | None:
        """Compare two texts by all of their marks."""
        mine, theirs = self._read(here), self._read(there)
        return None if mine == theirs else compare_marks(self.rules.guards, mine, theirs)

    def _read(self, text: str) -> Marks:
        """Read the marks of a text once for each block."""
        marks = self._marks.get(text)
        if marks is None:
            marks = self._marks[text] = read_marks(self.rules.guards, text)
        return marks

    def _finish(
        self,
        request: Request,
        arrivals: Sequence[Arrival],
        labels: Sequence[Action],
        forgotten: tuple[Source, ...] = (),
    ) -> Plan:
        """Say what is to happen."""
        outcome = compare_states(self.draft, self.rules.is_stored, arrivals, labels, self.uncertain)
        report = Report.count(
            outcome.decisions,
            added=len(outcome.added),
            removed=len(outcome.removed),
            promoted=len(outcome.promoted),
        )
        return Plan(
            *outcome,
            report=report,
            generation=self.view.generation,
            remake=partial(make_plan, rules=self.rules, request=request),
            uncertain=tuple(sorted(self.uncertain)),
            changes=replace(self.draft.changes(), forgotten=forgotten, **_mark_sources(request, self.view)),
            token=uuid.uuid4().hex,
        )


def _mark_sources(request: Request, view: View) -> dict[str, Any]:
    """Return what the index is to remember of the run that a call is a part of."""
    if not isinstance(request, Ingestion) or request.run is None:
        return {}
    seen = dict.fromkeys((a.key[0], a.source) for a in request.arrivals if a.source is not None)
    return {"run": Run(request.run, view.next_order), "seen": tuple(seen)} if seen else {}


def _name_text(entry: Entry) -> tuple[str, str]:
    """Return scope and text, which is what is matched."""
    return entry.key[0], entry.document.text


def _add_source(known: Entry, arrival: Arrival) -> Entry:
    """Return a known entry with what an arrival of the same text says of its source."""
    document, source = arrival.document, arrival.source
    if known.source in (None, source):
        if known.source == source and _same_document(known.document, document):
            return known
        return known._replace(document=document, source=source)
    if source is None:
        return known
    places = dict(known.elsewhere)
    before = places.get(source)
    if before is not None and _same_document(before, document):
        return known
    return known._replace(elsewhere=tuple({**places, source: document}.items()))


def _changes_family(known: Entry, arrival: Arrival) -> bool:
    """Tell whether an arrival of the same text changes whose relative the entry is."""
    here, there = known.document, arrival.document
    return known.source in (None, arrival.source) and (known.source, here.span, here.related) != (
        arrival.source,
        there.span,
        there.related,
    )


def _same_family(a: Entry, b: Entry) -> bool:
    return (a.source, a.document.span, a.document.related) == (b.source, b.document.span, b.document.related)


def _are_relatives(a: Entry, b: Entry) -> bool:
    return are_family(a.document, a.source, b)


def _same_document(a: Document, b: Document) -> bool:
    if (a.url, a.source, a.span, a.related) != (b.url, b.source, b.span, b.related):
        return False
    try:
        return bool(a.metadata == b.metadata)
    except Exception:  # values that refuse comparison, such as arrays: take the new ones
        return False
