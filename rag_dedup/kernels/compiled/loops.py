"""How loops are compiled, and the functions that are inlined into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from rag_dedup.kernels.arrays import FINISH

__all__ = [
    "IN_I64",
    "IN_U8",
    "IN_U32",
    "IN_U64",
    "OUT_I64",
    "OUT_U8",
    "OUT_U64",
    "compile_as",
    "inline",
    "mix",
    "up",
]

IN_I64 = types.Array(types.int64, 1, "C", readonly=True)
IN_U8 = types.Array(types.uint8, 1, "C", readonly=True)
IN_U32 = types.Array(types.uint32, 1, "C", readonly=True)
IN_U64 = types.Array(types.uint64, 1, "C", readonly=True)
OUT_I64, OUT_U8, OUT_U64 = types.int64[::1], types.uint8[::1], types.uint64[::1]

up = np.uintp
"""Makes an index unsigned, which saves the test whether it counts from the end: worth a third of the time."""

inline = numba.njit(inline="always", error_model="numpy")


def compile_as(*arguments: Any) -> Callable[[Any], Any]:
    """Compile a loop over these arguments here and now, from the cache if possible."""
    signature = types.void(*arguments)

    def compile_loop(loop: Any) -> Any:
        try:
            return numba.njit(signature, nogil=True, error_model="numpy", cache=True)(loop)
        except Exception:  # whatever is wrong with the cache: no folder, a full disk, a cut file
            return numba.njit(signature, nogil=True, error_model="numpy")(loop)

    return compile_loop


@inline
def mix(h):
    """Apply the 64-bit finaliser of MurmurHash3."""
    h ^= h >> np.uint64(33)
    h *= FINISH
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))
