"""The kernels in Numba (extra ``fast``): the specification of :mod:`rag_dedup.kernels.arrays` as loops.

Importing this module compiles everything, so that nothing is compiled later: about ten seconds the first
time on a machine, then about one, since Numba keeps the machine code beside this file or, where that cannot
be written, in the user's cache (``NUMBA_CACHE_DIR``). The loops release the GIL. All of them are in this one
file because Numba keeps code until *this* file changes, whatever else was inlined into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from rag_dedup.kernels.arrays import FINISH, FNV_BASIS, FNV_PRIME, HEAD, POSITION
from rag_dedup.kernels.sets import I64, U8, U32, U64, Permutations, Reading, ShingleSets
from rag_dedup.kernels.tables import ASCII_FLAGS, ASCII_LOWER, INVISIBLE, OTHER_FORM, Folds, read_folds
from rag_dedup.text import LAST_ASSIGNED, MAX_TOKEN, SEPARATOR, SINGLE, WORD

__all__ = ["combine_bands", "count_pairs", "minhash", "read_bytes", "read_points", "simhash"]

_K0, _K1, _K2 = POSITION
_EDGES = 4096
"""Starts and ends of tokens that are kept at a time."""
_EDGES_PER_POINT = 48
"""Room for those of one code point, whose normal form has at most 18."""
_BUCKET_BITS = 16
_FULL_BUCKET = 32
_NO_CUT = 1 << 62

_i = types.int64
_I64 = types.Array(types.int64, 1, "C", readonly=True)
_U8 = types.Array(types.uint8, 1, "C", readonly=True)
_U32 = types.Array(types.uint32, 1, "C", readonly=True)
_U64 = types.Array(types.uint64, 1, "C", readonly=True)
_U32S = types.Array(types.uint32, 2, "C", readonly=True)
_OUT_I64, _OUT_U8, _OUT_U32, _OUT_U64 = (
    t[::1] for t in (types.int64, types.uint8, types.uint32, types.uint64)
)
_OUT_U32S, _OUT_U64S = types.uint32[:, ::1], types.uint64[:, ::1]


def _compile(signature: Any) -> Callable[[Any], Any]:
    """Compile a loop here and now, from the cache if possible."""

    def compile_loop(loop: Any) -> Any:
        try:
            return numba.njit(signature, nogil=True, error_model="numpy", cache=True)(loop)
        except RuntimeError:  # no folder that could hold the cache
            return numba.njit(signature, nogil=True, error_model="numpy")(loop)

    return compile_loop


_inline = numba.njit(inline="always", error_model="numpy")


@_inline
def _mix(h):
    h ^= h >> np.uint64(33)
    h *= FINISH
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@_inline
def _mix32(h):
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x85EBCA6B))
    h = np.uint32(h ^ (h >> np.uint32(13)))
    h = np.uint32(h * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@_inline
def _load_group(words, at):
    """Return the eight bytes from ``at`` on."""
    word = at >> 3
    shift = np.uint64((at & 7) << 3)
    return (words[word] >> shift) | ((words[word + 1] << np.uint64(1)) << (np.uint64(63) - shift))


@_inline
def _hash_token(words, start, length):
    h = FNV_BASIS
    while length > 8:
        h = (h ^ _load_group(words, start)) * _K0
        h ^= h >> np.uint64(32)
        start += 8
        length -= 8
    h = (h ^ (_load_group(words, start) & HEAD[length])) * _K0
    h ^= h >> np.uint64(32)
    h *= FINISH
    return h ^ (h >> np.uint64(29))


@_inline
def _take_tokens(words, edges, found, limit, before, last, tokens, raw):
    """Hash the shingles that end with the tokens between ``edges[:found]``; an odd one is kept for later.

    Args:
        before, last: hashes of the last two tokens so far.
        tokens: their number so far; shingle ``i`` ends with token ``i + 2``.
    """
    for pair in range(found >> 1):
        start = edges[2 * pair]
        rest = edges[2 * pair + 1] - start
        while rest > 0:
            length = min(rest, limit)
            h = _hash_token(words, start, length)
            # What the first two tokens write is overwritten.
            raw[max(tokens - 2, 0)] = _mix(before * _K0 + last * _K1 + h * _K2)
            before, last = last, h
            tokens += 1
            start += length
            rest -= length
    if found & 1:
        edges[0] = edges[found - 1]
    return found & 1, before, last, tokens


@_inline
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


@_inline
def _sort(raw, spare, count, tally):
    """Sort ``raw[:count]`` into ``spare``: hashes fall into buckets by their first bits, and then few are
    out of order. Texts made so that many share a bucket are sorted by digits.
    """
    bits = 1
    while (1 << bits) < count and bits < _BUCKET_BITS:
        bits += 1
    shift = np.uint64(64 - bits)
    tally[: 1 << bits] = 0
    fullest = 0
    for i in range(count):
        bucket = raw[i] >> shift
        tally[bucket] += 1
        fullest = max(fullest, tally[bucket])
    if fullest > _FULL_BUCKET:
        _sort_by_digits(raw, spare, count, tally)
        return
    total = 0
    for bucket in range(1 << bits):
        size = tally[bucket]
        tally[bucket] = total
        total += size
    for i in range(count):
        bucket = raw[i] >> shift
        spare[tally[bucket]] = raw[i]
        tally[bucket] += 1
    for i in range(1, count):
        value = spare[i]
        j = i - 1
        while j >= 0 and spare[j] > value:
            spare[j + 1] = spare[j]
            j -= 1
        spare[j + 1] = value


@_inline
def _put_set(raw, spare, count, tally, values, at):
    """Write the distinct ones of ``raw[:count]``, sorted, from ``values[at]`` on; return where they end."""
    if count > 0:
        _sort(raw, spare, count, tally)
        values[at] = spare[0]
        at += 1
        for i in range(1, count):
            values[at] = spare[i]
            at += spare[i] != spare[i - 1]
    return at


@_inline
def _load_point(data, i):
    """Return the code point that begins at ``i``, and where the next one does."""
    byte = np.uint32(data[i])
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (data[i + 1] & 0x3F), i + 2
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | ((np.uint32(data[i + 1]) & 0x3F) << 6) | (data[i + 2] & 0x3F), i + 3
    high = ((byte & 0x07) << 18) | ((np.uint32(data[i + 1]) & 0x3F) << 12)
    return high | ((np.uint32(data[i + 2]) & 0x3F) << 6) | (data[i + 3] & 0x3F), i + 4


@_inline
def _put_point(out, at, point):
    """Write a code point in UTF-8 (surrogates too); return where it ends."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 3] = 0x80 | (point & 0x3F)
    return at + 4


