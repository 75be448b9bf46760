"""Entries as bytes: a header in JSON, then the text.

Nothing that is read runs code or makes objects other than plain ones: an index file can come from
anywhere.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from hashlib import blake2b
from typing import Any
from uuid import UUID

from rag_dedup.document import Document, Entry, EntryKey, GuardHit, Place
from rag_dedup.errors import CorruptIndexError, InputError

__all__ = [
    "check_metadata",
    "decode_entry",
    "decode_name",
    "encode_entry",
    "encode_name",
    "encode_names",
    "name_entry",
    "name_group",
]

_PLAIN, _DEFLATED = b"p", b"z"
_WORTH_DEFLATING = 128
"""Bytes; shorter texts hardly become shorter."""
_LONGEST = 1 << 31
"""Bytes that a text of an index may have."""
_TAG = "!"
"""Stands in a JSON object for a value that JSON lacks; an object that has such a key is written as pairs."""
_MOST_BITS = 10_000
"""Of a whole number; Python reads no more than 4,300 digits."""
_TOO_LARGE = "a whole number is too large"
_NATIVE = frozenset({str, int, float, bool, type(None)})

_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int),
    (float, float),
    (str, str),
    (list, list),
    (tuple, tuple),
    (Mapping, dict),
)
"""What values of other classes are written as, such as members of enumerations."""

_WRITERS: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    UUID: ("uuid", str),
    Decimal: ("decimal", str),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode("ascii")),
    tuple: ("tuple", lambda value: list(map(_write, value))),
    set: ("set", lambda value: _write_set(value)),
    frozenset: ("frozenset", lambda value: _write_set(value)),
}
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "uuid": UUID,
    "decimal": Decimal,
    "float": float,
    "bytes": lambda value: base64.b64decode(value, validate=True),
    "tuple": lambda value: tuple(map(_read, value)),
    "set": lambda value: set(map(_read, value)),
    "frozenset": lambda value: frozenset(map(_read, value)),
    "pairs": lambda value: {_read(key): _read(item) for key, item in value},
}


def encode_name(name: str) -> bytes:
    """Return a name as bytes, whatever is in it."""
    return name.encode("utf-8", "surrogatepass")


def encode_names(names: tuple[str, str]) -> tuple[bytes, bytes]:
    """Return two names as bytes."""
    return encode_name(names[0]), encode_name(names[1])


def decode_name(data: bytes) -> str:
    """Return a name that was written as bytes.

    Raises:
        CorruptIndexError: it is no such thing.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except (AttributeError, TypeError, ValueError) as error:
        raise CorruptIndexError(f"a name in the index cannot be read: {error}") from error


def name_entry(key: EntryKey) -> bytes:
    """Return 16 bytes that name (scope, id) in an index.

    >>> len(name_entry(("", "a")))
    16
    """
    return _hash("entry", key)


def name_group(kind: str, key: tuple[str, str]) -> bytes:
    """Return 16 bytes that name what belongs together: a source, or a survivor with its duplicates."""
    return _hash(kind, key)


def _hash(kind: str, key: tuple[str, str]) -> bytes:
    first, second = encode_names(key)
    return blake2b(
        len(first).to_bytes(8, "little") + first + second, digest_size=16, person=kind.encode("ascii")
    ).digest()


def check_metadata(document: Document) -> None:
    """See whether the metadata of a document can be written.

    Raises:
        InputError: they hold something else than JSON values, dates, UUIDs, decimals, bytes, tuples
            and sets of these.

    >>> check_metadata(Document("a", "", metadata={"seen": date(2026, 12, 1)}))
    """
    metadata = document.metadata
    if _is_native(metadata):
        for value in metadata.values():
            if type(value) is int and value.bit_length() > _MOST_BITS:
                raise InputError(
                    f"the index cannot store the metadata of document {document.id!r}: {_TOO_LARGE}"
                )
        return
    try:
        _write(dict(document.metadata))
    except (InputError, RecursionError) as error:
        reason = str(error) if isinstance(error, InputError) else "they are nested too deeply"
        raise InputError(
            f"the index cannot store the metadata of document {document.id!r}: {reason}"
        ) from None


