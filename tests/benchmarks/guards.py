"""Time what guards take of a call.

    python -m tests.benchmarks.guards

The documentation corpus is decided on and committed with the default guards and without, in turns. Prints
the medians, the share of the time that guards take, and how many microseconds a compared pair costs.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from unittest import mock

from rag_dedup import DEFAULT_GUARDS, Deduplicator, Document, planner
from rag_dedup.guard import find_difference
from rag_dedup.kernels import warm_up
from tests.benchmarks.corpora import read_chunks


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often both are timed (default: 5)")
    rounds = parser.parse_args().rounds
    warm_up()
    documents = read_chunks()
    guarded, unguarded = [], []
    time_call(documents, True)
    for _ in range(rounds):
        unguarded.append(time_call(documents, False))
        guarded.append(time_call(documents, True))
    with_guards, without = median(guarded), median(unguarded)
    calls = count_comparisons(documents)
    print(f"{len(documents):,} chunks: {without:.2f} s without guards, {with_guards:.2f} s with them")
    print(f"guards take {1 - without / with_guards:.0%}; {calls:,} pairs, ", end="")
    print(f"{1e6 * (with_guards - without) / calls:.0f} µs each")


def time_call(documents: list[Document], guarded: bool) -> float:
    """Return the seconds that one call takes."""
    dedup = Deduplicator(guards=DEFAULT_GUARDS if guarded else ())
    start = time.perf_counter()
    dedup.run(documents)
    return time.perf_counter() - start


def count_comparisons(documents: list[Document]) -> int:
    """Return how many pairs are compared."""
    with mock.patch.object(planner, "find_difference", side_effect=find_difference) as compare:
        Deduplicator().run(documents)
    return compare.call_count


if __name__ == "__main__":
    main()
