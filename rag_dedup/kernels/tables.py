"""What a character is to the kernels: Python's Unicode tables, laid out for lookup by code point.

Characters are folded one at a time. Only those that may join the one before them (combining marks,
Hangul vowels and finals) need :func:`rag_dedup.text.normalise`, which sees their neighbours.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rag_dedup.text import (
    ASCII_INVISIBLE,
    LAST_ASSIGNED,
    SEPARATOR,
    WORD,
    character_classes,
    fold_characters,
)

__all__ = [
    "ASCII_FLAGS",
    "ASCII_LOWER",
    "INVISIBLE",
    "OTHER_FORM",
    "PLAIN",
    "SPACE",
    "U8",
    "U32",
    "Folds",
    "measure_utf8",
    "read_folds",
]

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]

PLAIN, OTHER_FORM = 4, 8
"""Flags of characters beside their class, see :class:`Folds`."""
SPACE, INVISIBLE = 2, 4
"""Flags of ASCII characters, beside ``WORD``: white space, and what normalisation takes out."""


def _flag_ascii(point: int) -> int:
    char = chr(point)
    if char.isspace():
        return SPACE
    if point in ASCII_INVISIBLE:
        return INVISIBLE
    return WORD if char.isalnum() or char == "_" else 0


ASCII_FLAGS: U8 = np.array([_flag_ascii(point) for point in range(128)] + [INVISIBLE] * 128, dtype=np.uint8)
ASCII_LOWER: U8 = np.array(
    [ord(" ") if i < 128 and chr(i).isspace() else bytes([i]).lower()[0] for i in range(256)], dtype=np.uint8
)
"""Lower case; all white space is a space."""


class Folds(NamedTuple):
    """Tables by code point; the last row stands for all from ``LAST_ASSIGNED`` on.

    Args:
        lower: the lower case, when it is one character (which leaves out only U+0130), final sigma as
            sigma, white space as a space. What exact keys read. Not for the last row.
        first, sizes: ``forms[first:first + size]`` is the normal form of the character on its own,
            white space as a space.
        forms: code points of all normal forms, one after the other.
        joins: whether neighbours change the normal form; true for the last row.
        classes: of normalised characters: ``SEPARATOR``, ``WORD`` or ``SINGLE``.
        plain: what can be read without looking at neighbours, since lower case and normal form are the
            same character or both of them separate: ``PLAIN`` and the class; ``OTHER_FORM`` where a
            separator has another normal form; 0 for all others.
    """

    lower: U32
    first: U32
    sizes: U8
    forms: U32
    joins: U8
    classes: U8
    plain: U8


@cache
def read_folds() -> Folds:
    """Return the tables, built on first use, which takes about a fifth of a second."""
    # A line for each character: a line break joins nothing.
    characters = list(map(chr, range(LAST_ASSIGNED)))
    characters[ord("\n")] = " "
    lines = "\n".join(characters)
    lower = [
        small if len(small) == 1 else char
        for small, char in zip(lines.lower().split("\n"), characters, strict=True)
    ]
    lower[ord("ς")] = "σ"
    forms = [*_blank_spaces(fold_characters(lines)).split("\n"), ""]
    sizes = np.array(list(map(len, forms)), dtype=np.uint8)
    folds = Folds(
        lower=_to_points(_blank_spaces("".join(lower))),
        first=(np.cumsum(sizes, dtype=np.int64) - sizes).astype(np.uint32),
        sizes=sizes,
        forms=_to_points("".join(forms)),
        joins=_find_joining(lines),
        classes=np.frombuffer(character_classes(), dtype=np.uint8),
        plain=np.zeros(LAST_ASSIGNED + 1, np.uint8),
    )
    return folds._replace(plain=_find_plain(folds))


def _find_plain(folds: Folds) -> U8:
    """Mark characters that can be read one by one, in no more bytes of UTF-8 than they have."""
    points = np.arange(LAST_ASSIGNED, dtype=np.uint32)
    form = np.append(folds.forms, np.uint32(0))[folds.first[:-1]]
    same = (folds.sizes[:-1] == 1) & (form == folds.lower)
    # How many characters of the normal form are a letter, a space or one that joins.
    telling = (
        (folds.classes[folds.forms] != SEPARATOR) | (folds.forms == ord(" ")) | (folds.joins[folds.forms] > 0)
    )
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(telling)))
    first = folds.first[:-1].astype(np.int64)
    silent = (folds.sizes[:-1] > 0) & (before[first + folds.sizes[:-1]] == before[first])
    silent &= folds.classes[folds.lower] == SEPARATOR
    plain = np.where(same, PLAIN | folds.classes[folds.lower], np.where(silent, PLAIN | OTHER_FORM, 0))
    plain[(folds.joins[:-1] > 0) | (measure_utf8(folds.lower) > measure_utf8(points))] = 0
    return np.append(plain, 0).astype(np.uint8)


def measure_utf8(points: U32) -> npt.NDArray[np.int64]:
    """Return how many bytes each code point takes."""
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
