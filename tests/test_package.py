"""What importing the package costs and offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rag_dedup
from rag_dedup import errors


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_are_sorted_and_there() -> None:
    assert rag_dedup.__all__ == sorted(rag_dedup.__all__, key=lambda name: (not name.isupper(), name))
    for name in rag_dedup.__all__:
        assert getattr(rag_dedup, name) is not None


def test_import_is_light() -> None:
    heavy = ("langchain_core", "llama_index", "trafilatura", "scipy", "pandas", "numba", "datasketch")
    heavy += ("matplotlib", "rich", "lxml", "semantic_text_splitter", "w3lib")
    code = "import sys, rag_dedup; rag_dedup.Deduplicator().dedupe([rag_dedup.Document('a', 'é b c d')])"
    loaded = run(f"{code}; print([name for name in {heavy} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_every_error_is_ours_and_drawn() -> None:
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.RagDedupError)
        assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("name", ["DuplicateIdError", "UnknownIdError", "MissingExtraError"])
def test_errors_survive_pickling(name: str) -> None:
    import pickle

    error = getattr(errors, name)(*(["html", "trafilatura"] if name == "MissingExtraError" else ["text"]))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
