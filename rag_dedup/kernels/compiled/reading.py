"""From bytes to tokens to shingle sets."""

from __future__ import annotations

import numpy as np

from rag_dedup.kernels.arrays import FINISH, FIRST, FNV_BASIS, POSITION
from rag_dedup.kernels.compiled.loops import (
    IN_I64,
    IN_U8,
    IN_U32,
    OUT_I64,
    OUT_U8,
    OUT_U64,
    compile_as,
    inline,
    mix,
    up,
)
from rag_dedup.kernels.compiled.sorting import BUCKET_BITS, put_set
from rag_dedup.kernels.sets import FOLDED, I64, JOINED, PLAIN, U64, Bytes, Reading, ShingleSets
from rag_dedup.kernels.tables import ASCII_LOWER, HEAD, ODD, TAIL, Forms, read_folds
from rag_dedup.text import LAST_ASSIGNED, MAX_TOKEN, SHINGLE_SIZE, WORD

__all__ = ["fold", "read"]

_K0, _K1, _K2 = POSITION
_EDGES = 4096
"""Starts and ends of tokens that are kept at a time."""
_EDGES_OF_FORM = 64
"""Room for those of one character more: its form has at most 33 bytes."""


@inline
def _load_group(words, at):
    """Return the eight bytes from ``at`` on."""
    word = at >> 3
    shift = np.uint64((at & 7) << 3)
    return (words[up(word)] >> shift) | ((words[up(word + 1)] << np.uint64(1)) << (np.uint64(63) - shift))


@inline
def _hash_token(words, start, length):
    h = FNV_BASIS
    while length > 8:
        h = (h ^ _load_group(words, start)) * _K0
        h ^= h >> np.uint64(32)
        start += 8
        length -= 8
    h = (h ^ (_load_group(words, start) & FIRST[up(length)])) * _K0
    h ^= h >> np.uint64(32)
    h *= FINISH
    return h ^ (h >> np.uint64(29))


@inline
def _measure_token(out, start, rest):
    """Return the number of bytes of the first ``MAX_TOKEN`` code points."""
    points = 0
    for length in range(rest):
        points += (out[up(start + length)] & 0xC0) != 0x80
        if points > MAX_TOKEN:
            return length
    return rest


@inline
def _take_tokens(out, words, edges, found, before, last, tokens, raw):
    """Hash the shingles that end with the tokens between ``edges[:found]``; an odd one is kept for later.

    Args:
        before, last: hashes of the last two tokens so far.
        tokens: their number so far; shingle ``i`` ends with token ``i + 2``.
    """
    for pair in range(found >> 1):
        start = edges[up(2 * pair)]
        rest = edges[up(2 * pair + 1)] - start
        while rest > 0:
            length = rest if rest <= MAX_TOKEN else _measure_token(out, start, rest)
            h = _hash_token(words, start, length)
            # What the first two tokens write is overwritten.
            raw[up(max(tokens - 2, 0))] = mix(before * _K0 + last * _K1 + h * _K2)
            before, last = last, h
            tokens += 1
            start += length
            rest -= length
    if found & 1:
        edges[0] = edges[found - 1]
    return found & 1, before, last, tokens


@inline
def _decode(data, i):
    """Return the code point at ``i`` and where the next one starts."""
    point = np.int64(data[up(i)])
    if point < 0x80:
        return point, i + 1
    width = 2 + (point >= 0xE0) + (point >= 0xF0)
    point &= 0x7F >> width
    for j in range(i + 1, i + width):
        point = (point << 6) | (np.int64(data[up(j)]) & 0x3F)
    return point, i + width


@compile_as(
    IN_U8, IN_I64, IN_I64, IN_U8, IN_U8, IN_U32, IN_U8, IN_U8, IN_U8, IN_U8, OUT_U8, OUT_U64, OUT_U64,
    OUT_U64, OUT_I64, OUT_I64, OUT_I64, OUT_I64, OUT_I64, OUT_U8, OUT_U64, OUT_I64,
)  # fmt: skip
def _read(
    data, starts, stops, lower, plain, first, size, forms, flags, known_kinds, out, words, raw, spare,
    tally, edges, out_starts, out_stops, tokens_of, kinds, values, offsets,
):  # fmt: skip
    at = 0
    kept = 0
    for row in range(len(starts)):
        start = at
        i = starts[row]
        end = stops[row]
        kind = np.int64(PLAIN)
        space, word = np.int64(1), np.int64(0)
        found, tokens = 0, 0
        before, last = np.uint64(0), np.uint64(0)
        while i < end:
            while i < end and found < _EDGES:
                stop = min(end, i + _EDGES - found)
                while i < stop:
                    byte = data[up(i)]
                    flag = np.int64(plain[byte])
                    if flag == ODD:
                        break
                    # No branches: every byte and edge is written, and overwritten where it is none.
                    out[up(at)] = lower[byte]
                    edges[up(found)] = at
                    found += (flag & WORD) ^ word
                    word = flag & WORD
                    blank = (flag >> 1) & 1
                    at += 1 - (space & blank)
                    space = blank
                    i += 1
                if i == stop:
                    continue
                point, following = _decode(data, i)
                kind = max(kind, np.int64(known_kinds[up(min(point, LAST_ASSIGNED))]))
                if kind == JOINED:
                    following = end
                elif point < LAST_ASSIGNED:
                    alone = False
                    begin = np.int64(first[up(point)])
                    for j in range(begin, begin + size[up(point)]):
                        flag = np.int64(flags[up(j)])
                        if flag != TAIL:
                            if word and (alone or flag == HEAD):
                                edges[up(found)] = at
                                found += 1
                                word = 0
                            alone = flag == HEAD
                            inside = 1 if alone else flag & WORD
                            edges[up(found)] = at
                            found += inside ^ word
                            word = inside
                        out[up(at)] = forms[up(j)]
                        blank = (flag >> 1) & 1
                        at += 1 - (space & blank)
                        space = blank
                    if alone:
                        edges[up(found)] = at
                        found += 1
                        word = 0
                else:
                    edges[up(found)] = at
                    found += word
                    word = 0
                    for j in range(i, following):
                        out[up(at)] = data[up(j)]
                        at += 1
                    space = 0
                i = following
            if i == end and word:
                edges[found] = at
                found += 1
            found, before, last, tokens = _take_tokens(out, words, edges, found, before, last, tokens, raw)
        if space and at > start:
            at -= 1
        out_starts[row] = start
        out_stops[row] = at
        kinds[row] = kind
        tokens_of[row] = tokens
        if tokens < SHINGLE_SIZE and at > start:
            values[kept] = 0
            kept += 1
        else:
            kept = put_set(raw, spare, tokens - SHINGLE_SIZE + 1, tally, values, kept)
        offsets[row + 1] = kept
        at += 1


