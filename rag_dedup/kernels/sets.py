"""The arrays that go between the steps of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "FOLDED",
    "I64",
    "JOINED",
    "PLAIN",
    "U8",
    "U32",
    "U64",
    "Bytes",
    "Kernel",
    "Permutations",
    "Reading",
    "ShingleSets",
    "Signed",
]

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

Permutations = tuple[U32, U32]
"""The pairs ``(a, b)`` of MinHash."""


@dataclass(frozen=True, slots=True, eq=False)
class ShingleSets:
    """The shingle sets of a batch: ``values[offsets[i]:offsets[i + 1]]`` is text ``i``'s, sorted."""

    values: U64
    offsets: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> U64:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def sizes(self) -> I64:
        """Return the number of distinct shingles of each text."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """All that is needed of a batch to find and verify duplicates, a row for each text.

    Args:
        exact_keys: ``(n, 16)`` uint8: equal for equal texts of one scope, see :func:`rag_dedup.kernels.sign`.
        sets: the shingle sets.
        bands: band keys, ``(n, bands)`` uint64.
    """

    exact_keys: U8
    sets: ShingleSets
    bands: U64

    def __len__(self) -> int:
        return len(self.exact_keys)

    def signatures(self) -> U64:
        """Return all keys of each text, ``(n, 2 + bands)`` uint64: halves of the exact key, then bands."""
        halves = np.ascontiguousarray(self.exact_keys).view("<u8").astype(np.uint64)
        return np.concatenate((halves, self.bands), axis=1)

    def keys(self) -> list[bytes]:
        """Return the exact keys as bytes, for a dictionary."""
        keys: list[bytes] = np.ascontiguousarray(self.exact_keys).view("V16").ravel().tolist()
        return keys


PLAIN, FOLDED, JOINED = 0, 1, 2
"""Kinds of texts: the same with case and white space folded as normalised; others; and those that must be
normalised as a whole, since characters may join."""


class Bytes(NamedTuple):
    """Texts in UTF-8 that lie end to end: text ``i`` is ``data[starts[i]:stops[i]]``."""

    data: U8
    starts: I64
    stops: I64


class Reading(NamedTuple):
    """What a kernel reads out of texts.

    Args:
        normal: the normalised texts.
        sets: the shingle sets; one of value 0 for a text of fewer tokens than a shingle has.
        short: rows of these.
        kinds: of each text; what stands for a ``JOINED`` one is of no use.
    """

    normal: Bytes
    sets: ShingleSets
    short: I64
    kinds: U8


class Kernel(Protocol):
    """What an implementation offers. One byte of white space stands behind each text."""

    def read(self, texts: Bytes, composed: bool) -> Reading:
        """Normalise and shingle texts. Those that are ``composed`` already have nothing to join."""

    def fold(self, texts: Bytes) -> Bytes:
        """Fold case and white space."""

    def minhash(self, sets: ShingleSets, permutations: Permutations) -> U32:
        """Return the MinHash signatures ``(n, num_perm)``; an empty set has all ones."""

    def combine_bands(self, signatures: U32, bands: int, rows: int, scopes: U64) -> U64:
        """Return the band keys ``(n, bands)``: each a hash of scope, band number and ``rows`` values."""

    def simhash(self, sets: ShingleSets) -> U64:
        """Return the 64-bit SimHash of each set."""

    def count_pairs(self, a: ShingleSets, rows_a: I64, b: ShingleSets, rows_b: I64, least: I64) -> I64:
        """Return how many shingles each pair shares, 0 where these are fewer than ``least``."""
