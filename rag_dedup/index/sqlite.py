"""An index in a file of SQLite: one writer at a time, readers never wait."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rag_dedup.document import Run, Source
from rag_dedup.errors import (
    ConfigurationError,
    CorruptIndexError,
    InputError,
    SchemeMismatchError,
    UnavailableError,
)
from rag_dedup.index.database import (
    RunRow,
    State,
    Writes,
    decode_state,
    encode_state,
    make_state,
    refuse_to_create,
)
from rag_dedup.index.pool import Pool
from rag_dedup.index.record import decode_name, encode_name, encode_names

__all__ = ["SqliteStore"]

_PAGE_SIZE = 8192
"""Bytes; a row with a page of postings fits in."""
_PARAMETERS = 900
"""In one statement; older libraries take no more than 999."""
_PAGE_BITS = 32
"""A row of postings is numbered by its run, then by this many bits for its page."""


def _create_namespaces(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE rag_dedup_schema (version INTEGER NOT NULL)")
    connection.execute(
        "CREATE TABLE rag_dedup_namespaces "
        "(number INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, state TEXT NOT NULL)"
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create_namespaces,)
"""What makes each version of the schema out of the one before."""

_TABLES = {
    "commits": "(token TEXT PRIMARY KEY) WITHOUT ROWID",
    "entries": '("order" INTEGER PRIMARY KEY, record BLOB NOT NULL)',
    "names": '(name BLOB PRIMARY KEY, "order" INTEGER NOT NULL) WITHOUT ROWID',
    "signatures": '("order" INTEGER PRIMARY KEY, signature BLOB NOT NULL)',
    "groups": '(name BLOB, "order" INTEGER, PRIMARY KEY (name, "order")) WITHOUT ROWID',
    "runs": "(number INTEGER PRIMARY KEY, length INTEGER NOT NULL, fences BLOB NOT NULL)",
    "pages": "(place INTEGER PRIMARY KEY, postings BLOB NOT NULL)",
    "ingestions": "(number INTEGER PRIMARY KEY, scope BLOB NOT NULL, name BLOB NOT NULL, "
    "first_order INTEGER NOT NULL)",
    "sources": "(scope BLOB, source BLOB, ingestion INTEGER NOT NULL, PRIMARY KEY (scope, source)) "
    "WITHOUT ROWID",
}


class SqliteStore:
    """A file, and one index in it.

    Args:
        path: of the file, which is made if need be; its folder must be there.
        namespace: names the index in the file.
        timeout: seconds that a writer waits for another.
        create: make the index if it is not there.
    """

    def __init__(
        self, path: str, namespace: str = "default", timeout: float = 60.0, *, create: bool = True
    ) -> None:
        if not path or path == ":memory:" or "\0" in path:
            raise ConfigurationError("an SQLite index needs a file: sqlite:///path.db; or use memory://")
        self.path = os.path.abspath(path)
        self.namespace = namespace
        self.timeout = timeout
        if not create and not os.path.exists(self.path):
            raise ConfigurationError(f"there is no file {self.path}")
        self._pool = Pool(self._open)
        with _clear_errors(self.path), self._pool.connection() as connection:
            number = _find_namespace(connection, namespace) or _prepare(connection, namespace, create)
            if number is None:
                raise refuse_to_create(self.path, namespace)
            self._number = number

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """Return a session that sees one state."""
        with self._transaction("BEGIN") as connection:
            yield SqliteSession(connection, self._number)

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """Return the only session that writes."""
        # Threads wait for each other at the file, as processes do: a lock of our own would stay locked when
        # an interrupt comes between taking it and remembering that.
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield SqliteSession(connection, self._number)

    def vacuum(self) -> None:
        """Make the file as small as can be."""
        with _clear_errors(self.path), self._pool.connection() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def drop(self) -> None:
        """Remove the tables of the index; the file stays."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM rag_dedup_namespaces WHERE number = ?", (self._number,))
            for table in _TABLES:
                connection.execute(f'DROP TABLE IF EXISTS "{_prefix(self._number)}_{table}"')

    def close(self) -> None:
        """Close the file where it is not in use."""
        self._pool.close()

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[str, str, float]]:
        return SqliteStore, (self.path, self.namespace, self.timeout)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with (
            _clear_errors(self.path),
            self._pool.connection() as connection,
            _transaction(connection, begin),
        ):
            yield connection

    def _open(self) -> sqlite3.Connection:
        return _open(self.path, self.timeout)


