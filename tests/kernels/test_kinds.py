"""Error kinds: both twins give the same bits; what they mean is tested in conformance/test_error_kinds.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.kernels.structs import Kind, KindLimits
from tests.kernels.box_cases import Case, all_same, cases, random_case
from tests.kernels.test_greedy import refusal

LIMITS = KindLimits(0.5, 0.1, 0.5, 0.7)
share = st.sampled_from([0.1, 0.25, 0.5, 0.7, 1.0])
limits = st.tuples(share, share, share, share).map(lambda four: KindLimits(max(four[:2]), min(four[:2]), *four[2:]))


def matches(kernels, case: Case, threshold: float) -> np.ndarray:
    return case.greedy(kernels, threshold)[0]


def kinds(kernels, case: Case, match: np.ndarray, limits: KindLimits = LIMITS, jobs: int = 1):
    return kernels.error_kinds(case.truth, case.found, case.found_scores, match, limits, jobs)


@given(case=cases(), limits=limits)
def test_reference_and_native_agree_to_the_bit(reference, native, case, limits):
    match = matches(reference, case, limits.match)
    assert all_same(kinds(reference, case, match, limits), kinds(native, case, match, limits))


def test_any_number_of_threads(reference, native):
    case = random_case(5, pages=600, classes=3, most=20)
    match = matches(reference, case, 0.5)
    expected = kinds(reference, case, match)
    assert set(expected[2]) >= {Kind.TP, Kind.CLS, Kind.MERGE, Kind.SPLIT, Kind.DUP, Kind.LOC, Kind.BOTH, Kind.BKG}
    for jobs in (1, 3, 0):
        assert all_same(expected, kinds(native, case, match, jobs=jobs))


@given(case=cases())
def test_every_row_that_counts_has_a_kind_and_no_other(kernels, case):
    truth, _, found, _, _ = kinds(kernels, case, matches(kernels, case, 0.5))
    assert ((truth != Kind.NONE) == (case.truth_roles == 0)).all()
    assert ((found != Kind.NONE) == (case.found_roles == 0)).all()


def test_matches_must_stay_on_their_page(reference, native):
    case = random_case(6, pages=2, classes=1, most=9)
    match = matches(reference, case, 0.5)
    for wrong in (np.full_like(match, len(case.found_boxes)), np.full_like(match, case.found_offsets[1])):
        message = refusal(lambda: kinds(reference, case, wrong))
        assert message == "truth_match must name rows of the same page"
        assert message == refusal(lambda: kinds(native, case, wrong))


@pytest.mark.parametrize("four", [LIMITS[:3], (*LIMITS, 0.5), np.array(LIMITS), ("a", "b", "c", "d")], ids=str)
def test_the_compiled_twin_takes_four_limits_and_nothing_else(native, four):
    case = random_case(7, pages=1, classes=1, most=3)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kinds(native, case, matches(native, case, 0.5), four)
