"""The laws that need no history: 3 to 6, 8 and 9, and their plain examples."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import DEFAULT_GUARDS, Deduplicator, Document, Guard, MemoryIndex
from rag_dedup.document import Entry
from rag_dedup.errors import (
    ConfigurationError,
    DuplicateIdError,
    InputError,
    MissingScopeError,
    SchemeMismatchError,
    StalePlanError,
    UnknownIdError,
    UnknownRunError,
)
from rag_dedup.index.tables import Tables
from tests.engine.strategies import batches

LONG = "the broker keeps a log of all messages that a client sends to a topic and hands them out in order"

LONGER = LONG + " while the exporter reads samples from the queue and writes them in batches to storage"


def actions(dedup: Deduplicator, documents: list[Document], complete: bool = False) -> list[str]:
    return [decision.action for decision in dedup.run(documents, complete=complete).decisions]


def state(dedup: Deduplicator) -> list[tuple[object, ...]]:
    """Everything that the index knows, without generations."""
    with dedup.index.snapshot() as view:
        return sorted((e.key, e.text, e.order, e.survivor, e.similarity) for e in view)


class TestFirstCome:
    def test_equal_texts(self) -> None:
        dedup = Deduplicator()
        plan = dedup.plan([Document("a", LONG), Document("b", LONG.upper()), Document("c", "else")])
        assert [d.action for d in plan.decisions] == ["keep", "drop", "keep"]
        assert plan.decisions[1].survivor == "a"
        assert plan.decisions[1].method == "exact"
        assert [d.id for d in plan.added] == ["a", "c"]

    def test_near_duplicate(self) -> None:
        decisions = Deduplicator().plan([Document("a", LONG), Document("b", LONG + " always")]).decisions
        assert decisions[1].action == "drop"
        assert decisions[1].method == "minhash"
        assert decisions[1].similarity == pytest.approx(19 / 20)

    def test_guard_keeps_both_and_says_why(self) -> None:
        texts = [LONG + " at 99.9 percent", LONG + " at 99.5 percent"]
        plan = Deduplicator().plan([Document(str(i), text) for i, text in enumerate(texts)])
        assert plan.decisions[1].action == "keep"
        assert plan.decisions[1].guard == ("number", "99.5", "99.9")
        assert plan.report.by_guard == {"number": 1}
        assert (
            Deduplicator(guards=())
            .plan([Document(str(i), text) for i, text in enumerate(texts)])
            .decisions[1]
            .action
            == "drop"
        )

    def test_stars_not_chains(self) -> None:
        """A ~ B ~ C with A unlike C keeps C."""
        words = [f"word{chr(97 + i)}" for i in range(26)]
        a, b, c = words[:22], words[2:24], words[4:26]
        documents = [Document(name, " ".join(text)) for name, text in (("a", a), ("b", b), ("c", c))]
        assert actions(Deduplicator(), documents) == ["keep", "drop", "keep"]

    @pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
    def test_empty_texts_match_nothing(self, text: str) -> None:
        assert actions(Deduplicator(), [Document("a", text), Document("b", text)]) == ["keep", "keep"]

    @pytest.mark.parametrize(("one", "two"), [("C", "C++"), ("a b", "a c"), ("FM 1506", "FM 1507")])
    def test_tiny_texts_only_when_equal(self, one: str, two: str) -> None:
        documents = [Document("1", one), Document("2", two), Document("3", one.lower())]
        assert actions(Deduplicator(guards=()), documents) == ["keep", "keep", "drop"]

    def test_annotate_drops_nothing(self) -> None:
        dedup = Deduplicator(on_duplicate="annotate")
        plan = dedup.run([Document("a", LONG), Document("b", LONG)])
        assert [d.action for d in plan.decisions] == ["keep", "keep"]
        assert plan.decisions[1].survivor == "a"
        assert [d.id for d in plan.added] == ["a", "b"]
        gone = dedup.forget(ids=["a"])
        assert (gone.removed, gone.promoted) == (("a",), ())
        dedup.commit(gone)
        assert dedup.explain("b").survivor is None


class TestPromotion:
    def test_forgetting_the_survivor(self) -> None:
        dedup = Deduplicator()
        first = Document("a", LONG, source="https://example.com/old")
        second = Document("b", LONG, source="https://example.com/new", metadata={"title": "B"})
        dedup.dedupe([first, second])
        plan = dedup.forget(source="https://example.com/old?utm_source=mail")
        assert plan.removed == ("a",)
        assert plan.promoted == (second,)
        dedup.commit(plan)
        assert [place.source for place in dedup.sources("b")] == ["https://example.com/new"]

    def test_orphans_find_each_other(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document(name, LONG) for name in "abcd"])
        plan = dedup.forget(ids=["a"])
        assert [d.id for d in plan.promoted] == ["b"]
        dedup.commit(plan)
        assert [place.id for place in dedup.sources("d")] == ["b", "c", "d"]

    def test_edit_of_the_survivor_keeps_its_duplicates(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG), Document("b", LONG)])
        plan = dedup.run([Document("a", LONG + " always")])
        assert [d.action for d in plan.decisions] == ["revise"]
        assert ([d.id for d in plan.added], plan.removed, plan.promoted) == (["a"], (), ())
        assert dedup.explain("b").survivor == "a"

    def test_edit_that_leaves_its_duplicates(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG), Document("b", LONG)])
        plan = dedup.run([Document("a", "something else")])
        assert ([d.id for d in plan.added], [d.id for d in plan.promoted]) == (["a"], ["b"])

    def test_promoted_document_of_the_same_call_is_returned_once(self) -> None:
        dedup = Deduplicator()
        old = Document("a", LONG, source="1")
        dedup.dedupe([old, Document("b", LONG, source="2")])
        documents = [Document("c", "something else", source="1"), Document("b", LONG, source="2")]
        assert [d.id for d in dedup.dedupe(documents, complete=True)] == ["c", "b"]


class TestSources:
    def test_one_id_in_two_sources_goes_with_the_last(self) -> None:
        dedup = Deduplicator()
        for source in ("a", "b"):
            dedup.run([Document("x", LONG, source)], complete=True)
        assert [place.source for place in dedup.sources("x")] == ["a", "b"]
        assert dedup.run([Document("o", "something else", "b")], complete=True).removed == ()
        assert [place.source for place in dedup.sources("x")] == ["a"]
        assert dedup.run([Document("p", "and more", "a")], complete=True).removed == ("x",)

    @pytest.mark.parametrize(("first", "last"), [("a", "b"), ("b", "a")])
    def test_forgetting_one_of_two_sources(self, first: str, last: str) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("x", LONG, "a"), Document("x", LONG, "b")])
        dedup.commit(dedup.forget(source=first))
        assert [place.source for place in dedup.sources("x")] == [last]
        assert dedup.forget(source=last).removed == ("x",)
        assert dedup.forget(ids=["x"]).removed == ("x",)

    def test_two_places_of_one_id_are_stable(self) -> None:
        documents = [
            Document("x", LONG, "a", span=(0, 50)),
            Document("x", LONG, "b", span=(0, 50)),
            Document("y", LONG, "a", span=(30, 80)),
        ]
        dedup = Deduplicator()
        dedup.run(documents)
        plan = dedup.run(documents)
        assert (plan.added, plan.promoted, plan.removed, bool(plan.changes)) == ((), (), (), False)

    def test_what_is_written_is_not_removed(self) -> None:
        """One vector store, one id, two scopes: deleting it would take the other one's text."""
        dedup = Deduplicator()
        dedup.run([Document("x", LONG, "1", scope="a"), Document("y", "else", "1", scope="a")])
        documents = [Document("y", "else", "1", scope="a"), Document("x", LONG, scope="b")]
        plan = dedup.plan(documents, complete=True)
        assert ([d.id for d in plan.added], plan.removed) == (["x"], ())


