"""The right to read and write an index in Redis: one worker has it at a time."""

from __future__ import annotations

import threading
import time
import uuid
import weakref
from contextlib import suppress

from rag_dedup.errors import MissingExtraError, UnavailableError

try:
    import redis
    from redis import exceptions
except ImportError as error:
    raise MissingExtraError("redis", "redis") from error

__all__ = ["Lease", "report_loss"]

_RENEW = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0"
_RELEASE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0"


class Lease:
    """A key that one worker holds, and that runs out when the worker is killed.

    A thread renews it while it is held, so that it can be short: nobody has to wait long for one who was
    killed. The thread does not hold the lease itself: if an interrupt comes before :meth:`release`, the
    lease is lost with the last reference to it.

    Args:
        client: of the server.
        key: the key.
        seconds: after which it runs out, 0.1 or more.
    """

    def __init__(self, client: redis.Redis, key: str, seconds: float) -> None:
        self._client = client
        self._key = key
        self._token = uuid.uuid4().hex.encode("ascii")
        self._milliseconds = round(1000 * seconds)
        self._over = threading.Event()
        weakref.finalize(self, self._over.set).atexit = False

    def acquire(self, timeout: float) -> None:
        """Wait for it.

        Raises:
            UnavailableError: others have had it for ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        pause = 0.001
        while not self._client.set(self._key, self._token, nx=True, px=self._milliseconds):
            if self._client.get(self._key) == self._token:  # the answer to an earlier attempt was lost
                break
            if time.monotonic() > deadline:
                raise UnavailableError(f"other workers have had the index for {timeout} s; try again")
            time.sleep(pause)
            pause = min(0.05, 2 * pause)
        held = (self._client, self._key, self._token, self._milliseconds)
        threading.Thread(target=_keep, args=(self._over, *held), daemon=True).start()

    def renew(self) -> None:
        """See whether it is still held, and keep it.

        Raises:
            UnavailableError: it is lost.
        """
        if not _renew(self._client, self._key, self._token, self._milliseconds):
            raise report_loss()

    def release(self) -> None:
        """Give it to others; if the server is gone, it runs out."""
        self._over.set()
        with suppress(exceptions.RedisError):
            self._client.eval(_RELEASE, 1, self._key, self._token)


def report_loss() -> UnavailableError:
    """Return the error of a worker that has lost its lease."""
    return UnavailableError(
        "this worker was silent for so long that others got its turn; nothing was written, plan again"
    )


def _renew(client: redis.Redis, key: str, token: bytes, milliseconds: int) -> bool:
    """Keep a lease for as long again; tell whether it was still held."""
    return bool(client.eval(_RENEW, 1, key, token, milliseconds))


def _keep(over: threading.Event, client: redis.Redis, key: str, token: bytes, milliseconds: int) -> None:
    """Renew a lease until it is over."""
    while not over.wait(milliseconds / 3000):
        with suppress(exceptions.RedisError):  # whoever asks next notices that it is lost
            _renew(client, key, token, milliseconds)
