"""Calls that sanitizers found fault with once: each is refused, or computed as its twin does."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from calque.kernels.structs import Grids
from tests.kernels.random_calls import CALLS

FAR = 2**62
LOWEST = np.iinfo(np.int64).min


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(("rows", "columns"), [(2**32, 2**32), (2**33, 2**31), (FAR, 4), (FAR, 8), (0, 5), (-1, 0), (1, 1)])
def test_rows_times_columns_that_come_round_to_no_slots(native: ModuleType, rows: int, columns: int) -> None:
    """Such a grid would be read far behind its slots."""
    none = Grids(np.zeros(0, np.int32), column(0, 0), column(rows), column(columns))
    if rows == 0:
        assert native.grid_given(none, none, np.zeros((1, 1)))[0].tolist() == [0.0]
        return
    with pytest.raises(ValueError, match="rows times columns"):
        native.grid_given(none, none, np.zeros((1, 1)))


@pytest.mark.parametrize(("rows", "columns"), [(2**50, 0), (0, 2**50)])
def test_a_grid_without_slots_has_no_rows_to_walk_through(
    native: ModuleType, reference: ModuleType, rows: int, columns: int
) -> None:
    none = Grids(np.zeros(0, np.int32), column(0, 0), column(rows), column(columns))
    one = Grids(np.zeros(1, np.int32), column(0, 1), column(1), column(1))
    for twin in (native, reference):
        for truth, found in ((none, none), (none, one), (one, none)):
            assert [each.tolist() for each in twin.grid_given(truth, found, np.ones((1, 1)))] == [[0.0]] * 3


@pytest.mark.parametrize("odd", [LOWEST, LOWEST + 2, -1, 2**63 - 1, 2, 5])
def test_rings_whose_bounds_do_not_rise(native: ModuleType, odd: int) -> None:
    with pytest.raises(ValueError, match="three or more"):
        native.polygon_simple(np.zeros((6, 2)), column(0, odd, 6))


def test_runs_that_no_mask_has(native: ModuleType) -> None:
    text, bounds = native.mask_counts(column(0, 1, 2, 32, LOWEST, 2**63 - 1), column(0, 6))
    assert bounds.tolist() == [0, len(text)]


@pytest.mark.parametrize("odd", [np.inf, np.nan, 1e308, 2.0**63, -np.inf, -1.0, 0.0, 0.5, 1.0, 3.25])
def test_tables_whose_distance_is_told_wrong(native: ModuleType, odd: float) -> None:
    """How far apart they are only narrows the search: a distance that is no help, or too small, changes nothing."""
    for seed in range(60):
        *tables, distances, jobs = CALLS["row_tree_mappings"](np.random.default_rng(seed))
        right = native.row_tree_mappings(*tables, distances, jobs)
        assert same(native.row_tree_mappings(*tables, np.full_like(distances, odd), jobs), right)


@pytest.mark.parametrize("truths", [2**53 + 1, 2**63 - 1])
def test_more_truths_than_a_double_holds(native: ModuleType, reference: ModuleType, truths: int) -> None:
    """How many hits a recall needs was looked for without end."""
    units, tied, bounds, matched, ignored, thresholds, counts, points, weights, jobs = _curves()
    for twin in (native, reference):
        with pytest.raises(ValueError, match="a double holds"):
            twin.weighted_precision(
                units, tied, bounds, matched, ignored, thresholds, np.full_like(counts, truths), points, weights, jobs
            )


def test_recall_points_beyond_all(native: ModuleType, reference: ModuleType) -> None:
    *before, points, weights, jobs = _curves()
    far = np.append(points, [1.5, 1e308])
    both = [twin.weighted_precision(*before, far, weights, jobs) for twin in (native, reference)]
    assert same(*both)


def test_a_lattice_whose_end_is_not_final(native: ModuleType, reference: ModuleType) -> None:
    """Whoever follows such a path finds no next edge."""
    for seed in range(20):
        *before, final, vocabulary, limit = CALLS["lattice_path"](np.random.default_rng(seed))
        for twin in (native, reference):
            with pytest.raises(ValueError, match="every node must lead to a final one"):
                twin.lattice_path(*before, np.zeros_like(final), vocabulary, limit)


def _curves() -> tuple[Any, ...]:
    return CALLS["weighted_precision"](np.random.default_rng(3))


def same(first: Any, second: Any) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
