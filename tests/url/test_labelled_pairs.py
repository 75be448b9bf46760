"""The labelled pairs: how many are merged wrongly, and how many are missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_dedup.url import SAFE, WEB, UrlPolicy, canonicalize_url


@pytest.fixture(scope="module")
def pairs(shared_data: Callable[[str], Path]) -> list[dict[str, Any]]:
    with shared_data("urls/pairs.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def scored(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [pair for pair in pairs if pair["tier"] in ("must", "policy", "domain")]


def is_same(a: str, b: str) -> bool:
    """Tell whether SAFE makes one page of them; no key never equals no key."""
    key = canonicalize_url(a, SAFE)
    return bool(key) and key == canonicalize_url(b, SAFE)


def test_safe_merges_no_two_pages(scored: list[dict[str, Any]]) -> None:
    assert [p["id"] for p in scored if not p["same"] and is_same(p["a"], p["b"])] == []


def test_safe_misses_at_most_one_percent(scored: list[dict[str, Any]]) -> None:
    same = [p for p in scored if p["same"]]
    assert len([p["id"] for p in same if not is_same(p["a"], p["b"])]) <= 0.01 * len(same)


@pytest.mark.parametrize("policy", [SAFE, WEB], ids=["SAFE", "WEB"])
def test_the_key_of_a_key_is_the_key(pairs: list[dict[str, Any]], policy: UrlPolicy) -> None:
    for pair in pairs:
        for url in (pair["a"], pair["b"]):
            key = canonicalize_url(url, policy)
            assert canonicalize_url(key, policy) == key
