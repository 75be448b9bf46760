"""The engine against the slow oracle on two real documentation sites in many versions."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_dedup import Deduplicator, Document, Plan
from rag_dedup.text import shingle
from tests.oracle import NEGATIONS, THRESHOLD, cluster_greedily, jaccard, normal_form

Chunks = list[Document]


@pytest.fixture(scope="module")
def chunks(shared_data: Callable[[str], Path]) -> Chunks:
    with lzma.open(shared_data("docs/chunks.jsonl.xz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Document(f"{source}/{row['i']}", row["text"], source=source)
        for row in rows
        for source in [f"{row['site']}/{row['version']}/{row['page']}"]
    ]


@pytest.fixture(scope="module")
def shingle_sets(chunks: Chunks) -> list[frozenset[object]]:
    known: dict[str, frozenset[object]] = {}
    return [
        known[chunk.text]
        if chunk.text in known
        else known.setdefault(chunk.text, frozenset(shingle(chunk.text)))
        for chunk in chunks
    ]


def find_drops(plan: Plan, chunks: Chunks) -> dict[int, int]:
    position = {chunk.id: i for i, chunk in enumerate(chunks)}
    return {
        i: position[d.survivor] for i, d in enumerate(plan.decisions) if d.action == "drop" and d.survivor
    }


def test_drops_are_justified_and_complete(chunks: Chunks, shingle_sets: list[frozenset[object]]) -> None:
    plan = Deduplicator(guards=()).plan(chunks)
    drops = find_drops(plan, chunks)
    for i, j in drops.items():
        assert plan.decisions[j].survivor is None
        if normal_form(chunks[i].text) != normal_form(chunks[j].text):
            similarity = jaccard(shingle_sets[i], shingle_sets[j])
            assert similarity >= THRESHOLD
            assert plan.decisions[i].similarity == pytest.approx(similarity)
    expected = cluster_greedily([chunk.text for chunk in chunks], shingle_sets)
    recall = len(drops.keys() & expected.keys()) / len(expected)
    print(f"\n{len(chunks)} chunks, {len(expected)} drops of the oracle, recall {recall:.5f}")
    assert recall >= 0.999


def test_guards_keep_facts_apart(chunks: Chunks, shingle_sets: list[frozenset[object]]) -> None:
    plan = Deduplicator().plan(chunks)
    drops = find_drops(plan, chunks)
    for i, j in drops.items():
        here, there = chunks[i].text, chunks[j].text
        assert re.findall(r"\d+", here) == re.findall(r"\d+", there)
        negations = [
            [word for word in re.findall(r"[a-z]+", text.lower()) if word in NEGATIONS]
            for text in (here, there)
        ]
        assert negations[0] == negations[1]
    unguarded = cluster_greedily([chunk.text for chunk in chunks], shingle_sets)
    harmless = [
        i
        for i, j in unguarded.items()
        if normal_form(chunks[i].text) != normal_form(chunks[j].text)
        and re.findall(r"\d+", chunks[i].text) == re.findall(r"\d+", chunks[j].text)
    ]
    still = sum(i in drops for i in harmless) / len(harmless)
    print(f"\n{len(harmless)} near-duplicates with the same digits, {still:.4f} of them still dropped")
    assert still >= 0.9


def test_second_run_asks_for_nothing(chunks: Chunks) -> None:
    dedup = Deduplicator()
    first = dedup.dedupe(chunks, complete=True)
    plan = dedup.plan(chunks, complete=True)
    assert (plan.added, plan.removed, plan.promoted) == ((), (), ())
    assert not plan.changes
    assert dedup.survivors_of(plan) == first
