"""Characters as people count them: the text that is compared letter by letter, and grapheme clusters (UAX #29)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Codes, Ints

if TYPE_CHECKING:
    from calque.words.text.prepare import Sides

UNITS = ("code-points", "graphemes")
SEPARATORS = ("space", "lines")


def character_edits(sides: Sides, partners: Codes, unit: str, separators: str) -> Ints:
    """For each document the characters of both sides, and the edits between them."""
    from rapidfuzz.distance import Levenshtein

    rows = []
    for row, (begin, end) in enumerate(pairwise(sides.truth_offsets.tolist())):
        mine, other = (compared(text, separators) for text in sides.texts(row))
        if unit == "graphemes":
            ours, theirs = graphemes(mine), graphemes(other)
            rows.append((len(ours), len(theirs), Levenshtein.distance(ours, theirs)))
            continue
        codes = sides.truth_word[begin:end][partners[begin:end] >= 0]
        matched = sum(len(sides.vocabulary[code]) for code in codes.tolist())
        # Taking out and putting in all that is not matched is one way, so that no more edits than this are needed.
        bound = len(mine) + len(other) - 2 * matched
        rows.append((len(mine), len(other), Levenshtein.distance(mine, other, score_cutoff=bound)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def compared(text: str, separators: str) -> str:
    r"""The text as it is compared: white space is one space, or a line break is a character of its own.

    >>> compared("a  b \n c", "space"), compared("a  b \n c", "lines")
    ('a b c', 'a  b \n c')
    """
    return " ".join(text.split()) if separators == "space" else text


def graphemes(text: str) -> Sequence[str]:
    r"""Return the grapheme clusters of a text: a letter with its marks, a syllable, a flag, a line end.

    >>> graphemes("a\u0364b\r\n")
    ['aͤ', 'b', '\r\n']
    """
    return text if text.isascii() and "\r" not in text else _clusters()(text)


@cache
def _clusters() -> Callable[[str], list[str]]:
    import regex

    split: Callable[[str], list[str]] = regex.compile(r"\X").findall
    return split
