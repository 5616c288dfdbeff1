"""Comparators of text: edit distance, equality, equality after clean-up, fuzzy ratios."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.errors import ConfigError
from calque.comparators.base import BaseComparator, PairScores
from calque.comparators.slips import OTHER_WORDS, OtherWords, numbers_in, only_slips
from calque.comparators.units import marked

if TYPE_CHECKING:
    from calque.base.columns import Array, Codes, Floats, Ints, Strings
    from calque.kernels.structs import TextPoints


@dataclass(frozen=True)
class LevenshteinComparator(BaseComparator):
    """One minus the edit distance over the longer length, after case and blanks are evened out.

    >>> LevenshteinComparator().compare("Acme  Corp", "acme corp.")
    0.9
    """

    name: ClassVar[str] = "levenshtein"

    normalize: bool = True
    same_numbers: bool = False
    """Whether texts with other numbers or negations in them have nothing in common: "Main Street 5" is not "Main Street 6"."""
    same_words: bool = False
    """The same, and short texts with other words in them are never more than 0.8 alike: "Category A" is not "Category B"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.same_numbers and self.same_words:
            raise ConfigError("levenshtein: same_words asks for the same numbers, too; leave same_numbers out")

    def prepare(self, value: Any) -> str:
        """Stripped, in lower case, with single blanks."""
        text = str(value)
        if self.same_numbers or self.same_words:
            text = marked(unicodedata.normalize("NFC", text))
        return " ".join(text.lower().split()) if self.normalize else text

    def prepare_all(self, values: Sequence[Any]) -> Sequence[str]:
        """The texts of many values."""
        from calque.base.columns import Strings

        if isinstance(values, Strings) and not self.same_numbers and not self.same_words:
            even = _evened_out_together(values) if self.normalize else values
            if even is not None:
                return even
        texts = list(map(str, values))
        if self.same_numbers or self.same_words:
            texts = [marked(text if text.isascii() else unicodedata.normalize("NFC", text)) for text in texts]
        return evened_out(texts) if self.normalize else texts

    def _compare(self, truth: str, found: str) -> float:
        if truth == found:
            return 1.0
        if (self.same_numbers or self.same_words) and numbers_in(truth) != numbers_in(found):
            return 0.0
        from rapidfuzz.distance.Levenshtein import normalized_similarity

        score = normalized_similarity(truth, found)
        return score if not self.same_words or score <= OTHER_WORDS or only_slips(truth, found) else OTHER_WORDS

    def matrix(self, truths: Sequence[str], founds: Sequence[str]) -> Floats:
        """All edit distances in one call."""
        from rapidfuzz.distance.Levenshtein import normalized_similarity

        scores = bulk(truths, founds, normalized_similarity, 1.0)
        if self.same_numbers or self.same_words:
            scores *= equality([numbers_in(truth) for truth in truths], [numbers_in(found) for found in founds])
        if self.same_words:
            rows, columns = ((scores > OTHER_WORDS) & (scores < 1)).nonzero()
            scores[rows, columns] = OtherWords(truths, founds).lowered(rows, columns, scores[rows, columns])
        return scores

    def by_pairs(self, truths: Sequence[str], founds: Sequence[str]) -> Callable[[Codes, Codes], Floats]:
        """Edit distances of the compiled kernel, as shares of the longer length."""
        numbers = self.same_numbers or self.same_words
        same = equal_pairs(list(map(numbers_in, truths)), list(map(numbers_in, founds))).keys if numbers else None
        plain = PairScores(same, points(truths, founds), len(truths))
        if not self.same_words:
            return plain
        words = OtherWords(truths, founds)

        def scores(rows: Codes, columns: Codes) -> Floats:
            made = plain(rows, columns)
            near = ((made > OTHER_WORDS) & (made < 1)).nonzero()[0]
            made[near] = words.lowered(rows[near], columns[near], made[near])
            return made

        return scores


_SEPARATOR = "\0"
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f"


