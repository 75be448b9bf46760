"""What a database must do for an index: keep rows in a few tables, and give transactions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import NamedTuple, Protocol

from rag_dedup.document import Run, Source
from rag_dedup.errors import ConfigurationError, CorruptIndexError
from rag_dedup.index.protocol import Header

__all__ = [
    "RunRow",
    "Session",
    "State",
    "Store",
    "Writes",
    "decode_state",
    "encode_state",
    "make_state",
    "refuse_to_create",
]


@dataclass(frozen=True, slots=True)
class State:
    """Where an index stands.

    Args:
        identity: names this very index.
        header: what it was filled with, ``None`` if nothing was.
        generation: how many writes there were.
        next_order: of the next new entry.
        next_run: the number of the next run of postings.
        live: survivors that can be found.
        dead: those that the runs still hold and that can no longer be found.
    """

    identity: str
    header: Header | None = None
    generation: int = 0
    next_order: int = 0
    next_run: int = 0
    live: int = 0
    dead: int = 0


class RunRow(NamedTuple):
    """A run of postings: its number, its length, the first posting of each page."""

    number: int
    length: int
    fences: bytes


@dataclass(slots=True)
class Writes:
    """What a transaction writes. What is taken away is taken away first.

    Args:
        state: afterwards.
        token: of the write, ``None`` if only the state changes.
        deleted: (order, name) of entries that go.
        records: (order, name, record) of entries that come or change.
        unsigned: orders whose signatures go.
        signatures: (order, signature) that come or change.
        left: (group, order) that no longer belong together.
        joined: (group, order) that belong together from now on.
        dropped: numbers of runs of postings that go.
        runs: those that come, each with its pages.
        ingestions: (run, number) of ingestion runs that come.
        forgotten: (scope, source) that go.
        sources: (scope, source) that come if they are not there.
        seen: (scope, source, number) of an ingestion run that has seen a source, perhaps not the last.
    """

    state: State
    token: str | None = None
    deleted: list[tuple[int, bytes]] = field(default_factory=list)
    records: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    unsigned: list[int] = field(default_factory=list)
    signatures: list[tuple[int, bytes]] = field(default_factory=list)
    left: list[tuple[bytes, int]] = field(default_factory=list)
    joined: list[tuple[bytes, int]] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    runs: list[tuple[RunRow, list[bytes]]] = field(default_factory=list)
    ingestions: list[tuple[Run, int]] = field(default_factory=list)
    forgotten: list[Source] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    seen: list[tuple[str, str, int]] = field(default_factory=list)


class Session(Protocol):
    """A transaction of a database. Every question takes a batch, and no name or order twice."""

    def read_state(self) -> State:
        """Return where the index stands."""

    def was_written(self, token: str) -> bool:
        """Tell whether the write with this token is in the index."""

    def find_orders(self, names: Sequence[bytes]) -> dict[bytes, int]:
        """Return the orders of the names that are there."""

    def read_records(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the records of the orders that are there."""

    def read_signatures(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the signatures of the orders that have one."""

    def read_groups(self, groups: Sequence[bytes]) -> dict[bytes, list[int]]:
        """Return the orders, sorted, that belong to each group that has any."""

    def read_runs(self) -> list[RunRow]:
        """Return the runs, by number."""

    def read_pages(self, run: int, pages: Sequence[int]) -> dict[int, bytes]:
        """Return pages of a run."""

    def list_ingestions(self) -> list[Run]:
        """Return the ingestion runs, by number."""

    def list_sources(self) -> dict[Source, int]:
        """Return every (scope, source), and the number of the run that has seen it last, or 0."""

    def measure(self) -> int:
        """Return the bytes that the index takes, as well as can be told."""

    def check(self) -> list[str]:
        """Return what the database finds wrong with itself."""

    def write(self, writes: Writes) -> None:
        """Write; at most once, and last."""


class Store(Protocol):
    """A database, and one index in it."""

    def reading(self) -> AbstractContextManager[Session]:
        """Return a session that sees one state, whoever writes meanwhile."""

    def writing(self) -> AbstractContextManager[Session]:
        """Return the only session that writes; it does so when it ends without an error."""

    def vacuum(self) -> None:
        """Give back the room of rows that are gone."""

    def drop(self) -> None:
        """Remove the index, and nothing else that the database holds."""

    def close(self) -> None:
        """Give back what is open; what comes next opens it again."""


def make_state() -> State:
    """Return the state of a new index."""
    return State(uuid.uuid4().hex)


def refuse_to_create(place: str, namespace: str) -> ConfigurationError:
    """Return the error that says that there is no such index."""
    return ConfigurationError(f"{place} has no index in namespace {namespace!r}")


def encode_state(state: State) -> str:
    """Return a state as JSON."""
    return json.dumps(asdict(state))


def decode_state(text: str) -> State:
    """Return a state that was written as JSON.

    Raises:
        CorruptIndexError: it is no such thing.
    """
    try:
        fields = json.loads(text)
        header = fields.pop("header")
        if header is not None:
            header = Header(**{**header, "guards": tuple(header["guards"])})
        return State(header=header, **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorruptIndexError(f"the state of the index cannot be read: {error}") from error
