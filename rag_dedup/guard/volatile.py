"""What may differ and says nothing: when a page was changed, markup, tracking parameters, slips."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_dedup.guard.marks import CJK
from rag_dedup.guard.words import DATES
from rag_dedup.url import canonicalize_url

__all__ = ["LAST_UPDATED", "REQUEST_IDS", "VIEW_COUNTERS", "forgive"]

# A time is one that has digits, the name of a month or a day, or a small word between such.
_TIME = (
    r"(?:[^\s\d]{0,12}\d\S{0,30}|(?:"
    + "|".join(
        sorted((re.escape(word) for word in DATES if word.isalpha()), key=lambda word: (-len(word), word))
    )
    + r"|on|at|am|le|el|il|em|de|del|of|den|der|à|a|um|op|på|na|dne|v|pada|ngày|r|roku|г|года|року|the|"
    r"utc|gmt|[ap]m|est|pst|cet|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|ago|just|now|th|st|nd|rd)\b[.,]?)"
)

LAST_UPDATED = re.compile(
    r"(?:\b(?:last|recently)[ \t]{1,3}(?:updated?|modified|edited|reviewed|changed|published|generated|"
    r"revised|built|modification|revision|review|change|edit)\b"
    r"|\b(?:date|time)[ \t](?:updated|modified|edited|published|changed)\b"
    r"|^[^\w\n]{0,10}(?:updated|modified|edited|reviewed|published|generated|revised|stand)"
    r"(?:[ \t]{0,3}(?::|on\b|at\b|vom\b)|(?=[ \t]{1,3}[\w ]{1,20}[ \t]ago\b))"
    r"|\b(?:zuletzt|letzte)[ \t]{1,3}(?:aktualisiert|geändert|bearbeitet|aktualisierung|änderung)\b"
    r"|\bdernière[ \t]{1,3}(?:mise[ \t]{1,3}à[ \t]{1,3}jour|modification)\b|\bmis[ \t]{1,3}à[ \t]{1,3}jour\b"
    r"|\búltima[ \t]{1,3}(?:actualización|modificación|atualização|modificação)\b"
    r"|\bactualizado\b|\batualizado\b"
    r"|\bultim[oa][ \t]{1,3}(?:aggiornamento|modifica)\b|\baggiornato\b"
    r"|\blaatst[ \t]{1,3}(?:bijgewerkt|gewijzigd)\b|\bsenast[ \t]{1,3}(?:uppdaterad|ändrad)\b"
    r"|\bsist[ \t]{1,3}(?:oppdatert|endret)\b|\bsidst[ \t]{1,3}(?:opdateret|ændret)\b"
    r"|\bostatnia[ \t]{1,3}(?:aktualizacja|modyfikacja)\b|\bпоследнее[ \t]{1,3}(?:обновление|изменение)\b"
    r"|\bобновлено\b"
    r"|\bостаннє[ \t]{1,3}оновлення\b|\bson[ \t]{1,3}güncelleme\b|\bآخر[ \t]{1,3}تحديث\b"
    r"|\bcập[ \t]{1,3}nhật[ \t]{1,3}lần[ \t]{1,3}cuối\b|\bterakhir[ \t]{1,3}diperbarui\b"
    r"|最后更新|最近更新|更新于|更新时间|最後更新|最終更新|更新日"
    r"|마지막[ ]?업데이트|최종[ ]?수정|최근[ ]?업데이트)"
    r"[ \t]{0,3}(?:[:：\-–—][ \t]{0,3})?"
    r"(?:(?:by|von|par|por|da|door)[ \t](?:[^\W\d_][\w.'’-]{0,30},?[ \t]){1,3})?(?:"
    + _TIME
    + r"[ \t]{0,3}){1,10}",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines such as ``Last updated: 3 May 2026``, in many languages. Guards forgive them."""

_STEMS = tuple(
    """
    updat modif edit review chang publish generat revis built stand aktualis bearbeit änder jour actualiz
    atualiz aggiorna bijgewerkt gewijzigd uppdatera ändra oppdater endre opdater ændre aktualizac modyfikac
    изменени обновлен оновлен güncelle تحديث nhật diperbarui 更新 업데이트 수정
    """.split()
)
"""One of these is in all that ``LAST_UPDATED`` matches; to look for them first takes a tenth of the time."""

