"""The whole thread: pages -> boilerplate out -> chunks -> decisions -> counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from rag_dedup.audit.split import DEFAULT_CHUNK_SIZE, split_text
from rag_dedup.boilerplate import Stripped, strip_boilerplate
from rag_dedup.deduplicator import Deduplicator
from rag_dedup.document import Decision, Document, Plan, Provenance, Report, Skipped
from rag_dedup.url import SAFE, canonicalize_url

__all__ = ["Audit", "Cluster", "Host", "Progress", "audit_pages", "find_host"]

Progress = Callable[[str, int, int | None], None]
"""Called with the name of a step, how much of it is done and, if known, how much there is."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A survivor and its duplicates.

    Args:
        id: the survivor.
        scope: the scope of all members.
        text: the passage.
        members: every place where it was found, the survivor's first.
    """

    id: str
    scope: str
    text: str
    members: tuple[Provenance, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        """The distinct addresses of the members (or sources, without a URL), the survivor's first."""
        return tuple(dict.fromkeys(member.url or member.source or member.id for member in self.members))


@dataclass(frozen=True, slots=True)
class Host:
    """The counts of one host; ``""`` holds the pages without a URL.

    Args:
        pages: pages that were read.
        characters: in these pages, as read.
        boilerplate: characters that were cut out as boilerplate.
        chunks: chunks that were decided on; ``chunks == kept + exact + near``.
        kept: chunks that stand for themselves.
        exact, near: chunks that another one stands for, by how that was verified.
    """

    name: str
    pages: int = 0
    characters: int = 0
    boilerplate: int = 0
    chunks: int = 0
    kept: int = 0
    exact: int = 0
    near: int = 0

    @property
    def share(self) -> float:
        """Boilerplate as a share of the characters, 0 to 1."""
        return self.boilerplate / self.characters if self.characters else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in a corpus.

    Args:
        pages: the pages as read.
        stripped: for each page, its text without boilerplate and what was cut out.
        chunks: what was decided on.
        owners: for each chunk, the position of its page in ``pages``.
        decisions: for each chunk, what is to happen to it and why.
        kept: the chunks that belong into the vector store.
        clusters: survivors that stand for more than themselves, the largest first.
        hosts: counts by host, the largest first.
        report: the counts, and the inputs that could not be used.
    """

    pages: tuple[Document, ...]
    stripped: tuple[Stripped, ...]
    chunks: tuple[Document, ...]
    owners: tuple[int, ...]
    decisions: tuple[Decision, ...]
    kept: tuple[Document, ...]
    clusters: tuple[Cluster, ...]
    hosts: tuple[Host, ...]
    report: Report

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Inputs that could not be used."""
        return self.report.skipped

    @property
    def characters(self) -> int:
        """Characters of all pages, as read."""
        return sum(host.characters for host in self.hosts)

    @property
    def boilerplate(self) -> int:
        """Characters that were cut out as boilerplate."""
        return sum(host.boilerplate for host in self.hosts)


