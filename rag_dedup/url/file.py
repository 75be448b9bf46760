"""``file`` URLs as browsers read them (WHATWG URL, sections 4.4 and 5.1)."""

from __future__ import annotations

import re

from rag_dedup.url.escape import normalize_escapes
from rag_dedup.url.host import parse_host
from rag_dedup.url.parse import resolve_dots, split_path

__all__ = ["canonicalize_file"]

_DRIVE = re.compile(r"/([A-Za-z])[:|](?=/|\Z)")


def canonicalize_file(url: str) -> str:
    r"""Return a ``file`` URL in the one way to write it; nothing but its spelling is certain.

    Args:
        url: begins with ``file:`` in lower case, without blanks around it and line breaks in it.

    >>> canonicalize_file("file://localhost/srv/../a b"), canonicalize_file("file:C|\\Docs")
    ('file:///a%20b', 'file:///C:/Docs')
    """
    path, tail = split_path(url[len("file:") :])
    path = path.replace("\\", "/")
    host = ""
    if path.startswith("//"):
        name, slash, below = path[2:].partition("/")
        if _DRIVE.fullmatch(f"/{name}"):
            path = path[1:]
        else:
            parsed = parse_host(name) if name else ""
            if parsed is None:
                return url
            host, path = "" if parsed == "localhost" else parsed, slash + below
    elif not path.startswith("/"):
        path = f"/{path}"
    return f"file://{host}{_resolve_dots(path)}{normalize_escapes(tail)}"


def _resolve_dots(path: str) -> str:
    """Resolve dot segments, but not above the drive of Windows."""
    drive = _DRIVE.match(path)
    below = path[drive.end() :] if drive else path
    root = f"/{drive[1]}:" if drive else ""
    return root + resolve_dots(normalize_escapes(below or "/"))
