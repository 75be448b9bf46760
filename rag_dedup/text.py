"""Normalise, tokenise, shingle: what a text looks like to a fingerprint.

The original text is never changed; these forms exist only to be compared. Everything here is
versioned by :data:`TEXT_SCHEME`, which is part of every fingerprint's scheme string.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache

__all__ = [
    "MAX_TOKEN",
    "SHINGLE_SIZE",
    "TEXT_SCHEME",
    "character_classes",
    "content_key",
    "cut_marks",
    "fold_characters",
    "normalise",
    "shingle",
    "tokenise",
]

TEXT_SCHEME = "text-1"
"""Names the rules of this module; raise it when a key or a signature would change."""

SHINGLE_SIZE = 3
"""Tokens in a shingle (w in Broder 1997)."""

MAX_TOKEN = 64
"""Code points in a token; a longer word is cut, so that one token costs bounded work."""

MOST_MARKS = 30
"""Combining marks that are read of one run, see :func:`cut_marks`."""

SEPARATOR, WORD, SINGLE = 0, 1, 2

LAST_ASSIGNED = 0x323B0
"""Past the last ideograph (CJK extension H); what lies behind it separates."""

# Scripts written without spaces between words: one token for each character. Their digits are left
# out, so that a number stays one token.
_SINGLE_RANGES = (
    (0x0E01, 0x0E3A), (0x0E40, 0x0E4E),  # Thai
    (0x0E81, 0x0ECE), (0x0EDC, 0x0EDF),  # Lao
    (0x1000, 0x103F), (0x1050, 0x108F), (0x109A, 0x109F),  # Myanmar
    (0xA9E0, 0xA9EF), (0xA9FA, 0xA9FE), (0xAA60, 0xAA7F),  # Myanmar extended
    (0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB),  # Hangul
    (0x1780, 0x17D3), (0x17DC, 0x17DD),  # Khmer
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),  # Han
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, LAST_ASSIGNED - 1),  # Han
    (0x3041, 0x3096), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF),  # Kana
    (0x1AFF0, 0x1B16F),  # Kana extended
    (0x3105, 0x312F), (0x31A0, 0x31BF),  # Bopomofo
)  # fmt: skip

# Format and control characters (Unicode Cf and Cc but white space), variation selectors and fillers:
# they have no width and carry no text.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

ASCII_INVISIBLE = bytes((*range(9), *range(14, 28), 127))


def normalise(text: str) -> str:
    """Return the form of ``text`` that fingerprints read.

    NFKC with case folding (Unicode 3.13, D145 and D146), zero-width and control characters out,
    white space folded to single spaces.

    >>> normalise("  Ｃafe\\u0301\\tSTRA\\u00adSSE ")
    'café strasse'
    """
    return " ".join(fold_characters(text).split())


def fold_characters(text: str) -> str:
    """Normalise all but the white space, so that lines stay lines."""
    if text.isascii():
        # On bytes, for str.translate takes a hundred times as long.
        return text.encode().translate(None, ASCII_INVISIBLE).lower().decode()
    text = _INVISIBLE.sub("", text)
    text = unicodedata.normalize("NFKC", cut_marks(text)).casefold()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", cut_marks(text)))


def cut_invisible(text: str) -> str:
    """Take out what has no width and carries no text.

    >>> cut_invisible("soft\u00adly")
    'softly'
    """
    return text if text.isascii() else _INVISIBLE.sub("", text)


def cut_marks(text: str) -> str:
    """Cut runs of combining marks after 30, the longest that UAX 15's Stream-Safe Format expects.

    Normalisation sorts each run, in quadratic time; no language has longer ones.
    """
    # A run that is too long covers one of these characters.
    some = text[::MOST_MARKS]
    if some.isascii() or not any(map(unicodedata.combining, some)):
        return text
    return _mark_runs().sub(r"\1", text)


@cache
def _mark_runs() -> re.Pattern[str]:
    marks = "".join(char for char in map(chr, range(0x300, 0x1E94B)) if unicodedata.combining(char))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


@cache
def character_classes() -> bytes:
    """Return the class of each code point below U+323B0, then one ``SEPARATOR`` for all others.

    A constant of Python's Unicode tables, built on first use because that takes some 25 ms: letters,
    digits, marks and ``_`` make words, the scripts of ``_SINGLE_RANGES`` make one token a character.
    """
    classes = bytearray(
        WORD if char.isalnum() or ("a" + char).isidentifier() else SEPARATOR
        for char in map(chr, range(LAST_ASSIGNED))
    )
    for first, last in _SINGLE_RANGES:
        for point in range(first, last + 1):
            if classes[point] == WORD:
                classes[point] = SINGLE
    return bytes(classes) + bytes([SEPARATOR])


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile :func:`character_classes` into one expression: a single, or a word of bounded length."""
    ranges: dict[int, list[str]] = {WORD: [], SINGLE: []}
    classes, start = character_classes(), 0
    for point in range(1, len(classes)):
        if classes[point] != classes[start]:
            if classes[start] != SEPARATOR:
                ranges[classes[start]].append(f"\\U{start:08x}-\\U{point - 1:08x}")
            start = point
    return re.compile(f"[{''.join(ranges[WORD])}]{{1,{MAX_TOKEN}}}|[{''.join(ranges[SINGLE])}]")


def tokenise(text: str) -> list[str]:
    """Return the tokens of ``text`` after normalisation.

    A token is a run of letters, digits, marks and ``_``, cut every 64 code points, or one character
    of a script that has no spaces between words: Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar.

    >>> tokenise("The MAX_SIZE, 2.5 GB: 東京")
    ['the', 'max_size', '2', '5', 'gb', '東', '京']
    """
    return _token_pattern().findall(normalise(text))


def shingle(text: str) -> list[tuple[str, ...]]:
    """Return the shingles of ``text``: every window of three tokens, in order, with repeats.

    A text with fewer tokens is one shingle, the whole normalised text (``C`` is not ``C++``). An
    empty text has none. Source: Broder, On the resemblance and containment of documents, 1997.

    >>> shingle("a rose is a rose")
    [('a', 'rose', 'is'), ('rose', 'is', 'a'), ('is', 'a', 'rose')]
    >>> shingle("C++"), shingle(" ")
    ([('c++',)], [])
    """
    tokens = tokenise(text)
    if len(tokens) < SHINGLE_SIZE:
        whole = normalise(text)
        return [(whole,)] if whole else []
    return list(zip(*(tokens[i:] for i in range(SHINGLE_SIZE)), strict=False))


def content_key(text: str) -> str:
    """Return the SHA-256 hex digest of the lower-cased, white-space-folded text.

    >>> content_key("Hello  World") == content_key("hello world\\n")
    True
    """
    folded = " ".join(text.lower().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()
