"""The comparator of numbers: equal or not, within tolerances, in decimal arithmetic as people write numbers."""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from calque.base.errors import ConfigError
from calque.comparators.base import BaseComparator, PairScores
from calque.comparators.written_numbers import Written, is_currency, written

if TYPE_CHECKING:
    from calque.base.columns import Codes, Flags, Floats

Number: TypeAlias = int | float | Decimal

_PLAIN = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_LENIENT = re.compile(
    r"(?P<before>\D*?)(?P<digits>(?:(?<![^\W\d_])\.)?\d(?:[\d.,'’`´·٬_\s]*\d)?)(?:[eE](?P<exponent>[+-]?\d+))?(?P<after>\D*)"
)
_HYPHENS = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_MARKS = re.compile(r"[^\d.]")
_DASHES = str.maketrans(dict.fromkeys("−–—‐‑﹣－", "-"))
_LONGEST = 400
"""Texts beyond this length are not numbers; Python takes quadratic time to read them."""


@dataclass(frozen=True)
class NumericComparator(BaseComparator):
    """1.0 for equal numbers, else 0.0. Words around a number and thousands separators do not count; "(5)" is -5.

    A text with letters between its digits, or with two numbers, is not a number; "$1e3" is 1000.

    ``relative_tolerance`` is a share of the truth. Sums are compared as decimals: 66.00 and 66.01 are 0.01 apart, not
    0.010000000000005.

    >>> NumericComparator().compare("$1,500.00", 1500), NumericComparator().compare("(5)", -5.0)
    (1.0, 1.0)
    >>> NumericComparator(absolute_tolerance=0.01).compare(66.00, 66.01)
    1.0
    >>> NumericComparator(decimal_comma=True).compare("1.500,25 €", 1500.25)
    1.0
    """

    name: ClassVar[str] = "numeric"

    relative_tolerance: float = 0.0
    absolute_tolerance: float = 0.0
    decimal_comma: bool = False
    tolerance: float | None = None
    """Another name for ``absolute_tolerance``."""
    strict: bool = False
    """Whether texts must be wholly numbers, in one currency; what is none, true and false too, is compared as text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance is not None:
            if self.absolute_tolerance != 0.0:
                raise ConfigError("numeric: give tolerance or absolute_tolerance, not both")
            object.__setattr__(self, "absolute_tolerance", self.tolerance)
            object.__setattr__(self, "tolerance", None)
        for name in ("relative_tolerance", "absolute_tolerance"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
                raise ConfigError(f"numeric: {name} must be a finite number from 0, not {value!r}")

    def prepare(self, value: Any) -> Number | Written | str | None:
        """The number that a value is or spells; ``None``, or in the strict manner its text, when there is none."""
        if isinstance(value, int | float) and not (self.strict and isinstance(value, bool)):
            return value if type(value) in (int, float, bool) else int(value) if isinstance(value, int) else float(value)
        text = str(value).strip()
        if self.strict:
            read = written(text, decimal_comma=self.decimal_comma)
            return text if read is None else read if read.unit else read.number
        if len(text) > _LONGEST:
            return None
        if self.decimal_comma:
            text = text.replace(".", "").replace(",", ".")
        elif _PLAIN.fullmatch(text):
            return Decimal(text)
        return _lenient(text)

    def prepare_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """The numbers of many values; floats, the usual case, are theirs already."""
        return values if _kinds(values) == {float} else super().prepare_all(values)

    def _compare(self, truth: Number | Written | str | None, found: Number | Written | str | None) -> float:
        if truth is None or found is None:
            return 0.0
        if isinstance(truth, str) or isinstance(found, str):
            return 1.0 if truth == found else 0.0
        if (isinstance(truth, Written) or isinstance(found, Written)) and not _written(truth).may_be(_written(found)):
            return 0.0
        return 1.0 if self._same(_number(truth), _number(found)) else 0.0

    def _same(self, truth: Number, found: Number) -> bool:
        if truth == found:
            return True
        if not (math.isfinite(_float(truth)) and math.isfinite(_float(found))):
            return False
        if not self.relative_tolerance and not self.absolute_tolerance:
            return _decimal(truth) == _decimal(found)
        expected, apart = _decimal(truth), abs(_decimal(truth) - _decimal(found))
        if self.relative_tolerance:
            if expected == 0:
                return apart <= self.relative_tolerance
            if apart / abs(expected) <= self.relative_tolerance:
                return True
        return apart <= self.absolute_tolerance

    def matrix(
        self, truths: Sequence[Number | Written | str | None], founds: Sequence[Number | Written | str | None]
    ) -> Floats:
        """All pairs: floats find the few that are near, decimals decide those."""
        import numpy as np

        if any(isinstance(value, str) for values in (truths, founds) for value in values):
            return super().matrix(truths, founds)

        if not self.relative_tolerance and not self.absolute_tolerance and _kinds(truths) | _kinds(founds) <= {float, int}:
            plain = _exact_floats(truths), _exact_floats(founds)
            if plain[0] is not None and plain[1] is not None:
                return np.asarray(plain[0][:, None] == plain[1][None, :], dtype=np.float64)
        rows, columns = _floats(truths), _floats(founds)
        near = self._are_near(rows[:, None], columns[None, :])
        scores = np.zeros(near.shape)
        for row, column in zip(*(where.tolist() for where in np.nonzero(near)), strict=True):
            scores[row, column] = self._compare(truths[row], founds[column])
        return scores

    def by_pairs(self, truths: Sequence[Any], founds: Sequence[Any]) -> Callable[[Codes, Codes], Floats]:
        """Chosen pairs: floats find the few that are near, decimals decide those."""
        exactly = not self.relative_tolerance and not self.absolute_tolerance
        if exactly and _kinds(truths) | _kinds(founds) <= {float, int}:
            first, second = _exact_floats(truths), _exact_floats(founds)
            if first is not None and second is not None:
                return PairScores((first, second))
        return self._near_pairs(truths, founds)

    def _near_pairs(self, truths: Sequence[Any], founds: Sequence[Any]) -> Callable[[Codes, Codes], Floats]:
        import numpy as np

        from calque.comparators.text import equal_pairs

        first, second = (_floats([None if isinstance(each, str) else each for each in side]) for side in (truths, founds))
        texts = [[each if isinstance(each, str) else None for each in side] for side in (truths, founds)]
        decide, same_text = super().by_pairs(truths, founds), equal_pairs(*texts)

        def scores(rows: Codes, columns: Codes) -> Floats:
            near = self._are_near(first[rows], second[columns])
            near |= (same_text(rows, columns) == 1) & np.isnan(first[rows])
            made = np.zeros(len(rows))
            made[near] = decide(rows[near], columns[near])
            return made

        return scores

    def _are_near(self, truths: Floats, founds: Floats) -> Flags:
        """Where numbers may be the same within the tolerances; arrays that go together."""
        import numpy as np

        size = np.abs(truths)
        with np.errstate(all="ignore"):
            reach = np.maximum(self.absolute_tolerance, self.relative_tolerance * np.where(truths == 0, 1.0, size))
            near = np.abs(truths - founds) <= reach * (1 + 1e-9) + 1e-12 * (size + np.abs(founds))
        return np.asarray(near | (np.isinf(truths) & np.isinf(founds)))


def _lenient(text: str) -> Decimal | None:
    """Return the one number in a text: other words may come before and after it, but not between its digits.

    >>> _lenient("$1e3"), _lenient("Rs.500"), _lenient("−5 EUR"), _lenient("5-"), _lenient("1O0"), _lenient("5–7")
    (Decimal('1E+3'), Decimal('500'), Decimal('-5'), Decimal('-5'), None, None)
    """
    read = _LENIENT.fullmatch(_HYPHENS.sub("", text.translate(_DASHES)))
    if read is None:
        return None
    before, after = read["before"], read["after"]
    if before.count("-") > 1 or after.lstrip()[1:].count("-") or after[:1].isnumeric():
        return None
    try:
        number = Decimal(f"{_MARKS.sub('', read['digits'])}e{read['exponent'] or 0}")
    except InvalidOperation:
        return None
    brackets = text.startswith("(") and text.endswith(")")
    inner = before.endswith("(") and after.startswith(")") and is_currency(before[:-1].strip())
    return -number if brackets or inner or "-" in before or after.lstrip().startswith("-") else number


def _decimal(number: Number) -> Decimal:
    if isinstance(number, Decimal):
        return number
    return Decimal(int(number)) if isinstance(number, bool) else Decimal(str(number))


def _written(value: Number | Written) -> Written:
    return value if isinstance(value, Written) else Written(_decimal(value))


def _number(value: Number | Written) -> Number:
    return value.number if isinstance(value, Written) else value


def _floats(numbers: Sequence[Any]) -> Floats:
    import numpy as np

    return np.array([math.nan if number is None else _float(_number(number)) for number in numbers], dtype=np.float64)


def _kinds(values: Sequence[Any]) -> set[type]:
    """The types of some values; an array of floats need not be looked through."""
    return {float} if isinstance(values, array) else set(map(type, values))


def _exact_floats(numbers: Sequence[Any]) -> Floats | None:
    """Numbers as floats, unless one of them would be rounded."""
    import numpy as np

    try:
        floats = np.array(numbers, dtype=np.float64)
    except OverflowError:
        return None
    if int not in _kinds(numbers):
        return floats
    whole = (number for number in numbers if type(number) is int)
    return floats if all(-(1 << 53) < number < 1 << 53 for number in whole) else None


def _float(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:  # integers of hundreds of digits
        return math.inf if number > 0 else -math.inf
