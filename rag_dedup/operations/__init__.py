"""What is done with a whole index: measure, verify, move, merge."""

from __future__ import annotations

from rag_dedup.operations.stats import IndexStats, measure_index
from rag_dedup.operations.transfer import export_index, import_index, merge_indexes, open_deduplicator
from rag_dedup.operations.verify import Fault, verify_index

__all__ = [
    "Fault",
    "IndexStats",
    "export_index",
    "import_index",
    "measure_index",
    "merge_indexes",
    "open_deduplicator",
    "verify_index",
]
