"""Exact sums: against fractions, and both twins to the bit."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.evaluation.measures import joined_fractions
from tests.kernels.box_cases import same
from tests.kernels.test_greedy import refusal

rows = st.lists(st.tuples(st.floats(0, 1), st.integers(-1, 3)), max_size=40)


def columns(rows):
    return np.array([value for value, _ in rows]), np.array([group for _, group in rows], np.int32)


@given(rows=rows, power=st.integers(-8, 0))
def test_sums_are_those_of_fractions_but_for_what_lies_below(kernels, rows, power):
    sums = joined_fractions(kernels.fraction_parts(*columns(rows), 4, 2.0**power))
    for group, total in enumerate(sums.tolist()):
        members = [Fraction(value) / 2**-power for value, of in rows if of == group]
        dropped = sum(members) - sum(Fraction(math.floor(value * 2**54), 2**54) for value in members)
        assert abs(Fraction(total) - (sum(members) - dropped)) <= Fraction(1, 2**48)


@given(rows=rows, scale=st.sampled_from([1.0, 0.5, 2.0**-30]))
def test_twins_agree_to_the_bit(reference, native, rows, scale):
    assert same(reference.fraction_parts(*columns(rows), 4, scale), native.fraction_parts(*columns(rows), 4, scale))


def test_bad_groups_are_refused_in_the_same_words(reference, native):
    for values, groups in ((np.zeros(2), np.zeros(3, np.int32)), (np.zeros(1), np.array([4], np.int32))):
        messages = {refusal(lambda k=k, v=values, g=groups: k.fraction_parts(v, g, 4)) for k in (reference, native)}
        assert len(messages) == 1
