"""Law 10: every store decides as the one in memory does, byte for byte, also when little is a lot."""

from __future__ import annotations

import random

import pytest

from rag_dedup import Deduplicator, Document, Plan
from rag_dedup.index import paged, stored
from rag_dedup.operations import verify_index
from tests.engine.stores import STORES, make_index

WORDS = [f"{a}{b}{c}ik" for a in "kmprt" for b in "aeiou" for c in "lnrsz"]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few documents have many pages and runs that are too long to be merged."""
    monkeypatch.setattr(paged, "PAGE", 16)
    monkeypatch.setattr(stored, "_LONGEST_RUN", 2000)


def write_documents(chance: random.Random, count: int, texts: list[list[str]]) -> list[Document]:
    """Return documents of which many are near earlier ones; some share a long text with all others."""
    documents: dict[str, Document] = {}
    for _ in range(count):
        if texts and chance.random() < 0.6:
            words = list(chance.choice(texts))
            for _ in range(chance.randrange(3)):
                words[chance.randrange(len(words))] = chance.choice(WORDS)
        else:
            words = [chance.choice(WORDS) for _ in range(30)]
        texts.append(words)
        id = str(chance.randrange(600))
        scope = chance.choice(["", "s"])
        documents[f"{scope}/{id}"] = Document(
            f"{scope}/{id}",
            " ".join(words),
            source=f"page {chance.randrange(40)}",
            scope=scope,
            metadata={"n": chance.random()},
        )
    return list(documents.values())


def outline(plan: Plan) -> tuple[object, ...]:
    return plan.decisions, plan.added, plan.removed, plan.promoted, plan.report, plan.generation


@pytest.mark.parametrize("store", [name for name in STORES if name != "memory"])
@pytest.mark.parametrize("seed", range(2))
def test_the_same_history_gives_the_same(store: str, seed: int) -> None:
    chance = random.Random(seed)
    engines = [Deduplicator(batch_size=16), Deduplicator(make_index(store), batch_size=50)]
    texts: list[list[str]] = []
    for step in range(30):
        documents = write_documents(chance, 40, texts)
        complete, run = chance.random() < 0.3, f"run {step // 10}"
        assert len({repr(outline(e.run(documents, complete=complete, run=run))) for e in engines}) == 1
        source, scope = f"page {chance.randrange(40)}", chance.choice(["", "s"])
        plans = [engine.forget(source=source, scope=scope) for engine in engines]
        assert outline(plans[0]) == outline(plans[1])
        for engine, plan in zip(engines, plans, strict=True):
            engine.commit(plan)
        if step == 20:
            for engine in engines:
                engine.index.compact()
    with engines[0].index.snapshot() as here, engines[1].index.snapshot() as there:
        assert list(here) == list(there)
        assert here.list_sources() == there.list_sources()
        assert len(list(here)) > 200
    assert list(verify_index(engines[1].index)) == []
