"""What the engine can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rag_dedup.document import Document, EntryKey, Source

__all__ = ["Arrival", "Call", "Ingestion", "Removal", "Request", "Sweep"]


class Arrival(NamedTuple):
    """A document that came in.

    Args:
        key: (scope, id).
        document: a copy that nobody else has.
        source: the key of its source, ``None`` if it has none.
        given: the caller's own.
    """

    key: EntryKey
    document: Document
    source: str | None
    given: Document


class Ingestion(NamedTuple):
    """A call with documents.

    Args:
        arrivals: the documents.
        complete: what a source of these documents has in the index and not here is released.
        run: the ingestion run that the call is a part of.
    """

    arrivals: Sequence[Arrival]
    complete: bool
    run: str | None = None


class Removal(NamedTuple):
    """A call to forget documents, and sources: a document goes with the last of its sources."""

    keys: Sequence[EntryKey] = ()
    sources: Sequence[Source] = ()


class Sweep(NamedTuple):
    """A call to forget the sources of a scope that neither a run nor a later one has seen.

    Args:
        scope: of the sources.
        run: the run.
        spare_unmarked: those that no run ever saw stay.
    """

    scope: str
    run: str
    spare_unmarked: bool


Request = Ingestion | Removal | Sweep


class Call:
    """The documents of one call, and where each source begins and ends when it is complete."""

    def __init__(self, arrivals: Sequence[Arrival], complete: bool) -> None:
        self.arrivals = arrivals
        self.keys: set[EntryKey] = set()
        self.starts: dict[int, Source] = {}
        self.ends: dict[int, Source] = {}
        if complete:
            self.keys.update(arrival.key for arrival in arrivals)
            turns: dict[Source, tuple[int, int]] = {}
            for i, arrival in enumerate(arrivals):
                if arrival.source is not None:
                    source = (arrival.key[0], arrival.source)
                    turns[source] = (turns.get(source, (i, i))[0], i)
            self.starts = {first: source for source, (first, _) in turns.items()}
            self.ends = {last: source for source, (_, last) in turns.items()}
