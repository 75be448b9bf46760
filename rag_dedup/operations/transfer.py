"""Move an index somewhere else, or make one of several."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from rag_dedup.deduplicator import Deduplicator
from rag_dedup.document import Changes, Document, Drift, Entry, EntryKey, Run, Source
from rag_dedup.errors import ConfigurationError, InputError
from rag_dedup.fingerprint import Exact, MinHash
from rag_dedup.guard import DEFAULT_GUARDS, Guard
from rag_dedup.index import Header, Index, View, check_header
from rag_dedup.index.protocol import refuse_unfinished
from rag_dedup.index.record import encode_entry
from rag_dedup.operations.export import VERSION, ExportBody, read_header
from rag_dedup.url import KEY_SCHEME

__all__ = ["export_index", "import_index", "merge_indexes", "open_deduplicator"]

_BATCH = 4096


def open_deduplicator(index: Index, guards: Sequence[Guard] = DEFAULT_GUARDS) -> Deduplicator:
    """Return an engine with the settings that an index was filled with.

    Args:
        index: has been filled.
        guards: where those of the index are looked up by name.

    Raises:
        ConfigurationError: the index is empty, what should have filled it was cut off, or it has a guard that
            is not among them.
    """
    header = _read_settings(index)
    if header is None:
        raise ConfigurationError("the index is empty: nothing says with which settings it is to be filled")
    return _make_deduplicator(index, header, guards)


def _read_settings(index: Index) -> Header | None:
    """Return what an index was filled with, ``None`` if it is empty.

    Raises:
        ConfigurationError: what should have filled it was cut off.
    """
    header = index.header
    if header is None:
        with index.snapshot() as view:
            if view.generation:
                raise refuse_unfinished()
    return header


def _make_deduplicator(index: Index, header: Header, guards: Sequence[Guard]) -> Deduplicator:
    known = {guard.name: guard for guard in guards}
    unknown = [name for name in header.guards if name not in known]
    if unknown:
        raise ConfigurationError(f"the index was filled with a guard {unknown[0]!r} that is not known here")
    return Deduplicator(
        index,
        threshold=header.threshold,
        guards=[known[name] for name in header.guards],
        on_duplicate=header.on_duplicate,
        seed=header.seed,
    )


def merge_indexes(
    indexes: Sequence[Index],
    target: Index,
    guards: Sequence[Guard] = DEFAULT_GUARDS,
    *,
    write: Callable[[Drift], object] | None = None,
) -> Drift:
    """Put what several jobs have built apart into an empty index, as if one job had done it all.

    Args:
        indexes: in the order in which the one job would have read what they hold.
        target: empty. Nobody can use it before the merge has ended.
        guards: where those of the indexes are looked up by name.
        write: does in the vector store what is returned. When it raises, the merge has not ended.

    Returns:
        What the vector store, which holds what each job has kept, must write and delete.

    Raises:
        ConfigurationError: there is nothing to merge, the target is not empty, or the indexes disagree about
            which run came first.
        SchemeMismatchError: the indexes were filled with different settings.
    """
    headers = [header for header in map(_read_settings, indexes) if header is not None]
    if not headers:
        raise ConfigurationError("there is nothing to merge: the indexes are empty")
    for header in headers[1:]:
        check_header(headers[0], header)
    _check_empty(target)
    _check_run_order(indexes)
    dedup = _make_deduplicator(_Unfinished(target), headers[0], guards)
    stored: dict[EntryKey, None] = {}
    for index in indexes:
        with target.snapshot() as before:
            start = before.next_order
        with index.snapshot() as view:
            entries = iter(view)
            while batch := list(itertools.islice(entries, _BATCH)):
                stored.update((e.key, None) for e in batch if dedup.is_stored(e))
                for part in _part_documents(batch):
                    dedup.run(part)
            for run, sources in _list_runs(view):
                _write(target, Changes(runs=(run._replace(first_order=start),), seen=tuple(sources)))
    drift = _compare(dedup, stored)
    if write is not None:
        write(drift)
    target.adopt(headers[0], filled=True)
    return drift


class _Unfinished:
    """An index that is being filled: it takes its header last, so that nobody takes a part for the whole."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def adopt(self, header: Header, *, filled: bool = False) -> None:
        """Do nothing yet."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


def _part_documents(entries: Sequence[Entry]) -> Iterator[list[Document]]:
    """Return what was ingested, as calls in which no id occurs twice."""
    waiting = [
        [entry.restore(place) for place in (entry.place, *(place for _, place in entry.elsewhere))]
        for entry in entries
    ]
    while waiting:
        yield [documents[0] for documents in waiting]
        waiting = [documents[1:] for documents in waiting if len(documents) > 1]


def _compare(dedup: Deduplicator, stored: dict[EntryKey, None]) -> Drift:
    added: list[Document] = []
    removed = dict.fromkeys(key[1] for key in stored)
    with dedup.index.snapshot() as view:
        for entry in view:
            if dedup.is_stored(entry):
                removed.pop(entry.key[1], None)
                if entry.key not in stored:
                    added.append(entry.document)
    return Drift(added=tuple(added), removed=tuple(removed))


def export_index(index: Index) -> Iterator[dict[str, Any]]:
    """Yield an index as JSON values: what it was filled with, its runs and sources, every entry, and an end.

    The index is held in this state until the last one is read, or the iterator closed.

    Raises:
        ConfigurationError: the index is empty.

    >>> dedup = Deduplicator()
    >>> kept = dedup.dedupe([Document("a", "Restart it.")])
    >>> header, entry, end = export_index(dedup.index)
    >>> header["rag_dedup"], entry["order"], entry["text"], end
    (2, 0, 'Restart it.', {'end': 1})
    """
    header = _read_settings(index)
    if header is None:
        raise ConfigurationError("the index is empty: there is nothing to export")
    with index.snapshot() as view:
        yield {"rag_dedup": VERSION, "header": asdict(header)}
        for run, sources in _list_runs(view):
            yield {"run": list(run), "sources": [source for _, source in sources]}
        count = 0
        for entry in view:
            count += 1
            record = encode_entry(entry._replace(text=""))
            yield {
                "order": entry.order,
                "text": entry.text,
                "entry": json.loads(record.partition(b"\n")[0]),
            }
        yield {"end": count}


def import_index(lines: Iterable[dict[str, Any]], index: Index) -> int:
    """Fill an empty index with what :func:`export_index` has given; return the number of entries.

    Nobody can use the index before the import has ended; one that is cut off has to be dropped.

    Raises:
        InputError: this is no export, a part of one, or one of another version.
        ConfigurationError: the index is not empty.
        SchemeMismatchError: the export was made with other schemes than this version has.
    """
    lines = iter(lines)
    header = read_header(next(lines, {}))
    _check_empty(index)
    minhash = _make_minhash(header)
    ours = replace(header, fingerprint=minhash.scheme, exact=Exact().scheme, url=KEY_SCHEME)
    check_header(header, ours)
    body = ExportBody(lines)
    for run in body.read_runs():
        _write(index, run)
    entries = body.read_entries()
    while batch := list(itertools.islice(entries, _BATCH)):
        survivors = [entry for entry in batch if entry.survivor is None]
        signed = minhash.sign_all([e.text for e in survivors], [e.key[0] for e in survivors])
        filled = signed.sets.sizes() > 0
        _write(
            index,
            Changes(
                put=tuple(batch),
                posted=tuple(itertools.compress(survivors, filled.tolist())),
                signatures=signed.signatures()[filled],
            ),
        )
    index.adopt(header, filled=True)
    return body.count


def _make_minhash(header: Header) -> MinHash:
    try:
        return MinHash(threshold=header.threshold, seed=header.seed)
    except (ConfigurationError, TypeError) as error:
        raise InputError(f"the first line of the export cannot be right: {error}") from error


def _check_empty(index: Index) -> None:
    with index.snapshot() as view:
        if view.generation:
            raise ConfigurationError("the index that is to be filled is not empty")


def _list_runs(view: View) -> list[tuple[Run, list[Source]]]:
    """Return each run and the sources that it has seen last."""
    runs: list[tuple[Run, list[Source]]] = [(run, []) for run in view.list_runs()]
    for source, number in sorted(view.list_sources().items()):
        if number:
            runs[number - 1][1].append(source)
    return runs


def _check_run_order(indexes: Sequence[Index]) -> None:
    """See whether runs, numbered as they come up, keep the order that they have in each index."""
    numbers: dict[tuple[str, str], int] = {}
    for index in indexes:
        with index.snapshot() as view:
            runs = [(run.scope, run.name) for run in view.list_runs()]
        last: dict[str, int] = {}
        for run in runs:
            number = numbers.setdefault(run, len(numbers))
            if number < last.get(run[0], 0):
                raise ConfigurationError(
                    f"run {run[1]!r} came after another in one index and would come before it in the merged "
                    "one: give first the indexes that have the earliest runs"
                )
            last[run[0]] = number


def _write(index: Index, changes: Changes) -> None:
    with index.transaction() as transaction:
        transaction.write(uuid.uuid4().hex, changes)
