"""Sort hashes in linear time and take equal ones out."""

from __future__ import annotations

import numpy as np

from rag_dedup.kernels.compiled.loops import inline, up

__all__ = ["BUCKET_BITS", "put_set"]

BUCKET_BITS = 16
_FULL_BUCKET = 32


@inline
def _sort_by_digits(raw, spare, count, tally):
    """Sort in eight passes (radix sort, least digit first), which always takes linear time."""
    for digit in range(8):
        shift = np.uint64(8 * digit)
        tally[:256] = 0
        for i in range(count):
            tally[(raw[i] >> shift) & np.uint64(255)] += 1
        total = 0
        for bucket in range(256):
            size = tally[bucket]
            tally[bucket] = total
            total += size
        for i in range(count):
            bucket = (raw[i] >> shift) & np.uint64(255)
            spare[tally[bucket]] = raw[i]
            tally[bucket] += 1
        raw[:count] = spare[:count]


@inline
def _sort(raw, spare, count, tally):
    """Sort ``raw[:count]`` into ``spare``: hashes fall into buckets by their first bits, and then few are
    out of order. Texts made so that many share a bucket are sorted by digits.
    """
    bits = 1
    while (1 << bits) < count and bits < BUCKET_BITS:
        bits += 1
    shift = np.uint64(64 - bits)
    tally[: 1 << bits] = 0
    for i in range(count):
        tally[raw[up(i)] >> shift] += 1
    total = 0
    fullest = 0
    for bucket in range(1 << bits):
        size = tally[up(bucket)]
        tally[up(bucket)] = total
        total += size
        fullest = max(fullest, size)
    if fullest > _FULL_BUCKET:
        _sort_by_digits(raw, spare, count, tally)
        return
    for i in range(count):
        value = raw[up(i)]
        place = tally[value >> shift]
        spare[up(place)] = value
        tally[value >> shift] = place + 1
    for i in range(1, count):
        value = spare[up(i)]
        j = i - 1
        while j >= 0 and spare[up(j)] > value:
            spare[up(j + 1)] = spare[up(j)]
            j -= 1
        spare[up(j + 1)] = value


@inline
def put_set(raw, spare, count, tally, values, at):
    """Write the distinct ones of ``raw[:count]``, sorted, from ``values[at]`` on; return where they end."""
    if count > 0:
        _sort(raw, spare, count, tally)
        last = spare[0]
        values[up(at)] = last
        at += 1
        for i in range(1, count):
            value = spare[up(i)]
            values[up(at)] = value
            at += value != last
            last = value
    return at
