"""A job as users run it, for tests that kill it: pages come, change and go; a vector store follows.

python -m tests.engine.ingest URL STORE KILLS SEED   runs it to the end, in children that it kills
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_dedup import Deduplicator, Document, Plan, open_index
from rag_dedup.errors import UnavailableError

Step = Callable[[Deduplicator], Plan]

_HEAD_START = 4
"""Steps that a child may do beyond the one in which it is killed."""

SUBJECTS = (
    "the broker keeps a log of all messages that a client sends to a topic and hands them out in order",
    "a new node joins the cluster when the operator adds its address to the list and restarts the service",
    "the exporter reads samples from the queue and writes them in batches to the storage that you chose",
    "every request needs a token which the gateway checks before it lets the caller see any of the data",
)


def write_chunks(page: int, version: int) -> list[Document]:
    """Return the chunks of a page: many are on other pages too, as they are or nearly."""
    chance = random.Random(f"{page} {version}")
    chunks = []
    for number in range(chance.randrange(8)):
        words = SUBJECTS[chance.randrange(4)].split()
        words.insert(chance.randrange(len(words)), f"part{chr(97 + chance.randrange(20))}")
        if chance.random() < 0.5:
            words.insert(chance.randrange(len(words)), "really")
        chunks.append(
            Document(f"{page}/{number}", " ".join(words), source=f"page {page}", metadata={"page": page})
        )
    return chunks


def list_steps() -> Iterator[Step]:
    """Yield what the job does, step by step: two full runs, the second with changed and missing pages."""

    def take(documents: list[Document], run: str) -> Step:
        return lambda dedup: dedup.plan(documents, complete=True, run=run)

    for start in range(0, 60, 2):
        yield take([chunk for page in range(start, start + 2) for chunk in write_chunks(page, 1)], "first")
    for start in range(0, 60, 2):
        pages = [page for page in range(start, start + 2) if page % 5]
        yield take([c for page in pages for c in write_chunks(page, 1 + page % 2)], "second")
    yield lambda dedup: dedup.sweep("second")
    yield lambda dedup: dedup.forget(ids=[f"{page}/0" for page in range(0, 60, 3)])


class VectorStore:
    """Passages by id, in a file; and how far the job has come."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._connection.execute("CREATE TABLE IF NOT EXISTS passages (id TEXT PRIMARY KEY, text TEXT)")
        self._connection.execute("CREATE TABLE IF NOT EXISTS progress (step INTEGER)")

    def write(self, plan: Plan) -> None:
        """Do what a plan says, row by row, as stores do: it can be interrupted in between."""
        for document in (*plan.added, *plan.promoted):
            self._connection.execute("REPLACE INTO passages VALUES (?, ?)", (document.id, document.text))
        for id in plan.removed:
            self._connection.execute("DELETE FROM passages WHERE id = ?", (id,))

    def read(self) -> dict[str, str]:
        """Return everything."""
        return dict(self._connection.execute("SELECT id, text FROM passages ORDER BY id"))

    @property
    def progress(self) -> int:
        """Return how many steps are done."""
        return int(self._connection.execute("SELECT count(*) FROM progress").fetchone()[0])

    def advance(self) -> None:
        """Remember that a step is done."""
        self._connection.execute("INSERT INTO progress VALUES (0)")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def ingest(url: str, store: VectorStore, last: int | None = None) -> None:
    """Do what is left of the job; after ``last`` steps wait to be killed, if the killer is late."""
    dedup = Deduplicator(open_index(url))
    for step in list(list_steps())[store.progress :]:
        if store.progress == last:
            signal.pause()
        dedup.carry_out(step(dedup), store.write)
        store.advance()


def ingest_stubbornly(url: str, store: VectorStore, last: int | None = None, *, patience: float = 60) -> int:
    """Do the job, again and again while the index cannot be reached; return how often it could not."""
    failures = 0
    deadline = time.monotonic() + patience
    while True:
        with contextlib.suppress(UnavailableError):
            ingest(url, store, last)
            return failures
        failures += 1
        assert time.monotonic() < deadline, "the index did not come back"
        time.sleep(0.02)


def dump(url: str) -> list[object]:
    """Return all that an index knows."""
    with contextlib.closing(open_index(url)) as index, index.snapshot() as view:  # type: ignore[type-var]
        return [*view, view.list_runs(), sorted(view.list_sources().items())]


def main() -> None:
    """Run the job in children, and kill so many of them while they are at it."""
    url, path, kills, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)
    ingest("memory://", VectorStore(path.with_suffix(".dry")))  # loads everything, so that children need not
    store = VectorStore(path)
    steps = len(list(list_steps()))
    for killed in range(kills):
        child = os.fork()
        if not child:
            ingest_stubbornly(url, VectorStore(path), killed * steps // kills + _HEAD_START)
            os._exit(0)
        # The kills are spread over the whole job, and hit any moment of a step.
        while store.progress * kills < killed * steps:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print(f"done after {killed} kills", file=sys.stderr)
            break
    ingest_stubbornly(url, store)
    print(killed + 1)


if __name__ == "__main__":
    main()
