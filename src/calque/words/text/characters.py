"""Characters as people count them: the text that is compared letter by letter, and grapheme clusters (UAX #29)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calque.core.columns import Codes, Ints

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


# Extended grapheme clusters. Each character has a class; a cluster ends between two characters unless a rule joins them.

_CONTROL, _EXTEND, _JOINER, _SPACING, _PREPEND, _L, _V, _T, _LV, _LVT, _REGIONAL, _PICTURE, _CR, _LF, _ANY = range(15)
_PREPENDED = frozenset(
    {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x0D4E, 0x110BD, 0x110CD, 0x111C2, 0x111C3}
)
_NOT_SPACING = frozenset({
    0x102B, 0x102C, 0x1038, *range(0x1062, 0x1065), *range(0x1067, 0x106E), 0x1083, *range(0x1087, 0x108D), 0x108F,
    *range(0x109A, 0x109D), 0x1A61, 0x1A63, 0x1A64, 0xAA7B, 0xAA7D, 0x11720, 0x11721,
})  # fmt: skip
_EXTENDING = frozenset(
    {0x09BE, 0x09D7, 0x0B3E, 0x0B57, 0x0BBE, 0x0BD7, 0x0CC2, 0x0CD5, 0x0CD6, 0x0D3E, 0x0D57, 0x0DCF, 0x0DDF, 0x1B35}
)
_ALONE = dict.fromkeys(_PREPENDED, _PREPEND) | {0x200D: _JOINER, 0x200C: _EXTEND, 0x0E33: _SPACING, 0x0EB3: _SPACING}
_PICTURES = (
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328), (0x2388, 0x2388), (0x23CF, 0x23CF),
    (0x23E9, 0x23F3), (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0),
    (0x25FB, 0x25FE), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712),
    (0x2714, 0x2714), (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2934, 0x2935),
    (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030), (0x303D, 0x303D),
    (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1F0FF), (0x1F10D, 0x1F10F), (0x1F12F, 0x1F12F), (0x1F16C, 0x1F171),
    (0x1F17E, 0x1F17F), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F1AD, 0x1F1E5), (0x1F201, 0x1F20F),
    (0x1F21A, 0x1F21A), (0x1F22F, 0x1F22F), (0x1F232, 0x1F23A), (0x1F23C, 0x1F23F), (0x1F249, 0x1F3FA),
    (0x1F400, 0x1F53D), (0x1F546, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F774, 0x1F77F), (0x1F7D5, 0x1F7FF),
    (0x1F80C, 0x1F80F), (0x1F848, 0x1F84F), (0x1F85A, 0x1F85F), (0x1F888, 0x1F88F), (0x1F8AE, 0x1F8FF),
    (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1FAFF), (0x1FC00, 0x1FFFD),
)  # fmt: skip


def graphemes(text: str) -> Sequence[str]:
    r"""The clusters of a text: a letter with its marks, a syllable, a flag, a line end.

    >>> graphemes("a\u0364b\r\n")
    ['aͤ', 'b', '\r\n']
    """
    if text.isascii() and "\r" not in text:
        return text
    clusters: list[str] = []
    begin, regional, pictured = 0, 0, False
    last = _class_of(text[0]) if text else _ANY
    for place in range(1, len(text) + 1):
        here = _class_of(text[place]) if place < len(text) else _CONTROL
        if last == _REGIONAL:
            regional += 1
        pictured = last == _PICTURE or (pictured and last in (_EXTEND, _JOINER))
        joined = place < len(text) and (
            _joined(last, here)
            or (pictured and last == _JOINER and here == _PICTURE)
            or (last == here == _REGIONAL and regional % 2 == 1)
        )
        if not joined:
            clusters.append(text[begin:place])
            begin = place
        if here != _REGIONAL:
            regional = 0
        last = here
    return clusters if clusters != [""] else []


def _joined(last: int, here: int) -> bool:
    """Rules GB3 to GB9b."""
    if last == _CR and here == _LF:
        return True
    if last in (_CONTROL, _CR, _LF) or here in (_CONTROL, _CR, _LF):
        return False
    if here in (_EXTEND, _JOINER, _SPACING) or last == _PREPEND:
        return True
    return (
        (last == _L and here in (_L, _V, _LV, _LVT))
        or (last in (_LV, _V) and here in (_V, _T))
        or (last in (_LVT, _T) and here == _T)
    )


@cache
def _class_of(char: str) -> int:
    code, category = ord(char), unicodedata.category(char)
    if char in "\r\n":
        return _CR if char == "\r" else _LF
    special = _special_class(code)
    if special is not None:
        return special
    if category in ("Mn", "Me"):
        return _EXTEND
    if category == "Mc":
        return _EXTEND if code in _EXTENDING else _ANY if code in _NOT_SPACING else _SPACING
    return _CONTROL if category in ("Cc", "Cf", "Zl", "Zp", "Cs") else _ANY


def _special_class(code: int) -> int | None:
    """The class of characters that their category does not tell."""
    if code in _ALONE:
        return _ALONE[code]
    if 0xFF9E <= code <= 0xFF9F or 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return _EXTEND
    if 0x1F1E6 <= code <= 0x1F1FF:
        return _REGIONAL
    if any(first <= code <= last for first, last in _PICTURES):
        return _PICTURE
    return _syllable_class(code)


def _syllable_class(code: int) -> int | None:
    """Hangul: parts of syllables, and whole ones with or without a final consonant."""
    if 0xAC00 <= code <= 0xD7A3:
        return _LV if (code - 0xAC00) % 28 == 0 else _LVT
    ranges = {
        _L: ((0x1100, 0x115F), (0xA960, 0xA97C)),
        _V: ((0x1160, 0x11A7), (0xD7B0, 0xD7C6)),
        _T: ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB)),
    }
    return next((kind for kind, spans in ranges.items() if any(a <= code <= b for a, b in spans)), None)
