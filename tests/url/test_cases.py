"""The case tables."""

from __future__ import annotations

from typing import Any

import pytest

from rag_dedup.url import SAFE, WEB, canonicalize_url
from rag_dedup.url.host import parse_host
from tests.url.case_files import read_cases

UNCHANGED = read_cases("unchanged")
PLACEHOLDERS = read_cases("placeholders")
HOSTS = [(text, host) for kind in read_cases("hosts").values() for text, host in kind.items()]


@pytest.mark.parametrize("case", read_cases("keys")["case"], ids=lambda case: case["why"])
def test_a_url_has_these_keys(case: dict[str, Any]) -> None:
    assert canonicalize_url(case["url"], SAFE) == case["safe"]
    assert canonicalize_url(case["url"], WEB) == case.get("web", case["safe"])


@pytest.mark.parametrize("policy", [SAFE, WEB], ids=["SAFE", "WEB"])
@pytest.mark.parametrize("text", UNCHANGED["unchanged"])
def test_what_is_no_url_comes_back_as_it_is(text: str, policy: Any) -> None:
    assert canonicalize_url(text, policy) == text


@pytest.mark.parametrize("case", UNCHANGED["lowered"], ids=lambda case: case["text"])
def test_but_with_its_scheme_in_lower_case(case: dict[str, str]) -> None:
    assert canonicalize_url(case["text"], SAFE) == canonicalize_url(case["text"], WEB) == case["key"]


@pytest.mark.parametrize("text", PLACEHOLDERS["placeholders"])
@pytest.mark.parametrize(
    "spell", [str, str.upper, str.title, " \t{}\u00a0\n".format], ids="as is,upper,title,blanks".split(",")
)
def test_a_placeholder_has_no_key(text: str, spell: Any) -> None:
    assert canonicalize_url(spell(text), SAFE) == canonicalize_url(spell(text), WEB) == ""


@pytest.mark.parametrize("text", PLACEHOLDERS["kept"])
def test_what_only_resembles_a_placeholder_has_one(text: str) -> None:
    assert canonicalize_url(text, SAFE)


@pytest.mark.parametrize("group", read_cases("apart")["group"], ids=lambda group: group["why"])
def test_safe_keeps_these_apart(group: dict[str, Any]) -> None:
    keys = [canonicalize_url(url, SAFE) for url in group["urls"]]
    assert len(set(keys)) == len(keys), sorted(keys)


@pytest.mark.parametrize("group", read_cases("web")["group"], ids=lambda group: group["why"])
def test_web_calls_these_the_same_page(group: dict[str, Any]) -> None:
    keys = {canonicalize_url(url, WEB) for url in group["same"]}
    assert len(keys) == 1, sorted(keys)
    others = [canonicalize_url(url, WEB) for url in group["apart"]]
    assert len({*others, *keys}) == len(others) + 1


@pytest.mark.parametrize(("text", "host"), HOSTS)
def test_a_host_has_one_spelling(text: str, host: str) -> None:
    assert (parse_host(text) or "") == host
    if host:
        assert parse_host(host) == host
