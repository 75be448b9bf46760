"""The words: what goes into the engine and what comes out of it.

All of these are frozen. A :class:`Document` goes in; one :class:`Decision` per document, inside a
:class:`Plan`, comes out; an :class:`Entry` is what the index remembers of a document.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rag_dedup.errors import InputError

__all__ = [
    "Action",
    "Changes",
    "Decision",
    "Document",
    "Drift",
    "Entry",
    "EntryKey",
    "Explanation",
    "GuardHit",
    "Place",
    "Plan",
    "Provenance",
    "Report",
    "Run",
    "Skipped",
    "Source",
    "copy_document",
]

Action = Literal["keep", "drop", "unchanged", "revise"]

EntryKey = tuple[str, str]
"""(scope, id): what names a document in an index. Scope is part of identity."""

Source = tuple[str, str]
"""(scope, source): what names a source in an index."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its origin: a page or a chunk, the engine does not care.

    Args:
        id: names the document inside its scope. The same id with another text is a new version.
        text: the text, never changed by the engine.
        source: where it came from; one source has many chunks. Default: the ``SAFE`` canonical URL.
        url: the address of the page, as the loader gave it.
        scope: tenant, ACL set, language or product version: whatever must never be mixed.
        metadata: carried along and given back on promotion; never read but by ``scope_key``.
        span: ``(start, end)`` of the chunk in its source, in characters, if known. Chunks of one
            source whose spans overlap share text because of the splitter, so they are never
            near-duplicates of each other.
        related: ids of documents that contain this one or are contained in it (parent and child
            nodes). Never duplicates of it.

    >>> Document("a", "Hello").scope
    ''
    """

    id: str
    text: str
    source: str | None = None
    url: str | None = None
    scope: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    span: tuple[int, int] | None = None
    related: tuple[str, ...] = ()

    @property
    def key(self) -> EntryKey:
        """(scope, id)."""
        return self.scope, self.id


class GuardHit(NamedTuple):
    """A load-bearing difference between two near-duplicates.

    Args:
        kind: of the difference, such as ``number``, ``version`` or ``negation``.
        here: what the document says, ``""`` if it lacks the thing.
        there: what the other one says.
    """

    kind: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to happen to one input document, and why.

    Args:
        id: the document.
        action: ``keep`` (new, goes into the vector store), ``drop`` (a duplicate of ``survivor``),
            ``unchanged`` (known, same text; nothing to do) or ``revise`` (known, new text).
        survivor: the id of the document that stands for this one in the vector store; ``None`` when
            it stands for itself.
        method: ``exact`` (equal after normalisation) or ``minhash`` (candidate by MinHash bands,
            verified by exact Jaccard), ``None`` without a survivor.
        similarity: exact Jaccard similarity to the survivor, 0 to 1. For a document that was kept
            only because of a guard: to its nearest survivor.
        guard: the difference that kept a near-duplicate, ``None`` if no guard fired.
        scope: the scope of the document.
    """

    id: str
    action: Action
    survivor: str | None = None
    method: str | None = None
    similarity: float | None = None
    guard: GuardHit | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An input that could not be used: named and counted, never lost in silence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """One member of a cluster: a place where the passage of the survivor was found."""

    id: str
    source: str | None
    url: str | None
    method: str | None
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of a plan; ``documents == kept + dropped + unchanged + revised``.

    Args:
        documents: decided documents.
        kept, dropped, unchanged, revised: decisions by action.
        by_method: duplicates by method.
        by_guard: near-duplicates that a guard kept apart, by kind of difference.
        added, removed, promoted: what the vector store is asked to do.
        skipped: inputs that could not be used.
    """

    documents: int = 0
    kept: int = 0
    dropped: int = 0
    unchanged: int = 0
    revised: int = 0
    by_method: Mapping[str, int] = field(default_factory=dict)
    by_guard: Mapping[str, int] = field(default_factory=dict)
    added: int = 0
    removed: int = 0
    promoted: int = 0
    skipped: tuple[Skipped, ...] = ()

    @classmethod
    def count(
        cls,
        decisions: tuple[Decision, ...],
        *,
        added: int = 0,
        removed: int = 0,
        promoted: int = 0,
        skipped: tuple[Skipped, ...] = (),
    ) -> Report:
        """Count ``decisions``.

        >>> Report.count((Decision("a", "keep"), Decision("b", "drop", "a", "exact", 1.0))).dropped
        1
        """
        actions = Counter([d.action for d in decisions])
        methods = Counter([d.method for d in decisions if d.survivor is not None and d.method])
        guards = Counter([d.guard.kind for d in decisions if d.guard is not None])
        return cls(
            documents=len(decisions),
            kept=actions["keep"],
            dropped=actions["drop"],
            unchanged=actions["unchanged"],
            revised=actions["revise"],
            by_method=dict(sorted(methods.items())),
            by_guard=dict(sorted(guards.items())),
            added=added,
            removed=removed,
            promoted=promoted,
            skipped=skipped,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values.

        >>> Report(documents=1, kept=1).to_dict()["kept"]
        1
        """
        return {
            "documents": self.documents,
            "kept": self.kept,
            "dropped": self.dropped,
            "unchanged": self.unchanged,
            "revised": self.revised,
            "by_method": dict(self.by_method),
            "by_guard": dict(self.by_guard),
            "added": self.added,
            "removed": self.removed,
            "promoted": self.promoted,
            "skipped": [asdict(s) for s in self.skipped],
        }


