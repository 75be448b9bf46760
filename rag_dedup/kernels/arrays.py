"""The kernels in NumPy, which is always there.

Specification, all arithmetic modulo 2**64 unless said otherwise:

* ``mix(h)`` is the finaliser of MurmurHash3 (Appleby 2011, public domain).
* A token hash takes the UTF-8 bytes of the token eight at a time, each group a little-endian number
  ``w``, the last filled up with zeros (no token holds a NUL): ``h = (h ^ w) * K0``, ``h ^= h >> 32``. At
  last ``h *= M``, ``h ^= h >> 29``.
* A shingle hash is ``mix(t0 * K0 + t1 * K1 + t2 * K2)``; a text with fewer than three tokens is one
  shingle, the first eight bytes (little endian) of the SHA-256 of its normalised UTF-8 text.
* MinHash is datasketch's ``affine32``: ``min(a * mix32(h) + b)`` modulo 2**32 over the low 32 bits of
  the shingle hashes, for 128 pairs ``(a, b)`` drawn from ``numpy.random.RandomState(seed)``.
* A band key is FNV-1a (Fowler, Noll, Vo) over scope hash, band number and the rows of the band, with a
  ``mix`` after each row.
* The bytes for an exact key have white space folded and each character in lower case, one for one: final
  sigma is sigma, and only U+0130 stays as it is, for its lower case is two characters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag_dedup.kernels.sets import I64, U8, U32, U64, Permutations, Reading, ShingleSets
from rag_dedup.kernels.tables import (
    ASCII_FLAGS,
    ASCII_LOWER,
    INVISIBLE,
    OTHER_FORM,
    SPACE,
    Folds,
    measure_utf8,
    read_folds,
)
from rag_dedup.text import LAST_ASSIGNED, MAX_TOKEN, SHINGLE_SIZE, SINGLE, WORD

__all__ = [
    "combine_bands",
    "count_pairs",
    "minhash",
    "mix",
    "read_bytes",
    "read_points",
    "simhash",
]

FNV_BASIS = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x00000100000001B3)
FINISH = np.uint64(0xFF51AFD7ED558CCD)
# Odd constants from the fractional parts of the golden ratio, e and pi.
POSITION = np.array([0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3], dtype=np.uint64)
# The first n bytes of a group of eight.
HEAD = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)

_SHINGLES_PER_BLOCK = 1 << 16
"""Shingles that are permuted at a time: two arrays of this size stay in the L2 cache."""


def mix(h: U64) -> U64:
    """Apply the 64-bit finaliser of MurmurHash3, a bijection that spreads every bit."""
    h = h ^ (h >> np.uint64(33))
    h *= FINISH
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(33)
    return h


def mix32(h: U32) -> U32:
    """Apply the 32-bit finaliser of MurmurHash3."""
    h = h ^ (h >> np.uint32(16))
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h


def read_bytes(data: U8, starts: I64, lengths: I64, folds: Folds | None) -> Reading:
    """Read texts in UTF-8 that lie end to end, a byte of white space after each.

    Scripts without spaces are left to :func:`read_points`.
    """
    flags, lower = ASCII_FLAGS[data], ASCII_LOWER[data]
    mixed = other = np.empty(0, np.int64)
    if folds is not None:
        mixed, other = _read_plain(data, flags, lower, folds)
    odd = np.flatnonzero(flags >= INVISIBLE)
    kept, out_starts, stops = _fold_spaces(flags == SPACE, starts, lengths)
    if kept is not None:
        lower, flags = lower[kept], flags[kept]
    begins, finishes = _find_words(flags == WORD)
    unread = [_find_rows(starts, odd)]
    if len(mixed):
        # Pieces of long tokens are counted in characters.
        long = begins[finishes - begins > MAX_TOKEN]
        unread.append(np.intersect1d(_find_rows(out_starts, long), _find_rows(starts, mixed)))
    sets, short = _shingle(lower, *_cut_long(begins, finishes), out_starts, stops)
    unread.append(np.intersect1d(short, _find_rows(starts, other)))
    rows = np.unique(np.concatenate(unread))
    return Reading(lower, out_starts, stops, lower, out_starts, stops, sets, short, rows)


def _find_rows(starts: I64, places: I64) -> I64:
    """Return the texts that the places are in, each once."""
    return np.unique(np.searchsorted(starts, places, side="right") - 1)


def _read_plain(data: U8, flags: U8, lower: U8, folds: Folds) -> tuple[I64, I64]:
    """Write flags and lower case of plain characters beyond ASCII.

    Returns:
        Where plain characters begin, and where those that have another normal form do.
    """
    leads = np.flatnonzero(data >= 0xC0)
    sizes = 2 + (data[leads] >= 0xE0).astype(np.int64) + (data[leads] >= 0xF0)
    points = np.zeros(len(leads), np.uint32)
    for size in (2, 3, 4):
        chosen = np.flatnonzero(sizes == size)
        points[chosen] = data[leads[chosen]] & (0x7F >> size)
        for i in range(1, size):
            points[chosen] = points[chosen] << np.uint32(6) | data[leads[chosen] + i] & 0x3F
    kinds = folds.plain[np.minimum(points, LAST_ASSIGNED)]
    small = np.where(points < LAST_ASSIGNED, folds.lower[np.minimum(points, LAST_ASSIGNED - 1)], points)
    space = small == ord(" ")
    plain = (kinds > 0) & (kinds & 3 != SINGLE) & (space | (measure_utf8(small) == sizes))
    for size in (2, 3, 4):
        for i in range(size):
            here = plain & (sizes == size)
            at = leads[here] + i
            byte = (small[here] >> np.uint32(6 * (size - 1 - i))) & 0x3F | 0x80
            if i == 0:
                byte = small[here] >> np.uint32(6 * (size - 1)) | (0xF00 >> size & 0xFF)
            lower[at] = np.where(space[here], ord(" "), byte)
            flags[at] = np.where(space[here], SPACE, kinds[here] & 3)
    return leads[plain], leads[plain & (kinds >= OTHER_FORM)]


def read_points(
    exact: U32, exact_starts: I64, exact_lengths: I64, normal: U32, starts: I64, lengths: I64
) -> Reading:
    """Read code points: those to make exact keys of and those to make shingles of."""
    folds = read_folds()
    lower = np.where(exact < LAST_ASSIGNED, folds.lower[np.minimum(exact, LAST_ASSIGNED - 1)], exact)
    lower, exact_starts, exact_stops = _drop_spaces(lower, exact_starts, exact_lengths)
    exact_bytes, edges = _encode(lower)
    exact_starts, exact_stops = edges[exact_starts], edges[exact_stops]

    points, starts, lengths = _replace_forms(normal, starts, lengths)
    points, starts, stops = _drop_spaces(points, starts, lengths)
    normal_bytes, edges = _encode(points)
    begins, finishes = _find_tokens(points)
    starts, stops = edges[starts], edges[stops]
    sets, short = _shingle(normal_bytes, edges[begins], edges[finishes], starts, stops)
    unread = np.empty(0, np.int64)
    return Reading(exact_bytes, exact_starts, exact_stops, normal_bytes, starts, stops, sets, short, unread)


def _drop_spaces(points: U32, starts: I64, lengths: I64) -> tuple[U32, I64, I64]:
    kept, starts, stops = _fold_spaces(points == ord(" "), starts, lengths)
    return (points if kept is None else points[kept]), starts, stops


def _fold_spaces(
    space: npt.NDArray[np.bool_], starts: I64, lengths: I64
) -> tuple[npt.NDArray[np.bool_] | None, I64, I64]:
    """Find the first of each run of spaces.

    Returns:
        What to keep, ``None`` for everything, and where each text then starts and stops.
    """
    stops = starts + lengths
    dropped = np.zeros(len(space), dtype=bool)
    np.logical_and(space[1:], space[:-1], out=dropped[1:])
    dropped[:1] = space[:1]
    positions = np.flatnonzero(dropped)
    if not len(positions):
        return None, starts, stops  # single spaces only: no text begins or ends with one
    first = starts - np.searchsorted(positions, starts)
    last = stops - np.searchsorted(positions, stops)
    kept = ~dropped
    # A run that began inside of a text went on to its end.
    ended = np.zeros(len(stops), dtype=bool)
    filled = lengths > 0
    ended[filled] = space[stops[filled] - 1]
    return kept, first, np.maximum(last - (ended & (last > first)), first)


def _replace_forms(points: U32, starts: I64, lengths: I64) -> tuple[U32, I64, I64]:
    """Replace each code point by its normal form."""
    folds = read_folds()
    rows = np.minimum(points, LAST_ASSIGNED)
    unknown = points >= LAST_ASSIGNED
    first, count = folds.first[rows].astype(np.int64), folds.sizes[rows].astype(np.int64)
    count[unknown] = 1
    if (count == 1).all():
        return (
            np.where(unknown, points, folds.forms[np.minimum(first, len(folds.forms) - 1)]),
            starts,
            lengths,
        )
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    owner = np.repeat(np.arange(len(points)), count)
    at = np.minimum(first[owner] + np.arange(len(owner)) - edges[owner], len(folds.forms) - 1)
    formed = np.where(unknown[owner], points[owner], folds.forms[at])
    return formed, edges[starts], edges[starts + lengths] - edges[starts]


def _encode(points: U32) -> tuple[U8, I64]:
    """Encode in UTF-8; return also where each code point starts, and the end."""
    text = points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    edges = np.zeros(len(points) + 1, dtype=np.int64)
    np.cumsum(measure_utf8(points), out=edges[1:])
    return data, edges


def _find_words(word: npt.NDArray[np.bool_]) -> tuple[I64, I64]:
    """Return where each run begins and where it ends; white space is last, so that it does end."""
    edges = np.flatnonzero(word[1:] != word[:-1]) + 1
    if word[:1].any():
        edges = np.concatenate((np.zeros(1, np.int64), edges))
    return edges[::2], edges[1::2]


def _find_tokens(points: U32) -> tuple[I64, I64]:
    """Return where each token of a run of code points begins and where it ends."""
    classes = read_folds().classes[np.minimum(points, LAST_ASSIGNED)]
    word = classes == WORD
    single = classes == SINGLE
    edge = np.zeros(1, dtype=bool)
    begins = single | (word & ~np.concatenate((edge, word[:-1])))
    finishes = single | (word & ~np.concatenate((word[1:], edge)))
    return _cut_long(np.flatnonzero(begins), np.flatnonzero(finishes) + 1)


def _cut_long(begins: I64, finishes: I64) -> tuple[I64, I64]:
    """Cut tokens longer than ``MAX_TOKEN`` into pieces."""
    lengths = finishes - begins
    if lengths.max(initial=0) <= MAX_TOKEN:
        return begins, finishes
    pieces = -(-lengths // MAX_TOKEN)
    owner = np.repeat(np.arange(len(begins)), pieces)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cut = begins[owner] + number * MAX_TOKEN
    return cut, np.minimum(finishes[owner], cut + MAX_TOKEN)


def _shingle(data: U8, begins: I64, finishes: I64, starts: I64, stops: I64) -> tuple[ShingleSets, I64]:
    """Return the shingle sets of texts whose tokens are known, and the rows with fewer tokens."""
    hashes = _hash_shingles(_hash_tokens(data, begins, finishes))
    last = np.searchsorted(begins, stops)
    first = np.concatenate((np.zeros(1, np.int64), last[:-1]))
    counts = np.maximum(last - first - SHINGLE_SIZE + 1, 0)
    for start, count in zip(first.tolist(), counts.tolist(), strict=True):
        hashes[start : start + count].sort()
    distinct = np.ones(len(hashes), dtype=bool)
    np.not_equal(hashes[1:], hashes[:-1], out=distinct[1:])
    distinct[first[counts > 0]] = True  # a text may begin with what the last ended with
    for i in range(1, SHINGLE_SIZE):  # windows over the end of a text
        distinct[np.maximum(last - i, 0)[(last >= i) & (last - i < len(hashes))]] = False
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(distinct)))
    first = np.minimum(first, len(hashes))
    sizes = before[first + counts] - before[first]
    short = np.flatnonzero((counts == 0) & (stops > starts))
    values = hashes[distinct]
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    if len(short):
        values = np.insert(values, edges[short], 0)
        sizes[short] = 1
        edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return ShingleSets(values, edges), short


def _hash_tokens(data: U8, begins: I64, finishes: I64) -> U64:
    """Hash all tokens at once, eight bytes of each at a time."""
    padded = np.concatenate((data, np.zeros(8, np.uint8)))
    groups = np.ndarray(len(data) + 1, "<u8", padded, strides=(1,))  # eight bytes from each byte on
    lengths = finishes - begins
    h = np.full(len(begins), FNV_BASIS)
    h = _take_group(h, groups[begins] & HEAD[np.minimum(lengths, 8)])
    going = np.flatnonzero(lengths > 8)
    step = 8
    while len(going):
        taken = groups[begins[going] + step] & HEAD[np.minimum(lengths[going] - step, 8)]
        h[going] = _take_group(h[going], taken)
        step += 8
        going = going[lengths[going] > step]
    h *= FINISH
    h ^= h >> np.uint64(29)
    return h


def _take_group(h: U64, group: U64) -> U64:
    h = (h ^ group) * POSITION[0]
    h ^= h >> np.uint64(32)
    return h


def _hash_shingles(tokens: U64) -> U64:
    """Hash every window of tokens, those over the end of a text too: one for each token but the last."""
    count = len(tokens) - SHINGLE_SIZE + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    total = tokens[:count] * POSITION[0]
    for i in range(1, SHINGLE_SIZE):
        total += tokens[i : i + count] * POSITION[i]
    return mix(total)


def minhash(sets: ShingleSets, permutations: Permutations) -> U32:
    """Return the MinHash signatures ``(n, num_perm)``; an empty set has all ones."""
    a, b = permutations
    hashes = mix32((sets.values & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    signatures = np.full((len(sets), len(a)), 0xFFFFFFFF, dtype=np.uint32)
    filled = np.flatnonzero(sets.sizes())
    starts, stops = sets.offsets[filled], sets.offsets[filled + 1]
    first = 0
    while first < len(filled):
        # As many whole texts as fit, and at least one.
        fitting = int(np.searchsorted(stops, starts[first] + _SHINGLES_PER_BLOCK, side="right"))
        last = max(first + 1, fitting)
        block = hashes[starts[first] : stops[last - 1]]
        edges = starts[first:last] - starts[first]
        permuted = np.empty_like(block)
        least = np.empty((len(a), len(edges)), dtype=np.uint32)
        for i in range(len(a)):
            np.multiply(block, a[i], out=permuted)
            permuted += b[i]
            np.minimum.reduceat(permuted, edges, out=least[i])
        signatures[filled[first:last]] = least.T
        first = last
    return signatures


def combine_bands(signatures: npt.NDArray[np.unsignedinteger], bands: int, rows: int, scopes: U64) -> U64:
    """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""
    n = len(signatures)
    values = signatures[:, : bands * rows].astype(np.uint64).reshape(n, bands, rows)
    h: U64 = (FNV_BASIS ^ scopes[:, None]) * FNV_PRIME
    h = (h ^ np.arange(bands, dtype=np.uint64)[None, :]) * FNV_PRIME
    for row in range(rows):
        # Mixing at each row, since FNV alone does not carry high bits down.
        h = mix((h ^ values[:, :, row]) * FNV_PRIME)
    return h


