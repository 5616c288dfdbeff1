"""TIDE's kinds agree with tidecv: with what it answered once, and with tidecv itself where it is installed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator
from calque.evaluation.result import Result
from tests.conformance.test_error_kinds import kinds_of, result_of
from tests.conformance.tide_sets import EXPECTED, SEEDS, Row, ask_tidecv, generated


def evaluated(truths: list[Row], founds: list[Row]) -> Result:
    sides = [
        Corpus.from_arrays(
            [row[2] for row in rows],
            [f"class {row[1]}" for row in rows],
            documents=[row[0] for row in rows],
            scores=[row[3] for row in rows] if rows is founds else None,
            form="xywh",
        )
        for rows in (truths, founds)
    ]
    return Evaluator(Detection(errors="tide")).update(*sides).compute()


def assert_agrees(result: Result, answer: dict[str, Any]) -> None:
    errors = result.to_dict()["errors"]
    counted = {**errors["predictions"], "Miss": errors["truth"]["Miss"]}
    del counted["TP"]
    assert counted == answer["counts"]
    assert result["AP50"] == pytest.approx(answer["ap50"] / 100, abs=1e-12)
    for kind, worth in errors["impact"].items():
        # tidecv shows no loss: where a repair makes AP smaller, it says 0.
        assert max(worth["delta_ap"], 0) == pytest.approx(answer["gains"][kind] / 100, abs=1e-12), kind


@pytest.fixture
def tidecv_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """tidecv reads curves at 0.01, 0.02 and so on; pycocotools' points differ from ten of these in the last bit."""
    monkeypatch.setattr("calque.detection.kinds.numbers.RECALL_POINTS", np.array([point / 100 for point in range(101)]))


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_what_tidecv_answered(seed, tidecv_grid):
    answers = json.loads(EXPECTED.read_text("utf-8"))
    assert_agrees(evaluated(*generated(seed)), answers[str(seed)])


def test_agrees_with_tidecv_itself(tidecv_grid):
    pytest.importorskip("tidecv", reason="tidecv is not installed; its recorded answers are tested")
    for seed in range(100, 105):
        assert_agrees(evaluated(*generated(seed)), ask_tidecv(*generated(seed)))


TIDE = Detection(errors="tide")
TABLE = ("Table", (0, 0, 100, 100))


@pytest.mark.parametrize(
    ("founds", "expected"),
    [
        pytest.param(
            [("Table", (0, 0, 100, 100), 0.5), ("Table", (0, 0, 100, 60), 0.9)],
            (["TP"], ["Dupe", "TP"]),
            id="the best score pairs",
        ),
        pytest.param(
            [("Figure", (0, 0, 100, 90), 0.5), ("Table", (0, 0, 100, 40), 0.9)],
            (["Loc"], ["Cls", "Loc"]),
            id="the best score tells",
        ),
        pytest.param([("Figure", (0, 0, 100, 30), 0.5)], (["Miss"], ["Both"]), id="both"),
        pytest.param([("Figure", (0, 0, 100, 9), 0.5)], (["Miss"], ["Bkg"]), id="background"),
        pytest.param([], (["Miss"], []), id="missed"),
    ],
)
def test_examples(kernels, founds, expected):
    assert kinds_of(result_of([([TABLE], founds)], TIDE)) == expected


def test_counts_are_complete():
    result = evaluated(*generated(3))
    errors, sizes = result.to_dict()["errors"], result.to_dict()["counts"]
    assert sum(errors["predictions"].values()) == sizes["predictions"]
    assert sum(errors["truth"].values()) == sizes["truths"]
    assert "subtypes" not in errors
    assert "Error kinds (TIDE)" in str(result)
    assert "errors:tide" in str(result.signature)


def test_small_predictions_count_only_in_a_pair():
    page = ([TABLE], [("Table", (0, 0, 100, 60), 0.9), ("Table", (500, 0, 510, 10), 0.5)])
    assert kinds_of(result_of([page], Detection(errors="tide", min_area=7000))) == (["TP"], ["TP", ""])