def copy_document(document: Document) -> Document:
    """Copy a document with its metadata, so that what one side does to it does not reach the other.

    Raises:
        InputError: the metadata is no mapping, or holds something that cannot be copied.

    >>> document = Document("a", "Hello", metadata={"tags": ["x"]})
    >>> copy_document(document).metadata["tags"] is document.metadata["tags"]
    False
    """
    return Document(
        document.id,
        document.text,
        document.source,
        document.url,
        document.scope,
        _copy_metadata(document),
        document.span,
        document.related,
    )


def _copy_metadata(document: Document) -> dict[str, Any]:
    metadata = document.metadata
    if type(metadata) is not dict and not isinstance(metadata, Mapping):
        raise InputError(
            f"the metadata of document {document.id!r} is a {type(metadata).__name__}, no mapping"
        )
    if _PLAIN.issuperset(map(type, metadata.values())):
        return dict(metadata)
    try:
        return copy.deepcopy(dict(metadata))
    except Exception as error:
        raise InputError(f"the metadata of document {document.id!r} cannot be copied: {error}") from error


_PLAIN = frozenset({str, int, float, bool, type(None)})


class Place(NamedTuple):
    """What a document says besides its id, scope and text, copied so that nobody changes it.

    Args:
        source, url, metadata, span, related: as in :class:`Document`.
    """

    source: str | None = None
    url: str | None = None
    metadata: Mapping[str, Any] = {}
    span: tuple[int, int] | None = None
    related: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document) -> Place:
        """Copy it from a document. What is no name is none.

        Raises:
            InputError: the metadata is no mapping, or holds something that cannot be copied.

        >>> Place.of(Document("a", "Hello", url="https://example.com/")).url
        'https://example.com/'
        """
        source, url = (name if isinstance(name, str) else None for name in (document.source, document.url))
        return cls(source, url, _copy_metadata(document), document.span, document.related)


class Entry(NamedTuple):
    """What an index remembers of a document.

    Args:
        key: (scope, id).
        text: of the document; guards, explanations and promotion need it.
        source: key of its source (canonical), ``None`` if it has none.
        order: position in the history of the index. Ties and promotions go to the smallest.
        place: what else the document says.
        survivor: id of the survivor in the same scope; ``None`` when it is one itself.
        method, similarity: how it was verified against its survivor.
        guard: the difference that kept it, if one did.
        elsewhere: (source, place) of the same id and text in other sources: it is released when the
            last of its sources has let it go.
    """

    key: EntryKey
    text: str
    source: str | None
    order: int
    place: Place
    survivor: str | None = None
    method: str | None = None
    similarity: float | None = None
    guard: GuardHit | None = None
    elsewhere: tuple[tuple[str, Place], ...] = ()

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.key[1]

    @property
    def sources(self) -> tuple[str, ...]:
        """Every source that has it."""
        first = () if self.source is None else (self.source,)
        return (*first, *(source for source, _ in self.elsewhere)) if self.elsewhere else first

    @property
    def document(self) -> Document:
        """The document; it is a copy, which the caller may do anything to."""
        return self.restore(self.place)

    def restore(self, place: Place) -> Document:
        """Return the document as it was at one of its places; it is a copy, as :attr:`document` is."""
        scope, id = self.key
        source, url, metadata, span, related = place
        return copy_document(Document(id, self.text, source, url, scope, metadata, span, related))


