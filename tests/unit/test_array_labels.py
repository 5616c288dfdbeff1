"""Arrays with NumPy scalars, and limits on the number of detections."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import ConfigError, Corpus, Detection, Evaluator

BOXES = [[0, 0, 10, 10], [20, 0, 30, 10]]
NAMES = ("Figure", "Table")


@pytest.mark.parametrize("labels", [[np.int64(1), np.int8(0)], np.array([1, 0], np.uint16), [1, np.int32(0)], (1, 0)])
def test_integer_labels_with_names_are_codes(labels: Any) -> None:
    truth = Corpus.from_arrays(BOXES, labels, label_names=NAMES)
    found = Corpus.from_arrays(BOXES, ["Table", np.str_("Figure")], scores=[np.float32(0.5), 0.25])
    result = Evaluator(Detection()).update(truth, found).compute()
    assert (result["recall@0.5/Table"], result["recall@0.5/Figure"]) == (1.0, 1.0)


@pytest.mark.parametrize("labels", [[np.int64(1), np.int64(0)], np.array([1, 0]), [1, 0]])
def test_integer_labels_without_names_are_refused(labels: Any) -> None:
    with pytest.raises(ValueError, match="label_names"):
        Corpus.from_arrays(BOXES, labels)


@pytest.mark.parametrize("labels", [[np.int64(2), 0], [-1, 0], ["Table", 1], [None, "Table"], [1.5, 0.0]])
def test_labels_that_name_no_class_are_refused(labels: Any) -> None:
    with pytest.raises(ValueError, match="label"):
        Corpus.from_arrays(BOXES, labels, label_names=NAMES)


def test_numpy_scalars_as_documents_are_the_same_documents() -> None:
    truth = Corpus.from_arrays(BOXES, ["T", "T"], documents=[np.int64(3), 4], all_documents=[np.int64(5)])
    assert truth.units() == (3, 4, 5)
    assert all(type(unit) is int for unit in truth.units())


def test_detections_without_limit_are_all_seen(tmp_path: Path) -> None:
    boxes = [[20 * place, 0, 20 * place + 10, 10] for place in range(120)]
    truth = Corpus.from_arrays(boxes, ["T"] * 120)
    found = Corpus.from_arrays(boxes, ["T"] * 120, scores=np.linspace(0.1, 0.9, 120))
    evaluator = Evaluator(Detection(max_detections=[1, math.inf, 60])).update(truth, found)
    result = evaluator.compute()
    assert (result["AR1"], result["AR60"], result["ARinf"]) == (1 / 120, 0.5, 1.0)
    assert result["AP"] == pytest.approx(1.0)
    assert "maxdets:1,60,inf" in str(result.signature)
    evaluator.save(tmp_path / "run.state")
    assert Evaluator.load(tmp_path / "run.state").compute()["ARinf"] == 1.0


@pytest.mark.parametrize("limits", [[], [0], [1.5], [math.nan], [-math.inf]])
def test_limits_that_are_no_counts_are_refused(limits: list[float]) -> None:
    with pytest.raises(ConfigError):
        Detection(max_detections=limits)  # type: ignore[arg-type]
