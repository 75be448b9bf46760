"""Every block of the README is run; the two set-up commands by ``.ci/run``, which has a fresh machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import Block, read_blocks

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = read_blocks()
BIN = Path(sys.executable).parent


def run(command: str, folder: Path) -> str:
    """Run a command as a shell would that has this environment's programs; return all that it prints."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.decode("utf-8").replace("\r\n", "\n")


def get(name: str) -> str:
    return next(block.text for block in BLOCKS if block.name == name)


@pytest.mark.parametrize(
    "block", [b for b in BLOCKS if b.language == "python"], ids=lambda block: block.text.split("\n")[0]
)
def test_python(block: Block, tmp_path: Path) -> None:
    expected = [line.removeprefix("# -> ") for line in block.text.splitlines() if line.startswith("# -> ")]
    assert expected, "a block shows what it prints"
    code = f"import warnings; warnings.simplefilter('default')\n{block.text}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected


def test_main_job(tmp_path: Path) -> None:
    job = get("run").rsplit("&& .venv/bin/", 1)[1].replace("examples/site", str(ROOT / "examples" / "site"))
    assert run(job, tmp_path) == get("run-output")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decisions.jsonl", "kept.jsonl"]


def test_audit() -> None:
    assert run("rag-dedup audit examples/site", ROOT) == get("audit-output")


def test_url() -> None:
    assert run(get("url"), ROOT) == get("url-output")


def test_index(tmp_path: Path) -> None:
    command = get("index").replace("examples/site", str(ROOT / "examples" / "site"))
    assert run(command, tmp_path) == get("index-output")


def test_no_block_is_left_out() -> None:
    known = {"run", "run-output", "audit-output", "test", "url", "url-output", "index", "index-output"}
    for block in BLOCKS:
        audit = block.text == "rag-dedup audit examples/site\n"
        assert block.language == "python" or block.name in known or audit, block