class Run(NamedTuple):
    """An ingestion run of a scope: what other scopes ingest is none of its business.

    Args:
        scope: what it is about.
        name: as the caller gave it.
        first_order: what the next new entry would have got as its order when the run began.
    """

    scope: str
    name: str
    first_order: int


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The one write of a plan.

    Args:
        put: entries to insert or replace.
        delete: keys of entries to delete.
        posted: those of ``put`` that are survivors with a new text.
        signatures: by which they can be found from now on, ``(len(posted), 2 + bands)`` uint64: the
            halves of the exact key, then the band keys.
        withdrawn: orders that can no longer be found by what they were posted under.
        runs: the ingestion runs that this is a part of, one for each scope; a known one began earlier.
        seen: (scope, source) that these runs have seen.
        forgotten: (scope, source) that are gone.
    """

    put: tuple[Entry, ...] = ()
    delete: tuple[EntryKey, ...] = ()
    posted: tuple[Entry, ...] = ()
    signatures: npt.NDArray[np.uint64] = field(
        default_factory=lambda: np.empty((0, 2), np.uint64), repr=False
    )
    withdrawn: tuple[int, ...] = ()
    runs: tuple[Run, ...] = ()
    seen: tuple[Source, ...] = ()
    forgotten: tuple[Source, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.put or self.delete or self.seen or self.forgotten)

    @property
    def keys(self) -> tuple[EntryKey, ...]:
        """What is written or deleted."""
        return (*self.delete, *(entry.key for entry in self.put))


@dataclass(frozen=True, slots=True)
class Plan:
    """All decisions of a call and what the vector store must do. Nothing is written yet.

    Write ``added`` and ``promoted`` (insert or replace by id), delete ``removed``, then commit. Scopes
    that share a vector store must not share ids; where they do, an id that is written is not removed.

    Args:
        decisions: one per input document, in input order.
        added: input documents that the vector store lacks or has in an older version, or whose merged
            metadata changed.
        removed: ids that the vector store must delete.
        promoted: documents of earlier calls that now stand for themselves, or whose merged metadata changed.
        report: the counts.
        index: names the index that the plan is about.
        generation: its state.
        remake: makes the plan anew of the same input from another state of the index.
        uncertain: (scope, id) of which the vector store may hold anything: the plan says of each what
            it must do.
        changes: what commit writes into the index.
        token: names this very plan, so that committing it twice can be told from committing another.
    """

    decisions: tuple[Decision, ...]
    added: tuple[Document, ...]
    removed: tuple[str, ...]
    promoted: tuple[Document, ...]
    report: Report
    index: str = field(repr=False, compare=False)
    generation: int
    remake: Callable[..., Plan] = field(repr=False, compare=False)
    uncertain: tuple[EntryKey, ...] = field(repr=False)
    changes: Changes = field(repr=False, compare=False)
    token: str = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Drift:
    """Where a vector store and the index do not agree.

    Write ``added``, delete ``removed``, and they do.

    Args:
        added: documents that the vector store should hold and does not.
        removed: ids that it holds and should not: duplicates, which their survivors stand for.
        unknown: ids that the index has never heard of or has forgotten. They may belong to somebody else.
    """

    added: tuple[Document, ...] = ()
    removed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.unknown)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a document is, or is not, in the vector store.

    Args:
        id: the document.
        survivor: what stands for it, ``None`` when it stands for itself.
        method, similarity, guard: as in :class:`Decision`.
        only_here: tokens that only this document has, in order, with repeats.
        only_there: tokens that only its survivor has.
        sources: the whole cluster, survivor first.
    """

    id: str
    survivor: str | None
    method: str | None
    similarity: float | None
    guard: GuardHit | None
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    sources: tuple[Provenance, ...]

    def __str__(self) -> str:
        if self.survivor is None:
            text = f"{self.id} stands for itself"
            if self.guard is not None:
                text += (
                    f": a near-duplicate ({self.similarity:.3f}) that differs in a "
                    f"{self.guard.kind} ({self.guard.here!r}, there {self.guard.there!r})"
                )
        else:
            text = f"{self.id} is a duplicate of {self.survivor} ({self.method}, {self.similarity:.3f})"
            if self.only_here or self.only_there:
                text += (
                    f"; only here: {' '.join(self.only_here)!r}, only there: {' '.join(self.only_there)!r}"
                )
        others = len(self.sources) - 1
        return f"{text}; {others} other place{'' if others == 1 else 's'}" if others else text
