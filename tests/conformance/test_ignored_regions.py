"""Crowds and ignored truths excuse what lies on them from the threshold on, in every view that counts predictions.

"An unmatched prediction whose intersection over its own area with one is >= T is ``ignored``, neither TP nor FP."
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from calque import Detection, Evaluator, Result
from calque.detection.auditing.audit import AuditRules, audit
from calque.readers import read_pair

WIDTH = 8
"""A power of two: the share of a prediction that lies on the region is a number without rounding."""
REGION = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 80, 80]}
REGIONS = pytest.mark.parametrize("region", [{"iscrowd": 1}, {"ignore": 1}], ids=["crowd", "ignored"])
EIGHTHS = pytest.mark.parametrize("eighths", range(1, WIDTH + 1))


def sides(region: dict[str, int], eighths: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A truth that is found, a region, and a prediction of which some eighths lie on the region."""
    plain = {"id": 2, "image_id": 1, "category_id": 1, "bbox": [200, 200, 20, 20]}
    truth = {
        "images": [{"id": 1, "width": 400, "height": 400}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{**REGION, **region}, plain],
    }
    found = [
        {"image_id": 1, "category_id": 1, "bbox": [80 - eighths, 10, WIDTH, 8], "score": 0.95},
        {"image_id": 1, "category_id": 1, "bbox": plain["bbox"], "score": 0.9},
    ]
    return truth, found


def thresholds(eighths: int) -> list[tuple[float, int]]:
    """A threshold at the share and one just above it, with the number of false positives."""
    share = eighths / WIDTH
    return [(share, 0), *([(math.nextafter(share, 2.0), 1)] if share < 1 else [])]


def evaluate(region: dict[str, int], eighths: int, **settings: Any) -> Result:
    return Evaluator(Detection(**settings)).update(*sides(region, eighths)).compute()


@REGIONS
@EIGHTHS
def test_false_positives_at_each_threshold(kernels: str, region: dict[str, int], eighths: int) -> None:
    for threshold, wrong in thresholds(eighths):
        result = evaluate(region, eighths, iou=(threshold,))
        block = result.numbers["metrics"][repr(threshold)]
        assert (block["micro"]["tp"], block["micro"]["fp"], block["micro"]["fn"]) == (1, wrong, 0)
        assert block["micro"]["precision"] == 1 / (1 + wrong)
        assert block["per_class"]["Table"]["fp"] == wrong
        outcomes = [row["outcome"] for row in result.outcomes(threshold=threshold).rows()]
        assert (outcomes.count("fp"), outcomes.count("ignored")) == (wrong, 2 - wrong)


@REGIONS
@EIGHTHS
def test_made_up_in_the_confusion_matrix(kernels: str, region: dict[str, int], eighths: int) -> None:
    for threshold, wrong in thresholds(eighths):
        matrix = evaluate(region, eighths, iou=(threshold,), confusion=True).numbers["confusion"]["matrix"]
        assert matrix == [[1, 0], [wrong, 0]]


@REGIONS
@EIGHTHS
@pytest.mark.parametrize("view", ["kinds", "tide"])
def test_errors_of_every_kind(kernels: str, view: str, region: dict[str, int], eighths: int) -> None:
    for threshold, wrong in thresholds(eighths):
        limits = (threshold, 0.1, 0.5, 0.7)
        kinds = evaluate(region, eighths, errors=view, error_limits=limits).numbers["errors"]["predictions"]
        assert sum(count for kind, count in kinds.items() if kind != "TP") == wrong


@REGIONS
@EIGHTHS
def test_labels_that_an_audit_finds_missing(kernels: str, region: dict[str, int], eighths: int) -> None:
    truth, found = read_pair(*sides(region, eighths))
    for threshold, wrong in thresholds(eighths):
        kinds = list(audit(truth, found, AuditRules(iou=threshold))["kind"])
        assert kinds.count("missing_label") == wrong
