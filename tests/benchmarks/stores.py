"""Time indexes that hold a lot already.

    python -m tests.benchmarks.stores memory:// sqlite:///dedup.db
    python -m tests.benchmarks.stores --entries 100000 1000000 -- postgresql://...

Each index is filled with made chunks of about 600 characters, a fifth of them near-duplicates of others,
in calls of 10,000. When it holds as many as asked, the next 50,000 are timed: signed, decided on and
committed, with the default settings. Run it on empty databases.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import time
from pathlib import Path
from typing import Any

from rag_dedup import Deduplicator, open_index
from rag_dedup.kernels import warm_up
from tests.benchmarks.corpora import make_chunks, read_chunks, take_distinct
from tests.benchmarks.dedup import describe_machine, forget_peak, read_memory

WORDS = 90
"""About 600 characters."""
CALL = 10_000
TIMED = 50_000


def measure_store(url: str, sizes: list[int], texts: list[str]) -> list[dict[str, Any]]:
    """Fill an index up to each size, and time what comes next."""
    chunks = make_chunks(max(sizes) + TIMED, texts, size=WORDS)
    dedup = Deduplicator(open_index(url))
    gc.collect()
    forget_peak()
    before, _ = read_memory()
    rows = []
    count = 0
    while count < max(sizes) + TIMED:
        call = list(itertools.islice(chunks, CALL))
        size = max((size for size in sizes if size <= count), default=None)
        start = time.perf_counter()
        plan = dedup.run(call)
        seconds = time.perf_counter() - start
        count += len(call)
        if size is not None and count <= size + TIMED:
            if count == size + CALL:
                rows.append({"store": url.partition(":")[0], "entries": size, "seconds": 0.0, "slowest": 0.0})
            rows[-1]["seconds"] += seconds
            rows[-1]["slowest"] = max(rows[-1]["slowest"], seconds)
            if count == size + TIMED:
                now, peak = read_memory()
                rows[-1].update(
                    per_second=round(TIMED / rows[-1]["seconds"]),
                    process_mb=round(now - before),
                    peak_mb=round(peak - before),
                    dropped=plan.report.dropped / len(call),
                )
                print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure each store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--entries", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warm_up()
    texts = [document.text for document in take_distinct(read_chunks())]
    machine = describe_machine()
    print(machine)
    rows = [row for url in options.urls for row in measure_store(url, sorted(options.entries), texts)]
    if options.json:
        options.json.write_text(
            json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8", newline="\n"
        )


if __name__ == "__main__":
    main()