class TestNeverADuplicateOfItself:
    """Law 4."""

    def test_same_id_is_a_new_version(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source="page")])
        plan = dedup.run([Document("a", LONG + " always", source="page")])
        assert [(d.action, d.survivor) for d in plan.decisions] == [("revise", None)]

    def test_released_version_is_no_survivor(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("old", LONG, source="page")])
        plan = dedup.run([Document("new", LONG + " always", source="page")], complete=True)
        assert [d.action for d in plan.decisions] == ["keep"]
        assert plan.removed == ("old",)

    def test_overlapping_neighbours(self) -> None:
        one = Document("1", LONG, source="page", span=(0, 100))
        two = Document("2", LONG + " always", source="page", span=(90, 195))
        three = Document("3", LONG + " always", source="page", span=(300, 405))
        assert actions(Deduplicator(), [one, two, three]) == ["keep", "keep", "drop"]
        assert actions(Deduplicator(), [one, Document("2", two.text, "other", span=(90, 195))]) == [
            "keep",
            "drop",
        ]

    def test_parent_and_child(self) -> None:
        parent, child = Document("parent", LONG), Document("child", LONG, related=("parent",))
        for documents in ([parent, child], [child, parent]):
            assert actions(Deduplicator(), documents) == ["keep", "keep"]

    def test_family_that_comes_to_light_later(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG), Document("b", LONG)])
        plan = dedup.run([Document("b", LONG, related=("a",))])
        assert [d.action for d in plan.decisions] == ["unchanged"]
        assert [d.id for d in plan.promoted] == ["b"]
        other = Deduplicator()
        other.dedupe([Document("a", LONG), Document("b", LONG)])
        assert [d.id for d in other.run([Document("a", LONG, related=("b",))]).promoted] == ["b"]

    @pytest.mark.parametrize("first", ["a", "b"])
    def test_a_survivor_that_is_no_relative_any_more(self, first: str) -> None:
        """Neighbours that overlapped stood for themselves; then one moves to where it is a duplicate."""
        dedup = Deduplicator()
        dedup.dedupe([Document(id, LONG, source="page", span=(0, 100)) for id in sorted("ab")])
        dedup.dedupe([Document("c", LONG, source="other")])
        moved = Document(first, LONG, source="page", span=(500, 600))
        plan = dedup.plan([moved])
        other = {"a": "b", "b": "a"}[first]
        assert [(d.action, d.survivor) for d in plan.decisions] == [("unchanged", other)]
        assert (plan.added, plan.removed, plan.promoted) == ((), (first,), ())
        dedup.commit(plan)
        assert {id: dedup.explain(id).survivor for id in "abc"} == {first: other, other: None, "c": other}
        assert not dedup.plan([moved]).changes

    @given(batches(), st.integers(0, 7))
    def test_every_document_again_with_an_edit(self, documents: list[Document], which: int) -> None:
        dedup = Deduplicator()
        dedup.dedupe(documents)
        for document in documents[which : which + 1]:
            edited = Document(document.id, document.text + " indeed", document.source, scope=document.scope)
            decision = dedup.run([edited]).decisions[0]
            assert decision.action == "revise"
            assert decision.survivor != document.id


