"""Which entries a source has, and which a survivor stands for."""

from __future__ import annotations

from collections.abc import Iterable

from rag_dedup.document import Entry, EntryKey

__all__ = ["Relations"]

_Keys = dict[EntryKey, None]  # an ordered set


class Relations:
    """The keys of entries, by source and by survivor, each in the order in which they came."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_source: dict[tuple[str, str], _Keys] = {}
        self._by_survivor: dict[EntryKey, _Keys] = {}
        for entry in entries:
            self.add(entry)

    def sources(self) -> Iterable[tuple[str, str]]:
        """Return every (scope, source) that has entries."""
        return self._by_source

    def of_source(self, source: tuple[str, str]) -> Iterable[EntryKey]:
        """Return the keys of the entries of a (scope, source)."""
        return self._by_source.get(source, ())

    def of_survivor(self, survivor: EntryKey) -> Iterable[EntryKey]:
        """Return the keys of the duplicates of a survivor."""
        return self._by_survivor.get(survivor, ())

    def add(self, entry: Entry) -> None:
        """Take in an entry."""
        key = entry.key
        if entry.source is not None:
            _include(self._by_source, (key[0], entry.source), key)
        for source, _ in entry.elsewhere:
            _include(self._by_source, (key[0], source), key)
        if entry.survivor is not None:
            _include(self._by_survivor, (key[0], entry.survivor), key)

    def discard(self, entry: Entry) -> None:
        """Take out an entry."""
        key = entry.key
        for source in entry.sources:
            _exclude(self._by_source, (key[0], source), key)
        if entry.survivor is not None:
            _exclude(self._by_survivor, (key[0], entry.survivor), key)


def _include(table: dict[tuple[str, str], _Keys], name: tuple[str, str], key: EntryKey) -> None:
    keys = table.get(name)
    if keys is None:
        table[name] = {key: None}
    else:
        keys[key] = None


def _exclude(table: dict[tuple[str, str], _Keys], name: tuple[str, str], key: EntryKey) -> None:
    keys = table.get(name, {})
    keys.pop(key, None)  # not there if an interrupt came while it was taken in
    if not keys:
        table.pop(name, None)