class SqliteSession:
    """A transaction."""

    def __init__(self, connection: sqlite3.Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._prefix = _prefix(number)

    def read_state(self) -> State:
        """Return where the index stands."""
        row = self._connection.execute(
            "SELECT state FROM rag_dedup_namespaces WHERE number = ?", (self._number,)
        ).fetchone()
        if row is None:
            raise CorruptIndexError("the index was removed from its file while it was open")
        return decode_state(row[0])

    def was_written(self, token: str) -> bool:
        """Tell whether the write with this token is in the index."""
        query = f'SELECT 1 FROM "{self._prefix}_commits" WHERE token = ?'
        return self._connection.execute(query, (token,)).fetchone() is not None

    def find_orders(self, names: Sequence[bytes]) -> dict[bytes, int]:
        """Return the orders of the names that are there."""
        return dict(self._select('name, "order"', "names", "name", names))

    def read_records(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the records of the orders that are there."""
        return dict(self._select('"order", record', "entries", '"order"', orders))

    def read_signatures(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the signatures of the orders that have one."""
        return dict(self._select('"order", signature', "signatures", '"order"', orders))

    def read_groups(self, groups: Sequence[bytes]) -> dict[bytes, list[int]]:
        """Return the orders, sorted, that belong to each group that has any."""
        members: dict[bytes, list[int]] = {}
        for name, order in self._select('name, "order"', "groups", "name", groups):
            members.setdefault(name, []).append(_to_number(order))
        return {name: sorted(orders) for name, orders in members.items()}

    def read_runs(self) -> list[RunRow]:
        """Return the runs, by number."""
        query = f'SELECT number, length, fences FROM "{self._prefix}_runs" ORDER BY number'
        rows = self._connection.execute(query)
        return [RunRow(_to_number(number), _to_number(length), fences) for number, length, fences in rows]

    def read_pages(self, run: int, pages: Sequence[int]) -> dict[int, bytes]:
        """Return pages of a run."""
        base = run << _PAGE_BITS
        places = [base + page for page in pages]
        rows = self._select("place, postings", "pages", "place", places)
        return {place - base: postings for place, postings in rows}

    def list_ingestions(self) -> list[Run]:
        """Return the ingestion runs, by number."""
        query = f'SELECT scope, name, first_order FROM "{self._prefix}_ingestions" ORDER BY number'
        rows = self._connection.execute(query)
        return [Run(decode_name(scope), decode_name(name), _to_number(order)) for scope, name, order in rows]

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        rows = self._connection.execute(f'SELECT scope, source, ingestion FROM "{self._prefix}_sources"')
        return {(decode_name(scope), decode_name(source)): _to_number(run) for scope, source, run in rows}

    def measure(self) -> int:
        """Return the size of the file, whatever else is in it."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(size)

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        rows = self._connection.execute("PRAGMA integrity_check")
        return [str(text) for (text,) in rows if text != "ok"]

    def write(self, writes: Writes) -> None:
        """Write."""
        many = self._execute_many
        if writes.token is not None:
            many('INSERT INTO "{}_commits" VALUES (?)', [(writes.token,)])
        many('DELETE FROM "{}_names" WHERE name = ?', _wrap(name for _, name in writes.deleted))
        many('DELETE FROM "{}_entries" WHERE "order" = ?', _wrap(order for order, _ in writes.deleted))
        many('DELETE FROM "{}_signatures" WHERE "order" = ?', _wrap(writes.unsigned))
        many('DELETE FROM "{}_groups" WHERE name = ? AND "order" = ?', writes.left)
        many('DELETE FROM "{}_runs" WHERE number = ?', _wrap(writes.dropped))
        many(
            'DELETE FROM "{}_pages" WHERE place >= ? AND place < ?',
            ((run << _PAGE_BITS, (run + 1) << _PAGE_BITS) for run in writes.dropped),
        )
        many('REPLACE INTO "{}_entries" VALUES (?, ?)', ((order, r) for order, _, r in writes.records))
        # Sorted, since neighbours lie in one page of the file.
        many('REPLACE INTO "{}_names" VALUES (?, ?)', sorted((name, o) for o, name, _ in writes.records))
        many('REPLACE INTO "{}_signatures" VALUES (?, ?)', writes.signatures)
        many('REPLACE INTO "{}_groups" VALUES (?, ?)', sorted(writes.joined))
        many('INSERT INTO "{}_runs" VALUES (?, ?, ?)', (run for run, _ in writes.runs))
        self._write_sources(writes)
        many(
            'INSERT INTO "{}_pages" VALUES (?, ?)',
            (
                ((run.number << _PAGE_BITS) + page, postings)
                for run, pages in writes.runs
                for page, postings in enumerate(pages)
            ),
        )
        self._connection.execute(
            "UPDATE rag_dedup_namespaces SET state = ? WHERE number = ?",
            (encode_state(writes.state), self._number),
        )

    def _write_sources(self, writes: Writes) -> None:
        many = self._execute_many
        runs = [
            (number, *encode_names((scope, name)), order)
            for (scope, name, order), number in writes.ingestions
        ]
        many('INSERT INTO "{}_ingestions" VALUES (?, ?, ?, ?)', runs)
        forgotten = map(encode_names, writes.forgotten)
        many('DELETE FROM "{}_sources" WHERE scope = ? AND source = ?', forgotten)
        new = sorted(map(encode_names, writes.sources))
        many('INSERT OR IGNORE INTO "{}_sources" VALUES (?, ?, 0)', new)
        seen = sorted((*encode_names((scope, source)), number) for scope, source, number in writes.seen)
        many(
            'INSERT INTO "{}_sources" VALUES (?, ?, ?) ON CONFLICT (scope, source) DO UPDATE '
            "SET ingestion = max(ingestion, excluded.ingestion)",
            seen,
        )

    def _select(self, columns: str, table: str, key: str, values: Sequence[object]) -> Iterator[Any]:
        """Return rows by their keys."""
        for start in range(0, len(values), _PARAMETERS):
            part = values[start : start + _PARAMETERS]
            marks = ",".join("?" * len(part))
            query = f'SELECT {columns} FROM "{self._prefix}_{table}" WHERE {key} IN ({marks})'
            yield from self._connection.execute(query, part)

    def _execute_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(statement.format(self._prefix), rows)


def _open(path: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")  # of a new file
        connection.execute("PRAGMA synchronous = FULL")  # what was committed survives a power cut
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


_FIND = "SELECT number FROM rag_dedup_namespaces WHERE name = ?"


def _find_namespace(connection: sqlite3.Connection, namespace: str) -> int | None:
    """Return the number of a namespace, ``None`` if it is not there or the schema is not up to date."""
    with _transaction(connection, "BEGIN"):
        if _read_version(connection) < len(MIGRATIONS):
            return None
        row = connection.execute(_FIND, (encode_name(namespace),)).fetchone()
        return None if row is None else int(row[0])


def _prepare(connection: sqlite3.Connection, namespace: str, create: bool) -> int | None:
    """Update the schema, make the namespace if that is wanted, and return its number."""
    name = encode_name(namespace)
    if create:  # else the file may be somebody else's, and stays as it is
        connection.execute("PRAGMA journal_mode = WAL")
    with _transaction(connection, "BEGIN IMMEDIATE"):
        version = _read_version(connection)
        if not version and not create:
            return None
        for migrate in MIGRATIONS[version:]:
            migrate(connection)
        connection.execute("DELETE FROM rag_dedup_schema")
        connection.execute("INSERT INTO rag_dedup_schema VALUES (?)", (len(MIGRATIONS),))
        row = connection.execute(_FIND, (name,)).fetchone()
        if row is None and create:
            state = encode_state(make_state())
            insert = "INSERT INTO rag_dedup_namespaces (name, state) VALUES (?, ?)"
            number = connection.execute(insert, (name, state)).lastrowid
            for table, columns in _TABLES.items():
                connection.execute(f'CREATE TABLE "{_prefix(number)}_{table}" {columns}')
            row = (number,)
        return None if row is None else int(row[0])


def _read_version(connection: sqlite3.Connection) -> int:
    """Return how many migrations the schema has seen."""
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'rag_dedup_schema'"
    if connection.execute(there).fetchone() is None:
        return 0
    (version,) = connection.execute("SELECT version FROM rag_dedup_schema").fetchone() or (0,)
    if not isinstance(version, int) or version < 0:
        raise CorruptIndexError("the version of the schema is no number")
    if version > len(MIGRATIONS):
        raise SchemeMismatchError(
            f"this index has schema {version}, made by a newer rag-dedup; this one knows up to "
            f"{len(MIGRATIONS)}: update rag-dedup"
        )
    return version


def _prefix(number: int | None) -> str:
    return f"rag_dedup_{number}"


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Commit at the end, or roll back after an error."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _clear_errors(path: str) -> Iterator[None]:
    """Say what went wrong in terms of the index."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "no such" in str(error):
            raise CorruptIndexError(f"{path} is no index, or one that is damaged: {error}") from error
        raise UnavailableError(f"{path}: {error}; nothing was written") from error
    except sqlite3.DataError as error:
        raise InputError(f"{path}: a document or its metadata is too large: {error}") from error
    except sqlite3.DatabaseError as error:
        raise CorruptIndexError(f"{path} is no index, or one that is damaged: {error}") from error


def _to_number(value: Any) -> int:
    """Return a number that was read; SQLite stores anything in a column of numbers."""
    if not isinstance(value, int) or not 0 <= value < 1 << _PAGE_BITS:
        raise CorruptIndexError("the index has something else where a number should be")
    return value


def _wrap(values: Iterable[object]) -> Iterator[tuple[object]]:
    return ((value,) for value in values)
