"""Comparators given values that are not plain JSON: a similarity from 0 to 1, never a crash."""

import datetime
import decimal
import itertools
import math

import numpy as np
import pytest

from calque.comparators import ANLSStarComparator, NumericComparator, OneOfComparator
from calque.comparators.base import BUILT_IN, comparator

VALUES = [
    None, (), ("a",), ((), "a"), set(), {1, 2}, frozenset([1]), [], {}, [1, [2, ["x"]]], {"a": [{"b": None}, ()]}, "", "x",
    b"x",
    "\ud800", True, math.nan, math.inf, 10**500, np.float64(1.5), np.float64("nan"), np.int64(3), np.bool_(True), np.str_("x"),
    np.array([1, 2]), np.array([]), np.array(5), [np.array([1, 2]), {"a": np.float64(2)}], decimal.Decimal("sNaN"),
    decimal.Decimal("1.5"), datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.UTC), 1 + 2j, object(),
    [0, 0, 1, 1], ((0, 0), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("name", BUILT_IN)
def test_comparator_given_odd_values_returns_a_similarity(name):
    made = comparator(name)
    for truth, found in itertools.product(VALUES, repeat=2):
        assert 0.0 <= made.compare(truth, found) <= 1.0, (truth, found)


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"ignore", "bbox_iou"}))
def test_comparator_given_a_very_deep_value_raises_value_error(name):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        comparator(name).compare("x", deep)


@pytest.mark.parametrize(
    ("truth", "found", "score"), [((), "x", 0.0), ((), "", 1.0), (((), "x"), "x", 1.0), ([()], ["x"], 0.0)]
)
def test_anls_star_of_no_accepted_value_is_that_of_none(truth, found, score):
    assert ANLSStarComparator().compare(truth, found) == score


def test_anls_star_of_numpy_values_is_that_of_python_values():
    assert ANLSStarComparator().compare({"a": np.array([1, 2]), "b": np.float64(2)}, {"a": [1, 2], "b": 2.0}) == 1.0


def test_numeric_of_numpy_values_is_that_of_python_values():
    assert NumericComparator().compare(np.float64(1.5), 10**500) == 0.0
    assert NumericComparator().compare(np.int64(3), 3.0) == 1.0


def test_one_of_takes_a_set_of_accepted_values():
    assert OneOfComparator().compare({"New York", "NYC"}, "nyc") == 1.0
