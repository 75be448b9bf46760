"""Killed at any moment, a job that is started again ends as if nothing had happened (law 8).

``RAG_DEDUP_SOAK=1`` kills 200 times for each store, and servers 30 times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_dedup import Deduplicator, Document, open_index
from rag_dedup.errors import UnavailableError
from rag_dedup.operations import verify_index
from tests.engine.ingest import VectorStore, dump, ingest, ingest_stubbornly
from tests.engine.stores import STORES
from tests.servers import PostgresServer, RedisServer, Server

SOAK = bool(os.environ.get("RAG_DEDUP_SOAK"))
posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX")


def check(url: str, store: VectorStore, tmp_path: Path) -> None:
    """Compare with an undisturbed run; nothing may be lost, double or left over."""
    calm, calm_url = VectorStore(tmp_path / "calm.db"), f"sqlite:///{tmp_path / 'calm-index.db'}"
    ingest(calm_url, calm)
    assert dump(url) == dump(calm_url)
    assert store.read() == calm.read()
    assert list(verify_index(open_index(url))) == []
    drift = Deduplicator(url).reconcile(store.read())
    assert not drift


@posix
@pytest.mark.parametrize("name", [name for name in STORES if name != "memory"])
def test_a_worker_that_is_killed(name: str, tmp_path: Path) -> None:
    url = STORES[name]() + ("&lease=0.2" if name == "redis" else "")
    kills = 200 if SOAK else 25
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.ingest", url, tmp_path / "store.db", str(kills), "7"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= kills * 0.9  # the last ones may come when the job is done
    check(url, VectorStore(tmp_path / "store.db"), tmp_path)


@pytest.fixture(params=[PostgresServer, RedisServer])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    server = request.param()
    server.start()
    yield server
    server.remove()


@posix
def test_a_server_that_is_killed(server: Server, tmp_path: Path) -> None:
    chance = random.Random(3)
    store = VectorStore(tmp_path / "store.db")
    over = threading.Event()
    kills = 0

    def kill_again_and_again() -> None:
        nonlocal kills
        while not over.is_set() and kills < (30 if SOAK else 5):
            time.sleep(chance.random() * 0.3)
            server.kill()
            server.start()
            kills += 1

    def locate(number: int) -> str:
        return f"{server.url}?namespace={number}" + ("&lease=0.2" if isinstance(server, RedisServer) else "")

    killer = threading.Thread(target=kill_again_and_again)
    killer.start()
    number = 0
    try:
        ingest_stubbornly(locate(number), store)
        while killer.is_alive():  # the job was done before the last kill: on with another one
            number += 1
            store = VectorStore(tmp_path / f"store{number}.db")
            ingest_stubbornly(locate(number), store)
    finally:
        over.set()
        killer.join()
    url = locate(number)
    assert kills
    check(url, store, tmp_path)


@posix
def test_a_server_that_is_gone(server: Server) -> None:
    """A clear error at once, and all is well when it comes back."""
    dedup = Deduplicator(server.url)
    dedup.dedupe([Document("a", "one two three four five")])
    plan = dedup.plan([Document("b", "something else")])
    server.kill()
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=rf"127\.0\.0\.1:{server.port}"):
        dedup.commit(plan)
    with pytest.raises(UnavailableError):
        open_index(server.url)
    assert time.monotonic() - started < 20
    server.start()
    dedup.commit(plan)
    assert dedup.generation == 2
