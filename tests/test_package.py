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


def test_public_names_are_loaded_when_they_are_used() -> None:
    assert {*rag_dedup.__all__} <= {*dir(rag_dedup)}
    assert run("import sys, rag_dedup; print('numpy' in sys.modules)").strip() == "False"
    code = "from rag_dedup import *; print(canonicalize_url('HTTP://a.b'), Document('a', 'b').id)"
    assert run(code).split() == ["https://a.b/", "a"]
    with pytest.raises(AttributeError, match="has no attribute 'Dedup'"):
        rag_dedup.Dedup  # noqa: B018


def test_import_is_light() -> None:
    heavy = ("langchain_core", "llama_index", "trafilatura", "scipy", "pandas", "numba", "datasketch")
    heavy += ("matplotlib", "rich", "lxml", "semantic_text_splitter", "w3lib")
    code = "import sys, rag_dedup; rag_dedup.Deduplicator().dedupe([rag_dedup.Document('a', 'é b c d')])"
    loaded = run(f"{code}; print([name for name in {heavy} if name in sys.modules])")
    assert loaded.strip() == "[]"


KERNEL = """
import sys
from rag_dedup import Deduplicator, Document
from rag_dedup.kernels import can_warm_up, warm_up
from rag_dedup.kernels.batch import choose_kernel
dedup = Deduplicator()
dedup.dedupe([Document("a", "one two three four")])
assert "numba" not in sys.modules and can_warm_up()
%s
print(choose_kernel().__name__)
more = [Document("c", "ONE two three four"), Document("d", "five six seven eight")]
print([d.id for d in dedup.dedupe(more)])
"""
LARGE = 'dedup.dedupe([Document("b", "word " * 3_400_000)])'


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", KERNEL % code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_two_processes_compile_at_once(tmp_path: Path) -> None:
    processes = [start("warm_up()", NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    for process in processes:
        out, err = process.communicate()
        assert (out, err) == ("rag_dedup.kernels.compiled\n['d']\n", "")
    assert list(tmp_path.rglob("*.nbi"))


def test_a_large_call_loads_the_compiled_kernel() -> None:
    out, err = start(LARGE).communicate()
    assert (out, err) == ("rag_dedup.kernels.compiled\n['d']\n", "")


def test_no_folder_can_hold_what_is_compiled() -> None:
    hide = "import numba.core.caching as caching; caching.CacheImpl._locator_classes = []; "
    out, err = start(hide + "warm_up()").communicate()
    assert (out, err) == ("rag_dedup.kernels.compiled\n['d']\n", "")


def test_a_numba_that_cannot_be_imported(tmp_path: Path) -> None:
    """A large call goes on without it and says so; who asks for it is told why not."""
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    out, err = start(LARGE, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])).communicate()
    assert out == "rag_dedup.kernels.arrays\n['d']\n"
    assert err.startswith("Numba is installed but cannot be imported: slower without it\n")
    assert "Numba needs NumPy 1.0 or less" in err
    out, err = start("warm_up()", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])).communicate()
    assert err.endswith("ImportError: Numba needs NumPy 1.0 or less\n")


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
