"""What the engine can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from rag_dedup.document import Document, Entry, EntryKey, Place, Source

__all__ = ["Arrivals", "Call", "Ingestion", "Removal", "Request", "Sweep"]


Label = TypeVar("Label")


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The documents that came in with a call, as columns: one item for each document.

    Args:
        given: the caller's own.
        keys: (scope, id).
        sources: the key of its source, ``None`` if it has none.
        places: what it said when it came in.
        turns: where in the call each stood; empty if they are in its order.
    """

    given: list[Document] = field(default_factory=list)
    keys: list[EntryKey] = field(default_factory=list)
    sources: list[str | None] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.given)

    def make_entry(self, i: int, order: int) -> Entry:
        """Return the entry of a document that nothing is known of."""
        return Entry(self.keys[i], self.given[i].text, self.sources[i], order, self.places[i])

    def arrange(self, turns: list[int]) -> Arrivals:
        """Return the documents in another order, which they are decided on in."""
        return Arrivals(
            [self.given[i] for i in turns],
            [self.keys[i] for i in turns],
            [self.sources[i] for i in turns],
            [self.places[i] for i in turns],
            turns,
        )

    def restore(self, labels: Sequence[Label]) -> tuple[Arrivals, Sequence[Label]]:
        """Return the documents in the order of the call, and what there is for each of them likewise."""
        if not self.turns:
            return self, labels
        places = sorted(range(len(self)), key=self.turns.__getitem__)
        return replace(self.arrange(places), turns=[]), [labels[i] for i in places]


class Ingestion(NamedTuple):
    """A call with documents.

    Args:
        arrivals: the documents.
        complete: what a source of these documents has in the index and not here is released.
        run: the ingestion run that the call is a part of.
    """

    arrivals: Arrivals
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

    def __init__(self, arrivals: Arrivals, complete: bool) -> None:
        self.arrivals = arrivals
        self.keys: set[EntryKey] = set()
        self.starts: dict[int, Source] = {}
        self.ends: dict[int, Source] = {}
        if complete:
            self.keys.update(arrivals.keys)
            turns: dict[Source, tuple[int, int]] = {}
            for i, ((scope, _), name) in enumerate(zip(arrivals.keys, arrivals.sources, strict=True)):
                if name is not None:
                    source = (scope, name)
                    turns[source] = (turns.get(source, (i, i))[0], i)
            self.starts = {first: source for source, (first, _) in turns.items()}
            self.ends = {last: source for source, (_, last) in turns.items()}
