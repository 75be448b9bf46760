"""Guards: near-duplicates that differ in something load-bearing are different facts.

One changed word among 200 leaves Jaccard at 0.97, so no threshold protects "99.9 %" from "99.5 %" or
"allowed" from "not allowed". A guard reads its *marks* out of a text, in order; two texts whose marks
differ are kept apart. Marks are read from the original text, since normalisation would make 10⁵ and
105 the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_dedup.document import GuardHit
from rag_dedup.text import cut_marks

__all__ = [
    "DEFAULT_GUARDS",
    "Guard",
    "Marks",
    "compare_marks",
    "find_difference",
    "find_negations",
    "find_numbers",
    "find_versions",
    "read_marks",
]

Marks = tuple[tuple[str, ...], ...]
"""For each guard, what it read."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A kind of load-bearing difference.

    Args:
        name: the kind, as it appears in :attr:`Decision.guard`.
        find: reads the marks out of a text, in order. Must be pure and take linear time.
        local: whether each mark depends only on what lies within three words of it, and none goes across
            white space that is further away. Then only what differs between two texts has to be read.

    >>> import re
    >>> sku = Guard("sku", re.compile(r"[A-Z]{2}-[0-9]+").findall)
    >>> compare_marks((sku,), read_marks((sku,), "Part AB-12"), read_marks((sku,), "Part AB-13"))
    GuardHit(kind='sku', here='AB-12', there='AB-13')
    """

    name: str
    find: Callable[[str], Sequence[str]]
    local: bool = False


# Decimal digits of every script, and what Unicode calls other numbers: superscripts, fractions,
# circled and Roman numerals.
_DIGIT = r"\d⁰¹²³⁴-⁹₀-₉¼-¾⅐-ↈ①-⓿❶-➓㉈-㉏㉑-㉟㊱-㊿"
# A sign or a currency belongs to its number; a dash between numbers is none.
# The look ahead is all that most characters are tried with.
_NUMBER = re.compile(
    rf"(?=[-−+$€£¥₹{_DIGIT}])"
    r"(?:(?<![\w)\]])[-−+]?[$€£¥₹]?|(?<!\w)[$€£¥₹][-−+]?|)"
    rf"[{_DIGIT}](?:[{_DIGIT}]|[.,:/\u066b\u066c'’](?=[{_DIGIT}]))*"
)
_VERSION = re.compile(
    r"(?=[vV\d])"
    r"(?:(?<![\w.])v\d+(?:\.\d+)*(?:\.x)?|(?<![\w.,])\d+(?:\.\d+){2,}|(?<![\w.,])\d+\.x\b)",
    re.I,
)


def find_numbers(text: str) -> list[str]:
    """Return every number of ``text``, in order: all of its digits are in one of them.

    >>> find_numbers("From 99.5 % to 1,000 ms in v1.2: 10⁵ of １２ at -40 for $5, 3-4")
    ['99.5', '1,000', '1.2', '10⁵', '12', '-40', '$5', '3', '4']
    """
    return [_to_ascii_digits(number) for number in _NUMBER.findall(text)]


def _to_ascii_digits(number: str) -> str:
    if number.isascii():
        return number
    return "".join(str(unicodedata.decimal(char, char)) for char in number)


def find_versions(text: str) -> list[str]:
    """Return every version of ``text``, in order: ``v1``, ``1.2.3``, ``2.x``.

    >>> find_versions("Since v1.3, not 1.2.10 or 2.x; 99.5 % of 3 nodes")
    ['v1.3', '1.2.10', '2.x']
    """
    return [version.lower() for version in _VERSION.findall(text)]


# Words that turn a statement round, in the languages whose guards are tested. Negating prefixes
# (un-, dis-) and pairs such as allow and deny are another kind of difference.
_NEGATIONS = frozenset(
    """
    no not none never nor neither cannot without except unless nothing nobody nowhere aint
    nicht kein keine keinen keinem keiner keines nie niemals nirgends nichts ohne außer weder
    ne pas jamais aucun aucune sans sauf rien ni
    nunca ningún ninguna ninguno sin salvo excepto tampoco nada
    non mai nessun nessuna nessuno senza tranne niente
    não nem nenhum nenhuma sem exceto
    не нет без никогда ни кроме
    لا لم لن ليس ليست غير بدون دون إلا
    """.split()
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_NEGATION_CJK = re.compile(
    "不|没|沒|无|無|未|非|别|勿|莫|否|ない|なく|なかっ|なけれ|ません|ぬ|ずに|않|없|못|아니"
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


def find_negations(text: str) -> list[str]:
    """Return every negation of ``text`` with its neighbours, in order.

    The neighbours tell "A is not allowed, B is" from "A is, B is not allowed". Contractions are
    spelled out, so that "don't" equals "do not".

    >>> find_negations("It is not allowed. Don't ask.")
    ['it is not allowed', 'allowed do not ask']
    """
    text = unicodedata.normalize("NFC", cut_marks(text)).lower().replace("’", "'")
    words: list[str] = []
    for word in _WORD.findall(text):
        if "'" in word or word == "cannot":
            words.extend(_spell_out(word))
        else:
            words.append(word)
    marks = [" ".join(words[max(i - 2, 0) : i + 2]) for i, word in enumerate(words) if word in _NEGATIONS]
    if _CJK.search(text):
        marks += [_show_around(text, match) for match in _NEGATION_CJK.finditer(text)]
    return marks


def _spell_out(word: str) -> tuple[str, ...]:
    """Return ``don't`` as ``do not`` and ``cannot`` as ``can not``."""
    if word == "cannot":
        return "can", "not"
    if word.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(word[:-3], word[:-3])
        return stem, "not"
    head, _, tail = word.partition("'")  # l'eau, n'est, it's
    return ("ne" if head == "n" else head), tail


