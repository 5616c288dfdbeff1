"""ANLS and ANLS*: edit similarity that is nothing below one half, for texts and for whole trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calque.base.errors import ConfigError
from calque.comparators.base import BaseComparator
from calque.comparators.numeric import NumericComparator
from calque.comparators.text import LevenshteinComparator

_EDITS = LevenshteinComparator()
_SLIPS = LevenshteinComparator(same_words=True)
_NUMBERS = NumericComparator(strict=True)
LEAST = 0.5
"""From here on, unless somebody says otherwise, texts have something in common."""
SAME_TEXT = 0.9
"""From here on two texts are the same but for slips."""


@dataclass(frozen=True)
class ANLSComparator(BaseComparator):
    """Average normalised Levenshtein similarity: the edit similarity, or 0.0 where it is below ``floor``.

    >>> ANLSComparator().compare("Acme Corp", "Acme Corp."), ANLSComparator().compare("Acme Corp", "Globex")
    (0.9, 0.0)
    """

    name: ClassVar[str] = "anls"

    floor: float = LEAST

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_floor(self)

    def prepare(self, value: Any) -> str:
        """Stripped, in lower case, with single blanks."""
        return _EDITS.prepare(value)

    def _compare(self, truth: str, found: str) -> float:
        score = _EDITS._compare(truth, found)
        return score if score >= self.floor else 0.0


@dataclass(frozen=True)
class ANLSStarComparator(BaseComparator):
    """ANLS for trees: objects by key, lists by the best pairing, texts by ANLS; the share of what could be right.

    A tuple in the truth lists accepted alternatives; an empty one is no value, as ``None``. A list, an object and a text have
    nothing in common.

    >>> ANLSStarComparator().compare({"a": "x", "b": ["y", "z"]}, {"a": "x", "b": ["z"]})
    0.6666666666666666
    """

    name: ClassVar[str] = "anls_star"

    floor: float = LEAST
    strict: bool = False
    """Whether a leaf is right or wrong: numbers must be equal, and texts the same but for slips."""
    leaf_threshold: float | None = None
    """Another name for ``floor``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.leaf_threshold is not None:
            if self.floor != LEAST:
                raise ConfigError("anls_star: floor and leaf_threshold are two names of one thing; give one of them")
            object.__setattr__(self, "floor", self.leaf_threshold)
            object.__setattr__(self, "leaf_threshold", None)
        _check_floor(self)
        if self.strict and self.floor != LEAST:
            raise ConfigError("anls_star: with strict a leaf is right or wrong; floor (or leaf_threshold) decides nothing")

    def _compare(self, truth: Any, found: Any) -> float:
        right, possible = self._tree(truth, found)
        return right / possible if possible else 1.0

    def _tree(self, truth: Any, found: Any) -> tuple[float, float]:
        """How much is right, of how much: a leaf counts 1."""
        truth, found = _plain(truth), _plain(found)
        if isinstance(truth, tuple):
            return max((self._tree(accepted, found) for accepted in truth), key=lambda score: score[0] / (score[1] or 1))
        if _shape(truth) is not _shape(found) and truth not in (None, "") and found not in (None, ""):
            return 0.0, float(max(_size(truth), _size(found), 1))
        if isinstance(truth, Mapping):
            return self._mappings(truth, found if isinstance(found, Mapping) else {})
        if isinstance(truth, list):
            return self._lists(truth, found if isinstance(found, list) else [])
        if truth is None or truth == "":
            return (1.0, 1.0) if found is None or found == "" else (0.0, float(_size(found)))
        leaf = _same_leaf if self.strict else ANLSComparator(floor=self.floor).compare
        return float(leaf(truth, found)), 1.0

    def _mappings(self, truth: Mapping[Any, Any], found: Mapping[Any, Any]) -> tuple[float, float]:
        scores = [self._tree(truth.get(key), found.get(key)) for key in {**truth, **found}]
        return sum(right for right, _ in scores), sum(possible for _, possible in scores)

    def _lists(self, truth: list[Any], found: list[Any]) -> tuple[float, float]:
        import numpy as np

        from calque.kernels.assignment import assign

        scores = [[self._tree(expected, other) for other in found] for expected in truth]
        shares = np.array([[right / (possible or 1) for right, possible in row] for row in scores]).reshape(
            len(truth), len(found)
        )
        pairs = list(zip(*(index.tolist() for index in assign(shares)), strict=True))
        right = sum(scores[row][column][0] for row, column in pairs)
        possible = sum(scores[row][column][1] for row, column in pairs)
        alone = [truth[row] for row in range(len(truth)) if row not in {pair[0] for pair in pairs}]
        alone += [found[column] for column in range(len(found)) if column not in {pair[1] for pair in pairs}]
        return right, possible + sum(_size(item) for item in alone)


def _plain(value: Any) -> Any:
    """Return a NumPy value as Python's own, and an empty tuple as no value; anything else as it is."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    return None if value == () else value


def _check_floor(made: ANLSComparator | ANLSStarComparator) -> None:
    floor = made.floor
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1:
        raise ConfigError(f"{made.name}: floor must be a number from 0 to 1, not {floor!r}")


def _same_leaf(truth: Any, found: Any) -> bool:
    """Whether two leaves are the same: numbers and truth values to the last digit, texts but for slips."""
    if isinstance(truth, str) and isinstance(found, str):
        return _SLIPS.compare(truth, found) >= SAME_TEXT
    return _NUMBERS.compare(truth, found) == 1.0


def _shape(tree: Any) -> type:
    """Whether something is an object, a list or a leaf; those have nothing in common."""
    return dict if isinstance(tree, Mapping) else list if isinstance(tree, list) else str


def _size(tree: Any) -> int:
    """The number of leaves."""
    tree = _plain(tree)
    if isinstance(tree, Mapping):
        return sum(_size(value) for value in tree.values())
    if isinstance(tree, list):
        return sum(_size(value) for value in tree)
    return 0 if tree is None or tree == "" else 1
