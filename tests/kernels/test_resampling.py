"""Weighted documents: both twins give the same bits, for any weights and any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.geometry.forms import RECALL_POINTS
from calque.kernels import checked_kernels, reference
from tests.examples import examples


def curves(rng: np.random.Generator, documents: int, rows: int, classes: int, thresholds: int) -> dict[str, Any]:
    """Rows of some classes by score, with ties within documents, and rows that count at some thresholds only."""
    label = np.sort(rng.integers(0, classes, rows))
    unit = rng.integers(0, documents, rows).astype(np.int32)
    tied = np.zeros(rows, np.uint8)
    for row in range(1, rows):
        if label[row] == label[row - 1] and rng.random() < 0.3:
            unit[row], tied[row] = unit[row - 1], 1
    every = (1 << thresholds) - 1
    reach = (1 << rng.integers(0, thresholds + 1, rows)) - 1
    return {
        "units": unit,
        "tied": tied,
        "class_offsets": np.searchsorted(label, np.arange(classes + 1)).astype(np.int64),
        "matched": (reach * (rng.random(rows) < 0.6)).astype(np.uint16),
        "ignored": np.where(rng.random(rows) < 0.15, rng.integers(0, every + 1, rows), 0).astype(np.uint16),
        "thresholds": thresholds,
    }


def given_weights(rng: np.random.Generator, documents: int, replicates: int, heaviest: int) -> Any:
    drawn = rng.poisson(1, (documents, replicates)) if heaviest < 10 else rng.integers(0, heaviest, (documents, replicates))
    return drawn.astype(np.int32)


@pytest.mark.parametrize("points", [RECALL_POINTS, tuple(place / 7 for place in range(8)), ()], ids=["coco", "eight", "none"])
@examples(40)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.tuples(st.integers(1, 8), st.integers(0, 40), st.integers(1, 4), st.integers(1, 16)),
    replicates=st.integers(0, 37),
    heaviest=st.sampled_from([1, 300, 10**8]),
)
def test_average_precision(native: Any, points: Any, seed: int, sizes: Any, replicates: int, heaviest: int) -> None:
    rng = np.random.default_rng(seed)
    rows = curves(rng, *sizes)
    heaviest = heaviest if sizes[1] < 12 or heaviest < 10 else 3  # the reference writes every copy down
    weights = given_weights(rng, sizes[0], replicates, min(heaviest, 300))
    truths = rng.integers(0, 30, (sizes[2], replicates)) * rng.integers(0, 2, (sizes[2], replicates))
    more = {"truths": truths, "recall_points": np.array(points, dtype=np.float64), "weights": weights}
    expected = reference.weighted_precision(**rows, **more)
    for jobs in (1, 3):
        found = native.weighted_precision(**rows, **more, jobs=jobs)
        for ours, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, wanted)


def test_weights_too_large_for_small_numbers(native: Any) -> None:
    """Two documents, a hit and a false alarm: the numbers of many copies are those of one, as far as precision goes."""
    rows = {
        "units": np.array([0, 1], np.int32),
        "tied": np.zeros(2, np.uint8),
        "class_offsets": np.array([0, 2]),
        "matched": np.array([1, 0], np.uint16),
        "ignored": np.zeros(2, np.uint16),
        "thresholds": 1,
        "recall_points": np.array(RECALL_POINTS),
    }
    many = 2_000_000_000
    weights, truths = np.array([[many], [many]], np.int32), np.array([[2 * many]])
    precision, recall = native.weighted_precision(**rows, truths=truths, weights=weights)
    assert recall.tolist() == [[[0.5]]]
    assert precision[0, 0, 0] == pytest.approx(51 / 101)


@examples(40)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 40), groups=st.integers(1, 4), replicates=st.integers(0, 37))
def test_auroc(native: Any, seed: int, rows: int, groups: int, replicates: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, groups, rows))
    given_rows = {
        "units": rng.integers(0, 5, rows).astype(np.int32),
        "right": rng.integers(0, 2, rows).astype(np.uint8),
        "rises": rng.integers(0, 2, rows).astype(np.uint8),
        "group_offsets": np.searchsorted(group, np.arange(groups + 1)).astype(np.int64),
        "weights": given_weights(rng, 5, replicates, 1),
    }
    expected = reference.weighted_auroc(**given_rows)
    for jobs in (1, 3):
        np.testing.assert_array_equal(native.weighted_auroc(**given_rows, jobs=jobs), expected)


@pytest.mark.parametrize("kernels", ["native", "reference"])
def test_what_does_not_fit_is_refused(native: Any, kernels: str) -> None:
    twin = native if kernels == "native" else checked_kernels("reference")
    one, weights = np.zeros(1, np.int32), np.ones((1, 2), np.int32)
    flags, masks, offsets = np.zeros(1, np.uint8), np.zeros(1, np.uint16), np.array([0, 1])
    with pytest.raises(ValueError, match="truths must have a row for each class"):
        twin.weighted_precision(one, flags, offsets, masks, masks, 1, np.ones((2, 2), np.int64), np.ones(1), weights)
    with pytest.raises(ValueError, match="at most 16 thresholds"):
        twin.weighted_precision(one, flags, offsets, masks, masks, 17, np.ones((1, 2), np.int64), np.ones(1), weights)
    with pytest.raises(ValueError, match="class_offsets must rise"):
        twin.weighted_precision(one, flags, offsets[:1], masks, masks, 1, np.ones((0, 2), np.int64), np.ones(1), weights)
    with pytest.raises(ValueError, match="same length"):
        twin.weighted_auroc(one, flags[:0], flags, offsets, weights)
