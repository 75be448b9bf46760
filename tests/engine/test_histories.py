"""Laws 1, 2, 3, 7 and 8 over random histories, with a vector store that does as it is told."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rag_dedup import Deduplicator, Document, Plan
from rag_dedup.errors import StalePlanError, UnknownRunError
from rag_dedup.url import SAFE, canonicalize_url
from tests.engine.stores import make_index
from tests.engine.strategies import SCOPES, batches
from tests.oracle import find_lost, is_duplicate


def source_of(document: Document) -> str | None:
    return None if document.source is None else canonicalize_url(document.source, SAFE)


class Histories(RuleBasedStateMachine):
    """Add, edit, re-run, re-ingest, forget, crash, in any order."""

    store_name = "memory"

    @initialize()
    def start(self) -> None:
        self.dedup = Deduplicator(make_index(self.store_name))
        self.live: dict[tuple[str, str], Document] = {}
        self.sources: dict[tuple[str, str], set[str]] = {}
        self.store: dict[tuple[str, str], str] = {}
        self.last: tuple[list[Document], bool] = ([], False)
        self.runs: list[tuple[str, str]] = []  # (scope, run), in the order of their first commits
        self.seen: dict[tuple[str, str], int] = {}

    def write(self, plan: Plan) -> None:
        """Do what the plan asks of the vector store, then commit."""
        self.write_store(plan)
        self.dedup.commit(plan)

    def write_store(self, plan: Plan) -> None:
        for id in plan.removed:
            assert (id.partition("/")[0], id) in self.store, "removed what was not there"
            del self.store[id.partition("/")[0], id]
        for document in plan.promoted:
            assert document.id not in {d.id for d in plan.added}
            assert (document.scope, document.id) not in self.store, "promoted what was there"
        for document in (*plan.added, *plan.promoted):
            self.store[document.scope, document.id] = document.text

    @rule(documents=batches(), complete=st.booleans())
    def ingest(self, documents: list[Document], complete: bool) -> None:
        known = dict(self.live)
        plan = self.dedup.plan(documents, complete=complete)
        if complete:
            arriving = {(d.scope, d.id) for d in documents}
            sources = {(d.scope, source_of(d)) for d in documents} - {(s, None) for s in SCOPES}
            for key, document in list(self.live.items()):
                for scope, source in sources:
                    if scope == document.scope and key not in arriving:
                        self.release(key, source)
        self.remember(documents)
        self.write(plan)
        self.last = (documents, complete)
        self.check_decisions(plan, documents, known)

    @rule(documents=batches(), run=st.sampled_from(["run a", "run b", "run c"]))
    def ingest_as_part_of_a_run(self, documents: list[Document], run: str) -> None:
        self.write(self.dedup.plan(documents, run=run))
        self.remember(documents)
        self.last = (documents, False)
        sources = {(d.scope, source) for d in documents if (source := source_of(d)) is not None}
        for scope, source in sorted(sources):
            if (scope, run) not in self.runs:
                self.runs.append((scope, run))
            number = self.runs.index((scope, run))  # a late part of an earlier run takes nothing back
            self.seen[scope, source] = max(number, self.seen.get((scope, source), 0))

    @rule(
        run=st.sampled_from(["run a", "run b", "run c"]), scope=st.sampled_from(SCOPES), since=st.booleans()
    )
    def sweep_or_expire(self, run: str, scope: str, since: bool) -> None:
        forget = self.dedup.expire if since else self.dedup.sweep
        if (scope, run) not in self.runs:
            with pytest.raises(UnknownRunError):
                forget(run, scope)
            return
        number = self.runs.index((scope, run))
        self.write(forget(run, scope))
        sources = {(key[0], source) for key, held in self.sources.items() for source in held} | set(self.seen)
        for key in sources:
            last = self.seen.get(key)
            if key[0] == scope and (last < number if last is not None else not since):
                self.seen.pop(key, None)
                for document in list(self.live.values()):
                    if document.scope == scope:
                        self.release((document.scope, document.id), key[1])

    @rule(first=batches(), second=batches())
    def two_workers_write_the_store_before_they_commit(
        self, first: list[Document], second: list[Document]
    ) -> None:
        """The one who comes too late mends what it has written."""
        one, two = self.dedup.plan(first), self.dedup.plan(second)
        for plan in (one, two):
            self.overwrite_store(plan)
        self.dedup.commit(one)
        self.remember(first)
        self.last = (first, False)
        if not two.changes:  # as if it had been there before the other
            return
        try:
            self.dedup.commit(two)
        except StalePlanError:
            two = self.dedup.replan(two)
            self.overwrite_store(two)
            self.dedup.commit(two)
        self.remember(second)
        self.last = (second, False)

    def overwrite_store(self, plan: Plan) -> None:
        """Do what the plan asks, whatever is there."""
        for document in (*plan.added, *plan.promoted):
            self.store[document.scope, document.id] = document.text
        for id in plan.removed:
            self.store.pop((id.partition("/")[0], id), None)

    @rule(data=st.data())
    def reconcile_a_store_that_drifted(self, data: st.DataObject) -> None:
        held = dict(self.store)
        if held:
            lost = data.draw(st.lists(st.sampled_from(sorted(held)), unique=True, max_size=3))
            self.store = {key: text for key, text in held.items() if key not in lost}
        surplus = [key for key in self.live if key not in held]
        drift = self.dedup.reconcile([id for _, id in (*self.store, *surplus, ("", "alien"))])
        assert drift.unknown == ("alien",)
        assert drift.removed == tuple(id for _, id in surplus)
        self.store.update({(d.scope, d.id): d.text for d in drift.added})
        assert self.store == held

    def remember(self, documents: list[Document]) -> None:
        """Add documents; a text that is known has one more source, a new one replaces the old."""
        for document in documents:
            key, source = (document.scope, document.id), source_of(document)
            if key not in self.live or self.live[key].text != document.text:
                self.sources[key] = set()
            self.sources[key] |= {source} - {None}
            self.live[key] = document

    def release(self, key: tuple[str, str], source: str | None) -> None:
        """Take a source away; a document goes with its last."""
        if source in self.sources[key]:
            self.sources[key].discard(source)
            if not self.sources[key]:
                del self.live[key]

    def check_decisions(
        self, plan: Plan, documents: list[Document], known: dict[tuple[str, str], Document]
    ) -> None:
        assert [d.id for d in plan.decisions] == [d.id for d in documents]
        report = plan.report
        assert len(documents) == report.documents
        assert report.documents == report.kept + report.dropped + report.unchanged + report.revised
        for decision, document in zip(plan.decisions, documents, strict=True):
            before = known.get((document.scope, document.id))
            if before is None:
                assert decision.action == ("keep" if decision.survivor is None else "drop")
            else:
                assert decision.action == ("unchanged" if before.text == document.text else "revise")
            if decision.survivor is not None:
                assert decision.method is not None
                survivor = self.live[document.scope, decision.survivor]
                assert (document.scope, decision.survivor) in self.store
                assert is_duplicate(document.text, survivor.text)

    @rule()
    def repeat(self) -> None:
        """Law 3: the same call again asks for nothing and says the same."""
        documents, complete = self.last
        for d in documents:
            key = (d.scope, d.id)
            if self.live.get(key) != d or not {source_of(d)} - {None} <= self.sources[key]:
                return  # something was edited or forgotten since
        survivors = {(d.scope, d.id): self.dedup.explain(d.id, d.scope).survivor for d in documents}
        plan = self.dedup.plan(documents, complete=complete)
        given = {(d.scope, source_of(d)) for d in documents}
        stale = complete and any(
            (key[0], source) in given
            for key in self.live
            if key not in survivors
            for source in self.sources[key]
        )
        if stale:
            return  # other calls have added to these sources
        assert (plan.added, plan.removed, plan.promoted) == ((), (), ())
        assert not plan.changes
        assert {(d.scope, d.id): d.survivor for d in plan.decisions} == survivors

    @rule(number=st.integers(0, 11), scope=st.sampled_from(SCOPES))
    def forget_document(self, number: int, scope: str) -> None:
        self.write(self.dedup.forget(ids=[f"{scope}/{number}"], scope=scope))
        self.live.pop((scope, f"{scope}/{number}"), None)

    @rule(
        source=st.sampled_from(["page 1", "page 2", "https://EXAMPLE.com/p"]),
        scope=st.sampled_from(SCOPES),
    )
    def forget_source(self, source: str, scope: str) -> None:
        self.write(self.dedup.forget(source=source, scope=scope))
        key = canonicalize_url(source, SAFE)
        self.seen.pop((scope, key), None)
        for document in list(self.live.values()):
            if document.scope == scope:
                self.release((document.scope, document.id), key)

    @rule(documents=batches())
    def crash_before_commit(self, documents: list[Document]) -> None:
        """Law 8: a plan that is never committed has changed nothing, and neither has its repetition."""
        generation = self.dedup.generation
        plan = self.dedup.plan(documents)
        assert self.dedup.generation == generation
        assert self.dedup.plan(documents).decisions == plan.decisions

    @rule(documents=batches())
    def crash_after_the_store_was_written(self, documents: list[Document]) -> None:
        """Law 8: the next run asks the store for the same again, and ends where the lost one would have."""
        lost = self.dedup.plan(documents)
        again = self.dedup.plan(documents)
        assert (again.added, again.removed, again.promoted) == (lost.added, lost.removed, lost.promoted)
        self.remember(documents)
        self.write(again)

    @rule(first=batches(), second=batches())
    def commit_twice_and_too_late(self, first: list[Document], second: list[Document]) -> None:
        """Law 8: committing twice is committing once; a stale plan is refused or replayed."""
        one, two = self.dedup.plan(first), self.dedup.plan(second)
        self.write(one)
        self.remember(first)
        generation = self.dedup.generation
        self.dedup.commit(one)
        assert self.dedup.generation == generation
        self.last = (first, False)
        fresh = self.dedup.plan(second)
        if two.changes and (two.decisions, two.added, two.removed, two.promoted) != (
            fresh.decisions,
            fresh.added,
            fresh.removed,
            fresh.promoted,
        ):
            if one.changes:
                with pytest.raises(StalePlanError):
                    self.dedup.commit(two)
            assert self.dedup.generation == generation
        elif two.changes:
            self.write(two)
            self.remember(second)
            self.last = (second, False)

    @invariant()
    def nothing_is_lost(self) -> None:
        """Law 2, by the oracle: it looks only at what is live and at the vector store."""
        assert not [d for d in find_lost(self.live.values(), self.store) if d.text.strip()]

    @invariant()
    def store_holds_the_survivors(self) -> None:
        survivors = {}
        for (scope, id), document in self.live.items():
            explanation = self.dedup.explain(id, scope)
            if explanation.survivor is None:
                survivors[scope, id] = document.text
            else:  # law 1: verified against the very survivor that it names
                survivor = self.live[scope, explanation.survivor]
                assert self.dedup.explain(survivor.id, scope).survivor is None
                assert is_duplicate(document.text, survivor.text)
                assert id in [place.id for place in self.dedup.sources(survivor.id, scope)]
        assert self.store == survivors


_EXAMPLES = settings.default.max_examples
_SOAK = _EXAMPLES > 1000


class InSqlite(Histories):
    store_name = "sqlite"


class InPostgres(Histories):
    store_name = "postgres"


class InRedis(Histories):
    store_name = "redis"


TestHistories = Histories.TestCase
TestInSqlite, TestInPostgres, TestInRedis = InSqlite.TestCase, InPostgres.TestCase, InRedis.TestCase
for _case, _few in ((TestHistories, 60), (TestInSqlite, 25), (TestInPostgres, 25), (TestInRedis, 25)):
    _case.settings = settings(
        max_examples=_EXAMPLES if _SOAK else _few, stateful_step_count=15, deadline=None
    )
del _case
