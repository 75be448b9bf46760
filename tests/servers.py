"""Real servers for tests, each on a free loopback port in a folder of its own."""

from __future__ import annotations

import atexit
import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import pytest

__all__ = ["PostgresServer", "RedisServer", "Server", "share_postgres", "share_redis"]

REQUIRED = "RAG_DEDUP_REQUIRE_SERVERS"
"""Set where a missing server is a failure."""


class Server:
    """A server that can be killed and started again with what it had on disk."""

    user: str | None = None

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rag-dedup-server-"))
        self.port = find_port()
        self._process: subprocess.Popen[bytes] | None = None
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        atexit.register(self.remove)

    @property
    def url(self) -> str:
        """Return what an index is opened by."""
        raise NotImplementedError

    def is_up(self) -> bool:
        """Tell whether the server answers."""
        raise NotImplementedError

    def command(self) -> Sequence[str]:
        """Return what starts the server in the foreground."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, user=self.user, cwd=self.folder
            )
        deadline = time.monotonic() + 60
        while not self.is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.command()[0]} did not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Kill it, children included, and wait until it is gone."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            process.wait()

    def remove(self) -> None:
        """Stop it and remove what it had."""
        self.kill(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)


class RedisServer(Server):
    """Redis or Valkey.

    Args:
        fsync: when what was written is on the disk: ``always`` before the answer, ``everysec`` as by default.
    """

    def __init__(self, fsync: str = "always") -> None:
        self._fsync = fsync
        super().__init__()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> Sequence[str]:
        program = find_program("valkey-server", "redis-server")
        return [
            program,
            *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)),
            *("--save", "", "--appendonly", "yes", "--appendfsync", self._fsync),
        ]

    def is_up(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


class PostgresServer(Server):
    """PostgreSQL."""

    def __init__(self) -> None:
        programs = Path(find_program("initdb", *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")))).parent
        self._programs = programs
        # It refuses to run as root.
        self.user = "postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
        super().__init__()
        options = ["--auth=trust", "--username=tester", "--encoding=UTF8", "--no-sync"]
        subprocess.run(
            [str(programs / "initdb"), "-D", str(self.folder / "data"), *options],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self.user,
            cwd=self.folder,
        )

    @property
    def url(self) -> str:
        return f"postgresql://tester@127.0.0.1:{self.port}/postgres"

    def command(self) -> Sequence[str]:
        return [
            str(self._programs / "postgres"),
            *("-D", str(self.folder / "data"), "-p", str(self.port), "-h", "127.0.0.1"),
            *("-k", str(self.folder)),
        ]

    def is_up(self) -> bool:
        import psycopg

        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.url, connect_timeout=2).close()
            return True
        return False

    def kill(self, number: int = signal.SIGKILL) -> None:
        if number == signal.SIGTERM:
            number = signal.SIGINT  # without waiting for clients
        super().kill(number)
        # Its children notice, and until they are gone nothing else may use the folder.
        if number == signal.SIGKILL:
            time.sleep(0.5)


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def find_program(*names: str) -> str:
    """Return the path of the first of these programs that is here, else skip the test."""
    for name in reversed(names):
        if (path := shutil.which(name)) is not None:
            return path
    reason = f"{names[0]} is not installed"
    if os.environ.get(REQUIRED):
        pytest.fail(f"{reason}, and {REQUIRED} is set")
    pytest.skip(reason)


def _share(make: Callable[[], Server]) -> Server:
    server = make()
    server.start()
    return server


@lru_cache(maxsize=1)
def share_redis() -> Server:
    """Return a Redis server for all tests of this process."""
    pytest.importorskip("redis")
    return _share(RedisServer)


@lru_cache(maxsize=1)
def share_postgres() -> Server:
    """Return a PostgreSQL server for all tests of this process."""
    pytest.importorskip("psycopg")
    return _share(PostgresServer)
