"""Tables as bytes, and back.

A line with a name and a version, a line of JSON with the settings and the columns, the columns themselves,
little-endian, and the SHA-256 of all that stands before it. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rag_dedup.errors import CorruptIndexError, SchemeMismatchError
from rag_dedup.tally import Tally

__all__ = ["read_saved", "read_settings", "write_saved"]

_NAME = b"rag_dedup segments "
_VERSION = b"1"
"""Raise it when a key, an entry or the format changes."""

_DIGEST = 32


def write_saved(settings: Mapping[str, Any], tallies: Mapping[str, Tally]) -> bytes:
    """Return the bytes of ``tallies``, the same ones for the same entries.

    >>> tally = Tally(8, 0)
    >>> data = write_saved({"limit": 3}, {"all": tally})
    >>> read_settings(data), data == write_saved({"limit": 3}, {"all": tally})
    ({'limit': 3}, True)
    """
    columns = {name: tally.dump() for name, tally in tallies.items()}
    counts = {name: len(tally) for name, tally in tallies.items()}
    head = json.dumps({"settings": dict(settings), "counts": counts}, sort_keys=True)
    parts = [_NAME + _VERSION + b"\n", head.encode() + b"\n"]
    for name, tally in tallies.items():
        parts += [columns[name][column].astype(kind).tobytes() for column, (kind, _) in tally.layout.items()]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def read_settings(data: bytes) -> dict[str, Any]:
    """Return the settings that were saved.

    Raises:
        CorruptIndexError: not what :func:`write_saved` gave, or damaged.
        SchemeMismatchError: another version wrote it.
    """
    settings: dict[str, Any] = _read_head(data)[0]["settings"]
    return settings


def read_saved(data: bytes, tallies: Mapping[str, Tally]) -> None:
    """Fill empty tables, of the limits that were saved.

    Raises:
        CorruptIndexError: not what :func:`write_saved` gave, or damaged.
        SchemeMismatchError: another version wrote it.
    """
    head, position = _read_head(data)
    end = len(data) - _DIGEST
    for name, tally in tallies.items():
        count = head["counts"].get(name, -1)
        columns = {}
        for column, (kind, shape) in tally.layout.items():
            size = count * int(np.prod(shape, dtype=int)) * np.dtype(kind).itemsize
            if count < 0 or position + size > end:
                raise CorruptIndexError(f"saved segments: {name} is shorter than it says")
            flat = np.frombuffer(data, dtype=kind, count=size // np.dtype(kind).itemsize, offset=position)
            columns[column] = flat.reshape(count, *shape)
            position += size
        keys, used = columns["keys"], columns["used"]
        full = "filled" in columns and (columns["filled"] > tally.limit).any()
        if full or len(np.unique(keys)) != count or (used < 1).any() or (np.diff(used) < 0).any():
            raise CorruptIndexError(f"saved segments: {name} holds what was never written")
        tally.load(columns)
    if position != end:
        raise CorruptIndexError("saved segments: longer than they say")


def _read_head(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the head and where it ends, after the checksum was checked."""
    first = data.find(b"\n")
    if not data.startswith(_NAME) or first < 0:
        raise CorruptIndexError("no saved segments")
    if data[len(_NAME) : first] != _VERSION:
        raise SchemeMismatchError("another version of rag_dedup saved these segments: learn them anew")
    if len(data) < _DIGEST or hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise CorruptIndexError("saved segments are damaged: the checksum is wrong")
    second = data.find(b"\n", first + 1)
    try:
        head = json.loads(data[first + 1 : second])
        if not all(isinstance(count, int) for count in head["counts"].values()):
            raise ValueError("counts")
        dict(head["settings"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptIndexError(f"saved segments: the head cannot be read: {error}") from error
    return head, second + 1
