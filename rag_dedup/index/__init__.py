"""The persistent memory: one protocol, one file for each store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from urllib.parse import unquote_plus

from rag_dedup.errors import ConfigurationError
from rag_dedup.index.memory import MemoryIndex
from rag_dedup.index.protocol import Header, Index, Transaction, View, check_header
from rag_dedup.index.stored import StoredIndex

__all__ = ["Header", "Index", "MemoryIndex", "Transaction", "View", "check_header", "open_index"]


def open_index(
    url: str, namespace: str | None = None, *, timeout: float | None = None, create: bool = True
) -> Index:
    """Return the index that ``url`` names.

    Args:
        url: ``memory://``, ``sqlite:///path.db`` (four slashes before an absolute path),
            ``postgresql://user:password@host/database`` or ``redis://host:port/number``; namespace and
            timeout can follow, as in ``sqlite:///path.db?namespace=docs&timeout=10``.
        namespace: names one of several indexes in a database (``default``).
        timeout: seconds to wait for another writer (60).
        create: make the index if it is not there; otherwise that is an error.

    Raises:
        ConfigurationError: no store is known for it, or it cannot be right.
        MissingExtraError: the extra ``postgres`` or ``redis`` is not installed.
        UnavailableError: the database cannot be reached.
        CorruptIndexError: the database holds something else.
        SchemeMismatchError: it was made by a newer version of this library.

    >>> type(open_index("memory://")).__name__
    'MemoryIndex'
    """
    scheme, mark, rest = url.partition("://")
    location, settings = _take_settings(rest, ("namespace", "timeout"))
    name, patience = settings.get("namespace", "default"), settings.get("timeout", "60")
    store = _STORES.get(scheme) if mark else None
    if store is None:
        raise ConfigurationError(  # never the whole URL: it can hold a password
            f"no index store for {scheme + '://...' if mark else 'that'!r}; there are memory://, "
            "sqlite:///path.db, postgresql://... and redis://..."
        )
    return store(
        f"{scheme}://{location}",
        name if namespace is None else namespace,
        _read_seconds("timeout", patience if timeout is None else timeout),
        create,
    )


def _open_memory(url: str, namespace: str, timeout: float, create: bool) -> Index:
    if url != "memory://":
        raise ConfigurationError("an index in memory has no place and no settings: memory://")
    return MemoryIndex()


def _open_sqlite(url: str, namespace: str, timeout: float, create: bool) -> Index:
    from rag_dedup.index.sqlite import SqliteStore

    path, _, settings = url.removeprefix("sqlite://").partition("?")
    if not path.startswith("/") or settings:
        raise ConfigurationError(
            "an index in SQLite is sqlite:///path.db, with a fourth slash before an absolute path, and "
            "has no settings but namespace and timeout"
        )
    return StoredIndex(SqliteStore(path[1:], namespace, timeout, create=create))


def _open_postgres(url: str, namespace: str, timeout: float, create: bool) -> Index:
    from rag_dedup.index.postgres import PostgresStore

    url = "postgresql://" + url.partition("://")[2]
    return StoredIndex(PostgresStore(url, namespace, timeout, create=create))


def _open_redis(url: str, namespace: str, timeout: float, create: bool) -> Index:
    from rag_dedup.index.redis import RedisStore

    url, settings = _take_settings(url.replace("valkey", "redis", 1), ("lease",))
    lease = _read_seconds("lease", settings.get("lease", "5"))
    return StoredIndex(RedisStore(url, namespace, timeout, lease=lease, create=create))


_STORES: Mapping[str, Callable[[str, str, float, bool], Index]] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "postgresql+psycopg": _open_postgres,
    "postgres": _open_postgres,
    "redis": _open_redis,
    "rediss": _open_redis,
    "valkey": _open_redis,
    "valkeys": _open_redis,
}


def _take_settings(url: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """Split off what the query of a URL says under these names; what is left stays as it was written.

    >>> _take_settings("host/db?options=-c%20a&timeout=5", ["timeout"])
    ('host/db?options=-c%20a', {'timeout': '5'})
    """
    location, _, query = url.partition("?")
    items = [item for item in query.split("&") if item]
    pairs = [tuple(map(unquote_plus, item.partition("=")[::2])) for item in items]
    left = "&".join(item for item, (name, _) in zip(items, pairs, strict=True) if name not in names)
    return f"{location}?{left}" if left else location, {n: value for n, value in pairs if n in names}


def _read_seconds(name: str, value: object) -> float:
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise ConfigurationError(f"{name} must be seconds, 0 or more, not {value!r}")
    return seconds
