"""The sweep against dropping predictions and pairing anew at every score."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import ConfigError, Corpus, Detection, Evaluator
from calque.detection.views.sweep import POINTS
from tests.views.plain import LABELS, Box, boxes, corpus, evaluate, iou


def right_ones(truths: list[Box], found: list[Box]) -> int:
    """How many predictions find a truth, each taking the best free one, from the highest score down."""
    taken: set[int] = set()
    for _, prediction in sorted(enumerate(found), key=lambda item: (-item[1].score, item[0])):
        place = (prediction.document, prediction.page, prediction.label)
        free = [
            (iou(truth, prediction), position)
            for position, truth in enumerate(truths)
            if position not in taken and (truth.document, truth.page, truth.label) == place and iou(truth, prediction) >= 0.3
        ]
        if free:
            taken.add(max(free)[1])
    return len(taken)


def points(truths: list[Box], found: list[Box]) -> list[dict[str, float]]:
    listed = []
    for score in sorted({b.score for b in found}, reverse=True):
        kept = [b for b in found if b.score >= score]
        tp = right_ones(truths, kept)
        precision, recall = tp / len(kept), tp / len(truths)
        f1 = 2 * tp / (len(kept) + len(truths))
        listed.append(
            {
                "score": score,
                "tp": tp,
                "fp": len(kept) - tp,
                "fn": len(truths) - tp,
                "precision": precision,
                "recall": recall,
                "f1": f1,
            }
        )
    return listed


@given(truths=boxes, found=boxes, floor=st.sampled_from([0.25, 0.5, 0.75, 1.0]), kind=st.sampled_from(["recall", "precision"]))
def test_every_threshold_is_an_evaluation_of_its_own(truths: list[Box], found: list[Box], floor: float, kind: str) -> None:
    floors = {f"{kind}_floor": floor}
    result = evaluate(truths, found, Detection(iou=(0.3,), **floors))  # type: ignore[arg-type]  # floors by name
    view = result.numbers["sweep"]
    for name, block in [("", view["overall"]), *view["per_class"].items()]:
        mine = [b for b in truths if name in ("", b.label)]
        theirs = [b for b in found if name in ("", b.label)]
        if not mine or not theirs:
            assert (block["best_f1"], block["at_floor"], block["points"]) == (None, None, 0)
            continue
        expected = points(mine, theirs)
        assert block["curve"]["scores"] == [point["score"] for point in expected]
        for key in ("precision", "recall", "f1"):
            assert block["curve"][key] == [point[key] for point in expected]
        assert block["best_f1"] == max(expected, key=lambda point: (point["f1"], point["score"]))
        other = "precision" if kind == "recall" else "recall"
        holding = [point for point in expected if point[kind] >= floor]
        best = max(holding, key=lambda point: (point[other], point[kind], point["score"]), default=None)
        assert block["at_floor"] == best
        if best is None:
            reason = result.undefined[f"sweep.{f'per_class.{name}' if name else 'overall'}.at_floor"]
            assert reason.endswith(f"the most is {kind} {max(point[kind] for point in expected):.4f}")


def test_long_curves_are_thinned_and_keep_the_best() -> None:
    truths = [Box("a", 0, "Table", 0, 0, 1, 1)]
    found = [Box("a", 0, "Table", 0, 0, 1, 1, 0.7123)]
    found += [Box("a", 0, "Table", 5, 5, 6, 6, n / 5000) for n in range(5000)]
    block = evaluate(truths, found, Detection(sweep=True)).numbers["sweep"]["overall"]
    assert block["points"] == 5001
    assert POINTS <= len(block["curve"]["scores"]) <= POINTS + 2
    assert 0.7123 in block["curve"]["scores"]
    assert block["best_f1"]["score"] == 0.7123
    assert block["curve"]["scores"][-1] == 0.0


def test_both_floors_take_the_best_f1() -> None:
    truths = [Box("a", 0, "Table", x, 0, x + 1, 1) for x in (0, 2, 4, 6)]
    found = [Box("a", 0, "Table", x, 0, x + 1, 1, score) for x, score in ((0, 0.9), (20, 0.8), (2, 0.7), (4, 0.6), (30, 0.5))]
    block = evaluate(truths, found, Detection(recall_floor=0.5, precision_floor=0.5)).numbers["sweep"]["overall"]
    assert (block["at_floor"]["score"], block["at_floor"]["tp"]) == (0.6, 3)


def test_the_points_that_are_told_are_on_the_curve_that_is_shown() -> None:
    """However many points it has, of which some are shown: after the first 300 every second prediction is wrong."""
    truths = [Box("a", 0, "Table", 2 * x, 0, 2 * x + 1, 1) for x in range(1009)]
    wrong = [x >= 300 and x % 2 == 0 for x in range(1009)]
    found = [Box("a", 0, "Table", 2 * x, 5 * wrong[x], 2 * x + 1, 5 * wrong[x] + 1, 1 - x / 2000) for x in range(1009)]
    for floor in (0.8, 0.85, 0.9, 0.95):
        block = evaluate(truths, found, Detection(precision_floor=floor)).numbers["sweep"]["overall"]
        assert block["points"] > len(block["curve"]["scores"])
        assert block["best_f1"]["score"] < block["at_floor"]["score"]
        assert {block["best_f1"]["score"], block["at_floor"]["score"]} <= set(block["curve"]["scores"])


def test_a_floor_that_nothing_reaches_says_what_is_reached() -> None:
    truths = [Box("a", 0, "Table", 0, 0, 1, 1), Box("a", 0, "Table", 5, 5, 6, 6)]
    result = evaluate(truths, [Box("a", 0, "Table", 0, 0, 1, 1, 0.5)], Detection(recall_floor=0.9))
    assert result.undefined["sweep.overall.at_floor"] == "no score threshold has recall 0.9; the most is recall 0.5000"


def test_predictions_without_scores_have_no_sweep() -> None:
    truths = [Box("a", 0, "Table", 0, 0, 1, 1)]
    result = Evaluator(Detection(sweep=True)).update(corpus(truths, scores=False), corpus(truths, scores=False)).compute()
    assert result.undefined["sweep.per_class.Table.best_f1"] == "1 prediction has no score"


def test_min_score_does_not_hide_thresholds() -> None:
    truths = [Box("a", 0, LABELS[0], 0, 0, 1, 1)]
    found = [Box("a", 0, LABELS[0], 0, 0, 1, 1, 0.2)]
    block = evaluate(truths, found, Detection(sweep=True, min_score=0.5)).numbers["sweep"]["overall"]
    assert block["best_f1"]["score"] == 0.2


def test_small_predictions_and_crowds_are_excused(kernels: str) -> None:
    truth = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]},
            {"id": 2, "image_id": 1, "category_id": 1, "bbox": [50, 50, 40, 40], "iscrowd": 1},
        ],
    }
    shapes = [([0, 0, 10, 9], 0.9), ([55, 55, 10, 10], 0.8), ([30, 30, 2, 2], 0.7), ([30, 0, 10, 10], 0.6)]
    found = [{"image_id": 1, "category_id": 1, "bbox": shape, "score": score} for shape, score in shapes]
    block = Evaluator(Detection(sweep=True, min_area=5)).update(truth, found).compute().numbers["sweep"]["overall"]
    assert block["curve"]["scores"] == [0.9, 0.6]
    assert block["curve"]["precision"] == [1.0, 0.5]


def test_floors_are_shares() -> None:
    for floor in (-0.1, 1.5, math.nan):
        with pytest.raises(ConfigError, match="recall_floor must be a share"):
            Detection(recall_floor=floor)


def test_floors_are_in_the_signature_and_the_views_are_not(tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    table.write_text("doc_id,year\na,2024\n")
    assert "recall-floor:0.9" in str(Detection(recall_floor=0.9).signature())
    everything = Detection(crops=True, confusion=True, sweep=True, page_view=True, by=("year",), metadata=str(table))
    assert everything.signature() == Detection().signature()


def test_a_state_without_the_columns_says_so() -> None:
    truths, found = [Box("a", 0, "Table", 0, 0, 1, 1)], [Box("a", 0, "Table", 0, 0, 1, 1, 0.5)]
    asked = Evaluator(Detection(sweep=True, confusion=True, page_view=True, by=("year",)))
    first = (corpus(truths, scores=False), corpus(found, scores=True))
    plain = Evaluator(Detection(), keep="numbers")
    other = [Corpus.from_arrays([[0, 0, 1, 1]], ["Table"], documents=["z"], scores=s) for s in (None, [0.5])]
    plain.update(*other)
    asked._parts.add(asked.task.score(*first))  # the check of columns is another test's
    numbers = asked.merge(plain).compute()
    assert "without the sweep" in numbers.undefined["sweep.overall.best_f1"]
    assert "without the confusion" in numbers.undefined["confusion"]
    assert "without the page view" in numbers.undefined["page_view"]
    assert "without slices" in numbers.undefined["slices.year"]
    assert str(numbers)


def test_a_floor_of_one_takes_the_most_of_the_other() -> None:
    """One right, a wrong one, three right: the most precise point finds the least."""
    truths = [Box("a", 0, "Table", x, 0, x + 1, 1) for x in (0, 2, 4, 6)]
    places = ((0, 0.9), (20, 0.8), (2, 0.7), (4, 0.6), (6, 0.5), (30, 0.4))
    found = [Box("a", 0, "Table", x, 0, x + 1, 1, score) for x, score in places]
    chosen = {}
    for floor in ("precision_floor", "recall_floor"):
        block = evaluate(truths, found, Detection(**{floor: 0.25})).numbers["sweep"]["overall"]  # type: ignore[arg-type]
        chosen[floor] = block["at_floor"]["score"]
    assert chosen == {"precision_floor": 0.5, "recall_floor": 0.9}


@given(boxes, boxes, st.sampled_from([0.0, 0.4, 0.8]), st.sampled_from([0.0, 12.0]))
@example([Box("a", 0, LABELS[0], 0, 0, 9, 9, 0.9)], [Box("a", 0, LABELS[0], 0, 0, 2, 2, 0.1)], 0.4, 12.0)
@example([Box("a", 0, LABELS[0], 0, 0, 9, 9, 0.9)], [Box("a", 0, LABELS[0], 0, 0, 9, 9, 0.1)], 0.4, 12.0)
def test_kept_outcomes_have_the_columns_of_the_views(truths: list[Box], found: list[Box], least: float, small: float) -> None:
    sides = corpus(truths, scores=False), corpus(found, scores=True)
    settings = {"min_score": least, "min_area": small}
    plain, asked = (
        Evaluator(Detection(**settings, confusion=views, sweep=views)).update(*sides).compute() for views in (False, True)
    )
    for table, column in (("truth", "met"), ("found", "swept")):
        assert plain.ledger.table(table).array(column).tolist() == asked.ledger.table(table).array(column).tolist()
