"""Measure the segment cache: ``python -m tests.benchmarks.boilerplate``.

* Throughput: text in, stripped text out, in one pass, against ``trafilatura.deduplication.duplicate_test``
  on the same segments, in the same run, alternating; the best of some rounds of each.
* ``--million``: memory of a cache with ``max_bytes`` that sees a million distinct segments.

Without ``RAG_DEDUP_DATA``, the pages are those of the layouts in ``tests/boilerplate``.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from lxml.etree import Element
from trafilatura.deduplication import LRU_TEST, duplicate_test
from trafilatura.settings import Extractor

from rag_dedup import Document, SegmentCache
from rag_dedup.segment import split_segments
from tests.boilerplate.layouts import LAYOUTS


def read_pages() -> list[Document]:
    """Return labelled pages if there are some, else made ones."""
    folder = os.environ.get("RAG_DEDUP_DATA")
    if folder is None:
        return [page for layout in LAYOUTS for page in layout.make_pages()]
    path = Path(folder) / "boilerplate" / "sqlalchemy-1.3.24.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Document(
            row["page"],
            "\n\n".join(text for _, text in row["segments"]),
            url=f"https://docs.example/{row['page']}",
        )
        for row in rows
    ]


def clock(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(rounds: int) -> None:
    pages = read_pages()
    elements = []
    for page in pages:
        for segment in split_segments(page.text):
            element = Element("p")
            element.text = "".join(
                char for char in page.text[segment.start : segment.end] if char >= " " or char == "\n"
            )
            elements.append(element)
    options = Extractor()

    def test_all() -> None:
        LRU_TEST.clear()
        for element in elements:
            duplicate_test(element, options)

    best: dict[str, float] = {}
    contestants = {
        "trafilatura duplicate_test": test_all,
        "SegmentCache.observe": lambda: SegmentCache().observe(pages),
        "SegmentCache.stream": lambda: list(SegmentCache().stream(pages)) and None,
    }
    for _ in range(rounds):
        for name, work in contestants.items():
            best[name] = min(best.get(name, 1e9), clock(work))
    theirs = best["trafilatura duplicate_test"]
    for name, seconds in best.items():
        print(f"{name:28} {len(elements) / seconds:10,.0f} segments/s  x {theirs / seconds:.2f}")


def measure_memory(max_bytes: int, count: int = 1_000_000, lines: int = 200) -> None:
    """Show ``count`` distinct segments, on pages of ``lines``, to a bounded cache."""
    tracemalloc.start()
    cache = SegmentCache(maxsize=count, max_bytes=max_bytes)
    for number in range(count // lines):
        text = "\n".join(f"line {number} {n}" for n in range(lines))
        cache.observe([Document(str(number), text, url=f"https://e.example/{number}")])
    now, peak = tracemalloc.get_traced_memory()
    print(f"{count:,} segments seen, {len(cache):,} held in {now:,} bytes, {peak:,} at most of {max_bytes:,}")
    if peak > max_bytes:
        raise SystemExit("more than max_bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="measure memory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--max-bytes", type=int, default=1 << 28)
    arguments = parser.parse_args()
    if arguments.million:
        measure_memory(arguments.max_bytes)
    else:
        compare(arguments.rounds)


if __name__ == "__main__":
    main()
