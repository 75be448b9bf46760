"""The code that ``python tests/mutations.py`` breaks is there to be broken."""

from __future__ import annotations

import pytest

from tests.mutations import ROOT, read_mutations


@pytest.mark.parametrize("mutation", read_mutations(), ids=lambda mutation: mutation["law"])
def test_code_is_there_once(mutation: dict[str, str]) -> None:
    code = (ROOT / "rag_dedup" / mutation["file"]).read_text(encoding="utf-8")
    assert code.count(mutation["old"]) == 1
    assert mutation["old"] != mutation["new"]
