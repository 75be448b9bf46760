"""An interrupt at any line leaves the old state or the new one, and nothing locked (law 8)."""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import pytest

from rag_dedup import Deduplicator, Document
from rag_dedup.operations import verify_index
from tests.engine.stores import STORES, make_index

PATTERNS = ("/rag_dedup/index/", "/rag_dedup/deduplicator.py")


def interrupt_after(lines: int) -> Any:
    """Return a trace function that raises after so many lines of the index or the engine."""
    left = lines

    def trace_call(frame: FrameType, event: str, arg: object) -> Any:
        name = frame.f_code.co_filename.replace("\\", "/")
        return trace_line if any(pattern in name for pattern in PATTERNS) else None

    def trace_line(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace_line

    return trace_call


# Raised while a generator is closed, an interrupt is reported as one that nobody could catch.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("store", STORES)
def test_interrupts(store: str) -> None:
    index = make_index(store)
    dedup = Deduplicator(index)
    chance = random.Random(4)
    most = 200
    outcomes = []
    tracer = sys.gettrace()
    for number in range(150):
        documents = [
            Document(
                f"{number % 40}/{i}",
                f"passage {chance.randrange(50)} tells how to set up part {chance.randrange(50)} of it",
                source=f"page {i}",
            )
            for i in range(3)
        ]
        before = dedup.generation
        sys.settrace(interrupt_after(chance.randrange(1, most)))
        try:
            dedup.run(documents)
            outcomes.append("done")
            most = max(200, most // 2)
        except KeyboardInterrupt:
            outcomes.append("interrupted")
            most = int(most * 1.3)
        finally:
            sys.settrace(tracer)
        assert dedup.generation in (before, before + 1)
    assert outcomes.count("done") > 5
    assert outcomes.count("interrupted") > 50
    assert list(verify_index(index)) == []
