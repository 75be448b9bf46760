"""Both kernels against the specification in plain Python."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import kernels
from rag_dedup.kernels import Kernel, arrays, batch, compiled
from rag_dedup.text import normalise, tokenise

BITS = (1 << 64) - 1
POSITION = (0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3)
KERNELS: dict[str, Kernel] = {"NumPy": arrays, "Numba": compiled}


def mix(h: int) -> int:
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD & BITS
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53 & BITS
    return h ^ (h >> 33)


def fnv(values: list[int], h: int = 0xCBF29CE484222325) -> int:
    for value in values:
        h = (h ^ value) * 0x100000001B3 & BITS
    return h


def token_hash(token: str) -> int:
    """Eight bytes at a time."""
    data = token.encode("utf-8", "surrogatepass")
    h = 0xCBF29CE484222325
    for start in range(0, len(data), 8):
        h = (h ^ int.from_bytes(data[start : start + 8], "little")) * POSITION[0] & BITS
        h ^= h >> 32
    h = h * 0xFF51AFD7ED558CCD & BITS
    return h ^ (h >> 29)


def shingle_hashes(text: str) -> list[int]:
    tokens = [token_hash(token) for token in tokenise(text)]
    if len(tokens) < 3:
        whole = normalise(text).encode("utf-8", "surrogatepass")
        return [int.from_bytes(hashlib.sha256(whole).digest()[:8], "little")] if whole else []
    windows = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return sorted({mix(sum(t * k for t, k in zip(w, POSITION, strict=True)) & BITS) for w in windows})


def exact_digest(text: str) -> bytes:
    """Characters in lower case one by one, white space folded."""
    lower = [small if len(small := char.lower()) == 1 else char for char in text]
    folded = " ".join("".join("σ" if char == "ς" else char for char in lower).split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).digest()[:16]


# What takes a way of its own: letters that change their length in UTF-8 or their number when they are
# folded, marks that join, white space and separators of all sizes, characters that are cut out.
ODD = (
    "ß ẞ İ ı ſ ς Σ ﬁ Å Å é É ё Я 𐐀 ½ ² ™ … ’ “ – · ¶ ´ ` ¨ "
    "\u00a0 \u2003 \u3000 \u2028 \u0085 \x1c \x00 \x7f \u00ad "
    "\u200b \ufeff \u0301 \u0345 \u1161 ㈀ ㎏ ﷺ Ａ ０ か\u3099 각 각 ไม้ "
    "हिन्दी 東 ひ \U00020000 \U000323af 🙂 🏳️‍🌈 "
    "\ud800 \udfff \U0010ffff x_y 1,000 don't"
).split(" ")
WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "Broker",
            "v1.2",
            "東京",
            "ひらがな",
            "한국어",
            "ภาษาไทย",
            "हिन्दी",
            "naïve",
            "x" * 150,
            "é" * 70,
            "_",
        ]
    )
    | st.lists(st.sampled_from(ODD) | st.sampled_from("aB 1"), max_size=8).map("".join),
    max_size=40,
).map(" ".join)
TEXTS = st.lists(WORDS | st.text(max_size=80), max_size=6)


@pytest.fixture(params=KERNELS, scope="module")
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return KERNELS[request.param]


def check(texts: list[str], kernel: Kernel) -> None:
    digests, sets = kernels.read(texts, kernel=kernel)
    assert [sets[i].tolist() for i in range(len(texts))] == [shingle_hashes(text) for text in texts]
    assert [digest.tobytes() for digest in digests] == [exact_digest(text) for text in texts]


class TestRead:
    @given(texts=TEXTS)
    def test_texts(self, texts: list[str], kernel: Kernel) -> None:
        check(texts, kernel)

    @pytest.mark.parametrize("odd", ODD)
    def test_each_odd_character(self, odd: str, kernel: Kernel) -> None:
        check(
            [odd, f"a{odd}b", f"one {odd} two three four", f"x {odd}{odd} {odd} y z", f"word{odd} " * 9],
            kernel,
        )

    def test_every_character(self, kernel: Kernel) -> None:
        """Each beside letters, in texts of one page of Unicode each."""
        for page in range(0, 0x110000, 0x4000):
            texts = [
                " ".join(f"a{chr(point)}b c{chr(point)}" for point in range(start, start + 64))
                for start in range(page, page + 0x4000, 1024)
            ]
            check(texts, kernel)

    @pytest.mark.parametrize("letter", ["x", "é", "東", "x é ", "ab\n"])
    def test_more_than_fits_at_a_time(self, letter: str, kernel: Kernel) -> None:
        check([letter * 9000, letter * 4096, f"{letter} " * 4097], kernel)

    def test_no_texts(self, kernel: Kernel) -> None:
        check([], kernel)


@given(TEXTS, st.integers(1, 3))
def test_kernels_and_workers_agree(texts: list[str], workers: int) -> None:
    scopes = [text[:1] for text in texts]
    permutations = kernels.make_permutations(128, 1)
    one, *others = (
        kernels.sign(texts, scopes, permutations, (21, 6), workers=threads, kernel=kernel)
        for kernel in KERNELS.values()
        for threads in (1, workers)
    )
    for other in others:
        assert np.array_equal(one.signatures(), other.signatures())
        assert np.array_equal(one.sets.values, other.sets.values)
        assert np.array_equal(one.sets.offsets, other.sets.offsets)
        assert one.keys() == other.keys()


@given(TEXTS)
def test_exact_keys_hold_the_scope(texts: list[str]) -> None:
    permutations = kernels.make_permutations(8, 1)
    here, there = (
        kernels.sign(texts, [scope] * len(texts), permutations, (2, 4)).keys() for scope in ("", "tenant")
    )
    assert not set(here) & set(there)
    digests = [exact_digest(text) for text in texts]
    assert [here.index(key) for key in here] == [digests.index(digest) for digest in digests]


@given(texts=TEXTS, seed=st.integers(0, 2**32 - 1))
def test_minhash_is_that_of_datasketch(texts: list[str], seed: int, kernel: Kernel) -> None:
    from datasketch import MinHash

    sets = kernels.shingle_sets(texts)
    signatures = kernels.minhash(sets, kernels.make_permutations(128, seed), kernel=kernel)
    for i in range(len(texts)):
        sketch = MinHash(num_perm=128, seed=seed, scheme="affine32", hashfunc=int)
        sketch.update_batch([value & 0xFFFFFFFF for value in sets[i].tolist()])
        assert np.array_equal(sketch.hashvalues, signatures[i])


@given(texts=TEXTS)
def test_simhash(texts: list[str], kernel: Kernel) -> None:
    values = kernels.simhash(kernels.shingle_sets(texts), kernel=kernel).tolist()
    for text, value in zip(texts, values, strict=True):
        hashes = shingle_hashes(text)
        assert value == sum(
            1 << bit for bit in range(64) if 2 * sum(h >> bit & 1 for h in hashes) > len(hashes)
        )


@given(values=st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=12), scope=st.text(max_size=5))
def test_band_keys(values: list[int], scope: str, kernel: Kernel) -> None:
    signature = np.array([values], dtype=np.uint32)
    start = int.from_bytes(hashlib.sha256(scope.encode()).digest()[:8], "little")
    keys = []
    for band in range(4):
        h = fnv([start, band])
        for value in values[band * 3 : band * 3 + 3]:
            h = mix(fnv([value], h))
        keys.append(h)
    found = kernels.combine_bands(signature, 4, 3, kernels.hash_scopes([scope]), kernel=kernel)
    assert found.tolist() == [keys]


SETS = st.lists(st.sets(st.integers(0, 50) | st.integers(0, BITS), max_size=30), min_size=1, max_size=5)


def to_sets(sets: list[set[int]]) -> kernels.ShingleSets:
    values = [value for members in sets for value in sorted(members)]
    offsets = np.cumsum([0, *map(len, sets)])
    return kernels.ShingleSets(np.array(values, dtype=np.uint64), offsets.astype(np.int64))


@given(SETS, SETS, st.data())
def test_count_pairs(one: list[set[int]], two: list[set[int]], data: st.DataObject) -> None:
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, len(one) - 1), st.integers(0, len(two) - 1), st.integers(0, 20)))
    )
    rows = [np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(3)]
    common = [len(one[i] & two[j]) for i, j, _ in pairs]
    expected = [count if count >= least else 0 for count, (_, _, least) in zip(common, pairs, strict=True)]
    for kernel in KERNELS.values():
        found = kernels.count_pairs(to_sets(one), rows[0], to_sets(two), rows[1], rows[2], kernel=kernel)
        assert found.tolist() == expected


@pytest.mark.parametrize("limit", [1, 7, 64])
def test_block_size_does_not_matter(limit: int, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "a rose is a rose is a rose",
        "",
        "ok",
        "東京の天気は晴れです",
        "the quick brown fox jumps over it " * 9,
    ]

    def take() -> list[np.ndarray]:
        sets = kernels.shingle_sets(texts, kernel=kernel)
        permutations = kernels.make_permutations(128, 1)
        signatures = kernels.minhash(sets, permutations, kernel=kernel)
        return [sets.values, sets.offsets, signatures, kernels.simhash(sets, kernel=kernel)]

    whole = take()
    monkeypatch.setattr(batch, "_CHARACTERS_PER_BLOCK", limit)
    monkeypatch.setattr(arrays, "_SHINGLES_PER_BLOCK", limit)
    for one, other in zip(whole, take(), strict=True):
        assert np.array_equal(one, other)


def test_one_long_line_takes_linear_time(kernel: Kernel) -> None:
    """20 MB without a space, and 20 MB of one-letter words: hours if anything were quadratic."""
    sets = kernels.shingle_sets(["x" * 20_000_001, "a b " * 5_000_000], kernel=kernel)
    assert sets.sizes().tolist() == [2, 2]
