"""The blocks of README.md, so that each of them is run: ``python tests/readme.py run`` prints one.

A fenced block may be named by a comment on the line before it: ``<!-- name: run -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

README = Path(__file__).resolve().parent.parent / "README.md"

_BLOCK = re.compile(r"(?:<!-- name: (?P<name>[\w-]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)```", re.S)


class Block(NamedTuple):
    """A fenced block."""

    name: str
    language: str
    text: str


def read_blocks() -> list[Block]:
    """Return the fenced blocks of the README, in order."""
    text = README.read_text(encoding="utf-8")
    return [Block(m["name"] or "", m["language"], m["text"]) for m in _BLOCK.finditer(text)]


if __name__ == "__main__":
    print(next(block.text for block in read_blocks() if block.name == sys.argv[1]), end="")