class TestBatches:
    """Law 5."""

    @given(batches(max_size=14), st.lists(st.integers(1, 6), max_size=14))
    def test_any_cut_gives_the_same(self, documents: list[Document], sizes: list[int]) -> None:
        whole, cut = Deduplicator(), Deduplicator()
        expected = whole.run(documents).decisions
        found = []
        rest = documents
        for size in [*sizes, len(documents)]:
            found += cut.run(rest[:size]).decisions
            rest = rest[size:]
        assert tuple(found) == expected
        assert state(cut) == state(whole)

    @given(batches(max_size=10), batches(max_size=10))
    def test_complete_sources_one_by_one(self, old: list[Document], new: list[Document]) -> None:
        new = sorted(new, key=lambda d: (d.scope, d.source or ""))
        whole, cut = Deduplicator(), Deduplicator()
        whole.run(old)
        cut.run(old)
        # A document that moves to another source would make the order of the calls matter.
        homes = {(d.scope, d.id): d.source for d in old}
        new = [d for d in new if homes.get((d.scope, d.id), d.source) == d.source]
        whole.run(new, complete=True)
        for place in dict.fromkeys((d.scope, d.source) for d in new):
            cut.run([d for d in new if (d.scope, d.source) == place], complete=True)
        assert [row[:2] for row in state(cut)] == [row[:2] for row in state(whole)]
        assert {row[0] for row in state(cut) if row[3] is None} == {
            row[0] for row in state(whole) if row[3] is None
        }


