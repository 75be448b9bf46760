"""Whether an index keeps its laws."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rag_dedup.document import Entry, EntryKey
from rag_dedup.errors import CorruptIndexError
from rag_dedup.fingerprint import MinHash
from rag_dedup.index import Header, Index, View
from rag_dedup.index.protocol import refuse_unfinished
from rag_dedup.kernels import shingle_sets
from rag_dedup.survivor import are_family, measure_similarity

__all__ = ["Fault", "verify_index"]

_BATCH = 2048
_LIMIT = 1024
"""Equal survivors that are looked at for one text."""


class Fault(NamedTuple):
    """Something that must not be.

    Args:
        kind: ``storage`` (the database says so), ``unreadable``, ``orphan`` (a duplicate without a live
            survivor), ``unlike`` (a duplicate that is none), ``double`` (two equal survivors), ``hidden``
            (a survivor that is not found) or ``unlinked`` (missing from its source or its cluster).
        scope, id: the document, ``""`` where there is none.
        text: what is wrong.
    """

    kind: str
    scope: str
    id: str
    text: str


def verify_index(index: Index) -> Iterator[Fault]:
    """Read all of an index, compute everything anew, and yield what is wrong.

    >>> from rag_dedup import Deduplicator, Document
    >>> dedup = Deduplicator()
    >>> kept = dedup.dedupe([Document("a", "Restart it."), Document("b", "restart it.")])
    >>> list(verify_index(dedup.index))
    []
    """
    for text in index.check_storage():
        yield Fault("storage", "", "", text)
    header = index.header
    with index.snapshot() as view:
        if header is None:
            if view.generation:
                yield Fault("storage", "", "", str(refuse_unfinished()))
            return
        entries = iter(view)
        try:
            while batch := list(itertools.islice(entries, _BATCH)):
                yield from _verify_links(view, batch)
                yield from _verify_duplicates(view, header, batch)
                yield from _verify_survivors(view, header, batch)
        except CorruptIndexError as error:
            yield Fault("unreadable", "", "", str(error))


def _verify_links(view: View, batch: Sequence[Entry]) -> Iterator[Fault]:
    """See whether entries can be reached from where they belong."""
    for entry, found in zip(batch, view.entries([entry.key for entry in batch]), strict=True):
        if found is None or found.order != entry.order:
            yield _blame("unlinked", entry, "it is not found by its id")
    pairs = [((e.key[0], source), e) for e in batch for source in e.sources]
    names = list(dict.fromkeys(name for name, _ in pairs))
    members = dict(zip(names, map(_name_members, view.of_sources(names)), strict=True))
    for name, entry in pairs:
        if entry.key not in members[name]:
            yield _blame("unlinked", entry, f"it is not found by its source {name[1]!r}")
    duplicates = [((e.key[0], e.survivor), e) for e in batch if e.survivor is not None]
    keys = list(dict.fromkeys(key for key, _ in duplicates))
    clusters = dict(zip(keys, map(_name_members, view.of_survivors(keys)), strict=True))
    for key, entry in duplicates:
        if entry.key not in clusters[key]:
            yield _blame("unlinked", entry, f"it is not in the cluster of {key[1]!r}")


def _name_members(entries: Sequence[Entry]) -> set[EntryKey]:
    return {entry.key for entry in entries}


def _verify_duplicates(view: View, header: Header, batch: Sequence[Entry]) -> Iterator[Fault]:
    """Laws 1 and 2: each has a live survivor that it is like."""
    duplicates = [(e, (e.key[0], e.survivor)) for e in batch if e.survivor is not None]
    survivors = view.entries([key for _, key in duplicates])
    pairs = []
    for (entry, _), survivor in zip(duplicates, survivors, strict=True):
        if survivor is None or survivor.survivor is not None:
            yield _blame("orphan", entry, f"its survivor {entry.survivor!r} is gone")
        else:
            pairs.append((entry, survivor))
    here = shingle_sets([entry.text for entry, _ in pairs])
    there = shingle_sets([survivor.text for _, survivor in pairs])
    rows = np.arange(len(pairs))
    similar = measure_similarity(here, rows, there, rows, header.threshold)
    for (entry, survivor), similarity in zip(pairs, similar.tolist(), strict=True):
        if similarity == 0:
            yield _blame("unlike", entry, f"it is not like its survivor {survivor.id!r}")


def _verify_survivors(view: View, header: Header, batch: Sequence[Entry]) -> Iterator[Fault]:
    """Each survivor is found by its text, and no other one equals it."""
    survivors = [entry for entry in batch if entry.survivor is None]
    if not survivors:
        return
    minhash = MinHash(threshold=header.threshold, seed=header.seed)
    signed = minhash.sign_all([e.text for e in survivors], [e.key[0] for e in survivors])
    filled = np.flatnonzero(signed.sets.sizes())
    signatures = signed.signatures()[filled]
    hits = view.find(signatures, _LIMIT, np.empty(0, np.int64))
    exact = hits.columns == 0
    equal: dict[int, list[int]] = {}
    for row, order in zip(hits.rows[exact].tolist(), hits.orders[exact].tolist(), strict=True):
        equal.setdefault(row, []).append(order)
    others = {e.order: e for e in view.survivors_at(sorted({o for orders in equal.values() for o in orders}))}
    for row, place in enumerate(filled.tolist()):
        entry = survivors[place]
        orders = equal.get(row, [])
        if entry.order not in orders and len(orders) < _LIMIT:
            yield _blame("hidden", entry, "it is not found by its text")
        for order in orders:
            other = others[order]
            if order < entry.order and not are_family(entry, other):
                yield _blame("double", entry, f"it equals the survivor {other.id!r}")


def _blame(kind: str, entry: Entry, text: str) -> Fault:
    return Fault(kind, entry.key[0], entry.key[1], text)