@_compile(
    types.void(
        _U8, _I64, _I64, _U8, _U8, _U32, _U8, _OUT_U8, _OUT_U64, _OUT_U64, _OUT_U64, _OUT_I64, _OUT_I64,
        _OUT_I64, _OUT_I64, _OUT_I64, _OUT_U8, _OUT_U64, _OUT_I64,
    )
)  # fmt: skip
def _read_bytes(
    data, starts, lengths, ascii_lower, flags, lower, plain, out, words, raw, spare, tally, edges,
    out_starts, out_stops, tokens_of, odd, values, offsets,
):  # fmt: skip
    at = 0
    kept = 0
    for row in range(len(starts)):
        start = at
        i = starts[row]
        end = i + lengths[row]
        space, word, seen = 1, 0, 0
        mixed, other = False, False
        found, tokens = 0, 0
        before, last = np.uint64(0), np.uint64(0)
        while i < end:
            stop = min(end, i + _EDGES)
            while i < stop:
                byte = data[i]
                if byte < 0x80:
                    # No branches: every byte and edge is written, and overwritten where it is none.
                    flag = flags[byte]
                    out[at] = ascii_lower[byte]
                    edges[found] = at
                    found += (flag & WORD) != word
                    word = flag & WORD
                    at += 1 - (space & (flag >> 1))
                    space = (flag >> 1) & 1
                    seen |= flag
                    i += 1
                    continue
                point, i = _load_point(data, i)
                kind = plain[min(point, LAST_ASSIGNED)]
                if kind == 0:
                    seen = INVISIBLE
                    i = end
                    stop = end
                    break
                point = lower[point]
                mixed = True
                other |= kind >= OTHER_FORM
                kind &= 3
                if word and kind != WORD:
                    edges[found] = at
                    found += 1
                    word = 0
                if point == 0x20:
                    out[at] = 0x20
                    at += 1 - space
                    space = 1
                    continue
                if kind != SEPARATOR and not word:
                    edges[found] = at
                    found += 1
                at = _put_point(out, at, point)
                if kind == SINGLE:
                    edges[found] = at
                    found += 1
                else:
                    word = kind
                space = 0
            if i == end and word:
                edges[found] = at
                found += 1
            if mixed:
                for pair in range(found >> 1):
                    # Pieces of long tokens are counted in characters.
                    if edges[2 * pair + 1] - edges[2 * pair] > MAX_TOKEN:
                        seen = INVISIBLE
            found, before, last, tokens = _take_tokens(
                words, edges, found, MAX_TOKEN, before, last, tokens, raw
            )
        if space and at > start:
            at -= 1
        out_starts[row] = start
        out_stops[row] = at
        odd[row] = seen >= INVISIBLE or (other and tokens < 3)
        tokens_of[row] = tokens
        if tokens < 3 and at > start:
            values[kept] = 0
            kept += 1
        else:
            kept = _put_set(raw, spare, tokens - 2, tally, values, kept)
        offsets[row + 1] = kept
        at += 1


