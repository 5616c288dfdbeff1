"""Clean-up of characters: normal forms, ligatures, dashes, quotes, invisible characters, words split at line ends."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, cast

FOLDS: dict[str, dict[int, str]] = {
    "ligatures": {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ſt", 0xFB06: "st"},
    "long_s": {ord("ſ"): "s"},
    "dashes": dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"),
    "quotes": {**dict.fromkeys(map(ord, "‘’‚‛"), "'"), **dict.fromkeys(map(ord, "“”„‟"), '"')},
}
"""What each fold turns into what; applied in this order."""

SOFT_HYPHEN = "\u00ad"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
NORMAL_FORMS = ("NFC", "NFD", "NFKC", "NFKD", "none")

_AT_LINE_END = re.compile(r"(?<=\w)[-\u2010\u00ad][ \t]*\r?\n[ \t]*(?=\w)")
_EMPTY_PARENTHESES = re.compile(r"\((?:[\s,;]|and\b)*\)")


def normalized(text: str, form: str) -> str:
    """The text in a Unicode normal form."""
    if form == "none" or text.isascii():
        return text
    return unicodedata.normalize(cast("Literal['NFC', 'NFD', 'NFKC', 'NFKD']", form), text)


def folded(text: str, folds: tuple[str, ...]) -> tuple[str, dict[str, int]]:
    r"""The text with kinds of characters made plain, and how many of each were.

    >>> folded("di\ufb03cult “flow”", ("quotes", "ligatures"))
    ('difficult "flow"', {'ligatures': 1, 'quotes': 2})
    """
    counted: dict[str, int] = {}
    for name, table in FOLDS.items():
        if name in folds and not text.isascii():
            count = sum(text.count(chr(code)) for code in table)
            if count:
                counted[name] = count
                text = text.translate(table)
    return text, counted


def dehyphenated(text: str) -> tuple[str, int]:
    r"""The text with words joined that a hyphen and a line break split, and how many were.

    >>> dehyphenated("evalu-\nation of well-known")
    ('evaluation of well-known', 1)
    """
    return _AT_LINE_END.subn("", text)


def without(text: str, characters: str) -> tuple[str, int]:
    """The text without these characters, and how many there were."""
    if text.isascii():
        return text, 0
    count = sum(text.count(char) for char in characters)
    return (text.translate(dict.fromkeys(map(ord, characters))), count) if count else (text, 0)


def without_empty_parentheses(text: str) -> tuple[str, int]:
    """The text without parentheses that hold nothing but commas, semicolons and "and", and how many there were.

    >>> without_empty_parentheses("as shown ( , ; and ) by others (see)")
    ('as shown  by others (see)', 1)
    """
    return _EMPTY_PARENTHESES.subn("", text)
