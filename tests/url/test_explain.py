"""Which rules fired."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup.url import SAFE, WEB, HostRule, UrlPolicy, canonicalize_url, explain_url
from tests.url.strategies import policies, url_texts

CASES = [
    ("https://example.com/a", WEB, []),
    ("HTTP://Example.com/%7ea", SAFE, [("spelling",)]),
    ("N/A", WEB, [("placeholder",)]),
    ("http://", WEB, [("placeholder",)]),
    ("S3://bucket/a", WEB, [("spelling",)]),
    ("https://example.com/?a=1&amp;b=2", SAFE, [("decode_ampersands",)]),
    ("https://e.org/?utm_source=x&id=1&gclid=y", SAFE, [("drop_tracking", "utm_source", "gclid")]),
    (
        "https://e.org/?sid=0123456789abcdef0123456789abcdef&sid=1",
        SAFE,
        [("drop_sessions", "sid")],
    ),
    ("https://e.org/?b=+&a=1", SAFE, [("plus_is_space",), ("sort_query",)]),
    ("https://e.org./#top", SAFE, [("drop_anchors",), ("drop_root_dot",)]),
    (
        "http://www.e.org/a/?ref=b#/c",
        WEB,
        [
            ("force_https",),
            ("drop_www",),
            ("drop_trailing_slash",),
            ("drop_fragment",),
            ("drop_referral", "ref"),
        ],
    ),
    ("https://youtu.be/x?si=y", SAFE, [("host", "si"), ("host",)]),
    ("https://youtu.be./x", SAFE, [("drop_root_dot",), ("host",)]),
    ("https://e.org/?a=1&b=2", replace(SAFE, drop=("a",)), [("drop", "a")]),
    ("https://e.org/?utm_source=1", replace(SAFE, keep=("utm_source",)), []),
    ("https://web.archive.org/web/1/https://e.org/?utm_source=1", SAFE, []),
]


@pytest.mark.parametrize(("url", "policy", "fired"), CASES, ids=[case[0] for case in CASES])
def test_these_rules_fire(url: str, policy: UrlPolicy, fired: list[tuple[str, ...]]) -> None:
    explanation = explain_url(url, policy)
    assert sorted((rule.rule, *rule.parameters) for rule in explanation.fired) == sorted(fired)


def test_a_host_rule_says_why() -> None:
    rule = HostRule(hosts=("docs.example.com",), drop=("from_nav",), why="the menu writes it")
    (fired,) = explain_url("https://docs.example.com/?from_nav=1", replace(SAFE, rules=(rule,))).fired
    assert (fired.rule, fired.parameters, fired.why) == ("host", ("from_nav",), "the menu writes it")


@given(st.one_of(st.text(), url_texts), policies)
def test_the_rules_lead_from_the_url_to_its_key(url: str, policy: UrlPolicy) -> None:
    for p in (SAFE, WEB, policy):
        explanation = explain_url(url, p)
        assert explanation.url == url
        assert explanation.key == canonicalize_url(url, p)
        steps = [url, *(fired.after for fired in explanation.fired)]
        assert steps[:-1] == [fired.before for fired in explanation.fired]
        assert steps[-1] == explanation.key
        assert all(fired.before != fired.after for fired in explanation.fired)


@pytest.mark.parametrize("value", [None, b"https://example.com/", 17])
def test_only_a_str_is_explained(value: Any) -> None:
    with pytest.raises(TypeError, match="url must be a str"):
        explain_url(value)
