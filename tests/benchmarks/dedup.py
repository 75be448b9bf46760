"""Time whole runs, text in and decisions out, against the libraries that people use for it.

    python -m tests.benchmarks.dedup                     two corpora, all contestants
    python -m tests.benchmarks.dedup --million           and a million made chunks, each contestant once
    python -m tests.benchmarks.dedup --growth [--large]  ours from ten thousand to a million (five) chunks
    python -m tests.benchmarks.dedup --hostile           ours on texts that are made to be slow
    ... --json FILE                                      writes what was measured

Everything runs in one thread. The contestants take turns, so that a busy machine slows them all, and the
median round counts. Precision and recall are against the exact join of 3-token shingle sets: a drop is
right if an earlier text has Jaccard 0.8 or more, a keep is wrong if an earlier one that was kept has.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import platform
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rag_dedup import Deduplicator, Document
from rag_dedup.kernels import arrays, batch, shingle_sets, warm_up
from tests.benchmarks.corpora import make_chunks, read_chunks, take_distinct

THRESHOLD = 0.8
PACKAGES = ("rag-dedup", "numpy", "numba", "datasketch", "rensa", "xxhash")
Contestant = Callable[[Sequence[Document]], "list[bool]"]
"""Takes documents in order and tells which it drops."""


@dataclass
class Row:
    """What was measured of one contestant on one corpus."""

    corpus: str
    contestant: str
    documents: int
    seconds: float
    per_second: float
    dropped: int
    precision: float | None = None
    recall: float | None = None


def run_ours(documents: Sequence[Document], **settings: Any) -> list[bool]:
    """Plan and commit, in calls of 50,000 documents."""
    dedup = Deduplicator(guards=(), **settings)
    dropped: list[bool] = []
    for start in range(0, len(documents), 50_000):
        plan = dedup.run(documents[start : start + 50_000])
        dropped += [decision.action == "drop" for decision in plan.decisions]
    return dropped


def run_ours_guarded(documents: Sequence[Document]) -> list[bool]:
    """The default: near-duplicates that differ in something load-bearing are kept."""
    return [decision.action == "drop" for decision in Deduplicator().run(documents).decisions]


def run_ours_numpy(documents: Sequence[Document]) -> list[bool]:
    """Without the extra ``fast``."""
    chosen = batch.choose_kernel
    batch.choose_kernel = lambda: arrays
    try:
        return run_ours(documents)
    finally:
        batch.choose_kernel = chosen


_find_words = re.compile(r"\w+").findall


def shingle(text: str) -> list[str]:
    words = _find_words(text.lower())
    return [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]


def run_datasketch(documents: Sequence[Document]) -> list[bool]:
    """The loop of its documentation, in memory."""
    from datasketch import MinHashLSH

    return loop_datasketch(MinHashLSH(threshold=THRESHOLD, num_perm=128), documents)


def loop_datasketch(index: Any, documents: Sequence[Document]) -> list[bool]:
    """Query, then insert what is new; xxh32 for speed."""
    import xxhash
    from datasketch import MinHash

    dropped = []
    for document in documents:
        sketch = MinHash(num_perm=128, hashfunc=xxhash.xxh32_intdigest, scheme="affine32")
        sketch.update_batch([shingle.encode() for shingle in shingle(document.text)])
        known = bool(index.query(sketch))
        if not known:
            index.insert(document.id, sketch)
        dropped.append(known)
    return dropped


def run_rensa(documents: Sequence[Document]) -> list[bool]:
    """Its streaming deduplicator, with bands that find 99 % at the threshold; shingles made in Python."""
    import rensa

    dedup = rensa.RMinHashDeduplicator(threshold=THRESHOLD, num_perm=128, use_lsh=True, num_bands=16)
    dropped = []
    for start in range(0, len(documents), 10_000):  # all sets at once take 24 GB for a million chunks
        part = documents[start : start + 10_000]
        sketches = rensa.RMinHash.from_token_sets(
            [set(shingle(document.text)) for document in part], num_perm=128, seed=42
        )
        dropped += [
            not dedup.add(document.id, sketch) for document, sketch in zip(part, sketches, strict=True)
        ]
    return dropped


CONTESTANTS: dict[str, Contestant] = {
    "ours, fast": run_ours,
    "ours": run_ours_numpy,
    "ours, fast, guarded": run_ours_guarded,
    "datasketch": run_datasketch,
    "rensa": run_rensa,
}


class ExactJoin:
    """All pairs of texts with Jaccard 0.8 or more, by prefix filtering (Bayardo, Ma and Srikant, Scaling
    up all pairs similarity search, 2007).
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        rows: dict[str, int] = {}
        self.row_of = [rows.setdefault(document.text, len(rows)) for document in documents]
        sets = shingle_sets(list(rows))
        _, numbers, counts = np.unique(sets.values, return_inverse=True, return_counts=True)
        rank = np.argsort(np.argsort(counts, kind="stable"), kind="stable")[numbers]
        members = [np.sort(rank[sets.offsets[i] : sets.offsets[i + 1]]) for i in range(len(sets))]
        self.neighbours: list[list[int]] = [[] for _ in rows]
        found: dict[int, list[int]] = defaultdict(list)
        whole = [frozenset(member.tolist()) for member in members]
        for i, member in enumerate(members):
            size = len(member)
            prefix = member[: size - int(np.ceil(THRESHOLD * size)) + 1].tolist()
            candidates = {j for shingle in prefix for j in found[shingle]}
            for j in sorted(candidates):
                small, large = sorted((size, len(whole[j])))
                if small >= THRESHOLD * large:
                    common = len(whole[i] & whole[j])
                    if common >= THRESHOLD * (small + large - common):
                        self.neighbours[i].append(j)
                        self.neighbours[j].append(i)
            for shingle in prefix:
                found[shingle].append(i)

    def judge(self, dropped: Iterable[bool]) -> tuple[float, float]:
        """Return precision and recall of decisions."""
        seen: set[int] = set()
        kept: set[int] = set()
        right = wrong = missed = 0
        for row, drop in zip(self.row_of, dropped, strict=True):
            if drop:
                good = row in seen or any(other in seen for other in self.neighbours[row])
                right, wrong = right + good, wrong + (not good)
            else:
                missed += row in kept or any(other in kept for other in self.neighbours[row])
                kept.add(row)
            seen.add(row)
        return right / max(right + wrong, 1), right / max(right + missed, 1)


