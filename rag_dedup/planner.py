"""Work out a plan: what would an index look like after these documents, and what changes in the store?

Documents are taken one after the other, so that batching makes no difference, against a
:class:`Draft`: the index as it is, with the plan's own changes laid over it. What can be worked out
beforehand is worked out for a block of them at once, see :class:`Matcher`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from rag_dedup.document import (
    Action,
    Entry,
    EntryKey,
    GuardHit,
    Place,
    Plan,
    Report,
    Run,
    Source,
)
from rag_dedup.draft import Draft
from rag_dedup.errors import UnknownRunError
from rag_dedup.fingerprint import MinHash
from rag_dedup.guard import Findings, Guard, find_difference
from rag_dedup.index import View
from rag_dedup.matcher import MOST_CANDIDATES, Matcher
from rag_dedup.merge import Merge
from rag_dedup.outcome import compare_states
from rag_dedup.request import Arrivals, Call, Ingestion, Removal, Request, Sweep
from rag_dedup.survivor import UNLIKE_ALL, Verdict, are_family, choose_survivor

__all__ = ["Rules", "make_plan"]

_CHARACTERS_PER_BLOCK = 1 << 24
"""Most characters of a block of more than one document: its shingles take about four times as many bytes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How decisions are made.

    Args:
        minhash: the fingerprint, with the threshold.
        guards: what must not differ between near-duplicates.
        annotate: whether duplicates are labelled and not dropped.
        merge: what the metadata of a survivor get from its duplicates, if anything.
        batch_size: documents that are worked on at once, 1 or more; no decision depends on it.
        workers: threads that sign, 1 or more.
        limit: survivors that are compared for each key, 1 or more: the earliest.
    """

    minhash: MinHash
    guards: tuple[Guard, ...]
    annotate: bool
    merge: Merge | None
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
    _differences: dict[tuple[str, str], GuardHit | None] = field(init=False, default_factory=dict)
    _known_parts: Findings = field(init=False, default_factory=dict)
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
                labels.append(self._take(arrivals, i))
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
        return self._finish(request, Arrivals(), (), forgotten=tuple(removal.sources))

    def sweep(self, sweep: Sweep) -> Plan:
        """Forget the sources that a run, and perhaps the runs since, have not seen."""
        runs = enumerate(self.view.list_runs(), start=1)
        number = next((n for n, run in runs if (run.scope, run.name) == (sweep.scope, sweep.run)), None)
        if number is None:
            raise UnknownRunError(
                f"run {sweep.run!r} has seen no source of scope {sweep.scope!r}; nothing is forgotten"
            )
        seen = {key: last for key, last in self.view.list_sources().items() if key[0] == sweep.scope}
        gone = [
            source
            for source, last in sorted(seen.items())
            if last < number and (last or not sweep.spare_unmarked)
        ]
        return self.forget(Removal(sources=gone), sweep)

    def _prepare(self, call: Call, start: int) -> int:
        """Work out a block that begins with document ``start``; return where it ends."""
        size = self.rules.batch_size
        arrivals = call.arrivals
        keys = arrivals.keys[start : start + size]
        if call.starts:
            sources = (call.starts.get(i) for i in range(start, start + len(keys)))
            self.draft.load_sources(source for source in sources if source is not None)
        texts: dict[tuple[str, str], int] = {}
        waiting: dict[EntryKey, Entry] = {}
        going = False
        characters, stop = 0, start
        for key, known in zip(keys, self.draft.load(keys), strict=True):
            text = arrivals.given[stop].text
            characters += len(text)
            moving: list[Entry] = []
            if known is not None or stop in call.starts or stop in call.ends:
                gone, moving = self._foresee(call, stop, known)
                going = going or gone
            full = stop - start + len(waiting) + len(moving) >= size or characters > _CHARACTERS_PER_BLOCK
            if full and stop > start:
                break
            waiting.update((entry.key, entry) for entry in moving)
            if known is None or key in waiting or known.text != text:
                name = key[0], text
                texts[name] = texts.get(name, 0) + 1
            stop += 1
        # The orphans of a single document can be too many to hold: they wait until it is placed.
        whole = len(waiting) < size
        if whole:
            _count_texts(texts, waiting.values())
        self._block = self._match(texts, changing=going or bool(waiting), whole=whole)
        return stop

    def _match(self, texts: dict[tuple[str, str], int], *, changing: bool, whole: bool) -> Block:
        """Sign texts of a scope, each once, and find what is like them.

        Args:
            texts: (scope, text), and how many documents may be placed with it.
            changing: whether survivors may go.
            whole: whether these are all texts that may have to be placed.
        """
        if not texts:
            return Block(None, {}, whole)
        scopes, distinct = [scope for scope, _ in texts], [text for _, text in texts]
        self._differences.clear()
        self._known_parts.clear()
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
        going: list[Entry] = []
        moving: list[Entry] = []
        if (source := call.starts.get(i)) is not None:
            going += self._find_stale(call, source)
        if (source := call.ends.get(i)) is not None:
            orphans = map(self.draft.entry, self._orphans.get(source, ()))
            moving += [entry for entry in orphans if entry is not None]
        if known is None:
            pass
        elif known.text != call.arrivals.given[i].text:
            going.append(known)
        elif _changes_family(known, call.arrivals.sources[i], call.arrivals.places[i]):
            going.append(known)
            moving.append(known)
        elif known.survivor is not None:
            survivor = self._survivor_of(known)
            if survivor is None or are_family(known, survivor):
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
            left = tuple((name, place) for name, place in entry.elsewhere if name != source)
            if entry.source != source:
                self.draft.put(entry._replace(elsewhere=left))
            elif left:
                (source_left, place), *rest = left
                self.draft.put(entry._replace(place=place, source=source_left, elsewhere=tuple(rest)))
            else:
                gone.append(entry)
        return gone

    def _take(self, arrivals: Arrivals, i: int) -> Action:
        known = self.draft.entry(arrivals.keys[i])
        if known is None:
            self._place(arrivals.make_entry(i, self.draft.next_order))
            return "keep"
        if known.text == arrivals.given[i].text:
            self._refresh(known, _add_source(known, arrivals.sources[i], arrivals.places[i]))
            return "unchanged"
        orphans = self._remove([known])
        self._place(arrivals.make_entry(i, known.order))
        self._settle(orphans)
        return "revise"

    def _place(self, entry: Entry) -> None:
        """Put a document where it belongs: behind its survivor, or as one itself."""
        matcher, row = self._block.matcher, self._block.rows[entry.key[0], entry.text]
        assert matcher is not None, "a text that has a row was matched"
        verdict = self._judge(entry, matcher, row)
        if verdict is not UNLIKE_ALL:
            entry = Entry(*entry[:5], *verdict, entry.elsewhere)
        self.draft.put(entry)
        if verdict.survivor is None and matcher.has_keys[row]:
            self.draft.post(entry, matcher.signatures, row)
            matcher.place(row, entry)

    def _judge(self, entry: Entry, matcher: Matcher, row: int) -> Verdict:
        """Say which survivor a document has."""
        equal = matcher.find_equal(row)
        if equal is not None and not are_family(entry, equal):
            return Verdict(equal.id, "exact", 1.0)
        near = matcher.find_near(row)
        if not near:
            return UNLIKE_ALL
        return choose_survivor(entry, near, self._find_difference)

    def _find_difference(self, here: str, there: str) -> GuardHit | None:
        """Compare two texts, each pair once for each block: the same text comes from many pages."""
        pair = here, there
        if pair not in self._differences:
            self._differences[pair] = find_difference(self.rules.guards, here, there, self._known_parts)
        return self._differences[pair]

    def _place_again(self, entry: Entry) -> None:
        """Place again what is there."""
        self._place(Entry(*entry[:5], elsewhere=entry.elsewhere))

    def _refresh(self, known: Entry, fresh: Entry) -> None:
        """Take over what changed around an unchanged text: metadata, source, span, family."""
        if fresh.survivor is None and not _same_family(known, fresh):
            # Whom it may stand for has changed, and so has who may stand for it.
            orphans = self._remove([known])
            self._place(fresh)
            self._settle(orphans)
            return
        if fresh is not known:
            self.draft.put(fresh)
        if fresh.survivor is not None:
            survivor = self._survivor_of(fresh)
            if survivor is None or are_family(fresh, survivor):
                self._place_again(fresh)

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
            texts: dict[tuple[str, str], int] = {}
            _count_texts(texts, part)
            self._block = self._match(texts, changing=True, whole=False)
            for entry in part:
                self._place_again(entry)

    def _finish(
        self,
        request: Request,
        arrivals: Arrivals,
        labels: Sequence[Action],
        forgotten: tuple[Source, ...] = (),
    ) -> Plan:
        """Say what is to happen."""
        outcome = compare_states(
            self.draft, self.rules.is_stored, self.rules.merge, *arrivals.restore(labels), self.uncertain
        )
        report = Report.count(
            outcome.decisions,
            added=len(outcome.added),
            removed=len(outcome.removed),
            promoted=len(outcome.promoted),
        )
        return Plan(
            *outcome,
            report=report,
            index=self.view.identity,
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
    arrivals = request.arrivals
    scopes = (scope for scope, _ in arrivals.keys)
    named = zip(scopes, arrivals.sources, strict=True)
    seen = dict.fromkeys((scope, source) for scope, source in named if source is not None)
    runs = [Run(scope, request.run, view.next_order) for scope in dict.fromkeys(scope for scope, _ in seen)]
    return {"runs": tuple(runs), "seen": tuple(seen)}


def _count_texts(texts: dict[tuple[str, str], int], entries: Iterable[Entry]) -> None:
    """Count (scope, text) of entries, which is what is matched."""
    for entry in entries:
        name = entry.key[0], entry.text
        texts[name] = texts.get(name, 0) + 1


def _add_source(known: Entry, source: str | None, place: Place) -> Entry:
    """Return a known entry with what an arrival of the same text says of its source."""
    if known.source in (None, source):
        if known.source == source and _is_same(known.place, place):
            return known
        return known._replace(place=place, source=source)
    if source is None:
        return known
    places = dict(known.elsewhere)
    if source in places and _is_same(places[source], place):
        return known
    return known._replace(elsewhere=tuple({**places, source: place}.items()))


def _changes_family(known: Entry, source: str | None, place: Place) -> bool:
    """Tell whether an arrival of the same text changes whose relative the entry is."""
    here = known.place
    return known.source in (None, source) and (known.source, here.span, here.related) != (
        source,
        place.span,
        place.related,
    )


def _same_family(a: Entry, b: Entry) -> bool:
    return (a.source, a.place.span, a.place.related) == (b.source, b.place.span, b.place.related)


def _is_same(a: Place, b: Place) -> bool:
    try:
        return a == b
    except Exception:  # metadata that refuse comparison, such as arrays: take the new ones
        return False
