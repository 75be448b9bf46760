"""Equal after folding case and white space: the cheapest fingerprint, and the one that is always right."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag_dedup.text import content_key

__all__ = ["Exact"]


@dataclass(frozen=True, slots=True)
class Exact:
    """SHA-256 of the lower-cased, white-space-folded text.

    >>> signatures = Exact().sign(["Hello  World", "hello world", "hello"])
    >>> bool((signatures[0] == signatures[1]).all()), bool((signatures[0] == signatures[2]).all())
    (True, False)
    """

    @property
    def scheme(self) -> str:
        """The rules of :func:`rag_dedup.text.content_key`."""
        return "exact-1"

    def sign(self, texts: Sequence[str]) -> npt.NDArray[np.uint8]:
        """Return the digests, ``(n, 32)`` uint8."""
        digests = b"".join(bytes.fromhex(content_key(text)) for text in texts)
        return np.frombuffer(digests, dtype=np.uint8).reshape(-1, 32)

    def bands(self, signatures: npt.NDArray[np.uint8], scopes: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return one key for each text, ``(n, 1)``: scope and digest, hashed to 64 bits."""
        keys = self.keys(signatures, scopes)
        first = np.frombuffer(b"".join(key[:8] for key in keys), dtype="<u8")
        return first.astype(np.uint64).reshape(-1, 1)

    def keys(self, signatures: npt.NDArray[np.uint8], scopes: Sequence[str]) -> list[bytes]:
        """Return the full key of scope and digest, 32 bytes each: equal keys are equal texts."""
        return [
            hashlib.sha256(signature.tobytes() + scope.encode("utf-8", "surrogatepass")).digest()
            for signature, scope in zip(signatures, scopes, strict=True)
        ]
