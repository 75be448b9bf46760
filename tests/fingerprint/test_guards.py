"""Guards, on pairs kept as data: tests/data/guards/*.toml."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import DEFAULT_GUARDS, Guard
from rag_dedup.guard import compare_marks, find_numbers, read_marks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent.parent / "data" / "guards"
PAIRS: list[Any] = [
    pytest.param(pair, id=f"{path.stem}-{i}")
    for path in sorted(FOLDER.glob("*.toml"))
    for i, pair in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["pair"])
]


def find_guard(a: str, b: str) -> str | None:
    hit = compare_marks(DEFAULT_GUARDS, read_marks(DEFAULT_GUARDS, a), read_marks(DEFAULT_GUARDS, b))
    return hit.kind if hit else None


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs(pair: dict[str, str]) -> None:
    expected = pair.get("guard")
    assert find_guard(pair["a"], pair["b"]) == expected
    assert find_guard(pair["b"], pair["a"]) == expected
    assert find_guard(pair["a"], pair["a"]) is None


@given(st.text())
def test_numbers_hold_every_digit(text: str) -> None:
    """What the raw digit sequences tell apart, the guard tells apart."""
    digits = "".join(str(int(char)) for char in text if re.match(r"\d", char))
    assert "".join(re.findall(r"\d", "".join(find_numbers(text)))) == digits


@given(st.text(), st.text())
def test_symmetric(a: str, b: str) -> None:
    one, two = (read_marks(DEFAULT_GUARDS, text) for text in (a, b))
    there, back = compare_marks(DEFAULT_GUARDS, one, two), compare_marks(DEFAULT_GUARDS, two, one)
    assert (there is None) == (back is None)
    if there and back:
        assert (there.kind, there.here, there.there) == (back.kind, back.there, back.here)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 300_000,
        "1." * 150_000,
        "v1." * 100_000,
        "n't" * 100_000,
        "'" * 300_000,
        "不" * 300_000,
        "1.2.3." * 50_000 + "x",
    ],
    ids=lambda text: text[:6],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    read_marks(DEFAULT_GUARDS, text)


def test_a_guard_of_ones_own() -> None:
    city = Guard("city", re.compile(r"\b(?:Oslo|Lima)\b").findall)
    marks = [read_marks((city,), text) for text in ("Open in Oslo", "Open in Lima")]
    assert compare_marks((city,), *marks) == ("city", "Oslo", "Lima")