def evened_out(texts: list[str]) -> list[str]:
    """Texts in lower case with single blanks, as `LevenshteinComparator` compares them.

    >>> evened_out([" Acme  CORP", "Ünder"])
    ['acme corp', 'ünder']
    """
    whole = _SEPARATOR.join(texts)
    plain = whole.isascii() and whole.count(_SEPARATOR) == len(texts) - 1 and not any(blank in whole for blank in _BLANKS)
    # Most texts are even but for their case, which is changed for all in one go.
    padded = f"{_SEPARATOR}{whole}{_SEPARATOR}"
    if plain and not any(odd in padded for odd in ("  ", _SEPARATOR + " ", " " + _SEPARATOR)):
        return whole.lower().split(_SEPARATOR)
    return [" ".join(text.lower().split()) for text in texts]


def _evened_out_together(texts: Strings) -> Strings | None:
    """The same for packed texts; nothing where one of them is more than ASCII, or has to be looked at because of its blanks."""
    starts, ends = texts.offsets[:-1], texts.offsets[1:]
    blank = texts.data <= ord(" ")
    if not texts.is_ascii() or (starts == ends).any() or (texts.data < ord(" ")).any() or (blank[1:] & blank[:-1]).any():
        return None
    return None if blank[starts].any() or blank[ends - 1].any() else texts.lowered()


def bulk(truths: Sequence[str], founds: Sequence[str], scorer: Callable[..., float], best: float) -> Floats:
    """A rapidfuzz scorer for every pair, as shares of its best score."""
    import numpy as np
    from rapidfuzz.process import cdist

    if not truths or not founds:
        return np.zeros((len(truths), len(founds)))
    scores = cdist(truths, founds, scorer=scorer, dtype=np.float64)
    return np.asarray(scores if best == 1.0 else scores / best)


_HYPHENS = "-\u2010\u2011\u2012\u2013\u2212"
_PARTING = dict.fromkeys(map(ord, f" \t\u00a0\u2009\u202f()./{_HYPHENS}"))
"""What parts groups of an identifier: blanks, brackets, points, strokes and hyphens."""


def _ungrouped(text: str) -> str:
    """The text without what parts groups; a minus sign, or the brackets that stand for one, part nothing."""
    negative = text[:1] in (*_HYPHENS,) or text[-1:] in (*_HYPHENS,) or (text[:1] == "(" and text[-1:] == ")")
    return "-" * negative + text.translate(_PARTING)


@dataclass(frozen=True)
class _Equality(BaseComparator):
    """1.0 for values that are prepared to the same text, else 0.0."""

    def _compare(self, truth: str, found: str) -> float:
        return 1.0 if truth == found else 0.0

    def matrix(self, truths: Sequence[str], founds: Sequence[str]) -> Floats:
        """Equality of every pair, by number: equal texts share one."""
        return equality(truths, founds)

    def by_pairs(self, truths: Sequence[str], founds: Sequence[str]) -> PairScores:
        """Equality of chosen pairs, by number."""
        return equal_pairs(truths, founds)


@dataclass(frozen=True)
class ExactComparator(_Equality):
    """1.0 for values with the same text, else 0.0. Case and every blank count.

    >>> ExactComparator().compare("INV-1", "inv-1"), ExactComparator(case_sensitive=False).compare("INV-1", "inv-1")
    (0.0, 1.0)
    """

    name: ClassVar[str] = "exact"

    case_sensitive: bool = True
    trim: bool = False
    """Whether blanks around a text do not count, nor how its accents are encoded (Unicode NFC)."""
    ungrouped: bool = False
    """Whether it does not count how groups of characters are parted: DE89 3704 is DE893704, (555) 010-0199 is 555.010.0199."""

    def prepare(self, value: Any) -> str:
        """The text, without what does not count."""
        text = unicodedata.normalize("NFC", str(value).strip()) if self.trim else str(value)
        if self.ungrouped:
            text = _ungrouped(text)
        return text if self.case_sensitive else text.casefold()

    def prepare_all(self, values: Sequence[Any]) -> Sequence[str]:
        """The texts of many values."""
        plain = self.case_sensitive and not self.trim and not self.ungrouped
        return list(map(str, values)) if plain else super().prepare_all(values)