def encode_entry(entry: Entry) -> bytes:
    """Return an entry as bytes.

    >>> entry = Entry(("", "a"), "Hello", None, 0, Place(metadata={"n": (1, 2)}))
    >>> decode_entry(0, encode_entry(entry)) == entry
    True
    """
    header = [
        *entry.key,
        entry.source,
        entry.survivor,
        entry.method,
        entry.similarity,
        entry.guard,
        _write_place(entry.place),
        [[source, _write_place(place)] for source, place in entry.elsewhere],
    ]
    text = entry.text.encode("utf-8", "surrogatepass")
    kind = _PLAIN
    if len(text) > _WORTH_DEFLATING:
        deflated = zlib.compress(text, 1)
        if len(deflated) < len(text):
            kind, text = _DEFLATED, deflated
    # Written without line feeds, which therefore ends the header.
    return encode_name(_ENCODE(header)) + b"\n" + kind + text


def decode_entry(order: int, data: bytes) -> Entry:
    """Return the entry that was written as bytes.

    Raises:
        CorruptIndexError: it is no such thing.
    """
    try:
        header, _, body = data.partition(b"\n")
        scope, id, source, survivor, method, similarity, guard, place, elsewhere = json.loads(header)
        text = _read_text(body)
        return Entry(
            (scope, id),
            text,
            source,
            order,
            _read_place(place),
            survivor,
            method,
            similarity,
            None if guard is None else GuardHit(*guard),
            tuple((name, _read_place(other)) for name, other in elsewhere),
        )
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
        ArithmeticError,
        zlib.error,
    ) as error:
        raise CorruptIndexError(f"entry {order} of the index cannot be read: {error}") from error


# Not in ASCII: two halves of a character, escaped, would come back as the character.
_ENCODE = json.JSONEncoder(separators=(",", ":"), check_circular=False, ensure_ascii=False).encode


def _read_text(body: bytes) -> str:
    if body[:1] == _DEFLATED:
        inflater = zlib.decompressobj()
        text = inflater.decompress(body[1:], _LONGEST)
        if not inflater.eof:
            raise ValueError("its text is cut off or too long")
    elif body[:1] == _PLAIN:
        text = body[1:]
    else:
        raise ValueError("its text is missing")
    return text.decode("utf-8", "surrogatepass")


def _write_place(place: Place) -> list[Any]:
    source, url, metadata, span, related = place
    return [source, url, metadata if _is_native(metadata) else _write(dict(metadata)), span, related]


def _read_place(parts: list[Any]) -> Place:
    source, url, metadata, span, related = parts
    return Place(source, url, _read(metadata), None if span is None else (span[0], span[1]), tuple(related))


def _is_native(metadata: Mapping[Any, Any]) -> bool:
    """Tell whether JSON has all of this as it is."""
    values = metadata.values()
    return (
        _NATIVE.issuperset(map(type, values))
        and all(type(key) is str for key in metadata)
        and _TAG not in metadata
        and not any(type(value) is float and not math.isfinite(value) for value in values)
    )


def _write(value: Any) -> Any:
    """Return a value in terms of JSON."""
    kind = type(value)
    if kind is int and value.bit_length() > _MOST_BITS:
        raise InputError(_TOO_LARGE)
    if kind is float and not math.isfinite(value):
        return {_TAG: "float", "value": str(value)}
    if kind in _NATIVE:
        return value
    if kind is list:
        return list(map(_write, value))
    if kind is dict:
        if all(type(key) is str for key in value) and _TAG not in value:
            return {key: _write(item) for key, item in value.items()}
        return {_TAG: "pairs", "value": [[_write(key), _write(item)] for key, item in value.items()]}
    if kind in _WRITERS:
        name, write = _WRITERS[kind]
        return {_TAG: name, "value": write(value)}
    for base, convert in _BASES:
        if isinstance(value, base):
            return _write(convert(value))
    raise InputError(f"{value!r:.60} is a {kind.__name__}")


def _write_set(values: Any) -> list[Any]:
    return sorted(map(_write, values), key=_ENCODE)  # a set has no order, and bytes must not depend on one


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_read, value))
    if isinstance(value, dict):
        if _TAG in value:
            return _READERS[value[_TAG]](value["value"])
        return {key: _read(item) for key, item in value.items()}
    return value
