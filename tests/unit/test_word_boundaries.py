"""Word boundaries (`uax29`) and grapheme clusters against the rules of UAX #29, written out one by one."""

from __future__ import annotations

from itertools import pairwise

import regex
from hypothesis import given
from hypothesis import strategies as st

from calque.words.text.characters import graphemes
from calque.words.text.tokenizers import tokenize

CLASSES = (
    "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Regional_Indicator", "Katakana", "Hebrew_Letter", "ALetter",
    "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum", "Numeric", "ExtendNumLet", "WSegSpace",
)  # fmt: skip
LINE_ENDS, MARKS, LETTERS = ("CR", "LF", "Newline"), ("Extend", "Format", "ZWJ"), ("ALetter", "Hebrew_Letter")
QUOTES = ("MidNumLet", "Single_Quote")
CHARACTERS = "\r\n\u0085\u0301\u200d\u00ad\u2060🇩🇪カト" + "טש\"'’.:,;1٣_ \u3000aeob漢ไ👩👍🏽ⓂéA·״-$"


def word_break(character: str) -> str:
    return next((name for name in CLASSES if regex.match(rf"\p{{Word_Break={name}}}", character)), "Other")


class Rules:
    """The rules of UAX #29, section 4.1, for one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.classes = [word_break(character) for character in text]

    def neighbor(self, place: int, step: int) -> int:
        """Return the next place in a direction that is no mark."""
        place += step
        while 0 <= place < len(self.text) and self.classes[place] in MARKS:
            place += step
        return place

    def at(self, place: int) -> str:
        return self.classes[place] if 0 <= place < len(self.text) else ""

    def breaks(self, place: int) -> bool:
        """Return whether there is a boundary before a place."""
        before, here = self.classes[place - 1], self.classes[place]
        if before in LINE_ENDS or here in LINE_ENDS:
            return not (before == "CR" and here == "LF")  # WB3, WB3a, WB3b
        if before == "ZWJ" and regex.match(r"\p{Extended_Pictographic}", self.text[place]):
            return False  # WB3c
        if before == here == "WSegSpace" or here in MARKS:
            return False  # WB3d, WB4
        left = self.neighbor(place, -1)
        return not self.joined(self.at(self.neighbor(left, -1)), left, here, self.at(self.neighbor(place, 1)))

    def joined(self, second: str, left: int, here: str, after: str) -> bool:
        first = self.at(left)
        words = (*LETTERS, "Numeric", "Katakana", "ExtendNumLet")
        return (
            (first in LETTERS and here in LETTERS)  # WB5
            or (first in LETTERS and here in ("MidLetter", *QUOTES) and after in LETTERS)  # WB6
            or (second in LETTERS and first in ("MidLetter", *QUOTES) and here in LETTERS)  # WB7
            or (first == "Hebrew_Letter" and here == "Single_Quote")  # WB7a
            or (first == after == "Hebrew_Letter" and here == "Double_Quote")  # WB7b
            or (second == here == "Hebrew_Letter" and first == "Double_Quote")  # WB7c
            or (first in ("Numeric", *LETTERS) and here == "Numeric")  # WB8, WB9
            or (first == "Numeric" and here in LETTERS)  # WB10
            or (second == here == "Numeric" and first in ("MidNum", *QUOTES))  # WB11
            or (first == after == "Numeric" and here in ("MidNum", *QUOTES))  # WB12
            or (first == here == "Katakana")  # WB13
            or (first in words and here == "ExtendNumLet")  # WB13a
            or (first == "ExtendNumLet" and here in words[:-1])  # WB13b
            or (first == here == "Regional_Indicator" and self.flags_until(left) % 2 == 1)  # WB15, WB16
        )

    def flags_until(self, place: int) -> int:
        count = 0
        while self.at(place) == "Regional_Indicator":
            count, place = count + 1, self.neighbor(place, -1)
        return count

    def words(self) -> list[str]:
        cuts = [0, *(place for place in range(1, len(self.text)) if self.breaks(place)), len(self.text)]
        parts = (self.text[begin:end] for begin, end in pairwise(cuts))
        return [part for part in parts if part and not part.isspace()]


@given(st.text(st.sampled_from(CHARACTERS), max_size=9))
def test_uax29_of_any_text_follows_the_rules(text: str) -> None:
    assert tokenize(text, "uax29") == Rules(text).words()


@given(st.text(max_size=12))
def test_uax29_of_any_characters_follows_the_rules(text: str) -> None:
    plain = regex.sub(r"\p{Co}", "x", text)
    assert tokenize(plain, "uax29") == Rules(plain).words()


def test_uax29_of_flags_emoji_and_gershayim_keeps_them_whole() -> None:
    assert tokenize("🇩🇪🇫🇷", "uax29") == ["🇩🇪", "🇫🇷"]
    assert tokenize("👩‍👩‍👧 👍🏽", "uax29") == ["👩‍👩‍👧", "👍🏽"]
    assert tokenize("ש\"ב צ'", "uax29") == ['ש"ב', "צ'"]


def test_uax29_of_an_apostrophe_before_a_vowel_is_a_word_of_its_own() -> None:
    assert tokenize("{'iou': l'été}", "uax29") == ["{", "'", "iou", "'", ":", "l'été", "}"]


def test_uax29_of_private_use_characters_takes_them_for_letters() -> None:
    assert tokenize("\ue000\ue001a \U000f0000b.\ue002", "uax29") == ["\ue000\ue001a", "\U000f0000b.\ue002"]


def test_graphemes_of_emoji_flags_and_syllables_are_single_characters() -> None:
    assert list(graphemes("👩‍👩‍👧🇩🇪🇫🇷각a\u0301")) == ["👩‍👩‍👧", "🇩🇪", "🇫🇷", "각", "a\u0301"]
