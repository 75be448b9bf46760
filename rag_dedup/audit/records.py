"""An audit as JSON lines: what is kept, and every decision."""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from rag_dedup.audit.run import Audit

__all__ = ["encode_json", "make_decisions", "make_kept", "write_files"]


def make_kept(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield a record for each chunk that belongs into the vector store, with all of its places."""
    clusters = {(cluster.scope, cluster.id): cluster for cluster in audit.clusters}
    for chunk in audit.kept:
        cluster = clusters.get((chunk.scope, chunk.id))
        place = chunk.url or chunk.source
        yield {
            "id": chunk.id,
            "text": chunk.text,
            "url": chunk.url,
            "canonical_url": chunk.metadata.get("canonical_url"),
            "source": chunk.source,
            "title": chunk.metadata.get("title"),
            "language": chunk.metadata.get("language"),
            "scope": chunk.scope,
            "sources": list(cluster.urls) if cluster else [place] if place else [],
            "metadata": dict(chunk.metadata),
        }


def make_decisions(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield a record for each decision, in input order, then one for each input that was skipped."""
    for chunk, decision in zip(audit.chunks, audit.decisions, strict=True):
        yield {
            "id": decision.id,
            "action": decision.action,
            "survivor": decision.survivor,
            "method": decision.method,
            "similarity": decision.similarity,
            "guard": None if decision.guard is None else decision.guard._asdict(),
            "scope": decision.scope,
            "source": chunk.source,
            "url": chunk.url,
        }
    for skipped in audit.skipped:
        yield {"skipped": skipped.name, "reason": skipped.reason}


# Lone surrogates cannot be written in UTF-8. The others end a line for some readers, or steer the
# terminal that the file is shown on.
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def encode_json(value: object, *, indent: int | None = None) -> bytes:
    r"""Return a JSON text and a line feed, in UTF-8; the same value gives the same bytes everywhere.

    >>> encode_json({"a": "é\x00\ud800"})
    b'{"a": "\xc3\xa9\\u0000\\ud800"}\n'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    text = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text.encode("utf-8") + b"\n"


def write_files(outputs: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
    """Write records to files: all of them or, when one cannot be written, none.

    Each is written beside its place and then renamed, so that no reader sees half of it. ``-`` is
    standard output; what is no regular file, such as a pipe, is written as it is.

    Raises:
        OSError: a file cannot be written.
    """
    finished: list[tuple[str, str]] = []
    path = "-"
    try:
        for path, records in outputs.items():
            if path == "-":
                sys.stdout.buffer.writelines(map(encode_json, records))
                sys.stdout.buffer.flush()
                continue
            place = os.path.realpath(path)
            direct = os.path.exists(place) and not os.path.isfile(place)
            beside = place if direct else f"{place}.{uuid.uuid4().hex}.part"
            with open(beside, "wb" if direct else "xb") as file:
                if not direct:
                    finished.append((beside, place))
                file.writelines(map(encode_json, records))
        while finished:
            os.replace(*finished[-1])
            finished.pop()
    except OSError as error:  # named as the user named it
        name = "standard output" if path == "-" else path
        raise OSError(error.errno, error.strerror or str(error), name) from error
    finally:
        for beside, _ in finished:
            with suppress(OSError):
                os.remove(beside)
