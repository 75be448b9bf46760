"""Both kernels against the specification in plain Python."""

from __future__ import annotations

import unicodedata
from itertools import count, islice
from types import ModuleType

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_dedup import kernels
from rag_dedup.kernels import ShingleSets, arrays, batch
from tests import oracle

SHAPE = (4, 3)
PERMUTATIONS = kernels.make_permutations(12, 1)

SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))
INVISIBLE = "\x00\x7f\xad\u061c\u115f\u200b\u200d\u2060\ufe0f\ufeff\U000e0001"
CASES = "aAzZ_9ıİſßẞΣσςﬁǅÅÅµΜϴΩЀԱႠᏸꭰＡ𐐀\u0345ᾳ"
MARKS = "aeAE\u0300\u0301\u0323\u0316\u0345\u093c\u0e38\u1100\u1161\u11a8가각ｶﾞかが\u3099\u09c7\u09be"
ODD = "\ud800\udfff\ud83d\U0010ffff\U000323af\U000323b0\ufdfa€￿𠮷🙂’¶—東京ไทය한"
WORDS = (
    "the",
    "Broker",
    "v1.2",
    "東京",
    "ひらがな",
    "한국어",
    "ภาษาไทย",
    "हिन्दी",
    "naïve",
    "don’t",
    "x" * 150,
    "_",
)

TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
    st.text(st.characters(max_codepoint=127), max_size=80),
    st.text(st.characters(), max_size=60),
    *(
        st.text(st.sampled_from(chars + "ab \n"), max_size=60)
        for chars in (SPACES, INVISIBLE, CASES, MARKS, ODD)
    ),
    st.text(st.sampled_from(SPACES + INVISIBLE + CASES + MARKS + ODD), max_size=60),
)
TEXTS = st.lists(TEXT, max_size=6)
SETS = st.lists(st.sets(st.integers(0, 40), max_size=30), min_size=1, max_size=5)


@pytest.fixture(scope="module", params=["arrays", "compiled"])
def kernel(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "arrays":
        return arrays
    return pytest.importorskip("rag_dedup.kernels.compiled", reason="extra fast is not installed")


def sign(texts: list[str], scopes: list[str], kernel: ModuleType, workers: int = 1) -> kernels.Signed:
    return kernels.sign(texts, scopes, PERMUTATIONS, SHAPE, workers=workers, kernel=kernel)


def make_sets(sets: list[set[int]]) -> ShingleSets:
    values = np.array([value for one in sets for value in sorted(one)], dtype=np.uint64)
    return ShingleSets(values, np.cumsum([0, *map(len, sets)], dtype=np.int64))


def assert_specified(texts: list[str], kernel: ModuleType) -> None:
    scopes = ["a" if i % 2 else "" for i in range(len(texts))]
    signed = sign(texts, scopes, kernel)
    expected = [oracle.hash_shingles(text) for text in texts]
    assert [signed.sets[i].tolist() for i in range(len(texts))] == expected
    assert signed.keys() == [oracle.exact_key(*row) for row in zip(texts, scopes, strict=True)]
    minima = kernels.minhash(signed.sets, PERMUTATIONS, kernel=arrays).tolist()
    assert signed.bands.tolist() == [
        oracle.band_keys(row, *SHAPE, scope) for row, scope in zip(minima, scopes, strict=True)
    ]


@given(TEXTS)
@example([])
@example(["", "\0", " \0 ", "a\0b c d", "\x1c\x1da\x1eb\x1f", "a b c", "C++", "é", "a b c", "’ a b c"])
def test_texts(kernel: ModuleType, texts: list[str]) -> None:
    assert_specified(texts, kernel)


def test_every_character(kernel: ModuleType) -> None:
    """Alone, so that it is a whole text, and between letters, so that it joins or separates."""
    points = [*range(0x3400), *range(0xA000, 0xAC10), *range(0xD7A0, 0xE000), *range(0xF900, 0x11000)]
    points += [*range(0x11000, 0x20000, 7), *range(0x32300, 0x32400), *range(0xE0000, 0xE0200), 0x10FFFF]
    texts = [f"a b {chr(point)}c{chr(point)} \n{chr(point)}" for point in points]
    assert_specified(texts, kernel)
    assert_specified([chr(point) for point in points], kernel)


@pytest.mark.parametrize(
    "unit", ["a ", "w{i} ", "東", "é{i},", "x" * 70, "🙂 ", "\ufdfa", "{i}", "日{i}e\u0301"]
)
def test_texts_that_are_read_in_pieces(kernel: ModuleType, unit: str) -> None:
    """A compiled kernel keeps 4096 starts and ends of tokens at a time; pieces end anywhere."""
    text = "".join(unit.format(i=i) for i in range(5000))
    assert_specified([text, *(text[: 4090 + i] for i in range(12)), text[1:8200]], kernel)


def test_shingles_that_crowd_a_bucket(kernel: ModuleType) -> None:
    """Hashes are sorted by their first bits: here most have the same ones, in different shingles."""
    candidates = (f"a b w{i}" for i in count())
    crowd = list(islice((text for text in candidates if oracle.hash_shingles(text)[0] >> 57 == 9), 60))
    spread = " ".join(f"v{i}" for i in range(300))
    assert_specified([" ".join(crowd), " ".join(crowd) + spread, "the " * 100 + spread, "é " * 200], kernel)


def test_marks_beyond_the_longest_run(kernel: ModuleType) -> None:
    assert_specified(["a" + "\u0301\u0316" * 100 + "b c d", "\u0301" * 99], kernel)


def test_every_composition(kernel: ModuleType) -> None:
    """Texts are folded character by character but for those that may join the one before them."""
    parts = [unicodedata.decomposition(chr(point)).split() for point in range(0x323B0)]
    pairs = [
        "".join(chr(int(part, 16)) for part in pair) for pair in parts if len(pair) == 2 and pair[0][0] != "<"
    ]
    assert len(pairs) > 1000
    pairs += [chr(jamo) + "\u1161" for jamo in range(0x1100, 0x1113)]
    pairs += ["가" + chr(jamo) for jamo in range(0x11A7, 0x11C3)]
    assert_specified([f"a b c{pair} d" for pair in pairs], kernel)


@given(TEXTS, st.integers(0, 2**32 - 1))
def test_minhash_is_that_of_datasketch(kernel: ModuleType, texts: list[str], seed: int) -> None:
    from datasketch import MinHash

    sets = kernels.shingle_sets(texts, kernel=kernel)
    signatures = kernels.minhash(sets, kernels.make_permutations(128, seed), kernel=kernel)
    for i in range(len(texts)):
        sketch = MinHash(num_perm=128, seed=seed, scheme="affine32", hashfunc=int)
        sketch.update_batch([value & 0xFFFFFFFF for value in sets[i].tolist()])
        assert np.array_equal(sketch.hashvalues, signatures[i])


@given(st.lists(st.sets(st.integers(0, 2**64 - 1), max_size=9), max_size=4))
def test_simhash(kernel: ModuleType, sets: list[set[int]]) -> None:
    assert kernels.simhash(make_sets(sets), kernel=kernel).tolist() == [
        oracle.simhash(sorted(one)) for one in sets
    ]


@given(st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=12), st.text(max_size=5))
def test_band_keys(kernel: ModuleType, values: list[int], scope: str) -> None:
    signature = np.array([values], dtype=np.uint32)
    keys = kernels.combine_bands(signature, *SHAPE, kernels.hash_scopes([scope]), kernel=kernel)
    assert keys.tolist() == [oracle.band_keys(values, *SHAPE, scope)]


