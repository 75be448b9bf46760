"""Files and folders -> documents.

Whatever cannot be used comes out as a :class:`Skipped` with its reason, in its place: nothing is
lost in silence, and no file of a corpus stops the reading of the others.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rag_dedup.document import Document, Skipped
from rag_dedup.errors import UnreadableInputError
from rag_dedup.html import decode_html, extract_html, is_html
from rag_dedup.url import WEB, canonicalize_url, find_url

__all__ = ["read_files"]


def read_files(
    paths: Iterable[str | Path],
    *,
    exclude: Iterable[str | Path] = (),
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_links: bool = False,
) -> Iterator[Document | Skipped]:
    """Read files and, recursively, folders; in the order of the paths, folders sorted by name.

    Read are ``.html`` and ``.htm`` (see :func:`rag_dedup.html.extract_html`), ``.txt``, ``.md`` and
    ``.markdown`` (UTF-8), ``.jsonl`` and ``.ndjson`` (objects with ``text`` or ``page_content`` and,
    if they like, ``id``, ``url``, ``source``, ``scope``, ``metadata``; what else they have joins the
    metadata). Hidden files and folders are left out.

    The id of a file is its path within the given folder (several inputs: within the folder that they
    share), a record has its own id or ``path#line``. Its source is its URL if that is known, else
    the path.

    Args:
        paths: files and folders.
        exclude: files that are left out, such as the output of an earlier run.
        favor_precision, favor_recall, include_links: passed on to trafilatura.

    Raises:
        UnreadableInputError: one of the paths does not exist or cannot be opened.
        MissingExtraError: HTML, and trafilatura is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.txt").write_text("Hello")
    ...     _ = (Path(folder) / "b.txt").write_text(" ")
    ...     [(d.id, d.text) if isinstance(d, Document) else d.reason for d in read_files([folder])]
    [('a.txt', 'Hello'), 'no text']
    """
    paths = list(paths)
    for path in paths:
        _check_readable(path)
    roots = [os.path.abspath(path) for path in paths]
    read_page = partial(
        _read_page, favor_precision=favor_precision, favor_recall=favor_recall, include_links=include_links
    )
    readers: dict[str, _Reader] = {
        ".html": read_page,
        ".htm": read_page,
        ".txt": _read_text,
        ".md": _read_text,
        ".markdown": _read_text,
        ".jsonl": _read_records,
        ".ndjson": _read_records,
    }
    files = _find_files(roots, {os.path.realpath(path) for path in exclude})
    return _skip_clashes(_read_each(files, readers))


class _File(NamedTuple):
    """A file and its name within the corpus."""

    path: str
    name: str


_Reader = Callable[[_File], Iterator[Document | Skipped]]


# --- finding -------------------------------------------------------------------------------------


def _check_readable(path: str | Path) -> None:
    try:
        if os.path.isdir(path):
            os.listdir(path)
        elif os.path.isfile(path):
            open(path, "rb").close()
        else:
            os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableInputError(f"cannot read {path}: {reason}") from error


def _find_files(roots: list[str], exclude: set[str]) -> Iterator[_File | Skipped]:
    """Yield each file once, however many of the roots hold it."""
    base = _find_base(roots)
    found: set[str] = set()
    for root in roots:
        waiting = [root]
        while waiting:
            path = waiting.pop()
            name = Path(path if base is None else os.path.relpath(path, base)).as_posix()
            try:
                mode = os.stat(path).st_mode
                if stat.S_ISDIR(mode) and path != root and os.path.islink(path):
                    # Not followed, so that no link can lead in circles.
                    yield Skipped(name, "a link to a folder; give it as an input to have it read")
                elif stat.S_ISDIR(mode):
                    names = sorted(os.listdir(path), reverse=True)
                    waiting += [os.path.join(path, child) for child in names if not child.startswith(".")]
                elif not stat.S_ISREG(mode):
                    yield Skipped(name, "not a regular file")
                elif path not in found and (not exclude or os.path.realpath(path) not in exclude):
                    found.add(path)
                    yield _File(path, name)
            except OSError as error:
                yield Skipped(name, _explain(error))


def _find_base(roots: list[str]) -> str | None:
    """Return the folder that all of the roots share."""
    folders = [root if os.path.isdir(root) else os.path.dirname(root) for root in roots]
    try:
        return os.path.commonpath(folders)
    except ValueError:  # different drives, or no roots
        return None


def _explain(error: OSError) -> str:
    return f"cannot be read: {error.strerror or type(error).__name__}"


# --- reading -------------------------------------------------------------------------------------


def _read_each(
    files: Iterable[_File | Skipped], readers: Mapping[str, _Reader]
) -> Iterator[Document | Skipped]:
    unknown: dict[str, list[str]] = {}
    for file in files:
        if isinstance(file, Skipped):
            yield file
            continue
        suffix = os.path.splitext(file.name)[1].lower()
        reader = readers.get(suffix)
        if reader is None:
            unknown.setdefault(suffix, []).append(file.name)
            continue
        try:
            yield from reader(file)
        except OSError as error:
            yield Skipped(file.name, _explain(error))
    for suffix, names in sorted(unknown.items()):
        which = names[0] if len(names) == 1 else f"{len(names)} files, the first is {names[0]}"
        yield Skipped(f"*{suffix}" if suffix else "(no suffix)", f"no reader for this suffix: {which}")


def _read_page(file: _File, **options: bool) -> Iterator[Document | Skipped]:
    yield _extract_page(file, options)


def _extract_page(file: _File, options: Mapping[str, bool]) -> Document | Skipped:
    html, encoding = decode_html(Path(file.path).read_bytes())
    if not html.strip():
        return Skipped(file.name, "empty file")
    if not is_html(html):
        return Skipped(file.name, "not HTML: no tag that HTML knows")
    page = extract_html(html, None, **options)
    if not page.text.strip():
        return Skipped(file.name, "no visible text")
    facts = {
        "path": file.name,
        "title": page.title,
        "language": page.language,
        "date": page.date,
        "sitename": page.sitename,
        "canonical_hint": page.canonical_hint,
        "encoding": None if encoding == "utf-8" else encoding,
    }
    found = {key: value for key, value in facts.items() if value is not None}
    return _make_document(file.name, page.text, page.url, page.url or file.name, found)


_HEADING = re.compile(r"^#[ \t]+([^\n]{1,300})", re.M)


def _read_text(file: _File) -> Iterator[Document | Skipped]:
    try:
        text = _decode(Path(file.path).read_bytes())
    except UnicodeDecodeError as error:
        yield Skipped(file.name, _explain_encoding(error))
        return
    if not text.strip():
        yield Skipped(file.name, "no text")
        return
    heading = None if file.name.lower().endswith(".txt") else _HEADING.search(text)
    facts = {"path": file.name, **({"title": heading[1].strip(" \t\r#")} if heading else {})}
    yield _make_document(file.name, text, None, file.name, facts)


def _decode(data: bytes) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding)
    return data.decode("utf-8-sig")


def _explain_encoding(error: UnicodeDecodeError) -> str:
    where = f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
    cut = error.end == len(error.object) and ("unexpected end" in error.reason or "truncated" in error.reason)
    return f"{where}, perhaps cut off there" if cut else where


def _make_document(
    id: str, text: str, url: str | None, source: str, facts: Mapping[str, Any], scope: str = ""
) -> Document:
    metadata = dict(facts)
    if url is not None:
        metadata["canonical_url"] = canonicalize_url(url, WEB)
    return Document(id=id, text=text, source=source, url=url, scope=scope, metadata=metadata)


# --- records -------------------------------------------------------------------------------------


_URL_KEYS = ("url", "source", "loc", "link", "sourceURL", "source_url", "ogUrl")  # as loaders write it


def _read_records(file: _File) -> Iterator[Document | Skipped]:
    """Read a JSON object from each line; blank lines are nothing."""
    with open(file.path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _read_record(line, f"{file.name}#{number}", file.name)


def _read_record(line: bytes, place: str, path: str) -> Document | Skipped:
    try:
        record = json.loads(
            line.decode("utf-8-sig").rstrip("\r\n"), parse_constant=_refuse, parse_float=_parse_float
        )
    except UnicodeDecodeError as error:
        return Skipped(place, _explain_encoding(error))
    except json.JSONDecodeError as error:
        message = error.msg.removesuffix(" at")  # some of them expect that a place follows
        return Skipped(place, f"not JSON: {message} at column {error.colno}")
    except RecursionError:
        return Skipped(place, "not JSON: nested too deeply")
    except ValueError as error:
        return Skipped(place, f"not JSON: {error}")
    if not isinstance(record, dict):
        return Skipped(place, "not a JSON object")
    text = record.pop("text", None)
    if not isinstance(text, str):
        text = record.pop("page_content", None)
    if not isinstance(text, str):
        return Skipped(place, "no text: neither 'text' nor 'page_content' is a string")
    if not text.strip():
        return Skipped(place, "no text")
    scope = record.pop("scope", None)
    if not isinstance(scope, str | None):
        return Skipped(place, "the scope is not a string")
    id = record.pop("id", None)
    if not isinstance(id, str) or not id:
        id = str(id) if type(id) is int else place
    inner = record.pop("metadata", None)
    if isinstance(inner, dict):
        record.update(inner)
    elif inner is not None:
        record["metadata"] = inner
    url = find_url(record, _URL_KEYS)
    source = find_url(record, ("source",)) or url or place
    facts = {
        key: value
        for key, value in record.items()
        if key not in ("url", "source") or value not in (url, source)
    }
    return _make_document(id, text, url, source, {"path": path, **facts}, scope or "")


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number out of range")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON value")


# --- identity ------------------------------------------------------------------------------------


def _skip_clashes(items: Iterable[Document | Skipped]) -> Iterator[Document | Skipped]:
    """Skip a document whose id was there before, in its scope, with another text."""
    texts: dict[tuple[str, str], bytes] = {}
    for item in items:
        if isinstance(item, Document):
            digest = hashlib.sha256(item.text.encode("utf-8", "surrogatepass")).digest()
            if texts.setdefault((item.scope, item.id), digest) != digest:
                yield Skipped(item.id, "the id was there before, with another text")
                continue
        yield item
