"""The query of a URL: which items stay, and in which order."""

from __future__ import annotations

import re

from rag_dedup.url.policy import HostRule, UrlPolicy
from rag_dedup.url.session import is_session_token
from rag_dedup.url.tracking import TABLE

__all__ = ["canonicalize_query", "split_html_query"]

# "&" as HTML writes it, once or several times, at the start of a query also without its own "&"; or the "#"
# that starts the fragment
_HTML = re.compile(r"&(?:(?:amp|#0*38|#x0*26);)+|^(?:amp;)+|#", re.IGNORECASE)


def split_html_query(text: str) -> tuple[str, str]:
    """Split query and fragment of a URL in which an extractor left ``&amp;`` or ``&#038;``.

    Args:
        text: what stands behind the ``?``.

    >>> split_html_query("url=A&#038;format=json#top")
    ('url=A&format=json', 'top')
    """
    end = next((match.start() for match in _HTML.finditer(text) if match[0] == "#"), len(text))
    return _HTML.sub("&", text[:end]), text[end + 1 :]


def canonicalize_query(query: str, policy: UrlPolicy, rules: tuple[HostRule, ...] = ()) -> str:
    """Drop what does not change the page and sort the rest by name.

    Empty items go. A query with an item that has no ``=`` keeps its order: ``?10,20`` is not a list of
    parameters.

    Args:
        query: with its escapes in normal form.
        policy: which parameters go.
        rules: the rules that hold for host and path.

    >>> from rag_dedup.url import SAFE
    >>> canonicalize_query("b=2&a=2&utm_source=x&a=1&", SAFE)
    'a=2&a=1&b=2'
    """
    beside_cftoken = "cftoken=" in query.lower()
    items = [
        item
        for item in query.split("&")
        if item and not _is_dropped(item, policy, rules, beside_cftoken=beside_cftoken)
    ]
    if policy.plus_is_space and "+" in query:
        items = [item.replace("+", "%20") if "=" in item else item for item in items]
    if policy.sort_query and len(items) > 1 and all("=" in item for item in items):
        items.sort(key=_get_name)
    return "&".join(items)


def _get_name(item: str) -> str:
    return item.partition("=")[0]


def _is_dropped(item: str, policy: UrlPolicy, rules: tuple[HostRule, ...], *, beside_cftoken: bool) -> bool:
    name, equals, value = item.partition("=")
    if not equals:
        return False
    name = name.lower()
    if name in policy.keep:
        return False
    for rule in rules:
        if name in rule.keep or "*" in rule.keep:
            return False
    for rule in rules:
        if name in rule.drop or (rule.only is not None and name not in rule.only):
            return True
    return (
        name in policy.dropped_names
        or (name.startswith(policy.dropped_prefixes) and name not in TABLE.exceptions)
        or (policy.drop_sessions and is_session_token(name, value, beside_cftoken=beside_cftoken))
    )
