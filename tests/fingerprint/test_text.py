"""Normalisation, tokens and shingles for every script."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import content_key
from rag_dedup.text import MAX_TOKEN, normalise, shingle, tokenise


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_takes_no_other_way(text: str) -> None:
    assert normalise(text) == normalise(text + "\u00df")[:-2].rstrip()


@given(st.text())
def test_tokens_are_cut_out_of_the_normal_form(text: str) -> None:
    rest = normalise(text)
    for token in tokenise(text):
        assert 0 < len(token) <= MAX_TOKEN
        assert token in rest
        rest = rest[rest.index(token) + len(token) :]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't STOP at max_size=2.5", ["don", "t", "stop", "at", "max_size", "2", "5"]),
        ("東京タワーへ行く", list("東京タワーへ行く")),
        ("서울 시청", list("서울시청")),
        ("สวัสดี 2024", [*"สวัสดี", "2024"]),
        ("ສະບາຍດີ", list("ສະບາຍດີ")),
        ("ជំរាបសួរ", list("ជំរាបសួរ")),
        ("မြန်မာ", list("မြန်မာ")),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("Привет, Мир", ["привет", "мир"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ﬁne Ｆｕｌｌ ① x²", ["fine", "full", "1", "x2"]),
        ("zero\u200bwidth soft\u00adhyphen", ["zerowidth", "softhyphen"]),
        ("🙂🙂 — !", []),
        ("x" * 150, ["x" * 64, "x" * 64, "x" * 22]),
        ("𠮷野家", ["𠮷", "野", "家"]),
    ],
)
def test_scripts(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == [unicodedata.normalize("NFKC", token) for token in tokens]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Café", "Cafe\u0301"),
        ("ＡＢＣ", "abc"),
        ("a\u00a0b", "a b"),
        ("a\u200db", "ab"),
        ("a\x00b", "ab"),
        ("\ufeffa", "a"),
        ("Ǆ", "ǆ"),
        ("ﾃｽﾄ", "テスト"),
    ],
)
def test_what_normalisation_folds(one: str, two: str) -> None:
    assert normalise(one) == normalise(two)


def test_chinese_with_little_noise_stays_similar() -> None:
    text = "分布式消息代理保存客户端发送到主题的所有消息的日志并按顺序交付给每个订阅的消费者组" * 3
    noisy = text[:60] + "们" + text[61:]
    a, b = set(shingle(text)), set(shingle(noisy))
    assert len(a & b) / len(a | b) > 0.9


def test_runs_of_combining_marks_take_linear_time() -> None:
    """Sorting a run takes quadratic time, so that runs are cut; these marks would take minutes."""
    once = normalise("a" + "\u0301\u0316" * 200_000 + "b")
    assert len(once) == 31
    assert normalise(once) == once


def test_content_key_is_the_documented_digest() -> None:
    import hashlib

    assert content_key("  Hello\n World ") == hashlib.sha256(b"hello world").hexdigest()
    assert content_key("\ud800") != content_key("\udfff")


def test_every_assigned_letter_has_a_class() -> None:
    """A letter that separated would make texts of its script empty."""
    from rag_dedup.text import character_classes

    classes = character_classes()
    for point in range(min(sys.maxunicode, len(classes) - 1)):
        if unicodedata.category(chr(point)) in ("Lu", "Ll", "Lo", "Nd"):
            assert classes[point], hex(point)
