"""The case tables beside this file: a case is added there, without Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES = Path(__file__).parent / "cases"


def read_cases(name: str) -> dict[str, Any]:
    """Return the table ``name``."""
    return tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))
