"""Who survives: find the document that stands for a new one, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Entry, GuardHit
from rag_dedup.kernels import ShingleSets, count_pairs
from rag_dedup.kernels.sets import I64

__all__ = ["UNLIKE_ALL", "Near", "Verdict", "are_family", "choose_survivor", "measure_similarity"]


class Near(NamedTuple):
    """A survivor that is similar enough to stand for a document."""

    equal: bool
    similarity: float
    survivor: Entry


class Verdict(NamedTuple):
    """The survivor of a document and how it was verified; all ``None`` for a text like no other.

    Without a survivor, ``similarity`` and ``guard`` tell of the nearest one that a guard refused.
    """

    survivor: str | None = None
    method: str | None = None
    similarity: float | None = None
    guard: GuardHit | None = None


UNLIKE_ALL = Verdict()


def are_family(one: Entry, other: Entry) -> bool:
    """Tell whether two documents share text for a reason that is no evidence of duplication.

    One contains the other (parent and child nodes), or they are chunks of one source whose spans
    overlap because the splitter lets neighbours overlap.
    """
    here, there = one.place, other.place
    if one.id in there.related or other.id in here.related:
        return True
    if one.source is None or one.source != other.source or here.span is None or there.span is None:
        return False
    return here.span[0] < there.span[1] and there.span[0] < here.span[1]


def measure_similarity(
    a: ShingleSets, rows_a: I64, b: ShingleSets, rows_b: I64, threshold: float
) -> npt.NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of shingle sets, 0 where it is below ``threshold``.

    Args:
        a, rows_a, b, rows_b: pair ``i`` is set ``rows_a[i]`` of ``a`` and set ``rows_b[i]`` of ``b``.
        threshold: above 0 and up to 1.
    """
    sizes_a, sizes_b = a.sizes()[rows_a], b.sizes()[rows_b]
    small, large = np.minimum(sizes_a, sizes_b), np.maximum(sizes_a, sizes_b)
    similar = np.zeros(len(rows_a))
    # The sizes alone bound the similarity.
    able = np.flatnonzero((small > 0) & (small >= threshold * large))
    total = (small + large)[able]
    least = np.ceil(threshold / (1 + threshold) * total - 1e-6).astype(np.int64)
    common = count_pairs(a, rows_a[able], b, rows_b[able], least)
    jaccard = common / (total - common)
    similar[able] = np.where(jaccard >= threshold, jaccard, 0.0)
    return similar


def choose_survivor(
    entry: Entry,
    near: Iterable[Near],
    find_difference: Callable[[str, str], GuardHit | None],
) -> Verdict:
    """Return the best of the survivors: an equal one, else the most similar that no guard refuses.

    Ties go to the earliest.

    Args:
        entry: what needs a survivor.
        near: survivors of its scope that are similar enough, itself not among them.
        find_difference: says in what two texts differ that they must not.
    """
    refused: Verdict = UNLIKE_ALL
    for equal, similarity, survivor in sorted(near, key=_rank):
        if are_family(entry, survivor):
            continue
        if equal:
            return Verdict(survivor.id, "exact", 1.0)
        hit = find_difference(entry.text, survivor.text)
        if hit is None:
            return Verdict(survivor.id, "minhash", similarity)
        if refused is UNLIKE_ALL:
            refused = Verdict(similarity=similarity, guard=hit)
    return refused


def _rank(near: Near) -> tuple[bool, float, int]:
    return not near.equal, -near.similarity, near.survivor.order
