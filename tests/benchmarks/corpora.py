"""Texts to measure with: the labelled chunks, their distinct texts, and as many as wanted made from them."""

from __future__ import annotations

import json
import lzma
import os
import random
from collections.abc import Iterator
from pathlib import Path

from rag_dedup import Document

WORDS_PER_CHUNK = 150
"""About a thousand characters."""


def find_chunks() -> Path:
    """Return the file of labelled chunks.

    Raises:
        SystemExit: it is not there.
    """
    path = Path(os.environ.get("RAG_DEDUP_DATA", "")) / "docs" / "chunks.jsonl.xz"
    if not path.is_file():
        raise SystemExit(
            "set RAG_DEDUP_DATA to the folder of the labelled data, which has docs/chunks.jsonl.xz"
        )
    return path


def read_chunks() -> list[Document]:
    """Return all labelled chunks, in order."""
    with lzma.open(find_chunks(), "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [
            Document(
                f"{row['site']}/{row['version']}/{row['page']}/{row['i']}",
                row["text"],
                source=f"{row['site']}/{row['version']}/{row['page']}",
            )
            for row in rows
        ]


def take_distinct(documents: list[Document]) -> list[Document]:
    """Return the first document of each text."""
    return list({document.text: document for document in reversed(documents)}.values())[::-1]


def make_chunks(
    count: int, texts: list[str], *, near: float = 0.2, seed: int = 7, size: int = WORDS_PER_CHUNK
) -> Iterator[Document]:
    """Yield chunks made of ``texts``, always the same ones.

    Args:
        count: how many.
        texts: what they are made of.
        near: share of chunks that are an earlier one with a word replaced, put in or left out.
        seed: of the generator.
        size: words in a chunk.

    A chunk that is not a near-duplicate is a piece of each of two texts with a seventh of its words
    replaced by words of others, so that two pieces of one place have little in common.
    """
    chance = random.Random(seed)
    sources = [words for text in texts if len(words := text.split()) >= size]
    vocabulary = sorted({word for words in sources[::10] for word in words})
    earlier: list[str] = []
    for i in range(count):
        if earlier and chance.random() < near:
            words = chance.choice(earlier).split()
            _edit(words, vocabulary, chance)
        else:
            words = [word for _ in range(2) for word in _cut(chance.choice(sources), size // 2, chance)]
            for place in chance.sample(range(len(words)), len(words) // 7):
                words[place] = chance.choice(vocabulary)
            if len(earlier) < 100_000:
                earlier.append(" ".join(words))
        yield Document(f"chunk {i}", " ".join(words), source=f"page {i // 10}")


def _cut(words: list[str], length: int, chance: random.Random) -> list[str]:
    start = chance.randrange(len(words) - length + 1)
    return words[start : start + length]


def _edit(words: list[str], vocabulary: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(words))
    action = chance.randrange(3)
    if action == 0:
        words[place] = chance.choice(vocabulary)
    elif action == 1:
        words.insert(place, chance.choice(vocabulary))
    else:
        del words[place]