class TestBlocks:
    """Law 5 inside a call: what is worked out for a block at once is what single steps would give."""

    @given(
        st.lists(st.tuples(batches(max_size=10), st.booleans(), st.integers(0, 11)), max_size=4),
        st.integers(1, 4),
        st.sampled_from([1, 2, 64]),
    )
    def test_any_block_size_gives_the_same(
        self, history: list[tuple[list[Document], bool, int]], size: int, limit: int
    ) -> None:
        engines = [Deduplicator(batch_size=batch_size) for batch_size in (1, size, 1000)]
        for dedup in engines:
            dedup._rules = replace(dedup._rules, limit=limit)
        for documents, complete, forgotten in history:
            plans = [dedup.run(documents, complete=complete) for dedup in engines]
            assert plans[0] == plans[1] == plans[2]
            plans = [dedup.forget(ids=[f"/{forgotten}"]) for dedup in engines]
            assert plans[0] == plans[1] == plans[2]
            for dedup, plan in zip(engines, plans, strict=True):
                dedup.commit(plan)
            assert state(engines[0]) == state(engines[1]) == state(engines[2])

    @pytest.mark.parametrize("size", [1, 2, 1000])
    def test_a_promoted_document_that_is_then_revised(self, size: int) -> None:
        dedup = Deduplicator(batch_size=size)
        dedup.run([Document("1", LONG), Document("3", LONG.upper())])
        plan = dedup.run([Document("1", "other"), Document("2", LONG), Document("3", LONG + " again")])
        assert [(d.action, d.survivor) for d in plan.decisions] == [
            ("revise", None),
            ("drop", "3"),
            ("revise", None),
        ]

    def test_more_orphans_than_a_block_holds(self) -> None:
        documents = [Document(str(i), LONG + " now" * (i % 2), f"page {i}") for i in range(50)]
        for size in (3, 1000):
            dedup = Deduplicator(batch_size=size)
            dedup.run([Document("first", LONG, "old"), *documents])
            assert [d.id for d in dedup.forget(source="old").promoted] == ["0"]
            plan = dedup.run([Document("new", "something else", "old"), *documents[:2]], complete=True)
            assert (plan.removed, [d.id for d in plan.promoted]) == (("first",), ["0"])
            assert dedup.explain("49").survivor == "0"

    def test_more_survivors_than_are_compared(self) -> None:
        """A crowd of guarded near-duplicates costs bounded work, and equal ones are found in it."""
        crowd = [Document(str(i), f"{LONGER} after {i} seconds") for i in range(100)]
        for size in (7, 1000):
            dedup = Deduplicator(batch_size=size)
            assert actions(dedup, crowd) == ["keep"] * 100
            again = [Document(f"again {d.id}", d.text.upper()) for d in crowd]
            assert [d.survivor for d in dedup.run(again).decisions] == [d.id for d in crowd]

    @pytest.mark.parametrize("size", [1, 1000])
    def test_where_one_of_a_crowd_goes_the_next_is_compared(self, size: int) -> None:
        """Their shingles are the same, and so are their bands; a guard keeps them apart."""
        dedup = Deduplicator(batch_size=size, guards=[Guard("sign", re.compile(r"[+#]").findall)])
        dedup._rules = replace(dedup._rules, limit=1)
        dedup.run([Document("plus", f"{LONGER} +"), Document("sharp", f"{LONGER} #")])
        late = Document("late", f"{LONGER} #.")
        assert [d.survivor for d in dedup.plan([late]).decisions] == [None]
        plan = dedup.run([Document("plus", "something else"), late])
        assert [d.survivor for d in plan.decisions] == [None, "sharp"]

    @pytest.mark.parametrize("setting", ["batch_size", "workers"])
    @pytest.mark.parametrize("value", [0, -1, 2.5, "2", None])
    def test_settings(self, setting: str, value: object) -> None:
        with pytest.raises(ConfigurationError, match=f"{setting} must be a whole number, 1 or more, not "):
            Deduplicator(**{setting: value})  # type: ignore[arg-type]

    def test_workers_change_nothing(self) -> None:
        documents = [Document(str(i), f"{LONG} number {i} {'é' * (i % 3)}") for i in range(300)]
        assert Deduplicator(workers=3).plan(documents) == Deduplicator().plan(documents)


