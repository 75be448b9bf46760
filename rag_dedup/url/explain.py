"""Why a URL has the key that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from rag_dedup.url.canonical import canonicalize_url
from rag_dedup.url.parse import split_url
from rag_dedup.url.policy import WEB, HostRule, UrlPolicy

__all__ = ["FiredRule", "UrlExplanation", "explain_url"]

_SWITCHES = tuple(field.name for field in fields(UrlPolicy) if field.type == "bool")
_DROPPING = ("host", "drop", "drop_tracking", "drop_sessions", "drop_referral")


@dataclass(frozen=True, slots=True)
class FiredRule:
    """One rule that changed a URL.

    Args:
        rule: ``"spelling"`` (how browsers read it, and one spelling for each escape), ``"placeholder"``,
            ``"host"`` (a :class:`HostRule`), or the name of a field of :class:`UrlPolicy`.
        before, after: the URL.
        parameters: the names of the parameters that were dropped.
        why: of a host rule.
    """

    rule: str
    before: str
    after: str
    parameters: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class UrlExplanation:
    """A URL, its key, and the rules that fired, in the order in which they made the one out of the other."""

    url: str
    key: str
    fired: tuple[FiredRule, ...]


def explain_url(url: str, policy: UrlPolicy = WEB) -> UrlExplanation:
    """Return which rules made the key of a URL.

    The key is made again and again, with one more rule each time: first spelling alone, then the rules of
    the host, then the switches of the policy in their order. A rule fired if it changed the key. So each
    change is put down to one rule, also where a later one would have done the same.

    Args:
        url: any text.
        policy: as for :func:`rag_dedup.canonicalize_url`.

    Raises:
        TypeError: ``url`` is no ``str``.

    >>> explanation = explain_url("http://Example.com/a?id=1&utm_source=x#top")
    >>> explanation.key
    'https://example.com/a?id=1'
    >>> [(fired.rule, *fired.parameters) for fired in explanation.fired]
    [('spelling',), ('drop_tracking', 'utm_source'), ('drop_anchors',), ('force_https',)]
    """
    fired = []
    before = url
    for rule, why, partial in _add_rules(url, policy):
        after = canonicalize_url(url, partial)
        if after != before:
            dropped = _find_dropped(before, after) if rule in _DROPPING else ()
            fired.append(FiredRule(rule if after else "placeholder", before, after, dropped, why))
            before = after
    return UrlExplanation(url, before, tuple(fired))


def _add_rules(url: str, policy: UrlPolicy) -> Iterator[tuple[str, str, UrlPolicy]]:
    """Yield a name, a reason and a policy that has one rule more than the one before."""
    off: dict[str, Any] = dict.fromkeys(_SWITCHES, False)
    partial = replace(policy, **off, drop=(), rules=())
    yield "spelling", "", partial
    parts = split_url(url)
    if parts is None:
        return
    for rule in _list_rules(parts.host, policy):
        partial = replace(partial, rules=(*partial.rules, rule))
        yield "host", rule.why, partial
    # All the others are for other hosts, unless a rename led here
    for name in ("drop", *_SWITCHES):
        partial = replace(partial, **{name: getattr(policy, name)})
        yield name, "", partial
    yield "host", "", policy


def _list_rules(host: str, policy: UrlPolicy) -> list[HostRule]:
    """Return the rule that makes a host a mirror, then the rules of the host and of what it mirrors."""
    mirror = policy.find_mirror(host)
    found = [*([mirror[1], *policy.find_rules(mirror[0])] if mirror else ()), *policy.find_rules(host)]
    return list(dict.fromkeys(found))


def _find_dropped(before: str, after: str) -> tuple[str, ...]:
    """Return the names of the parameters of one URL that the other has not, in their order."""
    left = Counter(_list_names(after))
    dropped = []
    for name in _list_names(before):
        if left[name]:
            left[name] -= 1
        else:
            dropped.append(name)
    return tuple(dropped)


def _list_names(url: str) -> list[str]:
    query = url.partition("#")[0].partition("?")[2]
    return [item.partition("=")[0] for item in query.split("&") if item]
