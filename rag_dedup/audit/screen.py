"""What may be shown on a terminal: no control sequences of the corpus, no secrets of its URLs."""

from __future__ import annotations

import re

__all__ = ["escape_control", "mask_secrets", "show"]

_USERINFO = re.compile(r"(://)[^/?#\s@]{1,256}@")
_SECRET = re.compile(
    r"([?&;#](?:[\w.-]{0,40}[_.-])?(?:token|key|apikey|secret|password|passwd|pwd|signature|sig|auth|"
    r"credential|session|sessionid|sid|jsessionid|phpsessid|jwt|code)=)[^?&;#\s]{1,4096}",
    re.I,
)


# Format characters that scripts need to join or part letters; they steer nothing.
_JOINERS = frozenset("\u200c\u200d")


def escape_control(text: str) -> str:
    r"""Return ``text`` with all that steers a terminal, or is not seen on one, written out.

    Controls and escape sequences, what reorders text (UAX 9), separators, lone surrogates.

    >>> escape_control("a\x1b[2Jb\u202e")
    'a\\x1b[2Jb\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in _JOINERS else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def mask_secrets(text: str) -> str:
    """Return ``text`` without the credentials and tokens of the URLs in it.

    >>> mask_secrets("https://me:pw@example.com/a?access_token=1234&page=2")
    'https://***@example.com/a?access_token=***&page=2'
    """
    return _SECRET.sub(r"\1***", _USERINFO.sub(r"\1***@", text))


def show(text: str) -> str:
    """Return ``text`` as one line that may be shown.

    >>> show("a\\n  b")
    'a b'
    """
    return escape_control(mask_secrets(" ".join(text.split())))
