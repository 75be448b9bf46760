"""What the metadata of survivors say of their duplicates, after any history and in every plan."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import Deduplicator, Document, Merge, Plan
from rag_dedup.errors import ConfigurationError
from rag_dedup.merge import COUNT_KEY, SOURCES_KEY

TEXT = "the broker keeps a log of all messages that a client sends to a topic and hands them out in order"


def make_page(name: str, text: str = TEXT, **metadata: Any) -> Document:
    return Document(name, text, f"https://example.com/{name}", metadata=metadata)


def merging(**settings: Any) -> Deduplicator:
    return Deduplicator(on_duplicate="merge", merge=Merge(**settings))


def write(store: dict[str, Document], plan: Plan) -> None:
    """Do what a plan says; nothing is written twice."""
    for document in (*plan.added, *plan.promoted):
        assert document != store.get(document.id)
        store[document.id] = document
    for id in plan.removed:
        del store[id]


def test_a_survivor_knows_its_sources() -> None:
    dedup = merging()
    plan = dedup.run([make_page("a", lang="en"), make_page("b"), make_page("c", "something else")])
    assert [dict(document.metadata) for document in plan.added] == [
        {
            "lang": "en",
            SOURCES_KEY: '["https://example.com/a", "https://example.com/b"]',
            COUNT_KEY: 2,
        },
        {},
    ]


def test_a_survivor_is_written_again_when_it_gets_or_loses_a_source() -> None:
    dedup = merging()
    dedup.run([make_page("a")])
    plan = dedup.run([make_page("b")])
    assert (plan.added, plan.removed) == ((), ())
    assert [(d.id, d.metadata[COUNT_KEY]) for d in plan.promoted] == [("a", 2)]
    again = dedup.run([make_page("b"), make_page("a")])
    assert (again.added, again.removed, again.promoted) == ((), (), ())
    plan = dedup.plan([make_page("c"), make_page("a")])
    assert [(d.id, d.metadata[COUNT_KEY]) for d in plan.added] == [("a", 3)]
    plan = dedup.forget(source="https://example.com/b")
    assert [(d.id, dict(d.metadata)) for d in plan.promoted] == [("a", {})]


def test_rules_for_what_differs() -> None:
    dedup = merging(union=["tags", "author"], newest=["lastmod"])
    pages = [
        make_page("a", tags=["x", "y"], lastmod="2026-01-02", title="A", author="Ann"),
        make_page("b", tags="z", lastmod="2026-05-03", title="B", author=["Bo", "Ann"]),
        make_page("c", tags=["y"], lastmod="2025-12-31", author=None),
    ]
    [document] = dedup.run(pages).added
    assert {key: value for key, value in document.metadata.items() if not key.startswith("rag_dedup")} == {
        "tags": ["x", "y", "z"],
        "lastmod": "2026-05-03",
        "title": "A",
        "author": ["Ann", "Bo"],
    }
    assert pages[0].metadata["tags"] == ["x", "y"]  # law 9


def test_a_size_limit() -> None:
    for most in (2, 30, 60, 4000):
        dedup = merging(max_characters=most)
        [document] = dedup.run([make_page(f"{n}") for n in range(100)]).added
        listed = document.metadata[SOURCES_KEY]
        assert len(listed) <= most
        assert json.loads(listed) == [f"https://example.com/{n}" for n in range(len(json.loads(listed)))]
        assert document.metadata[COUNT_KEY] == 100
    assert len(json.loads(listed)) == 100


def test_one_id_in_several_sources_is_no_cluster_but_has_several_sources() -> None:
    dedup = merging()
    documents = [Document("same", TEXT, "one"), Document("same", TEXT, "two")]
    [document] = dedup.run(documents).added
    assert json.loads(document.metadata[SOURCES_KEY]) == ["one", "two"]


def test_scopes_do_not_merge() -> None:
    dedup = merging(union=["tags"])
    documents = [replace(make_page("a", tags=[tenant]), scope=tenant) for tenant in ("red", "blue")]
    assert [dict(document.metadata) for document in dedup.run(documents).added] == [
        {"tags": ["red"]},
        {"tags": ["blue"]},
    ]


def test_what_is_handed_out_is_the_callers() -> None:
    dedup = merging(union=["tags"])
    [document] = dedup.run([make_page("a", tags=[["x"]]), make_page("b", tags=[["y"]])]).added
    document.metadata["tags"][0].append("mine")
    [drift] = dedup.reconcile([]).added
    assert drift.metadata["tags"] == [["x"], ["y"]]


words = st.sampled_from([TEXT, TEXT.upper(), TEXT + " again", "something else", "third"])
pages = st.builds(
    lambda n, text, tags: Document(f"{n % 4}-{text}", text, f"page {n}", metadata={"tags": tags}),
    st.integers(0, 7),
    words,
    st.lists(st.sampled_from("xyz"), max_size=2),
)


@given(
    st.lists(
        st.tuples(
            st.lists(pages, max_size=5, unique_by=lambda d: d.id),
            st.booleans(),
            st.one_of(st.none(), st.integers(0, 7)),
        ),
        max_size=5,
    ),
)
def test_the_vector_store_always_has_what_the_index_would_write(
    history: list[tuple[list[Document], bool, int | None]],
) -> None:
    """After each plan the store is what :meth:`Deduplicator.reconcile` would fill an empty one with."""
    dedup = Deduplicator(on_duplicate="merge", merge=Merge(union=["tags"]))
    store: dict[str, Document] = {}
    for documents, complete, forgotten in history:
        plan = dedup.plan(documents, complete=complete)
        write(store, plan)
        dedup.commit(plan)
        if forgotten is not None:
            plan = dedup.forget(source=f"page {forgotten}")
            write(store, plan)
            dedup.commit(plan)
        expected = {document.id: document for document in dedup.reconcile([]).added}
        for id, document in expected.items():
            for key in (SOURCES_KEY, COUNT_KEY, "tags"):
                if COUNT_KEY in document.metadata:
                    assert store[id].metadata.get(key) == document.metadata.get(key)
        assert store.keys() == expected.keys()


def test_a_plan_made_anew_writes_the_merged_metadata(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/dedup.db"
    first, second = (Deduplicator(url, on_duplicate="merge") for _ in range(2))
    plan = first.plan([make_page("a")])
    second.run([make_page("b")])
    written: dict[str, Document] = {}
    plan = first.carry_out(
        plan, lambda plan: written.update((d.id, d) for d in (*plan.added, *plan.promoted))
    )
    assert plan.removed == ("a",)
    assert written["b"].metadata[COUNT_KEY] == 2


def test_settings_that_cannot_be_right() -> None:
    with pytest.raises(ConfigurationError, match="merge goes with on_duplicate='merge'"):
        Deduplicator(merge=Merge())
    with pytest.raises(ConfigurationError, match="must be 'drop', 'annotate' or 'merge', not 'x'"):
        Deduplicator(on_duplicate="x")
