"""The hot loops, over batches: texts in, arrays out.

One specification (:mod:`rag_dedup.kernels.arrays` states it, a slow oracle in the tests repeats it in
plain Python) and two implementations with identical bits: :mod:`rag_dedup.kernels.arrays` in NumPy, which
is always there, and :mod:`rag_dedup.kernels.compiled` in Numba (extra ``fast``), which is taken once
:func:`warm_up` has loaded it, and never before. To do without it, do not call that, or name the other
kernel where one is asked for: ``kernel=rag_dedup.kernels.arrays``. The bits are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_dedup.kernels.batch import (
    can_warm_up,
    choose_kernel,
    combine_bands,
    count_pairs,
    hash_scopes,
    make_permutations,
    minhash,
    read,
    sign,
    simhash,
    warm_up,
)
from rag_dedup.kernels.sets import Kernel, ShingleSets, Signed

__all__ = [
    "HASH_SCHEME",
    "Kernel",
    "ShingleSets",
    "Signed",
    "can_warm_up",
    "choose_kernel",
    "combine_bands",
    "count_pairs",
    "hash_scopes",
    "make_permutations",
    "minhash",
    "read",
    "shingle_sets",
    "sign",
    "simhash",
    "warm_up",
]

HASH_SCHEME = "group-mix-2"
"""Names the specification; part of every scheme string."""


def shingle_sets(texts: Sequence[str], *, workers: int = 1, kernel: Kernel | None = None) -> ShingleSets:
    """Return the distinct shingle hashes of each text, sorted.

    >>> shingle_sets(["a rose is a rose is a rose", ""]).sizes().tolist()
    [3, 0]
    """
    return read(texts, workers=workers, kernel=kernel)[1]
