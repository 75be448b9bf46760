"""An index in the memory of one process."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Changes, Entry, EntryKey
from rag_dedup.errors import StalePlanError, WorkerError
from rag_dedup.index.protocol import Header, check_header

__all__ = ["MemoryIndex", "Tables"]

_Keys = dict[EntryKey, None]  # an ordered set


class Tables:
    """Entries and the ways to find them. A view that can be written; no locks, no generations."""

    def __init__(self) -> None:
        self.generation = 0
        self.next_order = 0
        self._entries: dict[EntryKey, Entry] = {}
        self._by_source: dict[tuple[str, str], _Keys] = {}
        self._by_survivor: dict[EntryKey, _Keys] = {}
        self._by_exact_key: dict[bytes, _Keys] = {}
        self._by_band: dict[int, _Keys] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, key: EntryKey) -> bool:
        return key in self._entries

    def entries(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return the entry of each key."""
        return [self._entries.get(key) for key in keys]

    def of_sources(self, sources: Sequence[tuple[str, str]]) -> list[list[Entry]]:
        """Return the entries of each (scope, source)."""
        return [self._sort(self._by_source.get(source, {})) for source in sources]

    def of_survivors(self, survivors: Sequence[EntryKey]) -> list[list[Entry]]:
        """Return the duplicates of each survivor."""
        return [self._sort(self._by_survivor.get(survivor, {})) for survivor in survivors]

    def candidates(self, exact_keys: Sequence[bytes], bands: npt.NDArray[np.uint64]) -> list[list[Entry]]:
        """Return the survivors that share the exact key or a band."""
        found = []
        for exact_key, row in zip(exact_keys, bands.tolist(), strict=True):
            keys = dict(self._by_exact_key.get(exact_key, {}))
            for band in row:
                keys.update(self._by_band.get(band, {}))
            found.append(self._sort(keys))
        return found

    def put(self, entry: Entry) -> None:
        """Insert or replace an entry."""
        self.remove(entry.key)
        self._entries[entry.key] = entry
        self.next_order = max(self.next_order, entry.order + 1)
        for table, name in self._places(entry):
            table.setdefault(name, {})[entry.key] = None

    def remove(self, key: EntryKey) -> None:
        """Remove an entry if it is there."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        for table, name in self._places(entry):
            keys = table[name]
            del keys[key]
            if not keys:
                del table[name]

    def _places(self, entry: Entry) -> Iterator[tuple[dict, object]]:  # type: ignore[type-arg]
        """Yield where an entry can be found; only survivors by exact key and band."""
        scope = entry.document.scope
        for source in dict.fromkeys(entry.sources):
            yield self._by_source, (scope, source)
        if entry.survivor is not None:
            yield self._by_survivor, (scope, entry.survivor)
        elif len(entry.shingles):  # an empty text never matches anything
            yield self._by_exact_key, entry.exact_key
            for band in dict.fromkeys(entry.bands.tolist()):
                yield self._by_band, band

    def _sort(self, keys: _Keys) -> list[Entry]:
        return sorted((self._entries[key] for key in keys), key=lambda entry: entry.order)


class MemoryIndex:
    """The default index: fast, and gone with the process. Safe to use from several threads."""

    shareable = False

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._header: Header | None = None
        self._tables = Tables()
        self._tokens: list[str] = []
        self._lock = threading.RLock()

    def adopt(self, header: Header) -> None:
        """Take the header if the index is new, else check it."""
        with self._lock:
            if self._header is None:
                self._header = header
            check_header(self._header, header)

    @contextmanager
    def snapshot(self) -> Iterator[Tables]:
        """Return a context in which nobody else writes."""
        with self._lock:
            yield self._tables

    def apply(self, generation: int, token: str, changes: Changes) -> None:
        """Write ``changes`` as one step from ``generation``."""
        with self._lock:
            if generation < len(self._tokens) and self._tokens[generation] == token:
                return
            if generation != self._tables.generation:
                raise StalePlanError(
                    f"the plan is about state {generation} of the index, which is now at "
                    f"{self._tables.generation}; nothing was written, plan again"
                )
            self._write(changes)
            self._tokens.append(token)
            self._tables.generation += 1

    def _write(self, changes: Changes) -> None:
        keys = [*changes.delete, *(entry.key for entry in changes.put)]
        before = list(zip(keys, self._tables.entries(keys), strict=True))
        try:
            for key in changes.delete:
                self._tables.remove(key)
            for entry in changes.put:
                self._tables.put(entry)
        except BaseException:  # an interrupt in the middle must not leave half a commit
            for key, old in before:
                self._tables.remove(key) if old is None else self._tables.put(old)
            raise

    def __reduce__(self) -> NoReturn:
        raise WorkerError(
            "an in-memory index cannot be sent to another process: each would keep its own copy of a "
            "duplicate. Use one process (num_workers=None) or an index that processes can share."
        )
