"""The keys of a URL, the rules behind them and what a page says about its address, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rag_dedup.audit.screen import escape_control
from rag_dedup.url import SAFE, WEB, FiredRule, WebPage, explain_url, judge_canonical

__all__ = ["describe_url", "format_description"]

# Of the verdicts that can be reached without looking at other pages
_REASONS = {
    "none": "it names no other",
    "self": "it names itself",
    "several": "it names several others",
    "header and tag disagree": "its Link header and its HTML disagree",
    "alternate": "the address that it names is the same page in another language",
    "other site": "it names another site, which takes the same content",
    "root": "it names the root of its site, which takes the same content",
    "other locale": "it names a page of another locale, which takes the same content",
    "other page number": "it names another page of a list, which takes the same content",
    "weak": "only og:url names another, which takes the same content",
}


def describe_url(url: str, page: WebPage | None = None) -> dict[str, Any]:
    """Return both keys of a URL and the rules that fired, as plain JSON values.

    Args:
        url: any text.
        page: what was found there; then with its verdict.

    >>> describe_url("https://Example.com/a#top")["rules"][1]
    {'rule': 'drop_anchors', 'policy': 'SAFE', 'parameters': [], 'why': ''}
    """
    safe, web = explain_url(url, SAFE), explain_url(url, WEB)
    known = {fired.rule for fired in safe.fired}
    added = [fired for fired in web.fired if fired.rule not in known]
    description: dict[str, Any] = {
        "url": url,
        "safe": safe.key or None,
        "web": web.key or None,
        "rules": [*_list_rules("SAFE", safe.fired), *_list_rules("WEB", added)],
    }
    if page is not None:
        verdict = judge_canonical(page)
        description["canonical"] = {
            "url": verdict.url,
            "target": verdict.target,
            "canonical_url": verdict.canonical_url,
            "accepted": verdict.accepted,
            "reason": verdict.reason,
            "hints": [
                {"url": hint.url, "origin": hint.origin, "language": hint.language} for hint in page.hints
            ],
        }
    return description


def format_description(description: dict[str, Any]) -> str:
    r"""Return a description as lines for the terminal.

    >>> print(format_description(describe_url("https://Example.com/a?utm_source=x")), end="")
    https://Example.com/a?utm_source=x
      SAFE   https://example.com/a
      WEB    https://example.com/a
      rules  SAFE  spelling
             SAFE  drop_tracking: utm_source
    """
    return "".join(f"{escape_control(line)}\n" for line in _list_lines(description))


def _list_rules(policy: str, fired: Iterable[FiredRule]) -> list[dict[str, Any]]:
    return [
        {"rule": rule.rule, "policy": policy, "parameters": list(rule.parameters), "why": rule.why}
        for rule in fired
    ]


def _list_lines(description: dict[str, Any]) -> Iterator[str]:
    yield description["url"]
    yield f"  SAFE   {description['safe'] or 'no key: this names no page'}"
    yield f"  WEB    {description['web'] or 'no key: this names no page'}"
    label = "rules"
    for rule in description["rules"]:
        parameters = f": {', '.join(rule['parameters'])}" if rule["parameters"] else ""
        why = f" ({rule['why']})" if rule["why"] else ""
        yield f"  {label:<5}  {rule['policy']:<4}  {rule['rule']}{parameters}{why}"
        label = ""
    if "canonical" in description:
        yield from _list_verdict(description["canonical"])


def _list_verdict(verdict: dict[str, Any]) -> Iterator[str]:
    for hint in verdict["hints"]:
        language = f" ({hint['language']})" if hint["language"] else ""
        yield f"  says   {hint['origin']:<9}  {hint['url']}{language}"
    if verdict["accepted"]:
        yield f"  page   stands under {verdict['canonical_url']}: {verdict['reason']}, if that page is there"
    else:
        yield f"  page   stands under its own address: {_REASONS[verdict['reason']]}"
