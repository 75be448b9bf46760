"""One engine, or one index, under several threads; and no index in two processes by accident."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_dedup import Deduplicator, Document, MemoryIndex
from rag_dedup.errors import WorkerError

TEXTS = [f"passage {chr(97 + i)} tells how to set up part {chr(97 + i)} of the machine" for i in range(20)]


@pytest.mark.parametrize("shared_engine", [True, False])
def test_racing_duplicates_have_one_survivor(shared_engine: bool) -> None:
    index = MemoryIndex()
    engines = [Deduplicator(index)] * 8 if shared_engine else [Deduplicator(index) for _ in range(8)]

    def work(number: int) -> None:
        for i, text in enumerate(TEXTS):
            engines[number].dedupe([Document(f"{number}/{i}", text)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for i in range(len(TEXTS)):
        survivors = [n for n in range(8) if engines[0].explain(f"{n}/{i}").survivor is None]
        assert len(survivors) == 1
        assert len(engines[0].sources(f"{survivors[0]}/{i}")) == 8


@pytest.mark.parametrize("send", [pickle.dumps, copy.deepcopy])
def test_index_of_one_process_is_not_copied(send: object) -> None:
    with pytest.raises(WorkerError, match="cannot be sent to another process"):
        send(MemoryIndex())  # type: ignore[operator]
