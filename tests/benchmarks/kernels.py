"""Time what is done to each text before any comparison: tokens, shingles, MinHash, exact key, bands.

    python -m tests.benchmarks.kernels [--rounds 5] [--json FILE]

On every chunk of the labelled data, equal ones too. The contestants take turns and the median round counts.
What they do differs: ours begin with text and end with exact key, shingle set and band keys; datasketch is
given shingles, rensa sets of shingles, both end with signatures; SHA-256, xxh3 and the copy show the limit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from rag_dedup import MinHash
from rag_dedup.kernels import arrays, compiled
from tests.benchmarks.corpora import read_chunks
from tests.benchmarks.dedup import describe_machine, shingle


def make_contestants(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Return what is timed; inputs that are given ready-made are made here."""
    import rensa
    import xxhash
    from datasketch import MinHash as Sketch

    fingerprint = MinHash()
    scopes = [""] * len(texts)
    shingles = [shingle(text) for text in texts]
    encoded = [[part.encode() for part in parts] for parts in shingles]
    sets = [set(parts) for parts in shingles]
    data = [text.encode() for text in texts]
    return {
        "ours, Numba": lambda: fingerprint.sign_all(texts, scopes, kernel=compiled),
        "ours, NumPy": lambda: fingerprint.sign_all(texts, scopes, kernel=arrays),
        "datasketch, shingles given": lambda: Sketch.bulk(
            encoded, num_perm=128, hashfunc=xxhash.xxh32_intdigest, scheme="affine32"
        ),
        "rensa matrix, sets given": lambda: rensa.RMinHash.digest_matrix_from_token_sets(
            sets, num_perm=128, seed=42
        ),
        "regular expression and shingles": lambda: [shingle(text) for text in texts],
        "SHA-256": lambda: [hashlib.sha256(text).digest() for text in data],
        "xxh3": lambda: [xxhash.xxh3_64_intdigest(text) for text in data],
        "copy": lambda: [bytearray(text) for text in data],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    texts = [document.text for document in read_chunks()]
    size = sum(len(text.encode()) for text in texts)
    contestants = make_contestants(texts)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    rows = [
        {"contestant": name, "chunks_per_second": len(texts) / seconds, "mb_per_second": size / seconds / 1e6}
        for name, seconds in ((name, median(found)) for name, found in times.items())
    ]
    print(f"{describe_machine()}\n{len(texts):,} chunks of {size / len(texts):,.0f} bytes on average\n")
    print("| contestant | chunks/s | MB/s |\n|---|--:|--:|")
    for row in rows:
        print(f"| {row['contestant']} | {row['chunks_per_second']:,.0f} | {row['mb_per_second']:,.0f} |")
    if options.json:
        measured = {"machine": describe_machine(), "rows": rows}
        options.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
