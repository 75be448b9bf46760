"""What a character is to the kernels: Python's Unicode tables, laid out for lookup by code point.

Characters are folded one at a time: each that is not plain ASCII is replaced by the UTF-8 bytes of its form.
Only those that may join the one before them (combining marks, Hangul vowels and finals) need
:func:`rag_dedup.text.normalise`, which sees their neighbours.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np

from rag_dedup.kernels.sets import FOLDED, I64, JOINED, PLAIN, U8, U32
from rag_dedup.text import ASCII_INVISIBLE, LAST_ASSIGNED, SINGLE, WORD, character_classes, fold_characters

__all__ = ["ASCII_LOWER", "HEAD", "ODD", "SPACE", "TAIL", "Folds", "Forms", "measure", "read_folds"]

SPACE, HEAD, TAIL, ODD = 2, 4, 8, 16
"""Flags of bytes, beside ``WORD``: white space; the first byte and the others of a character that is a token
by itself; the first byte of a character to look up."""


def _flag_byte(byte: int) -> int:
    char = chr(byte)
    if byte >= 0x80:
        return ODD if byte >= 0xC0 else 0
    if char.isspace():
        return SPACE
    return WORD if char.isalnum() or char == "_" else 0


_PLAIN: U8 = np.array([_flag_byte(byte) for byte in range(256)], dtype=np.uint8)
_VISIBLE: U8 = np.where(np.isin(np.arange(256), list(ASCII_INVISIBLE)), ODD, _PLAIN).astype(np.uint8)

ASCII_LOWER: U8 = np.array(
    [32 if _PLAIN[byte] == SPACE else byte + 32 * (65 <= byte <= 90) for byte in range(256)], dtype=np.uint8
)
"""The lower case of each byte of UTF-8; all white space is a space."""


class Forms(NamedTuple):
    """What to put for each code point below ``LAST_ASSIGNED``; those behind stay, and separate.

    Args:
        plain: the flag of each byte of UTF-8 before anything is replaced; ``ODD`` marks what is.
        first, size: ``data[first:first + size]`` is what takes its place, white space as a space.
        data, flags: bytes of all forms, one after the other, and their flags.
    """

    plain: U8
    first: U32
    size: U8
    data: U8
    flags: U8


class Folds(NamedTuple):
    """Tables by code point.

    Args:
        normal: the normal form of the character on its own.
        lower: the lower case, when it is one character (which leaves out only U+0130), final sigma as
            sigma. What exact keys read.
        kinds: ``PLAIN`` where both forms are the same, ``JOINED`` where neighbours change the normal form,
            else ``FOLDED``; the last row stands for all from ``LAST_ASSIGNED`` on.
    """

    normal: Forms
    lower: Forms
    kinds: U8


@cache
def read_folds() -> Folds:
    """Return the tables, built on first use, which takes about a third of a second."""
    # A line for each character: a line break joins nothing.
    characters = list(map(chr, range(LAST_ASSIGNED)))
    characters[ord("\n")] = " "
    lines = "\n".join(characters)
    small = [
        other if len(other) == 1 else char
        for other, char in zip(lines.lower().split("\n"), characters, strict=True)
    ]
    small[ord("ς")] = "σ"
    normal = _blank_spaces(fold_characters(lines)).split("\n")
    lower = _blank_spaces("\n".join(small)).split("\n")
    same = [one == other for one, other in zip(normal, lower, strict=True)]
    kinds = np.append(np.where(same, PLAIN, FOLDED), JOINED).astype(np.uint8)
    kinds[_find_joining(lines) != 0] = JOINED
    return Folds(_lay_out(_VISIBLE, normal), _lay_out(_PLAIN, lower), kinds)


def _lay_out(plain: U8, forms: list[str]) -> Forms:
    points = _to_points("".join(forms))
    widths = measure(points)
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths)))
    counts = np.array(list(map(len, forms)))
    first = edges[np.cumsum(counts) - counts]
    classes = np.frombuffer(character_classes(), dtype=np.uint8)[np.minimum(points, LAST_ASSIGNED)]
    flags = np.repeat(np.array([0, WORD, TAIL], dtype=np.uint8)[classes], widths)
    flags[edges[:-1][classes == SINGLE]] = HEAD
    flags[edges[:-1][points == ord(" ")]] = SPACE
    return Forms(
        plain=plain,
        first=first.astype(np.uint32),
        size=(edges[np.cumsum(counts)] - first).astype(np.uint8),
        data=np.frombuffer("".join(forms).encode("utf-8", "surrogatepass"), dtype=np.uint8),
        flags=flags,
    )


def measure(points: U32) -> I64:
    """Return how many bytes of UTF-8 each code point has."""
    return 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)


def _find_joining(lines: str) -> U8:
    """Mark characters that, at some step of normalisation, begin with one that may join the one before.

    Source: Unicode Standard Annex 15, section 9.1, Stable Code Points and Concatenation: a string that
    begins with a starter which no composition ends with does not change what comes before it.
    """
    joining = np.zeros(LAST_ASSIGNED + 1, dtype=np.uint8)
    joining[0x1161:0x1176] = joining[0x11A8:0x11C3] = 1  # Hangul vowels and finals
    for point in range(LAST_ASSIGNED):
        char = chr(point)
        if unicodedata.combining(char):
            joining[point] = 1
        parts = unicodedata.decomposition(char).split(" ")
        if len(parts) == 2 and not parts[0].startswith("<"):
            joining[int(parts[1], 16)] = 1
    folded = unicodedata.normalize("NFKC", lines).casefold()
    marks = np.ones(LAST_ASSIGNED + 1, dtype=np.uint8)
    marks[:LAST_ASSIGNED] = 0
    for step in (lines, folded):
        first = [line[:1] or "a" for line in unicodedata.normalize("NFKD", step).split("\n")]
        marks[:LAST_ASSIGNED] |= joining[_to_points("".join(first))]
    return marks


def _blank_spaces(text: str) -> str:
    """Return ``text`` with each white space but the line break as a space."""
    for space in filter(str.isspace, map(chr, range(0x3001))):
        if space != "\n":
            text = text.replace(space, " ")
    return text


def _to_points(text: str) -> U32:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