class TestScopes:
    """Law 6."""

    def test_equal_texts_of_two_tenants(self) -> None:
        dedup = Deduplicator()
        assert (
            actions(dedup, [Document("x", LONG, scope="a"), Document("x", LONG, scope="b")]) == ["keep"] * 2
        )
        assert len(dedup.sources("x", scope="a")) == 1
        with pytest.raises(UnknownIdError, match="no document 'x' in scope ''"):
            dedup.explain("x")

    @given(st.lists(batches(max_size=5), max_size=5))
    def test_a_tenant_does_not_notice_the_others(self, history: list[list[Document]]) -> None:
        alone, beside = Deduplicator(), Deduplicator()
        for documents in history:
            mine = [d for d in documents if d.scope == ""]
            plan = beside.run(documents, complete=True)
            expected = alone.run(mine, complete=True)
            assert tuple(d for d in plan.decisions if d.scope == "") == expected.decisions
            assert tuple(d for d in plan.added if d.scope == "") == expected.added
            assert tuple(d for d in plan.promoted if d.scope == "") == expected.promoted
            for document in mine:
                assert beside.sources(document.id) == alone.sources(document.id)
                assert beside.explain(document.id) == alone.explain(document.id)

    def test_scope_from_metadata(self) -> None:
        dedup = Deduplicator(scope_key="tenant")
        plan = dedup.run([Document(t, LONG, metadata={"tenant": t}) for t in ("a", "b")])
        assert [d.scope for d in plan.decisions] == ["a", "b"]
        assert [d.action for d in plan.decisions] == ["keep", "keep"]

    def test_access_lists_have_no_order(self) -> None:
        dedup = Deduplicator(scope_key=["acl"])
        one = Document("1", LONG, metadata={"acl": ["ann", "Bob"]})
        two = Document("2", LONG, metadata={"acl": ["Bob", "ann"]})
        three = Document("3", LONG, metadata={"acl": ["bob", "ann"]})
        assert actions(dedup, [one, two, three]) == ["keep", "drop", "keep"]

    @pytest.mark.parametrize("metadata", [{}, {"tenant": None}, {"tenant": ""}, {"tenant": []}])
    def test_missing_scope_is_an_error(self, metadata: dict[str, object]) -> None:
        for key in ("tenant", ["tenant"]):
            with pytest.raises(MissingScopeError, match="'x' has no 'tenant'"):
                Deduplicator(scope_key=key).plan([Document("x", LONG, metadata=metadata)])

    @pytest.mark.parametrize("value", ["", None, 7])
    def test_function_that_finds_no_scope(self, value: object) -> None:
        find: Callable[[Document], str] = lambda document: value  # type: ignore[assignment, return-value]  # noqa: E731
        with pytest.raises(MissingScopeError):
            Deduplicator(scope_key=find).plan([Document("x", LONG)])


