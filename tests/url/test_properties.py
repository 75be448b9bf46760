"""Laws of keys."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, note
from hypothesis import strategies as st

from rag_dedup.url import SAFE, WEB, UrlPolicy, canonicalize_url, find_url
from tests.url.strategies import BARE, Request, policies, requests, spellings, url_texts


class TestKeys:
    @given(st.one_of(st.text(), url_texts), policies)
    def test_any_text_gives_a_text(self, url: str, policy: UrlPolicy) -> None:
        for p in (SAFE, WEB, BARE, policy):
            assert isinstance(canonicalize_url(url, p), str)

    @given(st.one_of(st.text(), url_texts), policies)
    def test_the_key_of_a_key_is_the_key(self, url: str, policy: UrlPolicy) -> None:
        for p in (SAFE, WEB, BARE, policy):
            key = canonicalize_url(url, p)
            note(key)
            assert canonicalize_url(key, p) == key

    @given(url_texts)
    def test_web_only_adds_to_safe(self, url: str) -> None:
        assert canonicalize_url(canonicalize_url(url, SAFE), WEB) == canonicalize_url(url, WEB)

    @given(st.sampled_from(["", "?", "?a=", "#/"]), st.one_of(st.text(), url_texts))
    def test_the_key_of_a_page_is_a_page_in_printable_ascii(self, start: str, text: str) -> None:
        key = canonicalize_url(f"https://example.com/{start}{text}", SAFE)
        assert key.isascii()
        assert key.isprintable()
        assert " " not in key
        assert find_url({"url": key}, ["url"]) == key


class TestRequests:
    """Two URLs share a key when a browser would send the same, or a named rule says so; never else."""

    @given(requests.flatmap(lambda request: st.tuples(spellings(request), spellings(request))))
    def test_all_spellings_of_a_request_have_one_key(self, urls: tuple[str, str]) -> None:
        a, b = urls
        for policy in (BARE, SAFE, WEB):
            assert canonicalize_url(a, policy) == canonicalize_url(b, policy)

    @given(st.data())
    def test_without_rules_other_requests_have_other_keys(self, data: st.DataObject) -> None:
        first, second = draw_two_requests(data)
        a, b = data.draw(spellings(first)), data.draw(spellings(second))
        assert (canonicalize_url(a, BARE) == canonicalize_url(b, BARE)) == (first == second)

    @given(st.data())
    def test_safe_merges_by_its_named_rules_only(self, data: st.DataObject) -> None:
        first, second = draw_two_requests(data)
        a, b = data.draw(spellings(first)), data.draw(spellings(second))
        same = apply_safe_rules(first) == apply_safe_rules(second)
        assert (canonicalize_url(a, SAFE) == canonicalize_url(b, SAFE)) == same

    @given(requests.flatmap(spellings))
    def test_each_switch_can_be_turned_off(self, url: str) -> None:
        off = replace(WEB, **{name: False for name in vars(WEB) if getattr(WEB, name) is True}, rules=())
        assert off == BARE
        assert canonicalize_url(url, off) == canonicalize_url(url, BARE)


def draw_two_requests(data: st.DataObject) -> tuple[Request, Request]:
    """Draw two requests that differ in one part, or not at all."""
    first, other = data.draw(requests), data.draw(requests)
    part = data.draw(st.sampled_from(["scheme", "host", "port", "path", "query", "fragment", "order"]))
    if part == "order":
        return first, replace(first, query=tuple(data.draw(st.permutations(first.query))))
    return first, replace(first, **{part: getattr(other, part)})


def apply_safe_rules(request: Request) -> Request:
    """Say slowly what SAFE ignores in the requests that are drawn here."""
    items = []
    for item in request.query:
        name, equals, value = "".join(item).partition("=")
        if equals and (name.lower().startswith("utm_") or name.lower() == "gclid"):
            continue
        items.append((name, equals, value))
    if all(equals for _, equals, _ in items):
        items.sort(key=lambda item: item[0])
    fragment = "".join(request.fragment)
    is_route = fragment.startswith("!") or any(mark in fragment for mark in ("/", "=", "%2F"))
    return replace(request, query=tuple(items), fragment=fragment if is_route else "")
