"""MinHash with bands: finds candidates for near-duplicates; exact Jaccard then decides.

Sources: Broder, On the resemblance and containment of documents, 1997; Indyk and Motwani, Approximate
nearest neighbors, 1998 (bands); the ``affine32`` scheme is datasketch's (MIT), bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_dedup.errors import ConfigurationError
from rag_dedup.kernels import (
    HASH_SCHEME,
    Kernel,
    ShingleSets,
    Signed,
    combine_bands,
    hash_scopes,
    make_permutations,
    minhash,
    shingle_sets,
    sign,
)
from rag_dedup.text import SHINGLE_SIZE, TEXT_SCHEME

if TYPE_CHECKING:
    import datasketch

__all__ = ["MinHash", "choose_bands"]


def choose_bands(threshold: float, num_perm: int = 128, recall: float = 0.99) -> tuple[int, int]:
    """Return (bands, rows) with the longest rows that still find ``recall`` of pairs at ``threshold``.

    A pair of Jaccard ``s`` shares a band with probability ``1 - (1 - s**rows)**bands``; longer rows
    give fewer candidates. Verification follows, so only recall counts. A threshold so low that no shape
    reaches it (below 0.036 with 128 values) gets the shape with the most.

    Args:
        threshold: Jaccard similarity, above 0 and up to 1.
        num_perm: values in a signature.
        recall: wanted probability at exactly the threshold, below 1.

    >>> choose_bands(0.8)
    (21, 6)
    """
    for rows in range(num_perm, 0, -1):
        bands = num_perm // rows
        if 1 - (1 - threshold**rows) ** bands >= recall:
            return bands, rows
    return num_perm, 1


@dataclass(frozen=True)
class MinHash:
    """128 permutations of 32 bits over 3-token shingles, cut into bands by recall.

    Args:
        threshold: Jaccard similarity that the bands are made for, above 0 and up to 1.
        num_perm: permutations, 1 or more.
        seed: of the permutations, 0 to 2**32 - 1.

    Raises:
        ConfigurationError: an argument is out of its range.

    >>> fingerprint = MinHash()
    >>> a, b = fingerprint.sign(["the quick brown fox jumps"] * 2)
    >>> fingerprint.estimate(a, b)
    1.0
    """

    threshold: float = 0.8
    num_perm: int = 128
    seed: int = 1
    shape: tuple[int, int] = field(init=False)
    _permutations: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not isinstance(self.threshold, (int, float)) or not 0 < self.threshold <= 1:
            raise ConfigurationError(f"threshold must be above 0 and at most 1, not {self.threshold!r}")
        if self.num_perm < 1:
            raise ConfigurationError(f"num_perm must be 1 or more, not {self.num_perm}")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 32:
            raise ConfigurationError(f"seed must be a whole number from 0 to 2**32 - 1, not {self.seed!r}")
        object.__setattr__(self, "shape", choose_bands(self.threshold, self.num_perm))
        object.__setattr__(self, "_permutations", make_permutations(self.num_perm, self.seed))

    @property
    def scheme(self) -> str:
        """Everything that two comparable signatures must share."""
        bands, rows = self.shape
        return (
            f"minhash-affine32 perm={self.num_perm} bands={bands}x{rows} seed={self.seed} "
            f"shingle={SHINGLE_SIZE} {HASH_SCHEME} {TEXT_SCHEME}"
        )

    def sign(self, texts: Sequence[str]) -> npt.NDArray[np.uint32]:
        """Return the signatures, ``(n, num_perm)`` uint32."""
        return self.sign_sets(shingle_sets(texts))

    def sign_sets(self, sets: ShingleSets) -> npt.NDArray[np.uint32]:
        """Return the signatures of shingle sets that are already there."""
        return minhash(sets, self._permutations)

    def sign_all(
        self,
        texts: Sequence[str],
        scopes: Sequence[str],
        *,
        workers: int = 1,
        kernel: Kernel | None = None,
    ) -> Signed:
        """Return exact key, shingle set and bands of each text in one go: what an engine needs.

        Args:
            texts: any; best distinct ones, since each is worked on.
            scopes: one for each text.
            workers: threads, 1 or more. The result does not depend on it.
            kernel: the implementation, by default the fastest that is installed.

        >>> signed = MinHash().sign_all(["a rose is a rose", "A rose  is a rose"], ["", ""])
        >>> one, two = signed.keys()
        >>> one == two, len(signed.sets[0]), signed.bands.shape
        (True, 3, (2, 21))
        """
        return sign(texts, scopes, self._permutations, self.shape, workers=workers, kernel=kernel)

    def bands(self, signatures: npt.NDArray[np.uint32], scopes: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return the band keys, ``(n, bands)``."""
        return combine_bands(signatures, *self.shape, hash_scopes(scopes))

    def estimate(self, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]) -> float:
        """Estimate the Jaccard similarity of two signatures, 0 to 1, with error 1/sqrt(num_perm)."""
        return float(np.count_nonzero(a == b)) / self.num_perm

    def to_datasketch(self, signature: npt.NDArray[np.uint32]) -> datasketch.MinHash:
        """Return a ``datasketch.MinHash`` of scheme ``affine32`` with the same hash values.

        >>> fingerprint = MinHash()
        >>> signature = fingerprint.sign(["the quick brown fox jumps"])[0]
        >>> sketch = fingerprint.to_datasketch(signature)
        >>> bool((fingerprint.from_datasketch(sketch) == signature).all())
        True
        """
        import datasketch  # heavy, for it loads SciPy

        return datasketch.MinHash(
            num_perm=self.num_perm, seed=self.seed, scheme="affine32", hashvalues=signature.copy()
        )

    def from_datasketch(self, sketch: datasketch.MinHash) -> npt.NDArray[np.uint32]:
        """Return the signature of a ``datasketch.MinHash``.

        Raises:
            ConfigurationError: its scheme, seed or number of permutations is not ours.
        """
        scheme = getattr(sketch, "scheme", "legacy")
        if (scheme, sketch.seed, len(sketch)) != ("affine32", self.seed, self.num_perm):
            raise ConfigurationError(
                f"this MinHash is scheme={scheme!r}, seed={sketch.seed}, num_perm={len(sketch)}; "
                f"needed is scheme='affine32', seed={self.seed}, num_perm={self.num_perm}"
            )
        return np.array(sketch.hashvalues, dtype=np.uint32)
