"""What an export says, line by line. It can come from anywhere, so nothing in it is believed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rag_dedup.document import Changes, Entry, EntryKey, Run
from rag_dedup.errors import CorruptIndexError, InputError
from rag_dedup.index import Header
from rag_dedup.index.record import decode_entry

__all__ = ["VERSION", "ExportBody", "read_header"]

VERSION = 2
"""Of the lines. 1 had no end."""

_ORDERS = 1 << 32
"""An order is below that."""


def read_header(line: dict[str, Any]) -> Header:
    """Return what the first line says.

    Raises:
        InputError: it is no such line.
    """
    if line.get("rag_dedup") != VERSION:
        raise InputError("this is no export of an index, or one that another version has made")
    try:
        fields = dict(line["header"])
        header = Header(**{**fields, "guards": tuple(fields["guards"])})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the first line of the export cannot be read: {error}") from error
    texts = (header.fingerprint, header.exact, header.url, header.on_duplicate, *header.guards)
    if not _are_texts(texts) or type(header.seed) is not int or type(header.threshold) is not float:
        raise InputError("the first line of the export cannot be right")
    return header


class ExportBody:
    """The lines after the first: runs, entries, and the end.

    Args:
        lines: as JSON values.
    """

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._lines = iter(lines)
        self._first: list[dict[str, Any]] = []  # that is about no run
        self.count = 0
        """Entries that were read."""

    def read_runs(self) -> Iterator[Changes]:
        """Yield each run and what it has seen."""
        for line in self._lines:
            if "run" not in line:
                self._first.append(line)
                return
            yield _read_run(line)

    def read_entries(self) -> Iterator[Entry]:
        """Yield the entries, after the runs.

        Raises:
            InputError: a line cannot be right, or the end is missing.
        """
        last = -1
        keys: set[EntryKey] = set()
        survivors: set[EntryKey] = set()
        wanted: set[EntryKey] = set()
        for line in self._rest():
            if "end" in line:
                if line["end"] != self.count or next(self._lines, None) is not None:
                    raise InputError("the end of the export does not belong to what comes before it")
                if lost := sorted(wanted - survivors):
                    raise InputError(f"the export lacks the survivor {lost[0][1]!r} of a duplicate")
                return
            entry = _read_entry(line)
            if entry.order <= last or entry.key in keys:
                raise InputError(f"entry {entry.order} of the export is there twice, or not in its place")
            last = entry.order
            keys.add(entry.key)
            if entry.survivor is None:
                survivors.add(entry.key)
            else:
                wanted.add((entry.key[0], entry.survivor))
            self.count += 1
            yield entry
        raise InputError("the export is cut off: its end is missing")

    def _rest(self) -> Iterator[dict[str, Any]]:
        yield from self._first
        yield from self._lines


def _read_run(line: dict[str, Any]) -> Changes:
    try:
        run = Run(*line["run"])
        sources = list(line["sources"])
    except (KeyError, TypeError) as error:
        raise InputError(f"a line of the export cannot be read: {error!r}") from error
    if not _are_texts((run.scope, run.name, *sources)) or not _is_order(run.first_order):
        raise InputError("a line of the export cannot be right: it tells of a run that is none")
    return Changes(runs=(run,), seen=tuple((run.scope, source) for source in sources))


def _read_entry(line: dict[str, Any]) -> Entry:
    try:
        order, text = line["order"], line["text"].encode("utf-8", "surrogatepass")
        record = json.dumps(line["entry"], ensure_ascii=False).encode("utf-8", "surrogatepass")
        if not _is_order(order):
            raise TypeError("its order is none")
        entry = decode_entry(order, record + b"\np" + text)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, CorruptIndexError) as error:
        raise InputError(f"a line of the export cannot be read: {error}") from error
    if not _is_sound(entry):
        raise InputError(f"entry {order} of the export cannot be right")
    return entry


def _is_sound(entry: Entry) -> bool:
    """Tell whether each part of an entry is of its type."""
    names = (entry.source, entry.survivor, entry.method)
    guard = entry.guard or ()
    places = (entry.place, *(place for _, place in entry.elsewhere))
    return (
        _are_texts((*entry.key, *guard, *(name for name, _ in entry.elsewhere)))
        and all(name is None or type(name) is str for name in names)
        and (entry.similarity is None or type(entry.similarity) in (int, float))
        and all(
            _are_texts(place.related)
            and all(name is None or type(name) is str for name in (place.source, place.url))
            and isinstance(place.metadata, dict)
            and (place.span is None or all(type(offset) is int for offset in place.span))
            for place in places
        )
    )


def _are_texts(values: Iterable[object]) -> bool:
    return all(type(value) is str for value in values)


def _is_order(value: object) -> bool:
    return type(value) is int and 0 <= value < _ORDERS
