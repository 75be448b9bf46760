"""Slow, readable second opinions: what the kernels compute and what the engine decides, in sets and loops."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from rag_dedup import Document
from rag_dedup.text import normalise, tokenise

THRESHOLD = 0.8
NEGATIONS = {"not", "no", "never", "without", "none", "cannot", "unless", "except"}

BITS = (1 << 64) - 1
K = (0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3)
M = 0xFF51AFD7ED558CCD
FNV_BASIS, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def mix(h: int) -> int:
    """Apply the 64-bit finaliser of MurmurHash3."""
    h = (h ^ (h >> 33)) * M & BITS
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53 & BITS
    return h ^ (h >> 33)


def sha256(text: str) -> bytes:
    """Return the SHA-256 of the UTF-8 form, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def hash_token(token: str) -> int:
    """Hash a token, eight bytes at a time."""
    data = token.encode("utf-8", "surrogatepass")
    h = FNV_BASIS
    for start in range(0, len(data), 8):
        h = (h ^ int.from_bytes(data[start : start + 8], "little")) * K[0] & BITS
        h ^= h >> 32
    h = h * M & BITS
    return h ^ (h >> 29)


def hash_shingles(text: str) -> list[int]:
    """Return the sorted distinct shingle hashes of a text."""
    tokens = [hash_token(token) for token in tokenise(text)]
    if len(tokens) < 3:
        whole = normalise(text)
        return [int.from_bytes(sha256(whole)[:8], "little")] if whole else []
    windows = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return sorted({mix(sum(t * k for t, k in zip(window, K, strict=True)) & BITS) for window in windows})


def exact_key(text: str, scope: str) -> bytes:
    """Return the exact key of a text in a scope."""
    lower = (char.lower() if len(char.lower()) == 1 else char for char in text)
    folded = " ".join("".join(lower).replace("ς", "σ").split())
    both = zip(sha256(folded), sha256("scope\0" + scope), strict=True)
    return bytes(a ^ b for a, b in both)[:16]


def band_keys(signature: Sequence[int], bands: int, rows: int, scope: str) -> list[int]:
    """Return the band keys of a signature in a scope."""
    keys = []
    for band in range(bands):
        h = FNV_BASIS
        for value in (int.from_bytes(sha256(scope)[:8], "little"), band):
            h = (h ^ value) * FNV_PRIME & BITS
        for value in signature[band * rows : (band + 1) * rows]:
            h = mix((h ^ value) * FNV_PRIME & BITS)
        keys.append(h)
    return keys


def simhash(hashes: Sequence[int]) -> int:
    """Return the majority vote of the hashes on each bit."""
    return sum(1 << bit for bit in range(64) if 2 * sum(h >> bit & 1 for h in hashes) > len(hashes))


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