def read_bytes(data: U8, starts: I64, lengths: I64, folds: Folds | None) -> Reading:
    """Read texts in UTF-8 that lie end to end, a byte of white space after each."""
    rows = len(starts)
    out, words = _make_bytes(len(data))
    scratch = _make_scratch(int(lengths.max(initial=0)))
    out_starts, out_stops, tokens = np.empty((3, rows), np.int64)
    odd = np.empty(rows, np.uint8)
    values = np.empty(len(data), np.uint64)
    offsets = np.zeros(rows + 1, np.int64)
    lower, plain = (folds.lower, folds.plain) if folds else (np.empty(0, np.uint32), np.empty(0, np.uint8))
    _read_bytes(
        data, starts, lengths, ASCII_LOWER, ASCII_FLAGS, lower, plain, out, words, *scratch,
        out_starts, out_stops, tokens, odd, values, offsets,
    )  # fmt: skip
    return Reading(
        out, out_starts, out_stops, out, out_starts, out_stops,
        ShingleSets(values[: offsets[-1]].copy(), offsets),
        np.flatnonzero((tokens < 3) & (out_stops > out_starts)),
        np.flatnonzero(odd),
    )  # fmt: skip


def _make_bytes(length: int) -> tuple[U8, U64]:
    """Return room for bytes, as bytes and in groups of eight with two more behind it."""
    words = np.empty(length // 8 + 3, np.uint64)
    return words.view(np.uint8), words


def _make_scratch(longest: int) -> tuple[U64, U64, I64, I64]:
    """Return room for the shingles of a text, to sort them, for buckets and for edges."""
    bits = min(max(longest.bit_length(), 8), _BUCKET_BITS)
    return (
        np.empty(longest + 1, np.uint64),
        np.empty(longest + 1, np.uint64),
        np.empty(1 << bits, np.int64),
        np.empty(_EDGES + 2 * _EDGES_PER_POINT, np.int64),
    )


@_compile(types.void(_U32, _I64, _I64, _U32, _OUT_U8, _OUT_I64, _OUT_I64))
def _lower_points(points, starts, lengths, lower, out, out_starts, out_stops):
    at = 0
    for row in range(len(starts)):
        start = at
        space = True
        for i in range(starts[row], starts[row] + lengths[row]):
            point = points[i]
            if point < LAST_ASSIGNED:
                point = lower[point]
            if point == 0x20:
                if not space:
                    out[at] = 0x20
                    at += 1
                space = True
            else:
                at = _put_point(out, at, point)
                space = False
        if space and at > start:
            at -= 1
        out_starts[row] = start
        out_stops[row] = at


@_compile(
    types.void(
        _U32, _I64, _I64, _U32, _U8, _U32, _U8, _OUT_U8, _OUT_U64, _OUT_U64, _OUT_U64, _OUT_I64,
        _OUT_I64, _OUT_I64, _OUT_I64, _OUT_I64, _OUT_U64, _OUT_I64,
    )
)  # fmt: skip
def _read_points(
    points, starts, lengths, first, count, forms, classes, out, words, raw, spare, tally,
    edges, out_starts, out_stops, tokens_of, values, offsets,
):  # fmt: skip
    at = 0
    kept = 0
    for row in range(len(starts)):
        start = at
        i = starts[row]
        end = i + lengths[row]
        space, length = True, 0  # of the token that is being read
        found, tokens = 0, 0
        before, last = np.uint64(0), np.uint64(0)
        while i < end:
            while i < end and found < _EDGES:
                point = points[i]
                i += 1
                known = point < LAST_ASSIGNED
                for j in range(count[point] if known else 1):
                    if known:
                        point = forms[first[points[i - 1]] + j]
                    kind = classes[min(point, np.uint32(LAST_ASSIGNED))]
                    if length > 0 and (kind != WORD or length == MAX_TOKEN):
                        edges[found] = at
                        found += 1
                        length = 0
                    if kind == WORD:
                        if length == 0:
                            edges[found] = at
                            found += 1
                        length += 1
                        at = _put_point(out, at, point)
                    elif kind == SINGLE:
                        edges[found] = at
                        at = _put_point(out, at, point)
                        edges[found + 1] = at
                        found += 2
                    elif point != 0x20:
                        at = _put_point(out, at, point)
                    elif not space:
                        out[at] = 0x20
                        at += 1
                    space = point == 0x20
            if i == end and length > 0:
                edges[found] = at
                found += 1
            found, before, last, tokens = _take_tokens(
                words, edges, found, _NO_CUT, before, last, tokens, raw
            )
        if space and at > start:
            at -= 1
        out_starts[row] = start
        out_stops[row] = at
        tokens_of[row] = tokens
        if tokens < 3 and at > start:
            values[kept] = 0
            kept += 1
        else:
            kept = _put_set(raw, spare, tokens - 2, tally, values, kept)
        offsets[row + 1] = kept


def read_points(
    exact: U32, exact_starts: I64, exact_lengths: I64, normal: U32, starts: I64, lengths: I64
) -> Reading:
    """Read code points: those to make exact keys of and those to make shingles of."""
    folds = read_folds()
    rows = len(starts)
    lowered = np.empty(4 * len(exact) + 1, np.uint8)
    lowered_starts, lowered_stops, out_starts, out_stops, tokens = np.empty((5, rows), np.int64)
    _lower_points(exact, exact_starts, exact_lengths, folds.lower, lowered, lowered_starts, lowered_stops)
    sizes = _measure_forms(normal, starts, lengths, folds)
    out, words = _make_bytes(4 * int(sizes.sum()) + 1)
    scratch = _make_scratch(int(sizes.max(initial=0)))
    values = np.empty(int(sizes.sum()), np.uint64)
    offsets = np.zeros(rows + 1, np.int64)
    _read_points(
        normal, starts, lengths, folds.first, folds.sizes, folds.forms, folds.classes, out, words,
        *scratch, out_starts, out_stops, tokens, values, offsets,
    )  # fmt: skip
    return Reading(
        lowered, lowered_starts, lowered_stops, out, out_starts, out_stops,
        ShingleSets(values[: offsets[-1]].copy(), offsets),
        np.flatnonzero((tokens < 3) & (out_stops > out_starts)),
        np.empty(0, np.int64),
    )  # fmt: skip


def _measure_forms(points: U32, starts: I64, lengths: I64, folds: Folds) -> I64:
    """Return the number of code points of each text's normal form, at least 1."""
    sizes = np.empty(len(starts), np.int64)
    _add_counts(points, starts, lengths, folds.sizes, sizes)
    return sizes


@_compile(types.void(_U32, _I64, _I64, _U8, _OUT_I64))
def _add_counts(points, starts, lengths, count, sizes):
    for row in range(len(starts)):
        size = 1
        for i in range(starts[row], starts[row] + lengths[row]):
            size += max(count[min(points[i], np.uint32(LAST_ASSIGNED))], 1)
        sizes[row] = size


@_compile(types.void(_U64, _I64, _U32, _U32, _OUT_U32S))
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


@_compile(types.void(_U32S, _i, _U64, _OUT_U64S))
def _combine_bands(signatures, rows, scopes, keys):
    for row in range(len(keys)):
        for band in range(keys.shape[1]):
            h = (FNV_BASIS ^ scopes[row]) * FNV_PRIME
            h = (h ^ np.uint64(band)) * FNV_PRIME
            for i in range(rows):
                h = _mix((h ^ np.uint64(signatures[row, band * rows + i])) * FNV_PRIME)
            keys[row, band] = h


def combine_bands(signatures: U32, bands: int, rows: int, scopes: U64) -> U64:
    """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""
    keys = np.empty((len(signatures), bands), np.uint64)
    _combine_bands(signatures, rows, scopes, keys)
    return keys


@_compile(types.void(_U64, _I64, _OUT_I64, _OUT_U64))
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


@_compile(types.void(_U64, _I64, _I64, _U64, _I64, _I64, _I64, _OUT_I64))
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
