"""Equal after folding case and white space: the cheapest fingerprint, and the one that is always right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag_dedup.kernels import read
from rag_dedup.kernels.batch import digest_scopes

__all__ = ["Exact"]


@dataclass(frozen=True, slots=True)
class Exact:
    """The first 16 bytes of the SHA-256 of the lower-cased, white-space-folded text.

    >>> signatures = Exact().sign(["Hello  World", "hello world", "hello"])
    >>> bool((signatures[0] == signatures[1]).all()), bool((signatures[0] == signatures[2]).all())
    (True, False)
    """

    @property
    def scheme(self) -> str:
        """Names the rules: those of :func:`rag_dedup.kernels.sign`."""
        return "exact-2"

    def sign(self, texts: Sequence[str]) -> npt.NDArray[np.uint8]:
        """Return the digests, ``(n, 16)`` uint8."""
        return read(texts)[0]

    def bands(self, signatures: npt.NDArray[np.uint8], scopes: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return one key for each text, ``(n, 1)``: the first half of its exact key."""
        keys = np.ascontiguousarray(signatures ^ digest_scopes(scopes))
        return keys.view("<u8")[:, :1].astype(np.uint64)

    def keys(self, signatures: npt.NDArray[np.uint8], scopes: Sequence[str]) -> list[bytes]:
        """Return the exact keys, 16 bytes each: equal keys are equal texts of one scope."""
        return [key.tobytes() for key in signatures ^ digest_scopes(scopes)]
