"""What counts as the same page: policies, and rules for single hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from rag_dedup.errors import ConfigurationError
from rag_dedup.url.escape import normalize_escapes
from rag_dedup.url.host import drop_www, parse_host
from rag_dedup.url.tracking import TABLE

__all__ = ["HOST_RULES", "SAFE", "WEB", "HostRule", "UrlPolicy"]


@dataclass(frozen=True)
class HostRule:
    """What is known about single hosts.

    Args:
        hosts: host names such as ``example.com`` (``www.example.com`` is meant too) or ``*.example.com``,
            where ``*`` is one label; ``*`` alone is every host.
        rename: the host that these are mirrors of. Its ``*`` is the label that the ``*`` in ``hosts``
            stood for.
        path_to_query: turns a path of one segment into this path and query: with ``/watch?v=`` and
            ``rename``, a short link becomes the link it stands for. Other paths are left alone, and their
            host is not renamed.
        lower_path: the server ignores the case of the path.
        drop_segments: path segments that start like this are dropped.
        path: ``drop``, ``keep`` and ``only`` hold only where the path contains this.
        drop: parameters that do not change the page.
        keep: parameters that do, although a policy would drop them; ``*`` for all.
        only: the parameters that matter; all others are dropped. ``None`` (default) for no such list.
        why: says so to people.

    Raises:
        ConfigurationError: no hosts, a name that is no host, or a ``rename`` that cannot be right.

    >>> HostRule(hosts=("docs.example.com",), drop=("from_nav",)).drop
    frozenset({'from_nav'})
    """

    hosts: tuple[str, ...]
    rename: str = ""
    path_to_query: str = ""
    lower_path: bool = False
    drop_segments: tuple[str, ...] = ()
    path: str = ""
    drop: Collection[str] = frozenset()
    keep: Collection[str] = frozenset()
    only: Collection[str] | None = None
    why: str = ""

    def __post_init__(self) -> None:
        _set(self, "hosts", tuple(drop_www(_parse_pattern(host)) for host in _freeze("hosts", self.hosts)))
        _set(self, "rename", _parse_pattern(self.rename) if self.rename else "")
        _set(self, "drop_segments", _freeze("drop_segments", self.drop_segments))
        _set(self, "drop", _freeze_names("drop", self.drop))
        _set(self, "keep", _freeze_names("keep", self.keep))
        if self.only is not None:
            _set(self, "only", _freeze_names("only", self.only))
        if not self.hosts:
            raise ConfigurationError("a host rule needs hosts")
        if "*" in self.rename and not all(host.startswith("*.") for host in self.hosts):
            raise ConfigurationError(f"rename {self.rename!r} needs '*.' at the start of each host")
        if self.rename and "*" in self.hosts:
            raise ConfigurationError("not every host can be a mirror of one")
        if self.path_to_query and not self.rename:
            raise ConfigurationError("path_to_query needs a rename: the result is another URL")


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)


def _freeze(field_name: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise ConfigurationError(f"{field_name} must be a collection of texts, not the text {values!r}")
    return tuple(values)


def _freeze_names(field_name: str, values: Iterable[str]) -> frozenset[str]:
    return frozenset(normalize_escapes(name).lower() for name in _freeze(field_name, values))


def _parse_pattern(pattern: str) -> str:
    wild = "*." if pattern.startswith("*.") else ""
    host = parse_host(pattern.removeprefix("*."))
    if host is None:
        raise ConfigurationError(f"{pattern!r} is no host")
    return wild + host


HOST_RULES: tuple[HostRule, ...] = tuple(HostRule(**arguments) for arguments in TABLE.hosts)
"""The rules that ship with the library."""


@dataclass(frozen=True)
class UrlPolicy:
    """Which rules make two spellings one key. The defaults are ``SAFE``; every rule can be switched.

    Not rules but spelling, and never switched: how browsers parse a URL, the normal form of escapes, and
    that empty items of a query mean nothing.

    Args:
        decode_ampersands: ``&amp;`` and ``&#038;`` in a query are ``&``, left over from HTML.
        drop_tracking: drop the parameters of ``tracking.toml``.
        drop_sessions: drop session tokens, recognised by name and shape.
        drop_anchors: drop fragments that only scroll; routes (``#/a``, ``#!a``, ``#a=1``) stay.
        drop_root_dot: ``example.com.`` is ``example.com``.
        plus_is_space: ``+`` in a query is ``%20``.
        sort_query: sort parameters by name if all have a ``=``; the order of repeated names stays.
        force_https: ``http`` is ``https`` (default port only).
        drop_www: ``www.example.com`` is ``example.com``.
        drop_trailing_slash: ``/a/`` is ``/a``.
        drop_fragment: drop every fragment, routes too.
        drop_referral: drop ``ref``, ``src`` and the like.
        drop: more parameters that never matter, compared without case.
        keep: parameters that always matter, whatever else would drop them.
        rules: rules for single hosts; where several match a host, all of them hold. Without any of one's
            own these are the ones of ``tracking.toml``.

    Raises:
        ConfigurationError: two rules that rename one after the other.

    >>> from dataclasses import replace
    >>> from rag_dedup.url import canonicalize_url
    >>> mirror = HostRule(hosts=("mirror.example.net",), rename="docs.example.com")
    >>> policy = replace(WEB, keep=("ref",), rules=(*WEB.rules, mirror))
    >>> canonicalize_url("https://mirror.example.net/a?ref=main&src=mail", policy)
    'https://docs.example.com/a?ref=main'
    """

    decode_ampersands: bool = True
    drop_tracking: bool = True
    drop_sessions: bool = True
    drop_anchors: bool = True
    drop_root_dot: bool = True
    plus_is_space: bool = True
    sort_query: bool = True
    force_https: bool = False
    drop_www: bool = False
    drop_trailing_slash: bool = False
    drop_fragment: bool = False
    drop_referral: bool = False
    drop: Collection[str] = frozenset()
    keep: Collection[str] = frozenset()
    rules: tuple[HostRule, ...] = field(default=HOST_RULES, repr=False)

    # What follows from the flags, compiled once: these are looked up for every parameter of every URL.
    dropped_names: frozenset[str] = field(init=False, repr=False, compare=False)
    dropped_prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _rules_by_host: dict[str, tuple[HostRule, ...]] = field(init=False, repr=False, compare=False)
    _rules_everywhere: tuple[HostRule, ...] = field(init=False, repr=False, compare=False)
    _path_rules_everywhere: tuple[HostRule, ...] = field(init=False, repr=False, compare=False)
    _mirrors: dict[str, HostRule] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _set(self, "drop", _freeze_names("drop", self.drop))
        _set(self, "keep", _freeze_names("keep", self.keep))
        _set(self, "rules", tuple(self.rules))
        names = set(self.drop)
        if self.drop_tracking:
            names |= TABLE.names
        if self.drop_referral:
            names |= TABLE.referral
        _set(self, "dropped_names", frozenset(names))
        _set(self, "dropped_prefixes", TABLE.prefixes if self.drop_tracking else ())
        by_host: dict[str, tuple[HostRule, ...]] = {}
        mirrors: dict[str, HostRule] = {}
        for rule in self.rules:
            for host in rule.hosts:
                if rule.rename:
                    mirrors[host] = rule
                by_host[host] = (*by_host.get(host, ()), rule)
        _check_mirrors(mirrors)
        everywhere = by_host.pop("*", ())
        _set(self, "_rules_everywhere", everywhere)
        _set(self, "_path_rules_everywhere", tuple(r for r in everywhere if r.lower_path or r.drop_segments))
        _set(self, "_rules_by_host", by_host)
        _set(self, "_mirrors", mirrors)

    def find_rules(self, host: str, *, query: bool = True) -> tuple[HostRule, ...]:
        """Return the rules that hold on ``host``; without ``query``, those that change it may be missing."""
        host = drop_www(host)
        everywhere = self._rules_everywhere if query else self._path_rules_everywhere
        exact = self._rules_by_host.get(host, ())
        wild = self._rules_by_host.get(_generalize(host), ())
        return exact + wild + everywhere if exact or wild else everywhere

    def find_mirror(self, host: str) -> tuple[str, HostRule] | None:
        """Return the host that ``host`` is a mirror of, and the rule that says so."""
        host = drop_www(host)
        rule = self._mirrors.get(host)
        if rule is not None:
            return rule.rename, rule
        rule = self._mirrors.get(_generalize(host))
        return None if rule is None else (rule.rename.replace("*", host[: host.find(".")]), rule)


def _generalize(host: str) -> str:
    return "*" + host[host.find(".") :]


def _check_mirrors(mirrors: dict[str, HostRule]) -> None:
    """Refuse a rename whose result is renamed again: the key of a key is the key."""
    for rule in mirrors.values():
        target = drop_www(rule.rename)
        for host, again in mirrors.items():
            overlaps = host in (target, _generalize(target)) or _generalize(host) == target
            if overlaps and (again.rename != rule.rename or rule.path_to_query):
                raise ConfigurationError(f"a rule renames to {target!r}, and another one renames that again")


SAFE = UrlPolicy()
"""Identity of a page: in doubt two URLs stay apart."""

WEB = replace(
    SAFE,
    force_https=True,
    drop_www=True,
    drop_trailing_slash=True,
    drop_fragment=True,
    drop_referral=True,
)
"""What the web means by the same page. A match proposes that two pages are one; content decides."""
