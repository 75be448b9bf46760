"""An index in the memory of one process."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from rag_dedup.document import Changes, Document, Entry, EntryKey, GuardHit, Run, Source
from rag_dedup.errors import WorkerError
from rag_dedup.index.postings import Postings
from rag_dedup.index.protocol import Header, Measures, Transaction, check_header
from rag_dedup.index.relations import Relations
from rag_dedup.index.runs import Hits
from rag_dedup.kernels.sets import I64, U64

__all__ = ["MemoryIndex", "Tables"]

_SAMPLE = 1000
"""Entries that are measured."""
_LINKS = 300
"""Bytes that dictionaries and lists take for an entry, about."""
_ATOMS = frozenset({str, int, float, bool, type(None)})
"""Types of metadata that need not be kept as they are."""


Packed = tuple[Any, ...]
"""An entry and its document as one plain tuple. It takes less than half of the memory and, since there are
only strings and numbers in it, Python's garbage collector does not walk through it again and again."""


def _pack(entry: Entry) -> Packed:
    document = entry.document
    metadata = document.metadata
    plain = _ATOMS.issuperset(map(type, metadata.values()))
    return (
        entry.order,
        entry.source,
        entry.survivor,
        entry.method,
        entry.similarity,
        None if entry.guard is None else tuple(entry.guard),
        entry.elsewhere,
        document.text,
        document.source,
        document.url,
        document.span,
        document.related,
        tuple(itertools.chain.from_iterable(metadata.items())) if plain else metadata,
    )


def _unpack(key: EntryKey, packed: Packed) -> Entry:
    order, own, survivor, method, similarity, guard, elsewhere, text, source, url, span, related, data = (
        packed
    )
    scope, id = key
    metadata = dict(zip(data[::2], data[1::2], strict=True)) if type(data) is tuple else data
    return Entry(
        key,
        Document(id, text, source, url, scope, metadata, span, related),
        own,
        order,
        survivor,
        method,
        similarity,
        None if guard is None else GuardHit(*guard),
        elsewhere,
    )


