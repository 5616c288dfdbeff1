"""Text to words: white space, words and punctuation, or the word boundaries of Unicode (UAX #29).

Private-use characters are letters: fonts for old prints put letters there, and nothing else stands in texts.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import cache

from calque.core.arguments import names_arguments
from calque.core.errors import ConfigError, did_you_mean

ALIASES = {
    "whitespace": "whitespace",
    "words-and-punctuation": "words-and-punctuation",
    "words_and_punctuation": "words-and-punctuation",
    "punctuation": "words-and-punctuation",
    "uax29": "uax29",
    "uax-29": "uax29",
    "uax_29": "uax29",
    "uax29-words": "uax29-words",
    "none": "none",
}
TOKENIZERS = ("whitespace", "words-and-punctuation", "uax29", "uax29-words", "none")


def tokenizer_name(name: str) -> str:
    """The tokenizer that is meant.

    >>> tokenizer_name("UAX-29")
    'uax29'
    """
    known = ALIASES.get(name.lower())
    if known is None:
        hint = did_you_mean(name, TOKENIZERS) or f"it can be {', '.join(TOKENIZERS)}"
        raise ConfigError(f"there is no tokenizer {name!r}; {hint}")
    return known


@names_arguments
def tokenize(text: str, tokenizer: str = "whitespace") -> list[str]:
    """The words of a text.

    >>> tokenize("can't pay $3.50, well-known")
    ["can't", 'pay', '$3.50,', 'well-known']
    >>> tokenize("can't pay $3.50, well-known", "words-and-punctuation")
    ['can', "'", 't', 'pay', '$', '3', '.', '50', ',', 'well', '-', 'known']
    >>> tokenize("can't pay $3.50, well-known", "uax29")
    ["can't", 'pay', '$', '3.50', ',', 'well', '-', 'known']
    >>> tokenize("can't pay $3.50, well-known", "uax29-words")
    ["can't", 'pay', '3.50', 'well', 'known']
    """
    return _SPLITTERS[tokenizer_name(tokenizer)](text)


def _words_and_punctuation(text: str) -> list[str]:
    pattern = _ASCII_WORDS if text.isascii() else _unicode_words()
    return pattern.findall(text)


_ASCII_WORDS = re.compile(r"\w+|[^\w\s]")


@cache
def _unicode_words() -> re.Pattern[str]:
    r"""As for ASCII, with combining marks part of the word: ``\w`` leaves them out."""
    marks = "".join(re.escape(chr(code)) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M")
    private = "\ue000-\uf8ff"
    return re.compile(rf"[\w{marks}{private}]+|[^\w\s{marks}{private}]")


# UAX #29. Each character has a class; a boundary stands between two characters unless a rule joins them.

_MID_LETTER = frozenset(":··՟״‧︓﹕:")
_MID_NUMBER = frozenset(",;;։،؍٬߸⁄︐︔﹐﹔,;")
_MID_BOTH = frozenset(".‘’․﹒'.'")
_LETTER, _NUMBER, _CONNECT, _KATAKANA, _EXTEND, _SPACE, _OTHER = range(7)


@cache
def _class_of(char: str) -> int:
    category = unicodedata.category(char)
    if category[0] == "M" or category == "Cf":
        return _EXTEND
    if char.isspace():
        return _SPACE
    if category == "Co":
        return _LETTER
    if category[0] == "L" or category == "Nl":
        return _class_of_letter(unicodedata.name(char, ""))
    return {"Nd": _NUMBER, "Pc": _CONNECT}.get(category, _OTHER)


def _class_of_letter(name: str) -> int:
    if "KATAKANA" in name:
        return _KATAKANA
    # Scripts without spaces between words have no boundaries of their own here: each character stands alone.
    alone = name.startswith(("CJK ", "HIRAGANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI "))
    return _OTHER if alone else _LETTER


def _uax29(text: str) -> list[str]:
    words: list[str] = []
    at = 0
    while at < len(text):
        end = _word_end(text, at)
        if not text[at:end].isspace():
            words.append(text[at:end])
        at = end
    return words


def _uax29_words(text: str) -> list[str]:
    """Without what holds no letter or digit: punctuation, symbols and marks alone."""
    return [word for word in _uax29(text) if not all(map(_without_content, word))]


@cache
def _without_content(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "MPZS" or category in ("Cc", "Cf")


def _word_end(text: str, begin: int) -> int:
    """Where the segment that begins here ends."""
    last = _class_of(text[begin])
    at = _skip_marks(text, begin + 1)
    while at < len(text):
        here = _class_of(text[at])
        if _joined(last, here):
            last = here
            at = _skip_marks(text, at + 1)
            continue
        after = _skip_marks(text, at + 1)
        if after < len(text) and _bridged(last, text[at], _class_of(text[after])):
            last = _class_of(text[after])
            at = _skip_marks(text, after + 1)
            continue
        break
    return at


def _skip_marks(text: str, at: int) -> int:
    while at < len(text) and _class_of(text[at]) == _EXTEND:
        at += 1
    return at


def _joined(last: int, here: int) -> bool:
    """Rules WB5, WB8 to WB10 and WB13."""
    if last in (_LETTER, _NUMBER) and here in (_LETTER, _NUMBER):
        return True
    if last == here == _KATAKANA:
        return True
    return (here == _CONNECT and last in (_LETTER, _NUMBER, _KATAKANA, _CONNECT)) or (
        last == _CONNECT and here in (_LETTER, _NUMBER, _KATAKANA)
    )


def _bridged(last: int, between: str, after: int) -> bool:
    """Rules WB6, WB7, WB11 and WB12: an apostrophe between letters, a point between digits."""
    if last == after == _LETTER:
        return between in _MID_LETTER or between in _MID_BOTH
    return last == after == _NUMBER and (between in _MID_NUMBER or between in _MID_BOTH)


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "whitespace": str.split,
    "words-and-punctuation": _words_and_punctuation,
    "uax29": _uax29,
    "uax29-words": _uax29_words,
    "none": str.split,  # only lists and tables hold words as they are given
}
