"""Weights of documents: what they are drawn from, and replicates that do not depend on how many are made at a time."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import factorial

import numpy as np
import pytest

from calque import Detection, Evaluator
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
