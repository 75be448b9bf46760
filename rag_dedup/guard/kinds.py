"""What a guard is, and those that are on by default."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rag_dedup.document import GuardHit
from rag_dedup.guard.difference import Pair, cut_regions
from rag_dedup.guard.marks import (
    affirm,
    find_dates,
    find_identifiers,
    find_modals,
    find_names,
    find_negations,
    find_numbers,
    find_units,
    find_versions,
    find_words,
    name_sides,
)
from rag_dedup.guard.volatile import LAST_UPDATED, forgive
from rag_dedup.text import cut_invisible

__all__ = [
    "DEFAULT_GUARDS",
    "NAMES",
    "Findings",
    "Guard",
    "find_difference",
    "find_first_unlike",
    "ignore_volatile",
]

Marks = Sequence[str]
Volatile = tuple[re.Pattern[str], ...]
Findings = dict[tuple[str, str], GuardHit | None]


def find_first_unlike(here: Marks, there: Marks) -> tuple[str, str] | None:
    """Return the first marks that differ, after what both begin and end with; ``None`` if none do.

    >>> find_first_unlike(["1", "2", "4"], ["1", "3", "4"])
    ('2', '3')
    """
    if here == there:
        return None
    start = 0
    while start < min(len(here), len(there)) and here[start] == there[start]:
        start += 1
    end = 0
    while end < min(len(here), len(there)) - start and here[-end - 1] == there[-end - 1]:
        end += 1
    mine, theirs = here[start : len(here) - end], there[start : len(there) - end]
    return (mine[0] if mine else ""), (theirs[0] if theirs else "")


def find_opposite(here: Marks, there: Marks) -> tuple[str, str] | None:
    """Return the first word and its opposite, which stands in the other text; ``None`` if there is none.

    That a word went, or came, is no opposite of anything.

    >>> find_opposite(["enabled", "here"], ["before", "disabled"]), find_opposite(["after"], [])
    (('enabled', 'disabled'), None)
    """
    mine, theirs = Counter(here) - Counter(there), Counter(there) - Counter(here)
    lost = {side: word for word in reversed(mine) for side in name_sides(word)}
    found = {side: word for word in reversed(theirs) for side in name_sides(word)}
    others = {side.partition("=")[0]: word for side, word in found.items() if side not in lost}
    for side, word in lost.items():
        pair = side.partition("=")[0]
        if side not in found and pair in others:
            return word, others[pair]
    for word in theirs:
        for base in affirm(word):
            if base in mine:
                return base, word
    for word in mine:
        for base in affirm(word):
            if base in theirs:
                return word, base
    return None


def find_replaced(here: Marks, there: Marks) -> tuple[str, str] | None:
    """Return the first marks of which one stands for the other; ``None`` if there are none.

    That a name went, or came, happens with every sentence that is added. A flag changes what a command does.
    A relative path may begin further up.

    >>> find_replaced(["max_size"], ["min_size"]), find_replaced(["-f"], [])
    (('max_size', 'min_size'), ('-f', ''))
    >>> find_replaced(["max_size"], []), find_replaced(["server/api/rpc.proto"], ["api/rpc.proto"])
    (None, None)
    """
    unlike = find_first_unlike(here, there)
    if unlike is None:
        return None
    short, long = sorted(unlike, key=len)
    if not short:
        return unlike if long[0] == "-" else None
    return None if "/" in short and long.endswith(f"/{short}") else unlike


@dataclass(frozen=True, slots=True)
class Guard:
    """A kind of load-bearing difference.

    Args:
        name: the kind, as it appears in :attr:`Decision.guard`.
        find: reads the marks out of a text, in order. Must be pure and take linear time.
        local: whether each mark depends only on what lies within two words of it. Then only the parts in
            which two texts differ are read, each beside what stands in its place, without characters
            that have no width.
        compare: what is unlike in the marks of two texts, of here and of there; ``None`` if nothing is.
        bound: whether a mark is about the words around it, such as a negation, so that it must not move.
        added: whether a mark counts in a sentence that only one of the texts has: a sentence more about
            what one may do does not change what the others say. For a guard that is bound.
        volatile: what a difference does not count in.

    >>> import re
    >>> sku = Guard("sku", re.compile(r"[A-Z]{2}-[0-9]+").findall)
    >>> find_difference((sku,), "Part AB-12", "Part AB-13")
    GuardHit(kind='sku', here='AB-12', there='AB-13')
    """

    name: str
    find: Callable[[str], Marks]
    local: bool = False
    compare: Callable[[Marks, Marks], tuple[str, str] | None] = find_first_unlike
    bound: bool = False
    added: bool = True
    volatile: Volatile = ()


_VOLATILE = (LAST_UPDATED,)

DEFAULT_GUARDS: tuple[Guard, ...] = (
    # The first that fires is the reason: versions consist of numbers, and opposites name both words.
    Guard("version", find_versions, local=True, volatile=_VOLATILE),
    Guard("number", find_numbers, local=True, volatile=_VOLATILE),
    Guard("date", find_dates, local=True, volatile=_VOLATILE),
    Guard("unit", find_units, local=True, bound=True, volatile=_VOLATILE),
    Guard("direction", find_words, local=True, compare=find_opposite, bound=True, volatile=_VOLATILE),
    Guard("negation", find_negations, local=True, bound=True, volatile=_VOLATILE),
    Guard("modality", find_modals, local=True, bound=True, added=False, volatile=_VOLATILE),
    Guard(
        "identifier",
        find_identifiers,
        local=True,
        compare=find_replaced,
        bound=True,
        added=False,
        volatile=_VOLATILE,
    ),
)
"""On unless told otherwise."""

NAMES = Guard("name", find_names, volatile=_VOLATILE)
"""Capitalised words inside of sentences, for ``guards=(*DEFAULT_GUARDS, NAMES)``."""


def ignore_volatile(guards: Iterable[Guard], patterns: Iterable[str | re.Pattern[str]]) -> tuple[Guard, ...]:
    """Return guards that ignore what patterns match, besides what they ignore already.

    Args:
        guards: such as ``DEFAULT_GUARDS``.
        patterns: regular expressions of what may differ, such as ``VIEW_COUNTERS``. Must take linear time.

    Raises:
        re.error: a pattern is none.

    >>> guards = ignore_volatile(DEFAULT_GUARDS, [r"Ticket [0-9]+"])
    >>> find_difference(guards, "Ticket 12: it works", "Ticket 13: it works")
    """
    more = tuple(re.compile(pattern) for pattern in patterns)
    return tuple(replace(guard, volatile=(*guard.volatile, *more)) for guard in guards)


def find_difference(
    guards: Sequence[Guard], here: str, there: str, known: Findings | None = None
) -> GuardHit | None:
    """Return the first load-bearing difference of two texts, ``None`` if there is none.

    Args:
        guards: what to look for, in this order, in each part in which the texts differ.
        here, there: the texts.
        known: what the same guards found before in parts of texts; is added to. The same edits come again
            in many pages.

    >>> find_difference(DEFAULT_GUARDS, "99.9 % uptime", "99.5 % uptime")
    GuardHit(kind='number', here='99.9', there='99.5')
    """
    if not guards or here == there:
        return None
    if there < here:  # so that both orders align alike
        hit = find_difference(guards, there, here, known)
        return None if hit is None else GuardHit(hit.kind, hit.there, hit.here)
    known = {} if known is None else known
    local = [guard for guard in guards if guard.local]
    for region in cut_regions(here, there):
        if region not in known:
            known[region] = _compare(local, *map(cut_invisible, region))
        hit = known[region]
        if hit is not None:
            return hit
    return _compare([guard for guard in guards if not guard.local], here, there)


def _compare(guards: Sequence[Guard], here: str, there: str) -> GuardHit | None:
    """Return the first load-bearing difference of two texts, but for what may differ."""
    raw = Pair(here, there)
    forgiven: dict[Volatile, Pair] = {}
    for guard in guards:
        unlike = _find_unlike(guard, raw)
        if unlike is None:
            continue
        # What may differ is looked for in what differs, and not before something does.
        if guard.volatile not in forgiven:
            texts = forgive(here, there, guard.volatile)
            forgiven[guard.volatile] = raw if texts == (here, there) else Pair(*texts)
        if forgiven[guard.volatile] is not raw:
            unlike = _find_unlike(guard, forgiven[guard.volatile])
        if unlike is not None:
            return GuardHit(guard.name, *unlike)
    return None


def _find_unlike(guard: Guard, pair: Pair) -> tuple[str, str] | None:
    if not guard.local:
        return guard.compare(guard.find(pair.here), guard.find(pair.there))
    mine, theirs = (guard.find(text) for text in pair.middle)
    if not guard.bound:
        return guard.compare(mine, theirs)
    if mine or theirs:
        for part in pair.parts:
            if part.added and not guard.added:
                continue
            unlike = guard.compare(guard.find(part.here), guard.find(part.there))
            if unlike is not None:
                return unlike
    return None
