"""What was learned can be kept, moved and put together, and damage is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import SegmentCache, strip_boilerplate
from rag_dedup.errors import ConfigurationError, CorruptIndexError, SchemeMismatchError
from rag_dedup.tally import Tally
from tests.boilerplate.sites import SITES

PAGES = [page for site in SITES for page in site.pages]


def learn(pages: list, **settings: object) -> SegmentCache:  # type: ignore[type-arg]
    cache = SegmentCache(**settings)  # type: ignore[arg-type]
    cache.observe(pages)
    return cache


def test_a_saved_cache_strips_the_same_and_learns_on(tmp_path: Path) -> None:
    cache = learn(PAGES[:60], max_repetitions=3, groups={"a.example": "b"})
    cache.save(tmp_path / "segments")
    loaded = SegmentCache.load(tmp_path / "segments")
    assert list(tmp_path.iterdir()) == [tmp_path / "segments"]
    assert (loaded.max_repetitions, loaded.groups) == (3, {"a.example": "b"})
    assert loaded.strip(PAGES) == cache.strip(PAGES)
    for each in (loaded, cache):
        each.observe(PAGES[60:])
    assert loaded.strip(PAGES) == cache.strip(PAGES)
    assert loaded.to_bytes() == cache.to_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_workers_together_know_what_one_would(seed: int) -> None:
    shuffled = random.Random(seed).sample(PAGES, len(PAGES))
    parts = [learn(shuffled[i::4]) for i in range(4)]
    random.Random(seed + 9).shuffle(parts)
    together = SegmentCache()
    for part in (*parts, parts[0]):  # one of them twice
        together.merge(part)
    assert together.strip(PAGES) == strip_boilerplate(PAGES)
    generation = together.generation
    together.merge(parts[2])
    assert together.generation == generation


def test_a_cache_merges_with_itself() -> None:
    cache = learn(PAGES)
    expected = cache.strip(PAGES)
    cache.merge(cache)
    assert cache.strip(PAGES) == expected


def test_other_counting_is_not_merged() -> None:
    with pytest.raises(ConfigurationError, match="max_repetitions"):
        SegmentCache().merge(SegmentCache(max_repetitions=5))


@given(st.data())
def test_damage_is_found(data: st.DataObject) -> None:
    saved = learn(PAGES[:3]).to_bytes()
    at = data.draw(st.integers(0, len(saved) - 1))
    flipped = saved[:at] + bytes([saved[at] ^ data.draw(st.integers(1, 255))]) + saved[at + 1 :]
    for damaged in (flipped, saved[:at], saved + saved[at:]):
        with pytest.raises((CorruptIndexError, SchemeMismatchError)):
            SegmentCache.from_bytes(damaged)


def test_another_version_is_named() -> None:
    saved = learn(PAGES[:3]).to_bytes()
    with pytest.raises(SchemeMismatchError, match="version"):
        SegmentCache.from_bytes(saved.replace(b"segments 1\n", b"segments 99\n", 1))


@given(
    st.lists(st.tuples(st.sets(st.integers(1, 12), min_size=1), st.integers(0, 9)), max_size=20),
    st.integers(1, 12),
)
def test_tally_counts_as_sets_do(pages: list[tuple[set[int], int]], capacity: int) -> None:
    """Against a dictionary of sets; a table that is too small forgets the least recent keys only."""
    tally = Tally(capacity, 3)
    seen: dict[int, set[int]] = {}
    for keys, page in pages:
        ordered = sorted(keys)[:capacity]
        tally.add(ordered, page, (page, page % 2, 0), [True] * len(ordered))
        for key in ordered:
            seen[key] = {*seen.pop(key, set()), page} if capacity >= 12 else {page}
        assert len(tally) <= capacity
        assert all(tally.find(ordered))
    if capacity >= 12:
        names = tally.count_witnesses(tally.find(sorted(seen))).tolist()
        assert names == [
            [min(3, len(seen[key])), len({page % 2 for page in seen[key]}), 1] for key in sorted(seen)
        ]
