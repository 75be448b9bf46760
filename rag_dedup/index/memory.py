"""An index in the memory of one process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from rag_dedup.document import Changes, Document
from rag_dedup.errors import WorkerError
from rag_dedup.index.protocol import Header, Transaction, check_header, refuse_unfinished
from rag_dedup.index.tables import Tables

__all__ = ["MemoryIndex"]


class MemoryIndex:
    """The default index: fast, and gone with the process. Safe to use from several threads."""

    shareable = False

    def __init__(self) -> None:
        self._header: Header | None = None
        self._tables = Tables()
        self._tokens: set[str] = set()
        self._process = os.getpid()
        self._lock = threading.RLock()

    @property
    def identity(self) -> str:
        """Names this very index."""
        return self._tables.identity

    def adopt(self, header: Header, *, filled: bool = False) -> None:
        """Take the header if the index has none, else check it."""
        with self._lock:
            if self._header is None:
                if self._tables.generation and not filled:
                    raise refuse_unfinished()
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

    def drop(self) -> None:
        """Forget everything."""
        self._check_process()
        with self._lock:
            self._header, self._tables, self._tokens = None, Tables(), set()

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
            tables.remove(changes.delete)
            tables.put(changes.put)
            postings.withdraw(changes.withdrawn)
            postings.add(orders, changes.signatures)
            tables.postings = postings.compacted()
        except BaseException:  # an interrupt in the middle must not leave half a commit
            tables.postings = postings
            tables.runs = runs
            for source, number in seen.items():
                tables.seen.pop(source, None)
                if number is not None:
                    tables.seen[source] = number
            postings.restore(state)
            tables.remove(key for key, old in zip(keys, before, strict=True) if old is None)
            tables.put(old for old in before if old is not None)
            raise

    def __reduce__(self) -> NoReturn:
        raise WorkerError(
            "an in-memory index cannot be sent to another process: each would keep its own copy of a "
            "duplicate. Use one process (num_workers=None) or an index that processes can share."
        )
