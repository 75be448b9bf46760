"""Time what is done to each text before anything is compared: exact key, shingle set, band keys.

    python tests/benchmarks/kernels.py [--rounds 5] [--json FILE] [--hostile]

On every chunk of the labelled data (``RAG_DEDUP_DATA``), equal ones too, in one thread. The contestants take
turns, so that a busy machine slows them all, and the median round counts. They do not do the same: ours begin
with text and end with exact key, shingle set and band keys; datasketch and rensa end with MinHash signatures
and are given shingles ready-made, rensa also makes them with a regular expression; SHA-256, xxh3 and a copy
of the same bytes show where the limit is. Needs numba, rensa and xxhash.

``--hostile`` times texts that no one writes, at a tenth of the size and at full size: MB/s must hardly
change, and the most memory in use, a multiple of the input, must not either.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import lzma
import os
import platform
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from rag_dedup import MinHash
from rag_dedup.kernels import Kernel, arrays, compiled

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAG_DEDUP_DATA", ROOT.parent / "shared" / "data"))
PART = 1000
WORDS = re.compile(r"\w+")
KERNELS = {"Numba": compiled, "NumPy": arrays}


def read_chunks() -> list[str]:
    """Return the texts of all chunks."""
    with lzma.open(DATA / "docs" / "chunks.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def shingle(text: str) -> set[str]:
    """Return the shingles as most scripts make them."""
    words = WORDS.findall(text.lower())
    return {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}


def sign(texts: list[str], kernel: Kernel) -> Any:
    """Do all that an engine needs."""
    return MinHash().sign_all(texts, [""] * len(texts), kernel=kernel)


def cut(items: list[Any]) -> Iterator[list[Any]]:
    """Cut into parts, for contestants whose results are large."""
    return (items[i : i + PART] for i in range(0, len(items), PART))


def make_contestants(texts: list[str]) -> dict[str, tuple[list[str], Callable[[], Any]]]:
    """Return the texts that each contestant works on, and its work; what it is given is made here."""
    import rensa
    import xxhash
    from datasketch import MinHash as Sketch

    def run_rensa(sets: list[set[str]]) -> Any:
        return rensa.RMinHash.digest_matrix_from_token_sets(sets, num_perm=128, seed=42)

    def run_datasketch(sets: list[list[bytes]]) -> Any:
        return Sketch.bulk(sets, num_perm=128, hashfunc=xxhash.xxh32_intdigest, scheme="affine32")

    sets = [shingle(text) for text in texts]
    encoded = [[part.encode() for part in parts] for parts in sets]
    data = [text.encode() for text in texts]
    ours: dict[str, tuple[list[str], Callable[[], Any]]] = {}
    for name, kernel in KERNELS.items():
        for kind, chosen in (
            ("", texts),
            (", ASCII chunks", [text for text in texts if text.isascii()]),
            (", other chunks", [text for text in texts if not text.isascii()]),
        ):
            ours[f"ours, {name}{kind}"] = chosen, lambda chosen=chosen, kernel=kernel: sign(chosen, kernel)
    others: dict[str, Callable[[], Any]] = {
        "datasketch, shingles given": lambda: [run_datasketch(part) for part in cut(encoded)],
        "rensa, shingle sets given": lambda: [run_rensa(part) for part in cut(sets)],
        "rensa, from text": lambda: [run_rensa([shingle(text) for text in part]) for part in cut(texts)],
        "SHA-256": lambda: [hashlib.sha256(text).digest() for text in data],
        "xxh3": lambda: [xxhash.xxh3_64_intdigest(text) for text in data],
        "copy": lambda: [bytearray(text) for text in data],
    }
    return ours | {name: (texts, run) for name, run in others.items()}


def race(rounds: int) -> list[dict[str, Any]]:
    """Return a row for each contestant."""
    contestants = make_contestants(read_chunks())
    gc.freeze()  # nobody pays for looking through the inputs of others
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (_, run) in contestants.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    first = median(times["ours, Numba"])
    rows = []
    for name, (texts, _) in contestants.items():
        seconds, size = median(times[name]), sum(len(text.encode()) for text in texts)
        same = len(texts) == len(contestants["copy"][0])
        rows.append(
            {
                "contestant": name,
                "chunks_per_second": round(len(texts) / seconds),
                "mb_per_second": round(size / seconds / 1e6, 1),
                "us_per_2244_characters": round(seconds * 1e6 * 2244 / sum(map(len, texts)), 2),
                "times_the_time_of_ours": round(seconds / first, 2) if same else None,
            }
        )
    return rows


HOSTILE: dict[str, Callable[[int], list[str]]] = {
    "one text of words": lambda size: [" ".join(f"w{i}" for i in range(size // 9))],
    "one text without a space": lambda size: ["x" * size],
    "one token repeated": lambda size: ["the " * (size // 4)],
    "empty and tiny texts": lambda size: ["", "a", " ", "é", "b c"] * (size // 500),
    "all Han": lambda size: ["".join(chr(0x4E00 + i * i % 20000) for i in range(size // 3))],
    "all emoji": lambda size: ["".join(chr(0x1F600 + i * i % 60) for i in range(size // 4))],
    "all that grows elevenfold": lambda size: ["\ufdfa" * (size // 33)],
    "all combining marks": lambda size: ["e\u0301\u0316" * (size // 10)],
}


def torture(rounds: int, megabytes: int) -> list[dict[str, Any]]:
    """Return a row for each kernel and hostile input."""
    rows = []
    for name, make in HOSTILE.items():
        for kernel_name, kernel in KERNELS.items():
            row: dict[str, Any] = {"input": name, "kernel": kernel_name}
            for label, size in (("tenth", megabytes * 100_000), ("full", megabytes * 1_000_000)):
                texts = make(size)
                times = []
                for _ in range(rounds):
                    start = time.perf_counter()
                    sign(texts, kernel)
                    times.append(time.perf_counter() - start)
                bytes_in = sum(len(text.encode()) for text in texts)
                row[f"{label}_texts_per_second"] = round(len(texts) / median(times), 1)
                row[f"{label}_mb_per_second"] = round(bytes_in / median(times) / 1e6, 1)
            tracemalloc.start()
            sign(texts, kernel)
            row["memory_times_input"] = round(tracemalloc.get_traced_memory()[1] / bytes_in, 1)
            tracemalloc.stop()
            rows.append(row)
            print_row(row)
    return rows


def print_row(row: dict[str, Any]) -> None:
    cells = (f"{cell:,}" if isinstance(cell, (int, float)) else str(cell or "") for cell in row.values())
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables; write them where ``--json`` says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    parser.add_argument("--json", type=Path, help="file to write")
    parser.add_argument("--hostile", action="store_true", help="time hostile texts instead")
    parser.add_argument("--megabytes", type=int, default=100, help="of the largest hostile text")
    options = parser.parse_args()
    sign(["warm", "wärm"], compiled)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}; {options.rounds} rounds\n")
    if options.hostile:
        rows = torture(options.rounds, options.megabytes)
        print(f"\ncolumns: {', '.join(rows[0])}")
    else:
        rows = race(options.rounds)
        for row in ({key: key for key in rows[0]}, *rows):
            print_row(row)
    if options.json:
        text = json.dumps({"machine": machine, "rounds": options.rounds, "rows": rows}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
