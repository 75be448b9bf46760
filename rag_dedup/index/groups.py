"""Which orders belong together, by name, in little memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["Groups", "join_name", "split_name"]

_FEW = 64
"""Orders up to which a group is small."""


class Groups:
    """Sets of orders by name.

    Small ones are bytes: Python's garbage collector leaves dictionaries of strings and bytes alone, and
    most sources and clusters are small. Large ones are dictionaries, so that none takes quadratic time.
    """

    def __init__(self) -> None:
        self._small: dict[str, bytes] = {}
        self._large: dict[str, dict[int, None]] = {}

    def __iter__(self) -> Iterator[str]:
        yield from self._small
        yield from self._large

    def orders(self, name: str) -> list[int]:
        """Return the orders of a group, sorted."""
        large = self._large.get(name)
        return sorted(_read(self._small.get(name, b"")) if large is None else large)

    def add(self, name: str, order: int) -> None:
        """Put an order into a group; twice is once."""
        small = self._small.get(name)
        if small is None:
            if name in self._large:
                self._large[name][order] = None
            else:
                self._small[name] = _write([order])
            return
        orders = _read(small)
        if order in orders:
            return
        if len(orders) < _FEW:
            self._small[name] = small + _write([order])
        else:
            self._large[name] = dict.fromkeys([*orders, order])
            del self._small[name]

    def discard(self, name: str, order: int) -> None:
        """Take an order out of a group, if it is there."""
        large = self._large.get(name)
        if large is not None:
            large.pop(order, None)
            if not large:
                del self._large[name]
            return
        left = [other for other in _read(self._small.get(name, b"")) if other != order]
        if left:
            self._small[name] = _write(left)
        else:
            self._small.pop(name, None)


def join_name(first: str, second: str) -> str:
    """Return a name for a pair of strings, which no other pair has.

    >>> join_name("a", "b c"), split_name(join_name("a", "b c"))
    ('1 ab c', ('a', 'b c'))
    """
    return f"{len(first)} {first}{second}"


def split_name(name: str) -> tuple[str, str]:
    """Return the pair that a name was made of."""
    length, _, both = name.partition(" ")
    return both[: int(length)], both[int(length) :]


def _read(data: bytes) -> list[int]:
    return memoryview(data).cast("Q").tolist()


_PACKERS = [struct.Struct(f"={count}Q").pack for count in range(_FEW + 1)]


def _write(orders: list[int]) -> bytes:
    return _PACKERS[len(orders)](*orders)
