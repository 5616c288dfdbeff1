"""What crops lose: edge errors, cut shares, quantiles and the worst of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator
from calque.detection.views.crops import LIMITS, PERCENTS, SIDES, quantile
from tests.views.plain import LABELS, Box, boxes, evaluate

CROPS = Detection(crops=True, iou=(0.3,))


def test_each_side_has_its_sign() -> None:
    truth = Corpus.from_arrays([[10, 20, 110, 70]], ["Table"])
    found = Corpus.from_arrays([[15, 15, 100, 72.5]], ["Table"], scores=[0.9])
    (crop,) = Evaluator(CROPS).update(truth, found).compute().numbers["crops"]["worst"]
    assert {side: crop[side] for side in SIDES} == {"left": 0.05, "top": -0.1, "right": 0.1, "bottom": -0.05}
    assert (crop["document"], crop["page"], crop["truth"], crop["prediction"], crop["score"]) == (0, 0, 0, 0, 0.9)


def test_cut_by_more_than_the_limit_is_more() -> None:
    truth = Corpus.from_arrays([[0, 0, 64, 64]] * 2, ["Table"] * 2, pages=[0, 1])
    found = Corpus.from_arrays([[0, 16, 64, 64], [0, 0, 64, 64]], ["Table"] * 2, pages=[0, 1], scores=[0.9, 0.9])
    block = Evaluator(CROPS).update(truth, found).compute().numbers["crops"]["overall"]
    assert block["cut"]["top"] == {"0.02": 0.5, "0.05": 0.5, "0.1": 0.5}
    assert block["cut"]["any"] == block["cut"]["top"]
    assert block["cut"]["left"] == {"0.02": 0.0, "0.05": 0.0, "0.1": 0.0}


@given(truths=boxes, found=boxes)
def test_crops_are_counted_from_the_pairs(truths: list[Box], found: list[Box]) -> None:
    result = evaluate(truths, found, CROPS)
    view = result.numbers["crops"]
    ledger = result.ledger
    table = ledger.table("truth")
    for label in ("", *LABELS):
        block = view["per_class"][label] if label else view["overall"]
        rows = [
            row
            for row in range(table.height)
            if table.array("iou")[row] >= 0.3 and label in ("", ledger.names["label"][table.array("label")[row]])
        ]
        assert block["pairs"] == len(rows)
        edges = table.array("edges")[rows]
        for place, side in enumerate(SIDES):
            for limit in LIMITS:
                expected = sum(value > limit for value in edges[:, place]) / len(rows) if rows else None
                assert block["cut"][side][repr(limit)] == expected
        coverage = np.sort(table.array("coverage")[rows])
        for percent in PERCENTS:
            expected = np.quantile(coverage, percent / 100, method="inverted_cdf") if rows else None
            assert block["coverage"][f"p{percent}"] == expected
    worst = [crop["coverage"] for crop in view["worst"]]
    assert worst == sorted(worst)


@given(values=st.lists(st.integers(0, 50), min_size=1), percent=st.sampled_from(PERCENTS))
def test_a_quantile_is_the_smallest_value_that_enough_do_not_exceed(values: list[int], percent: int) -> None:
    ordered = sorted(values)
    expected = next(v for v in ordered if 100 * sum(other <= v for other in ordered) >= percent * len(ordered))
    assert quantile(np.array(ordered, dtype=np.float64), percent) == expected


def test_no_pairs() -> None:
    result = evaluate([Box("a", 0, "Table", 0, 0, 1, 1)], [], CROPS)
    assert result.numbers["crops"]["overall"]["coverage"]["p50"] is None
    assert result.undefined["crops.overall.cut.top.0.05"] == "no pairs"
    assert "– p5, p25, p50, p75, p95: no pairs (Figure: coverage, " in str(result)


def test_boxes_of_width_and_height_have_the_same_errors(kernels: str) -> None:
    truth = Corpus.from_arrays([[10, 20, 100, 50]], ["Table"], form="xywh")
    found = Corpus.from_arrays([[15, 15, 85, 57.5]], ["Table"], scores=[0.9], form="xywh")
    (crop,) = Evaluator(CROPS).update(truth, found).compute().numbers["crops"]["worst"]
    assert [crop[side] for side in SIDES] == pytest.approx([0.05, -0.1, 0.1, -0.05])
