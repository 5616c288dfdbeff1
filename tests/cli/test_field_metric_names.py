"""The headers of the tables of ``calque fields`` are names of metrics, in gates, comparisons, suites and ``explain``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import Evaluator, Fields
from tests.conftest import Run

Calque = Callable[..., Run]
BOX = {"_bbox": [0, 0, 1, 1], "_confidence": 0.9}
TRUTH = [{"id": "1", "a": {"_value": "x", **BOX}, "b": "y"}, {"id": "2", "a": {"_value": "z", **BOX}, "b": "w"}]
FOUND = [{"id": "1", "a": {"_value": "x", **BOX}, "b": "q"}, {"id": "2", "a": {"_value": "u", "_confidence": 0.3}, "b": None}]
NAMES = {
    "precision": "cm_precision",
    "recall": "cm_recall",
    "f1": "cm_f1",
    "F1": "cm_f1",
    "accuracy": "cm_accuracy",
    "score": "weighted_overall_score",
    "mAP": "mean_ap",
    "mAP@.50": "map_50",
    "AUROC": "auroc",
    "TP": "tp",
    "recall/a": "cm_recall/a",
    "score/a": "mean_score/a",
    "AP/a": "ap/a",
    "AP50/a": "ap_50/a",
}
LOWER = {"Brier": "brier_score", "ECE": "ece", "FN": "fn", "FD/a": "fd/a"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name, records in (("t.json", TRUTH), ("p.json", FOUND)):
        (tmp_path / name).write_text(json.dumps(records))
    return "t.json", "p.json"


@pytest.mark.parametrize(("header", "name"), [*NAMES.items(), *LOWER.items()])
def test_result_by_the_header_is_that_by_the_name(header: str, name: str) -> None:
    result = Evaluator(Fields()).update(TRUTH, FOUND).compute()
    assert result[header] == result[name]


@pytest.mark.parametrize("header", NAMES)
def test_fail_under_takes_headers(calque: Calque, files: tuple[str, str], header: str) -> None:
    assert calque("fields", *files, "--fail-under", f"{header}=0").code == 0
    assert calque("fields", *files, "--fail-under", f"{header}=99").code == 1
    assert calque("fields", *files, "--fail-over", f"{header}=99").code == 2


@pytest.mark.parametrize("header", LOWER)
def test_fail_over_takes_headers_of_metrics_where_less_is_better(calque: Calque, files: tuple[str, str], header: str) -> None:
    assert calque("fields", *files, "--fail-over", f"{header}=99").code == 0
    assert calque("fields", *files, "--fail-under", f"{header}=0").code == 2


def test_compare_and_baselines_take_headers(calque: Calque, files: tuple[str, str]) -> None:
    assert calque("fields", *files, "--save", "a.state").code == 0
    assert calque("fields", files[0], files[0], "--save", "b.state").code == 0
    compared = calque("compare", "a.state", "b.state", "--primary", "recall", "--format", "json")
    assert compared.code == 0
    lost = calque("fields", *files, "--baseline", "b.state", "--tolerance", "recall=0.01")
    kept = calque("fields", *files, "--baseline", "a.state", "--tolerance", "recall=0.01")
    assert (lost.code, kept.code) == (1, 0)


def test_suite_takes_headers(calque: Calque, tmp_path: Path) -> None:
    suite = {
        "evaluators": [{"type": "fields", "measure": "recall", "threshold": 0.9}],
        "cases": [{"id": "a", "expected": {"v": "x"}, "output": {"v": "x"}}],
    }
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    assert calque("check", "suite.json").code == 0


@pytest.mark.parametrize("name", ["recall", "precision", "F1", "accuracy", "recall/total", "cm_recall"])
def test_explain_knows_the_headers_of_fields(calque: Calque, name: str) -> None:
    run = calque("explain", name)
    assert run.code == 0
    assert "fields" in [line.split()[-1] for line in run.out.splitlines() if line.strip().startswith("task")]


def test_explain_of_map_is_about_detection_and_fields(calque: Calque) -> None:
    tasks = [line.split()[-1] for line in calque("explain", "mAP").out.splitlines() if line.strip().startswith("task")]
    assert tasks == ["detection", "fields"]
