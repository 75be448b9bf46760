"""Pages -> chunks, for the command line and the notebooks; pipelines have their own splitter."""

from __future__ import annotations

from collections.abc import Iterator

from rag_dedup.errors import ConfigurationError, MissingExtraError

__all__ = ["DEFAULT_CHUNK_SIZE", "split_text"]

DEFAULT_CHUNK_SIZE = 1000
"""Characters in a chunk."""

# The splitter takes quadratic time in what it is given at once.
_BLOCK = 32_768


def split_text(text: str, chunk_size: int = DEFAULT_CHUNK_SIZE) -> Iterator[tuple[int, str]]:
    """Yield ``(offset, chunk)``, in order; chunks do not overlap and have no white space around them.

    They end where Markdown does: at a heading, a block, a sentence, a word.

    Args:
        text: plain text or Markdown.
        chunk_size: most characters in a chunk, 1 to 2**31 - 1.

    Raises:
        ConfigurationError: a chunk size below 1.
        MissingExtraError: semantic-text-splitter is not installed.

    >>> list(split_text("# Ports\\n\\nPort 80 is open.", 16))
    [(0, '# Ports'), (9, 'Port 80 is open.')]
    """
    if not 1 <= chunk_size < 1 << 31:
        raise ConfigurationError(f"chunk size must be from 1 to 2**31 - 1, not {chunk_size}")
    try:
        from semantic_text_splitter import MarkdownSplitter
    except ImportError as error:
        raise MissingExtraError("audit", "semantic-text-splitter") from error
    splitter = MarkdownSplitter(chunk_size)
    # The splitter cannot read lone surrogates. Only its offsets are used, so what it reads in their
    # place does not matter.
    readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(readable) != len(text):  # surrogates that made a pair
        readable = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    for start, stop in _cut_blocks(text):
        for offset, chunk in splitter.chunk_indices(readable[start:stop]):
            yield start + offset, text[start + offset : start + offset + len(chunk)]


def _cut_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text, at an empty line if there is one, else at a line, else at a space."""
    start = 0
    while len(text) - start > _BLOCK:
        middle, end = start + _BLOCK // 2, start + _BLOCK
        stop = next(
            (at + len(mark) for mark in ("\n\n", "\n", " ") if (at := text.rfind(mark, middle, end)) >= 0),
            end,
        )
        yield start, stop
        start = stop
    yield start, len(text)