def audit_pages(
    pages: Iterable[Document | Skipped],
    *,
    dedup: Deduplicator | None = None,
    chunk_size: int = DEFAULT_CHUNK_SIZE,
    keep_boilerplate: bool = False,
    progress: Progress | None = None,
    run: str | None = None,
    write: Callable[[Plan], object] | None = None,
) -> Audit:
    """Take boilerplate out of pages, split them, and decide on every chunk.

    Args:
        pages: pages, and inputs that could not be read, as :func:`rag_dedup.files.read_files` gives.
        dedup: makes the decisions and remembers them; default: a new one in memory.
        chunk_size: most characters in a chunk, at least 1.
        keep_boilerplate: leave the pages as they are.
        progress: called as the work goes on.
        run: the ingestion run that this is a part of.
        write: does in a vector store what the plan says, before it is committed.

    Raises:
        MissingExtraError: semantic-text-splitter is not installed.
        InputError: a page without the scope that ``dedup`` was told of, one id with two texts.

    >>> page = "# Ports\\n\\nThe server listens on port 80."
    >>> audit = audit_pages([Document("a", page), Document("b", page)])
    >>> audit.report.kept, audit.report.dropped
    (1, 1)
    """
    dedup = Deduplicator() if dedup is None else dedup
    tell = progress or _tell_nobody
    skipped: list[Skipped] = []
    read: list[Document] = []
    for item in pages:
        if isinstance(item, Skipped):
            skipped.append(item)
        else:
            read.append(replace(item, scope=dedup.find_scope(item)))
        tell("Reading", len(read), None)

    tell("Finding boilerplate", 0, None)
    stripped = [Stripped(page.text, ()) for page in read] if keep_boilerplate else strip_boilerplate(read)

    chunks: list[Document] = []
    owners: list[int] = []
    for number, (page, rest) in enumerate(zip(read, stripped, strict=True)):
        tell("Splitting", number, len(read))
        found = _make_chunks(page, rest.text, chunk_size)
        if not found:
            skipped.append(Skipped(page.id, "nothing is left of it without boilerplate"))
        chunks += found
        owners += [number] * len(found)

    tell("Comparing", 0, None)
    plan = dedup.carry_out(
        dedup.plan(chunks, complete=True, run=run), _write_nothing if write is None else write
    )
    return Audit(
        pages=tuple(read),
        stripped=tuple(stripped),
        chunks=tuple(chunks),
        owners=tuple(owners),
        decisions=plan.decisions,
        kept=tuple(dedup.survivors_of(plan)),
        clusters=_find_clusters(dedup, chunks, plan.decisions),
        hosts=_count_hosts(read, stripped, owners, plan.decisions),
        report=replace(plan.report, skipped=tuple(skipped)),
    )


def _write_nothing(plan: Plan) -> None:
    pass


def _tell_nobody(step: str, done: int, total: int | None) -> None:
    pass


def _make_chunks(page: Document, text: str, chunk_size: int) -> list[Document]:
    # No spans: they tell the engine that chunks of one source overlap, which these do not. Two saved
    # copies of a page have one source too, and must be found to be the same.
    return [
        replace(page, id=f"{page.id}#{number}", text=chunk, source=page.source or page.url or page.id)
        for number, (_, chunk) in enumerate(split_text(text, chunk_size))
    ]


def find_host(document: Document) -> str:
    """Return the host of a document's URL, ``""`` if it has none.

    >>> find_host(Document("a", "", url="HTTPS://Docs.Example.com/a"))
    'docs.example.com'
    """
    for url in (document.url, document.source):
        if url and url.lower().startswith(("http://", "https://")):
            try:
                return urlsplit(canonicalize_url(url, SAFE)).hostname or ""
            except ValueError:
                return ""
    return ""


def _find_clusters(
    dedup: Deduplicator, chunks: list[Document], decisions: tuple[Decision, ...]
) -> tuple[Cluster, ...]:
    texts: dict[tuple[str, str], str] = {}
    named: dict[tuple[str, str], str] = {}  # survivors, with the text of their first duplicate
    for chunk, decision in zip(chunks, decisions, strict=True):
        texts[decision.scope, decision.id] = chunk.text
        if decision.survivor is not None:
            named.setdefault((decision.scope, decision.survivor), chunk.text)
    clusters = [
        Cluster(id, scope, texts.get((scope, id), text), tuple(dedup.sources(id, scope)))
        for (scope, id), text in named.items()
    ]
    return tuple(sorted(clusters, key=lambda cluster: -len(cluster.members)))


def _count_hosts(
    pages: list[Document], stripped: list[Stripped], owners: list[int], decisions: tuple[Decision, ...]
) -> tuple[Host, ...]:
    names = [find_host(page) for page in pages]
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for name, page, rest in zip(names, pages, stripped, strict=True):
        counts[name]["pages"] += 1
        counts[name]["characters"] += len(page.text)
        counts[name]["boilerplate"] += len(page.text) - len(rest.text)
    for owner, decision in zip(owners, decisions, strict=True):
        outcome = "kept" if decision.survivor is None else "exact" if decision.method == "exact" else "near"
        counts[names[owner]]["chunks"] += 1
        counts[names[owner]][outcome] += 1
    hosts = [Host(name, **count) for name, count in counts.items()]
    return tuple(sorted(hosts, key=lambda host: (-host.pages, host.name)))