VIEW_COUNTERS = re.compile(
    r"\b\d[\d.,]{0,12}[ \t]?[km]?[ \t]{1,3}(?:page[ \t])?(?:views?|visits?|visitors?|reads)\b"
    r"|\b(?:page[ \t]|total[ \t])?(?:views?|visits?|visitors?|hits|viewed|read)[ \t]{0,3}:?[ \t]{0,3}"
    r"\d[\d.,]{0,12}[ \t]?[km]?(?:[ \t]times)?\b",
    re.IGNORECASE,
)
"""``1,204 views``, ``Visits: 17``; to be declared with :func:`ignore_volatile`."""

REQUEST_IDS = re.compile(
    r"\b(?:request|trace|correlation|session|build|ray)[ \t_-]?id[ \t]{0,3}[:=]?[ \t]{0,3}[\w-]{4,64}",
    re.IGNORECASE,
)
"""``Request ID: 7f3a-11``; to be declared with :func:`ignore_volatile`."""

# Tags and targets of links that name no number; a number in them can be what differs, so that only tags
# without attributes may have one.
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,20}[ ]?/?>|</?[a-zA-Z][^<>\d]{0,2000}>")
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,500})\]\([^()\s\d]{0,2000}(?:[ \t]\"[^\"\n\d]{0,200}\")?\)")
_TARGET = re.compile(r"(\[[^\[\]]{1,500}\](?:\(|:[ \t]))((?:https?://[^\s/()]{1,253}/)?)([^\s()]{1,2000})")
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]+", re.IGNORECASE)
_WORD = re.compile(rf"(?:(?![{CJK}])[^\W\d_]){{5,}}")
_REAL = frozenset({"expect", "expects", "expected", "excepted"})
"""Words that look like a slip of another one that they are not."""
_LONGEST = 24


def forgive(here: str, there: str, patterns: Sequence[re.Pattern[str]]) -> tuple[str, str]:
    """Return two texts without what may differ.

    >>> forgive("Last updated 3 May. See https://a.org/b?ref=x", "See https://a.org/b", (LAST_UPDATED,))
    ('See https://a.org/b', 'See https://a.org/b')
    """
    for pattern in patterns:
        here, there = _remove(pattern, here), _remove(pattern, there)
    if "<" in here or "<" in there:
        here, there = _TAG.sub(" ", here), _TAG.sub(" ", there)
    if (_LINK.search(here) is None) != (_LINK.search(there) is None):
        here, there = _LINK.sub(r"\1", here), _LINK.sub(r"\1", there)
    else:
        here, there = _TARGET.sub(_drop_folders, here), _TARGET.sub(_drop_folders, there)
    return _name_pages(here), _correct(_name_pages(there), here)


def _remove(pattern: re.Pattern[str], text: str) -> str:
    if pattern is not LAST_UPDATED:
        return pattern.sub("", text)
    lowered = text.lower()
    stems = [stem for stem in _STEMS if stem in lowered]
    if not stems:
        return text
    return "\n".join(
        pattern.sub("", line) if any(stem in line.lower() for stem in stems) else line
        for line in text.split("\n")
    )


def _name_pages(text: str) -> str:
    """Return a text in which URLs are those of their pages."""
    return _URL.sub(_name_page, text) if "://" in text else text


def _drop_folders(match: re.Match[str]) -> str:
    """Return a link to a page wherever on its site it is: pages move. Folders with numbers stay."""
    before, site, path = match.groups()
    *folders, page = path.replace("/#", "#").rstrip("/").split("/")
    kept = [folder for folder in folders if any(char.isdigit() for char in folder)]
    return before + site + "/".join([*kept, page])


def _name_page(match: re.Match[str]) -> str:
    url = match[0].rstrip(".,;:!?")
    return canonicalize_url(url) + match[0][len(url) :]


def _correct(text: str, other: str) -> str:
    """Return a text in which words that look like slips of words of the other are these."""
    known, mine = set(_WORD.findall(other.lower())), set(_WORD.findall(text.lower()))
    lost = {word for word in known - mine - _REAL if len(word) <= _LONGEST}
    shortened = {short: word for word in sorted(lost) for short in _drop_letters(word)}
    slips = {}
    for word in mine - known - _REAL:
        if len(word) <= _LONGEST:
            near = (*_swap_letters(word), *_drop_letters(word))
            right = shortened.get(word) or next((other for other in near if other in lost), None)
            if right is not None:
                slips[word] = right
    if not slips:
        return text
    return _WORD.sub(lambda match: slips.get(match[0].lower(), match[0]), text)


def _drop_letters(word: str) -> list[str]:
    """Return a word without one letter; few people get the first one wrong."""
    return [word[:i] + word[i + 1 :] for i in range(1, len(word))]


def _swap_letters(word: str) -> list[str]:
    return [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1)]
