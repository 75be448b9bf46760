"""An index in Redis or Valkey: whoever plans or writes holds a lease on it.

Redis has no state that stands still for a reader, so that readers take turns with writers. A worker that
does not come back loses its lease after a while, by the clock of the server; should it come back later,
its write is refused, since a write goes through only if the state is the one that was read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import Any
from urllib.parse import quote, urlsplit

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
from rag_dedup.index.lease import Lease, report_loss
from rag_dedup.index.record import decode_name, encode_name

try:
    import redis
    from redis import exceptions
except ImportError as error:
    raise MissingExtraError("redis", "redis") from error

__all__ = ["RedisStore"]

VERSION = 1
"""Of the layout of the keys; there is none to migrate from."""
_FIELDS = 5_000
"""Fields that are asked for at once."""
_ANSWER = 60.0
"""Seconds within which the server has to answer."""


class RedisStore:
    """A server, and one index in it.

    Args:
        url: of the server: ``redis://``, ``rediss://`` or ``unix://``.
        namespace: names the index in the server.
        timeout: seconds that a worker waits for its turn.
        lease: seconds after which one who was killed has lost its turn, 0.1 or more.
        create: make the index if it is not there.
    """

    def __init__(
        self,
        url: str,
        namespace: str = "default",
        timeout: float = 60.0,
        *,
        lease: float = 5.0,
        create: bool = True,
    ) -> None:
        if not 0.1 <= lease <= 3600:
            raise ConfigurationError(f"lease must be seconds, from 0.1 to 3600, not {lease!r}")
        self.lease = lease
        self.url = url
        self.namespace = namespace
        self.timeout = timeout
        self._place = _describe(url)
        # In braces: what a cluster keeps in one place.
        name = quote(encode_name(namespace), safe="")
        self._prefix = f"rag_dedup:{{{name}}}:"
        self._client = _connect(url)
        with _clear_errors(self._place):
            if not create and not self._client.exists(self._prefix + "state"):
                raise refuse_to_create(self._place, namespace)
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[RedisSession]:
        """Return a session that sees one state."""
        with _clear_errors(self._place), self._take_turn() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[RedisSession]:
        """Return the only session that writes."""
        with _clear_errors(self._place), self._take_turn() as session:
            yield session
            session.commit()

    def vacuum(self) -> None:
        """Do nothing: Redis gives back room at once."""

    def drop(self) -> None:
        """Remove the keys of the index, its state first: without that, nobody reads or writes the others."""
        with _clear_errors(self._place), self._take_turn():
            self._client.delete(self._prefix + "state", self._prefix + "version")
            for key in self._client.scan_iter(match=f"{self._prefix}*", count=_FIELDS):
                self._client.unlink(key)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __reduce__(self) -> tuple[Callable[..., RedisStore], tuple[()]]:
        settings = {"namespace": self.namespace, "timeout": self.timeout, "lease": self.lease}
        return partial(RedisStore, self.url, **settings), ()  # type: ignore[arg-type]

    def _prepare(self) -> None:
        """Make the index if it is not there."""
        keys = [self._prefix + "version", self._prefix + "state"]
        self._client.msetnx({keys[0]: VERSION, keys[1]: encode_state(make_state())})
        version = self._client.get(keys[0])
        if not isinstance(version, bytes) or not version.isdigit():
            raise CorruptIndexError(f"{self._place} holds something else under the name of the index")
        if int(version) > VERSION:
            raise SchemeMismatchError(
                f"this index has layout {int(version)}, made by a newer rag-dedup; this one knows up to "
                f"{VERSION}: update rag-dedup"
            )

    @contextmanager
    def _take_turn(self) -> Iterator[RedisSession]:
        lease = Lease(self._client, self._prefix + "lease", self.lease)
        lease.acquire(self.timeout)
        try:
            yield RedisSession(self._client, self._prefix, lease)
        finally:
            lease.release()


class RedisSession:
    """A turn."""

    def __init__(self, client: redis.Redis, prefix: str, lease: Lease) -> None:
        self._client = client
        self._prefix = prefix
        self._lease = lease
        self._state: bytes = b""
        self._writes: Writes | None = None

    def read_state(self) -> State:
        """Return where the index stands."""
        state = self._client.get(self._prefix + "state")
        if not isinstance(state, bytes):
            raise CorruptIndexError("the index was removed from its server while it was open")
        self._state = state
        return decode_state(state.decode("utf-8", "replace"))

    def was_written(self, token: str) -> bool:
        """Tell whether the write with this token is in the index."""
        return bool(self._client.sismember(self._prefix + "commits", token))

    def find_orders(self, names: Sequence[bytes]) -> dict[bytes, int]:
        """Return the orders of the names that are there."""
        return {name: int(order) for name, order in self._read("names", names).items()}

    def read_records(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the records of the orders that are there."""
        return self._read("entries", orders)

    def read_signatures(self, orders: Sequence[int]) -> dict[int, bytes]:
        """Return the signatures of the orders that have one."""
        return self._read("signatures", orders)

    def read_groups(self, groups: Sequence[bytes]) -> dict[bytes, list[int]]:
        """Return the orders, sorted, that belong to each group that has any."""
        self._lease.renew()
        pipeline = self._client.pipeline(transaction=False)
        for group in groups:
            pipeline.smembers(self._name_group(group))
        answers = pipeline.execute() if groups else []
        return {
            group: sorted(map(int, members))
            for group, members in zip(groups, answers, strict=True)
            if members
        }

    def read_runs(self) -> list[RunRow]:
        """Return the runs, by number."""
        self._lease.renew()
        rows: Mapping[bytes, bytes] = self._client.hgetall(self._prefix + "runs")  # type: ignore[assignment]
        runs = []
        for number, row in rows.items():
            length, _, fences = row.partition(b":")
            runs.append(RunRow(int(number), int(length), fences))
        return sorted(runs)

    def read_pages(self, run: int, pages: Sequence[int]) -> dict[int, bytes]:
        """Return pages of a run."""
        return self._read(f"pages:{run}", pages)

    def list_ingestions(self) -> list[Run]:
        """Return the ingestion runs, by number."""
        rows: list[bytes] = self._client.lrange(self._prefix + "ingestions", 0, -1)  # type: ignore[assignment]
        parts = (row.partition(b":") for row in rows)
        return [Run(*_split_source(names), int(order)) for order, _, names in parts]

    def list_sources(self) -> dict[Source, int]:
        """Return every source, and the number of the run that has seen it last."""
        self._lease.renew()
        rows = self._client.hscan_iter(self._prefix + "sources", count=_FIELDS)
        return {_split_source(source): int(number) for source, number in rows}

    def measure(self) -> int:
        """Return the bytes that the keys take, as the server estimates them."""
        size = 0
        for key in self._client.scan_iter(match=f"{self._prefix}*", count=_FIELDS):
            self._lease.renew()
            size += int(self._client.memory_usage(key) or 0)
        return size

    def check(self) -> list[str]:
        """Return nothing: Redis checks itself when it starts."""
        return []

    def write(self, writes: Writes) -> None:
        """Write when the turn ends."""
        self._writes = writes

    def commit(self) -> None:
        """Send what is to be written: all or nothing."""
        if self._writes is None:
            return
        seen = self._read("sources", [_join_source((scope, name)) for scope, name, _ in self._writes.seen])
        with self._client.pipeline(transaction=True) as pipeline:
            # Not the lease, which is renewed meanwhile: whoever has got it in between has either written,
            # and then the state is another one, or will be refused as we would be.
            pipeline.watch(self._prefix + "state")  # type: ignore[no-untyped-call]
            if pipeline.get(self._prefix + "state") != self._state:
                raise report_loss()
            pipeline.multi()
            self._fill(pipeline, self._writes, seen)
            try:
                pipeline.execute()
            except exceptions.WatchError as error:
                if error.__cause__ is not None:  # so a lost connection is reported, once something is watched
                    raise error.__cause__ from None
                raise report_loss() from None

    def _fill(self, pipeline: Any, writes: Writes, seen: Mapping[bytes, bytes]) -> None:
        prefix = self._prefix
        if writes.token is not None:
            pipeline.sadd(prefix + "commits", writes.token)
        deletions: Mapping[str, Sequence[Any]] = {
            "names": [name for _, name in writes.deleted],
            "entries": [order for order, _ in writes.deleted],
            "signatures": writes.unsigned,
            "runs": writes.dropped,
        }
        for table, fields in deletions.items():
            for part in _cut(fields):
                pipeline.hdel(prefix + table, *part)
        for run in writes.dropped:
            pipeline.unlink(f"{prefix}pages:{run}")
        for change, links in ((pipeline.srem, writes.left), (pipeline.sadd, writes.joined)):
            for group, pairs in itertools.groupby(sorted(links), key=itemgetter(0)):
                change(self._name_group(group), *(order for _, order in pairs))
        additions: Mapping[str, Sequence[Any]] = {
            "names": [(name, order) for order, name, _ in writes.records],
            "entries": [(order, record) for order, _, record in writes.records],
            "signatures": writes.signatures,
            "runs": [(run.number, b"%d:%b" % (run.length, run.fences)) for run, _ in writes.runs],
            **{f"pages:{run.number}": list(enumerate(pages)) for run, pages in writes.runs},
        }
        for table, rows in additions.items():
            for part in _cut(rows):
                pipeline.hset(prefix + table, items=[item for row in part for item in row])
        for (scope, name, order), _ in writes.ingestions:
            pipeline.rpush(prefix + "ingestions", b"%d:%b" % (order, _join_source((scope, name))))
        for source in writes.forgotten:
            pipeline.hdel(prefix + "sources", _join_source(source))
        for source in writes.sources:
            pipeline.hsetnx(prefix + "sources", _join_source(source), 0)
        for scope, name, number in writes.seen:
            field = _join_source((scope, name))
            pipeline.hset(prefix + "sources", field, max(number, int(seen.get(field, b"0"))))
        pipeline.set(prefix + "state", encode_state(writes.state))

    def _read(self, table: str, fields: Sequence[Any]) -> dict[Any, bytes]:
        """Return the values of the fields that are there."""
        self._lease.renew()
        found: dict[Any, bytes] = {}
        for part in _cut(fields):
            values: list[bytes | None] = self._client.hmget(self._prefix + table, list(part))  # type: ignore[assignment]
            found.update(
                (field, value) for field, value in zip(part, values, strict=True) if value is not None
            )
        return found

    def _name_group(self, group: bytes) -> bytes:
        return self._prefix.encode("ascii") + b"group:" + group


