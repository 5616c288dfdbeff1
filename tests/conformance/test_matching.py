"""Section 3 of the detection contract: who is paired with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Table
from calque.geometry.forms import BoxForm
from tests import independent
from tests.conformance import strategies
from tests.snapshots import BOX, predictions, truth

pytestmark = pytest.mark.usefixtures("kernels")

UNIT_BOX = (0.0, 0.0, 1.0, 0.5)


def outcomes(expected: Any, found: Any, *, iou: float = 0.5, **settings: Any) -> list[tuple[str, str, str]]:
    """(id, outcome, partner) of every object."""
    result = Evaluator(Detection(iou=(iou,), **settings)).update(expected, found).compute()
    return [(row["id"], row["outcome"], row["partner"]) for row in result.outcomes().rows()]


def page(*entries: tuple[Any, ...]) -> dict[tuple[str, int], list[tuple[Any, ...]]]:
    return {("d", 0): list(entries)}


def figure(box: Any, *score: float) -> tuple[Any, ...]:
    return ("Figure", box, *score)


def test_a_pair_at_exactly_the_threshold_counts() -> None:
    half = (0.0, 0.0, 0.5, 0.5)
    assert outcomes(truth(page(figure(UNIT_BOX))), predictions(page(figure(half, 0.9)))) == [
        ("d:0:0", "tp", "d:0:0"),
        ("d:0:0", "tp", "d:0:0"),
    ]


def test_a_pair_just_below_the_threshold_does_not() -> None:
    less = (0.0, 0.0, 0.4999, 0.5)
    found = outcomes(truth(page(figure(UNIT_BOX))), predictions(page(figure(less, 0.9))))
    assert [outcome for _, outcome, _ in found] == ["fn", "fp"]


def test_boxes_that_only_touch_share_nothing() -> None:
    found = outcomes(truth(page(figure((0, 0, 0.5, 1)))), predictions(page(figure((0.5, 0, 1, 1), 0.9))), iou=1e-300)
    assert [outcome for _, outcome, _ in found] == ["fn", "fp"]


def test_the_higher_iou_goes_first_whatever_the_score() -> None:
    expected = truth(page(figure(UNIT_BOX)))
    found = predictions(page(figure((0, 0, 0.8, 0.5), 0.99), figure((0, 0, 0.9, 0.5), 0.01)))
    assert outcomes(expected, found) == [("d:0:0", "tp", "d:0:1"), ("d:0:0", "fp", ""), ("d:0:1", "tp", "d:0:0")]


def test_greedy_is_not_optimal_and_must_not_be() -> None:
    # Of equal width, apart by their offsets: the first prediction fits both truths, the second only the first truth.
    def at(left: float) -> tuple[float, ...]:
        return (left, 0.0, left + 0.5, 1.0)

    expected = truth(page(figure(at(0.2)), figure(at(0.45))))
    found = predictions(page(figure(at(0.2625), 0.1), figure(at(0.1), 0.9)))
    assert [outcome for _, outcome, _ in outcomes(expected, found, iou=0.4)] == ["tp", "fn", "tp", "fp"]


def test_exact_ties_go_to_the_higher_score() -> None:
    found = predictions(page(figure(BOX, 0.5), figure(BOX, 0.75), figure(BOX, 0.25)))
    assert outcomes(truth(page(figure(BOX))), found)[0] == ("d:0:0", "tp", "d:0:1")


def test_then_to_the_earlier_prediction() -> None:
    found = predictions(page(figure(BOX, 0.5), figure(BOX, 0.5)))
    assert outcomes(truth(page(figure(BOX))), found)[0] == ("d:0:0", "tp", "d:0:0")


def test_then_to_the_earlier_truth() -> None:
    assert outcomes(truth(page(figure(BOX), figure(BOX))), predictions(page(figure(BOX, 0.5))))[:2] == [
        ("d:0:0", "tp", "d:0:0"),
        ("d:0:1", "fn", ""),
    ]


def test_a_prediction_without_a_score_comes_after_one_with_score_0() -> None:
    found = predictions(page(("Figure", BOX, None), figure(BOX, 0.0)))
    assert outcomes(truth(page(figure(BOX))), found, allow_missing_scores=True)[0] == ("d:0:0", "tp", "d:0:1")


@pytest.mark.parametrize(
    ("label", "place"), [("Table", ("d", 0)), ("Figure", ("d", 1)), ("Figure", ("e", 0))], ids=["class", "page", "document"]
)
def test_pairs_stay_within_document_page_and_class(label: str, place: tuple[str, int]) -> None:
    found = predictions({place: [(label, BOX, 0.9)]})
    assert [outcome for _, outcome, _ in outcomes(truth(page(figure(BOX))), found)] == ["fn", "fp"]


def test_page_ids_take_no_part_in_pairing() -> None:
    found = predictions(page(figure(BOX, 0.9)))
    found["predictions"][0]["page_id"] = "seite 1"
    assert [outcome for _, outcome, _ in outcomes(truth(page(figure(BOX))), found)] == ["tp", "tp"]


@given(strategies.pairs(), st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0]))
def test_pairs_are_those_of_brute_force(files: tuple[Any, Any], threshold: float) -> None:
    """Again and again the best pair of what is left, written down in the independent implementation."""
    expected, found = files
    table = Evaluator(Detection(iou=(threshold,))).update(expected, found).compute().outcomes()
    everything = {"a", "b", "c"}
    truths, predicted = (independent.objects_of(tree, independent.Options(), everything) for tree in files)
    happened = independent.outcome(truths, predicted, threshold)
    wanted = {
        (g.document, g.page, f"{g.document}:{g.page}:{g.position}", f"{p.document}:{p.page}:{p.position}")
        for g, p in happened.pairs
    }
    assert paired(table) == wanted


def paired(table: Table) -> set[tuple[str, int, str, str]]:
    return {
        (row["document"], row["page"], row["id"], row["partner"])
        for row in table.rows()
        if row["side"] == "truth" and row["outcome"] == "tp"
    }


@given(strategies.pairs(), st.sampled_from([(0.1, 0.5), (0.5, 0.75), (0.25, 1.0)]))
def test_the_match_at_a_higher_threshold_is_the_filtered_match_at_the_lower_one(
    files: tuple[Any, Any], thresholds: tuple[float, float]
) -> None:
    low, high = thresholds
    both = Evaluator(Detection(iou=thresholds)).update(*files).compute()
    alone = Evaluator(Detection(iou=(high,))).update(*files).compute()
    assert paired(both.outcomes(threshold=high)) == paired(alone.outcomes())
    assert both.numbers["metrics"][repr(high)] == alone.numbers["metrics"][repr(high)]
    kept = {
        (row["document"], row["page"], row["id"], row["partner"])
        for row in both.outcomes(threshold=low).rows()
        if row["side"] == "truth" and row["outcome"] == "tp" and row["iou"] >= high
    }
    assert kept == paired(alone.outcomes())


def test_outcomes_below_the_lowest_threshold_are_not_known() -> None:
    result = Evaluator(Detection()).update(truth(page(figure(BOX))), predictions(page(figure(BOX, 0.9)))).compute()
    with pytest.raises(ValueError, match=r"outcomes at 0\.4 are not known"):
        result.outcomes(threshold=0.4)


@pytest.mark.parametrize("form", ["xyxy", "xywh"])
def test_boxes_of_either_form_pair_alike(form: str) -> None:
    corners = np.array([[10, 20, 50, 60], [100, 100, 200, 260]])
    sizes = np.array([[10, 20, 40, 40], [100, 100, 100, 160]])
    expected = Corpus.from_arrays(corners, ["a", "b"])
    found = Corpus.from_arrays(corners if form == "xyxy" else sizes, ["a", "b"], scores=[0.5, 0.5], form=form)
    assert found.form is BoxForm(form)
    assert Evaluator(Detection()).update(expected, found).compute()["mean_iou@0.75"] == 1.0
