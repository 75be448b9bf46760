"""Guards, on pairs kept as data: tests/data/guards/*.toml."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_dedup import DEFAULT_GUARDS, Deduplicator, Document, Guard
from rag_dedup.document import GuardHit
from rag_dedup.guard import NAMES, REQUEST_IDS, VIEW_COUNTERS, difference, find_difference, ignore_volatile
from rag_dedup.guard.marks import find_numbers
from rag_dedup.text import content_key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent.parent / "data" / "guards"
PAIRS: list[dict[str, str]] = [
    pair | {"id": f"{path.stem}-{i}"}
    for path in sorted(FOLDER.glob("*.toml"))
    for i, pair in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["pair"])
]
each_pair = pytest.mark.parametrize(
    "pair",
    [
        pytest.param(
            pair,
            id=pair["id"],
            marks=[pytest.mark.xfail(strict=True, reason=pair["xfail"])] if "xfail" in pair else [],
        )
        for pair in PAIRS
    ],
)


def find_guard(a: str, b: str) -> str | None:
    hit = find_difference(DEFAULT_GUARDS, a, b)
    assert hit is None or hit.here != hit.there
    return hit.kind if hit else None


@each_pair
def test_pairs(pair: dict[str, str]) -> None:
    expected = pair.get("guard")
    assert find_guard(pair["a"], pair["b"]) == expected
    assert find_guard(pair["b"], pair["a"]) == expected
    assert find_guard(pair["a"], pair["a"]) is None


def test_the_table_is_broad() -> None:
    facts = [pair for pair in PAIRS if "guard" in pair]
    harmless = [pair for pair in PAIRS if "guard" not in pair]
    assert {pair["guard"] for pair in facts} == {guard.name for guard in DEFAULT_GUARDS}
    assert len({pair["lang"] for pair in PAIRS}) >= 20
    for side in (facts, harmless):
        assert len(side) >= 150
        assert sum("xfail" in pair for pair in side) <= 0.01 * len(side)


BEFORE = """The broker keeps a log of all messages that a client sends to a topic and hands them out in order.
Each consumer reads at a pace of its own, and the log remembers how far it came. Whoever comes late is
handed what the others have long seen, since the log forgets by age and by age alone."""
AFTER = """The exporter reads samples from a queue and writes batches of them to storage, from which reports
of the team are drawn whenever somebody asks for one. A report that somebody has drawn stays where it is,
with the name of the person who drew it and the queue that the samples came from."""


@each_pair
def test_pairs_within_a_page(pair: dict[str, str]) -> None:
    """The engine keeps facts apart, and drops what says the same, in the midst of other text."""
    first, second = (f"{BEFORE}\n\n{text}\n\n{AFTER}" for text in (pair["a"], pair["b"]))
    plan = Deduplicator().plan([Document("a", first, "a"), Document("b", second, "b")])
    decision = plan.decisions[1]
    if content_key(first) == content_key(
        second
    ):  # what differs in case alone is equal, and no guard is asked
        assert (decision.action, decision.method) == ("drop", "exact")
    elif "guard" in pair:
        assert decision.action == "keep"
        # So many words may differ that they are no candidates; if they are, a guard is the reason.
        assert decision.guard is not None or decision.similarity is None
    else:
        assert decision.action == "drop"


@given(st.text())
def test_numbers_hold_every_digit(text: str) -> None:
    """What the raw digit sequences tell apart, the guard tells apart."""
    digits = "".join(str(int(char)) for char in text if re.match(r"\d", char))
    assert "".join(re.findall(r"\d", "".join(find_numbers(text)))) == digits


PARTS = st.sampled_from(
    "not no don't cannot allowed is v1.2 1.2.3 99.9 99.5 -40 $5 3-4 10⁵ — ... 'n't n't' l'eau ne pas 不能 不 "
    "can 没有 ж́ é É ΣΑΣ σας   ( ) [1] [ ] [a](/v3/b/) ](b3) <a/b=3> word words 1,000 1 000 x 2.x".split(" ")
)
SPACES = st.sampled_from([" ", "  ", "\n", "\n", "\n\n", "\t", "", "-", "　", "​"])


@st.composite
def edited_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two texts, of which the second has a few parts replaced, taken out, put in or moved."""
    parts = [p for _ in range(draw(st.integers(0, 25))) for p in (draw(PARTS), draw(SPACES))]
    other = list(parts)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(other)))
        taken = other[place : place + draw(st.integers(0, 2))]
        other[place : place + len(taken)] = draw(st.lists(st.one_of(PARTS, SPACES), max_size=2))
        if draw(st.booleans()):
            place = draw(st.integers(0, len(other)))
            other[place:place] = taken
    return "".join(parts), "".join(other)


