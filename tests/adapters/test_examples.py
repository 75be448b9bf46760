"""The examples run, offline, and show what they say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["langchain_ingest.py", "llama_index_ingest.py"])
def test_example(name: str) -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, again, edited, gone, question = done.stdout.split("\n--- ")
    assert "dropped" in first
    assert "; 0 were embedded now" in again
    assert "; 1 were embedded now" in edited
    assert "; 4 promoted" in gone
    assert question.count("exact") == 3
