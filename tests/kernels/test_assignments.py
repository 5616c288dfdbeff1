"""The best assignments of many small matrices: against every assignment, over both twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

MOST = 2**60
wide = st.tuples(st.integers(1, 5), st.integers(0, 2)).flatmap(
    lambda size: st.lists(
        st.lists(st.one_of(st.integers(0, 3), st.sampled_from([MOST, MOST - 1])), min_size=sum(size), max_size=sum(size)),
        min_size=size[0],
        max_size=size[0],
    )
)


def earliest_best(matrix):
    """Of all assignments with the greatest total the first in the order of rows and their columns."""
    ways = itertools.permutations(range(len(matrix[0])), len(matrix))
    return max(
        ways, key=lambda way: (sum(row[column] for row, column in zip(matrix, way, strict=True)), *(-column for column in way))
    )


def called(kernels, matrices):
    flat = [each for matrix in matrices for row in matrix for each in row]
    sizes = ([len(matrix) for matrix in matrices], [len(matrix[0]) for matrix in matrices])
    return kernels.best_partners(*(np.array(column, dtype=np.int64) for column in (flat, *sizes))).tolist()


@given(st.lists(wide, max_size=4))
def test_the_earliest_of_the_best_assignments(kernels, matrices):
    assert called(kernels, matrices) == [column for matrix in matrices for column in earliest_best(matrix)]


@pytest.mark.parametrize(
    ("height", "width", "levels"),
    [(40, 40, 3), (40, 55, 2), (64, 64, 1000), (25, 80, 8), (150, 150, 2), (150, 160, 50), (3, 700, 4), (120, 120, MOST)],
)
def test_both_kernels_agree_on_longer_lists(native, reference, height, width, levels):
    matrices = np.random.default_rng(height + width).integers(0, levels, (3, height, width)).tolist()
    assert called(native, matrices) == called(reference, matrices)


def test_what_is_no_matrix_is_refused(native):
    ones = np.ones(6, dtype=np.int64)
    two, three = np.array([2]), np.array([3])
    for message, arguments in (
        ("height and a width", (ones, two, np.array([3, 3]))),
        ("as wide as high", (ones, three, two)),
        ("as wide as high", (ones[:0], two * 0, two)),
        ("needs its worth", (ones[:5], two, three)),
        ("too much, or less", (-ones, two, three)),
        ("too much, or less", (ones * (MOST + 1), two, three)),
    ):
        with pytest.raises(ValueError, match=message):
            native.best_partners(*arguments)
