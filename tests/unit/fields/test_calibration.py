"""What confidences are worth, by counting, whichever way the rated fields are split and ranked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Fields
from calque.base.columns import Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined
from calque.evaluation.storage import ranking
from calque.evaluation.storage.partitioned import PartCollector
from calque.fields.confidence.calibration import SWEEP_POINTS, Ratings
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare

KEYS = ("a", "b[0].x", "b[1].x")
CONFIDENCES = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0)

Row = tuple[int, int, bool, float]
"""Document, key, whether it is right, confidence."""

rows_of_documents = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.booleans(), st.sampled_from(CONFIDENCES)), max_size=30
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


def ledger(rows: list[Row], units: tuple[int, ...] = (0, 1, 2, 3, 4)) -> Ledger:
    position = {unit: code for code, unit in enumerate(units)}
    kept = [row for row in rows if row[0] in position]
    table = Table({
        UNIT: np.array([position[row[0]] for row in kept], dtype=np.int32),
        "key": np.array([row[1] for row in kept], dtype=np.int32),
        "match": np.array([row[2] for row in kept], dtype=np.bool_),
        "confidence": np.array([row[3] for row in kept], dtype=np.float64),
    })  # fmt: skip
    return Ledger(units=units, tables={"ratings": table}, names={"key": KEYS})


def said(ledger: Ledger, target: float = 0.75) -> dict[str, Any]:
    ratings = Ratings(ledger, target)
    return {**ratings.confidence_metrics(len(CONFIDENCES)), "acceptance": ratings.acceptance()}


def ranked(rows: list[Row]) -> list[Row]:
    """By confidence, then by key in the order of first rows; the sort keeps the order of the rest."""
    first = {key: place for place, (_, key, _, _) in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (row[3], first[row[1]]))


@given(rows_of_documents)
def test_calibration_by_counting(rows: list[Row]) -> None:
    whole = said(ledger(rows))
    rated = [(match, confidence) for _, _, match, confidence in ranked(rows)]
    right, wrong = ([c for m, c in rated if m is wanted] for wanted in (True, False))
    overall = whole["overall"]
    if right and wrong:
        wins = sum((a > b) + 0.5 * (a == b) for a in right for b in wrong)
        assert overall["auroc"]["value"] == pytest.approx(wins / (len(right) * len(wrong)))
    else:
        assert isinstance(overall["auroc"]["value"], Undefined)
    budgets = overall["error_capture_at_budget"]["budgets"]
    assert bool(budgets) == bool(wrong)
    for budget, entry in budgets.items():
        reviewed = max(1, int(len(rated) * float(budget)))
        assert entry["errors_found"] == sum(not m for m, _ in rated[:reviewed])
        assert entry["gain"] == pytest.approx(entry["errors_found"] / len(wrong) / (reviewed / len(rated)))
    if not rated:
        assert isinstance(overall["brier_score"]["value"], Undefined)
        assert overall["ece"]["bins"] == []
        return
    assert overall["brier_score"]["value"] == pytest.approx(sum((c - m) ** 2 for m, c in rated) / len(rated))
    bins = overall["ece"]["bins"]
    assert sum(each["count"] for each in bins) == len(rated)
    assert bins[9]["count"] == sum(c >= 0.9 for _, c in rated)
    assert overall["ece"]["value"] == pytest.approx(
        sum(each["count"] / len(rated) * abs(each["accuracy"] - each["mean_confidence"]) for each in bins)
    )


@given(rows_of_documents)
def test_the_sweep_by_counting(rows: list[Row]) -> None:
    acceptance = said(ledger(rows))["acceptance"]
    rated = [(match, confidence) for _, _, match, confidence in rows]
    assert [point["confidence"] for point in acceptance["sweep"]] == sorted({c for _, c in rated}, reverse=True)
    for point in acceptance["sweep"]:
        accepted = [m for m, c in rated if c >= point["confidence"]]
        assert point["precision"] == sum(accepted) / len(accepted)
        assert point["accepted"] == len(accepted) / len(rated)
        assert point["recall"] == (sum(accepted) / sum(m for m, _ in rated) if any(m for m, _ in rated) else 0.0)
    good = [point for point in acceptance["sweep"] if point["precision"] >= 0.75]
    if good:
        assert acceptance["operating_point"] == good[-1]
    else:
        assert all(isinstance(value, Undefined) for value in acceptance["operating_point"].values())


@given(rows_of_documents, st.permutations(range(5)), st.integers(1, 7))
def test_no_split_and_no_length_of_stretches_changes_a_digit(rows: list[Row], order: list[int], most: int) -> None:
    parts = PartCollector(0)
    for unit in order:
        parts.add(ledger(rows, (unit,)))
    whole = said(ledger(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "RANGE_ROWS", most)
        assert said(parts.ledger()) == whole
        assert said(ledger(rows)) == whole


def test_the_operating_point_is_the_lowest_confidence_that_keeps_the_precision() -> None:
    rows = [(0, 1, right, confidence) for right, confidence in zip([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1], strict=True)]
    accepted = said(ledger(rows))["acceptance"]
    assert accepted["operating_point"] == {"confidence": 0.6, "precision": 0.75, "recall": 1.0, "accepted": 0.8}
    assert accepted["meaning"] == "accepting fields from a confidence of 0.6 automates 80 % at 75 % precision"
    assert accepted["fields"] == {
        "b[].x": {key: value for key, value in accepted.items() if key not in ("target_precision", "fields")}
    }
    assert said(ledger(rows), 0.99)["acceptance"]["operating_point"]["confidence"] == 0.8
    nothing = said(ledger([]), 0.99)["acceptance"]
    assert nothing["operating_point"]["confidence"] == Undefined("no confidences")
    assert nothing["meaning"] == "nothing can be accepted unseen at 99 % precision"
    assert said(ledger(rows))["coverage"] == {"fields_with_confidence": 5, "fields_total": 6, "ratio": 5 / 6}


def test_a_long_sweep_shows_points_from_end_to_end() -> None:
    rows = [(0, 0, place % 3 == 0, place / 1000) for place in range(1000)]
    points = said(ledger(rows))["acceptance"]["sweep"]
    assert len(points) == SWEEP_POINTS
    assert [point["confidence"] for point in points] == [
        (999 - place) / 1000 for place in np.linspace(0, 999, SWEEP_POINTS).astype(int)
    ]


@given(rows_of_documents)
def test_each_key_is_measured_as_if_alone(rows: list[Row]) -> None:
    whole = said(ledger(rows))["fields"]
    for code, name in enumerate(KEYS):
        alone = [row for row in rows if row[1] == code]
        assert (name in whole) == bool(alone)
        if alone:
            assert whole[name] == said(ledger(alone))["overall"]


def test_equal_confidences_stand_by_key_in_the_order_of_first_rows() -> None:
    # One field is reviewed at 10 %: the first of the key that came first.
    rows = [(0, 1, False, 0.5), (0, 0, True, 0.5), (1, 1, True, 0.5), (1, 0, True, 0.5)]
    assert said(ledger(rows))["overall"]["error_capture_at_budget"]["budgets"]["0.10"]["errors_found"] == 1
    assert said(ledger([rows[1], rows[0]]))["overall"]["error_capture_at_budget"]["budgets"]["0.10"]["errors_found"] == 0
    # Three are reviewed at 75 %, which is more than any budget; at 50 % both of the first key.
    rows = [(0, 1, True, 0.5), (0, 0, False, 0.5), (1, 1, False, 0.5), (1, 0, True, 0.5)]
    assert said(ledger(rows))["overall"]["error_capture_at_budget"]["budgets"]["0.50"]["errors_found"] == 1


def test_intervals_count_the_documents_that_their_measure_looks_at() -> None:
    """All fourteen have values, boxes and confidences; two have another field with a box besides."""

    def records(width: int, *wrong: int) -> list[dict[str, Any]]:
        return [
            {
                "id": number,
                "a": {"_value": str(number in wrong), "_bbox": [0, 0, width + number % 3, 9], "_confidence": 0.5 + number / 40},
                **({"b": {"_value": "x", "_bbox": [0, 0, 9, 9], "_confidence": 0.75}} if number < 2 else {}),
            }
            for number in range(14)
        ]

    task = Fields(schema={"fields": {"a": {"type": "str"}, "b": {"type": "str"}}})
    runs = [Evaluator(task).update(records(9), records(*found)).compute() for found in ((10, 3), (12, 1, 2))]
    measures = compare(runs, ["old", "new"], resampling=Resampling(replicates=100)).measures
    looking = ("mean_ap", "map_50", "map_75", "ap", "ap_50", "ap_75", "mean_iou", "auroc", "brier_score", "ece")
    counted = {
        name: {interval.documents for interval in each.runs.values()}
        for name, each in measures.items()
        if name.partition("/")[0] in looking
    }
    assert {name.partition("/")[0] for name in counted} == {*looking}
    assert {name: found for name, found in counted.items() if found != {2 if name.endswith("/b") else 14}} == {}