def measure(
    corpus: str, documents: list[Document], names: Sequence[str], *, rounds: int, quality: bool
) -> list[Row]:
    """Let contestants take turns; return a row for each."""
    times: dict[str, list[float]] = {name: [] for name in names}
    results: dict[str, list[bool]] = {}
    for _ in range(rounds):
        for name in names:
            gc.collect()
            gc.freeze()  # as a service would: nobody pays for looking through modules and inputs
            start = time.perf_counter()
            results[name] = CONTESTANTS[name](documents)
            times[name].append(time.perf_counter() - start)
    join = ExactJoin(documents) if quality else None
    rows = []
    for name in names:
        seconds = median(times[name])
        precision, recall = join.judge(results[name]) if join else (None, None)
        rows.append(
            Row(
                corpus,
                name,
                len(documents),
                seconds,
                len(documents) / seconds,
                sum(results[name]),
                precision,
                recall,
            )
        )
    return rows


def print_rows(rows: list[Row]) -> None:
    """Print a table with the ratios to each peer, in Markdown."""
    print("| corpus | contestant | chunks/s | x datasketch | x rensa | dropped | precision | recall |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        peers = {
            other.contestant: other.per_second
            for other in rows
            if other.corpus == row.corpus and other.contestant in ("datasketch", "rensa")
        }
        ratios = [
            f"{row.per_second / peers[name]:.1f}" if name in peers else "" for name in ("datasketch", "rensa")
        ]
        quality = ["" if value is None else f"{value:.4f}" for value in (row.precision, row.recall)]
        print(
            f"| {row.corpus} | {row.contestant} | {row.per_second:,.0f} | {' | '.join(ratios)} "
            f"| {row.dropped:,} | {' | '.join(quality)} |"
        )


