"""The command line: ``rag-dedup dedupe``, ``audit``, ``url`` and ``index``."""

from __future__ import annotations

from rag_dedup.cli.main import main

__all__ = ["main"]