class TestCommit:
    """Law 8."""

    def test_interrupt_in_the_middle_leaves_the_old_state(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG), Document("b", LONG), Document("c", "something else")])
        before, generation = state(dedup), dedup.generation
        plan = dedup.plan([Document("a", "new"), Document("c", LONG), Document("d", "d")], complete=True)
        put, calls = Tables.put, []

        def put_until_interrupted(tables: Tables, entries: Iterable[Entry]) -> None:
            for entry in entries:
                calls.append(entry.key)
                if len(calls) == 3:
                    raise KeyboardInterrupt
                put(tables, [entry])

        with monkeypatch.context() as patch:
            patch.setattr(Tables, "put", put_until_interrupted)
            with pytest.raises(KeyboardInterrupt):
                dedup.commit(plan)
        assert (state(dedup), dedup.generation) == (before, generation)
        dedup.commit(plan)
        assert dedup.generation == generation + 1

    def test_a_plan_belongs_to_its_index(self) -> None:
        one, two = Deduplicator(), Deduplicator()
        one.dedupe([Document("a", LONG)])
        two.dedupe([Document("b", "something else")])
        with pytest.raises(ConfigurationError, match="another index"):
            two.commit(one.plan([Document("c", "and more")]))
        with pytest.raises(ConfigurationError, match="another index"):
            two.commit(one.plan([Document("a", LONG)]))

    def test_a_stale_plan_that_changes_nothing_is_refused_too(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source="s")])
        plan = dedup.plan([Document("a", LONG, source="s")])
        dedup.commit(dedup.forget("s"))
        with pytest.raises(StalePlanError):
            dedup.commit(plan)
        assert [document.id for document in dedup.replan(plan).added] == ["a"]

    def test_an_id_is_forgotten_once(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG)])
        assert dedup.forget(ids=["a", "a"]).removed == ("a",)

    def test_stale_plan_is_refused_whole(self) -> None:
        dedup = Deduplicator()
        late = dedup.plan([Document("a", LONG)])
        dedup.dedupe([Document("b", LONG)])
        before = state(dedup)
        with pytest.raises(StalePlanError, match="state 0 of the index, which is now at 1"):
            dedup.commit(late)
        assert state(dedup) == before

    def test_stale_plan_that_nothing_touches_is_written(self) -> None:
        """Workers whose documents have nothing to do with each other do not wait for each other."""
        dedup = Deduplicator()
        late = dedup.plan([Document("a", LONG), Document("b", LONG)])
        dedup.dedupe([Document("c", "something else")])
        dedup.commit(late)
        dedup.commit(late)
        assert dedup.generation == 2
        assert [key for key, *_ in state(dedup)] == [("", "a"), ("", "b"), ("", "c")]
        assert dedup.explain("b").survivor == "a"

    def test_stale_removal(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source="p"), Document("b", LONG, source="q")])
        late, too_late = dedup.forget(source="p"), dedup.forget(source="q")
        dedup.dedupe([Document("c", "something else")])
        dedup.commit(late)
        with pytest.raises(StalePlanError):  # b was to be released as a duplicate and is a survivor now
            dedup.commit(too_late)
        assert dedup.explain("b").survivor is None

    def test_old_plan_committed_again_after_others(self) -> None:
        dedup = Deduplicator()
        plan = dedup.run([Document("a", LONG)])
        dedup.run([Document("b", "something else")])
        before = state(dedup)
        dedup.commit(plan)
        assert state(dedup) == before


class TestRuns:
    """What ingestion runs have not seen."""

    @staticmethod
    def fill() -> Deduplicator:
        dedup = Deduplicator()
        texts = {name: f"passage {name} tells how to set up part {name} of it" for name in "abcde"}
        documents = {name: Document(name, text, source=f"page {name}") for name, text in texts.items()}
        dedup.dedupe([documents["a"]])  # in no run
        dedup.dedupe([documents["b"], documents["c"]], run="first")
        dedup.dedupe([documents["c"], documents["d"]], run="second")
        dedup.dedupe([documents["e"]], run="third")
        return dedup

    @pytest.mark.parametrize(("run", "removed"), [("first", "a"), ("second", "ab"), ("third", "abcd")])
    def test_sweep(self, run: str, removed: str) -> None:
        assert "".join(self.fill().sweep(run).removed) == removed

    @pytest.mark.parametrize(("run", "removed"), [("first", ""), ("second", "b"), ("third", "bcd")])
    def test_expire(self, run: str, removed: str) -> None:
        assert "".join(self.fill().expire(run).removed) == removed

    def test_a_run_that_nobody_knows(self) -> None:
        for forget in (self.fill().sweep, self.fill().expire):
            with pytest.raises(UnknownRunError, match="'fourth'"):
                forget("fourth")

    def test_a_run_that_has_seen_nothing_in_a_scope_sweeps_nothing_there(self) -> None:
        dedup = self.fill()
        dedup.dedupe([Document("z", LONG, source="page z", scope="s")])
        with pytest.raises(UnknownRunError, match="scope 's'"):
            dedup.sweep("third", scope="s")

    def test_what_another_source_has_stays(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source="p"), Document("b", LONG, source="r")], run="first")
        dedup.dedupe([Document("a", LONG, source="q")], run="second")
        plan = dedup.sweep("second")
        assert (plan.removed, plan.promoted) == ((), ())
        dedup.commit(plan)
        assert [place.source for place in dedup.sources("a")] == ["q"]

    def test_what_was_seen_again_in_between_is_not_swept(self) -> None:
        dedup = self.fill()
        plan = dedup.sweep("third")
        dedup.dedupe(
            [Document("b", "passage b tells how to set up part b of it", source="page b")], run="third"
        )
        with pytest.raises(StalePlanError):
            dedup.commit(plan)
        assert "".join(dedup.replan(plan).removed) == "acd"

    def test_a_late_part_of_an_earlier_run_takes_nothing_back(self) -> None:
        dedup = self.fill()
        dedup.dedupe(
            [Document("c", "passage c tells how to set up part c of it", source="page c")], run="first"
        )
        assert "".join(dedup.sweep("second").removed) == "ab"

    def test_a_run_whose_sources_were_all_seen_again(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source="a")])
        for run in ("first", "second"):
            dedup.dedupe([Document("b", "something else", source="b")], run=run)
        assert dedup.sweep("first").removed == ("a",)

    def test_the_name_of_a_run_is_a_name(self) -> None:
        with pytest.raises(InputError, match="must be a str"):
            Deduplicator().plan([], run=5)  # type: ignore[arg-type]


