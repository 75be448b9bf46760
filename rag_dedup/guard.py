"""Guards: near-duplicates that differ in something load-bearing are different facts.

One changed word among 200 leaves Jaccard at 0.97, so no threshold protects "99.9 %" from "99.5 %" or
"allowed" from "not allowed". A guard reads its *marks* out of a text, in order; two texts whose marks
differ are kept apart. Marks are read from the original text, since normalisation would make 10⁵ and
105 the same.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_dedup.document import GuardHit
from rag_dedup.text import cut_marks

__all__ = [
    "DEFAULT_GUARDS",
    "Guard",
    "Marks",
    "compare_marks",
    "cut_differences",
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
_SIGN, _CURRENCY = "-−+", "$€£¥₹"
# A sign or a currency belongs to its number; a dash between numbers is none. What stands before the first
# character is asked for after it, since patterns that begin with a set of characters are found ten times
# faster.
_NUMBER = re.compile(
    rf"[{_SIGN}{_CURRENCY}{_DIGIT}]"
    rf"(?:(?<=[{_SIGN}])(?<![\w)\]][{_SIGN}])[{_CURRENCY}]?[{_DIGIT}]"
    rf"|(?<=[{_CURRENCY}])(?<!\w[{_CURRENCY}])[{_SIGN}]?[{_DIGIT}]"
    rf"|(?<=[{_DIGIT}]))"
    rf"(?:[{_DIGIT}]|[.,:/\u066b\u066c'’](?=[{_DIGIT}]))*"
)
_VERSION = re.compile(
    r"[vV\d]"
    r"(?:(?<=[vV])(?<![\w.][vV])\d+(?:\.\d+)*(?:\.[xX])?"
    r"|(?<=\d)(?<![\w.,]\d)\d*(?:(?:\.\d+){2,}|\.[xX]\b))"
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
    if not text.isascii():
        text = unicodedata.normalize("NFC", cut_marks(text)).replace("’", "'")
    text = text.lower()
    words: list[str] = _WORD.findall(text)
    if "'" in text or "cannot" in text:
        spelled = (_spell_out(word) if "'" in word or word == "cannot" else (word,) for word in words)
        words = list(itertools.chain.from_iterable(spelled))
    if _NEGATIONS.isdisjoint(words) and text.isascii():
        return []
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

    It is there when comparing all of their marks says so, but local guards read no more than they must.

    >>> find_difference(DEFAULT_GUARDS, "99.9 % uptime", "99.5 % uptime")
    GuardHit(kind='number', here='99.9', there='99.5')
    """
    if not guards or here == there:
        return None
    parts = cut_differences(here, there)
    for guard in guards:
        pairs = parts if guard.local else [(here, there)]
        marks = [(guard.find(mine), guard.find(theirs)) for mine, theirs in pairs]
        unlike = [(tuple(mine), tuple(theirs)) for mine, theirs in marks if mine != theirs]
        if not unlike or (len(unlike) > 1 and _are_moved(guard, unlike, here, there)):
            continue
        return GuardHit(guard.name, *_show_difference(*unlike[0]))
    return None


def _are_moved(
    guard: Guard, unlike: Sequence[tuple[tuple[str, ...], tuple[str, ...]]], here: str, there: str
) -> bool:
    """Tell whether marks that differ from place to place are the same in the whole of the texts."""
    mine, theirs = zip(*unlike, strict=True)
    if Counter(itertools.chain.from_iterable(mine)) != Counter(itertools.chain.from_iterable(theirs)):
        return False
    return guard.find(here) == guard.find(there)


def cut_differences(here: str, there: str) -> list[tuple[str, str]]:
    """Return the parts in which two texts differ, with a few words of what is equal around each.

    >>> cut_differences("one two three four five six 7 eight", "one two three four five six 8 eight")
    [(' three four five six 7 eight', ' three four five six 8 eight')]
    """
    parts = []
    gaps = list(_find_gaps(here, there))
    ends = [*(gap.here.start for gap in gaps[1:]), len(here)]
    equal_from, start = 0, None
    for number, (gap, end) in enumerate(zip(gaps, ends, strict=True), start=1):
        if start is None:
            lead = len(_take_words(here[equal_from : gap.here.start], last=True))
            start = gap.here.start - lead, gap.there.start - lead
        tail = _take_words(here[gap.here.stop : end], last=False)
        equal_from = gap.here.stop
        # What is too near to the next difference to be read apart from it belongs to one part with it.
        if number == len(gaps) or _count_words(tail) >= _AROUND:
            stop = gap.here.stop + len(tail), gap.there.stop + len(tail)
            parts.append((here[start[0] : stop[0]], there[start[1] : stop[1]]))
            start = None
    return parts


class Gap(NamedTuple):
    """Places of two texts that differ."""

    here: slice
    there: slice


def _find_gaps(here: str, there: str) -> Iterator[Gap]:
    """Yield where two texts differ, in order, between lines that both have just once."""
    whole = _trim(Gap(slice(0, len(here)), slice(0, len(there))), here, there)
    start, other_start = whole.here.start, whole.there.start
    ends = (whole.here.stop, whole.there.stop, 0)
    for stop, other_stop, length in (*_find_common_lines(whole, here, there), ends):
        if here[start:stop] != there[other_start:other_stop]:
            yield _trim(Gap(slice(start, stop), slice(other_start, other_stop)), here, there)
        start, other_start = stop + length, other_stop + length


def _trim(gap: Gap, here: str, there: str) -> Gap:
    """Take away what both sides of a gap begin and end with."""
    mine, theirs = here[gap.here], there[gap.there]
    first = _count_common(mine, theirs)
    least = min(len(mine), len(theirs)) - first
    last = min(_count_common(mine[: -least - 1 : -1], theirs[: -least - 1 : -1]), least)
    return Gap(
        slice(gap.here.start + first, gap.here.stop - last),
        slice(gap.there.start + first, gap.there.stop - last),
    )


def _find_common_lines(gap: Gap, here: str, there: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, start in the other text and length of lines that each side has once, in order."""
    mine, theirs = here[gap.here].split("\n"), there[gap.there].split("\n")
    if len(mine) == 1 or len(theirs) == 1:
        return
    counts, other_counts = Counter(mine), Counter(theirs)
    starts = itertools.accumulate((len(line) + 1 for line in theirs), initial=gap.there.start)
    places = dict(zip(theirs, starts, strict=False))
    start, other_end = gap.here.start, gap.there.start
    for line in mine:
        if counts[line] == 1 and other_counts.get(line) == 1 and places[line] >= other_end:
            yield start, places[line], len(line)
            other_end = places[line] + len(line)
        start += len(line) + 1


_AROUND = 4
"""Words beside a difference: one that is cut by it, a negation, and the two that are read with that."""


def _count_words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _take_words(text: str, *, last: bool) -> str:
    """Return the last or first part of a text that has a few words and is cut in white space."""
    tokens = _AROUND
    while True:
        parts = text.rsplit(None, tokens) if last else text.split(None, tokens)
        if len(parts) <= tokens:
            return text
        part = text[len(parts[0]) :] if last else text[: len(text) - len(parts[-1])]
        if _count_words(part) >= _AROUND:
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
