"""Comparators against independent computations and the words of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque.base.errors import ConfigError
from calque.comparators import (
    ANLSComparator,
    ANLSStarComparator,
    BaseComparator,
    BBoxIoUComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    IgnoreComparator,
    LevenshteinComparator,
    NormalizedComparator,
    NumericComparator,
    OneOfComparator,
    PhoneComparator,
    register_comparator,
)
from calque.comparators.base import comparator, describe

EVERY = (
    LevenshteinComparator(), ExactComparator(), NormalizedComparator(), NumericComparator(), FuzzyComparator(),
    DateComparator(), PhoneComparator(), ANLSComparator(), ANLSStarComparator(), BBoxIoUComparator(), OneOfComparator(),
    IgnoreComparator(),
)  # fmt: skip


def edit_distance(a: str, b: str) -> int:
    """The textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_absent_values(each: BaseComparator) -> None:
    assert each.compare(None, None) == 1.0
    assert each.compare(None, "x") == each.compare("x", None) == 0.0
    assert each(None, None) == 1.0


texts = st.text("ab cÄé.,", max_size=8)


@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4))
def test_levenshtein_is_one_minus_distance_over_length(left: list[str], right: list[str]) -> None:
    each = LevenshteinComparator()
    a, b = [" ".join(text.lower().split()) for text in left], [" ".join(text.lower().split()) for text in right]
    expected = [[1 - edit_distance(x, y) / max(len(x), len(y), 1) for y in b] for x in a]
    assert each.matrix([each.prepare(x) for x in left], [each.prepare(y) for y in right]) == pytest.approx(np.array(expected))
    assert [[each.compare(x, y) for y in right] for x in left] == [pytest.approx(row) for row in expected]


values = st.one_of(texts, st.integers(-3, 3), st.floats(-2, 2), st.sampled_from(["(5)", "$1,500.00", "1e3", "2024-01-02", "x"]))


OTHERWISE = (
    LevenshteinComparator(normalize=False), NormalizedComparator(case_sensitive=True), FuzzyComparator(method="partial_ratio"),
    NumericComparator(absolute_tolerance=0.5), NumericComparator(relative_tolerance=0.25),
)  # fmt: skip


@pytest.mark.parametrize("each", [*EVERY[:6], *EVERY[7:8], *OTHERWISE], ids=repr)
@given(st.lists(values, min_size=1, max_size=4), st.lists(values, min_size=1, max_size=4))
@example([1, 0.1, "0.10000000000000000000001"], [1.0, 0.1, 2, "x"])
@example([1, 2**53 + 1], [2**53, 1.0])
def test_matrices_and_pairs_say_what_single_comparisons_say(
    each: BaseComparator, left: list[object], right: list[object]
) -> None:
    prepared = [each.prepare(value) for value in left], [each.prepare(value) for value in right]
    expected = [[each.compare(a, b) for b in right] for a in left]
    assert each.matrix(*prepared).tolist() == expected
    rows, columns = (part.ravel().astype(np.int32) for part in np.indices((len(left), len(right))))
    assert each.by_pairs(*prepared)(rows, columns).reshape(len(left), -1).tolist() == expected


@pytest.mark.parametrize(
    "each", [FuzzyComparator(method=name) for name in ("ratio", "token_set_ratio", "partial_ratio")], ids=repr
)
def test_fuzzy_matrices_with_empty_texts(each: FuzzyComparator) -> None:
    assert each.matrix(["", "a b"], ["", "b a"]).tolist() == [[each.compare(a, b) for b in ("", "b a")] for a in ("", "a b")]
    assert each.matrix([], ["a"]).shape == (0, 1)