def simhash(sets: ShingleSets) -> U64:
    """Return the 64-bit SimHash of each set; the empty set gives 0.

    Bit ``i`` is set when more than half of the shingle hashes have it. Source: Charikar, Similarity
    estimation techniques from rounding algorithms, 2002.
    """
    result = np.zeros(len(sets), np.uint64)
    for i in range(len(sets)):
        hashes = sets[i]
        votes = np.zeros(64, np.int64)
        for cut in range(0, len(hashes), _SHINGLES_PER_BLOCK):
            octets = hashes[cut : cut + _SHINGLES_PER_BLOCK].astype("<u8").view(np.uint8).reshape(-1, 8)
            votes += np.unpackbits(octets, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        bits = np.packbits(2 * votes > len(hashes), bitorder="little")
        result[i] = bits.view("<u8")[0]
    return result


def count_pairs(a: ShingleSets, rows_a: I64, b: ShingleSets, rows_b: I64, least: I64) -> I64:
    """Return how many shingles each pair shares, 0 where these are fewer than ``least``."""
    counts = np.zeros(len(rows_a), dtype=np.int64)
    possible = np.minimum(a.sizes()[rows_a], b.sizes()[rows_b]) >= least
    for i in np.flatnonzero(possible).tolist():
        both = np.concatenate((a[rows_a[i]], b[rows_b[i]]))
        both.sort(kind="stable")  # merges two sorted runs in linear time
        counts[i] = np.count_nonzero(both[1:] == both[:-1])
    counts[counts < least] = 0
    return counts
