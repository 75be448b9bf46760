"""Every notebook runs from top to bottom."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the Jupyter client, not ours
        nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
        ).execute()
    assert all(cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code")