def _show_around(text: str, match: re.Match[str]) -> str:
    around = text[max(match.start() - 1, 0) : match.end() + 1]
    return "".join(char for char in around if _CJK.match(char))


DEFAULT_GUARDS: tuple[Guard, ...] = (
    # Versions come before numbers, which they consist of, so that the reason names them.
    Guard("version", find_versions, local=True),
    Guard("number", find_numbers, local=True),
    Guard("negation", find_negations, local=True),
)


def read_marks(guards: Sequence[Guard], text: str) -> Marks:
    """Return what each guard reads out of ``text``."""
    return tuple(tuple(guard.find(text)) for guard in guards)


def compare_marks(guards: Sequence[Guard], here: Marks, there: Marks) -> GuardHit | None:
    """Return the first load-bearing difference of two texts, ``None`` if there is none.

    >>> marks = [read_marks(DEFAULT_GUARDS, text) for text in ("99.9 % uptime", "99.5 % uptime")]
    >>> compare_marks(DEFAULT_GUARDS, *marks)
    GuardHit(kind='number', here='99.9', there='99.5')
    """
    for guard, mine, theirs in zip(guards, here, there, strict=True):
        if mine != theirs:
            return GuardHit(guard.name, *_show_difference(mine, theirs))
    return None


def find_difference(guards: Sequence[Guard], here: str, there: str) -> GuardHit | None:
    """Return the first load-bearing difference of two texts, ``None`` if there is none.

    The same as comparing all of their marks, but local guards read no more than they must to find none.

    >>> find_difference(DEFAULT_GUARDS, "99.9 % uptime", "99.5 % uptime")
    GuardHit(kind='number', here='99.9', there='99.5')
    """
    if not guards:
        return None
    near = focus_texts(here, there)
    for guard in guards:
        if guard.local and guard.find(near[0]) == guard.find(near[1]):
            continue
        hit = compare_marks((guard,), read_marks((guard,), here), read_marks((guard,), there))
        if hit is not None:
            return hit
    return None


def focus_texts(here: str, there: str) -> tuple[str, str]:
    """Cut off what two texts begin and end with, but for a few words.

    >>> focus_texts("one two three four five six 7 eight", "one two three four five six 8 eight")
    (' three four five six 7 eight', ' three four five six 8 eight')
    """
    start = _count_common(here, there)
    least = min(len(here), len(there)) - start
    stop = min(_count_common(here[: -least - 1 : -1], there[: -least - 1 : -1]), least) if least else 0
    # Cut in white space, so that no word, number or normalisation goes across.
    first = start - len(_take_words(here[:start], last=True))
    after = len(_take_words(here[len(here) - stop :], last=False)) if stop else 0
    return here[first : len(here) - stop + after], there[first : len(there) - stop + after]


_AROUND = 4
"""Words beside a difference: one that is cut by it, a negation, and the two that are read with that."""


def _take_words(text: str, *, last: bool) -> str:
    """Return the last or first part of a text that has a few words and is cut in white space."""
    tokens = _AROUND
    while True:
        parts = text.rsplit(None, tokens) if last else text.split(None, tokens)
        if len(parts) <= tokens:
            return text
        part = text[len(parts[0]) :] if last else text[: len(text) - len(parts[-1])]
        if sum(1 for _ in _WORD.finditer(part)) >= _AROUND:
            return part
        tokens *= 2


def _count_common(here: str, there: str) -> int:
    """Return how many characters two texts begin with."""
    low, high = 0, min(len(here), len(there))
    while low < high:
        middle = (low + high + 1) // 2
        if here[low:middle] == there[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _show_difference(here: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, str]:
    """Return the first marks that differ, after what both begin and end with."""
    start = 0
    while start < min(len(here), len(there)) and here[start] == there[start]:
        start += 1
    stop = 0
    while stop < min(len(here), len(there)) - start and here[-1 - stop] == there[-1 - stop]:
        stop += 1
    mine, theirs = here[start : len(here) - stop], there[start : len(there) - stop]
    return (mine[0] if mine else ""), (theirs[0] if theirs else "")
