"""Characters made alike on both sides: Unicode normal forms, folds of characters that look the same, one blank for many."""

from __future__ import annotations

import unicodedata
from typing import Literal, cast

FOLDS: dict[str, dict[int, str]] = {
    "ligatures": {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ſt", 0xFB06: "st"},
    "long_s": {ord("ſ"): "s"},
    "dashes": dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"),
    "quotes": {**dict.fromkeys(map(ord, "‘’‚‛"), "'"), **dict.fromkeys(map(ord, "“”„‟"), '"')},
}
"""What each fold turns into what; applied in this order."""


NORMAL_FORMS = ("NFC", "NFD", "NFKC", "NFKD", "none")


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


def squeezed(text: str) -> str:
    r"""The text with one blank for each run of white space, and none at its ends.

    >>> squeezed(" a\u00a0 b\n")
    'a b'
    """
    return " ".join(text.split())