class Tables:
    """Entries and the ways to find them: a view, and the writes of a commit."""

    def __init__(self) -> None:
        self.generation = 0
        self.next_order = 0
        self.postings = Postings()
        self.runs: list[Run] = []
        self.seen: dict[Source, int] = {}
        self._packed: dict[EntryKey, Packed] = {}
        self._relations = Relations()

    def __iter__(self) -> Iterator[Entry]:
        return map(self._unpack, sorted(self._packed, key=lambda key: self._packed[key][0]))

    def entries(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return the entry of each key."""
        return [_unpack(key, packed) if (packed := self._packed.get(key)) else None for key in keys]

    def of_sources(self, sources: Sequence[tuple[str, str]]) -> list[list[Entry]]:
        """Return the entries of each (scope, source)."""
        return [self._sort(self._relations.of_source(source)) for source in sources]

    def of_survivors(self, survivors: Sequence[EntryKey]) -> list[list[Entry]]:
        """Return the duplicates of each survivor."""
        return [self._sort(self._relations.of_survivor(survivor)) for survivor in survivors]

    def find(self, signatures: U64, limit: int, without: I64) -> Hits:
        """Return the survivors that share a key."""
        return self.postings.find(signatures, limit, without)

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors that were found, by their orders."""
        return [self._unpack(self.postings.name_of(order)) for order in orders]

    def list_runs(self) -> list[Run]:
        """Return the ingestion runs, in order."""
        return list(self.runs)

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        return {**dict.fromkeys(self._relations.sources(), 0), **self.seen}

    def measure(self) -> Measures:
        """Return how large the index is; entries are estimated from a few of them."""
        few = list(itertools.islice(self._packed.items(), _SAMPLE))
        each = sum(_LINKS + sum(map(sys.getsizeof, (*key, key, packed, *packed))) for key, packed in few)
        size = self.postings.size() + each * len(self._packed) // max(len(few), 1)
        return Measures(size, *self.postings.count(), self.postings.find_largest_key())

    def mark(self, changes: Changes) -> None:
        """Remember what a run has seen, and forget sources."""
        for source in changes.forgotten:
            self.seen.pop(source, None)
        if changes.run is not None:
            names = [run.name for run in self.runs]
            if changes.run.name not in names:
                self.runs.append(changes.run)
                names.append(changes.run.name)
            self.seen.update(dict.fromkeys(changes.seen, names.index(changes.run.name) + 1))

    def put(self, entry: Entry) -> None:
        """Insert or replace an entry."""
        self.remove(entry.key)
        self._packed[entry.key] = _pack(entry)
        self._relations.add(entry)
        if entry.order >= self.next_order:
            self.next_order = entry.order + 1

    def remove(self, key: EntryKey) -> None:
        """Remove an entry if it is there."""
        packed = self._packed.pop(key, None)
        if packed is not None:
            self._relations.discard(_unpack(key, packed))

    def _sort(self, keys: Iterable[EntryKey]) -> list[Entry]:
        return sorted(map(self._unpack, keys), key=lambda entry: entry.order)

    def _unpack(self, key: EntryKey) -> Entry:
        return _unpack(key, self._packed[key])


class MemoryIndex:
    """The default index: fast, and gone with the process. Safe to use from several threads."""

    shareable = False

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._header: Header | None = None
        self._tables = Tables()
        self._tokens: set[str] = set()
        self._process = os.getpid()
        self._lock = threading.RLock()

    def adopt(self, header: Header) -> None:
        """Take the header if the index is new, else check it."""
        with self._lock:
            if self._header is None:
                self._header = header
            check_header(self._header, header)

    @property
    def header(self) -> Header | None:
        """What the index was filled with."""
        return self._header

    def compact(self) -> None:
        """Write the postings of what is live anew."""
        with self._lock:
            self._tables.postings = self._tables.postings.rewritten()

    def check_storage(self) -> list[str]:
        """Return nothing: memory is not checked."""
        return []

    def check(self, document: Document) -> None:
        """Accept any document: it is held as it is."""

    @contextmanager
    def snapshot(self) -> Iterator[Tables]:
        """Return a context in which nobody else writes."""
        with self._lock:
            yield self._tables

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Return a context in which nobody else writes: what was written is there when it ends."""
        self._check_process()
        with self._lock:
            transaction = Transaction(self._tables, self._tokens.__contains__)
            yield transaction
            if transaction.written is not None:
                token, changes = transaction.written
                self._write(changes)
                self._tokens.add(token)
                self._tables.generation += 1

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise WorkerError(
                "this in-memory index belongs to the process that made it; what is written into the copy "
                "of a child process would be lost. Use an index that processes can share."
            )

    def _write(self, changes: Changes) -> None:
        tables = self._tables
        keys = [*changes.delete, *(entry.key for entry in changes.put)]
        before = tables.entries(keys)
        orders = [entry.order for entry in changes.posted]
        postings = tables.postings
        state = postings.save([*changes.withdrawn, *orders])
        runs = list(tables.runs)
        seen = {source: tables.seen.get(source) for source in (*changes.forgotten, *changes.seen)}
        try:
            tables.mark(changes)
            for key in changes.delete:
                tables.remove(key)
            for entry in changes.put:
                tables.put(entry)
            postings.withdraw(changes.withdrawn)
            postings.add(orders, [entry.key for entry in changes.posted], changes.signatures)
            tables.postings = postings.compacted()
        except BaseException:  # an interrupt in the middle must not leave half a commit
            tables.postings = postings
            tables.runs = runs
            for source, number in seen.items():
                tables.seen.pop(source, None)
                if number is not None:
                    tables.seen[source] = number
            postings.restore(state)
            for key, old in zip(keys, before, strict=True):
                tables.remove(key) if old is None else tables.put(old)
            raise

    def __reduce__(self) -> NoReturn:
        raise WorkerError(
            "an in-memory index cannot be sent to another process: each would keep its own copy of a "
            "duplicate. Use one process (num_workers=None) or an index that processes can share."
        )
