"""pandas DataFrames in, DataFrames out: an audit in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rag_dedup.audit.run import Audit, find_host
from rag_dedup.deduplicator import Deduplicator
from rag_dedup.document import Document
from rag_dedup.errors import InputError, MissingExtraError
from rag_dedup.guard import DEFAULT_GUARDS, Guard

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "boilerplate_frame",
    "clusters_frame",
    "decisions_frame",
    "pages_frame",
    "read_frame",
    "removed_frame",
    "threshold_sweep",
]


def read_frame(
    frame: DataFrame,
    *,
    text: str = "text",
    id: str | None = None,
    url: str | None = "url",
    source: str | None = "source",
    scope: str | None = "scope",
) -> list[Document]:
    """Return a document for each row; columns without another meaning become metadata.

    Args:
        frame: a row for each page or chunk.
        text: the column with the text.
        id: the column with the id; default: ``"id"`` if there is one, else the index.
        url, source, scope: columns with what their names say; one that the frame lacks is nothing.

    Raises:
        InputError: no column with the text, or a text that is no string.

    >>> import pandas
    >>> read_frame(pandas.DataFrame({"text": ["Hello"], "team": ["a"]}))[0].metadata
    {'team': 'a'}
    """
    if text not in frame.columns:
        raise InputError(
            f"the frame has no column {text!r}; its columns are {', '.join(map(str, frame.columns))}"
        )
    id = id or ("id" if "id" in frame.columns else None)
    special = {name for name in (text, id, url, source, scope) if name}
    documents = []
    for label, row in zip(frame.index, frame.to_dict("records"), strict=True):
        if not isinstance(row[text], str):
            raise InputError(f"row {label!r}: the text is a {type(row[text]).__name__}, not a string")
        documents.append(
            Document(
                id=str(row[id] if id else label),
                text=row[text],
                source=_get_string(row, source),
                url=_get_string(row, url),
                scope=_get_string(row, scope) or "",
                metadata={str(key): value for key, value in row.items() if key not in special},
            )
        )
    return documents


def _get_string(row: dict[Hashable, Any], column: str | None) -> str | None:
    """Return a value, ``None`` for what pandas puts where there is none."""
    value = row.get(column) if column else None
    return value if isinstance(value, str) and value else None


def pages_frame(audit: Audit) -> DataFrame:
    """Return a row for each page: what it lost as boilerplate and to other pages."""
    chunks, kept = Counter(audit.owners), Counter[int]()
    for owner, decision in zip(audit.owners, audit.decisions, strict=True):
        kept[owner] += decision.survivor is None
    return _make_frame(
        (
            "id", "url", "canonical_url", "host", "scope", "title", "language",
            "characters", "boilerplate", "spared", "chunks", "kept", "dropped",
        ),
        (
            (
                page.id, page.url, page.metadata.get("canonical_url"), find_host(page), page.scope,
                page.metadata.get("title"), page.metadata.get("language"),
                len(page.text), len(page.text) - len(rest.text), rest.spared,
                chunks[i], kept[i], chunks[i] - kept[i],
            )
            for i, (page, rest) in enumerate(zip(audit.pages, audit.stripped, strict=True))
        ),
    )  # fmt: skip


def decisions_frame(audit: Audit) -> DataFrame:
    """Return a row for each chunk: what was decided, against what, and which guard fired."""
    return _make_frame(
        (
            "id", "page", "scope", "action", "survivor", "method", "similarity",
            "guard", "here", "there", "source", "url", "host", "characters",
        ),
        (
            (
                decision.id, audit.pages[owner].id, decision.scope, decision.action,
                decision.survivor, decision.method, decision.similarity,
                *(decision.guard or (None, None, None)),
                chunk.source, chunk.url, find_host(chunk), len(chunk.text),
            )
            for chunk, owner, decision in zip(audit.chunks, audit.owners, audit.decisions, strict=True)
        ),
    )  # fmt: skip


def clusters_frame(audit: Audit) -> DataFrame:
    """Return a row for each member of a cluster, the largest cluster first, survivors first in each."""
    return _make_frame(
        ("cluster", "size", "scope", "id", "method", "similarity", "source", "url", "text"),
        (
            (
                cluster.id, len(cluster.members), cluster.scope, member.id, member.method,
                member.similarity, member.source, member.url, cluster.text,
            )
            for cluster in audit.clusters
            for member in cluster.members
        ),
    )  # fmt: skip


def boilerplate_frame(audit: Audit) -> DataFrame:
    """Return a row for each host: its pages, and how much of them is boilerplate."""
    return _make_frame(
        ("host", "pages", "characters", "boilerplate", "share", "chunks", "kept", "exact", "near"),
        (
            (
                host.name, host.pages, host.characters, host.boilerplate, host.share,
                host.chunks, host.kept, host.exact, host.near,
            )
            for host in audit.hosts
        ),
    )  # fmt: skip


def removed_frame(audit: Audit) -> DataFrame:
    """Return a row for each span that was cut out as boilerplate: where it was, and why."""
    return _make_frame(
        ("page", "host", "start", "end", "reason", "text"),
        (
            (page.id, find_host(page), span.start, span.end, span.reason, span.text)
            for page, rest in zip(audit.pages, audit.stripped, strict=True)
            for span in rest.removed
        ),
    )


def threshold_sweep(
    documents: DataFrame | Iterable[Document],
    thresholds: Sequence[float] = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0),
    *,
    guards: Sequence[Guard] = DEFAULT_GUARDS,
    seed: int = 1,
) -> DataFrame:
    """Return what each threshold would keep, drop and keep apart.

    Args:
        documents: chunks, or a frame that :func:`read_frame` can read.
        thresholds: similarities to try, above 0 and up to 1.
        guards: what must not differ between duplicates.
        seed: of the MinHash permutations.
    """
    given = list(documents) if not hasattr(documents, "columns") else read_frame(documents)
    rows = []
    for threshold in thresholds:
        report = Deduplicator(threshold=threshold, guards=guards, seed=seed).plan(given).report
        rows.append(
            (
                threshold, report.documents, report.kept, report.dropped,
                report.by_method.get("exact", 0), report.by_method.get("minhash", 0),
                sum(report.by_guard.values()),
            )
        )  # fmt: skip
    return _make_frame(("threshold", "chunks", "kept", "dropped", "exact", "near", "guarded"), rows)


def _make_frame(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> DataFrame:
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("audit", "pandas") from error
    return DataFrame(list(rows), columns=list(columns))