@given(SETS, SETS, st.data())
def test_shared_shingles_of_pairs(
    kernel: ModuleType, a: list[set[int]], b: list[set[int]], data: st.DataObject
) -> None:
    rows = st.tuples(st.integers(0, len(a) - 1), st.integers(0, len(b) - 1), st.integers(0, 12))
    pairs = data.draw(st.lists(rows, max_size=9))
    rows_a, rows_b, least = np.array(pairs, dtype=np.int64).reshape(-1, 3).T.copy()
    shared = [(len(a[i] & b[j]), needed) for i, j, needed in pairs]
    counts = kernels.count_pairs(make_sets(a), rows_a, make_sets(b), rows_b, least, kernel=kernel)
    assert counts.tolist() == [common if common >= needed else 0 for common, needed in shared]


@pytest.mark.parametrize("limit", [1, 7, 64])
def test_neither_blocks_nor_threads_matter(
    kernel: ModuleType, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        "a rose is a rose is a rose",
        "",
        "ok",
        "東京の天気は晴れです",
        "a\0b c d e",
        "it isn’t over yet " * 9,
    ]
    scopes = list("abcabc")
    whole = sign(texts, scopes, kernel)
    monkeypatch.setattr(batch, "_CHARACTERS_PER_BLOCK", limit)
    monkeypatch.setattr(arrays, "_SHINGLES_PER_BLOCK", limit)
    for workers in (1, 3):
        parts = sign(texts, scopes, kernel, workers)
        assert np.array_equal(parts.signatures(), whole.signatures())
        assert np.array_equal(parts.sets.values, whole.sets.values)
        assert np.array_equal(parts.sets.offsets, whole.sets.offsets)
        assert np.array_equal(
            kernels.simhash(parts.sets, kernel=kernel), kernels.simhash(whole.sets, kernel=arrays)
        )


def test_one_long_line_takes_linear_time(kernel: ModuleType) -> None:
    """20 MB without a space, and 20 MB of one-letter words: hours if anything were quadratic."""
    sets = kernels.shingle_sets(["x" * 20_000_001, "a b " * 5_000_000], kernel=kernel)
    assert sets.sizes().tolist() == [2, 2]
