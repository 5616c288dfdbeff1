"""Exact sums: a few numbers that have the sum of many."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.evaluation.measures import exact_parts

numbers = st.lists(st.floats(-(2.0**900), 2.0**900, allow_nan=False), max_size=40)
halves = st.lists(st.sampled_from([1.0, 2.0**-53, -(2.0**-53), 2.0**-106, -(2.0**-106), 2.0**53, 5e-324]), max_size=12)


@given(values=numbers | halves)
def test_exact_parts_have_the_sum_of_all_values(values: list[float]) -> None:
    parts = exact_parts(values)
    assert sum(map(Fraction, parts)) == sum(map(Fraction, values))
    assert parts[:1] == ([total] if (total := math.fsum(values)) else [])


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e300])
def test_exact_parts_of_values_that_cannot_be_summed_raise(value: float) -> None:
    with pytest.raises(ValueError, match="too great to be summed"):
        exact_parts([1.0, value])
