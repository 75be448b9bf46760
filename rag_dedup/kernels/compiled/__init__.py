"""The kernels in Numba (extra ``fast``): the specification of :mod:`rag_dedup.kernels.arrays` as loops.

Importing this package compiles everything, so that nothing is compiled later: about ten seconds the first
time on a machine, then one, since Numba keeps the machine code (:func:`rag_dedup.kernels.warm_up`) until
the file of a loop changes. When you change a constant or a function of another file, touch that one. The
loops release the GIL.
"""

from __future__ import annotations

from rag_dedup.kernels.compiled.reading import fold, read
from rag_dedup.kernels.compiled.signing import combine_bands, count_pairs, minhash, simhash

__all__ = ["combine_bands", "count_pairs", "fold", "minhash", "read", "simhash"]
