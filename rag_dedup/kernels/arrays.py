"""The kernels in NumPy, which is always there.

Specification, all arithmetic modulo 2**64 unless said otherwise:

* ``mix(h)`` is the finaliser of MurmurHash3 (Appleby 2011, public domain).
* A token hash starts from the basis of FNV-1a and takes the UTF-8 bytes of the token eight at a time,
  each group a little-endian number ``w``, the last filled up with zeros (no token holds a NUL):
  ``h = (h ^ w) * K0``, ``h ^= h >> 32``. At last ``h *= M``, the first factor of ``mix``, ``h ^= h >> 29``.
* A shingle hash is ``mix(t0 * K0 + t1 * K1 + t2 * K2)``; a text with fewer than three tokens is one
  shingle, the first eight bytes (little endian) of the SHA-256 of its normalised UTF-8 text.
* MinHash is datasketch's ``affine32``: ``min(a * mix32(h) + b)`` modulo 2**32 over the low 32 bits of
  the shingle hashes, for 128 pairs ``(a, b)`` drawn from ``numpy.random.RandomState(seed)``.
* A band key is FNV-1a (Fowler, Noll, Vo) over scope hash, band number and the rows of the band, with a
  ``mix`` after each row; the scope hash is the first eight bytes of the SHA-256 of the scope.
* An exact key is the first 16 bytes of the SHA-256 of the folded text, XORed with those of the SHA-256 of
  ``scope``, a NUL and the scope. The folded text has white space folded and each character in lower case,
  one for one: final sigma is sigma, and only U+0130 stays as it is, for its lower case is two characters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag_dedup.kernels.sets import (
    FOLDED,
    I64,
    JOINED,
    PLAIN,
    U8,
    U32,
    U64,
    Bytes,
    Permutations,
    Reading,
    ShingleSets,
)
from rag_dedup.kernels.tables import ASCII_LOWER, HEAD, ODD, SPACE, TAIL, Forms, read_folds
from rag_dedup.text import LAST_ASSIGNED, MAX_TOKEN, SHINGLE_SIZE, WORD

__all__ = [
    "combine_bands",
    "count_pairs",
    "fold",
    "minhash",
    "mix",
    "read",
    "simhash",
]

FNV_BASIS = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x00000100000001B3)
FINISH = np.uint64(0xFF51AFD7ED558CCD)
# Odd constants from the fractional parts of the golden ratio, e and pi.
POSITION = np.array([0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3], dtype=np.uint64)
# The first n bytes of a group of eight.
FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)

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


def read(texts: Bytes, composed: bool) -> Reading:
    """Normalise and shingle texts. Those that are ``composed`` already have nothing to join."""
    kinds = np.zeros(len(texts.starts), dtype=np.uint8)
    data, flags, starts, stops, rows, points = _replace(texts, read_folds().normal)
    found = read_folds().kinds[np.minimum(points, LAST_ASSIGNED)]
    kinds[rows[found != PLAIN]] = FOLDED
    if not composed:
        kinds[rows[found == JOINED]] = JOINED
    kept, starts, stops = _fold_spaces(flags == SPACE, starts, stops)
    if kept is not None:
        data, flags = data[kept], flags[kept]
    sets, short = _shingle(data, *_find_tokens(data, flags), starts, stops)
    return Reading(Bytes(data, starts, stops), sets, short, kinds)


def fold(texts: Bytes) -> Bytes:
    """Fold case and white space."""
    data, flags, starts, stops, _, _ = _replace(texts, read_folds().lower)
    kept, starts, stops = _fold_spaces(flags == SPACE, starts, stops)
    return Bytes(data if kept is None else data[kept], starts, stops)


def _replace(texts: Bytes, forms: Forms) -> tuple[U8, U8, I64, I64, I64, U32]:
    """Replace characters by their forms.

    Returns:
        Bytes, their flags, where texts start and stop; for each character that was looked up, the row of
        its text and its code point.
    """
    data, starts, stops = texts
    flags, lower = _translate(data, forms.plain), _translate(data, ASCII_LOWER)
    at = np.flatnonzero(flags == ODD)
    rows = np.searchsorted(starts, at, side="right") - 1
    points, widths = _decode(data, at)
    if not len(at):
        return lower, flags, starts, stops, rows, points
    known = points < LAST_ASSIGNED
    flags[at[~known]] = 0
    at, widths, known_points = at[known], widths[known], points[known]
    sizes = forms.size[known_points].astype(np.int64)
    grown = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes - widths)))
    old, _ = _spread(at, widths)
    new, within = _spread(at + grown[:-1], sizes)
    source = np.repeat(forms.first[known_points].astype(np.int64), sizes) + within
    stays, comes = np.ones(len(data), dtype=bool), np.ones(len(data) + grown[-1], dtype=bool)
    stays[old] = comes[new] = False
    formed, formed_flags = np.empty((2, len(comes)), dtype=np.uint8)
    for target, plain, form in ((formed, lower, forms.data), (formed_flags, flags, forms.flags)):
        target[comes] = plain[stays]
        target[new] = form[source]
    starts = starts + grown[np.searchsorted(at, starts)]
    stops = stops + grown[np.searchsorted(at, stops)]
    return formed, formed_flags, starts, stops, rows, points


def _translate(data: U8, table: U8) -> U8:
    # Half the time of table[data], which makes each byte an index of eight.
    return np.frombuffer(bytearray(data).translate(table.tobytes()), dtype=np.uint8)


def _decode(data: U8, at: I64) -> tuple[U32, I64]:
    """Return the code points whose bytes start at ``at``, and how many bytes they have."""
    lead = data[at].astype(np.uint32)
    widths = 1 + (lead >= 0xC0).astype(np.int64) + (lead >= 0xE0) + (lead >= 0xF0)
    points = lead & np.array([0, 0x7F, 0x1F, 0x0F, 0x07], dtype=np.uint32)[widths]
    for i in range(1, 4):
        # A text never ends with less than the bytes of its last character.
        more = np.flatnonzero(widths > i)
        points[more] = (points[more] << np.uint32(6)) | (data[at[more] + i] & np.uint32(0x3F))
    return points, widths


def _spread(starts: I64, sizes: I64) -> tuple[I64, I64]:
    """Return the positions of runs, and the number of each within its run."""
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(starts, sizes) + within, within


def _fold_spaces(
    space: npt.NDArray[np.bool_], starts: I64, stops: I64
) -> tuple[npt.NDArray[np.bool_] | None, I64, I64]:
    """Find the first of each run of spaces.

    Returns:
        What to keep, ``None`` for everything, and where each text then starts and stops.
    """
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
    filled = stops > starts
    ended[filled] = space[stops[filled] - 1]
    return kept, first, np.maximum(last - (ended & (last > first)), first)


def _find_tokens(data: U8, flags: U8) -> tuple[I64, I64]:
    """Return where each token begins and where it ends; white space is last, so that it does end."""
    edge = np.zeros(1, dtype=bool)
    head, word = flags == HEAD, flags == WORD
    alone = head | (flags == TAIL)
    begins = np.flatnonzero(head | (word & ~np.concatenate((edge, word[:-1]))))
    ends = (word[:-1] & ~word[1:]) | (alone[:-1] & (flags[1:] != TAIL))
    finishes = np.flatnonzero(ends) + 1
    if (finishes - begins).max(initial=0) <= MAX_TOKEN:
        return begins, finishes
    return _cut_long(data, begins, finishes)


def _cut_long(data: U8, begins: I64, finishes: I64) -> tuple[I64, I64]:
    """Cut tokens longer than ``MAX_TOKEN`` code points into pieces."""
    leads = (data & 0xC0) != 0x80
    edges = np.flatnonzero(leads)
    number_of = np.cumsum(leads) - 1  # of the code point that a byte is of
    begins, finishes = number_of[begins], number_of[finishes]
    pieces = -(-(finishes - begins) // MAX_TOKEN)
    cuts, within = _spread(begins, pieces)
    cuts += within * (MAX_TOKEN - 1)
    return edges[cuts], edges[np.minimum(np.repeat(finishes, pieces), cuts + MAX_TOKEN)]


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
    h = _take_group(h, groups[begins] & FIRST[np.minimum(lengths, 8)])
    going = np.flatnonzero(lengths > 8)
    step = 8
    while len(going):
        taken = groups[begins[going] + step] & FIRST[np.minimum(lengths[going] - step, 8)]
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
