"""Fingerprints: one file each, one protocol, one contract test that all of them pass.

A fingerprint signs texts in batches. Its signatures can be compared only with signatures of the same
``scheme``, which is why an index stores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rag_dedup.fingerprint.exact import Exact
from rag_dedup.fingerprint.minhash import MinHash, choose_bands
from rag_dedup.fingerprint.simhash import SimHash, simhash

__all__ = ["Exact", "Fingerprint", "MinHash", "SimHash", "choose_bands", "simhash"]


class Fingerprint(Protocol):
    """What every fingerprint can do."""

    @property
    def scheme(self) -> str:
        """Algorithm, parameters, seed and text rules: what must be equal for signatures to compare."""

    def sign(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """Return one signature per text, in order: an array whose first axis is the batch."""

    def bands(self, signatures: npt.NDArray[Any], scopes: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return the keys ``(n, b)`` whose sharing makes two texts of one scope candidates."""
