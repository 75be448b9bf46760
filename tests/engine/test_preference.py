"""Which of the duplicates of a call survives, when the caller has a preference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import Deduplicator, Document
from rag_dedup.errors import ConfigurationError
from rag_dedup.preference import earliest, longest, newest, self_canonical

TEXT = (
    "the broker keeps a log of all messages that a client sends to a topic and hands them out in order while "
    "the exporter reads samples from the queue and writes them in batches to storage"
)
SHORT, MIDDLE, LONG = TEXT, TEXT + " of age", TEXT + " of age again"


def find_survivors(dedup: Deduplicator, documents: list[Document]) -> list[str | None]:
    return [decision.survivor for decision in dedup.run(documents).decisions]


def test_the_longest_of_a_call_survives_and_decisions_come_in_its_order() -> None:
    documents = [Document("a", SHORT), Document("b", LONG), Document("c", MIDDLE), Document("d", "else")]
    plan = Deduplicator(prefer=longest).run(documents)
    assert [(d.id, d.action, d.survivor) for d in plan.decisions] == [
        ("a", "drop", "b"),
        ("b", "keep", None),
        ("c", "drop", "b"),
        ("d", "keep", None),
    ]
    assert [document.id for document in plan.added] == ["b", "d"]


def test_what_is_stored_stays() -> None:
    """A copy with small changes cannot displace what it copies, however it is preferred."""
    dedup = Deduplicator(prefer=[newest("date"), longest])
    dedup.run([Document("page", SHORT, "page", metadata={"date": "2020-01-01"})])
    poison = Document("poison", LONG, "poison", metadata={"date": "2030-01-01"})
    plan = dedup.run([poison])
    assert [d.survivor for d in plan.decisions] == ["page"]
    assert (plan.added, plan.removed, plan.promoted) == ((), (), ())
    again = dedup.run([poison, Document("page", SHORT, "page", metadata={"date": "2020-01-01"})])
    assert [(d.action, d.survivor) for d in again.decisions] == [("unchanged", "page"), ("unchanged", None)]


@pytest.mark.parametrize(
    ("prefer", "first"),
    [
        (self_canonical, "clean"),
        ([self_canonical], "clean"),
        (newest("version"), "new"),
        (newest("date", "version"), "tracked"),
        (earliest("version"), "clean"),
        ([newest("missing"), longest], "tracked"),
        ((), "tracked"),
    ],
    ids=["canonical", "canonical alone", "version", "date", "earliest", "longest at last", "none"],
)
def test_preferences(prefer: object, first: str) -> None:
    documents = [
        Document("tracked", LONG, url="https://example.com/a?utm_source=x", metadata={"date": 1767225600}),
        Document("new", TEXT, url="https://example.com/old?x=1&&", metadata={"version": "v2.0"}),
        Document("clean", TEXT, url="https://example.com/a", metadata={"version": "1.9", "date": "unknown"}),
    ]
    survivors = find_survivors(Deduplicator(prefer=prefer), documents)  # type: ignore[arg-type]
    assert survivors[[document.id for document in documents].index(first)] is None
    assert survivors.count(first) == 2


def test_a_page_that_names_another_one_comes_last() -> None:
    def page(id: str, hint: str | None) -> Document:
        metadata = {} if hint is None else {"canonical_hint": hint}
        return Document(id, TEXT, url=f"https://example.com/{id}", metadata=metadata)

    documents = [page("other", "https://example.com/self"), page("silent", None)]
    documents.append(page("self", "https://EXAMPLE.com/self"))
    assert find_survivors(Deduplicator(prefer=self_canonical), documents) == ["self", "self", None]


@pytest.mark.parametrize(
    "value",
    [None, True, [], {}, float("nan"), "", "9" * 10_000, "1." * 10_000, "٣", object()],
    ids=["none", "bool", "list", "dict", "nan", "empty", "long", "deep", "arabic", "object"],
)
def test_odd_values_in_metadata(value: object) -> None:
    documents = [Document("odd", TEXT, metadata={"date": value}), Document("even", TEXT)]
    for prefer in (newest("date"), earliest("date")):
        assert sorted(documents, key=prefer)


words = st.sampled_from([TEXT, MIDDLE, LONG, TEXT.upper(), "something else", "something else again", "x"])


@given(st.lists(words, max_size=8), st.randoms(use_true_random=False), st.booleans())
def test_a_total_preference_does_not_see_the_order(texts: list[str], random: object, complete: bool) -> None:
    documents = [Document(str(i), text, f"page {i % 3}") for i, text in enumerate(texts)]
    shuffled = list(documents)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    by_id = {"prefer": [longest, lambda document: document.id]}
    one, other = (Deduplicator(**by_id) for _ in range(2))  # type: ignore[arg-type]
    plans = one.run(documents, complete=complete), other.run(shuffled, complete=complete)
    decided = [{d.id: d for d in plan.decisions} for plan in plans]
    assert decided[0] == decided[1]
    assert [d.id for d in plans[1].decisions] == [d.id for d in shuffled]
    # The same again, in any order, asks for nothing.
    again = one.run(shuffled, complete=complete)
    assert (again.added, again.removed, again.promoted) == ((), (), ())


def test_a_stale_plan_is_made_anew_in_the_same_order() -> None:
    dedup = Deduplicator(prefer=longest)
    documents = [Document("a", SHORT), Document("b", LONG)]
    plan = dedup.plan(documents)
    dedup.run([Document("c", "something else")])
    dedup.commit(plan)
    assert [(d.id, d.survivor) for d in dedup.run(documents).decisions] == [("a", "b"), ("b", None)]


@pytest.mark.parametrize("prefer", [3, ["longest"], "longest"])
def test_what_is_no_preference(prefer: object) -> None:
    with pytest.raises(ConfigurationError, match="prefer must be a function of a document, or several"):
        Deduplicator(prefer=prefer)  # type: ignore[arg-type]
