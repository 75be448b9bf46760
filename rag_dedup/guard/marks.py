"""Read the marks of a text: its numbers, versions, units, dates, negations, modals, identifiers and so on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rag_dedup.guard.words import (
    BESIDE_DIGITS,
    CASED_UNITS,
    DATES,
    DENYING,
    MODALS,
    NEGATIONS,
    NEGATIVE_UN,
    NUMERALS,
    OPPOSITES,
    UNIT_WORDS,
    UNITS,
)
from rag_dedup.text import cut_marks

__all__ = [
    "CJK",
    "affirm",
    "find_dates",
    "find_identifiers",
    "find_modals",
    "find_names",
    "find_negations",
    "find_numbers",
    "find_units",
    "find_versions",
    "find_words",
    "is_short_flag",
    "name_sides",
]

# Vowel signs of India's scripts, which are no letters to a regular expression.
_SIGNS = "".join(char for char in map(chr, range(0x900, 0xE00)) if unicodedata.category(char)[0] == "M")
_LETTER = rf"(?:[^\W\d_]|[{_SIGNS}])"

CJK = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Scripts without spaces, and Hangul, whose particles and endings are no words of their own."""

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
_THOUSANDS = re.compile(r"(\D*[1-9]\d{0,2})((?:[,'’]\d{3})+)(\.\d+)?\Z")
_VERSION = re.compile(
    r"[vV\d]"
    r"(?:(?<=[vV])(?<![a-zA-Z0-9_.][vV])\d+(?:\.\d+)*(?:\.[xX])?"
    r"|(?<=\d)(?<![\w.,]\d)\d*(?:(?:\.\d+){2,}|\.[xX]\b))"
    r"(?:-(?:alpha|beta|rc|dev|pre|preview|snapshot|nightly|SNAPSHOT|RC)\b)?"
)
_UNIT = re.compile(rf"[0-9][  ]?(°[CFcf]?|[%‰$€£¥₹₽％℃℉]|[kmg]m?/[a-z]+|[{CJK}]{{1,3}}|{_LETTER}+)")
_UNSPACED = re.compile(f"[{CJK}]")
_DAYTIME = re.compile(r"\d ?([ap])\.?m\b", re.IGNORECASE)
_CAPITALS = re.compile(r"[A-Z]{3,4}")
_ZONES = frozenset("UTC GMT EST EDT CST CDT MST MDT PST PDT CEST CET JST IST BST AEST MSK".split())
# The tag of git_version_tag is no word of its own (it is a day in German).
_WORD = re.compile(rf"(?<![^\W\d]){_LETTER}+(?:'{_LETTER}+)*(?![^\W\d])")
_ASCII_WORD = re.compile(r"(?<![a-z_])[a-z]+(?:'[a-z]+)*(?![a-z_])")  # the same, soon found
_SYMBOL = re.compile(r"(?<![<>=!\-/\w])(?:<=|>=|==|!=|<|>)(?=[\s\d$€£-])|[≤≥≠]|(?<=[\w )])(?:<|>)(?=\d)")
_SYMBOLS = {"≤": "<=", "≥": ">=", "≠": "!="}
# What can stand in an identifier; it ends at spaces, brackets, quotes and scripts without spaces.
_TOKEN = re.compile(rf"[^\s\"'`“”‘’«»()\[\]{{}}<>|,;*{CJK}\u3000-\u303f\uff00-\uffef]+")
_IDENTIFIER = re.compile(
    r"[^\W_]_+[^\W_]"  # snake_case
    r"|[/\\@]"  # paths, addresses
    r"|^--?[^\W\d_]"  # flags
    r"|[a-z][A-Z]"  # camelCase
    r"|[^\W\d_]\.[^\W\d_]{2}"  # dotted.names
    r"|[^\W\d_][+:][^\W\d_]"  # Ctrl+C, nginx:alpine
    r"|^[A-Zb-z]$"  # plan A, 4(b), x
    r"|^[$#][^\W\d_]"
    r"|^[A-Z][A-Z0-9]+s?$"  # HTTP, MAX
    r"|^(?=[0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)+$"  # AB-12
    r"|^[0-9]*[A-Z]+[0-9][A-Z0-9]*$"  # B2C, but 10MB is none
    r"|^0x[0-9a-fA-F]+$"
    r"|^[0-9a-f]*(?:[0-9][a-f]|[a-f][0-9])[0-9a-f]*$"  # hashes
)
_CODE = re.compile(r"(?<=`)(?<!``)[^\s`.,;:!?]+|(?<![^\s])[^\s`]{1,200}(?=`(?!`))")
_LONG_FLAG = re.compile(r"^-(?=[a-zA-Z][a-z])")  # Go's -name is --name
_HERE = re.compile(r"^(?:\.{1,2}/)+")
_SHORT = 3
_LONGEST_DENIAL = max(map(len, DENYING))
_EDGES = ".:!?…=~^_"
_ENDS = re.compile(r"[.!?:\n]")


