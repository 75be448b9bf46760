"""Break each law's code once and see its tests fail: ``python tests/mutations.py``.

Each mutation in ``data/mutations.toml`` is one replacement in a copy of the tree; a test must fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
TESTS = "tests/engine/test_histories.py tests/engine/test_laws.py tests/engine/test_threads.py"


def is_noticed(mutation: dict[str, str]) -> bool:
    """Tell whether a test fails under the mutation."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("rag_dedup", "tests"):
            shutil.copytree(ROOT / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        target = Path(folder, "rag_dedup", mutation["file"])
        code = target.read_text(encoding="utf-8")
        if code.count(mutation["old"]) != 1:
            raise SystemExit(f"law {mutation['law']}: the code to break is not there exactly once")
        target.write_text(code.replace(mutation["old"], mutation["new"]), encoding="utf-8")
        result = subprocess.run(
            [*PYTEST, *mutation.get("tests", TESTS).split()],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder, "HYPOTHESIS_PROFILE": "mutations"},
            capture_output=True,
            text=True,
        )
    if result.returncode not in (0, 1):
        raise SystemExit(f"law {mutation['law']}: pytest did not run\n{result.stdout}{result.stderr}")
    return result.returncode == 1


def read_mutations() -> list[dict[str, str]]:
    """Return the mutations, each a law, a file, the old code and the new."""
    text = (ROOT / "tests" / "data" / "mutations.toml").read_text(encoding="utf-8")
    mutations: list[dict[str, str]] = tomllib.loads(text)["mutation"]
    return mutations


def main() -> int:
    """Print a line for each mutation; return the number that no test noticed."""
    mutations = read_mutations()
    survived = 0
    for mutation in mutations:
        noticed = is_noticed(mutation)
        survived += not noticed
        print(f"{'killed  ' if noticed else 'SURVIVED'}  law {mutation['law']}", flush=True)
    print(f"{len(mutations) - survived} of {len(mutations)} mutations killed")
    return survived


if __name__ == "__main__":
    raise SystemExit(main())
