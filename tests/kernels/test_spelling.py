"""Floats as text: Python's json is the judge."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1), st.integers(-20, 20).map(lambda e: 10.0**e)
)


@given(values=st.lists(finite, max_size=30))
def test_a_list_is_spelled_as_json_does(kernels, values):
    assert kernels.spell_floats(values) == json.dumps(values)


@pytest.mark.parametrize(
    "value", [1e16, 9999999999999998.0, 1e-4, 9.999e-5, 5e-324, 1.7976931348623157e308, -0.0, 123456789.0, 0.1]
)
def test_where_the_notation_changes(kernels, value):
    assert kernels.spell_floats([value, -value]) == json.dumps([value, -value])


@pytest.mark.parametrize("other", [None, 1, True, "x", float("nan"), float("inf"), -float("inf"), [0.5]])
def test_anything_else_is_left_to_others(kernels, other):
    assert kernels.spell_floats([0.5, other]) is None
