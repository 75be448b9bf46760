"""The kernels in NumPy, which is always there.

Specification, all arithmetic modulo 2**64 unless said otherwise:

* ``mix(h)`` is the finaliser of MurmurHash3 (Appleby 2011, public domain).
* A token hash is FNV-1a (Fowler, Noll, Vo) over its code points, then ``mix``.
* A shingle hash is ``mix(t0 * K0 + t1 * K1 + t2 * K2)``; a text with fewer than three tokens is one
  shingle, the first eight bytes (little endian) of the SHA-256 of its normalised UTF-8 text.
* MinHash is datasketch's ``affine32``: ``min(a * mix32(h) + b)`` modulo 2**32 over the low 32 bits of
  the shingle hashes, for 128 pairs ``(a, b)`` drawn from ``numpy.random.RandomState(seed)``.
* A band key is FNV-1a over scope hash, band number and the rows of the band, then ``mix``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from rag_dedup.text import MAX_TOKEN, SHINGLE_SIZE, SINGLE, WORD, character_classes, normalise

HASH_SCHEME = "fnv-mix-1"
"""Names this specification; part of every scheme string."""

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_FNV_BASIS = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x00000100000001B3)
# Odd constants from the fractional parts of the golden ratio, e and pi.
_POSITION = np.array([0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3], dtype=np.uint64)

_POINTS_PER_BLOCK = 1 << 17
"""Code points that are classified and hashed at a time: their arrays stay in the cache."""

_SHINGLES_PER_BLOCK = 1 << 16
"""Shingles that are permuted at a time: two arrays of this size stay in the L2 cache."""


@dataclass(frozen=True, slots=True, eq=False)
class ShingleSets:
    """The shingle sets of a batch: ``values[offsets[i]:offsets[i + 1]]`` is text ``i``'s, sorted."""

    values: U64
    offsets: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> U64:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def sizes(self) -> I64:
        """Return the number of distinct shingles of each text."""
        return np.diff(self.offsets)


def mix(h: U64) -> U64:
    """Apply the 64-bit finaliser of MurmurHash3, a bijection that spreads every bit."""
    h = h ^ (h >> np.uint64(33))
    h *= np.uint64(0xFF51AFD7ED558CCD)
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


@cache
def _class_table() -> npt.NDArray[np.uint8]:
    return np.frombuffer(character_classes(), dtype=np.uint8)


def shingle_sets(texts: Sequence[str]) -> ShingleSets:
    """Return the distinct shingle hashes of each text, sorted.

    >>> shingle_sets(["a rose is a rose is a rose", ""]).sizes().tolist()
    [3, 0]
    """
    parts = [
        np.sort(hashes)
        for block in _cut_blocks([normalise(text) for text in texts])
        for hashes in _shingle_block(block)
    ]
    values = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    distinct = np.ones(len(values), dtype=bool)
    distinct[1:] = values[1:] != values[:-1]
    distinct[ends[:-1][ends[:-1] < len(values)]] = True  # a text may begin with what the last ended with
    kept = np.concatenate(([0], np.cumsum(distinct)))
    return ShingleSets(values[distinct], np.concatenate(([0], kept[ends])).astype(np.int64))


