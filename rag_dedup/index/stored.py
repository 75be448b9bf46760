"""An index in a database: what all databases have in common.

A database keeps rows and gives transactions, see :mod:`rag_dedup.index.database`. What the rows mean is
said here, once for all of them.

An entry is named by its order, which no other one ever has. The index finds it

* by its name, a hash of (scope, id),
* by what it belongs to: a source, or a survivor,
* by its postings. These are sorted runs, cut into pages, since databases are quick with few large rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from rag_dedup.document import Changes, Document, Entry, EntryKey, Run, Source
from rag_dedup.errors import ConfigurationError, CorruptIndexError
from rag_dedup.index.database import RunRow, Session, Store, Writes
from rag_dedup.index.paged import PagedRun, RunCache, cut_pages, decode_postings
from rag_dedup.index.protocol import (
    Header,
    Measures,
    Transaction,
    check_header,
    number_runs,
    refuse_unfinished,
)
from rag_dedup.index.record import check_metadata, decode_entry, encode_entry, name_entry, name_group
from rag_dedup.index.runs import (
    Hits,
    Holders,
    count_merged,
    find_largest_key,
    is_worth_rewriting,
    make_run,
    merge_runs,
    search_runs,
)
from rag_dedup.kernels.sets import I64, U64

__all__ = ["StoredIndex"]

_LONGEST_RUN = 1 << 24
"""Postings; longer runs are not merged, so that no transaction rewrites more than 128 MB of them."""
_SCANNED = 4096
"""Orders that are asked for at once where everything is read."""
_SIGNATURE = np.dtype("<u8")


class StoredView:
    """A state of the index, through a session."""

    def __init__(self, session: Session, cache: RunCache) -> None:
        self._session = session
        self._cache = cache
        self.state = session.read_state()
        self._entries: dict[EntryKey, Entry | None] = {}
        self._by_order: dict[int, Entry] = {}
        self._names: dict[EntryKey, bytes] = {}  # of what was asked for; they are written under it
        self._signatures: dict[int, bytes | None] = {}
        self._runs: list[PagedRun] | None = None

    @property
    def identity(self) -> str:
        """Names the index."""
        return self.state.identity

    @property
    def generation(self) -> int:
        """How many writes led to this state."""
        return self.state.generation

    @property
    def next_order(self) -> int:
        """The order that the next new entry gets."""
        return self.state.next_order

    def __iter__(self) -> Iterator[Entry]:
        for start in range(0, self.state.next_order, _SCANNED):
            records = self._session.read_records(range(start, start + _SCANNED))
            for order in sorted(records):
                yield decode_entry(order, records[order])

    def entries(self, keys: Sequence[EntryKey]) -> list[Entry | None]:
        """Return the entry of each key."""
        names = {name_entry(key): key for key in keys if key not in self._entries}
        if names:
            self._names.update((key, name) for name, key in names.items())
            orders = self._session.find_orders(list(names))
            self._load(orders.values())
            for name, key in names.items():
                entry = self._by_order[orders[name]] if name in orders else None
                if entry is not None and entry.key != key:
                    raise CorruptIndexError(f"entry {entry.order} of the index is not the one that was asked")
                self._entries[key] = entry
        return [self._entries[key] for key in keys]

    def of_sources(self, sources: Sequence[tuple[str, str]]) -> list[list[Entry]]:
        """Return the entries of each (scope, source)."""
        return self._read_groups([name_group("source", source) for source in sources])

    def of_survivors(self, survivors: Sequence[EntryKey]) -> list[list[Entry]]:
        """Return the duplicates of each survivor."""
        return self._read_groups([name_group("survivor", survivor) for survivor in survivors])

    def find(self, signatures: U64, limit: int, without: I64) -> Hits:
        """Return the survivors that share a key."""
        keys = signatures.shape[0] * (signatures.shape[1] - 1)
        return search_runs(
            self._open_runs(), signatures, np.arange(keys), limit, without, self._hold(signatures.shape[1])
        )

    def survivors_at(self, orders: Sequence[int]) -> list[Entry]:
        """Return the survivors that were found, by their orders."""
        self._load(orders)
        return [self._by_order[order] for order in orders]

    def list_runs(self) -> list[Run]:
        """Return the ingestion runs, in order."""
        return self._session.list_ingestions()

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        sources, runs = self._session.list_sources(), len(self.list_runs())
        if any(number > runs for number in sources.values()):
            raise CorruptIndexError("the index lacks runs that have seen sources")
        return sources

    def measure(self) -> Measures:
        """Return how large the index is."""
        largest = find_largest_key(self._open_runs())
        return Measures(self._session.measure(), self.state.live, self.state.dead, largest)

    def write(self, token: str, changes: Changes) -> None:
        """Write ``changes`` as the next step."""
        keys = [*changes.delete, *(entry.key for entry in changes.put)]
        known = dict(zip(keys, self.entries(keys), strict=True))
        name_groups = partial(_name_groups, names={})  # many entries come from one source
        writes = Writes(self.state, token)
        for key in changes.delete:
            if (old := known[key]) is not None:
                writes.deleted.append((old.order, name_entry(key)))
                writes.left += [(group, old.order) for group in name_groups(old)]
        for entry in changes.put:
            old = known[entry.key]
            if old is not None and old.order != entry.order:
                raise CorruptIndexError(f"entry {old.order} of the index cannot become entry {entry.order}")
            before, after = set() if old is None else set(name_groups(old)), set(name_groups(entry))
            writes.left += [(group, entry.order) for group in sorted(before - after)]
            writes.joined += [(group, entry.order) for group in sorted(after - before)]
            name = self._names.get(entry.key) or name_entry(entry.key)
            writes.records.append((entry.order, name, encode_entry(entry)))
        self._write_signatures(writes, changes)
        self._write_sources(writes, changes)
        orders = [self.state.next_order, *(entry.order + 1 for entry in changes.put)]
        writes.state = replace(writes.state, generation=self.state.generation + 1, next_order=max(orders))
        self._session.write(writes)

    def compact(self) -> None:
        """Write the postings of what is live anew."""
        writes = Writes(self.state)
        self._write_signatures(writes, Changes(), compact=True)
        self._session.write(writes)

    def _write_signatures(self, writes: Writes, changes: Changes, *, compact: bool = False) -> None:
        posted = [entry.order for entry in changes.posted]
        coming = set(posted)
        gone = self._session.read_signatures(changes.withdrawn)
        writes.unsigned += [order for order in gone if order not in coming]
        rows = changes.signatures.astype(_SIGNATURE, copy=False)
        writes.signatures += [(order, row.tobytes()) for order, row in zip(posted, rows, strict=True)]
        live, dead = self.state.live + len(posted) - len(gone), self.state.dead + len(gone)
        numbers = iter(range(self.state.next_run, self.state.next_run + (1 << 32)))
        if compact or is_worth_rewriting(dead, live):
            dead = 0
            writes.dropped += [run.number for run in self._session.read_runs()]
            runs = list(self._rewrite(set(gone), dict(writes.signatures)))
        else:
            runs = self._extend(writes, make_run(np.array(posted, np.int64), changes.signatures))
        for run in runs:
            if len(run):
                fences, pages = cut_pages(run)
                writes.runs.append((RunRow(next(numbers), len(run), fences), pages))
        writes.state = replace(writes.state, live=live, dead=dead, next_run=next(numbers))

    def _write_sources(self, writes: Writes, changes: Changes) -> None:
        writes.forgotten += changes.forgotten
        sources = dict.fromkeys((e.key[0], source) for e in changes.put for source in e.sources)
        if changes.runs:
            numbers = number_runs(self._session.list_ingestions(), changes.runs)
            writes.ingestions += numbers.new
            writes.seen += [(*source, numbers.by_scope[source[0]]) for source in changes.seen]
            for source in changes.seen:
                sources.pop(source, None)
        writes.sources += sources

    def _extend(self, writes: Writes, run: U64) -> list[U64]:
        """Return the run to write; those that go into it are dropped."""
        stored = self._session.read_runs() if len(run) else []
        merged = count_merged([old.length for old in stored], len(run), _LONGEST_RUN)
        if not merged:
            return [run]
        going = stored[len(stored) - merged :]
        writes.dropped += [old.number for old in going]
        return [merge_runs([*(self._open(old).read_all() for old in going), run])]

    def _rewrite(self, gone: set[int], new: dict[int, bytes]) -> Iterator[U64]:
        """Return the postings of all that are live, anew."""
        signed: dict[int, bytes] = {}
        for start in range(0, self.state.next_order, _SCANNED):
            found = self._session.read_signatures(range(start, start + _SCANNED))
            signed.update((order, data) for order, data in found.items() if order not in gone)
        signed.update(new)
        orders = sorted(signed)
        if not orders:
            return
        width = len(signed[orders[0]]) // _SIGNATURE.itemsize
        step = max(1, _LONGEST_RUN // width)
        for start in range(0, len(orders), step):
            part = orders[start : start + step]
            yield make_run(np.array(part, np.int64), _stack([signed[order] for order in part], width))

    def _load(self, orders: Iterable[int]) -> None:
        """Read the entries of orders that are there."""
        missing = [order for order in dict.fromkeys(orders) if order not in self._by_order]
        if missing:
            records = self._session.read_records(missing)
            for order in missing:
                if order not in records:
                    raise CorruptIndexError(f"entry {order} of the index is missing")
                entry = self._by_order[order] = decode_entry(order, records[order])
                self._entries[entry.key] = entry

    def _read_groups(self, groups: Sequence[bytes]) -> list[list[Entry]]:
        found = self._session.read_groups(list(dict.fromkeys(groups)))
        self._load(order for orders in found.values() for order in orders)
        return [[self._by_order[order] for order in found.get(group, ())] for group in groups]

    def _open_runs(self) -> list[PagedRun]:
        if self._runs is None:
            rows = self._session.read_runs()
            self._cache.keep_only(rows)
            self._runs = list(map(self._open, rows))
        return self._runs

    def _open(self, run: RunRow) -> PagedRun:
        def read(pages: Sequence[int]) -> list[U64]:
            found = self._session.read_pages(run.number, pages)
            if len(found) < len(pages):
                raise CorruptIndexError(f"run {run.number} of the index lacks pages")
            return [decode_postings(found[page]) for page in pages]

        return PagedRun(run, decode_postings(run.fences), run.length, read, self._cache)

    def _hold(self, width: int) -> Holders:
        """Return what tells who can be found."""

        def hold(orders: I64) -> tuple[npt.NDArray[np.bool_], U64]:
            distinct, which = np.unique(orders, return_inverse=True)
            asked = distinct.tolist()
            missing = [order for order in asked if order not in self._signatures]
            if missing:
                found = self._session.read_signatures(missing)
                self._signatures.update((order, found.get(order)) for order in missing)
            blank = bytes(width * _SIGNATURE.itemsize)
            rows = [self._signatures[order] for order in asked]
            there = np.array([row is not None for row in rows], dtype=bool)
            signatures = _stack([blank if row is None else row for row in rows], width)
            return there[which], signatures[which]

        return hold


class StoredIndex:
    """An index in a database, which processes can share."""

    shareable = True

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache = RunCache()
        self._adopted: str | None = None  # the identity of what has, or was given, our header

    @property
    def identity(self) -> str:
        """Names this very index."""
        with self._store.reading() as session:
            return session.read_state().identity

    @property
    def header(self) -> Header | None:
        """What the index was filled with."""
        with self._store.reading() as session:
            return session.read_state().header

    def compact(self) -> None:
        """Write the postings of what is live anew, and give back the room of what is gone."""
        with self._store.writing() as session:
            StoredView(session, self._cache).compact()
        self._store.vacuum()

    def check_storage(self) -> list[str]:
        """Return what the database finds wrong with itself."""
        with self._store.reading() as session:
            return session.check()

    def drop(self) -> None:
        """Remove the index from its database."""
        self._store.drop()

    def adopt(self, header: Header, *, filled: bool = False) -> None:
        """Take the header if the index has none, else check it."""
        stored = self.header
        if stored is None:
            with self._store.writing() as session:
                state = session.read_state()
                stored = state.header
                if stored is None:
                    if state.generation and not filled:
                        raise refuse_unfinished()
                    session.write(Writes(replace(state, header=header)))
                    stored = header
        check_header(stored, header)
        self._adopted = self.identity

    def check(self, document: Document) -> None:
        """See whether the metadata of a document can be stored."""
        check_metadata(document)

    @contextmanager
    def snapshot(self) -> Iterator[StoredView]:
        """Return a context in which the view does not change."""
        with self._store.reading() as session:
            yield self._view(session)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Return a context in which nobody else writes."""
        with self._store.writing() as session:
            view = self._view(session)
            transaction = Transaction(view, session.was_written)
            yield transaction
            if transaction.written is not None:
                view.write(*transaction.written)

    def _view(self, session: Session) -> StoredView:
        view = StoredView(session, self._cache)
        if self._adopted not in (None, view.identity):
            raise ConfigurationError(
                "the index was dropped and made anew meanwhile, perhaps with other settings: open it again"
            )
        return view

    def close(self) -> None:
        """Close connections and files; the index opens them again when it is used."""
        self._store.close()

    def __reduce__(self) -> tuple[type[StoredIndex], tuple[Store]]:
        return StoredIndex, (self._store,)


def _name_groups(entry: Entry, names: dict[tuple[str, str, str], bytes]) -> list[bytes]:
    """Return the names of what an entry belongs to; those that were made before are in ``names``."""
    scope = entry.key[0]
    groups = [("source", scope, source) for source in entry.sources]
    if entry.survivor is not None:
        groups.append(("survivor", scope, entry.survivor))
    for group in groups:
        if group not in names:
            names[group] = name_group(group[0], group[1:])
    return [names[group] for group in groups]


def _stack(rows: Sequence[bytes], width: int) -> U64:
    """Return signatures as an array."""
    try:
        data = np.frombuffer(b"".join(rows), _SIGNATURE).reshape(len(rows), width)
    except (TypeError, ValueError) as error:
        raise CorruptIndexError(f"a signature of the index cannot be read: {error}") from error
    return data.astype(np.uint64, copy=False)