def equality(truths: Sequence[Any], founds: Sequence[Any]) -> Floats:
    """1.0 where two hashable values are equal."""
    import numpy as np

    rows, columns = _numbered(truths, founds)
    return np.asarray(rows[:, None] == columns[None, :], dtype=np.float64)


def equal_pairs(truths: Sequence[Any], founds: Sequence[Any]) -> PairScores:
    """The same for chosen pairs, by the numbers of the values."""
    import numpy as np

    first, second = (numbers.astype(np.float64) for numbers in _numbered(truths, founds))
    return PairScores((first, second))


def _numbered(truths: Sequence[Any], founds: Sequence[Any]) -> tuple[Ints, Ints]:
    """A number for each value, the same for equal ones."""
    import numpy as np

    numbers: dict[Any, int] = {}
    rows = np.array([numbers.setdefault(value, len(numbers)) for value in truths], dtype=np.int64)
    columns = np.array([numbers.setdefault(value, len(numbers)) for value in founds], dtype=np.int64)
    return rows, columns


def points(*sides: Sequence[str]) -> TextPoints:
    """The characters of texts, one side after the other, as the kernels take them."""
    import numpy as np

    from calque.kernels.structs import TextPoints

    characters, lengths = zip(*map(_characters, sides), strict=True)
    return TextPoints(np.concatenate(characters, dtype=np.int32), np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64))


def _characters(texts: Sequence[str]) -> tuple[Array, Ints]:
    """The characters of texts as numbers, and how many each has."""
    import numpy as np

    from calque.base.columns import Strings

    if isinstance(texts, Strings) and texts.is_ascii():
        return texts.data, np.diff(texts.offsets)
    # Lone surrogates are legal in JSON.
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, dtype="<i4"), np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


@dataclass(frozen=True)
class NormalizedComparator(_Equality):
    """1.0 for texts that are equal once case, blanks and punctuation are taken away (after Unicode NFC).

    >>> NormalizedComparator().compare("St. Mary's", "st marys")
    1.0
    """

    name: ClassVar[str] = "normalized"

    case_sensitive: bool = False
    ignore_whitespace: bool = True
    ignore_punctuation: bool = True

    def prepare(self, value: Any) -> str:
        """The text with only what counts."""
        text = unicodedata.normalize("NFC", str(value))
        text = text if self.case_sensitive else text.casefold()
        return "".join(char for char in text if not self._dropped(char))

    def _dropped(self, char: str) -> bool:
        if char.isspace():
            return self.ignore_whitespace
        return self.ignore_punctuation and unicodedata.category(char).startswith("P")


@dataclass(frozen=True)
class FuzzyComparator(BaseComparator):
    """A fuzzy ratio of rapidfuzz: ``ratio``, ``partial_ratio``, ``token_sort_ratio`` or ``token_set_ratio``.

    >>> FuzzyComparator(method="token_sort_ratio").compare("Acme Corp Ltd", "ltd acme corp")
    1.0
    """

    name: ClassVar[str] = "fuzzy"

    method: Literal["ratio", "partial_ratio", "token_sort_ratio", "token_set_ratio"] = "ratio"
    normalize: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        methods = ("ratio", "partial_ratio", "token_sort_ratio", "token_set_ratio")
        if self.method not in methods:
            raise ConfigError(f"fuzzy: method must be one of {', '.join(methods)}, not {self.method!r}")

    def prepare(self, value: Any) -> str:
        """Stripped and in lower case."""
        return str(value).strip().lower() if self.normalize else str(value)

    def _compare(self, truth: str, found: str) -> float:
        # rapidfuzz rates two empty texts 0 for token ratios; here they are the same text.
        return 1.0 if truth == found else self._scorer()(truth, found) / 100.0

    def matrix(self, truths: Sequence[str], founds: Sequence[str]) -> Floats:
        """All ratios in one call."""
        scores = bulk(truths, founds, self._scorer(), 100.0)
        if "" in truths and "" in founds:
            scores[equality(truths, founds) == 1] = 1.0
        return scores

    def _scorer(self) -> Callable[..., float]:
        from rapidfuzz import fuzz

        scorer: Callable[..., float] = getattr(fuzz, self.method)
        return scorer