def _cut_blocks(texts: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    size = 0
    for text in texts:
        if block and size + len(text) > _POINTS_PER_BLOCK:
            yield block
            block, size = [], 0
        block.append(text)
        size += len(text) + 1
    if block:
        yield block


def _shingle_block(texts: list[str]) -> Iterator[U64]:
    """Yield the shingle hashes of each normalised text, in order, with repeats."""
    points = np.frombuffer("\n".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts, lengths = _find_tokens(points)
    tokens = _hash_tokens(points, starts, lengths)
    shingles = _hash_shingles(tokens)
    ends = np.cumsum([len(text) + 1 for text in texts])
    last = np.searchsorted(starts, ends)
    first = 0
    for text, stop in zip(texts, last.tolist(), strict=True):
        if stop - first >= SHINGLE_SIZE:
            yield shingles[first : stop - SHINGLE_SIZE + 1]
        else:
            yield _hash_whole(text)
        first = stop


def _hash_whole(text: str) -> U64:
    if not text:
        return np.empty(0, np.uint64)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.array([int.from_bytes(digest[:8], "little")], dtype=np.uint64)


def _find_tokens(points: U32) -> tuple[I64, I64]:
    """Return the start and the length of each token of a run of code points."""
    table = _class_table()
    classes = table[np.minimum(points, np.uint32(len(table) - 1))]
    word = classes == WORD
    single = classes == SINGLE
    edge = np.zeros(1, dtype=bool)
    begins = single | (word & ~np.concatenate((edge, word[:-1])))
    finishes = single | (word & ~np.concatenate((word[1:], edge)))
    starts = np.flatnonzero(begins)
    lengths = np.flatnonzero(finishes) + 1 - starts
    return _cut_long(starts, lengths)


def _cut_long(starts: I64, lengths: I64) -> tuple[I64, I64]:
    """Cut tokens longer than ``MAX_TOKEN`` into pieces."""
    if not len(lengths) or lengths.max() <= MAX_TOKEN:
        return starts, lengths
    pieces = -(-lengths // MAX_TOKEN)
    owner = np.repeat(np.arange(len(starts)), pieces)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return starts[owner] + number * MAX_TOKEN, np.minimum(lengths[owner] - number * MAX_TOKEN, MAX_TOKEN)


def _hash_tokens(points: U32, starts: I64, lengths: I64) -> U64:
    """Hash all tokens at once, a code point of each at a time, longest first so that those still
    unfinished are always a prefix."""
    order = np.argsort(MAX_TOKEN - lengths, kind="stable")
    at = starts[order]
    unfinished = np.searchsorted(-lengths[order], -np.arange(1, MAX_TOKEN + 1), side="right")
    h = np.full(len(starts), _FNV_BASIS)
    for step, count in enumerate(unfinished.tolist()):
        if not count:
            break
        h[:count] = (h[:count] ^ points[at[:count] + step]) * _FNV_PRIME
    hashes = np.empty_like(h)
    hashes[order] = mix(h)
    return hashes


def _hash_shingles(tokens: U64) -> U64:
    if len(tokens) < SHINGLE_SIZE:
        return np.empty(0, np.uint64)
    count = len(tokens) - SHINGLE_SIZE + 1
    total = np.zeros(count, np.uint64)
    for i in range(SHINGLE_SIZE):
        total += tokens[i : i + count] * _POSITION[i]
    return mix(total)


def make_permutations(num_perm: int, seed: int) -> tuple[U32, U32]:
    """Draw the pairs ``(a, b)`` that datasketch draws for ``scheme="affine32"``; every ``a`` is odd."""
    # datasketch fixed this generator; NumPy promises that its stream never changes (NEP 19).
    generator = np.random.RandomState(seed)
    a = generator.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = generator.randint(0, 1 << 32, num_perm, dtype=np.uint32)
    return a, b


def minhash(sets: ShingleSets, permutations: tuple[U32, U32]) -> U32:
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


def hash_scopes(scopes: Sequence[str]) -> U64:
    """Return a 64-bit hash of each scope, which becomes part of every band key."""
    known: dict[str, int] = {}
    for scope in scopes:
        if scope not in known:
            digest = hashlib.sha256(scope.encode("utf-8", "surrogatepass")).digest()
            known[scope] = int.from_bytes(digest[:8], "little")
    return np.array([known[scope] for scope in scopes], dtype=np.uint64)


def combine_bands(signatures: npt.NDArray[np.unsignedinteger], bands: int, rows: int, scopes: U64) -> U64:
    """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""
    n = len(signatures)
    values = signatures[:, : bands * rows].astype(np.uint64).reshape(n, bands, rows)
    h: U64 = (_FNV_BASIS ^ scopes[:, None]) * _FNV_PRIME
    h = (h ^ np.arange(bands, dtype=np.uint64)[None, :]) * _FNV_PRIME
    for row in range(rows):
        # Mixing at each row, since FNV alone does not carry high bits down.
        h = mix((h ^ values[:, :, row]) * _FNV_PRIME)
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


def count_common(a: U64, b: U64) -> int:
    """Return how many values two sorted arrays of distinct values share."""
    both = np.concatenate((a, b))
    both.sort(kind="stable")  # merges two sorted runs in linear time
    return int(np.count_nonzero(both[1:] == both[:-1]))
