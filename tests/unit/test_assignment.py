"""Optimal assignment against brute force and SciPy, and its rule for ties."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from calque.kernels import assignment
from calque.kernels.assignment import assign
from tests.examples import examples

# Multiples of a power of two add up without rounding, so that totals can be compared to the bit.
EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)
SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 5))
MATRICES = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=EIGHTHS))


def all_assignments(height: int, width: int) -> list[tuple[int, ...]]:
    """For each row its column, or ``width`` for a row that is left out."""
    if height <= width:
        return list(permutations(range(width), height))
    return sorted(set(permutations([*range(width), *[width] * (height - width)])))


def total(matrix: np.ndarray, columns: tuple[int, ...]) -> float:
    return sum(matrix[row, column] for row, column in enumerate(columns) if column < matrix.shape[1])


@given(MATRICES, st.booleans())
@examples(200)
def test_the_first_of_all_best_assignments_is_found(matrix: np.ndarray, maximize: bool) -> None:
    check_the_first_of_the_best(matrix, maximize)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 2)])
def test_the_first_is_found_where_nearly_all_are_equally_good(shape: tuple[int, int], maximize: bool) -> None:
    for values in product((0.0, 1.0), repeat=shape[0] * shape[1]):
        check_the_first_of_the_best(np.array(values).reshape(shape), maximize)


def check_the_first_of_the_best(matrix: np.ndarray, maximize: bool) -> None:
    height, width = matrix.shape
    candidates = all_assignments(height, width)
    best = (max if maximize else min)(total(matrix, columns) for columns in candidates)
    first = min(columns for columns in candidates if total(matrix, columns) == best)
    rows, columns = assign(matrix, maximize=maximize)
    assert [(row, column) for row, column in enumerate(first) if column < width] == list(
        zip(rows.tolist(), columns.tolist(), strict=True)
    )


@pytest.mark.parametrize("shape", [(20, 20), (12, 31), (31, 12)])
def test_the_total_is_that_of_scipy(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(7).random(shape)
    rows, columns = assign(matrix)
    assert matrix[rows, columns].sum() == pytest.approx(matrix[linear_sum_assignment(matrix, maximize=True)].sum(), abs=1e-12)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("shape", [(120, 150), (150, 120), (300, 300), (40, 700), (700, 40)])
def test_assign_above_the_exact_size_gives_the_total_of_scipy(shape: tuple[int, int], maximize: bool) -> None:
    matrix = np.random.default_rng(3).normal(size=shape) * 1e3
    rows, columns = assign(matrix, maximize=maximize)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert len(set(columns.tolist())) == len(rows) == min(shape)
    best = matrix[linear_sum_assignment(matrix, maximize=maximize)].sum()
    assert matrix[rows, columns].sum() == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_assign_above_the_exact_size_is_exact_at_any_scale(scale: float) -> None:
    matrix = np.random.default_rng(5).random((130, 135)) * scale
    rows, columns = assign(matrix)
    exact = assignment._exact(matrix, True)
    assert (rows.tolist(), columns.tolist()) == (exact[0].tolist(), exact[1].tolist())


@pytest.mark.parametrize("size", [140, 1500])
def test_assign_of_equal_scores_pairs_in_order(size: int) -> None:
    rows, columns = assign(np.ones((size, size + 1)))
    assert rows.tolist() == columns.tolist() == list(range(size))


def test_a_difference_below_the_precision_of_a_sum_still_decides() -> None:
    tiny = 2.0**-80
    matrix = np.array([[tiny, 1.0], [2.0 * tiny, 1.0]])
    assert assign(matrix)[1].tolist() == [1, 0]


def test_only_ties_give_the_first_row_the_first_column() -> None:
    assert assign(np.zeros((3, 4)))[1].tolist() == [0, 1, 2]
    rows, columns = assign(np.zeros((4, 2)))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [0, 1])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_to_pair(shape: tuple[int, int]) -> None:
    rows, columns = assign(np.zeros(shape))
    assert (rows.tolist(), columns.tolist()) == ([], [])


@pytest.mark.parametrize("matrix", [np.zeros(3), np.array([[np.nan]]), np.array([[np.inf]])])
def test_what_is_no_matrix_of_numbers_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(ValueError, match="assignment needs"):
        assign(matrix)
