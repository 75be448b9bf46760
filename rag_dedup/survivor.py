"""Who survives: find the document that stands for a new one, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_dedup.document import Entry, GuardHit
from rag_dedup.guard import Guard, Marks, compare_marks
from rag_dedup.kernels import count_common

__all__ = ["Verdict", "are_family", "choose_survivor", "measure_similarity"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The survivor of a document and how it was verified; all ``None`` for a text like no other.

    Without a survivor, ``similarity`` and ``guard`` tell of the nearest one that a guard refused.
    """

    survivor: str | None = None
    method: str | None = None
    similarity: float | None = None
    guard: GuardHit | None = None


def are_family(a: Entry, b: Entry) -> bool:
    """Tell whether two documents share text for a reason that is no evidence of duplication.

    One contains the other (parent and child nodes), or they are chunks of one source whose spans
    overlap because the splitter lets neighbours overlap.
    """
    one, two = a.document, b.document
    if one.id in two.related or two.id in one.related:
        return True
    if a.source is None or a.source != b.source or one.span is None or two.span is None:
        return False
    return one.span[0] < two.span[1] and two.span[0] < one.span[1]


def measure_similarity(a: Entry, b: Entry, threshold: float) -> float | None:
    """Return the exact Jaccard similarity of two shingle sets, ``None`` when below ``threshold``."""
    small, large = sorted((len(a.shingles), len(b.shingles)))
    if small == 0 or small < threshold * large:  # the sizes alone bound the similarity
        return None
    common = count_common(a.shingles, b.shingles)
    similarity = common / (small + large - common)
    return similarity if similarity >= threshold else None


def choose_survivor(
    entry: Entry,
    candidates: Iterable[Entry],
    *,
    threshold: float,
    guards: Sequence[Guard],
    read: Callable[[Entry], Marks],
) -> Verdict:
    """Return the best verified candidate: an equal one, else the most similar that no guard refuses.

    Ties go to the earliest. An empty text matches nothing.

    Args:
        entry: the new document.
        candidates: survivors of its scope, ``entry`` not among them.
        threshold: least Jaccard similarity of a duplicate, above 0 and up to 1.
        guards: what must not differ.
        read: gives the marks that the guards read out of an entry's text.
    """
    if not len(entry.shingles):
        return Verdict()
    others = [candidate for candidate in candidates if not are_family(entry, candidate)]
    equal = [c for c in others if c.exact_key == entry.exact_key]
    if equal:
        return Verdict(min(equal, key=lambda c: c.order).document.id, "exact", 1.0)
    near = [
        (-similarity, candidate.order, candidate)
        for candidate in others
        if (similarity := measure_similarity(entry, candidate, threshold)) is not None
    ]
    near.sort(key=lambda match: match[:2])
    refused = Verdict()
    for negative, _, candidate in near:
        if not guards or read(entry) == read(candidate):
            return Verdict(candidate.document.id, "minhash", -negative)
        if refused.guard is None:
            hit = compare_marks(guards, read(entry), read(candidate))
            refused = Verdict(similarity=-negative, guard=hit)
    return refused