class TestInputs:
    """Law 9, and what is no input."""

    @given(batches())
    def test_nothing_is_mutated(self, documents: list[Document]) -> None:
        before = copy.deepcopy(documents)
        Deduplicator().dedupe(documents, complete=True)
        assert documents == before

    def test_later_changes_of_the_caller_do_not_reach_the_index(self) -> None:
        metadata = {"tags": ["one"], "title": "t"}
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG), Document("b", LONG, metadata=metadata)])
        metadata["tags"].append("two")  # type: ignore[attr-defined]
        assert dedup.forget(ids=["a"]).promoted[0].metadata == {"tags": ["one"], "title": "t"}

    def test_what_comes_out_does_not_lead_back_in(self) -> None:
        dedup = Deduplicator()
        plan = dedup.run([Document("a", LONG, metadata={"k": 1})])
        plan.added[0].metadata["k"] = 2  # type: ignore[index]
        dedup.dedupe([Document("a", LONG, metadata={"k": 1})])[0].metadata["k"] = 3  # type: ignore[index]
        dedup.commit(plan)
        assert dedup.survivors_of(plan)[0].metadata == {"k": 1}

    def test_metadata_that_is_none(self) -> None:
        with pytest.raises(InputError, match="is a NoneType, no mapping"):
            Deduplicator().plan([Document("a", LONG, metadata=None)])  # type: ignore[arg-type]

    def test_one_id_with_two_texts(self) -> None:
        with pytest.raises(DuplicateIdError, match="'a' occurs twice"):
            Deduplicator().plan([Document("a", "one"), Document("a", "two")])

    def test_one_document_twice(self) -> None:
        dedup = Deduplicator()
        assert actions(dedup, [Document("a", LONG), Document("a", LONG)]) == ["keep", "unchanged"]
        assert [d.id for d in dedup.dedupe([Document("a", LONG), Document("a", LONG)])] == ["a"]

    @pytest.mark.parametrize("thing", [None, "text", 17, {"id": "a", "text": "b"}])
    def test_not_a_document(self, thing: object) -> None:
        with pytest.raises(InputError, match="document 0 is a"):
            Deduplicator().plan([thing])  # type: ignore[list-item]

    @pytest.mark.parametrize("document", [Document(1, "a"), Document("a", b"a"), Document("a", None)])  # type: ignore[arg-type]
    def test_odd_fields(self, document: Document) -> None:
        with pytest.raises(InputError, match="must be str"):
            Deduplicator().plan([document])

    @pytest.mark.parametrize("document", [Document("a", "b"), "text"])
    def test_one_document_is_not_several(self, document: object) -> None:
        with pytest.raises(InputError, match="documents must be several Documents, not one "):
            Deduplicator().plan(document)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "odd",
        [
            {"span": (0,)},
            {"span": "ab"},
            {"span": (0, 10**99)},
            {"related": "b"},
            {"related": None},
            {"related": (1,)},
        ],
    )
    def test_odd_places(self, odd: dict[str, object]) -> None:
        with pytest.raises(InputError, match="document 'a': related must be"):
            Deduplicator().plan([Document("a", "b", **odd)])  # type: ignore[arg-type]

    def test_odd_sources_are_none(self) -> None:
        plan = Deduplicator().plan([Document("a", "b", source=["x"], url=5)])  # type: ignore[arg-type]
        assert plan.report.kept == 1

    def test_metadata_of_odd_types(self) -> None:
        import numpy as np

        class Uncopyable:
            def __deepcopy__(self, memo: object) -> object:
                raise TypeError("no")

        dedup = Deduplicator()
        odd = {"array": np.arange(3), "set": {1}, "bytes": b"x", 5: object}
        for _ in range(2):
            dedup.dedupe([Document("a", LONG, metadata=odd)])
        with pytest.raises(InputError, match="metadata of document 'b' cannot be copied"):
            dedup.plan([Document("b", LONG, metadata={"x": Uncopyable()})])

    @pytest.mark.parametrize(
        "text", ["\x00" * 50, "\ud800 lone \udfff surrogates", "a\x00b " * 20, "🙂" * 500]
    )
    def test_hostile_texts(self, text: str) -> None:
        dedup = Deduplicator()
        assert actions(dedup, [Document("a", text), Document("b", text + " and more")])[0] == "keep"
        assert actions(dedup, [Document("a", text)]) == ["unchanged"]
        assert dedup.explain("a").survivor is None

    @pytest.mark.parametrize("source", [None, "", "N/A", "unknown", "None"])
    def test_placeholders_are_no_source(self, source: str | None) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONG, source=source)])
        plan = dedup.run([Document("b", "something else", source=source)], complete=True)
        assert plan.removed == ()


