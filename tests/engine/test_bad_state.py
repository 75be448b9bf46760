"""What can be wrong with a database: each is a clear error, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_dedup import Deduplicator, Document, open_index
from rag_dedup.errors import (
    ConfigurationError,
    CorruptIndexError,
    InputError,
    SchemeMismatchError,
    StateError,
    UnavailableError,
)
from rag_dedup.operations import export_index, measure_index, verify_index
from tests.engine.stores import STORES
from tests.servers import PostgresServer, RedisServer, share_postgres, share_redis

SHARED = [name for name in STORES if name != "memory"]
TEXTS = [f"passage {chr(97 + i)} tells how to set up part {chr(97 + i)} of the machine" for i in range(20)]
DOCUMENTS = [Document(str(i), text, source="p") for i, text in enumerate(TEXTS)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with an index."""
    path = tmp_path / "index.db"
    index = open_index(f"sqlite:///{path}")
    Deduplicator(index).dedupe(DOCUMENTS, run="one")
    index.close()  # type: ignore[attr-defined]
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


class TestSqlite:
    def test_a_file_that_is_something_else(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("no database " * 1000)
        with pytest.raises(CorruptIndexError, match=r"notes\.txt is no index"):
            open_index(f"sqlite:///{path}")
        assert path.read_text() == "no database " * 1000

    def test_a_database_of_somebody_else_is_shared(self, tmp_path: Path) -> None:
        path = tmp_path / "app.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE users (name TEXT)")
            connection.execute("PRAGMA user_version = 42")
        Deduplicator(f"sqlite:///{path}").dedupe(DOCUMENTS)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (42,)
            assert connection.execute("SELECT count(*) FROM users").fetchone() == (0,)

    @pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
    def test_a_truncated_file(self, path: Path, share: float) -> None:
        size = path.stat().st_size
        os.truncate(path, int(size * share))
        with pytest.raises(StateError):
            read_all(path)

    def test_flipped_bytes_are_noticed_or_harmless(self, path: Path, tmp_path: Path) -> None:
        """Whatever is damaged: an error of ours or the right answer, never a crash or silence."""
        data = path.read_bytes()
        right = read_all(path)
        for place in range(150, len(data), max(1, len(data) // 60)):
            damaged = tmp_path / "damaged.db"
            damaged.write_bytes(
                data[:place] + bytes(b ^ 0x5A for b in data[place : place + 8]) + data[place + 8 :]
            )
            with contextlib.suppress(StateError):
                faults = list(verify_index(open_index(f"sqlite:///{damaged}")))
                assert faults or read_all(damaged) == right
            for file in tmp_path.glob("damaged.db*"):
                file.unlink()

    @pytest.mark.parametrize("value", ["x", b"x", b"\xff" * 9, -1, 7, 1 << 62, 0.5, ""])
    def test_odd_values_are_noticed_or_harmless(self, path: Path, tmp_path: Path, value: object) -> None:
        """Whatever stands in a cell of a table: an error of ours, a fault, or the right answer."""
        right = read_all(path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            tables = [
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            cells = [
                (table, column[1])
                for table in tables
                for column in connection.execute(f"PRAGMA table_info({table})")
            ]
        damaged = tmp_path / "damaged.db"
        assert len(cells) > 20
        for table, column in cells:
            shutil.copyfile(path, damaged)
            with contextlib.closing(sqlite3.connect(damaged)) as connection:
                name = f'"{table}" SET "{column}" = ?'
                try:
                    connection.execute(f"UPDATE {name}", (value,))
                except sqlite3.IntegrityError:  # of a key: one row of them
                    one = f'(SELECT min("{column}") FROM "{table}")'
                    with contextlib.suppress(sqlite3.IntegrityError):
                        connection.execute(f'UPDATE {name} WHERE "{column}" = {one}', (value,))
                connection.commit()
            with contextlib.suppress(StateError, ConfigurationError):
                index = open_index(f"sqlite:///{damaged}", create=False)
                measure_index(index)
                list(export_index(index))
                Deduplicator(index).plan(DOCUMENTS, complete=True, run="two")
                Deduplicator(index).sweep("one")
                assert list(verify_index(index)) or read_all(damaged) == right
            for file in tmp_path.glob("damaged.db*"):
                file.unlink()

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UnavailableError, match="unable to open"):
            open_index(f"sqlite:///{tmp_path / 'no' / 'index.db'}")

    def test_a_full_disk(self, tmp_path: Path) -> None:
        """A limit of the library stands for the disk, since mounting one needs rights; next is a real one."""
        path = tmp_path / "index.db"
        dedup = Deduplicator(f"sqlite:///{path}")
        dedup.dedupe(DOCUMENTS)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
        index = dedup.index
        with index.snapshot():  # opens the connection that is used next
            pass
        (connection,) = index._store._pool._free[os.getpid()]  # type: ignore[attr-defined]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(UnavailableError, match="full"):
            dedup.dedupe([Document(f"x{i}", f"{i} " * 4000) for i in range(100)])
        assert read_all(path) == sorted(TEXTS)
        assert list(verify_index(open_index(f"sqlite:///{path}"))) == []

    def test_a_small_disk(self, disk: Path) -> None:
        path = disk / "index.db"
        dedup = Deduplicator(f"sqlite:///{path}")
        dedup.dedupe(DOCUMENTS)
        with pytest.raises(UnavailableError):
            dedup.dedupe([Document(f"x{i}", os.urandom(2000).hex()) for i in range(2000)])
        assert read_all(path) == sorted(TEXTS)
        dedup.dedupe([Document("y", "something else")])
        assert list(verify_index(dedup.index)) == []

    def test_a_disk_that_cannot_be_written(self, disk: Path) -> None:
        path = disk / "index.db"
        index = open_index(f"sqlite:///{path}")
        dedup = Deduplicator(index)
        dedup.dedupe(DOCUMENTS)
        index.close()  # type: ignore[attr-defined]
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(
            UnavailableError, match=r"index\.db: (attempt to write a readonly|unable to open)"
        ):
            dedup.dedupe([Document("x", "something else")])
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        dedup.dedupe([Document("x", "something else")])
        assert dedup.generation == 2

    def test_memory_of_sqlite(self) -> None:
        for url in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
            with pytest.raises(ConfigurationError, match="sqlite:///path"):
                open_index(url)


def read_all(path: Path) -> list[str]:
    with contextlib.closing(open_index(f"sqlite:///{path}")) as index, index.snapshot() as view:  # type: ignore[type-var]
        return sorted(entry.text for entry in view)


class TestVersions:
    def test_a_newer_schema_of_sqlite(self, path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE rag_dedup_schema SET version = 99")
        with pytest.raises(SchemeMismatchError, match=r"schema 99.*update rag-dedup"):
            open_index(f"sqlite:///{path}")

    def test_a_newer_schema_of_postgres(self) -> None:
        import psycopg

        server = share_postgres()
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE newer")
        url = server.url.replace("/postgres", "/newer")
        Deduplicator(url)
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE rag_dedup_schema SET version = 99")
        with pytest.raises(SchemeMismatchError, match=r"schema 99.*update rag-dedup"):
            open_index(url)

    def test_a_newer_layout_of_redis(self) -> None:
        import redis

        url = share_redis().url
        open_index(f"{url}?namespace=newer")
        with redis.Redis.from_url(url) as client:
            client.set("rag_dedup:{newer}:version", 99)
        with pytest.raises(SchemeMismatchError, match=r"layout 99.*update rag-dedup"):
            open_index(f"{url}?namespace=newer")

    @pytest.mark.parametrize("store", SHARED)
    def test_other_settings(self, store: str) -> None:
        url = STORES[store]()
        Deduplicator(url).dedupe(DOCUMENTS)
        with pytest.raises(SchemeMismatchError, match=r"threshold: index 0\.8, wanted 0\.9"):
            Deduplicator(url, threshold=0.9)
        with pytest.raises(SchemeMismatchError, match="seed: index 1, wanted 2"):
            Deduplicator(url, seed=2)
        Deduplicator(url)


class TestSecrets:
    @pytest.fixture(params=["postgres", "redis"])
    def locked(self, request: pytest.FixtureRequest) -> Iterator[str]:
        """The URL of a server that wants another password."""
        if request.param == "redis":
            server = RedisServer()
            command = server.command
            server.command = lambda: [*command(), "--requirepass", "right"]  # type: ignore[method-assign]
            server.is_up = lambda: accepts(server.port)  # type: ignore[method-assign]
            server.start()
            yield f"redis://:s3cr3t@127.0.0.1:{server.port}/0"
        else:
            server = PostgresServer()
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("host all all 127.0.0.1/32 scram-sha-256\n")
            server.is_up = lambda: accepts(server.port)  # type: ignore[method-assign]
            server.start()
            yield f"postgresql://tester:s3cr3t@127.0.0.1:{server.port}/postgres"
        server.remove()

    def test_a_wrong_password_is_not_repeated(self, locked: str) -> None:
        with pytest.raises(UnavailableError) as caught:
            open_index(f"{locked}?timeout=1")
        assert "127.0.0.1" in str(caught.value)
        assert "s3cr3t" not in describe(caught.value)

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://me:s3cr3t/x@localhost/db",
            "postgresql://me:pa@ss:s3cr3t@localhost/db",
            "postgresql://me:x@localhost:s3cr3t/db",
            "postgresql://localhost/db?s3cr3t=1",
            "redis://:x@localhost:s3cr3t/0",
            "redis://:s3cr3t@[localhost/0",
            "nosuch://me:s3cr3t@localhost",
            "s3cr3t",
        ],
    )
    def test_a_url_that_cannot_be_right(self, url: str) -> None:
        with pytest.raises((ConfigurationError, UnavailableError)) as caught:
            open_index(url)
        assert "s3cr3t" not in describe(caught.value)


def describe(error: BaseException) -> str:
    """Return all that a traceback would show of an error and what led to it."""
    texts = []
    current: BaseException | None = error
    while current is not None:
        texts.append(repr(current))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(texts)


def accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class TestServers:
    @pytest.mark.parametrize("scheme", ["postgresql", "redis"])
    def test_nobody_is_there(self, scheme: str) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        with pytest.raises(UnavailableError, match=f"127.0.0.1:{port}"):
            open_index(f"{scheme}://127.0.0.1:{port}/0")

    @pytest.mark.parametrize("scheme", ["postgresql", "redis"])
    def test_somebody_else_is_there(self, scheme: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(30)

            def answer() -> None:
                with contextlib.suppress(OSError):
                    while True:
                        connection, _ = listener.accept()
                        with connection:
                            connection.recv(64)
                            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

            threading.Thread(target=answer, daemon=True).start()
            with pytest.raises(UnavailableError):
                open_index(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/0")

    def test_other_keys_in_redis(self) -> None:
        import redis

        url = share_redis().url
        with redis.Redis.from_url(url) as client:
            client.set("rag_dedup:{taken}:version", "not a number")
            with pytest.raises(CorruptIndexError, match="something else"):
                open_index(f"{url}?namespace=taken")
            dedup = Deduplicator(f"{url}?namespace=wrong")
            client.delete("rag_dedup:{wrong}:names")
            client.set("rag_dedup:{wrong}:names", "x")
            with pytest.raises(CorruptIndexError, match="damaged"):
                dedup.dedupe(DOCUMENTS)

    def test_redis_without_room(self) -> None:
        import redis

        server = RedisServer()
        server.start()
        try:
            dedup = Deduplicator(server.url)
            dedup.dedupe(DOCUMENTS)
            with redis.Redis.from_url(server.url) as client:
                client.config_set("maxmemory", "1mb")
                with pytest.raises(UnavailableError, match="maxmemory"):
                    dedup.dedupe([Document("x", "something else")])
                client.config_set("maxmemory", "0")
            dedup.dedupe([Document("x", "something else")])
            assert dedup.generation == 2
        finally:
            server.remove()

    def test_a_redis_lease_that_was_lost(self) -> None:
        """One who sleeps for too long and then writes is refused."""
        import redis

        url = f"{share_redis().url}?namespace=lease"
        dedup, other = Deduplicator(url), Deduplicator(url)

        def sleep_and_write() -> None:
            with dedup.index.transaction() as transaction:
                changes = Deduplicator().plan([Document("a", "one two three four")]).changes
                client.delete("rag_dedup:{lease}:lease")  # as if its time was up
                other.dedupe([Document("b", "five six seven eight")])
                transaction.write("late", changes)

        with (
            redis.Redis.from_url(share_redis().url) as client,
            pytest.raises(UnavailableError, match="silent"),
        ):
            sleep_and_write()
        with other.index.snapshot() as view:
            assert [entry.id for entry in view] == ["b"]

    def test_a_redis_lease_that_nobody_gave_back(self) -> None:
        """An interrupt came between taking it and the block that gives it back: it must not be kept alive."""
        import redis

        from rag_dedup.index.lease import Lease

        with redis.Redis.from_url(share_redis().url) as client:
            lease = Lease(client, "abandoned", 0.2)
            lease.acquire(1)
            time.sleep(0.5)
            assert client.exists("abandoned")
            del lease
            Lease(client, "abandoned", 0.2).acquire(5)

    def test_a_redis_lease_that_is_lost_at_the_very_end(self) -> None:
        """Others wrote after everything was read: the state tells."""
        import redis

        from rag_dedup.index.database import Writes
        from rag_dedup.index.redis import RedisStore

        url = share_redis().url
        other = Deduplicator(f"{url}?namespace=late")
        store = RedisStore(url, "late")

        def write_late() -> None:
            with store.writing() as session:
                session.write(Writes(session.read_state(), "late"))
                client.delete("rag_dedup:{late}:lease")
                other.dedupe([Document("b", "five six seven eight")])

        with redis.Redis.from_url(url) as client, pytest.raises(UnavailableError, match="silent"):
            write_late()
        assert other.generation == 1

    def test_a_redis_lease_that_is_renewed_while_it_writes(self) -> None:
        """Renewing it is no reason to refuse the write."""
        import redis

        dedup = Deduplicator(f"{share_redis().url}?namespace=renewed")
        over = threading.Event()

        def renew() -> None:
            with redis.Redis.from_url(share_redis().url) as client:
                while not over.is_set():
                    client.pexpire("rag_dedup:{renewed}:lease", 5000)

        renewer = threading.Thread(target=renew)
        renewer.start()
        try:
            for number in range(100):
                dedup.dedupe([Document(f"{number}", f"passage {number} of many")])
        finally:
            over.set()
            renewer.join()
        assert dedup.generation == 100


ODD = ["a b", "ü😀", "{x}", "a'b\"c;--", "\ud800", "\0", "", "x" * 1000, "a:b*?[c]\\"]


@pytest.mark.parametrize("store", SHARED)
@pytest.mark.parametrize("name", ODD)
def test_odd_namespaces(store: str, name: str, tmp_path: Path) -> None:
    url = {
        "sqlite": lambda: f"sqlite:///{tmp_path / 'index.db'}",
        "postgres": lambda: share_postgres().url,
        "redis": lambda: share_redis().url,
    }[store]()
    first, second = (Deduplicator(open_index(url, namespace)) for namespace in (name, name + "x"))
    first.dedupe([Document(name, "one two three", source=f"s {name}", scope=name)], run=name)
    assert second.generation == 0
    again = Deduplicator(open_index(url, name))
    assert again.sources(name, name)[0].source == f"s {name}"
    assert again.sweep(name, name).removed == ()
    assert list(verify_index(again.index)) == []


@pytest.mark.parametrize("store", SHARED)
def test_an_index_is_sent_to_another_process_by_its_url(store: str) -> None:
    index = open_index(STORES[store]())
    Deduplicator(index).dedupe(DOCUMENTS, run="one")
    twin = pickle.loads(pickle.dumps(index))
    assert twin.identity == index.identity
    assert Deduplicator(twin).explain("3").survivor is None


@pytest.mark.parametrize("store", SHARED)
def test_metadata_that_cannot_be_stored(store: str) -> None:
    dedup = Deduplicator(STORES[store]())
    values = [(object(), "is a object"), ({"a": [open_index]}, "is a function")]
    for value, reason in [*values, (10**5000, "too large"), ([-(10**5000)], "too large")]:
        with pytest.raises(InputError, match=f"metadata of document 'a'.*{reason}"):
            dedup.plan([Document("a", "text", metadata={"k": value})])
    assert dedup.generation == 0


@pytest.mark.parametrize("store", STORES)
def test_names_that_are_no_text(store: str) -> None:
    """Halves of a character, keys that are no strings, addresses that are no names: all come back."""
    halves = "\ud83d\ude00"
    metadata: Any = {1: "one", None: "n", (1, 2): halves, halves: b"x", "inf": float("-inf")}
    documents = [
        Document("a", halves * 3, source="a"),
        Document(halves, halves * 3, source=halves, metadata=metadata),
        Document("c", "something else", url=Path("c")),  # type: ignore[arg-type]
    ]
    dedup = Deduplicator(STORES[store]())
    dedup.dedupe(documents)
    assert [d.action for d in dedup.run(documents).decisions] == ["unchanged"] * 3
    assert dedup.explain(halves).survivor == "a"
    [promoted] = dedup.forget("a").promoted
    assert (promoted.id, promoted.source, promoted.metadata) == (halves, halves, metadata)


@pytest.mark.parametrize("timeout", ["-1", "x", "", "nan", "inf"])
def test_a_timeout_that_is_none(tmp_path: Path, timeout: str) -> None:
    with pytest.raises(ConfigurationError, match="timeout must be seconds"):
        open_index(f"sqlite:///{tmp_path / 'x.db'}?timeout={timeout}")


def test_settings_that_are_unknown(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no settings but"):
        open_index(f"sqlite:///{tmp_path / 'x.db'}?mode=ro")


@pytest.mark.parametrize("store", SHARED)
def test_an_index_that_is_not_to_be_made(store: str, tmp_path: Path) -> None:
    url = STORES[store]()
    Deduplicator(url)
    assert open_index(url, create=False).header is not None
    with pytest.raises(ConfigurationError, match=r"no index in namespace 'never'"):
        open_index(url.partition("?")[0], "never", create=False)
    if store == "sqlite":
        empty = tmp_path / "empty.db"
        empty.touch()
        with pytest.raises(ConfigurationError, match="no index in namespace"):
            open_index(f"sqlite:///{empty}", create=False)
        with contextlib.closing(sqlite3.connect(empty)) as connection:
            assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
