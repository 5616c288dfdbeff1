"""Section 4 of the detection contract: the numbers, against an independent implementation and by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Result
from calque.base.errors import ConfigError
from tests import independent
from tests.conformance import strategies
from tests.independent import Options
from tests.snapshots import BOX, predictions, truth

BLOCKS = ("micro", "macro_classes", "weighted_classes", "macro_documents")
FAR = (0.6, 0.6, 0.9, 0.9)


def evaluated(expected: Any, found: Any, **settings: Any) -> Result:
    return Evaluator(Detection(**settings)).update(expected, found).compute()


def assert_agree(result: Result, wanted: Mapping[str, Any]) -> None:
    """Counts are equal, ratios agree to 1e-14, what is undefined on one side is so on the other."""
    numbers = result.to_dict()
    assert numbers["documents"] == wanted["documents"]
    assert list(numbers["metrics"]) == list(wanted["metrics"])
    for threshold, block in wanted["metrics"].items():
        mine = numbers["metrics"][threshold]
        for scope in BLOCKS:
            assert mine[scope] == pytest.approx(block[scope], abs=1e-14), (threshold, scope)
        assert mine["per_class"].keys() == block["per_class"].keys()
        for label, values in block["per_class"].items():
            assert mine["per_class"][label] == pytest.approx(values, abs=1e-14), (threshold, label)
        assert mine["empty_pages"]["fp"] == block["fp_on_empty_pages"]


@pytest.mark.usefixtures("kernels")
def test_the_real_pair(real_pair: tuple[Path, Path]) -> None:
    result = evaluated(*real_pair)
    micro = result.numbers["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (59, 59, 30)
    assert_agree(result, independent.evaluate(*(json.loads(path.read_text()) for path in real_pair)))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", ["tfid_ref.json", "yolo11_ref.json"])
def test_other_real_predictions(test_data: Path, real_pair: tuple[Path, Path], name: str) -> None:
    files = real_pair[0], test_data / "data-snapshot" / name
    assert_agree(evaluated(*files), independent.evaluate(*(json.loads(path.read_text()) for path in files)))


options = st.builds(
    Options,
    labels=st.sampled_from([(), ("Table",), ("Figure", "Table")]),
    min_area=st.sampled_from([0.0, 0.01, 0.05]),
    min_score=st.sampled_from([0.0, 0.5, 0.8]),
    missing=st.sampled_from(["penalize", "intersect"]),
    class_weight=st.sampled_from([None, {"Table": 2.0}, {"Table": 0.0}, {"Figure": 0.5, "Table": 3.0}]),
)


@pytest.mark.usefixtures("kernels")
@given(strategies.pairs(), options, st.sampled_from([(0.5, 0.75), (0.3,), (0.25, 0.5, 1.0)]))
def test_random_files_with_all_options(files: tuple[Any, Any], chosen: Options, thresholds: tuple[float, ...]) -> None:
    result = evaluated(
        *files,
        iou=thresholds,
        labels=chosen.labels,
        min_area=chosen.min_area,
        min_score=chosen.min_score,
        missing=chosen.missing,
        class_weight=tuple((chosen.class_weight or {}).items()),
    )
    assert_agree(result, independent.evaluate(*files, thresholds, chosen))


# By hand: two documents, three truths, four predictions.

EXPECTED = truth({
    ("a", 0): [("Figure", (0, 0, 0.5, 1)), ("Table", (0.5, 0, 1, 1))],
    ("b", 0): [("Figure", (0, 0, 0.5, 1))],
    ("b", 1): [],
})  # fmt: skip
FOUND = predictions({
    ("a", 0): [("Figure", (0, 0, 0.5, 0.75), 0.9)],
    ("b", 0): [("Figure", (0, 0, 0.5, 0.5), 0.8), ("Figure", FAR, 0.7)],
    ("b", 1): [("Figure", FAR, 0.6)],
})  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tp@0.5", 2),
        ("fp@0.5", 2),
        ("fn@0.5", 1),
        ("precision@0.5", 2 / 4),
        ("recall@0.5", 2 / 3),
        ("f1@0.5", 4 / 7),
        ("mean_iou@0.5", (0.75 + 0.5) / 2),
        ("mean_coverage@0.5", (0.75 + 0.5) / 2),
        ("mean_purity@0.5", 1.0),
        ("precision@0.75", 1 / 4),
        ("recall@0.75", 1 / 3),
        ("mean_iou@0.75", 0.75),
        ("precision@0.5/Figure", 2 / 4),
        ("recall@0.5/Figure", 1.0),
        ("precision@0.5/Table", None),
        ("recall@0.5/Table", 0.0),
        ("f1@0.5/Table", 0.0),
        ("mean_iou@0.5/Table", None),
        ("macro_classes.precision@0.5", 2 / 4),
        ("macro_classes.recall@0.5", 1 / 2),
        ("macro_classes.f1@0.5", (2 / 3) / 2),
        ("weighted_classes.recall@0.5", (1.0 * 2 + 0.0 * 1) / 3),
        ("macro_documents.precision@0.5", (1.0 + 1 / 3) / 2),
        ("macro_documents.recall@0.5", (1 / 2 + 1.0) / 2),
        ("macro_documents.mean_iou@0.5", (0.75 + 0.5) / 2),
    ],
)
def test_by_hand(name: str, value: float | None) -> None:
    assert evaluated(EXPECTED, FOUND)[name] == (None if value is None else pytest.approx(value, abs=1e-15))


def test_false_positives_on_pages_without_ground_truth_are_reported_separately() -> None:
    metrics = evaluated(EXPECTED, FOUND).numbers["metrics"]
    assert metrics["0.5"]["empty_pages"] == {"pages": 1, "pages_with_fp": 1, "fp": 1}


def test_a_page_that_only_the_predictions_know_has_no_ground_truth() -> None:
    found = predictions({("a", 7): [("Figure", BOX, 0.5), ("Table", BOX, 0.5)]})
    metrics = evaluated(truth({("a", 0): [("Figure", BOX)]}), found).numbers["metrics"]
    assert metrics["0.5"]["empty_pages"] == {"pages": 1, "pages_with_fp": 1, "fp": 2}


def test_pages_of_documents_that_are_left_out_are_not_empty_pages() -> None:
    found = predictions({("a", 0): [("Figure", BOX, 0.5)], ("b", 0): [("Figure", BOX, 0.5)]})
    metrics = evaluated(truth({("a", 0): [("Figure", BOX)]}), found, missing="intersect").numbers["metrics"]
    assert metrics["0.5"]["empty_pages"] == {"pages": 0, "pages_with_fp": 0, "fp": 0}


# Undefined values.


def test_undefined_is_none_with_a_reason_and_leaves_the_macro_means() -> None:
    result = evaluated(truth({("a", 0): [("Figure", BOX)]}), predictions({("a", 0): [("Figure", BOX, 0.5)]}))
    assert result["precision@0.5/Table"] is None
    assert result.undefined["metrics.0.5.per_class.Table.precision"] == "no predictions"
    assert result.undefined["metrics.0.5.per_class.Table.recall"] == "no truths"
    assert result.undefined["metrics.0.5.per_class.Table.f1"] == "no truths and no predictions"
    assert result.undefined["metrics.0.5.per_class.Table.mean_iou"] == "no pairs"
    for scope in ("macro_classes", "weighted_classes", "macro_documents"):
        assert result[f"{scope}.precision@0.5"] == 1.0


def test_every_none_has_a_reason_and_every_reason_a_none() -> None:
    result = evaluated(truth({("a", 0): []}), predictions({("b", 0): []}))

    def nones(node: Any, path: str) -> set[str]:
        if isinstance(node, Mapping):
            return {p for key, value in node.items() for p in nones(value, f"{path}.{key}" if path else key)}
        return {path} if node is None else set()

    assert nones(result.numbers, "") == set(result.undefined)
    assert result.undefined["metrics.0.75.macro_classes.f1"] == "nothing was evaluated"
    assert result.undefined["metrics.0.75.macro_documents.f1"] == "nothing was evaluated"


def test_f1_is_0_when_tp_is_0_and_something_is_there() -> None:
    only_truth = evaluated(truth({("a", 0): [("Figure", BOX)]}), predictions({("a", 0): []}))
    only_found = evaluated(truth({("a", 0): []}), predictions({("a", 0): [("Figure", BOX, 0.5)]}))
    assert only_truth["f1@0.5"] == only_found["f1@0.5"] == 0.0
    assert (only_truth["precision@0.5"], only_truth["recall@0.5"]) == (None, 0.0)
    assert (only_found["precision@0.5"], only_found["recall@0.5"]) == (0.0, None)


# Class weights.


def test_class_weights_weigh_the_means_over_classes_and_nothing_else() -> None:
    plain, weighted = evaluated(EXPECTED, FOUND), evaluated(EXPECTED, FOUND, class_weight={"Table": 3})
    assert weighted["macro_classes.recall@0.5"] == (1.0 * 1 + 0.0 * 3) / 4
    assert weighted["weighted_classes.recall@0.5"] == (1.0 * 1 * 2 + 0.0 * 3 * 1) / 5
    for scope in ("micro", "per_class", "macro_documents"):
        assert weighted.numbers["metrics"]["0.5"][scope] == plain.numbers["metrics"]["0.5"][scope]
    assert "class-weight:Table=3.0" in str(weighted.signature)


def test_means_are_undefined_when_no_class_weighs_anything() -> None:
    result = evaluated(EXPECTED, FOUND, class_weight={"Table": 0, "Figure": 0})
    assert result["macro_classes.recall@0.5"] is None


def test_the_largest_class_weights_still_give_a_mean() -> None:
    result = evaluated(EXPECTED, FOUND, class_weight={"Table": 1e100, "Figure": 1e100})
    assert result["macro_classes.recall@0.5"] == pytest.approx(0.5)


# Options.


def outcome_by_id(result: Result, side: str) -> dict[str, str]:
    return {row["id"]: row["outcome"] for row in result.outcomes().rows() if row["side"] == side}


def test_labels_keeps_these_on_both_sides() -> None:
    result = evaluated(EXPECTED, FOUND, labels=("Table",))
    micro = result.numbers["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (0, 0, 1)
    assert list(result.numbers["metrics"]["0.5"]["per_class"]) == ["Table"]
    assert list(result.numbers["coco"]["per_class"]) == ["Table"]
    assert result.numbers["counts"]["predictions_not_counted"] == {"other_label": 4}
    assert set(outcome_by_id(result, "prediction").values()) == {"excluded"}
    assert "labels:Table" in str(result.signature)


def test_min_area_makes_smaller_truths_ignored_and_excuses_what_lies_on_them() -> None:
    expected = truth({("a", 0): [("Figure", (0, 0, 0.1, 0.1)), ("Figure", FAR)]})
    on_it, off_it = ("Figure", (0, 0, 0.1, 0.2), 0.9), ("Figure", (0.3, 0.3, 0.5, 0.5), 0.9)
    result = evaluated(expected, predictions({("a", 0): [on_it, off_it]}), min_area=0.015)
    assert outcome_by_id(result, "truth") == {"a:0:0": "ignored", "a:0:1": "fn"}
    assert outcome_by_id(result, "prediction") == {"a:0:0": "ignored", "a:0:1": "fp"}
    assert "min-area:0.015" in str(result.signature)


def test_a_prediction_is_excused_at_the_thresholds_that_its_share_reaches() -> None:
    expected = truth({("a", 0): [("Figure", (0, 0, 0.1, 0.1))]})
    found = predictions({("a", 0): [("Figure", (0, 0, 0.1, 0.16), 0.9)]})
    result = evaluated(expected, found, min_area=0.015)
    assert (result["fp@0.5"], result["fp@0.75"]) == (0, 1)


def test_an_object_of_exactly_the_smallest_area_counts() -> None:
    result = evaluated(truth({("a", 0): [("Figure", (0, 0, 0.5, 0.5))]}), predictions({("a", 0): []}), min_area=0.25)
    assert result["fn@0.5"] == 1


def test_min_area_ignores_small_predictions_that_find_nothing() -> None:
    result = evaluated(truth({("a", 0): []}), predictions({("a", 0): [("Figure", (0, 0, 0.1, 0.1), 0.9)]}), min_area=0.02)
    assert outcome_by_id(result, "prediction") == {"a:0:0": "ignored"}
    assert result["precision@0.5"] is None


def test_min_area_is_in_input_units() -> None:
    expected = Corpus.from_arrays([[0, 0, 10, 10], [20, 20, 120, 120]], ["a", "a"])
    result = evaluated(expected, Corpus.from_arrays([], [], all_documents=[0]), min_area=101)
    assert result["fn@0.5"] == 1


def test_min_score_drops_predictions_below_it_and_keeps_those_at_it() -> None:
    found = predictions({("a", 0): [("Figure", BOX, 0.49), ("Table", BOX, 0.5)]})
    result = evaluated(truth({("a", 0): [("Figure", BOX)]}), found, min_score=0.5)
    assert outcome_by_id(result, "prediction") == {"a:0:0": "excluded", "a:0:1": "fp"}
    assert result["recall@0.5"] == 0.0


def test_min_score_drops_small_predictions_too() -> None:
    expected = truth({("a", 0): [("Figure", (0, 0, 0.2, 0.1))]})
    found = predictions({("a", 0): [("Figure", (0, 0, 0.19, 0.1), 0.1)]})
    result = evaluated(expected, found, min_score=0.5, min_area=0.0195)
    assert (result["tp@0.5"], result["fn@0.5"]) == (0, 1)


def test_predictions_without_a_score_are_not_below_any_score() -> None:
    found = predictions({("a", 0): [("Figure", BOX, None)]})
    result = evaluated(truth({("a", 0): [("Figure", BOX)]}), found, min_score=0.5, allow_missing_scores=True)
    assert result["recall@0.5"] == 1.0


ONE_SIDED = (
    truth({("a", 0): [("Figure", BOX)], ("only-truth", 0): [("Figure", BOX)]}),
    predictions({("a", 0): [("Figure", BOX, 0.5)], ("only-found", 0): [("Figure", BOX, 0.5)]}),
)


@pytest.mark.parametrize(("missing", "counts"), [("penalize", (1, 1, 1)), ("intersect", (1, 0, 0))])
def test_documents_known_to_one_side_only(missing: str, counts: tuple[int, int, int]) -> None:
    result = evaluated(*ONE_SIDED, missing=missing)
    micro = result.numbers["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == counts
    assert result.numbers["documents"] == {"only_truth": ["only-truth"], "only_predictions": ["only-found"]}
    assert f"missing:{missing}" in str(result.signature)
    assert "only-found" in str(result)


def test_documents_that_are_left_out_leave_the_mean_of_documents() -> None:
    assert evaluated(*ONE_SIDED, missing="intersect")["macro_documents.recall@0.5"] == 1.0
    assert evaluated(*ONE_SIDED)["macro_documents.recall@0.5"] == 0.5


def test_a_page_absent_from_one_file_is_an_empty_page_under_both() -> None:
    expected = truth({("a", 0): [("Figure", BOX)], ("a", 1): [("Figure", BOX)]})
    found = predictions({("a", 0): [("Figure", BOX, 0.5)]})
    for missing in ("penalize", "intersect"):
        assert evaluated(expected, found, missing=missing)["recall@0.5"] == 0.5


@pytest.mark.parametrize(
    "settings",
    [
        {"iou": ()},
        {"iou": (0.0,)},
        {"iou": (1.01,)},
        {"iou": (float("nan"),)},
        {"min_area": -1},
        {"min_area": float("nan")},
        {"min_score": float("inf")},
        {"missing": "ignore"},
        {"class_weight": {"Table": -1}},
        {"class_weight": {"Table": float("inf")}},
        {"class_weight": {"Table": float("nan")}},
        {"class_weight": {"Table": 1e308}},
        {"class_weight": (("Table", 1), ("Table", 2))},
        {"class_weight": {"": 2}},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Detection(**settings)


def test_thresholds_are_sorted_and_counted_once() -> None:
    assert Detection(iou=(0.75, 0.5, 0.75)).iou == (0.5, 0.75)
    assert Detection(iou=(0.75, 0.5)).signature().differences(Detection().signature()) == []


def test_every_object_has_exactly_one_outcome() -> None:
    result = evaluated(*ONE_SIDED, missing="intersect", labels=("Table",), min_score=0.6, min_area=0.5)
    rows = list(result.outcomes().rows())
    assert len(rows) == 4
    assert {row["outcome"] for row in rows} <= {"tp", "fp", "fn", "ignored", "excluded"}
    assert all(row["reason"] for row in rows if row["outcome"] == "excluded")


def test_truth_and_predictions_in_different_units_are_refused() -> None:
    with pytest.raises(Exception, match="shares of the page here and pixels"):
        evaluated(EXPECTED, Corpus.from_arrays([[0, 0, 5, 5]], ["Figure"], scores=[0.5]))
