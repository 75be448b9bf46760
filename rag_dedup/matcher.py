"""Which survivors are like the texts of a block.

Similarity is a matter of texts. It is worked out for a whole block at once, before its documents are
taken one after the other, and stays right while entries come and go; which of the survivors still
stand is asked when a document is placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Entry, EntryKey
from rag_dedup.draft import Draft
from rag_dedup.index.postings import Hits
from rag_dedup.kernels import Signed, shingle_sets
from rag_dedup.survivor import Near, measure_similarity

__all__ = ["MOST_CANDIDATES", "Matcher"]

I64 = npt.NDArray[np.int64]

MOST_CANDIDATES = 64
"""Survivors that are compared for one key, the earliest. More share a band only where a template or an
attacker makes them, and each text has many bands."""


class Matcher:
    """The texts of one block, and the survivors that are like them.

    Args:
        draft: what the block is taken against.
        texts: distinct, within a scope.
        signed: their signatures.
        copies: how many documents of the block may be placed with each text.
        threshold: least Jaccard similarity, above 0 and up to 1.
        changing: whether survivors may go while the block is taken.
        limit: most candidates for each key.
    """

    def __init__(
        self,
        draft: Draft,
        texts: Sequence[str],
        signed: Signed,
        copies: Sequence[int],
        *,
        threshold: float,
        changing: bool,
        limit: int = MOST_CANDIDATES,
    ) -> None:
        self._draft = draft
        self._texts = texts
        self._sets = signed.sets
        self._exact = signed.keys()
        self._threshold = threshold
        self._limit = limit
        self.signatures = signed.signatures()
        filled = np.flatnonzero(signed.sets.sizes())  # an empty text never matches anything
        hits = draft.find(self.signatures[filled], limit)
        hits = hits._replace(rows=filled[hits.rows])
        self._from_index = self._verify(hits)
        self._links: dict[int, list[int]] = {}
        self._room: list[int] = []
        self._crowded: set[int] = set()
        self._link(filled, np.asarray(copies), hits, changing)
        self._placed: list[list[tuple[EntryKey, int]]] = [[] for _ in self._room]
        self._similarities: dict[tuple[int, int], float] = {}

    def has_keys(self, row: int) -> bool:
        """Tell whether a text can be found at all."""
        return bool(self._sets.offsets[row] < self._sets.offsets[row + 1])

    def place(self, row: int, key: EntryKey) -> None:
        """Take note that a text of the block now has a survivor."""
        for link in self._links.get(row, ()):
            if len(self._placed[link]) < self._room[link]:
                self._placed[link].append((key, row))

    def find_near(self, row: int) -> list[Near]:
        """Return the survivors that are similar enough to a text of the block."""
        if row in self._crowded:
            return self._look_up(row)
        near = [
            Near(equal, similarity, standing)
            for equal, similarity, survivor in self._from_index.get(row, ())
            if (standing := self._find_standing(survivor.key, survivor.document.text)) is not None
        ]
        links = self._links.get(row)
        if links is not None:
            near += self._find_placed(row, links)
        return near

    def _find_placed(self, row: int, links: Iterable[int]) -> list[Near]:
        """Return those that were placed since the block began."""
        others: dict[EntryKey, int] = {}
        for link in links:
            others.update(self._placed[link])
        if not others:
            return []
        unlike = {other for other in others.values() if self._exact[other] != self._exact[row]}
        self._compare(row, sorted(other for other in unlike if (row, other) not in self._similarities))
        near = []
        for key, other in others.items():
            similarity = self._similarities[row, other] if other in unlike else 1.0
            if similarity and (standing := self._find_standing(key, self._texts[other])) is not None:
                near.append(Near(other not in unlike, similarity, standing))
        return near

    def _compare(self, row: int, others: list[int]) -> None:
        if others:
            rows = np.full(len(others), row)
            found = measure_similarity(self._sets, rows, self._sets, np.array(others), self._threshold)
            self._similarities.update(zip(((row, other) for other in others), found.tolist(), strict=True))

    def _find_standing(self, key: EntryKey, text: str) -> Entry | None:
        """Return the entry of a key if it is a survivor and still has this text."""
        entry = self._draft.entry(key)
        return entry if entry is not None and entry.survivor is None and entry.document.text == text else None

    def _look_up(self, row: int) -> list[Near]:
        """Ask for one text when it is placed."""
        hits = self._draft.find(self.signatures[row : row + 1], self._limit)
        return self._verify(hits._replace(rows=np.full(len(hits.rows), row))).get(row, [])

    def _verify(self, hits: Hits) -> dict[int, list[Near]]:
        """Compare each text with its candidates."""
        pairs = np.unique(np.stack((hits.rows, hits.orders, hits.columns > 0), axis=1), axis=0)
        # The exact key comes first.
        first = np.ones(len(pairs), dtype=bool)
        first[1:] = (pairs[1:, :2] != pairs[:-1, :2]).any(axis=1)
        pairs = pairs[first]
        orders, which = np.unique(pairs[:, 1], return_inverse=True)
        survivors = self._draft.survivors_at(orders.tolist())
        similarity = np.ones(len(pairs))
        near = np.flatnonzero(pairs[:, 2])
        wanted, places = np.unique(which[near], return_inverse=True)
        sets = shingle_sets([survivors[i].document.text for i in wanted.tolist()])
        similarity[near] = measure_similarity(self._sets, pairs[near, 0], sets, places, self._threshold)
        found: dict[int, list[Near]] = {}
        columns = (pairs[:, 0].tolist(), which.tolist(), (pairs[:, 2] == 0).tolist(), similarity.tolist())
        for row, i, equal, similar in zip(*columns, strict=True):
            if similar:
                found.setdefault(row, []).append(Near(equal, similar, survivors[i]))
        return found

    def _link(self, filled: I64, copies: I64, hits: Hits, changing: bool) -> None:
        """Number the keys that several documents of the block share, and see which are crowded."""
        keys = np.delete(self.signatures[filled], 1, axis=1)
        width = keys.shape[1]
        flat = keys.ravel()
        sequence = np.argsort(flat, kind="stable")
        new = np.ones(len(flat), dtype=bool)
        new[1:] = flat[sequence[1:]] != flat[sequence[:-1]]
        group = np.empty(len(flat), np.int64)
        group[sequence] = np.cumsum(new) - 1
        weight = np.repeat(copies[filled], width)
        members = np.bincount(group, weights=weight).astype(np.int64)
        rows, columns = np.divmod(np.arange(len(flat)), width)
        # Copies of one text share all of its keys; that they share the exact one is enough.
        texts = np.bincount(group, minlength=len(members))
        shared = (texts[group] > 1) | ((columns == 0) & (members[group] > 1))
        numbers, links = np.unique(group[shared], return_inverse=True)
        stored = np.zeros(len(members), np.int64)
        place = np.searchsorted(filled, hits.rows) * width + hits.columns
        counts = np.bincount(place, minlength=len(flat))
        np.maximum.at(stored, group, counts)
        self._room = (self._limit - stored[numbers]).tolist()
        for row, link in zip(filled[rows[shared]].tolist(), links.tolist(), strict=True):
            self._links.setdefault(row, []).append(link)
        if changing:
            crowded = stored[group] + members[group] > self._limit
            self._crowded = set(filled[rows[crowded]].tolist())
