"""From texts to arrays and back: cut a batch into blocks, read each with a kernel, put the rows in order."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rag_dedup.errors import MissingExtraError
from rag_dedup.kernels import arrays
from rag_dedup.kernels.sets import (
    I64,
    JOINED,
    U8,
    U32,
    U64,
    Bytes,
    Kernel,
    Permutations,
    Reading,
    ShingleSets,
    Signed,
)
from rag_dedup.kernels.tables import read_folds
from rag_dedup.text import normalise

__all__ = [
    "can_warm_up",
    "choose_kernel",
    "combine_bands",
    "count_pairs",
    "hash_scopes",
    "make_permutations",
    "minhash",
    "read",
    "sign",
    "simhash",
    "warm_up",
]

Result = TypeVar("Result")

_CHARACTERS_PER_BLOCK = 1 << 17
"""Characters that are read at a time: their arrays stay in the cache."""

EXACT_BYTES = 16
"""Of the SHA-256: a text that another would be taken for takes 2**128 trials."""


_COMPILED = "rag_dedup.kernels.compiled"


def choose_kernel() -> Kernel:
    """Return the compiled kernel once it is loaded, see :func:`warm_up`; until then the one in NumPy.

    Both give the same bits, so that it does not matter when the one takes over.
    """
    kernel = sys.modules.get(_COMPILED)
    # Its names are there only when the whole of it is: another thread may be loading it.
    return kernel if hasattr(kernel, "simhash") else arrays  # type: ignore[return-value]


def can_warm_up() -> bool:
    """Tell whether the compiled kernel is installed and not loaded yet."""
    return _COMPILED not in sys.modules and importlib.util.find_spec("numba") is not None


def warm_up() -> None:
    """Load the compiled kernel (extra ``fast``) and the tables, for all calls from now on.

    That takes about a second, and some ten the first time on a machine, when Numba compiles it; the machine
    code is kept in ``NUMBA_CACHE_DIR``, or beside the package, or in the user's cache, whichever can be
    written. Where none can be, each process compiles anew. Call it where a service starts, or while an
    image is built.

    Raises:
        MissingExtraError: Numba is not installed.
    """
    if importlib.util.find_spec("numba") is None:
        raise MissingExtraError("fast", "numba")
    importlib.import_module(_COMPILED)
    read_folds()


def sign(
    texts: Sequence[str],
    scopes: Sequence[str],
    permutations: Permutations,
    shape: tuple[int, int],
    *,
    workers: int = 1,
    kernel: Kernel | None = None,
) -> Signed:
    """Return exact key, shingle set and band keys of each text.

    The exact key is the first 16 bytes of the SHA-256 of the text with case and white space folded
    (:mod:`rag_dedup.kernels.arrays` says how), XORed with those of its scope.

    Args:
        texts: any.
        scopes: one for each text.
        permutations: from :func:`make_permutations`.
        shape: (bands, rows), not more values in all than there are permutations.
        workers: threads, 1 or more. The result does not depend on it.
        kernel: the implementation, by default that of :func:`choose_kernel`.

    >>> signed = sign(["A rose is  a rose", "a rose is a rose"], ["", ""], make_permutations(8, 1), (4, 2))
    >>> signed.sets.sizes().tolist(), signed.bands.shape, len(set(signed.keys()))
    ([3, 3], (2, 4), 1)
    """
    chosen = kernel or choose_kernel()
    # Values that no band reads are not needed.
    pairs = permutations[0][: shape[0] * shape[1]], permutations[1][: shape[0] * shape[1]]

    def sign_block(rows: slice) -> Signed:
        digests, sets = _read_block(texts[rows], chosen)
        block_scopes = scopes[rows]
        bands = chosen.combine_bands(chosen.minhash(sets, pairs), *shape, hash_scopes(block_scopes))
        return Signed(digests ^ digest_scopes(block_scopes), sets, bands)

    blocks = _map(sign_block, _cut_blocks(texts), workers)
    if not blocks:
        return Signed(np.empty((0, 16), np.uint8), _join_sets([]), np.empty((0, shape[0]), np.uint64))
    return Signed(
        np.concatenate([block.exact_keys for block in blocks]),
        _join_sets([block.sets for block in blocks]),
        np.concatenate([block.bands for block in blocks]),
    )


def read(texts: Sequence[str], *, workers: int = 1, kernel: Kernel | None = None) -> tuple[U8, ShingleSets]:
    """Return the exact digests ``(n, 16)``, which know of no scope, and the shingle sets.

    >>> read(["a rose is a rose is a rose", ""])[1].sizes().tolist()
    [3, 0]
    """
    chosen = kernel or choose_kernel()
    blocks = _map(lambda rows: _read_block(texts[rows], chosen), _cut_blocks(texts), workers)
    digests = [digests for digests, _ in blocks] or [np.empty((0, EXACT_BYTES), np.uint8)]
    return np.concatenate(digests), _join_sets([sets for _, sets in blocks])


def minhash(sets: ShingleSets, permutations: Permutations, *, kernel: Kernel | None = None) -> U32:
    """Return the MinHash signatures ``(n, num_perm)``; an empty set has all ones."""
    return (kernel or choose_kernel()).minhash(sets, permutations)


def combine_bands(
    signatures: npt.NDArray[np.unsignedinteger],
    bands: int,
    rows: int,
    scopes: U64,
    *,
    kernel: Kernel | None = None,
) -> U64:
    """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""
    return (kernel or choose_kernel()).combine_bands(signatures.astype(np.uint32), bands, rows, scopes)


