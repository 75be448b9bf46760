"""Which survivors are like the texts of a block.

Similarity is a matter of texts. It is worked out for a whole block at once, before its documents are
taken one after the other, and stays right while entries come and go; which of the survivors still
stand is asked when a document is placed.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Entry, EntryKey
from rag_dedup.draft import Draft
from rag_dedup.index.runs import Hits, drop_second_half, find_starts
from rag_dedup.kernels import Signed, shingle_sets
from rag_dedup.kernels.arrays import mix
from rag_dedup.kernels.sets import I64, U64
from rag_dedup.survivor import Near, measure_similarity

__all__ = ["MOST_CANDIDATES", "Matcher"]


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
        limit: int,
    ) -> None:
        self._draft = draft
        self._texts = texts
        self._sets = signed.sets
        self._exact = signed.keys()
        self._threshold = threshold
        self._limit = limit
        self.signatures = signed.signatures()
        sizes = signed.sets.sizes()
        self.has_keys: list[bool] = (sizes > 0).tolist()
        """For each text, whether it can be found at all: an empty one never matches anything."""
        filled = np.flatnonzero(sizes)
        hits = draft.find(self.signatures[filled], limit)
        hits = hits._replace(rows=filled[hits.rows])
        self._from_index = self._verify(hits)
        self._links: dict[int, list[int]] = {}
        self._echoed: set[int] = set()
        self._room: list[int] = []
        self._crowded: set[int] = set()
        self._similarities: dict[tuple[int, int], float] = {}
        self._link(filled, np.asarray(copies), hits, changing)
        self._placed: dict[int, list[tuple[EntryKey, int]]] = {}
        self._full: set[int] = set()
        self._equal: dict[bytes, list[Entry]] = {}  # by exact key: survivors in history order
        for row, near in self._from_index.items():
            equal = [survivor for same, _, survivor in near if same]
            self._equal[self._exact[row]] = sorted(equal, key=_order_of)
            if len(equal) >= limit:  # there may be more of them in the index
                self._full.add(row)

    def place(self, row: int, survivor: Entry) -> None:
        """Take note that a text of the block now has a survivor."""
        for link in self._links.get(row, ()):
            placed = self._placed.setdefault(link, [])
            if len(placed) < self._room[link]:
                placed.append((survivor.key, row))
        if row in self._echoed:
            bisect.insort(self._equal.setdefault(self._exact[row], []), survivor, key=_order_of)

    def find_equal(self, row: int) -> Entry | None:
        """Return the earliest survivor that equals a text of the block, if it is sure which one that is.

        It wins over all that are only similar, so that these need not be looked for.
        """
        equal = self._equal.get(self._exact[row])
        if not equal or row in self._full:
            return None
        while equal:
            if (standing := self._find_standing(equal[0])) is not None:
                return standing
            del equal[0]
        return None

    def find_near(self, row: int) -> list[Near]:
        """Return the survivors that are similar enough to a text of the block."""
        if row in self._crowded:
            return self._look_up(row)
        near: list[Near] = []
        if found := self._from_index.get(row):
            near += self._keep_standing(found)
        if links := self._links.get(row):
            near += self._find_placed(row, links)
        return near

    def _keep_standing(self, found: Iterable[Near]) -> Iterator[Near]:
        """Yield those that are still survivors, as they are now."""
        for equal, similarity, survivor in found:
            if (standing := self._find_standing(survivor)) is not None:
                yield Near(equal, similarity, standing)

    def _find_placed(self, row: int, links: Iterable[int]) -> list[Near]:
        """Return those that were placed since the block began."""
        # One key can have had two texts of the block: an orphan's, and then that of its revision.
        placed: dict[tuple[EntryKey, int], None] = {}
        for link in links:
            placed.update(dict.fromkeys(self._placed.get(link, ())))
        unlike = {other for _, other in placed if self._exact[other] != self._exact[row]}
        unknown = [other for other in unlike if (row, other) not in self._similarities]
        if unknown:
            self._compare(np.full(len(unknown), row), np.array(unknown))
        near = []
        for key, other in placed:
            similarity = self._similarities[row, other] if other in unlike else 1.0
            if similarity and (standing := self._find_survivor(key, self._texts[other])) is not None:
                near.append(Near(other not in unlike, similarity, standing))
        return near

    def _compare(self, rows: I64, others: I64) -> None:
        """Measure pairs of texts of the block."""
        found = measure_similarity(self._sets, rows, self._sets, others, self._threshold)
        self._similarities.update(
            zip(zip(rows.tolist(), others.tolist(), strict=True), found.tolist(), strict=True)
        )

    def _find_standing(self, survivor: Entry) -> Entry | None:
        """Return the entry of a survivor as it is now, if it is one and still has its text."""
        return self._find_survivor(survivor.key, survivor.text)

    def _find_survivor(self, key: EntryKey, text: str) -> Entry | None:
        """Return the entry of a key if it is a survivor of this text."""
        entry = self._draft.entry(key)
        return entry if entry is not None and entry.survivor is None and entry.text == text else None

    def _look_up(self, row: int) -> list[Near]:
        """Ask for one text when it is placed."""
        hits = self._draft.find(self.signatures[row : row + 1], self._limit)
        return self._verify(hits._replace(rows=np.full(len(hits.rows), row))).get(row, [])

    def _verify(self, hits: Hits) -> dict[int, list[Near]]:
        """Compare each text with its candidates."""
        # Sorted by row and survivor, the exact key before the bands; then the first of each pair counts.
        packed = np.sort((hits.rows << 32 | hits.orders) << 1 | (hits.columns > 0))
        packed = packed[find_starts(packed >> 1)]
        rows, orders, near = packed >> 33, packed >> 1 & 0xFFFFFFFF, np.flatnonzero(packed & 1)
        found, which = np.unique(orders, return_inverse=True)
        survivors = self._draft.survivors_at(found.tolist())
        similarity = np.ones(len(rows))
        wanted, places = np.unique(which[near], return_inverse=True)
        sets = shingle_sets([survivors[i].text for i in wanted.tolist()])
        similarity[near] = measure_similarity(self._sets, rows[near], sets, places, self._threshold)
        equal = np.ones(len(rows), dtype=bool)
        equal[near] = False
        like = np.flatnonzero(similarity)
        verified: dict[int, list[Near]] = {}
        columns = (rows[like].tolist(), equal[like].tolist(), similarity[like].tolist(), which[like].tolist())
        for row, same, similar, i in zip(*columns, strict=True):
            verified.setdefault(row, []).append(Near(same, similar, survivors[i]))
        return verified

    def _link(self, filled: I64, copies: I64, hits: Hits, changing: bool) -> None:
        """Number the keys that several documents of the block share, and see which are crowded."""
        keys = drop_second_half(self.signatures[filled])
        width = keys.shape[1]
        flat = keys.ravel()
        stored = np.bincount(np.searchsorted(filled, hits.rows) * width + hits.columns, minlength=len(flat))
        # Copies of one text share all of its keys; that they share the exact one is enough.
        copied = np.zeros(len(flat), dtype=bool)
        copied[::width] = copies[filled] > 1
        at = np.flatnonzero(_may_meet(flat) | copied)
        rows = filled[at // width]
        sequence = np.argsort(flat[at], kind="stable")
        starts = find_starts(flat[at][sequence])
        texts = np.diff(np.append(starts, len(at)))
        group = np.empty(len(at), np.int64)
        group[sequence] = np.repeat(np.arange(len(texts)), texts)
        members = np.bincount(group, weights=copies[rows], minlength=len(texts)).astype(np.int64)
        room = self._limit - stored[at[sequence[starts]]]
        full = members > room
        alike = np.zeros(len(texts), dtype=bool)
        alike[_find_first_of_alike(rows[sequence], starts)] = True
        shared = np.flatnonzero(((texts > 1) & (alike | full))[group] | copied[at])
        self._room = room.tolist()
        # Texts that equal others of the block.
        self._echoed = set(rows[(at % width == 0) & (members[group] > 1)].tolist())
        self._add_links(rows[shared], group[shared])
        if changing:
            crowded = np.concatenate(
                (rows[full[group]], filled[np.flatnonzero(stored >= self._limit) // width])
            )
            self._crowded = set(crowded.tolist())

    def _add_links(self, rows: I64, links: I64) -> None:
        """Link texts by keys, and compare each with the first of its key: the likeliest survivor."""
        for row, link in zip(rows.tolist(), links.tolist(), strict=True):
            self._links.setdefault(row, []).append(link)
        numbers, first = np.unique(links, return_index=True)
        pairs = np.unique(rows << 32 | rows[first[np.searchsorted(numbers, links)]])
        pairs = pairs[pairs >> 32 != pairs & 0xFFFFFFFF]
        self._compare(pairs >> 32, pairs & 0xFFFFFFFF)


def _order_of(entry: Entry) -> int:
    return entry.order


def _may_meet(keys: U64) -> npt.NDArray[np.bool_]:
    """Tell which keys may be there twice: those whose first bits are. It saves sorting the others."""
    width = max(8, (2 * len(keys)).bit_length())
    buckets = keys >> np.uint64(64 - width)
    numbers = np.arange(len(keys), dtype=np.uint32)
    last = np.empty(1 << width, np.uint32)
    last[buckets] = numbers  # of several, one stays
    several = np.zeros(1 << width, dtype=bool)
    several[buckets[last[buckets] != numbers]] = True
    met: npt.NDArray[np.bool_] = several[buckets]
    return met


def _find_first_of_alike(rows: I64, starts: I64) -> I64:
    """Return groups of rows, but of equal ones only the first: near-duplicates share many keys."""
    marks = mix(rows.astype(np.uint64) + np.uint64(1))  # the sum of these is a hash of the set
    return np.unique(np.add.reduceat(marks, starts) if len(starts) else marks, return_index=True)[1]
