"""Text to words: white space, words and punctuation, or the word boundaries of Unicode (UAX #29).

Private-use characters are letters: fonts for old prints put letters there, and nothing else stands in texts.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import cache

from calque.base.arguments import check_type
from calque.base.errors import ConfigError, did_you_mean

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


def tokenize(text: str, tokenizer: str = "whitespace") -> list[str]:
    """Split a text into words.

    Args:
        text: The text.
        tokenizer: ``"whitespace"``, ``"words-and-punctuation"``, ``"uax29"``, ``"uax29-words"`` or ``"none"``.

    Returns:
        The words.

    Raises:
        ConfigError: The tokenizer is unknown.

    >>> tokenize("can't pay $3.50, well-known")
    ["can't", 'pay', '$3.50,', 'well-known']
    >>> tokenize("can't pay $3.50, well-known", "words-and-punctuation")
    ['can', "'", 't', 'pay', '$', '3', '.', '50', ',', 'well', '-', 'known']
    >>> tokenize("can't pay $3.50, well-known", "uax29")
    ["can't", 'pay', '$', '3.50', ',', 'well', '-', 'known']
    >>> tokenize("can't pay $3.50, well-known", "uax29-words")
    ["can't", 'pay', '3.50', 'well', 'known']
    """
    check_type("tokenize", "text", text, str, "a text")
    check_type("tokenize", "tokenizer", tokenizer, str, "a text")
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


@cache
def _unicode_segments() -> Callable[[str], list[str]]:
    r"""Return the function that splits a text at the default word boundaries of UAX #29.

    The pattern spells out the rules WB3 to WB16 over the character classes of the `regex` library. Its own boundaries
    (``\b`` with ``regex.WORD``) deviate from these rules at apostrophes before vowels, single flag letters and format
    characters.
    """
    import regex

    def any_of(*classes: str) -> str:
        return "[" + "".join(rf"\p{{Word_Break={name}}}" for name in classes) + "]"

    mark = any_of("Extend", "Format", "ZWJ")
    hebrew, quote = any_of("Hebrew_Letter"), any_of("Single_Quote")
    letter = rf"[{any_of('ALetter', 'Hebrew_Letter')}\p{{Co}}]"  # private-use characters are letters

    def marked(pattern: str) -> str:
        return rf"{pattern}{mark}*+"

    inside_word, inside_number = any_of("MidLetter", "MidNumLet", "Single_Quote"), any_of("MidNum", "MidNumLet", "Single_Quote")
    letters = rf"{marked(letter)}(?:{marked(inside_word)}(?={letter}))?+"
    quoted = rf"{marked(hebrew)}{marked(any_of('Double_Quote'))}(?={hebrew})"
    numbers = rf"{marked(any_of('Numeric'))}(?:{marked(inside_number)}(?={any_of('Numeric')}))?+"
    run = rf"(?:(?:{quoted}|{letters}|{numbers})++|(?:{marked(any_of('Katakana'))})++)"
    connector = rf"(?:{marked(any_of('ExtendNumLet'))})"
    word = rf"(?:{connector}*+{run}(?:{connector}++{run})*+{connector}*+|{connector}++)"
    word += rf"(?:(?<={hebrew}{mark}*){marked(quote)})?+"
    spaces, flag = rf"{any_of('WSegSpace')}++{mark}*+", marked(any_of("Regional_Indicator"))
    line_end = rf"\r\n|[\r\n{any_of('Newline')}]"
    segment = rf"(?:{word}|{spaces}|{flag}(?:{flag})?+|{line_end}|{marked('.')})"
    joined = rf"{segment}(?:(?<={any_of('ZWJ')})(?=\p{{Extended_Pictographic}}){segment})*+"  # emoji sequences
    split: Callable[[str], list[str]] = regex.compile(joined, regex.V1 | regex.DOTALL).findall
    return split


def _uax29(text: str) -> list[str]:
    return [segment for segment in _unicode_segments()(text) if not segment.isspace()]


def _uax29_words(text: str) -> list[str]:
    """Without what holds no letter or digit: punctuation, symbols and marks alone."""
    return [word for word in _uax29(text) if not all(map(_without_content, word))]


@cache
def _without_content(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "MPZS" or category in ("Cc", "Cf")


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "whitespace": str.split,
    "words-and-punctuation": _words_and_punctuation,
    "uax29": _uax29,
    "uax29-words": _uax29_words,
    "none": str.split,  # only lists and tables hold words as they are given
}
