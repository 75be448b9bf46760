"""Guards: near-duplicates that differ in something load-bearing are different facts.

One changed word among 200 leaves Jaccard at 0.97, so no threshold protects "99.9 %" from "99.5 %" or
"allowed" from "not allowed". A guard reads its *marks* out of the parts in which two texts differ; two
texts whose marks differ are kept apart. Marks are read from the original text, since normalisation would
make 10⁵ and 105 the same.
"""

from rag_dedup.guard.kinds import (
    DEFAULT_GUARDS,
    NAMES,
    Findings,
    Guard,
    find_difference,
    ignore_volatile,
)
from rag_dedup.guard.volatile import LAST_UPDATED, REQUEST_IDS, VIEW_COUNTERS

__all__ = [
    "DEFAULT_GUARDS",
    "LAST_UPDATED",
    "NAMES",
    "REQUEST_IDS",
    "VIEW_COUNTERS",
    "Findings",
    "Guard",
    "find_difference",
    "ignore_volatile",
]