def read_digits(text: str) -> list[str]:
    return [str(int(char)) for char in text if char.isdecimal()]


@given(edited_pairs())
@settings(max_examples=500)
def test_other_digits_are_another_fact(pair: tuple[str, str]) -> None:
    """However differences are cut and aligned, none is overlooked."""
    if read_digits(pair[0]) != read_digits(pair[1]):
        assert find_difference(DEFAULT_GUARDS, *pair) is not None


@given(edited_pairs(), st.sampled_from([1, 4, 16]))
@settings(max_examples=500)
def test_texts_are_read_to_their_ends(pair: tuple[str, str], window: int) -> None:
    """However little is read at a time, all differences are seen, in order."""
    with mock.patch.object(difference, "_WINDOW", window):
        regions = list(difference.cut_regions(*pair))
        if read_digits(pair[0]) != read_digits(pair[1]):
            assert find_difference(DEFAULT_GUARDS, *pair) is not None
    assert all(here in pair[0] and there in pair[1] for here, there in regions)
    assert (regions == []) == (pair[0] == pair[1])


@pytest.mark.parametrize("rest", ["\n", "\nmore", "\n\nmore\n", " more", " more\n\nmore"])
@pytest.mark.parametrize("text", ["", "one", "one\n", "one\ntwo", "one\n\ntwo\n\n"])
def test_one_text_goes_on_where_the_other_ends(text: str, rest: str) -> None:
    longer = text + rest * 3000
    assert find_difference(DEFAULT_GUARDS, text, longer) is None
    assert find_difference(DEFAULT_GUARDS, longer + " 5", text) == ("number", "5", "")


@given(edited_pairs())
def test_a_guard_that_is_not_local_reads_everything(pair: tuple[str, str]) -> None:
    first = Guard("first", lambda text: [text[:1]])
    assert (find_difference((first,), *pair) is None) == (pair[0][:1] == pair[1][:1])


@given(st.one_of(edited_pairs(), st.tuples(st.text(), st.text())))
@settings(max_examples=500)
def test_symmetric(pair: tuple[str, str]) -> None:
    there = find_difference(DEFAULT_GUARDS, *pair)
    back = find_difference(DEFAULT_GUARDS, *reversed(pair))
    assert there == (back and GuardHit(back.kind, back.there, back.here))
    assert find_difference(DEFAULT_GUARDS, pair[0], pair[0]) is None


@pytest.mark.parametrize(
    "text",
    [
        "1" * 300_000,
        "1." * 150_000,
        "v1." * 100_000,
        "n't" * 100_000,
        "'" * 300_000,
        "不" * 300_000,
        "1.2.3." * 50_000 + "x",
    ],
    ids=lambda text: text[:6],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    for guard in (*DEFAULT_GUARDS, NAMES):
        guard.find(text)
    find_difference(DEFAULT_GUARDS, text, text[1:])
    find_difference(DEFAULT_GUARDS, text + "a" + text, text + "b" + text)
    lines = text.replace("1", "1\n").replace("不", "不\n")
    find_difference(DEFAULT_GUARDS, lines + "a" + lines, "b" + lines + lines)


def test_a_guard_of_ones_own() -> None:
    city = Guard("city", re.compile(r"\b(?:Oslo|Lima)\b").findall)
    assert find_difference((city,), "Open in Oslo", "Open in Lima") == ("city", "Oslo", "Lima")


def test_what_may_differ_can_be_declared() -> None:
    pair = "Read by many. 1,204 views. Request ID: 7f3a-11", "Read by many. 1,310 views. Request ID: 9b0c-27"
    assert find_difference(DEFAULT_GUARDS, *pair) is not None
    patient = ignore_volatile(DEFAULT_GUARDS, (VIEW_COUNTERS, REQUEST_IDS))
    assert find_difference(patient, *pair) is None
    assert find_difference(patient, pair[0] + " Wait 5 s.", pair[1] + " Wait 6 s.") == ("number", "5", "6")


def test_names_are_on_when_asked_for() -> None:
    pair = "The office in Oslo opens.", "The office in Lima opens."
    assert find_difference(DEFAULT_GUARDS, *pair) is None
    assert find_difference((*DEFAULT_GUARDS, NAMES), *pair) == ("name", "Oslo", "Lima")
