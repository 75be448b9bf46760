"""Scopes never mix (law 6): a tenant sees what it would see if there were no others.

``RAG_DEDUP_SOAK=1`` runs ten thousand operations of fifty tenants.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from rag_dedup import Deduplicator, Document, SegmentCache
from rag_dedup.errors import RagDedupError

SOAK = bool(os.environ.get("RAG_DEDUP_SOAK"))
TENANTS, OPERATIONS = (50, 10_000) if SOAK else (12, 1_200)
IDS, SOURCES, RUNS = 12, 5, 4
MENU = "Home\n\nProducts and prices\n\nAll of the documentation"


class Operation(NamedTuple):
    """What a tenant asks for, and with what."""

    tenant: str
    name: str
    number: int
    documents: tuple[Document, ...] = ()


def write_texts() -> list[str]:
    """Return texts of which many are near-duplicates of others, some with another number."""
    words = "the broker keeps what a client sends to a topic and hands it out in order to whoever asks for it"
    texts = []
    for subject in ("alpha", "beta", "gamma"):
        text = f"{subject} {words} {subject} with {len(subject)} replicas"
        texts += [text, text.upper(), f"{text} today", f"please {text}", text.replace("replicas", "nodes")]
        texts += [text.replace("keeps", f"keeps for {days} days") for days in (3, 7)]
    return texts


def draw_operations(chance: random.Random) -> list[Operation]:
    texts = write_texts()
    names = ["dedupe"] * 6 + ["complete"] * 2 + ["forget", "forget id", "sweep", "expire", "strip"]
    operations = []
    for _ in range(OPERATIONS):
        tenant = f"tenant {chance.randrange(TENANTS)}"
        ids = chance.sample(range(IDS), chance.randrange(1, 4))
        documents = tuple(
            Document(
                str(id),
                chance.choice(texts),
                url=f"https://docs.example/{chance.randrange(SOURCES)}",
                metadata={"tenant": tenant},
            )
            for id in ids
        )
        operations.append(Operation(tenant, chance.choice(names), chance.randrange(RUNS), documents))
    return operations


def run(operations: Iterable[Operation]) -> dict[str, list[Any]]:
    """Run operations on one index and one segment cache; return what each tenant was told."""
    dedup, cache = Deduplicator(scope_key="tenant"), SegmentCache()
    told = defaultdict(list)
    for operation in operations:
        try:
            answer = carry_out(dedup, cache, operation)
        except RagDedupError as error:
            answer = type(error), str(error)
        told[operation.tenant].append((operation.name, answer, *look(dedup, operation)))
    return told


def carry_out(dedup: Deduplicator, cache: SegmentCache, operation: Operation) -> Any:
    tenant, name, number, documents = operation
    if name == "strip":
        pages = [
            Document(d.id, f"{MENU}\n\n{d.text}\n\n{tenant}", url=d.url, scope=tenant) for d in documents
        ]
        return [(stripped.text, stripped.removed) for stripped in cache.stream(pages)]
    if name in ("dedupe", "complete"):
        plan = dedup.plan(documents, complete=name == "complete", run=f"run {number}")
    elif name == "forget":
        plan = dedup.forget(f"https://docs.example/{number}", scope=tenant)
    elif name == "forget id":
        plan = dedup.forget(ids=[documents[0].id], scope=tenant)
    elif name == "sweep":
        plan = dedup.sweep(f"run {number}", tenant)
    else:
        plan = dedup.expire(f"run {number}", tenant)
    dedup.commit(plan)
    return plan.decisions, plan.added, plan.removed, plan.promoted, plan.report


def look(dedup: Deduplicator, operation: Operation) -> tuple[Any, ...]:
    """Ask for what the index knows of one of the documents."""
    id = operation.documents[0].id
    try:
        return dedup.sources(id, operation.tenant), dedup.explain(id, operation.tenant)
    except RagDedupError as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(2))
def test_each_tenant_is_alone(seed: int) -> None:
    operations = draw_operations(random.Random(seed))
    together = run(operations)
    for tenant, told in together.items():
        assert run(operation for operation in operations if operation.tenant == tenant)[tenant] == told


def test_tenants_in_one_call() -> None:
    """A call with the documents of all decides on each as a call with those of its tenant does."""
    chance = random.Random(3)
    texts = write_texts()
    calls = [
        [
            Document(f"{tenant}/{i}", chance.choice(texts), source=f"page {i % 7}", scope=f"tenant {tenant}")
            for i in range(20)
            for tenant in range(TENANTS)
        ]
        for _ in range(4)
    ]
    together, alone = Deduplicator(), {f"tenant {tenant}": Deduplicator() for tenant in range(TENANTS)}
    for call in calls:
        plan = together.run(call, complete=True)
        for scope, dedup in alone.items():
            own = dedup.run([document for document in call if document.scope == scope], complete=True)
            assert own.decisions == tuple(d for d in plan.decisions if d.scope == scope)
            assert own.added == tuple(d for d in plan.added if d.scope == scope)
            assert own.promoted == tuple(d for d in plan.promoted if d.scope == scope)
            prefix = f"{scope.removeprefix('tenant ')}/"
            assert own.removed == tuple(id for id in plan.removed if id.startswith(prefix))
