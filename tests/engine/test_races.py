"""Several processes, one index: each cluster has exactly one survivor.

``RAG_DEDUP_SOAK=1`` races 8 processes over 20,000 documents.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_dedup import Deduplicator, Document, MemoryIndex, Plan, open_index
from rag_dedup.errors import UnavailableError, WorkerError
from rag_dedup.operations import measure_index, verify_index
from tests.engine.ingest import VectorStore
from tests.engine.stores import STORES

SHARED = [name for name in STORES if name != "memory"]
SOAK = bool(os.environ.get("RAG_DEDUP_SOAK"))
COUNT, PROCESSES = (20_000, 8) if SOAK else (2_000, 4)
SPAWN = multiprocessing.get_context("spawn")


def write_documents() -> list[Document]:
    """Return documents of which half are copies, or nearly, of another, shuffled."""
    chance = random.Random(5)
    words = [f"{first}{second}{third}ik" for first in "kmnprst" for second in "aeiou" for third in "lnrsxyz"]
    documents = []
    for number in range(COUNT // 2):
        text = [chance.choice(words) for _ in range(40)]
        documents.append(Document(f"{number}/a", " ".join(text), source=f"page {number % 97}"))
        if number % 2:
            text.insert(chance.randrange(40), "really")
        documents.append(Document(f"{number}/b", " ".join(text).upper(), source=f"page {number % 89}"))
    chance.shuffle(documents)
    return documents


def ingest_at_once(url: str, documents: list[Document], size: int) -> None:
    """Plan and commit as one step."""
    dedup = Deduplicator(url)
    for start in range(0, len(documents), size):
        dedup.dedupe(documents[start : start + size])


def ingest_in_two_phases(url: str, documents: list[Document], size: int, path: Path) -> None:
    """Plan, write the vector store, commit."""
    dedup, store = Deduplicator(url), VectorStore(path)

    def write(plan: Plan) -> None:
        store.write(plan)
        time.sleep(0.002)  # so that others come in between

    for start in range(0, len(documents), size):
        dedup.carry_out(dedup.plan(documents[start : start + size]), write)


def race(work: Callable[..., None], *arguments: object) -> None:
    """Let processes share the documents."""
    documents = write_documents()
    processes = [
        SPAWN.Process(target=work, args=(arguments[0], documents[n::PROCESSES], *arguments[1:]))
        for n in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0


def check(url: str) -> None:
    """Each pair has one survivor, and it is the one that the other names (laws 1 and 2)."""
    index = open_index(url)
    assert list(verify_index(index)) == []
    stats = measure_index(index)
    assert (stats.documents, stats.survivors) == (COUNT, COUNT // 2)
    with index.snapshot() as view:
        survivors = {entry.id for entry in view if entry.survivor is None}
        for entry in view:
            pair = entry.id.partition("/")[0]
            assert len({f"{pair}/a", f"{pair}/b"} & survivors) == 1
            assert entry.survivor is None or entry.survivor.partition("/")[0] == pair


@pytest.mark.parametrize("store", SHARED)
def test_workers_that_plan_and_commit_at_once(store: str) -> None:
    url = STORES[store]()
    race(ingest_at_once, url, 50)
    check(url)


@pytest.mark.parametrize("store", SHARED)
def test_workers_that_write_a_store_in_between(store: str, tmp_path: Path) -> None:
    url, path = STORES[store](), tmp_path / "store.db"
    VectorStore(path).close()
    race(ingest_in_two_phases, url, 20, path)
    check(url)
    assert not Deduplicator(url).reconcile(VectorStore(path).read())


@pytest.mark.parametrize("store", SHARED)
def test_threads_share_an_engine(store: str) -> None:
    """As LangChain and LlamaIndex do, which call from any thread."""
    dedup = Deduplicator(STORES[store]())
    texts = [f"passage {chr(97 + i)} tells how to set up part {chr(97 + i)} of it" for i in range(10)]

    def work(number: int) -> None:
        for i, text in enumerate(texts):
            dedup.dedupe([Document(f"{number}/{i}", text)])
            dedup.sources(f"{number}/{i}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert measure_index(dedup.index).survivors == 10


@pytest.mark.parametrize("store", SHARED)
def test_one_who_waits_too_long_is_told(store: str) -> None:
    url = STORES[store]()
    patient, other = Deduplicator(url), Deduplicator(f"{url}&timeout=0.1")
    plan = other.plan([Document("b", "something else")])
    with patient.index.transaction(), pytest.raises(UnavailableError):
        other.commit(plan)
    other.commit(plan)
    assert other.generation == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("store", SHARED)
def test_an_index_that_was_open_before_a_fork(store: str) -> None:
    dedup = Deduplicator(STORES[store]())
    dedup.dedupe([Document("a", "one two three four")])
    process = multiprocessing.get_context("fork").Process(
        target=dedup.dedupe, args=([Document("b", "five six seven eight")],)
    )
    process.start()
    process.join(60)
    assert process.exitcode == 0
    dedup.dedupe([Document("c", "nine ten eleven twelve")])
    assert [dedup.explain(id).survivor for id in "abc"] == [None] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_an_index_in_memory_is_not_written_in_a_child() -> None:
    dedup = Deduplicator(MemoryIndex())
    reader, writer = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        try:
            dedup.dedupe([Document("a", "one two three four")])
        except WorkerError as error:
            writer.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    assert reader.poll()
    assert "belongs to the process that made it" in reader.recv()
