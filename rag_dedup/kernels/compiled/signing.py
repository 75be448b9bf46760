"""From shingle sets to MinHash, bands and SimHash, and from pairs of sets to what they share."""

from __future__ import annotations

import numpy as np
from numba import types

from rag_dedup.kernels.arrays import FNV_BASIS, FNV_PRIME
from rag_dedup.kernels.compiled.loops import (
    IN_I64,
    IN_U32,
    IN_U64,
    OUT_I64,
    OUT_U64,
    compile_as,
    inline,
    mix,
)
from rag_dedup.kernels.sets import I64, U32, U64, Permutations, ShingleSets

__all__ = ["combine_bands", "count_pairs", "minhash", "simhash"]


@inline
def _mix32(h):
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x85EBCA6B))
    h = np.uint32(h ^ (h >> np.uint32(13)))
    h = np.uint32(h * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@compile_as(IN_U64, IN_I64, IN_U32, IN_U32, types.uint32[:, ::1])
def _minhash(values, offsets, a, b, signatures):
    for row in range(len(offsets) - 1):
        least = signatures[row]
        least[:] = 0xFFFFFFFF
        stop = offsets[row + 1]
        for i in range(offsets[row], stop, 4):
            # Four at a time, the last one again where there are fewer: the loop over the permutations
            # becomes vector code, and this saves it three of four loads and stores.
            h0 = _mix32(np.uint32(values[i]))
            h1 = _mix32(np.uint32(values[min(i + 1, stop - 1)]))
            h2 = _mix32(np.uint32(values[min(i + 2, stop - 1)]))
            h3 = _mix32(np.uint32(values[min(i + 3, stop - 1)]))
            for p in range(len(a)):
                one = min(np.uint32(a[p] * h0 + b[p]), np.uint32(a[p] * h1 + b[p]))
                two = min(np.uint32(a[p] * h2 + b[p]), np.uint32(a[p] * h3 + b[p]))
                least[p] = min(least[p], min(one, two))


def minhash(sets: ShingleSets, permutations: Permutations) -> U32:
    """Return the MinHash signatures ``(n, num_perm)``; an empty set has all ones."""
    signatures = np.empty((len(sets), len(permutations[0])), np.uint32)
    _minhash(sets.values, sets.offsets, *permutations, signatures)
    return signatures


@compile_as(types.Array(types.uint32, 2, "C", readonly=True), types.int64, IN_U64, types.uint64[:, ::1])
def _combine_bands(signatures, rows, scopes, keys):
    for row in range(len(keys)):
        h = (FNV_BASIS ^ scopes[row]) * FNV_PRIME
        for band in range(keys.shape[1]):
            keys[row, band] = (h ^ np.uint64(band)) * FNV_PRIME
        # The bands inside, for they do not wait for each other.
        for i in range(rows):
            for band in range(keys.shape[1]):
                value = np.uint64(signatures[row, band * rows + i])
                keys[row, band] = mix((keys[row, band] ^ value) * FNV_PRIME)


def combine_bands(signatures: U32, bands: int, rows: int, scopes: U64) -> U64:
    """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""
    keys = np.empty((len(signatures), bands), np.uint64)
    _combine_bands(signatures, rows, scopes, keys)
    return keys


@compile_as(IN_U64, IN_I64, OUT_I64, OUT_U64)
def _simhash(values, offsets, votes, results):
    for row in range(len(results)):
        votes[:] = 0
        for i in range(offsets[row], offsets[row + 1]):
            for bit in range(64):
                votes[bit] += np.int64((values[i] >> np.uint64(bit)) & np.uint64(1))
        result = np.uint64(0)
        for bit in range(64):
            if 2 * votes[bit] > offsets[row + 1] - offsets[row]:
                result |= np.uint64(1) << np.uint64(bit)
        results[row] = result


def simhash(sets: ShingleSets) -> U64:
    """Return the 64-bit SimHash of each set; the empty set gives 0."""
    results = np.empty(len(sets), np.uint64)
    _simhash(sets.values, sets.offsets, np.empty(64, np.int64), results)
    return results


@compile_as(IN_U64, IN_I64, IN_I64, IN_U64, IN_I64, IN_I64, IN_I64, OUT_I64)
def _count_pairs(a, offsets_a, rows_a, b, offsets_b, rows_b, least, counts):
    for pair in range(len(counts)):
        i, stop_i = offsets_a[rows_a[pair]], offsets_a[rows_a[pair] + 1]
        j, stop_j = offsets_b[rows_b[pair]], offsets_b[rows_b[pair] + 1]
        needed = least[pair]
        common = 0
        # Stops as soon as the rest cannot be enough.
        while i < stop_i and j < stop_j and common + min(stop_i - i, stop_j - j) >= needed:
            one, two = a[i], b[j]
            common += one == two
            i += one <= two
            j += two <= one
        counts[pair] = common if common >= needed else 0


def count_pairs(a: ShingleSets, rows_a: I64, b: ShingleSets, rows_b: I64, least: I64) -> I64:
    """Return how many shingles each pair shares, 0 where these are fewer than ``least``."""
    counts = np.empty(len(rows_a), np.int64)
    _count_pairs(a.values, a.offsets, rows_a, b.values, b.offsets, rows_b, least, counts)
    return counts