class Vocabulary:
    """Words with their marks: whole ones, beginnings of words, pairs, and some without spaces around them."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self.table = table
        self._stems: dict[str, list[tuple[str, str]]] = {}
        for word, mark in table.items():
            if word[-1] == "*":
                self._stems.setdefault(word[:3], []).append((word[:-1], mark))
        self._seconds = frozenset(word.partition("+")[2] for word in table if "+" in word)
        longest_first = sorted(filter(_UNSPACED.match, table), key=lambda word: (-len(word), word))
        self._unspaced = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def find(self, text: str) -> list[str]:
        """Return the marks of the words of a text."""
        words = _read_words(text)
        found = []
        for place in self.find_places(words):
            phrase = f"{words[place - 1]}+{words[place]}" if place else ""
            mark = self.table.get(phrase) or self.find_mark(words[place])
            if mark is not None:
                found.append(mark)
        return found + self.find_unspaced(text)

    def find_places(self, words: Sequence[str]) -> list[int]:
        """Return the places of words that may have a mark, which few have."""
        table, stems, seconds = self.table, self._stems, self._seconds
        return [i for i, word in enumerate(words) if word in table or word[:3] in stems or word in seconds]

    def find_mark(self, word: str) -> str | None:
        """Return the mark of a word."""
        if word in self.table:
            return self.table[word]
        for stem, mark in self._stems.get(word[:3], ()):
            if word.startswith(stem):
                return mark
        return None

    def find_unspaced(self, text: str) -> list[str]:
        """Return the marks of words in scripts without spaces."""
        if text.isascii():
            return []
        return [self.table[match] for match in self._unspaced.findall(text)]


def find_numbers(text: str) -> list[str]:
    """Return every number of ``text``, in order: all of its digits are in one of them.

    Commas and apostrophes between thousands are left out.

    >>> find_numbers("From 99.5 % to 1,000 ms in v1.2: 10⁵ of １２ at -40 for $5, 3-4")
    ['99.5', '1000', '1.2', '10⁵', '12', '-40', '$5', '3', '4']
    """
    return [_spell_number(number) for number in _NUMBER.findall(text)]


def _spell_number(number: str) -> str:
    if not number.isascii():
        number = "".join(str(unicodedata.decimal(char, char)) for char in number).replace("−", "-")
    if "," in number or "'" in number or "’" in number:
        grouped = _THOUSANDS.match(number)
        if grouped is not None:
            return grouped[1] + re.sub(r"\D", "", grouped[2]) + (grouped[3] or "")
    return number


def find_versions(text: str) -> list[str]:
    """Return every version of ``text``, in order: ``v1``, ``1.2.3``, ``2.x``, ``2.0.0-rc``.

    >>> find_versions("Since v1.3, not 1.2.10 or 2.x; 99.5 % of 3 nodes")
    ['v1.3', '1.2.10', '2.x']
    """
    return [version.lower() for version in _VERSION.findall(text)]


def find_units(text: str) -> list[str]:
    """Return the units behind numbers and those that are words, and numbers that are words.

    >>> find_units("5ms or 5 seconds, 99.5 %, two GB")
    ['ms', '%', 's', 'two']
    """
    found = [unit for match in _UNIT.findall(text) if (unit := _name_unit(match)) is not None]
    return found + _QUANTITIES.find(text)


def _name_unit(text: str) -> str | None:
    if text in CASED_UNITS:
        return UNITS[text]
    if _UNSPACED.match(text):  # 分钟后: no space follows the unit
        text = next((text[:end] for end in range(len(text), 0, -1) if text[:end] in _CASELESS), text)
    if text in _CASELESS:
        return _CASELESS[text]
    return UNITS.get(text.lower())


def find_dates(text: str) -> list[str]:
    """Return months, days of the week and other times.

    >>> find_dates("On Friday 3 May at 5 pm UTC you may leave")
    ['day 5', 'month 5', 'pm', 'utc']
    """
    found = []
    for match in _WORD.finditer(text) if _DATES.find_places(_read_words(text)) else ():
        word = match[0].lower()
        mark = _DATES.find_mark(word)
        if mark is not None and (word not in BESIDE_DIGITS or _is_beside_digit(text, match)):
            found.append(mark)
    found += _DATES.find_unspaced(text)
    found += [f"{half.lower()}m" for half in _DAYTIME.findall(text)]
    return found + [zone.lower() for zone in _CAPITALS.findall(text) if zone in _ZONES]


def _is_beside_digit(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    return any(char.isdecimal() for char in text[max(start - 3, 0) : start] + text[end : end + 3])


def find_negations(text: str) -> list[str]:
    """Return every negation of ``text``, in order. Contractions are spelled out.

    >>> find_negations("It is not allowed. Don't ask; unsupported!")
    ['not', 'not', 'unsupported']
    """
    words = _read_words(text)
    places = _NEGATIONS.find_places(words)
    places = sorted({*places, *(i for i, word in enumerate(words) if word[:2] == "un")})
    found = [mark for place in places if (mark := _name_negation(words[place])) is not None]
    return found + _NEGATIONS.find_unspaced(text)


def _name_negation(word: str) -> str | None:
    if word[:2] == "un" and NEGATIVE_UN.fullmatch(word):
        return word
    return _NEGATIONS.find_mark(word)


def find_modals(text: str) -> list[str]:
    """Return what must, should or may be, and what only holds for something.

    >>> find_modals("You must not; you can; only admins need to")
    ['must', 'may', 'only', 'must']
    """
    return _MODALS.find(text)


def find_words(text: str) -> list[str]:
    """Return all words, in lower case, and what else has an opposite: two words, symbols.

    >>> find_words("Turned on if x > 5")
    ['turned', 'turned+on', 'on', 'if', 'x', '>']
    """
    found = []
    last = ""
    for word in _read_words(text):
        if f"{last}+{word}" in OPPOSITES:
            found.append(f"{last}+{word}")
        found.append(word)
        last = word
    found += _OPPOSITES.find_unspaced(text)
    if any(char in text for char in "<>=≤≥≠"):
        found += [_SYMBOLS.get(symbol, symbol) for symbol in _SYMBOL.findall(text)]
    return found


def name_sides(word: str) -> Sequence[str]:
    """Return which sides a word takes, of which pairs of opposites, as ``pair=side``.

    >>> name_sides("enabled"), name_sides("broker")
    (('enable=on',), ())
    """
    entry = _OPPOSITES.find_mark(word)
    return () if entry is None else OPPOSITES[entry]


def affirm(word: str) -> list[str]:
    """Return a word without the syllables that may deny it.

    >>> affirm("ineffective"), affirm("undisputed"), affirm("table")
    (['effective'], ['disputed'], [])
    """
    ends = range(1, min(_LONGEST_DENIAL, len(word) - _SHORT - 1) + 1)
    return [word[end:] for end in ends if word[:end] in DENYING]


def find_identifiers(text: str) -> list[str]:
    """Return names of code and of files, addresses, flags and abbreviations.

    >>> find_identifiers("Set `max_size` in /etc/app.conf or with --max-size; HTTP, getUser(), a@b.org.")
    ['max_size', '/etc/app.conf', '--max-size', 'http', 'getuser', 'a@b.org']
    """
    found = []
    for token in _TOKEN.findall(text):
        if len(token) > 1 and token.isalpha() and token.islower():
            continue  # most words, soon told
        if token[0] == ".":
            token = _HERE.sub("", token)
        token = token.strip(_EDGES)
        if _IDENTIFIER.search(token) is not None:
            token = token.replace("/#", "#")
            if token[0] == "-":
                token = _LONG_FLAG.sub("--", token)
            found.append(token if is_short_flag(token) else token.lower())
    if "`" not in text:
        return found
    return found + [token.lower() for token in _CODE.findall(text) if token.isalpha() or "-" in token]


def is_short_flag(word: str) -> bool:
    """Return whether upper and lower case of a word are different flags: ``-p`` and ``-P``."""
    return len(word) == 2 and word[0] == "-"


def find_names(text: str) -> list[str]:
    """Return capitalised words inside of sentences.

    >>> find_names("The office in Oslo opens. It is led by Ms. Berg")
    ['Oslo', 'Ms']
    """
    found, end = [], 0
    for match in _WORD.finditer(text):
        if end and match[0][0].isupper() and not _ENDS.search(text, end, match.start()):
            found.append(match[0])
        end = match.end()
    return found


@lru_cache(maxsize=8)
def _read_words(text: str) -> Sequence[str]:
    """Return the words of ``text`` in lower case, ``don't`` as ``do`` and ``not``.

    Several guards read the same text one after the other.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", cut_marks(text)).replace("’", "'")
    text = text.lower()
    words = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    if "'" not in text and "cannot" not in text:
        return words
    return [part for word in words for part in _spell_out(word)]


def _spell_out(word: str) -> tuple[str, ...]:
    """Return ``don't`` as ``do not`` and ``cannot`` as ``can not``."""
    if word == "cannot":
        return "can", "not"
    if "'" not in word:
        return (word,)
    if word.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(word[:-3], word[:-3])
        return stem, "not"
    head, _, tail = word.partition("'")  # l'eau, n'est, it's
    return ("ne" if head == "n" else head), tail


_CASELESS = {unit: mark for unit, mark in UNITS.items() if unit not in CASED_UNITS}
_QUANTITIES = Vocabulary({**UNIT_WORDS, **NUMERALS})
_DATES, _NEGATIONS, _MODALS = map(Vocabulary, (DATES, NEGATIONS, MODALS))
_OPPOSITES = Vocabulary({word: word for word in OPPOSITES})
