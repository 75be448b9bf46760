"""Switches, and rules of one's own."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from rag_dedup.errors import ConfigurationError
from rag_dedup.url import SAFE, WEB, HostRule, UrlPolicy, canonicalize_url


@pytest.mark.parametrize(
    ("base", "flag", "url", "key"),
    [
        (SAFE, "decode_ampersands", "https://e.org/?a=1&amp;b=2", "https://e.org/?a=1&amp;b=2"),
        (SAFE, "drop_tracking", "https://e.org/?gclid=1", "https://e.org/?gclid=1"),
        (SAFE, "drop_sessions", "https://e.org/?sid=" + 32 * "a", "https://e.org/?sid=" + 32 * "a"),
        (SAFE, "drop_anchors", "https://e.org/#a:~:text=b", "https://e.org/#a:~:text=b"),
        (SAFE, "drop_root_dot", "https://e.org./", "https://e.org./"),
        (SAFE, "plus_is_space", "https://e.org/?a=b+c", "https://e.org/?a=b+c"),
        (SAFE, "sort_query", "https://e.org/?b=1&a=1", "https://e.org/?b=1&a=1"),
        (WEB, "force_https", "http://e.org/", "http://e.org/"),
        (WEB, "drop_www", "https://www.e.org/", "https://www.e.org/"),
        (WEB, "drop_trailing_slash", "https://e.org/a/", "https://e.org/a/"),
        (WEB, "drop_fragment", "https://e.org/#/a", "https://e.org/#/a"),
        (WEB, "drop_referral", "https://e.org/?ref=a", "https://e.org/?ref=a"),
    ],
)
def test_every_rule_can_be_switched(base: UrlPolicy, flag: str, url: str, key: str) -> None:
    assert canonicalize_url(url, replace(base, **{flag: False})) == key
    assert canonicalize_url(url, base) != key


def test_parameters_can_be_dropped_and_kept() -> None:
    policy = replace(WEB, drop=["Print"], keep=["REF", "utm_source"])
    url = "https://e.org/?print=1&ref=2&utm_source=3&utm_medium=4&gclid=5"
    assert canonicalize_url(url, policy) == "https://e.org/?ref=2&utm_source=3"


def test_keep_is_stronger_than_drop() -> None:
    assert (
        canonicalize_url("https://e.org/?a=1", replace(SAFE, drop=("a",), keep=("a",)))
        == "https://e.org/?a=1"
    )


def test_names_may_be_written_with_or_without_escapes() -> None:
    policy = replace(SAFE, drop=("a[0]", "b%5b1%5D"))
    assert canonicalize_url("https://e.org/?a%5B0%5D=1&b[1]=2&c[]=3", policy) == "https://e.org/?c%5B%5D=3"


class TestHostRules:
    def key(self, url: str, *rules: HostRule, base: UrlPolicy = SAFE) -> str:
        policy = replace(base, rules=(*SAFE.rules, *rules))
        key = canonicalize_url(url, policy)
        assert canonicalize_url(key, policy) == key
        return key

    def test_a_mirror_is_renamed(self) -> None:
        rule = HostRule(hosts=("Mirror.e.org", "bücher.example"), rename="docs.e.org")
        assert self.key("https://mirror.e.org:8443/a?b=1", rule) == "https://docs.e.org:8443/a?b=1"
        assert self.key("https://www.bücher.example/a", rule) == "https://docs.e.org/a"
        assert self.key("https://other.e.org/a", rule) == "https://other.e.org/a"

    def test_a_star_is_one_label(self) -> None:
        rule = HostRule(hosts=("*.m.e.org",), rename="*.e.org")
        assert self.key("https://de.m.e.org/", rule) == "https://de.e.org/"
        assert self.key("https://a.de.m.e.org/", rule) == "https://a.de.m.e.org/"
        assert self.key("https://m.e.org/", rule) == "https://m.e.org/"

    def test_www_may_be_the_name_of_the_others(self) -> None:
        rule = HostRule(hosts=("e.org",), rename="www.e.org")
        assert (
            self.key("https://e.org/", rule) == self.key("https://www.e.org/", rule) == "https://www.e.org/"
        )
        assert self.key("https://e.org/", rule, base=WEB) == "https://e.org/"

    def test_a_short_link_becomes_the_link_it_stands_for(self) -> None:
        rule = HostRule(hosts=("e.link",), rename="e.org", path_to_query="/item?id=")
        assert (
            self.key("https://e.link/7", rule)
            == self.key("https://e.org/item?id=7")
            == "https://e.org/item?id=7"
        )
        assert self.key("https://e.link/7/8", rule) == "https://e.link/7/8"
        assert self.key("https://e.link/", rule) == "https://e.link/"

    def test_the_case_of_a_path(self) -> None:
        rule = HostRule(hosts=("e.org",), lower_path=True)
        assert self.key("https://e.org/Docs/Caf%C3%A9?Q=A", rule) == "https://e.org/docs/caf%C3%A9?Q=A"

    def test_path_segments(self) -> None:
        rule = HostRule(hosts=("e.org",), drop_segments=("ref=", "page-"))
        assert self.key("https://e.org/a/ref=1/b/page-2/", rule) == "https://e.org/a/b/"
        assert self.key("https://e.org/ref=1", rule) == "https://e.org/"

    def test_parameters_that_matter(self) -> None:
        rule = HostRule(hosts=("e.org",), only=("id", "ref"))
        assert self.key("https://e.org/?x=1&id=2&ref=3", rule, base=WEB) == "https://e.org/?id=2"
        keep = HostRule(hosts=("e.org",), keep=("ref",))
        assert self.key("https://e.org/?x=1&id=2&ref=3", rule, keep, base=WEB) == "https://e.org/?id=2&ref=3"
        assert self.key("https://e.org/?wsdl", rule) == "https://e.org/?wsdl"

    def test_on_some_paths_only(self) -> None:
        rule = HostRule(hosts=("e.org",), path="/news/", drop=("id",))
        assert self.key("https://e.org/news/a?id=1", rule) == "https://e.org/news/a"
        assert self.key("https://e.org/shop/a?id=1", rule) == "https://e.org/shop/a?id=1"

    def test_a_star_keeps_all(self) -> None:
        rule = HostRule(hosts=("e.org",), keep=("*",))
        url = "https://e.org/?gclid=1&sid=" + 32 * "a"
        assert self.key(url, rule) == url

    def test_all_rules_of_a_host_hold(self) -> None:
        rules = [HostRule(hosts=(host,), drop=(name,)) for host, name in [("a.e.org", "x"), ("*.e.org", "y")]]
        assert self.key("https://a.e.org/?x=1&y=2&z=3", *rules) == "https://a.e.org/?z=3"

    def test_a_rule_for_every_host(self) -> None:
        rules = [
            HostRule(hosts=("*",), path="/news/", drop=("id",)),
            HostRule(hosts=("*",), keep=("gclid",)),
            HostRule(hosts=("*", "e.org"), lower_path=True, drop_segments=("ref=",)),
            HostRule(hosts=("e.org",), drop=("x",)),
        ]
        assert self.key("https://e.org/News/ref=1/A?id=1&x=2", *rules) == "https://e.org/news/a"
        assert self.key("https://other.test/News/ref=1/A", *rules) == "https://other.test/news/a"
        assert self.key("https://other.test/a?id=1&gclid=2", *rules) == "https://other.test/a?gclid=2&id=1"

    def test_no_rules(self) -> None:
        assert (
            canonicalize_url("https://youtu.be/a?si=1", replace(SAFE, rules=())) == "https://youtu.be/a?si=1"
        )


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"hosts": ()}, "needs hosts"),
            ({"hosts": "e.org"}, "hosts must be a collection of texts, not the text 'e.org'"),
            ({"hosts": ("e org",)}, "'e org' is no host"),
            ({"hosts": ("https://e.org/",)}, "'https://e.org/' is no host"),
            ({"hosts": ("e.org",), "drop": "ref"}, "drop must be a collection"),
            ({"hosts": ("e.org",), "rename": "*.e.org"}, "needs '*.' at the start of each host"),
            ({"hosts": ("e.org",), "rename": "a b"}, "'a b' is no host"),
            ({"hosts": ("*",), "rename": "e.org"}, "not every host can be a mirror"),
            ({"hosts": ("e.org",), "path_to_query": "/item?id="}, "needs a rename"),
        ],
    )
    def test_a_rule_that_cannot_be_right(self, arguments: dict[str, Any], text: str) -> None:
        with pytest.raises(ConfigurationError) as error:
            HostRule(**arguments)
        assert text in str(error.value)

    @pytest.mark.parametrize(
        "rules",
        [
            [("a.org", "b.org"), ("b.org", "c.org")],
            [("a.org", "b.org"), ("b.org", "a.org")],
            [("a.org", "www.b.org"), ("b.org", "c.org")],
            [("a.org", "x.b.org"), ("*.b.org", "*.c.org")],
            [("*.a.org", "*.b.org"), ("x.b.org", "c.org")],
            [("*.a.org", "*.b.org"), ("*.b.org", "*.c.org")],
        ],
    )
    def test_renames_in_a_row(self, rules: list[tuple[str, str]]) -> None:
        with pytest.raises(ConfigurationError, match="renames that again"):
            UrlPolicy(rules=tuple(HostRule(hosts=(host,), rename=rename) for host, rename in rules))

    def test_a_text_where_names_are_due(self) -> None:
        with pytest.raises(ConfigurationError, match="keep must be a collection"):
            UrlPolicy(keep="ref")


class TestValues:
    def test_frozen(self) -> None:
        with pytest.raises(FrozenInstanceError):
            SAFE.drop_www = True  # type: ignore[misc]

    def test_equal_by_value_and_hashable(self) -> None:
        assert UrlPolicy() == SAFE
        assert len({SAFE, UrlPolicy(), WEB, replace(SAFE, drop=["a"]), replace(SAFE, drop=("a",))}) == 3

    @pytest.mark.parametrize("policy", [SAFE, WEB], ids=["SAFE", "WEB"])
    def test_copies_work(self, policy: UrlPolicy) -> None:
        for twin in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
            assert twin == policy
            assert canonicalize_url("https://m.youtube.com/?si=1&a=2", twin) == canonicalize_url(
                "https://m.youtube.com/?si=1&a=2", policy
            )