@pytest.mark.parametrize(
    ("truth", "found", "options", "score"),
    [
        (66.00, 66.01, {"absolute_tolerance": 0.01}, 1.0),
        (66.00, 66.011, {"absolute_tolerance": 0.01}, 0.0),
        (100, 105, {"relative_tolerance": 0.05}, 1.0),
        (105, 100, {"relative_tolerance": 0.0476}, 0.0),
        (0, 0.04, {"relative_tolerance": 0.05}, 1.0),
        (0, 0.06, {"relative_tolerance": 0.05, "absolute_tolerance": 1}, 0.0),
        ("$1,500.00", 1500, {}, 1.0),
        ("(5)", -5, {}, 1.0),
        ("1.500,25 €", 1500.25, {"decimal_comma": True}, 1.0),
        ("1e3", 1000, {}, 1.0),
        ("n/a", "n/a", {}, 0.0),
        (float("nan"), float("nan"), {}, 0.0),
        (float("inf"), float("inf"), {"absolute_tolerance": 1}, 1.0),
        (float("inf"), 5, {"absolute_tolerance": 1}, 0.0),
        (10**400, 10**400, {}, 1.0),
        (10**400, -(10**400), {}, 0.0),
        (True, 1, {}, 1.0),
        (True, 3, {"absolute_tolerance": 2}, 1.0),
        (Decimal("0.1"), 0.1, {}, 1.0),
        ("9" * 500, 1, {}, 0.0),
        (1, 1.5, {"tolerance": 0.5}, 1.0),
    ],
)
def test_numbers(truth: object, found: object, options: dict[str, float], score: float) -> None:
    each = NumericComparator(**options)  # type: ignore[arg-type]
    assert each.compare(truth, found) == score
    assert each.matrix([each.prepare(truth)], [each.prepare(found)]).tolist() == [[score]]


@pytest.mark.parametrize(
    ("truth", "found", "options", "score"),
    [
        ("2024-03-05", "March 5, 2024", {}, 1.0),
        ("01/02/2024", "2024-02-01", {}, 1.0),
        ("01/02/2024", "2024-02-01", {"dayfirst": False}, 0.0),
        ("Jan 2024", "1 Jan 2024", {}, 0.0),
        ("Jan 2024", "January 2024", {}, 1.0),
        ("11/03", "11/03/2012", {}, 0.0),
        ("11/03", "11/03/2012", {"allow_partial_year": True}, 0.7),
        ("soon", "soon", {}, 0.0),
        ("2024-13-45", "2024-13-45", {}, 0.0),
        ("", "2024-01-01", {}, 0.0),
        ("2024-01-01 to 2024-01-10", "2024-01-06 to 2024-01-10", {}, 0.5),
        ("2024-01-01 to 2024-01-10", "2024-01-06 to 2024-01-10", {"range_mode": "strict"}, 0.0),
        ("2024-01-01 to 2024-01-10", "2024-01-05", {}, 0.5),
        ("2024-01-01 to 2024-01-10", "2024-01-05", {"range_mode": "contains"}, 1.0),
        ("2024-01-01 to 2024-01-10", "2024-01-05", {"range_mode": "strict"}, 0.0),
        ("2024-01-01 to 2024-01-10", "2024-02-05", {}, 0.0),
        ("2024-01-01 to 2024-01-01", "2024-01-01", {}, 1.0),
        ("2024-01-10 to 2024-01-01", "2024-01-10", {}, 0.0),
        ("2024-01-01 to Feb 2024", "2024-01-01 to 2024-02-05", {}, 0.0),
        ("-2024", "2024", {}, 0.0),
        ("2024-03-05", "2024-03-07", {"tolerance": 2}, 1.0),
        ("2024-03-05", "2024-03-08", {"tolerance": timedelta(days=2)}, 0.0),
        ("2024-03-05T10:00", "2024-03-05T23:00", {"tolerance": 0.25}, 0.0),
        ("2024-03-05T10:00Z", "2024-03-05T12:00+02:00", {"tolerance": 0.01}, 1.0),
        ("2024-03-05T10:00Z", "2024-03-05 10:00", {}, 1.0),
        ("2024-03-05 10:00", "2024-03-05T10:00Z", {}, 1.0),
        ("2024", "2025", {}, 0.0),
        ("March", "April", {}, 0.0),
        (date(2024, 3, 5), "2024-03-05", {}, 1.0),
        (datetime(2024, 3, 5, 7), "5.3.2024", {"dayfirst": True}, 1.0),
        ("x" * 300, "2024-01-01", {}, 0.0),
    ],
)
def test_dates(truth: object, found: object, options: dict[str, object], score: float) -> None:
    assert DateComparator(**options).compare(truth, found) == score  # type: ignore[arg-type]


def test_phones() -> None:
    each = PhoneComparator()
    assert each.compare("206-555-0100", "+1 (206) 555-0100") == 1.0
    assert each.compare("+12065550100x89", "+12065550100x90") == 0.0
    assert each.compare("n/a", "n/a") == 1.0
    assert each.compare("0000000000", "n/a") == 0.0
    assert PhoneComparator(region="GB").compare("+44 20 7183 8750", "02071838750") == 1.0


