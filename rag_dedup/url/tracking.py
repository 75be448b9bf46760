"""The table of tracking parameters and host rules, read from ``tracking.toml``."""

from __future__ import annotations

import pkgutil
import sys
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["TABLE", "Table", "read_table"]


class Table(NamedTuple):
    """The compiled table. Names are in lower case."""

    names: frozenset[str]
    """Tracking on every host."""
    prefixes: tuple[str, ...]
    """Names that begin like this are tracking,"""
    exceptions: frozenset[str]
    """except for these."""
    referral: frozenset[str]
    """Where the visitor came from: content on some hosts, dropped by ``WEB`` only."""
    hosts: tuple[dict[str, Any], ...]
    """Arguments of the host rules."""


def read_table(text: str) -> Table:
    """Compile the text of ``tracking.toml``."""
    table = tomllib.loads(text)
    return Table(
        names=frozenset(name for vendor in table["vendor"] for name in vendor["parameters"]),
        prefixes=tuple(entry["prefix"] for entry in table["prefix"]),
        exceptions=frozenset(name for entry in table["prefix"] for name in entry["except"]),
        referral=frozenset(table["referral"]["parameters"]),
        hosts=tuple(table["host"]),
    )


def _load_table() -> Table:
    # Not importlib.resources: it loads tempfile and more, half of the time that importing this package takes.
    data = pkgutil.get_data(__package__, "tracking.toml")
    assert data is not None  # the loader of a package with files
    return read_table(data.decode("utf-8"))


TABLE = _load_table()
"""The table that ships with the library."""
