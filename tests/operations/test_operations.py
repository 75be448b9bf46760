"""Indexes as a whole: measured, verified, moved and merged."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_dedup import Deduplicator, Document, Guard, MemoryIndex
from rag_dedup.document import Changes, Entry
from rag_dedup.errors import ConfigurationError, InputError, SchemeMismatchError
from rag_dedup.index import Index
from rag_dedup.operations import (
    export_index,
    import_index,
    measure_index,
    merge_indexes,
    open_deduplicator,
    verify_index,
)
from tests.engine.stores import STORES, make_index
from tests.engine.strategies import batches

LONG = "the broker keeps a log of all messages that a client sends to a topic and hands them out in order"
DOCUMENTS = [
    Document("a", LONG, source="p", metadata={"seen": date(2026, 12, 1)}),
    Document("b", LONG.upper(), source="q"),
    Document("c", LONG + " always", source="q"),
    Document("d", LONG + " at 99.9 percent"),
    Document("e", LONG + " at 99.5 percent", scope="s"),
    Document("f", LONG + " at 99.7 percent", scope="s"),
    Document("g", ""),
]


def fill(index: Index) -> Deduplicator:
    dedup = Deduplicator(index)
    dedup.dedupe(DOCUMENTS[:3], run="one")
    dedup.dedupe([*DOCUMENTS[3:], Document("b", LONG.upper(), source="r")], run="two")
    return dedup


def dump(index: Index) -> list[object]:
    with index.snapshot() as view:
        return [*view, view.list_runs(), sorted(view.list_sources().items())]


def spoil(index: Index, changes: Changes) -> None:
    with index.transaction() as transaction:
        transaction.write(uuid.uuid4().hex, changes)


def get(index: Index, id: str) -> Entry:
    with index.snapshot() as view:
        (entry,) = view.entries([("", id)])
    assert entry is not None
    return entry


LEAVES = st.none() | st.booleans() | st.integers(-2, 2**65) | st.floats() | st.text(max_size=3)
VALUES = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=3), LEAVES, max_size=2)


def spoil_json(data: st.DataObject, lines: list[Any]) -> None:
    """Replace, drop or repeat something anywhere in the lines."""
    at: Any = lines
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if isinstance(at[key], (dict, list)) and at[key] and data.draw(st.integers(0, 3)):
            at = at[key]
            continue
        break
    action = data.draw(st.sampled_from(["replace", "drop", "repeat"]))
    if action == "replace":
        at[key] = data.draw(VALUES)
    elif action == "drop":
        del at[key]
    elif isinstance(at, list):
        at.append(at[key])


@pytest.fixture(params=STORES)
def index(request: pytest.FixtureRequest) -> Index:
    return make_index(request.param)


class TestMeasure:
    def test_counts(self, index: Index) -> None:
        fill(index)
        stats = measure_index(index)
        assert (stats.documents, stats.survivors, stats.duplicates) == (7, 5, 2)
        assert stats.by_method == {"exact": 1, "minhash": 1}
        assert stats.by_guard == {"number": 2}
        assert stats.by_run == {"one": 3, "two": 4}
        assert (stats.scopes, stats.sources) == (2, 3)
        assert stats.duplicate_rate == pytest.approx(2 / 7)
        assert stats.guard_rate == pytest.approx(2 / 7)
        assert stats.largest_band == 2
        assert stats.candidates == pytest.approx(4 / 5)  # two pairs that only a guard keeps apart
        assert stats.bytes > 0

    def test_empty(self, index: Index) -> None:
        stats = measure_index(index)
        assert (stats.documents, stats.duplicate_rate, stats.guard_rate, stats.candidates) == (0, 0, 0, 0)

    def test_json_and_prometheus(self) -> None:
        index = MemoryIndex()
        Deduplicator(index).dedupe([Document("a", LONG, source="p")], run='odd "run"\n\\')
        stats = measure_index(index)
        assert json.loads(json.dumps(stats.to_dict()))["documents"] == 1
        lines = stats.to_prometheus().splitlines()
        assert "rag_dedup_index_documents 1" in lines
        assert r'rag_dedup_index_by_run{run="odd \"run\"\n\\"} 1' in lines
        assert all(line.startswith(("# TYPE rag_dedup_index_", "rag_dedup_index_")) for line in lines)


class TestVerify:
    def test_nothing_wrong(self, index: Index) -> None:
        fill(index)
        assert list(verify_index(index)) == []

    def test_orphan(self, index: Index) -> None:
        fill(index)
        entry = get(index, "a")
        spoil(index, Changes(delete=(entry.key,), withdrawn=(entry.order,)))
        faults = [(fault.kind, fault.id) for fault in verify_index(index)]
        assert faults == [("orphan", "b"), ("orphan", "c")]

    def test_unlike(self, index: Index) -> None:
        fill(index)
        spoil(index, Changes(put=(get(index, "b")._replace(text="something else"),)))
        assert [(fault.kind, fault.id) for fault in verify_index(index)] == [("unlike", "b")]

    def test_hidden(self, index: Index) -> None:
        fill(index)
        entry = get(index, "a")
        spoil(index, Changes(put=(entry,), withdrawn=(entry.order,)))
        assert [(fault.kind, fault.id) for fault in verify_index(index)] == [("hidden", "a")]

    def test_double(self, index: Index) -> None:
        (dropped,) = fill(index).plan([Document("y", LONG.upper())]).changes.put
        survivor = dropped._replace(survivor=None, method=None, similarity=None)
        signatures = Deduplicator().plan([Document("y", LONG)]).changes.signatures
        spoil(index, Changes(put=(survivor,), posted=(survivor,), signatures=signatures))
        assert [(fault.kind, fault.id) for fault in verify_index(index)] == [("double", "y")]


class TestTransfer:
    @pytest.mark.parametrize("target", STORES)
    def test_there_and_back(self, index: Index, target: str) -> None:
        fill(index)
        other = make_index(target)
        lines = [json.loads(json.dumps(line)) for line in export_index(index)]
        assert import_index(lines, other) == 7
        assert dump(other) == dump(index)
        assert list(verify_index(other)) == []
        plan = open_deduplicator(other).plan([Document("h", LONG + " always"), *DOCUMENTS])
        assert [decision.action for decision in plan.decisions] == ["drop", *["unchanged"] * 7]

    def test_what_is_no_export(self) -> None:
        with pytest.raises(InputError, match="no export of an index"):
            import_index([{"id": "a", "text": "b"}], MemoryIndex())
        with pytest.raises(InputError, match="no export of an index"):
            import_index([], MemoryIndex())
        index = MemoryIndex()
        fill(index)
        lines = list(export_index(index))
        with pytest.raises(InputError, match="cannot be read"):
            import_index([lines[0], {"text": "x"}], MemoryIndex())

    @pytest.mark.parametrize("kept", range(1, 11))
    def test_a_part_of_an_export(self, index: Index, kept: int) -> None:
        source = MemoryIndex()
        fill(source)
        lines = list(export_index(source))
        assert len(lines) == 11
        if kept == 10:
            lines.insert(10, lines[-2] | {"order": 99})
        with pytest.raises(InputError, match=r"cut off|lacks the survivor|there twice"):
            import_index(lines[: kept + (kept == 10)], index)
        header = index.header
        assert header is None
        if not dump(index)[:-2] and not dump(index)[-2]:
            return
        for use in (Deduplicator, open_deduplicator, lambda index: list(export_index(index))):
            with pytest.raises(ConfigurationError, match="cut off"):
                use(index)
        with pytest.raises(ConfigurationError, match="cut off"):
            merge_indexes([index], MemoryIndex())
        with pytest.raises(ConfigurationError, match="not empty"):
            import_index(export_index(source), index)
        assert "cut off" in next(verify_index(index)).text

    @given(st.data())
    @settings(max_examples=300)
    def test_hostile_lines(self, data: st.DataObject) -> None:
        """Whatever stands in an export, it is refused by name or makes an index that can be used."""
        source, target = MemoryIndex(), MemoryIndex()
        fill(source)
        lines = json.loads(json.dumps(list(export_index(source))))
        spoil_json(data, lines)
        try:
            import_index([line for line in lines if isinstance(line, dict)], target)
        except (InputError, SchemeMismatchError, ConfigurationError):
            return
        list(verify_index(target))
        measure_index(target)
        open_deduplicator(target).plan(DOCUMENTS, complete=True)

    def test_of_another_scheme(self) -> None:
        index = MemoryIndex()
        fill(index)
        first, *rest = export_index(index)
        first = {**first, "header": {**first["header"], "exact": "exact-0"}}
        with pytest.raises(SchemeMismatchError, match="exact: index 'exact-0'"):
            import_index([first, *rest], MemoryIndex())

    def test_into_what_is_not_empty(self) -> None:
        index = MemoryIndex()
        fill(index)
        with pytest.raises(ConfigurationError, match="not empty"):
            import_index(export_index(index), index)

    def test_empty(self, index: Index) -> None:
        with pytest.raises(ConfigurationError, match="empty"):
            next(export_index(index))
        with pytest.raises(ConfigurationError, match="empty"):
            open_deduplicator(index)

    def test_unknown_guard(self) -> None:
        index = MemoryIndex()
        Deduplicator(index, guards=[Guard("sku", str.split)])
        with pytest.raises(ConfigurationError, match="guard 'sku' that is not known"):
            open_deduplicator(index)
        assert open_deduplicator(index, [Guard("sku", str.split)]).index is index


class TestMerge:
    @given(batches(12), batches(12))
    @settings(max_examples=60)
    def test_two_jobs_are_as_one(self, first: list[Document], second: list[Document]) -> None:
        second = [replace(document, id=document.id + "'") for document in second]
        one = Deduplicator()
        one.dedupe([*first, *second])
        parts = [Deduplicator(), Deduplicator()]
        store = set()
        for part, documents in zip(parts, (first, second), strict=True):
            store |= {d.id for d in part.dedupe(documents)}
        target = MemoryIndex()
        drift = merge_indexes([part.index for part in parts], target)
        assert dump(target) == dump(one.index)
        store = (store - set(drift.removed)) | {document.id for document in drift.added}
        assert store == {entry.id for entry in dump(one.index)[:-2] if entry.survivor is None}

    def test_runs_are_kept(self, index: Index) -> None:
        parts = [Deduplicator(), Deduplicator()]
        parts[0].dedupe([Document("a", LONG, source="p")], run="one")
        parts[1].dedupe([Document("b", LONG, source="q"), Document("c", "", source="r")], run="two")
        drift = merge_indexes([part.index for part in parts], index)
        assert (drift.added, drift.removed) == ((), ("b",))
        assert open_deduplicator(index).sweep("two").removed == ("a",)
        assert list(verify_index(index)) == []

    def test_what_the_vector_store_refuses_is_not_merged(self, index: Index) -> None:
        part = Deduplicator()
        part.dedupe([Document("a", LONG)])

        def fail(drift: object) -> None:
            raise OSError("the vector store is away")

        with pytest.raises(OSError, match="away"):
            merge_indexes([part.index], index, write=fail)
        with pytest.raises(ConfigurationError, match="cut off"):
            Deduplicator(index)
        index.drop()

    def test_what_cannot_be_merged(self) -> None:
        filled, other = Deduplicator(), Deduplicator(threshold=0.7)
        filled.dedupe([Document("a", LONG)])
        with pytest.raises(SchemeMismatchError, match="threshold"):
            merge_indexes([filled.index, other.index], MemoryIndex())
        with pytest.raises(ConfigurationError, match="nothing to merge"):
            merge_indexes([MemoryIndex()], MemoryIndex())
        with pytest.raises(ConfigurationError, match="not empty"):
            merge_indexes([other.index], filled.index)

    def test_runs_that_come_in_another_order(self) -> None:
        one, two, target = Deduplicator(), Deduplicator(), MemoryIndex()
        one.dedupe([Document("p", "one two three", source="p")], run="second")
        two.dedupe([Document("q", "four five six", source="q")], run="first")
        two.dedupe([Document("r", "seven eight nine", source="r")], run="second")
        with pytest.raises(ConfigurationError, match="give first the indexes"):
            merge_indexes([one.index, two.index], target)
        merge_indexes([two.index, one.index], target)
        assert open_deduplicator(target).expire("first").removed == ()
        assert open_deduplicator(target).expire("second").removed == ("q",)