def simhash(sets: ShingleSets, *, kernel: Kernel | None = None) -> U64:
    """Return the 64-bit SimHash of each set; the empty set gives 0.

    Bit ``i`` is set when more than half of the shingle hashes have it. Source: Charikar, Similarity
    estimation techniques from rounding algorithms, 2002.
    """
    return (kernel or choose_kernel()).simhash(sets)


def count_pairs(
    a: ShingleSets,
    rows_a: I64,
    b: ShingleSets,
    rows_b: I64,
    least: I64,
    *,
    kernel: Kernel | None = None,
) -> I64:
    """Return how many shingles each pair shares, 0 where these are fewer than ``least``.

    Args:
        a, b: shingle sets, perhaps the same ones.
        rows_a, rows_b: the pairs, ``(m,)``.
        least: for each pair how many are needed, ``(m,)``; ``ceil(t / (1 + t) * (size_a + size_b))`` for
            a Jaccard similarity of ``t``.
    """
    return (kernel or choose_kernel()).count_pairs(a, rows_a, b, rows_b, least)


def make_permutations(num_perm: int, seed: int) -> Permutations:
    """Draw the pairs ``(a, b)`` that datasketch draws for ``scheme="affine32"``; every ``a`` is odd."""
    # datasketch fixed this generator; NumPy promises that its stream never changes (NEP 19).
    generator = np.random.RandomState(seed)
    a = generator.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = generator.randint(0, 1 << 32, num_perm, dtype=np.uint32)
    return a, b


def hash_scopes(scopes: Sequence[str]) -> U64:
    """Return a 64-bit hash of each scope, which becomes part of every band key."""
    known: dict[str, int] = {}
    for scope in scopes:
        if scope not in known:
            digest = sha256(scope.encode("utf-8", "surrogatepass")).digest()
            known[scope] = int.from_bytes(digest[:8], "little")
    return np.array([known[scope] for scope in scopes], dtype=np.uint64)


def digest_scopes(scopes: Sequence[str]) -> U8:
    """Return what each scope adds to an exact key, ``(n, 16)`` uint8."""
    known = {scope: _digest_scope(scope) for scope in dict.fromkeys(scopes)}
    return np.frombuffer(b"".join([known[scope] for scope in scopes]), np.uint8).reshape(-1, EXACT_BYTES)


def _digest_scope(scope: str) -> bytes:
    return sha256(b"scope\0" + scope.encode("utf-8", "surrogatepass")).digest()[:EXACT_BYTES]


def _cut_blocks(texts: Sequence[str]) -> Iterator[slice]:
    """Cut where the next text would be too much; a text is never cut."""
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    start = 0
    while start < len(texts):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _CHARACTERS_PER_BLOCK, side="right"))
        yield slice(start, max(stop, start + 1))
        start = max(stop, start + 1)


def _map(work: Callable[[slice], Result], blocks: Iterator[slice], workers: int) -> list[Result]:
    if workers == 1:
        return list(map(work, blocks))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, blocks))


def _read_block(texts: Sequence[str], kernel: Kernel) -> tuple[U8, ShingleSets]:
    pieces = _encode(texts)
    reading = kernel.read(_lay_out(pieces), composed=False)
    exact = _slice(reading.normal)
    sets = _hash_short(reading)
    if reading.kinds.any():
        odd = np.flatnonzero(reading.kinds).tolist()
        folded = _slice(kernel.fold(_lay_out([pieces[i] for i in odd])))
        for i, view in zip(odd, folded, strict=True):
            exact[i] = view
        joined = np.flatnonzero(reading.kinds == JOINED)
        if len(joined):
            normal = _lay_out(_encode([normalise(texts[i]) for i in joined.tolist()]))
            rows = np.arange(len(texts))
            rows[joined] = len(texts) + np.arange(len(joined))
            sets = _take_rows(_join_sets([sets, _hash_short(kernel.read(normal, composed=True))]), rows)
    digests = b"".join([sha256(view).digest() for view in exact])
    return np.frombuffer(digests, dtype=np.uint8).reshape(-1, 32)[:, :EXACT_BYTES], sets


def _encode(texts: Sequence[str]) -> list[bytes]:
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError:  # half the time for all others
        return [text.encode("utf-8", "surrogatepass") for text in texts]


def _lay_out(pieces: Sequence[bytes]) -> Bytes:
    """Lay texts end to end, a line break behind each."""
    stops = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1) - 1
    starts = np.concatenate((np.zeros(1, np.int64), stops[:-1] + 1))
    return Bytes(np.frombuffer(b"\n".join((*pieces, b"")), dtype=np.uint8), starts, stops)


def _slice(texts: Bytes) -> list[memoryview]:
    view = memoryview(texts.data.data)
    return [view[start:stop] for start, stop in zip(texts.starts.tolist(), texts.stops.tolist(), strict=True)]


def _hash_short(reading: Reading) -> ShingleSets:
    """Put in the shingles that are whole texts, which take a cryptographic hash."""
    data, starts, stops = reading.normal
    for i in reading.short.tolist():
        digest = sha256(data[starts[i] : stops[i]].data).digest()
        reading.sets.values[reading.sets.offsets[i]] = int.from_bytes(digest[:8], "little")
    return reading.sets


def _join_sets(parts: Sequence[ShingleSets]) -> ShingleSets:
    if len(parts) == 1:
        return parts[0]
    offsets = np.zeros(sum(map(len, parts)) + 1, dtype=np.int64)
    if parts:
        np.cumsum(np.concatenate([part.sizes() for part in parts]), out=offsets[1:])
    return ShingleSets(np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)]), offsets)


def _take_rows(sets: ShingleSets, rows: I64) -> ShingleSets:
    sizes = sets.sizes()[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    at = np.repeat(sets.offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return ShingleSets(sets.values[at], offsets)
