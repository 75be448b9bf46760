"""The engine: plan, commit, forget.

The laws, each a property test:

1. No orphan. A dropped document names a live survivor that it was itself verified against.
2. Nothing lost. Every live document has, in its own scope, a live survivor that equals it or is a
   verified duplicate of it. When a survivor goes, another member of its cluster is promoted.
3. Idempotent. The same input again gives the same survivors and asks the vector store for nothing.
4. Never a duplicate of itself: not of its earlier version (same id, or released by
   ``complete=True``), of an overlapping neighbour chunk, of its parent or child.
5. Batch size does not matter.
6. Scopes never mix.
7. Counts add up: documents = keep + drop + unchanged + revise.
8. ``plan`` writes nothing; ``commit`` is atomic; committing twice is committing once.
9. Inputs are never mutated.
10. All engines agree.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from rag_dedup.document import Changes, Document, Drift, Entry, EntryKey, Explanation, Plan, Provenance
from rag_dedup.errors import (
    ConfigurationError,
    InputError,
    StalePlanError,
    UnknownIdError,
)
from rag_dedup.fingerprint import Exact, MinHash
from rag_dedup.guard import DEFAULT_GUARDS, Guard
from rag_dedup.index import Header, Index, MemoryIndex, View, open_index
from rag_dedup.intake import ScopeKey, find_scope, find_source, take_in
from rag_dedup.kernels import can_warm_up, warm_up
from rag_dedup.merge import Merge
from rag_dedup.planner import Rules, make_plan
from rag_dedup.preference import Preference
from rag_dedup.request import Arrivals, Ingestion, Removal, Sweep
from rag_dedup.text import tokenise
from rag_dedup.url import KEY_SCHEME

__all__ = ["Deduplicator", "ScopeKey"]

_log = logging.getLogger(__name__)

_WORTH_LOADING = 1 << 24
"""Characters of a call from which the compiled kernel saves the time that it takes to load."""


class Deduplicator:
    """Decide which documents enter the vector store, and remember why.

    Args:
        index: the memory: an index, its URL, or ``None`` for a new one in memory.
        threshold: Jaccard similarity of 3-token shingles from which two texts are duplicates, above
            0 and up to 1.
        guards: what must not differ between duplicates; ``()`` switches guards off.
        on_duplicate: ``"drop"``; ``"annotate"`` to keep every document and label the duplicates; or
            ``"merge"`` to drop them and write what ``merge`` says into the metadata of the survivor. Plans
            ask to write a survivor again whenever that changes.
        merge: what a survivor gets: its sources by default, see :class:`rag_dedup.Merge`.
        prefer: which of the duplicates among the documents of one call survives, such as
            ``[self_canonical, newest("version"), longest]`` of :mod:`rag_dedup.preference`; by default the
            first that comes. What is in the index stays.
        scope_key: where the scope of a document comes from: a metadata key, several, or a function.
            ``None``: from :attr:`Document.scope`. A document without it is an error.
        seed: of the MinHash permutations, 0 to 2**32 - 1.
        batch_size: documents that are worked on at once, 1 or more. Bounds the memory that a call takes
            beyond its documents; no decision depends on it.
        workers: threads that sign texts, 1 or more; they gain with the compiled kernel (extra ``fast``),
            which a call with more than 16 million characters loads, or
            :func:`rag_dedup.kernels.warm_up` for calls of any size.

    Raises:
        ConfigurationError: a setting cannot be right.
        SchemeMismatchError: the index was filled with other settings.

    >>> dedup = Deduplicator()
    >>> kept = dedup.dedupe([Document("a", "Restart the server."), Document("b", "restart  the server.")])
    >>> [document.id for document in kept]
    ['a']
    >>> print(dedup.explain("b"))
    b is a duplicate of a (exact, 1.000); 1 other place
    """

    def __init__(
        self,
        index: Index | str | None = None,
        threshold: float = 0.8,
        guards: Sequence[Guard] = DEFAULT_GUARDS,
        on_duplicate: str = "drop",
        scope_key: ScopeKey | None = None,
        seed: int = 1,
        batch_size: int = 16384,
        workers: int = 1,
        prefer: Preference | Sequence[Preference] = (),
        merge: Merge | None = None,
    ) -> None:
        if on_duplicate not in ("drop", "annotate", "merge"):
            raise ConfigurationError(
                f"on_duplicate must be 'drop', 'annotate' or 'merge', not {on_duplicate!r}"
            )
        if merge is not None and on_duplicate != "merge":
            raise ConfigurationError("merge goes with on_duplicate='merge'")
        for name, number in (("batch_size", batch_size), ("workers", workers)):
            if not isinstance(number, int) or number < 1:
                raise ConfigurationError(f"{name} must be a whole number, 1 or more, not {number!r}")
        if not isinstance(guards, Sequence) or not all(isinstance(guard, Guard) for guard in guards):
            raise ConfigurationError("guards must be several Guards, or () for none")
        several = [prefer] if callable(prefer) else prefer
        if not isinstance(several, Sequence) or not all(map(callable, several)):
            raise ConfigurationError("prefer must be a function of a document, or several")
        self._prefer = tuple(several)
        minhash = MinHash(threshold=threshold, seed=seed)
        self._rules = Rules(
            minhash,
            tuple(guards),
            on_duplicate == "annotate",
            (merge or Merge()) if on_duplicate == "merge" else None,
            batch_size,
            workers,
        )
        self.scope_key = scope_key
        if index is None:
            index = MemoryIndex()
        self.index: Index = open_index(index) if isinstance(index, str) else index
        if not hasattr(index, "adopt") and not isinstance(index, str):
            raise ConfigurationError(f"index must be an index or its URL, not {index!r:.60}")
        self.index.adopt(
            Header(
                fingerprint=minhash.scheme,
                seed=seed,
                exact=Exact().scheme,
                url=KEY_SCHEME,
                threshold=threshold,
                guards=tuple(guard.name for guard in guards),
                on_duplicate=on_duplicate,
            )
        )

    @property
    def generation(self) -> int:
        """How many commits the index has seen."""
        with self.index.snapshot() as view:
            return view.generation

    def plan(self, documents: Iterable[Document], *, complete: bool = False, run: str | None = None) -> Plan:
        """Decide on each document, without writing anything.

        Args:
            documents: pages or chunks, in the order in which the first of equals is kept.
            complete: all chunks of each source that occurs are in this call, so that what the index
                has of these sources beyond them is released.
            run: the ingestion run that the call is a part of, such as ``"2026-11-30"``: what :meth:`sweep`
                and :meth:`expire` go by.

        Returns:
            The decisions and what the vector store must do; give it to :meth:`commit` afterwards.

        Raises:
            DuplicateIdError: one id with two texts.
            MissingScopeError: a document without the scope that ``scope_key`` promises.
            InputError: something that is not a document.
        """
        request = Ingestion(self._take_in(documents), complete, _check_run(run))
        with self.index.snapshot() as view:
            return make_plan(view, self._rules, request)

    def commit(self, plan: Plan) -> None:
        """Write a plan into the index, after the vector store has done its part.

        One atomic write. The same plan again does nothing. When something else was committed after the
        plan was made, it is made anew from that state, and written if the outcome is the same.

        Raises:
            StalePlanError: what was committed in between changes the outcome; nothing was written.
            ConfigurationError: the plan was made from another index.
        """
        if not plan.changes:
            with self.index.snapshot() as view:
                if not _renew_changes(plan, view):
                    return
        with self.index.transaction() as transaction:
            if not transaction.was_written(plan.token):
                transaction.write(plan.token, _renew_changes(plan, transaction.view))

    def carry_out(self, plan: Plan, write: Callable[[Plan], object]) -> Plan:
        """Let ``write`` do in the vector store what a plan says, then commit it; return the plan.

        When another worker was faster, so that the plan can no longer be committed, the same is done
        with a new one.

        Args:
            plan: made by this engine.
            write: writes ``added`` and ``promoted`` of the plan that it is given, and deletes ``removed``.
                It is called again for a new plan. When it raises, nothing is committed.

        >>> dedup, store = Deduplicator(), {}
        >>> plan = dedup.plan([Document("a", "Restart it."), Document("b", "restart it.")])
        >>> plan = dedup.carry_out(plan, lambda plan: store.update((d.id, d.text) for d in plan.added))
        >>> store
        {'a': 'Restart it.'}
        """
        while True:
            write(plan)
            try:
                self.commit(plan)
            except StalePlanError:
                plan = self.replan(plan)
            else:
                return plan

    def replan(self, plan: Plan) -> Plan:
        """Make a plan anew that could not be committed, of the same input.

        The vector store may have been written for the old plan, or not: the new one says what to do
        with all that the old one touched, so that nothing of it is left over or missing.

        >>> dedup = Deduplicator()
        >>> mine, others = dedup.plan([Document("a", "Restart it.")]), Document("b", "Restart it.")
        >>> kept = dedup.dedupe([others])  # by another worker, meanwhile
        >>> dedup.replan(mine).removed
        ('a',)
        """
        with self.index.snapshot() as view:
            return plan.remake(view, uncertain=sorted({*plan.uncertain, *plan.changes.keys}))

    def dedupe(
        self, documents: Iterable[Document], *, complete: bool = False, run: str | None = None
    ) -> list[Document]:
        """Plan and commit; return the documents that belong into the vector store.

        These are the survivors among ``documents``, known ones included, each once and in input
        order, then documents of earlier calls that were promoted.
        """
        return self.survivors_of(self.run(documents, complete=complete, run=run))

    def run(self, documents: Iterable[Document], *, complete: bool = False, run: str | None = None) -> Plan:
        """Plan and commit as one step, and return the plan that was committed."""
        request = Ingestion(self._take_in(documents), complete, _check_run(run))
        with self.index.transaction() as transaction:
            plan = make_plan(transaction.view, self._rules, request)
            if plan.changes:
                transaction.write(plan.token, plan.changes)
        return plan

    def survivors_of(self, plan: Plan) -> list[Document]:
        """Return the documents of a committed plan that the vector store holds, input order first."""
        keys = list(dict.fromkeys((decision.scope, decision.id) for decision in plan.decisions))
        with self.index.snapshot() as view:
            entries = [e for e in view.entries(keys) if e is not None and self.is_stored(e)]
            stored = self._hand_out(view, entries)
        given = set(keys)
        return stored + [d for d in plan.promoted if (d.scope, d.id) not in given]

    def forget(self, source: str | None = None, *, ids: Iterable[str] = (), scope: str = "") -> Plan:
        """Plan the removal of a source or of single documents; what they stood for is promoted.

        Args:
            source: a source, as the documents named it (URLs are canonicalised). What another source
                has under the same id stays.
            ids: documents; those that the index does not have are passed over.
            scope: only documents of this scope go.

        Raises:
            ConfigurationError: neither ``source`` nor ``ids``.
        """
        ids = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        if (source is None) == (not ids):
            raise ConfigurationError("forget needs either a source or ids")
        key = None if source is None else find_source(source, None, {})
        removal = Removal([(scope, id) for id in ids], [] if key is None else [(scope, key)])
        with self.index.snapshot() as view:
            return make_plan(view, self._rules, removal)

    def sweep(self, run: str, scope: str = "") -> Plan:
        """Plan the removal of the sources that neither a full run nor a later one has seen.

        Args:
            run: its name, as it was given to :meth:`plan` with each part of the run.
            scope: only sources of this scope go.

        Raises:
            UnknownRunError: the run has seen nothing in this scope.

        >>> dedup = Deduplicator()
        >>> kept = dedup.dedupe([Document("a", "Old.", source="a"), Document("b", "New.", source="b")])
        >>> kept = dedup.dedupe([Document("b", "New.", source="b")], run="2026-11-30")
        >>> dedup.sweep("2026-11-30").removed
        ('a',)
        """
        return self._sweep(Sweep(scope, run, spare_unmarked=False))

    def expire(self, older_than: str, scope: str = "") -> Plan:
        """Plan the removal of the sources that were last seen before a run.

        Runs are in the order of their first commits; no clock is asked. Sources that no run ever saw stay.

        Args:
            older_than: the name of the run.
            scope: only sources of this scope go.

        Raises:
            UnknownRunError: there is no such run.
        """
        return self._sweep(Sweep(scope, older_than, spare_unmarked=True))

    def reconcile(self, ids: Iterable[str]) -> Drift:
        """Compare with what a vector store holds.

        Args:
            ids: all of the vector store.

        >>> dedup = Deduplicator()
        >>> kept = dedup.dedupe([Document("a", "One."), Document("b", "Two."), Document("c", "two.")])
        >>> drift = dedup.reconcile(["a", "c", "x"])
        >>> [document.id for document in drift.added], drift.removed, drift.unknown
        (['b'], ('c',), ('x',))
        """
        if isinstance(ids, str):
            raise InputError("ids must be several ids, not one str")
        left = dict.fromkeys(ids)
        there, stored, others = set(left), set[str](), set[str]()
        missing: list[Entry] = []
        with self.index.snapshot() as view:
            for entry in view:
                id = entry.id
                if self.is_stored(entry):
                    stored.add(id)
                    if id not in there:
                        missing.append(entry)
                elif id in there:
                    others.add(id)
            added = self._hand_out(view, missing)
        return Drift(
            added=tuple(added),
            removed=tuple(id for id in left if id in others and id not in stored),
            unknown=tuple(id for id in left if id not in stored and id not in others),
        )

    def is_stored(self, entry: Entry) -> bool:
        """Tell whether the vector store holds the document of an entry."""
        return self._rules.is_stored(entry)

    def sources(self, id: str, scope: str = "") -> list[Provenance]:
        """Return every place where the passage was found: its cluster, survivor first.

        Raises:
            UnknownIdError: no such document in this scope.
        """
        with self.index.snapshot() as view:
            entry = _get_entry(view, (scope, id))
            return _trace(view, entry)

    def explain(self, id: str, scope: str = "") -> Explanation:
        """Tell why a document is, or is not, in the vector store.

        Raises:
            UnknownIdError: no such document in this scope.
        """
        with self.index.snapshot() as view:
            entry = _get_entry(view, (scope, id))
            sources = _trace(view, entry)
            survivor = None if entry.survivor is None else _get_entry(view, (scope, entry.survivor))
        here, there = ("", "") if survivor is None else (entry.text, survivor.text)
        only_here, only_there = _differ(tokenise(here), tokenise(there))
        return Explanation(
            id=id,
            survivor=entry.survivor,
            method=entry.method,
            similarity=entry.similarity,
            guard=entry.guard,
            only_here=only_here,
            only_there=only_there,
            sources=tuple(sources),
        )

    def find_scope(self, document: Document) -> str:
        """Return the scope of a document, by the engine's ``scope_key``.

        Raises:
            MissingScopeError: the document lacks it.

        >>> Deduplicator(scope_key="tenant").find_scope(Document("a", "", metadata={"tenant": "t"}))
        't'
        """
        return find_scope(document, self.scope_key)

    @property
    def merged_keys(self) -> tuple[str, ...]:
        """The metadata keys that a survivor may get from its duplicates."""
        return () if self._rules.merge is None else self._rules.merge.keys

    def _hand_out(self, view: View, entries: Sequence[Entry]) -> list[Document]:
        """Return documents as the vector store is to have them."""
        merge = self._rules.merge
        if merge is None:
            return [entry.document for entry in entries]
        clusters = view.of_survivors([entry.key for entry in entries])
        return [merge.apply(entry, others) for entry, others in zip(entries, clusters, strict=True)]

    def _sweep(self, sweep: Sweep) -> Plan:
        with self.index.snapshot() as view:
            return make_plan(view, self._rules, sweep)

    def _take_in(self, documents: Iterable[Document]) -> Arrivals:
        arrivals = take_in(documents, self.scope_key, self.index.check)
        if sum(len(document.text) for document in arrivals.given) >= _WORTH_LOADING and can_warm_up():
            _load_kernel()
        if self._prefer:
            ranks = [tuple(prefer(document) for prefer in self._prefer) for document in arrivals.given]
            return arrivals.arrange(sorted(range(len(ranks)), key=ranks.__getitem__))
        return arrivals


def _load_kernel() -> None:
    """Load the compiled kernel, and say so; the one in NumPy serves as well where that cannot be done."""
    _log.info("loading the compiled kernel; on a new machine that takes some ten seconds")
    try:
        warm_up()
    except ImportError:  # such as a Numba that is too old for this NumPy
        _log.warning("Numba is installed but cannot be imported: slower without it", exc_info=True)


def _check_run(run: object) -> str | None:
    if run is None or isinstance(run, str):
        return run
    raise InputError(f"the name of a run must be a str, not {run!r:.60}")


def _renew_changes(plan: Plan, view: View) -> Changes:
    """Return what a plan changes in the present state of its index.

    Raises:
        StalePlanError: its outcome would be another one.
        ConfigurationError: it was made from another index.
    """
    if view.identity != plan.index:
        raise ConfigurationError(
            "the plan was made from another index, or this one was made anew: plan again"
        )
    if view.generation == plan.generation:
        return plan.changes
    fresh = plan.remake(view, uncertain=plan.uncertain)
    if not _have_same_outcome(fresh, plan):
        raise StalePlanError(
            f"the plan is about state {plan.generation} of the index, which is now at {view.generation} and "
            "would change it; nothing was written: replan(plan)"
        )
    return fresh.changes


def _have_same_outcome(one: Plan, other: Plan) -> bool:
    """Tell whether two plans decide the same and ask the vector store for the same."""
    try:
        return all(
            getattr(one, name) == getattr(other, name)
            for name in ("decisions", "removed", "added", "promoted")
        )
    except Exception:  # metadata that refuse comparison, such as arrays
        return False


def _get_entry(view: View, key: EntryKey) -> Entry:
    entry = view.entries([key])[0]
    if entry is None:
        raise UnknownIdError(f"the index has no document {key[1]!r} in scope {key[0]!r}")
    return entry


def _trace(view: View, entry: Entry) -> list[Provenance]:
    """Return the cluster of an entry, survivor first."""
    scope = entry.key[0]
    survivor = entry if entry.survivor is None else _get_entry(view, (scope, entry.survivor))
    return [
        Provenance(e.id, place.source or source, place.url, e.method, e.similarity)
        for e in (survivor, *view.of_survivors([survivor.key])[0])
        for source, place in ((e.source, e.place), *e.elsewhere)
    ]


def _differ(here: list[str], there: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens that one has more often than the other, in the order of the text."""
    return _subtract(here, there), _subtract(there, here)


def _subtract(tokens: list[str], others: list[str]) -> tuple[str, ...]:
    left: dict[str, int] = {}
    for token in others:
        left[token] = left.get(token, 0) + 1
    rest = []
    for token in tokens:
        if left.get(token, 0):
            left[token] -= 1
        else:
            rest.append(token)
    return tuple(rest)
