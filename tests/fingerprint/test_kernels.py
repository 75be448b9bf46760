"""The kernels against the specification in plain Python."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import kernels
from rag_dedup.kernels import arrays
from rag_dedup.text import normalise, tokenise

BITS = (1 << 64) - 1
POSITION = (0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3)


def mix(h: int) -> int:
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD & BITS
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53 & BITS
    return h ^ (h >> 33)


def fnv(values: list[int], h: int = 0xCBF29CE484222325) -> int:
    for value in values:
        h = (h ^ value) * 0x100000001B3 & BITS
    return h


def shingle_hashes(text: str) -> list[int]:
    tokens = [mix(fnv([ord(char) for char in token])) for token in tokenise(text)]
    if len(tokens) < 3:
        whole = normalise(text).encode("utf-8", "surrogatepass")
        return [int.from_bytes(hashlib.sha256(whole).digest()[:8], "little")] if whole else []
    windows = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return sorted({mix(sum(t * k for t, k in zip(w, POSITION, strict=True)) & BITS) for w in windows})


WORDS = st.lists(
    st.sampled_from(
        ["the", "Broker", "v1.2", "東京", "ひらがな", "한국어", "ภาษาไทย", "हिन्दी", "naïve", "x" * 150, "_"]
    ),
    max_size=40,
).map(" ".join)
TEXTS = st.lists(WORDS | st.text(max_size=80), max_size=6)


@given(TEXTS)
def test_shingle_sets(texts: list[str]) -> None:
    sets = kernels.shingle_sets(texts)
    assert [sets[i].tolist() for i in range(len(texts))] == [shingle_hashes(text) for text in texts]


@given(TEXTS, st.integers(0, 2**32 - 1))
def test_minhash_is_that_of_datasketch(texts: list[str], seed: int) -> None:
    from datasketch import MinHash

    sets = kernels.shingle_sets(texts)
    signatures = kernels.minhash(sets, kernels.make_permutations(128, seed))
    for i in range(len(texts)):
        sketch = MinHash(num_perm=128, seed=seed, scheme="affine32", hashfunc=int)
        sketch.update_batch([value & 0xFFFFFFFF for value in sets[i].tolist()])
        assert np.array_equal(sketch.hashvalues, signatures[i])


@given(TEXTS)
def test_simhash(texts: list[str]) -> None:
    for text, value in zip(texts, kernels.simhash(kernels.shingle_sets(texts)).tolist(), strict=True):
        hashes = shingle_hashes(text)
        assert value == sum(
            1 << bit for bit in range(64) if 2 * sum(h >> bit & 1 for h in hashes) > len(hashes)
        )


@given(st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=12), st.text(max_size=5))
def test_band_keys(values: list[int], scope: str) -> None:
    signature = np.array([values], dtype=np.uint32)
    start = int.from_bytes(hashlib.sha256(scope.encode()).digest()[:8], "little")
    keys = []
    for band in range(4):
        h = fnv([start, band])
        for value in values[band * 3 : band * 3 + 3]:
            h = mix(fnv([value], h))
        keys.append(h)
    assert kernels.combine_bands(signature, 4, 3, kernels.hash_scopes([scope])).tolist() == [keys]


@given(st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)))
def test_count_common(a: set[int], b: set[int]) -> None:
    one, two = (np.array(sorted(values), dtype=np.uint64) for values in (a, b))
    assert kernels.count_common(one, two) == len(a & b)


@pytest.mark.parametrize("limit", [1, 7, 64])
def test_block_size_does_not_matter(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "a rose is a rose is a rose",
        "",
        "ok",
        "東京の天気は晴れです",
        "the quick brown fox jumps over it " * 9,
    ]
    sets = kernels.shingle_sets(texts)
    permutations = kernels.make_permutations(128, 1)
    signatures, simhashes = kernels.minhash(sets, permutations), kernels.simhash(sets)
    monkeypatch.setattr(arrays, "_POINTS_PER_BLOCK", limit)
    monkeypatch.setattr(arrays, "_SHINGLES_PER_BLOCK", limit)
    again = kernels.shingle_sets(texts)
    assert np.array_equal(again.values, sets.values)
    assert np.array_equal(kernels.minhash(again, permutations), signatures)
    assert np.array_equal(kernels.simhash(again), simhashes)


def test_one_long_line_takes_linear_time() -> None:
    """20 MB without a space, and 20 MB of one-letter words: hours if anything were quadratic."""
    sets = kernels.shingle_sets(["x" * 20_000_001, "a b " * 5_000_000])
    assert sets.sizes().tolist() == [2, 2]
