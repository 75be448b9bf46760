"""What importing the package costs and offers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rag_dedup
from rag_dedup import errors, kernels


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


@pytest.mark.parametrize("cache", ["writable", "nowhere"])
def test_the_compiled_kernel_is_loaded_when_asked_or_worth_it(cache: str, tmp_path: Path) -> None:
    """Also by two processes that compile at once, and where no folder can hold what was compiled."""
    code = """
import sys
from rag_dedup import Deduplicator, Document
from rag_dedup.kernels import can_warm_up, warm_up
import rag_dedup.kernels.batch as batch
dedup = Deduplicator()
dedup.dedupe([Document("a", "one two three four")])
assert "numba" not in sys.modules and can_warm_up()
"""
    code += "warm_up()" if cache == "writable" else 'dedup.dedupe([Document("b", "word " * 3_400_000)])'
    code += """
assert not can_warm_up() and batch.choose_kernel().__name__ == "rag_dedup.kernels.compiled"
print(dedup.dedupe([Document("c", "ONE two three four"), Document("d", "five six seven eight")]))
"""
    folder = tmp_path / "cache"
    if cache == "nowhere":
        folder.write_text("a file, not a folder")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        )
        for _ in range(2 if cache == "writable" else 1)
    ]
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert "id='d'" in out
        assert "id='c'" not in out


def test_without_numba_the_error_is_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not kernels.can_warm_up()
    with pytest.raises(errors.MissingExtraError, match=r"pip install 'rag-dedup\[fast\]'"):
        kernels.warm_up()


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
