"""What every fingerprint must do; a new file in rag_dedup/fingerprint is found and tested here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_dedup.fingerprint
from rag_dedup.fingerprint import Fingerprint


def find_fingerprints() -> list[type[Any]]:
    found = []
    for module in pkgutil.iter_modules(rag_dedup.fingerprint.__path__):
        members = vars(importlib.import_module(f"rag_dedup.fingerprint.{module.name}")).values()
        found += [
            m
            for m in members
            if inspect.isclass(m) and m.__module__.endswith(module.name) and hasattr(m, "sign")
        ]
    return found


TEXTS = st.lists(
    st.text(max_size=60) | st.sampled_from(["", "ok", "東京の天気", "a rose is a rose is a rose"]), max_size=6
)


def test_all_are_found() -> None:
    assert {cls.__name__ for cls in find_fingerprints()} >= {"Exact", "SimHash", "MinHash"}


@pytest.mark.parametrize("cls", find_fingerprints(), ids=lambda cls: cls.__name__)
class TestFingerprint:
    @given(texts=TEXTS)
    def test_a_batch_is_its_members(self, cls: type[Any], texts: list[str]) -> None:
        fingerprint: Fingerprint = cls()
        batch = fingerprint.sign(texts)
        assert len(batch) == len(texts)
        for i, text in enumerate(texts):
            assert np.array_equal(fingerprint.sign([text])[0], batch[i])

    @given(texts=TEXTS)
    def test_bands_of_a_batch_are_those_of_its_members(self, cls: type[Any], texts: list[str]) -> None:
        fingerprint: Fingerprint = cls()
        scopes = ["a" if i % 2 else "" for i in range(len(texts))]
        bands = fingerprint.bands(fingerprint.sign(texts), scopes)
        assert bands.dtype == np.uint64
        assert bands.shape[0] == len(texts)
        for i, text in enumerate(texts):
            assert np.array_equal(fingerprint.bands(fingerprint.sign([text]), [scopes[i]])[0], bands[i])

    def test_equal_texts_share_every_band_and_scopes_none(self, cls: type[Any]) -> None:
        fingerprint: Fingerprint = cls()
        text = "the quick brown fox jumps over the lazy dog"
        signatures = fingerprint.sign([text, text.upper(), text])
        one, two, three = fingerprint.bands(signatures, ["", "", "tenant"])
        assert np.array_equal(one, two)
        assert not set(one.tolist()) & set(three.tolist())

    def test_scheme_names_all_that_matters(self, cls: type[Any]) -> None:
        assert cls().scheme == cls().scheme
        assert len({other().scheme for other in find_fingerprints()}) == len(find_fingerprints())

    def test_another_process_signs_the_same(self, cls: type[Any]) -> None:
        """No hash randomisation, no global state."""
        code = (
            f"from rag_dedup.fingerprint import {cls.__name__} as F; f = F();"
            "print(f.bands(f.sign(['a rose is a rose', '東京の天気は晴れ']), ['', 'x']).tolist())"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
                capture_output=True, text=True, check=True,
            ).stdout
            for seed in ("1", "2")
        }  # fmt: skip
        fingerprint: Fingerprint = cls()
        signatures = fingerprint.sign(["a rose is a rose", "東京の天気は晴れ"])
        assert outputs == {f"{fingerprint.bands(signatures, ['', 'x']).tolist()}\n"}
