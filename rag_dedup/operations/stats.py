"""How an index is doing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rag_dedup.document import Entry
from rag_dedup.fingerprint import MinHash
from rag_dedup.index import Header, Index, View

__all__ = ["IndexStats", "measure_index"]

_SAMPLE = 1000
"""Survivors whose candidates are counted."""
_LIMIT = 64
"""Candidates that are counted for each key."""
_NAME = "rag_dedup_index"


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What an index holds and what it takes.

    Args:
        generation: writes so far.
        documents: entries; ``documents == survivors + duplicates``.
        survivors: those that stand for themselves.
        duplicates: those that a survivor stands for.
        by_method: duplicates by how they were verified.
        by_guard: survivors that a guard kept from being a duplicate, by kind of difference.
        scopes: different ones.
        sources: different ones, with their scopes.
        by_run: for each ingestion run, in order, how many documents were new.
        bytes: that the index takes, as well as can be told.
        dead: survivors that are gone and still take room, until the index is compacted.
        largest_band: most survivors that share one key.
        candidates: other survivors that share a key with a survivor: the mean of the latest 1,000, with at
            most 64 for a key.
    """

    generation: int
    documents: int
    survivors: int
    duplicates: int
    by_method: Mapping[str, int]
    by_guard: Mapping[str, int]
    scopes: int
    sources: int
    by_run: Mapping[str, int]
    bytes: int
    dead: int
    largest_band: int
    candidates: float

    @property
    def duplicate_rate(self) -> float:
        """Duplicates as a share of the documents, 0 to 1."""
        return self.duplicates / self.documents if self.documents else 0.0

    @property
    def guard_rate(self) -> float:
        """Documents that a guard kept as a share of all, 0 to 1."""
        return sum(self.by_guard.values()) / self.documents if self.documents else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "duplicate_rate": self.duplicate_rate, "guard_rate": self.guard_rate}

    def to_prometheus(self) -> str:
        """Return the values in the text format of Prometheus, version 0.0.4.

        https://prometheus.io/docs/instrumenting/exposition_formats/
        """
        lines = []
        for name, value in self.to_dict().items():
            lines.append(f"# TYPE {_NAME}_{name} gauge")
            if isinstance(value, Mapping):
                label = name.removeprefix("by_")
                lines += [f'{_NAME}_{name}{{{label}="{_escape(k)}"}} {v}' for k, v in value.items()]
            else:
                lines.append(f"{_NAME}_{name} {value}")
        return "\n".join(lines) + "\n"


def measure_index(index: Index) -> IndexStats:
    """Read all of an index and say how it is doing.

    >>> from rag_dedup import Deduplicator, Document
    >>> dedup = Deduplicator()
    >>> kept = dedup.dedupe([Document("a", "Restart it."), Document("b", "restart it.")])
    >>> stats = measure_index(dedup.index)
    >>> stats.documents, stats.duplicates, stats.duplicate_rate
    (2, 1, 0.5)
    """
    header = index.header
    with index.snapshot() as view:
        documents = 0
        methods: Counter[str] = Counter()
        guards: Counter[str] = Counter()
        scopes: set[str] = set()
        latest: list[Entry] = []
        for entry in view:
            documents += 1
            scopes.add(entry.key[0])
            if entry.survivor is not None:
                methods[entry.method or "unknown"] += 1
                continue
            if entry.guard is not None:
                guards[entry.guard.kind] += 1
            latest.append(entry)
            if len(latest) == 2 * _SAMPLE:
                del latest[:_SAMPLE]
        measures = view.measure()
        duplicates = sum(methods.values())
        return IndexStats(
            generation=view.generation,
            documents=documents,
            survivors=documents - duplicates,
            duplicates=duplicates,
            by_method=dict(sorted(methods.items())),
            by_guard=dict(sorted(guards.items())),
            scopes=len(scopes),
            sources=len(view.list_sources()),
            by_run=_count_runs(view),
            bytes=measures.bytes,
            dead=measures.dead,
            largest_band=measures.largest_key,
            candidates=0.0 if header is None else _count_candidates(view, header, latest[-_SAMPLE:]),
        )


def _count_runs(view: View) -> dict[str, int]:
    """Count by name what was new until the next run began, whatever their scopes are."""
    runs = view.list_runs()
    ends = [*(run.first_order for run in runs), view.next_order][1:]
    counts = dict.fromkeys((run.name for run in runs), 0)
    for run, end in zip(runs, ends, strict=True):
        counts[run.name] += end - run.first_order
    return counts


def _count_candidates(view: View, header: Header, entries: list[Entry]) -> float:
    if not entries:
        return 0.0
    minhash = MinHash(threshold=header.threshold, seed=header.seed)
    signed = minhash.sign_all([e.text for e in entries], [e.key[0] for e in entries])
    filled = np.flatnonzero(signed.sets.sizes())
    hits = view.find(signed.signatures()[filled], _LIMIT, np.empty(0, np.int64))
    own = np.array([entry.order for entry in entries], np.int64)[filled]
    pairs = np.unique(hits.rows << 32 | hits.orders)
    others = own[pairs >> 32] != pairs & 0xFFFFFFFF
    return float(np.count_nonzero(others)) / len(entries)


def _escape(label: str) -> str:
    escaped = label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return escaped.encode("utf-8", "replace").decode("utf-8")
