"""What each fingerprint promises on its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import MinHash, SimHash, simhash
from rag_dedup.errors import ConfigurationError
from rag_dedup.fingerprint import choose_bands
from rag_dedup.fingerprint.simhash import distance, from_hex, to_hex

TEXT = "the broker keeps a log of all messages that a client sends to a topic and hands them out in order"


class TestMinHash:
    @given(st.floats(0.05, 1.0), st.integers(16, 256))
    def test_bands_reach_the_recall_with_the_longest_rows(self, threshold: float, num_perm: int) -> None:
        def recall(bands: int, rows: int) -> float:
            return 1 - (1 - threshold**rows) ** bands

        bands, rows = choose_bands(threshold, num_perm)
        assert bands * rows <= num_perm
        assert recall(bands, rows) >= 0.99 or rows == 1
        assert rows == num_perm or recall(num_perm // (rows + 1), rows + 1) < 0.99

    def test_estimates_the_jaccard_similarity(self) -> None:
        fingerprint = MinHash(num_perm=2048)
        words = [f"w{i}" for i in range(102)]
        a, b = fingerprint.sign([" ".join(words[:82]), " ".join(words[20:])])
        assert fingerprint.estimate(a, b) == pytest.approx(60 / 100, abs=0.05)

    def test_converts_to_datasketch_and_back(self) -> None:
        import datasketch

        fingerprint = MinHash(seed=7)
        signature = fingerprint.sign([TEXT])[0]
        sketch = fingerprint.to_datasketch(signature)
        assert isinstance(sketch, datasketch.MinHash)
        lsh = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
        lsh.insert("a", sketch)
        assert lsh.query(fingerprint.to_datasketch(fingerprint.sign([TEXT.upper()])[0])) == ["a"]
        assert np.array_equal(fingerprint.from_datasketch(sketch), signature)

    @pytest.mark.parametrize("settings", [{"seed": 2}, {"num_perm": 64}, {"scheme": "legacy"}])
    def test_refuses_another_scheme(self, settings: dict[str, object]) -> None:
        import datasketch

        sketch = datasketch.MinHash(**{"num_perm": 128, "seed": 1, "scheme": "affine32", **settings})
        with pytest.raises(ConfigurationError, match="needed is scheme='affine32', seed=1, num_perm=128"):
            MinHash().from_datasketch(sketch)

    @pytest.mark.parametrize("settings", [{"threshold": 0}, {"num_perm": 0}, {"seed": -1}, {"seed": 2**32}])
    def test_settings_out_of_range(self, settings: dict[str, int]) -> None:
        with pytest.raises(ConfigurationError, match=next(iter(settings))):
            MinHash(**settings)  # type: ignore[arg-type]

    def test_every_setting_changes_the_scheme(self) -> None:
        variants = [MinHash(), MinHash(seed=2), MinHash(num_perm=64), MinHash(threshold=0.5)]
        assert len({fingerprint.scheme for fingerprint in variants}) == len(variants)


class TestSimHash:
    def test_one_word_moves_few_bits(self) -> None:
        assert 0 < distance(simhash(TEXT), simhash(TEXT.replace("hands", "gives"))) < 24
        assert distance(simhash(TEXT), simhash("something else altogether is written in this text")) > 16

    def test_empty(self) -> None:
        assert simhash("") == 0

    @given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 63), max_size=3))
    def test_three_bits_apart_still_share_a_band(self, value: int, flips: list[int]) -> None:
        other = value
        for bit in flips:
            other ^= 1 << bit
        bands = SimHash().bands(np.array([value, other], dtype=np.uint64), ["", ""])
        assert set(bands[0].tolist()) & set(bands[1].tolist())

    @given(st.integers(0, 2**64 - 1))
    def test_hexadecimal_form(self, value: int) -> None:
        assert from_hex(to_hex(value)) == value

    @pytest.mark.parametrize("text", ["", "0x1", "g", "1" * 17, " 1", "-1", "1_0"])
    def test_not_hexadecimal(self, text: str) -> None:
        with pytest.raises(ConfigurationError, match="not a 64-bit fingerprint"):
            from_hex(text)

    def test_reads_what_trafilatura_writes(self) -> None:
        deduplication = pytest.importorskip("trafilatura.deduplication", reason="extra html is not installed")
        stored = deduplication.content_fingerprint(TEXT)
        assert from_hex(stored) == deduplication.Simhash(TEXT).hash
