"""The tracking table: no name enters without saying whose it is."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest

from rag_dedup.url import SAFE, canonicalize_url
from rag_dedup.url.parse import split_url
from rag_dedup.url.tracking import TABLE, read_table
from tests.url.case_files import tomllib

TEXT = files("rag_dedup.url").joinpath("tracking.toml").read_text(encoding="utf-8")
DATA: dict[str, Any] = tomllib.loads(TEXT)
VENDORS = DATA["vendor"]
NAMES = [name for vendor in VENDORS for name in vendor["parameters"]]


@pytest.mark.parametrize("vendor", [*VENDORS, *DATA["prefix"]], ids=lambda vendor: vendor.get("name", "?"))
def test_a_name_has_a_vendor_and_a_documentation(vendor: dict[str, Any]) -> None:
    assert vendor["name"].strip()
    link = split_url(vendor["documentation"])
    assert link is not None
    assert link.scheme in ("http", "https")
    assert vendor.get("parameters") or vendor.get("prefix")
    assert vendor.keys() <= {"name", "documentation", "parameters", "prefix", "except"}


def test_names_are_whole_names_in_lower_case_and_stand_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    for name in [*NAMES, *DATA["referral"]["parameters"]]:
        assert re.fullmatch(r"[a-z0-9_.-]+", name), name
    for vendor in VENDORS:
        assert vendor["parameters"] == sorted(vendor["parameters"])


def test_the_table_is_about_as_large_as_what_is_documented() -> None:
    assert len(NAMES) >= 130
    assert len({vendor["name"] for vendor in VENDORS}) == len(VENDORS)


@pytest.mark.parametrize("missing", ["name", "documentation", "parameters"])
def test_a_name_without_documentation_is_refused(missing: str) -> None:
    vendor = {key: value for key, value in VENDORS[0].items() if key != missing}
    with pytest.raises((KeyError, AssertionError)):
        test_a_name_has_a_vendor_and_a_documentation(vendor)
    with pytest.raises(AssertionError):
        test_a_name_has_a_vendor_and_a_documentation({**VENDORS[0], "documentation": "none"})


def test_there_are_two_prefixes() -> None:
    assert TABLE.prefixes == ("utm_", "mtm_")
    assert all(name.startswith(TABLE.prefixes) for name in TABLE.exceptions)
    assert not any(name.startswith(TABLE.prefixes) for name in NAMES)


def test_no_host_rule_only_repeats_the_table() -> None:
    for host in DATA["host"]:
        assert TABLE.names.isdisjoint(host.get("drop", ()))
        for name in host.get("keep", ()):
            known = name in TABLE.names | TABLE.referral or name.startswith(TABLE.prefixes)
            assert name == "*" or known, name


def test_names_that_carry_content_somewhere_stay_out() -> None:
    assert TABLE.names.isdisjoint(TABLE.referral)
    assert TABLE.names.isdisjoint(
        {"ref", "source", "session", "campaign", "cid", "id", "si", "s", "var", "__s", "_kx", "mkt_tok"}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_tracking_parameter_is_dropped(name: str) -> None:
    assert canonicalize_url(f"https://e.org/a?id=1&{name}=x", SAFE) == "https://e.org/a?id=1"
    assert canonicalize_url(f"https://e.org/a?{name}=x&{name}x=y", SAFE) == f"https://e.org/a?{name}x=y"


def test_a_rule_for_a_host_says_why() -> None:
    assert all(host["why"].strip() for host in DATA["host"])
    assert len(SAFE.rules) == len(DATA["host"])


def test_a_table_is_read_from_text() -> None:
    table = read_table(
        """
        referral = { parameters = ["r"] }
        host = []
        vendor = [{ name = "V", documentation = "https://e.org/", parameters = ["a", "b"] }]
        prefix = [{ prefix = "p_", name = "P", documentation = "https://e.org/", except = ["p_x"] }]
        """
    )
    assert table == ({"a", "b"}, ("p_",), {"p_x"}, {"r"}, ())
