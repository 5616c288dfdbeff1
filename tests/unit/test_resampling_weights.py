"""Weights of documents: what they are drawn from, and replicates that do not depend on how many are made at a time."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Detection, Evaluator
from calque.evaluation.document_sums import weighted_sums
from calque.sample import sample
from calque.statistics import bootstrap as resample
from calque.statistics.bootstrap import POISSON_THRESHOLDS, Bootstrap, Resampling, document_keys, poisson_weights


def test_thresholds_are_those_of_poisson() -> None:
    with localcontext() as exact:
        exact.prec = 60
        shares = [Decimal(-1).exp() / factorial(count) for count in range(len(POISSON_THRESHOLDS))]
        expected = [int(sum(shares[: count + 1]) * 2**64) for count in range(len(shares))]
    assert list(POISSON_THRESHOLDS) == expected
    assert expected[-1] < 2**64 - 1
    assert int((1 - Decimal(expected[-1] + 1) / 2**64) * 2**64) < 3  # what lies beyond happens once in 2**62 draws


def test_weights_are_drawn_from_any_replicate_on() -> None:
    keys = document_keys([f"d{number}" for number in range(50)])
    whole = poisson_weights(keys, 40, seed=5)
    assert np.array_equal(poisson_weights(keys, 15, seed=5, first=25), whole[:, 25:])
    assert not np.array_equal(whole[:, :15], whole[:, 25:])


def test_replicates_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample()
    bootstrap = Bootstrap(Evaluator(Detection()).update(data["truth"], data["finder"]).compute())
    names = ["recall@0.5", "AP"]
    at_once = bootstrap.draw(Resampling(replicates=100), names)
    monkeypatch.setattr(resample, "BLOCK_BYTES", 1)
    by_and_by = bootstrap.draw(Resampling(replicates=100), names)
    for name in names:
        assert len(np.unique(at_once[name])) > 20
        assert np.array_equal(at_once[name], by_and_by[name])


@given(
    keys=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 50),
    replicates=st.integers(0, 50),
)
def test_each_document_has_the_stream_of_its_key(keys: list[int], seed: int, first: int, replicates: int) -> None:
    thresholds = np.array(POISSON_THRESHOLDS, np.uint64)
    weights = poisson_weights(np.array(keys, np.int64), replicates, seed, first=first)
    for key, row in zip(np.array(keys, np.int64).view(np.uint64), weights, strict=True):
        drawn = np.random.Philox(key=np.array([seed, key], np.uint64)).random_raw(first + replicates)[first:]
        assert row.tolist() == [int((thresholds <= number).sum()) for number in drawn]


@given(seed=st.integers(0, 2**32), rows=st.integers(0, 60), size=st.integers(1, 9), large=st.booleans())
def test_weighted_sums_are_exact(seed: int, rows: int, size: int, large: bool) -> None:
    rng = np.random.default_rng(seed)
    units, columns = rng.integers(0, 7, rows), rng.integers(0, size, rows)
    values = rng.integers(-(2**50), 2**50, rows) if large else rng.integers(-(2**30), 2**30, rows)
    weights = rng.integers(0, 100, (7, 5)).astype(np.int32)
    expected = [[0] * 5 for _ in range(size)]
    for unit, column, value in zip(units.tolist(), columns.tolist(), values.tolist(), strict=True):
        expected[column] = [old + value * weight for old, weight in zip(expected[column], weights[unit].tolist(), strict=True)]
    assert weighted_sums(units, columns, values, size, weights).tolist() == expected