def read_memory() -> tuple[float, float]:
    """Return resident and peak resident megabytes, of Linux; zeros elsewhere."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0, 0.0
    found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+) kB", status))
    return int(found["VmRSS"]) / 1024, int(found["VmHWM"]) / 1024


def forget_peak() -> None:
    """Let the peak begin anew; without effect but on Linux."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measure_growth(sizes: Sequence[int], texts: list[str]) -> list[dict[str, float]]:
    """Time ours on more and more chunks, and see how much memory it takes beyond them."""
    rows = []
    CONTESTANTS["ours, fast"](list(make_chunks(1000, texts)))  # so that everything is loaded
    for size in sizes:
        documents = list(make_chunks(size, texts))
        gc.collect()
        gc.freeze()
        forget_peak()
        before, _ = read_memory()
        start = time.perf_counter()
        dropped = run_ours(documents)
        seconds = time.perf_counter() - start
        peak = read_memory()[1] - before
        row = {
            "chunks": size,
            "us_per_chunk": 1e6 * seconds / size,
            "peak_mb": peak,
            "dropped": sum(dropped) / size,
        }
        rows.append(row)
        print({name: round(value, 3) for name, value in row.items()}, flush=True)
        del documents
    return rows


def make_hostile(count: int) -> dict[str, Callable[[], list[Document]]]:
    """Return corpora that are made to be slow."""
    words = [f"w{i:05d}" for i in range(60_000)]
    common = " ".join(words[:200])

    def number(texts: Iterable[str]) -> list[Document]:
        return [Document(str(i), text) for i, text in enumerate(texts)]

    def spell(first: int, letters: int) -> list[Document]:
        return number(
            "".join(chr(first + (i * 31 + j * j) % letters) for j in range(100)) for i in range(count // 4)
        )

    return {
        "plain": lambda: number(f"{' '.join(words[i * 7 % 50_000 :][:100])} {i}" for i in range(count)),
        "one giant star": lambda: number(f"{common} {i}" for i in range(count)),
        "one template, half of it": lambda: number(
            f"{common} " + " ".join(f"{i}x{j}" for j in range(150)) for i in range(count // 4)
        ),
        "empty": lambda: number("" for _ in range(count)),
        "tiny": lambda: number(str(i) for i in range(count)),
        "one text": lambda: number([" ".join(words) * (count // 4000)]),
        "Chinese": lambda: spell(0x4E00, 20_000),
        "emoji": lambda: spell(0x1F300, 700),
    }


def measure_hostile(counts: Sequence[int]) -> list[dict[str, Any]]:
    """Time ours on hostile corpora of two sizes: the time for each must not grow."""
    rows = []
    for name in make_hostile(0):
        row: dict[str, Any] = {"corpus": name}
        for count in counts:
            documents = make_hostile(count)[name]()
            size = sum(len(document.text) for document in documents) + len(documents)
            forget_peak()
            before, _ = read_memory()
            start = time.perf_counter()
            run_ours(documents)
            seconds = time.perf_counter() - start
            row[f"ns_per_character_{count}"] = round(1e9 * seconds / size, 1)
            row[f"us_per_text_{count}"] = round(1e6 * seconds / len(documents), 1)
            row[f"peak_mb_{count}"] = round(read_memory()[1] - before)
        rows.append(row)
        print(row, flush=True)
    return rows


def describe_machine() -> dict[str, str]:
    """Return what the figures depend on."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    installed = {distribution.name: distribution.version for distribution in distributions()}
    return found | {name: installed.get(name, "not installed") for name in PACKAGES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--count", type=int, default=1_000_000, help="chunks of --million and --hostile")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warm_up()
    measured: dict[str, Any] = {"machine": describe_machine()}
    print(measured["machine"])
    if options.hostile:
        measured["hostile"] = measure_hostile((options.count // 10, options.count))
    else:
        chunks = read_chunks()
        distinct = take_distinct(chunks)
        texts = [document.text for document in distinct]
        if options.growth:
            sizes = (10_000, 100_000, 1_000_000, *([5_000_000] if options.large else []))
            measured["growth"] = measure_growth(sizes, texts)
        else:
            names = list(CONTESTANTS)
            rows = measure("docs", chunks, names, rounds=options.rounds, quality=True)
            rows += measure("docs, distinct", distinct, names, rounds=options.rounds, quality=True)
            if options.million:
                made = list(make_chunks(options.count, texts))
                names.remove("ours, fast, guarded")
                rows += measure(
                    f"{options.count:,} made", made, names, rounds=1, quality=options.count <= 100_000
                )
            measured["rows"] = [asdict(row) for row in rows]
            print_rows(rows)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