class TestSettings:
    @pytest.mark.parametrize("threshold", [0, -1, 1.01, float("nan"), "0.8", None])
    def test_threshold(self, threshold: float) -> None:
        with pytest.raises(ConfigurationError, match="threshold"):
            Deduplicator(threshold=threshold)

    def test_on_duplicate(self) -> None:
        with pytest.raises(
            ConfigurationError, match="on_duplicate must be 'drop', 'annotate' or 'merge', not 'x'"
        ):
            Deduplicator(on_duplicate="x")

    @pytest.mark.parametrize("guards", ["number", 1, ["number"], [print], None])
    def test_guards(self, guards: Any) -> None:
        with pytest.raises(ConfigurationError, match="guards"):
            Deduplicator(guards=guards)

    @pytest.mark.parametrize("seed", ["1", 1.0, None, -1, 2**32])
    def test_seed(self, seed: Any) -> None:
        with pytest.raises(ConfigurationError, match="seed"):
            Deduplicator(seed=seed)

    @pytest.mark.parametrize("index", [1, [], b"memory://", Path("dedup.db")])
    def test_index_of_another_type(self, index: Any) -> None:
        with pytest.raises(ConfigurationError, match="index"):
            Deduplicator(index)

    def test_ids_are_no_string(self) -> None:
        with pytest.raises(InputError, match="ids"):
            Deduplicator().reconcile("abc")

    def test_index_that_is_not_there_does_not_show_its_password(self) -> None:
        with pytest.raises(ConfigurationError) as caught:
            Deduplicator(index="mysql://root:secret@localhost/x")
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("settings", "name"),
        [({"threshold": 0.7}, "threshold"), ({"seed": 2}, "fingerprint"), ({"guards": ()}, "guards")],
    )
    def test_index_of_other_settings(self, settings: dict[str, object], name: str) -> None:
        index = MemoryIndex()
        Deduplicator(index)
        Deduplicator(index, guards=DEFAULT_GUARDS)
        with pytest.raises(SchemeMismatchError, match=name):
            Deduplicator(index, **settings)  # type: ignore[arg-type]

    def test_forget_needs_a_subject(self) -> None:
        with pytest.raises(ConfigurationError, match="source or ids"):
            Deduplicator().forget()


class TestExplain:
    def test_tokens_that_differ(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONGER), Document("b", LONGER.replace("hands", "gives") + " always")])
        explanation = dedup.explain("b")
        assert (explanation.only_here, explanation.only_there) == (("gives", "always"), ("hands",))
        assert str(explanation).startswith("b is a duplicate of a (minhash, 0.")

    def test_guarded(self) -> None:
        dedup = Deduplicator()
        dedup.dedupe([Document("a", LONGER + " 5 times"), Document("b", LONGER + " 6 times")])
        assert "differs in a number ('6', there '5')" in str(dedup.explain("b"))
