"""An index in PostgreSQL: one writer at a time, readers never wait."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rag_dedup.document import Run, Source
from rag_dedup.errors import (
    ConfigurationError,
    CorruptIndexError,
    MissingExtraError,
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
from rag_dedup.index.record import decode_name, encode_name, encode_names, name_group

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError as error:
    raise MissingExtraError("postgres", "psycopg") from error

__all__ = ["PostgresStore"]

Connection = psycopg.Connection[Any]

_LOCK = 0x7261675F64656475
"""Names the advisory lock under which the schema is made."""


def _create_namespaces(connection: Connection) -> None:
    connection.execute("CREATE TABLE rag_dedup_schema (version integer NOT NULL)")
    connection.execute(
        "CREATE TABLE rag_dedup_namespaces "
        "(number serial PRIMARY KEY, name bytea NOT NULL UNIQUE, state text NOT NULL)"
    )


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_create_namespaces,)
"""What makes each version of the schema out of the one before."""

_TABLES = (
    'CREATE TABLE "{0}_commits" (token text PRIMARY KEY)',
    'CREATE TABLE "{0}_entries" ("order" bigint PRIMARY KEY, record bytea NOT NULL)',
    'CREATE TABLE "{0}_names" (name bytea PRIMARY KEY, "order" bigint NOT NULL)',
    'CREATE TABLE "{0}_signatures" ("order" bigint PRIMARY KEY, signature bytea NOT NULL)',
    'CREATE TABLE "{0}_groups" (name bytea, "order" bigint, PRIMARY KEY (name, "order"))',
    'CREATE TABLE "{0}_runs" (number bigint PRIMARY KEY, length bigint NOT NULL, fences bytea NOT NULL)',
    'CREATE TABLE "{0}_pages" (run bigint, page bigint, postings bytea NOT NULL, PRIMARY KEY (run, page))',
    'CREATE TABLE "{0}_ingestions" '
    "(number bigint PRIMARY KEY, scope bytea NOT NULL, name bytea NOT NULL, first_order bigint NOT NULL)",
    # Named by a hash, since what is indexed must not be long.
    'CREATE TABLE "{0}_sources" '
    "(name bytea PRIMARY KEY, scope bytea NOT NULL, source bytea NOT NULL, ingestion bigint NOT NULL)",
    # Hashes do not become smaller.
    'ALTER TABLE "{0}_entries" ALTER record SET STORAGE EXTERNAL',
    'ALTER TABLE "{0}_runs" ALTER fences SET STORAGE EXTERNAL',
    'ALTER TABLE "{0}_pages" ALTER postings SET STORAGE EXTERNAL',
)

_SIZED = (
    "commits",
    "entries",
    "names",
    "signatures",
    "groups",
    "runs",
    "pages",
    "ingestions",
    "sources",
)


class PostgresStore:
    """A database, and one index in it.

    Args:
        url: of the database, as libpq reads it.
        namespace: names the index in the database.
        timeout: seconds that a writer waits for another.
        create: make the index if it is not there.
    """

    def __init__(
        self, url: str, namespace: str = "default", timeout: float = 60.0, *, create: bool = True
    ) -> None:
        self.url = url
        self.namespace = namespace
        self.timeout = timeout
        self._place = _describe(url)
        self._pool = Pool(self._open)
        with self._connection() as connection:
            number = _find_namespace(connection, namespace) or _prepare(connection, namespace, create)
            if number is None:
                raise refuse_to_create(self._place, namespace)
            self._number = number

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """Return a session that sees one state."""
        with self._connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield PostgresSession(connection, self._number)

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """Return the only session that writes."""
        with self._connection() as connection, connection.transaction():
            connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{self.timeout * 1000:.0f}",))
            # Each statement from here on sees what the writer before us has committed.
            connection.execute(
                "SELECT 1 FROM rag_dedup_namespaces WHERE number = %s FOR UPDATE", (self._number,)
            )
            yield PostgresSession(connection, self._number)

    def vacuum(self) -> None:
        """Give back the room of rows that are gone."""
        with self._connection() as connection:
            for table in _SIZED:
                connection.execute(f'VACUUM "{_prefix(self._number)}_{table}"')

    def drop(self) -> None:
        """Remove the tables of the index."""
        with self._connection() as connection, connection.transaction():
            connection.execute("DELETE FROM rag_dedup_namespaces WHERE number = %s", (self._number,))
            for table in _SIZED:
                connection.execute(f'DROP TABLE IF EXISTS "{_prefix(self._number)}_{table}"')

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._pool.close()

    def __reduce__(self) -> tuple[type[PostgresStore], tuple[str, str, float]]:
        return PostgresStore, (self.url, self.namespace, self.timeout)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with _clear_errors(self._place), self._pool.connection() as connection:
            yield connection

    def _open(self) -> Connection:
        # A server that is gone without a word must not keep us for the quarter of an hour that TCP would.
        patience = {"connect_timeout": 10, "tcp_user_timeout": 30_000, "keepalives_idle": 10}
        given = conninfo_to_dict(self.url)
        missing = {name: value for name, value in patience.items() if name not in given}
        # Not prepared: poolers in front of a server do not keep that.
        return psycopg.connect(make_conninfo(self.url, **missing), autocommit=True, prepare_threshold=None)


class PostgresSession:
    """A transaction."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._prefix = _prefix(number)

    def read_state(self) -> State:
        """Return where the index stands."""
        query = "SELECT state FROM rag_dedup_namespaces WHERE number = %s"
        rows = self._query(query, (self._number,))
        if not rows:
            raise CorruptIndexError("the index was removed from its database while it was open")
        return decode_state(rows[0][0])

    def was_written(self, token: str) -> bool:
        """Tell whether the write with this token is in the index."""
        return bool(self._query('SELECT 1 FROM "{}_commits" WHERE token = %s', (token,)))

    def find_orders(self, names: Sequence[bytes]) -> dict[bytes, int]:
        """Return the orders of the names that are there."""
        return dict(self._query('SELECT name, "order" FROM "{}_names" WHERE name = ANY(%b)', (list(names),)))

    def read_records(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the records of the orders that are there."""
        query = 'SELECT "order", record FROM "{}_entries" WHERE "order" = ANY(%b)'
        return dict(self._query(query, (list(orders),)))

    def read_signatures(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the signatures of the orders that have one."""
        query = 'SELECT "order", signature FROM "{}_signatures" WHERE "order" = ANY(%b)'
        return dict(self._query(query, (list(orders),)))

    def read_groups(self, groups: Sequence[bytes]) -> dict[bytes, list[int]]:
        """Return the orders, sorted, that belong to each group that has any."""
        query = 'SELECT name, "order" FROM "{}_groups" WHERE name = ANY(%b) ORDER BY "order"'
        members: dict[bytes, list[int]] = {}
        for name, order in self._query(query, (list(groups),)):
            members.setdefault(name, []).append(order)
        return members

    def read_runs(self) -> list[RunRow]:
        """Return the runs, by number."""
        rows = self._query('SELECT number, length, fences FROM "{}_runs" ORDER BY number')
        return list(map(RunRow._make, rows))

    def read_pages(self, run: int, pages: Sequence[int]) -> dict[int, bytes]:
        """Return pages of a run."""
        query = 'SELECT page, postings FROM "{}_pages" WHERE run = %b AND page = ANY(%b)'
        return dict(self._query(query, (run, list(pages))))

    def list_ingestions(self) -> list[Run]:
        """Return the ingestion runs, by number."""
        rows = self._query('SELECT scope, name, first_order FROM "{}_ingestions" ORDER BY number')
        return [Run(decode_name(scope), decode_name(name), order) for scope, name, order in rows]

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        rows = self._query('SELECT scope, source, ingestion FROM "{}_sources"')
        return {(decode_name(scope), decode_name(source)): number for scope, source, number in rows}

    def measure(self) -> int:
        """Return the bytes of the tables, with all that belongs to them."""
        sizes = [f"pg_total_relation_size('\"{self._prefix}_{table}\"')" for table in _SIZED]
        return int(self._query(f"SELECT ({' + '.join(sizes)})::bigint")[0][0])

    def check(self) -> list[str]:
        """Return nothing: PostgreSQL checks itself when it reads."""
        return []

    def write(self, writes: Writes) -> None:
        """Write."""
        if writes.token is not None:
            self._run('INSERT INTO "{}_commits" VALUES (%s)', (writes.token,))
        deleted = [order for order, _ in writes.deleted]
        names = [name for _, name in writes.deleted]
        # What changes is taken away too, since COPY only adds.
        changed = [order for order, _, _ in writes.records]
        renamed = [name for _, name, _ in writes.records]
        unsigned = [*writes.unsigned, *(order for order, _ in writes.signatures)]
        self._run('DELETE FROM "{}_names" WHERE name = ANY(%b)', (names + renamed,))
        self._run('DELETE FROM "{}_entries" WHERE "order" = ANY(%b)', (deleted + changed,))
        self._run('DELETE FROM "{}_signatures" WHERE "order" = ANY(%b)', (unsigned,))
        if writes.left:
            left = ([name for name, _ in writes.left], [order for _, order in writes.left])
            self._run(
                'DELETE FROM "{}_groups" USING unnest(%b, %b) AS gone(name, "order") '
                'WHERE "{}_groups".name = gone.name AND "{}_groups"."order" = gone."order"',
                left,
            )
        self._run('DELETE FROM "{}_runs" WHERE number = ANY(%b)', (writes.dropped,))
        self._run('DELETE FROM "{}_pages" WHERE run = ANY(%b)', (writes.dropped,))
        self._copy("entries", "int8 bytea", ((order, record) for order, _, record in writes.records))
        self._copy("names", "bytea int8", sorted((name, order) for order, name, _ in writes.records))
        self._copy("signatures", "int8 bytea", writes.signatures)
        self._copy("groups", "bytea int8", sorted(writes.joined))
        self._copy("runs", "int8 int8 bytea", (run for run, _ in writes.runs))
        self._copy(
            "pages",
            "int8 int8 bytea",
            ((run.number, n, page) for run, pages in writes.runs for n, page in enumerate(pages)),
        )
        self._write_sources(writes)
        self._connection.execute(
            "UPDATE rag_dedup_namespaces SET state = %s WHERE number = %s",
            (encode_state(writes.state), self._number),
        )

    def _write_sources(self, writes: Writes) -> None:
        for (scope, name, order), number in writes.ingestions:
            row = (number, *encode_names((scope, name)), order)
            self._run('INSERT INTO "{}_ingestions" VALUES (%s, %b, %b, %s)', row)
        forgotten = [name_group("source", source) for source in writes.forgotten]
        self._run('DELETE FROM "{}_sources" WHERE name = ANY(%b)', (forgotten,))
        new = [(scope, source, 0) for scope, source in writes.sources]
        latest = 'UPDATE SET ingestion = greatest("{}_sources".ingestion, EXCLUDED.ingestion)'
        for rows, clash in ((new, "NOTHING"), (writes.seen, latest)):
            columns = (
                [name_group("source", (scope, source)) for scope, source, _ in rows],
                [encode_name(scope) for scope, _, _ in rows],
                [encode_name(source) for _, source, _ in rows],
                [number for _, _, number in rows],
            )
            self._run(
                'INSERT INTO "{}_sources" SELECT * FROM unnest(%b, %b, %b, %b) '
                f"ON CONFLICT (name) DO {clash}",
                columns,
            )

    def _query(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        if parameters and parameters[-1] == []:  # an empty array has no type
            return []
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(query.replace("{}", self._prefix), parameters).fetchall()

    def _run(self, statement: str, parameters: Sequence[object]) -> None:
        if parameters[0]:
            self._connection.execute(statement.replace("{}", self._prefix), parameters)

    def _copy(self, table: str, types: str, rows: Iterable[Sequence[object]]) -> None:
        statement = f'COPY "{self._prefix}_{table}" FROM STDIN (FORMAT BINARY)'
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(types.split())
            for row in rows:
                copy.write_row(row)


_FIND = "SELECT number FROM rag_dedup_namespaces WHERE name = %b"


def _find_namespace(connection: Connection, namespace: str) -> int | None:
    """Return the number of a namespace, ``None`` if it is not there or the schema is not up to date."""
    if _read_version(connection) < len(MIGRATIONS):
        return None
    row = connection.execute(_FIND, (encode_name(namespace),)).fetchone()
    return None if row is None else int(row[0])


def _prepare(connection: Connection, namespace: str, create: bool) -> int | None:
    """Update the schema, make the namespace if that is wanted, and return its number."""
    name = encode_name(namespace)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = _read_version(connection)
        if not version and not create:
            return None
        for migrate in MIGRATIONS[version:]:
            migrate(connection)
        if version < len(MIGRATIONS):
            connection.execute("DELETE FROM rag_dedup_schema")
            connection.execute("INSERT INTO rag_dedup_schema VALUES (%s)", (len(MIGRATIONS),))
        row = connection.execute(_FIND, (name,)).fetchone()
        if row is None and create:
            insert = "INSERT INTO rag_dedup_namespaces (name, state) VALUES (%b, %s) RETURNING number"
            row = connection.execute(insert, (name, encode_state(make_state()))).fetchone()
            assert row is not None, "an insert returns what it says"
            for statement in _TABLES:
                connection.execute(statement.format(_prefix(row[0])))
        return None if row is None else int(row[0])


def _read_version(connection: Connection) -> int:
    """Return how many migrations the schema has seen."""
    (there,) = connection.execute("SELECT to_regclass('rag_dedup_schema')").fetchone() or (None,)
    if there is None:
        return 0
    (version,) = connection.execute("SELECT version FROM rag_dedup_schema").fetchone() or (0,)
    if version > len(MIGRATIONS):
        raise SchemeMismatchError(
            f"this index has schema {version}, made by a newer rag-dedup; this one knows up to "
            f"{len(MIGRATIONS)}: update rag-dedup"
        )
    return int(version)


def _prefix(number: int) -> str:
    return f"rag_dedup_{number}"


def _describe(url: str) -> str:
    """Return what may be said of a URL: no user, no password.

    Raises:
        ConfigurationError: it is no URL of a database.
    """
    try:
        settings = conninfo_to_dict(url)
        hosts, ports = (str(settings.get(name, "")).split(",") for name in ("host", "port"))
        if not all(port.isascii() and port.isdigit() for port in filter(None, ports)):
            raise ValueError("a port is a number")
    except (ValueError, psycopg.ProgrammingError):  # their texts can hold the password
        raise ConfigurationError(
            "the URL of the PostgreSQL database cannot be read; it is "
            "postgresql://user:password@host:port/database, special characters as %40"
        ) from None
    places = itertools.zip_longest(hosts, ports if len(ports) > 1 else ports * len(hosts), fillvalue="")
    named = (f"{host or 'the local socket'}{':' if port else ''}{port}" for host, port in places)
    return f"PostgreSQL at {' or '.join(named)}"


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Say what went wrong in terms of the index."""
    try:
        yield
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.DataCorrupted) as error:
        raise CorruptIndexError(f"{place}: the index is damaged: {_shorten(error)}") from error
    except errors.LockNotAvailable as error:
        raise UnavailableError(f"{place}: another worker has been writing all the time; try again") from error
    except psycopg.Error as error:
        raise UnavailableError(f"{place}: {_shorten(error)}; if a commit was under way, repeat it") from error


def _shorten(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
