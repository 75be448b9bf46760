"""When the compiled kernel is compiled, where the machine code goes, and what happens when it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rag_dedup

pytest.importorskip("numba", reason="extra fast is not installed")

PACKAGE = Path(rag_dedup.__file__).parent
SIGN = "from rag_dedup import kernels; {} print(kernels.shingle_sets(['é b c d'])[0].tolist())"
WARM = SIGN.format("kernels.warm_up(); assert kernels.choose_kernel() is not kernels.arrays;")
COLD = SIGN.format("assert kernels.choose_kernel() is kernels.arrays;")


def start(code: str, root: Path = PACKAGE.parent, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output


def test_two_processes_compile_at_once(tmp_path: Path) -> None:
    both = [start(WARM, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    outputs = {finish(process) for process in both}
    assert outputs == {finish(start(COLD))}
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}
    assert compiled
    # A third one compiles nothing, and a file that was cut short does not hurt it.
    assert finish(start(WARM, NUMBA_CACHE_DIR=str(tmp_path))) in outputs
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")} == compiled
    index = next(path for path in compiled if path.suffix == ".nbi")
    index.write_bytes(index.read_bytes()[:-9])
    assert finish(start(WARM, NUMBA_CACHE_DIR=str(tmp_path))) in outputs


def test_no_folder_can_be_written(tmp_path: Path) -> None:
    """A file stands wherever Numba would make a folder, which stops root too."""
    shutil.copytree(PACKAGE, tmp_path / "rag_dedup", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (tmp_path / "rag_dedup" / "kernels").rglob("*"):
        if folder.is_dir():
            (folder / "__pycache__").touch()
    (tmp_path / "rag_dedup" / "kernels" / "__pycache__").touch()
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "x")
    names = ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA", "USERPROFILE", "NUMBA_CACHE_DIR")
    process = start(WARM, tmp_path, **dict.fromkeys(names, nowhere))
    assert finish(process) == finish(start(COLD))
    assert not list(tmp_path.rglob("*.nb*"))