def _join_source(source: Source) -> bytes:
    scope, name = map(encode_name, source)
    return b"%d:%b%b" % (len(scope), scope, name)


def _split_source(data: bytes) -> Source:
    length, _, both = data.partition(b":")
    return decode_name(both[: int(length)]), decode_name(both[int(length) :])


def _cut(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + _FIELDS] for start in range(0, len(items), _FIELDS))


def _describe(url: str) -> str:
    """Return what may be said of a URL: no user, no password.

    Raises:
        ConfigurationError: it is no URL of a server.
    """
    try:
        parts = urlsplit(url)
        place = f"Redis at {parts.hostname or 'a local socket'}"
        return f"{place}:{parts.port}" if parts.port is not None else place
    except ValueError:  # its text can hold the password
        raise ConfigurationError(
            "the URL of the Redis server cannot be read; it is redis://user:password@host:port/number, "
            "special characters as %40"
        ) from None


def _connect(url: str) -> redis.Redis:
    """Return a client of a server, which is not asked yet.

    Raises:
        ConfigurationError: the URL has a setting that no connection has.
    """
    try:
        client = redis.Redis.from_url(url, socket_timeout=_ANSWER, socket_connect_timeout=10)
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)
    except (TypeError, ValueError):  # their texts can hold the password
        raise ConfigurationError(
            "the URL of the Redis server has a setting that is unknown or cannot be right"
        ) from None
    return client


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Say what went wrong in terms of the index."""
    try:
        yield
    except exceptions.ResponseError as error:
        if "WRONGTYPE" in str(error):
            raise CorruptIndexError(f"{place}: the index is damaged: {error}") from error
        raise UnavailableError(f"{place}: {error}") from error
    except exceptions.RedisError as error:
        raise UnavailableError(f"{place}: {error}; if a commit was under way, repeat it") from error
