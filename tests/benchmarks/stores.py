"""Time indexes that hold a lot already.

    python -m tests.benchmarks.stores memory:// sqlite:///dedup.db
    python -m tests.benchmarks.stores --servers           all of ours, on servers that it starts
    python -m tests.benchmarks.stores --servers --peers --entries 20000     and datasketch

Each index is filled with made chunks of about 600 characters, a fifth of them near-duplicates of others,
in calls of 10,000. When it holds as many as asked, the next 50,000 are timed: signed, decided on and
committed, with the default settings. Run it on empty databases. ``datasketch+memory://`` and
``datasketch+redis://host:port`` are datasketch's MinHashLSH, query then insert.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rag_dedup import Deduplicator, Document, open_index
from rag_dedup.kernels import warm_up
from tests.benchmarks.corpora import make_chunks, read_chunks, take_distinct
from tests.benchmarks.dedup import describe_machine, loop_datasketch, read_memory
from tests.servers import RedisServer, share_postgres

WORDS = 90
"""About 600 characters."""
CALL = 10_000
TIMED = 50_000


Take = Callable[[list[Document]], int]
"""Takes documents, in order, and returns how many are dropped."""


def open_contestant(url: str) -> tuple[Take, Callable[[], int] | None]:
    """Return what takes documents, and what tells how many bytes the index has, if anybody knows."""
    if url.startswith("datasketch+"):
        from datasketch import MinHashLSH

        parts = urlsplit(url.removeprefix("datasketch+"))
        storage: dict[str, Any] = {"type": "dict"}
        if parts.scheme == "redis":
            server = {"host": parts.hostname, "port": parts.port}
            storage = {"type": "redis", "basename": b"benchmark", "redis": server}
        lsh = MinHashLSH(threshold=0.8, num_perm=128, storage_config=storage)
        return lambda documents: sum(loop_datasketch(lsh, documents)), None
    dedup = Deduplicator(open_index(url))

    def measure() -> int:
        with dedup.index.snapshot() as view:
            return view.measure().bytes

    return lambda documents: dedup.run(documents).report.dropped, measure


def measure_store(url: str, sizes: list[int], texts: list[str]) -> list[dict[str, Any]]:
    """Fill an index up to each size, and time what comes next."""
    chunks = make_chunks(max(sizes) + TIMED, texts, size=WORDS)
    gc.collect()
    gc.freeze()  # as a service would: nobody pays for looking through modules
    before, _ = read_memory()
    take, measure = open_contestant(url)
    rows = []
    count = dropped = 0
    times: list[float] = []
    while count < max(sizes) + TIMED:
        call = list(itertools.islice(chunks, CALL))
        start = time.perf_counter()
        dropped += take(call)
        times.append(time.perf_counter() - start)
        count += len(call)
        if count - TIMED in sizes:
            last = times[-TIMED // CALL :]
            row = {
                "store": url.partition(":")[0],
                "entries": count - TIMED,
                "per_second": round(TIMED / sum(last)),
                "slowest_call": round(max(last), 2),
                "bytes_per_chunk": measure and round(measure() / count),
                "process_mb": round(read_memory()[0] - before),
                "dropped": round(dropped / count, 3),
            }
            rows.append(row)
            print(row, flush=True)
    return rows


def start_redis() -> str:
    """Start a server that writes to disk every second, as it does by default with a log."""
    server = RedisServer(fsync="everysec")
    server.start()
    return server.url


def main() -> None:
    """Measure each store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--entries", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--servers", action="store_true")
    parser.add_argument(
        "--peers", action="store_true", help="datasketch in memory and on a server of its own"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    urls = list(options.urls)
    if options.servers:
        folder = tempfile.mkdtemp()
        urls += ["memory://", f"sqlite:///{folder}/dedup.db", share_postgres().url, start_redis()]
    if options.peers:
        urls += ["datasketch+memory://", f"datasketch+{start_redis()}"]
    warm_up()
    texts = [document.text for document in take_distinct(read_chunks())]
    machine = describe_machine()
    print(machine)
    rows = [row for url in urls for row in measure_store(url, sorted(options.entries), texts)]
    if options.json:
        options.json.write_text(
            json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8", newline="\n"
        )


if __name__ == "__main__":
    main()