def read(texts: Bytes, composed: bool) -> Reading:
    """Normalise and shingle texts. Those that are ``composed`` already have nothing to join."""
    forms, _, known_kinds = read_folds()
    sizes = _measure_forms(texts, forms)
    # A token is of two bytes or more, or a byte that separates stands behind it.
    most = sizes // 2 + 1
    rows, longest, total = len(sizes), int(most.max(initial=0)), int(sizes.sum())
    words = np.empty(total // 8 + 3, np.uint64)  # two more than there are bytes for
    out = words.view(np.uint8)
    out_starts, out_stops, tokens = np.empty((3, rows), np.int64)
    kinds = np.empty(rows, np.uint8)
    values = np.empty(int(most.sum()), np.uint64)
    offsets = np.zeros(rows + 1, np.int64)
    _read(
        *texts, ASCII_LOWER, *forms, np.minimum(known_kinds, FOLDED) if composed else known_kinds, out, words,
        *_make_scratch(longest), out_starts, out_stops, tokens, kinds, values, offsets,
    )  # fmt: skip
    return Reading(
        Bytes(out, out_starts, out_stops),
        ShingleSets(values[: offsets[-1]].copy(), offsets),
        np.flatnonzero((tokens < SHINGLE_SIZE) & (out_stops > out_starts)),
        kinds,
    )


def _make_scratch(longest: int) -> tuple[U64, U64, I64, I64]:
    """Return room for the shingles of a text, to sort them, for buckets and for edges."""
    bits = min(max(longest.bit_length(), 8), BUCKET_BITS)
    return (
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty(1 << bits, np.int64),
        np.empty(_EDGES + 2 * _EDGES_OF_FORM, np.int64),
    )


def _measure_forms(texts: Bytes, forms: Forms) -> I64:
    """Return for each text one more than the bytes of its form before white space is folded."""
    sizes = np.empty(len(texts.starts), np.int64)
    _add_growth(*texts, forms.size, sizes)
    return sizes


@compile_as(IN_U8, IN_I64, IN_I64, IN_U8, OUT_I64)
def _add_growth(data, starts, stops, size, sizes):
    for row in range(len(starts)):
        start, stop = starts[row], stops[row]
        total = stop - start + 1
        seen = np.uint8(0)
        for i in range(start, stop):
            seen |= data[up(i)]
        if seen >= 0x80:
            for i in range(start, stop):
                if data[up(i)] >= 0xC0:
                    point, following = _decode(data, i)
                    if point < LAST_ASSIGNED:
                        total += np.int64(size[up(point)]) - (following - i)
        sizes[row] = total


@compile_as(IN_U8, IN_I64, IN_I64, IN_U8, IN_U8, IN_U32, IN_U8, IN_U8, IN_U8, OUT_U8, OUT_I64, OUT_I64)
def _fold(data, starts, stops, lower, plain, first, size, forms, flags, out, out_starts, out_stops):
    at = 0
    for row in range(len(starts)):
        start = at
        i = starts[row]
        space = np.int64(1)
        while i < stops[row]:
            byte = data[up(i)]
            flag = np.int64(plain[byte])
            if flag != ODD:
                out[up(at)] = lower[byte]
                blank = (flag >> 1) & 1
                at += 1 - (space & blank)
                space = blank
                i += 1
                continue
            point, following = _decode(data, i)
            known = point < LAST_ASSIGNED
            begin = np.int64(first[up(point)]) if known else i
            for j in range(begin, begin + np.int64(size[up(point)]) if known else following):
                out[up(at)] = forms[up(j)] if known else data[up(j)]
                blank = (np.int64(flags[up(j)]) >> 1) & 1 if known else 0
                at += 1 - (space & blank)
                space = blank
            i = following
        if space and at > start:
            at -= 1
        out_starts[row] = start
        out_stops[row] = at
        at += 1


def fold(texts: Bytes) -> Bytes:
    """Fold case and white space."""
    forms = read_folds().lower
    out = np.empty(2 * len(texts.data), np.uint8)  # a lower case has at most one byte more
    out_starts, out_stops = np.empty((2, len(texts.starts)), np.int64)
    _fold(*texts, ASCII_LOWER, *forms, out, out_starts, out_stops)
    return Bytes(out, out_starts, out_stops)
