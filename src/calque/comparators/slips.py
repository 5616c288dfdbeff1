"""Slips of the pen: texts that have the same words but for a letter here and there, and the same numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calque.base.columns import Array, Flags, Floats, Ints

_NUMBER = r"(?:(?<!\S)[-−]|\((?=[\d.,]+\)))?\d+(?:[-−](?!\S))?"
"""Digits, with a minus sign before or behind, or with the bracket that stands for one."""
_DECIDING = re.compile(
    _NUMBER + r"|\b(?:not?|never|none|nor|neither|cannot|without|except|unless|nicht|kein\w*|nie|ohne|pas|sans|sin|nunca|non)\b"
    r"|n['’]t\b|‖[\w^]+"
)
"""Numbers, the small words that turn a sentence into its contrary, and the case of units where it decides (`units.marked`)."""
_WORDS = re.compile(_NUMBER + r"|[^\W\d_]+|[%‰°§$¢£¥€₹+<>=≤≥≠±×÷]")
"""Numbers, words, and the signs that mean as much as words do."""
LONG_CHARACTERS = 80
"""From here on a text is long, and a word more or less may be a matter of reading."""
OTHER_WORDS = 0.8
"""How alike short texts with other words are at most."""
SHORTEST_SLIP = 4
"""A word of fewer letters with another letter is another word."""
FEWEST_WORDS = 3
"""A text of fewer words may be somebody's name: John Smith is not Joan Smith."""


def numbers_in(text: str) -> tuple[str, ...]:
    """The runs of digits in a text in lower case, in their order, with the minus signs of numbers; and its negations.

    >>> numbers_in("net 30 days, 2 % off, inv-7 at -5"), numbers_in("it isn’t paid, nor due")
    (('30', '2', '7', '-5'), ("n't", 'nor'))
    """
    return tuple(each.replace("’", "'") for each in _DECIDING.findall(text))


def only_slips(truth: str, found: str) -> bool:
    """Whether two texts in lower case have the same words but for slips of the pen: one letter in a word of four or more.

    Of one word alone nobody can say whether it is a name or a code: it must be the same. Two words must be the same but for
    punctuation: they may be somebody's name. Long texts may differ in anything.

    >>> only_slips("acme corporation of ohio", "acme corporatoin of ohio"), only_slips("john smith", "joan smith")
    (True, False)
    >>> only_slips("acme corp. ltd", "acme corp ltd"), only_slips("deutdeffxxx", "deutdeffxxz")
    (True, False)
    >>> only_slips("not for sale to minors", "for sale to minors"), only_slips("a very typical case", "a very atypical case")
    (False, False)
    """
    if min(len(truth), len(found)) >= LONG_CHARACTERS:
        return True
    first, second = _WORDS.findall(truth), _WORDS.findall(found)
    if " " not in truth and " " not in found:
        return False
    if "".join(first) == "".join(second):
        return True  # but for blanks and punctuation
    return len(first) == len(second) >= FEWEST_WORDS and all(
        one == other or _is_slip(one, other) for one, other in zip(first, second, strict=True)
    )


def _is_slip(one: str, other: str) -> bool:
    if min(len(one), len(other)) < SHORTEST_SLIP or not (one.isalpha() and other.isalpha()):
        return False
    if one[1:] == other or one == other[1:]:
        return False  # typical and atypical
    from rapidfuzz.distance.OSA import distance

    return distance(one, other, score_cutoff=1) <= 1


class OtherWords:
    """Two lists of texts of which pairs are looked at, as often as needed: each text is taken apart once."""

    def __init__(self, truths: Sequence[str], founds: Sequence[str]) -> None:
        self._words: dict[str, int] = {}
        self._sides = _Parts(truths, self._words), _Parts(founds, self._words)

    def lowered(self, rows: Array, columns: Array, scores: Floats) -> Floats:
        """The scores of chosen pairs, lowered where `only_slips` says that texts differ in more than slips."""
        import numpy as np

        return np.where(self.slips(rows, columns), scores, OTHER_WORDS) if len(rows) else scores

    def slips(self, rows: Array, columns: Array) -> Flags:
        """What `only_slips` says of chosen pairs: words are compared by number, place by place."""
        import numpy as np

        from calque.base.columns import distinct

        first, second = self._sides
        first.look_at(rows)
        second.look_at(columns)
        slips: Flags = first.long[rows] & second.long[columns]
        several = first.several[rows] | second.several[columns]
        slips |= several & (first.joined[rows] == second.joined[columns])
        counts = first.counts[rows]
        waiting = np.flatnonzero(~slips & several & (counts == second.counts[columns]) & (counts >= FEWEST_WORDS))
        spelled = list(self._words)
        lengths = np.array(list(map(len, spelled)), dtype=np.int64)
        for place in range(int(counts[waiting].max(initial=0))):
            over = counts[waiting] <= place
            slips[waiting[over]] = True
            waiting = waiting[~over]
            one, other = first.words[rows[waiting], place], second.words[columns[waiting], place]
            fine = one == other
            may_be = np.flatnonzero(~fine & (np.abs(lengths[one] - lengths[other]) <= 1))
            pairs, which = distinct(one[may_be] * len(spelled) + other[may_be])
            judged = [_is_slip(*(spelled[number] for number in divmod(pair, len(spelled)))) for pair in pairs.tolist()]
            fine[may_be] = np.array(judged, dtype=np.bool_)[which]
            waiting = waiting[fine]
        slips[waiting] = True
        return slips


class _Parts:
    """What there is to know of some texts, as far as they were looked at."""

    def __init__(self, texts: Sequence[str], numbers: dict[str, int]) -> None:
        import numpy as np

        self._texts = texts
        self._numbers = numbers
        """Of words, and of texts without blanks and punctuation."""
        self.counts = np.full(len(texts), -1, dtype=np.int64)
        """How many words a text has; -1 as long as nobody looked at it."""
        self.words: Ints = np.zeros((len(texts), 0), dtype=np.int64)
        self.joined = np.zeros(len(texts), dtype=np.int64)
        self.long = np.zeros(len(texts), dtype=np.bool_)
        self.several = np.zeros(len(texts), dtype=np.bool_)

    def look_at(self, chosen: Array) -> None:
        """Take texts apart that were not yet."""
        import numpy as np

        new = np.flatnonzero((np.bincount(chosen, minlength=len(self._texts)) > 0) & (self.counts < 0)).tolist()
        split = [_WORDS.findall(self._texts[each]) for each in new]
        more = max(map(len, split), default=0) - self.words.shape[1]
        if more > 0:
            self.words = np.pad(self.words, ((0, 0), (0, more)))
        number = self._numbers.setdefault
        for text, words in zip(new, split, strict=True):
            self.counts[text] = len(words)
            self.words[text, : len(words)] = [number(word, len(self._numbers)) for word in words]
            self.joined[text] = number("".join(words), len(self._numbers))
            self.long[text] = len(self._texts[text]) >= LONG_CHARACTERS
            self.several[text] = " " in self._texts[text]