def test_trees() -> None:
    each = ANLSStarComparator()
    assert each.compare({"a": "x"}, {"a": "x"}) == 1.0
    assert each.compare({"a": "x", "b": "y"}, {"a": "x"}) == 0.5
    assert each.compare({"a": None}, {"a": ""}) == 1.0
    assert each.compare({"a": None}, {"a": "made up"}) == 0.0
    assert each.compare([("new york", "nyc")], ["NYC"]) == 1.0
    assert each.compare(["a"], "a") == 0.0  # a list is no text
    assert each.compare({"a": "x"}, "x") == 0.0
    assert each.compare("x", {"a": "x"}) == 0.0
    assert each.compare({}, {}) == 1.0


def test_choices() -> None:
    assert OneOfComparator(inner=ExactComparator()).compare(["a", "b"], "b") == 1.0
    assert OneOfComparator().compare("b", "b") == 1.0
    assert OneOfComparator().compare([], "b") == 0.0
    assert OneOfComparator(inner=NumericComparator()).params() == {"inner": {"comparator": "numeric"}}
    assert IgnoreComparator().compare("a", "b") == 1.0


def test_thresholds_of_comparators() -> None:
    assert LevenshteinComparator(threshold=0.8).binary_compare("acme", "acne") == (0, 1)
    assert LevenshteinComparator().binary_compare("acme", "acne") == (1, 0)
    with pytest.raises(ConfigError, match="from 0 to 1"):
        ExactComparator(threshold=2)


@dataclass(frozen=True)
class Shout(BaseComparator):
    """Case must agree."""

    def _compare(self, truth: object, found: object) -> float:
        return float(str(truth).isupper() == str(found).isupper())


def test_registered_comparators() -> None:
    register_comparator("shout", Shout)
    register_comparator("longer", lambda truth, found: float(len(found) > len(truth)))
    assert comparator("shout").compare("A", "B") == 1.0
    assert comparator("longer", threshold=0.5).compare("A", "BB") == 1.0
    assert describe(comparator("longer")) == {"comparator": "longer"}
    assert describe(Shout()) == {"comparator": "shout"}
    assert describe(NumericComparator(tolerance=1)) == {"comparator": "numeric", "params": {"absolute_tolerance": 1}}
    assert comparator("one_of", {"inner": "exact"}) == comparator("one_of", {"inner": {"comparator": "exact"}})
    assert comparator("LevenshteinComparator") == LevenshteinComparator()

    @dataclass(frozen=True)
    class Local(Shout):
        """Known once it is described."""

    assert isinstance(comparator(describe(Local())["comparator"]), Local)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: comparator("levenstein"), "did you mean 'levenshtein'"),
        (lambda: comparator("numeric", {"tolerence": 1}), "did you mean 'tolerance'"),
        (lambda: comparator("numeric", {"absolute_tolerance": -1}), "from 0"),
        (lambda: comparator("numeric", {"absolute_tolerance": 1, "tolerance": 1}), "not both"),
        (lambda: comparator("fuzzy", {"method": "fast"}), "method must be one of"),
        (lambda: comparator("date", {"tolerance": -1}), "days from 0"),
        (lambda: comparator("date", {"range_mode": "odd"}), "range_mode"),
        (lambda: comparator("phone", {"region": "UK"}), "such as US or GB"),
        (lambda: register_comparator("exact", Shout), "cannot be replaced"),
    ],
)
def test_mistakes_are_told(make: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()  # type: ignore[operator]


def test_only_functions_and_classes_can_be_registered() -> None:
    with pytest.raises(TypeError):
        register_comparator("odd", 3)  # type: ignore[type-var]


def test_similarities_are_numbers_though_a_comparator_of_one_s_own_says_yes_or_no() -> None:
    @dataclass(frozen=True)
    class Same(BaseComparator):
        name: ClassVar[str] = "same"

        def _compare(self, truth: Any, found: Any) -> float:
            return bool(truth == found)

    every = np.array([0, 1], dtype=np.int32)
    for scores in (Same().matrix(["a", "b"], ["a", "c"]), Same().by_pairs(["a", "b"], ["a", "c"])(every, every)):
        assert scores.dtype == np.float64
        assert scores.sum() == 1.0
