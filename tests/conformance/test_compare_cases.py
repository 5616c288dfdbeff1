"""The reference cases of comparison: weighted numbers, weights, intervals and changed objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Detection, Evaluator, Fields, Layout, Result, Words, resample
from calque.checks import Suite
from calque.evaluation.measures import settle
from calque.statistics.bootstrap import POISSON_THRESHOLDS, Resampling, document_keys, poisson_weights, repeat_documents
from calque.statistics.comparison import compare
from calque.statistics.intervals import intervals
from calque.statistics.presentation import tree

FILE = json.loads((Path(__file__).parent / "cases" / "compare.json").read_text())
WEIGHTED = {case["id"]: case for case in FILE["weighted"]}
pytestmark = pytest.mark.usefixtures("kernels")


def written(folder: Path, **files: Any) -> list[Path]:
    paths = [folder / f"{name}.json" for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_text(json.dumps(content))
    return paths


def result_of(case: dict[str, Any], folder: Path) -> Result:
    if case["task"] == "checks":
        suite = folder / "suite.yaml"
        suite.write_text(json.dumps(case["suite"]))
        return Suite.load(suite).run()
    tasks = {"detection": Detection, "layout": Layout, "words": Words}
    task = Fields(schema=case["schema"]) if case["task"] == "fields" else tasks[case["task"]]()
    sides = case["truth"], case["predictions"]
    if case["task"] in ("detection", "layout"):
        sides = tuple(written(folder, truth=sides[0], predictions=sides[1]))
    return Evaluator(task).update(*sides).compute()


def test_the_thresholds_of_the_weights() -> None:
    assert list(POISSON_THRESHOLDS) == FILE["poisson_thresholds"]


@pytest.mark.parametrize(("document", "seed", "weights"), FILE["weight_vectors"])
def test_the_weights_of_a_document(document: int | str, seed: int, weights: list[int]) -> None:
    keys = document_keys([document])
    assert poisson_weights(keys, len(weights), seed)[0].tolist() == weights
    assert poisson_weights(keys, len(weights) - 5, seed, first=5)[0].tolist() == weights[5:]


MOVED = {"auroc", "brier_score", "ece", *(f"cm_{name}/items.amount" for name in ("precision", "recall", "f1", "accuracy"))}
"""Plain numbers of fields that changed since the cases were made: fields of missed list items count as missed, and equal values
of a pair below its threshold are not wrong. The laws hold weighted ones to their definition."""


@pytest.mark.parametrize("case", WEIGHTED.values(), ids=WEIGHTED)
def test_weighted_numbers(case: dict[str, Any], tmp_path: Path) -> None:
    result = result_of(case, tmp_path)
    assert list(result.ledger.units) == case["documents"]
    found = resample(result, np.array(case["weights"]))
    for name, expected in case["expect"].items():
        if case["task"] == "fields" and name in MOVED:
            continue
        wanted = [np.nan if value is None else value for value in expected]
        assert found[name] == pytest.approx(wanted, abs=1e-12, nan_ok=True), name


@pytest.fixture
def runs(tmp_path: Path) -> list[Result]:
    case = FILE["compare"]
    truth, a, b = written(tmp_path, truth=case["truth"], a=case["a"], b=case["b"])
    return [Evaluator(Detection()).update(truth, found).compute() for found in (a, b)]


def test_intervals_and_differences(runs: list[Result]) -> None:
    case = FILE["compare"]
    drawing = Resampling(replicates=case["replicates"], seed=case["seed"])
    comparison = compare(runs, ("a", "b"), resampling=drawing)
    for name, expected in case["expect"].items():
        measure = comparison.measures[name]
        for run in ("a", "b"):
            told = measure.runs[run].to_dict()
            assert {key: told[key] for key in expected[run]} == pytest.approx(expected[run], abs=1e-9), (name, run)
        told = measure.deltas["b"].to_dict()
        assert {key: told[key] for key in expected["delta"]} == pytest.approx(expected["delta"], abs=1e-9), name
    alone = intervals(runs[0], drawing, case["expect"])
    assert alone == {name: comparison.measures[name].runs["a"] for name in case["expect"]}


def test_changed_truths_and_documents(tmp_path: Path) -> None:
    case = FILE["changed"]
    truth, a, b = written(tmp_path, truth=case["truth"], a=case["a"], b=case["b"])
    results = [Evaluator(Detection()).update(truth, found).compute() for found in (a, b)]
    told = tree(compare(results, ("a", "b"), resampling=Resampling(replicates=100)))
    keys = list(case["expect"][0])
    assert [{key: row[key] for key in keys} for row in told["changed"]] == case["expect"]
    documents = told["documents"]["runs"]["b"]
    assert [documents[key] for key in ("better", "equal", "worse")] == case["documents"]
    assert told["false_alarms"] == {"b": {"new": 1, "gone": 0}}


def test_wide_corpora_are_compared_as_one_by_one(tmp_path: Path) -> None:
    """Three classes and sixty images: every replicate is the corpus with duplicated images."""
    case = FILE["compare"]["wide"]
    truth, found = written(tmp_path, truth=case["truth"], a=case["a"])
    result = Evaluator(Detection()).update(truth, found).compute()
    weights = poisson_weights(document_keys(result.ledger.units), 3, 5).T
    drawn = resample(result, weights)
    for row, weight in enumerate(weights):
        numbers, _ = settle(result.task.measure(repeat_documents(result.ledger, weight)))
        assert drawn["AP"][row] == pytest.approx(numbers["coco"]["AP"], abs=1e-12)
        assert drawn["AR10"][row] == pytest.approx(numbers["coco"]["AR10"], abs=1e-12)
        assert drawn["APm"][row] == pytest.approx(numbers["coco"]["APm"], abs=1e-12)
