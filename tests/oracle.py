"""A slow, readable second opinion: what the engine decides, in sets and loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rag_dedup import Document

THRESHOLD = 0.8
NEGATIONS = {"not", "no", "never", "without", "none", "cannot", "unless", "except"}


def normal_form(text: str) -> str:
    """Fold case and white space."""
    return " ".join(text.lower().split())


def shingles_of(text: str) -> frozenset[tuple[str, ...]]:
    """Return the set of three-word windows; for ASCII texts of words and spaces."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < 3:
        whole = normal_form(text)
        return frozenset([(whole,)]) if whole else frozenset()
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def jaccard(a: frozenset[object], b: frozenset[object]) -> float:
    """Return the size of the intersection over that of the union; 0 for two empty sets."""
    return len(a & b) / len(a | b) if a | b else 0.0


def differs_in_facts(a: str, b: str) -> bool:
    """Tell whether the digit sequences or the negations of two texts differ."""
    if re.findall(r"\d+", a) != re.findall(r"\d+", b):
        return True
    words_a, words_b = (re.findall(r"[a-z]+", text.lower()) for text in (a, b))
    return [w for w in words_a if w in NEGATIONS] != [w for w in words_b if w in NEGATIONS]


def is_duplicate(a: str, b: str, *, guards: bool = True) -> bool:
    """Tell whether one text may stand for the other."""
    if not normal_form(a) or not normal_form(b):
        return False
    if normal_form(a) == normal_form(b):
        return True
    return jaccard(shingles_of(a), shingles_of(b)) >= THRESHOLD and not (guards and differs_in_facts(a, b))


def find_lost(live: Iterable[Document], store: Mapping[tuple[str, str], str]) -> list[Document]:
    """Return the live documents that nothing in the vector store stands for, in their own scope."""
    return [
        document
        for document in live
        if not any(
            scope == document.scope and (text == document.text or is_duplicate(document.text, text))
            for (scope, _), text in store.items()
        )
    ]


def cluster_greedily(texts: Sequence[str], sets: Sequence[frozenset[object]]) -> dict[int, int]:
    """Return the star clustering over an exact all-pairs join: dropped position -> survivor position.

    Every text is compared with every earlier survivor that shares a shingle with it; the most similar
    one wins, ties go to the earliest.
    """
    survivor_by_text: dict[str, int] = {}
    survivors_by_shingle: dict[object, list[int]] = {}
    dropped: dict[int, int] = {}
    for i, text in enumerate(texts):
        equal = survivor_by_text.get(normal_form(text))
        if equal is not None:
            dropped[i] = equal
            continue
        common: dict[int, int] = {}
        for shingle in sets[i]:
            for j in survivors_by_shingle.get(shingle, ()):
                common[j] = common.get(j, 0) + 1
        near = [
            (count / (len(sets[i]) + len(sets[j]) - count), -j)
            for j, count in common.items()
            if count / (len(sets[i]) + len(sets[j]) - count) >= THRESHOLD
        ]
        if near:
            dropped[i] = -max(near)[1]
            continue
        survivor_by_text[normal_form(text)] = i
        for shingle in sets[i]:
            survivors_by_shingle.setdefault(shingle, []).append(i)
    return dropped
