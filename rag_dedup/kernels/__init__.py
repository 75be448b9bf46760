"""The hot loops, over batches: texts in, arrays out.

One specification (:mod:`rag_dedup.kernels.arrays` states it, a slow oracle in the tests repeats it in
plain Python), so that every implementation gives identical bits.
"""

from __future__ import annotations

from rag_dedup.kernels.arrays import (
    HASH_SCHEME,
    ShingleSets,
    combine_bands,
    count_common,
    hash_scopes,
    make_permutations,
    minhash,
    shingle_sets,
    simhash,
)

__all__ = [
    "HASH_SCHEME",
    "ShingleSets",
    "combine_bands",
    "count_common",
    "hash_scopes",
    "make_permutations",
    "minhash",
    "shingle_sets",
    "simhash",
]
