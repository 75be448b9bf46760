"""Fixtures that more than one test module uses."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parent.parent

# CI machines are shared: a slow example is not a failing one.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("default"), max_examples=5000)
# A mutation need only be noticed, not shrunk to its smallest example.
settings.register_profile(
    "mutations", settings.get_profile("default"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return a function from a relative name to a file of the labelled data, which may be absent."""
    root = Path(os.environ.get("RAG_DEDUP_DATA", ROOT.parent / "shared" / "data"))

    def locate(name: str) -> Path:
        path = root / name
        if not path.exists():
            pytest.skip(f"labelled data {name} is not here (set RAG_DEDUP_DATA to its folder)")
        return path

    return locate
