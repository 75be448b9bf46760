"""Documents that are often equal, often nearly equal, and sometimes odd."""

from __future__ import annotations

from hypothesis import strategies as st

from rag_dedup import Document

_SUBJECTS = (
    "the broker keeps a log of all messages that a client sends to a topic and hands them out in order",
    "a new node joins the cluster when the operator adds its address to the list and restarts the service",
    "the exporter reads samples from the queue and writes them in batches to the storage that you chose",
)
_EDITS = (
    lambda words: words,
    lambda words: words,
    lambda words: [word.upper() for word in words],
    lambda words: [*words, "every", "day"],
    lambda words: ["please", *words],
    lambda words: [*words[:7], "really", *words[7:]],
    lambda words: [*words[:7], "not", *words[7:]],
    lambda words: [*words, "after", "30", "seconds"],
    lambda words: [*words, "after", "60", "seconds"],
    lambda words: words[: len(words) // 2],
    lambda words: [*words[10:], *words[:10]],
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a text: a subject under one or two edits, or something tiny."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", " ", "ok", "OK", "C++", "C", "not ok", "a b", "a b c", "…"]))
    words = draw(st.sampled_from(_SUBJECTS)).split()
    for _ in range(draw(st.integers(0, 2))):
        words = draw(st.sampled_from(_EDITS))(words)
    return " ".join(words)


SCOPES = ("", "tenant b")


@st.composite
def documents(draw: st.DrawFn, scopes: tuple[str, ...] = SCOPES) -> Document:
    """Draw a document; its id tells the scope, so that one vector store can hold all of them."""
    scope = draw(st.sampled_from(scopes))
    number = draw(st.integers(0, 11))
    source = draw(st.sampled_from([None, "page 1", "page 2", "https://example.com/p?utm_source=x"]))
    return Document(f"{scope}/{number}", draw(texts()), source=source, scope=scope)


def batches(max_size: int = 8, scopes: tuple[str, ...] = SCOPES) -> st.SearchStrategy[list[Document]]:
    """Draw the documents of one call: no id twice."""
    return st.lists(documents(scopes), max_size=max_size, unique_by=lambda document: document.id)
