"""The bulk evaluator and its accumulators: adding up, states, documents without ids, accumulators of users."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, MergeError, StructuredModel
from calque.core.columns import Table
from calque.core.measures import Undefined
from calque.fields import BBoxMAPAccumulator, BulkStructuredModelEvaluator, ConfidenceAccumulator, PostComparisonAccumulator
from calque.fields.calibration import (
    Ranked,
    acceptance,
    auroc,
    brier,
    calibration_error,
    confidence_metrics,
    error_capture,
    sweep,
)

SCHEMA = {"fields": {"a": {"type": "str"}, "l": {"type": "list[object]", "fields": {"b": {"type": "str"}}}}}
Model = StructuredModel.model_from_config(SCHEMA)


def pair(number: int) -> tuple[StructuredModel, StructuredModel]:
    box = [number, 0, number + 10, 10]
    item = {"b": {"_value": f"item {number}", "_bbox": box}}
    truth = {"a": {"_value": "x", "_bbox": box}, "l": [item]}
    found = {
        "a": {"_value": "x" if number % 3 else "y", "_bbox": [0, 0, 10, 10], "_confidence": 0.5 + number / 100},
        "l": [item, item],
    }
    return Model.from_json(truth), Model.from_json(found)


def accumulators() -> list[Any]:
    return [BBoxMAPAccumulator(), ConfidenceAccumulator()]


def filled(numbers: range, *, named: bool = True, **settings: Any) -> BulkStructuredModelEvaluator:
    evaluator = BulkStructuredModelEvaluator(accumulators=accumulators(), **settings)
    for number in numbers:
        evaluator.update(*pair(number), doc_id=f"{number:03}" if named else None)
    return evaluator


def test_accumulators_say_what_the_result_says() -> None:
    computed = filled(range(7)).compute()
    numbers = computed.result.numbers
    assert computed.document_count == 7
    assert computed.accumulator_metrics == {key: numbers[key] for key in ("bbox_map_metrics", "confidence_metrics")}
    assert computed.metrics == numbers["overall"]
    assert computed.field_metrics["l"]["fa"] == 7
    assert [issue["code"] for issue in computed.errors] == ["no-confidence"]


def test_documents_without_ids_are_numbered_on() -> None:
    whole = filled(range(6), named=False).compute()
    first, second = filled(range(3), named=False), filled(range(3, 6), named=False)
    with pytest.warns(UserWarning, match="numbered on"):
        first.merge_state(second.get_state())
    assert first.compute().accumulator_metrics == whole.accumulator_metrics
    first.update(*pair(6))
    assert first.compute().document_count == 7
    mixed = filled(range(7, 9))
    with pytest.warns(UserWarning, match="numbered on"):
        mixed.merge_state(first.get_state())
    with pytest.warns(UserWarning, match="numbered on"):
        mixed.merge_state(filled(range(2), named=False).get_state())
    assert mixed.compute().result.ledger.units == (*range(9), "007", "008")


@given(st.permutations(range(6)), st.integers(0, 6))
def test_numbers_that_are_ids_merge_in_any_order(order: list[int], cut: int) -> None:
    def shard(numbers: Sequence[int]) -> BulkStructuredModelEvaluator:
        evaluator = BulkStructuredModelEvaluator(accumulators=accumulators())
        for number in numbers:
            truth, _ = pair(number)
            # Equal confidences: which document comes first decides.
            box = [number, 0, number + 10, 10] if number % 2 else [50, 50, 60, 60]
            found = {"a": {"_value": "x" if number % 3 else "zz", "_bbox": box, "_confidence": 0.5}}
            evaluator.update(truth, Model.from_json(found), doc_id=number)
        return evaluator

    whole = shard(range(6)).compute()
    merged = BulkStructuredModelEvaluator(accumulators=accumulators())
    for part in (order[:cut], order[cut:]):
        merged.merge_state(json.loads(json.dumps(shard(part).get_state())))
    computed = merged.compute()
    assert computed.accumulator_metrics == whole.accumulator_metrics
    assert (computed.metrics, computed.field_metrics) == (whole.metrics, whole.field_metrics)


def test_states_that_are_none() -> None:
    for state in ({}, {"state": "?", "schema": "", "calls": 0}, {"state": "", "schema": "", "calls": "x"}):
        with pytest.raises(ContractError):
            BulkStructuredModelEvaluator().load_state(state)
    for accumulator in accumulators():
        for wrong in ({}, {"rows": "?"}, {"rows": "AAAA"}):
            with pytest.raises(ContractError):
                accumulator.load_state(wrong)
            with pytest.raises(ContractError):
                accumulator.merge_state(wrong)


def test_named_and_unnamed_documents_together() -> None:
    evaluator = filled(range(2), named=False)
    evaluator.update(*pair(2), doc_id="two")
    evaluator.update(*pair(3))
    assert evaluator.compute().result.ledger.units == (0, 1, 3, "two")


def test_a_document_counts_once() -> None:
    evaluator = filled(range(2))
    with pytest.raises(MergeError, match="'001'"):
        evaluator.update(*pair(1), doc_id="001")
    with pytest.raises(MergeError, match="seen twice"):
        evaluator.merge_state(filled(range(1, 3)).get_state())
    with pytest.raises(MergeError, match="accounting"):
        evaluator.merge_state(filled(range(5, 6), accounting="paired").get_state())


def test_empty_states() -> None:
    empty = BulkStructuredModelEvaluator(accumulators=accumulators())
    with pytest.raises(ValueError, match="nothing was evaluated"):
        empty.compute()
    evaluator = filled(range(2))
    before = evaluator.compute().metrics
    evaluator.merge_state(empty.get_state())
    assert evaluator.compute().metrics == before
    assert BBoxMAPAccumulator().compute() is None


def test_plain_json_with_a_schema() -> None:
    evaluator = BulkStructuredModelEvaluator(SCHEMA, recall_with_fd=True)
    evaluator.update({"a": "x"}, {"a": "zzz"})
    assert evaluator.compute().metrics["cm_recall"] == 0.0
    assert evaluator.compute().accumulator_metrics == {}
    assert evaluator.compute().confidence_metrics is None


class Counting(PostComparisonAccumulator):
    """Counts wrong fields."""

    def __init__(self) -> None:
        self.wrong = 0

    name = "wrong"

    def reset(self) -> None:
        self.wrong = 0

    def accumulate(self, comparison_result: dict[str, Any], prediction_raw: dict[str, Any] | None) -> None:
        assert prediction_raw is not None
        self.wrong += sum(not row["match"] for row in comparison_result["field_comparisons"])

    def compute(self) -> dict[str, Any]:
        return {"wrong": self.wrong}

    def get_state(self) -> dict[str, Any]:
        return {"wrong": self.wrong}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.wrong = state["wrong"]

    def merge_state(self, other_state: Mapping[str, Any]) -> None:
        self.wrong += other_state["wrong"]


def test_accumulators_of_users() -> None:
    evaluator = BulkStructuredModelEvaluator(accumulators=[Counting()])
    evaluator.update(*pair(3))
    evaluator.merge_state({**evaluator.get_state(), "state": ""})
    assert evaluator.compute().accumulator_metrics == {"wrong": {"wrong": 4}}


def test_accumulators_by_themselves() -> None:
    together = filled(range(4), named=False).compute().accumulator_metrics
    for accumulator in accumulators():
        for number in range(4):
            truth, found = pair(number)
            accumulator.accumulate(truth.compare_with(found, document_field_comparisons=True), None)
        assert accumulator.compute() == together[accumulator.name]
        twin = type(accumulator)()
        twin.load_state(accumulator.get_state())
        assert twin.compute() == accumulator.compute()
        twin.load_state(type(accumulator)().get_state())
        assert twin.compute() is None
        with pytest.raises(ValueError, match="document_field_comparisons"):
            accumulator.accumulate({}, None)
    with pytest.raises(ConfigError):
        BBoxMAPAccumulator(iou_thresholds=[0.5, 2])


def test_many_thresholds() -> None:
    steps = [step / 40 for step in range(1, 41)]
    evaluator = BulkStructuredModelEvaluator(accumulators=[BBoxMAPAccumulator(iou_thresholds=steps)])
    evaluator.update(*pair(5))
    single = [BBoxMAPAccumulator(iou_thresholds=step) for step in steps]
    others = BulkStructuredModelEvaluator(accumulators=single)
    others.update(*pair(5))
    others.compute()
    means = [each.compute()["mean_ap"] for each in single]  # type: ignore[index]
    assert evaluator.compute().accumulator_metrics["bbox_map_metrics"]["mean_ap"] == pytest.approx(sum(means) / 40)


pairs = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])), max_size=12)


@given(pairs)
def test_calibration_by_counting(rated: list[tuple[bool, float]]) -> None:
    rated = sorted(rated, key=lambda each: each[1])
    match = np.array([right for right, _ in rated], dtype=np.bool_)
    confidence = np.array([value for _, value in rated], dtype=np.float64)
    right, wrong = confidence[match], confidence[~match]
    if len(right) and len(wrong):
        wins = sum((a > b) + 0.5 * (a == b) for a in right for b in wrong)
        assert auroc(match, confidence) == pytest.approx(wins / (len(right) * len(wrong)))
    else:
        assert isinstance(auroc(match, confidence), Undefined)
    if not rated:
        assert isinstance(brier(match, confidence), Undefined)
        assert calibration_error(match, confidence)["bins"] == []
        return
    assert brier(match, confidence) == pytest.approx(sum((c - m) ** 2 for m, c in rated) / len(rated))
    bins = calibration_error(match, confidence)["bins"]
    assert sum(each["count"] for each in bins) == len(rated)
    assert bins[9]["count"] == sum(c >= 0.9 for _, c in rated)
    curve = sweep(match, confidence)
    for index, level in enumerate(curve["confidence"]):
        accepted = [m for m, c in rated if c >= level]
        assert curve["precision"][index] == pytest.approx(sum(accepted) / len(accepted))
        assert curve["accepted"][index] == pytest.approx(len(accepted) / len(rated))
    assert list(curve["confidence"]) == sorted({c for _, c in rated}, reverse=True)
    budgets = error_capture(match)["budgets"]
    assert bool(budgets) == bool((~match).any())
    for budget, entry in budgets.items():
        reviewed = max(1, int(len(rated) * float(budget)))
        assert entry["errors_found"] == sum(not m for m, _ in rated[:reviewed])
        assert entry["gain"] == pytest.approx(entry["errors_found"] / (~match).sum() / (reviewed / len(rated)))


def test_the_operating_point_is_the_lowest_confidence_that_keeps_the_precision() -> None:
    ratings = Table({
        "key": np.zeros(5, dtype=np.int32),
        "match": np.array([True, True, False, True, False]),
        "confidence": np.array([0.9, 0.8, 0.7, 0.6, 0.1]),
    })  # fmt: skip
    accepted = acceptance(Ranked.of(ratings), ["a[3].b"], 0.75)
    assert accepted["operating_point"] == {"confidence": 0.6, "precision": 0.75, "recall": 1.0, "accepted": 0.8}
    assert accepted["meaning"] == "accepting fields from a confidence of 0.6 automates 80 % at 75 % precision"
    assert accepted["fields"] == {
        "a[].b": {key: value for key, value in accepted.items() if key not in ("target_precision", "fields")}
    }
    assert acceptance(Ranked.of(ratings), ["a"], 0.99)["operating_point"]["confidence"] == 0.8
    nothing = acceptance(Ranked.of(Table({name: column[:0] for name, column in ratings.columns.items()})), ["a"], 0.99)  # type: ignore[index]
    assert nothing["operating_point"]["confidence"] == Undefined("no confidences")
    assert confidence_metrics(Ranked.of(ratings), ["a"], 5)["coverage"]["ratio"] == 1.0


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from([0.1, 0.5, 0.9])), max_size=15))
def test_each_key_is_measured_as_if_alone(rows: list[tuple[int, bool, float]]) -> None:
    def ranked(chosen: list[tuple[int, bool, float]]) -> Ranked:
        columns = [np.array([row[place] for row in chosen], dtype=kind) for place, kind in enumerate((np.int32, bool, float))]
        return Ranked.of(Table(dict(zip(("key", "match", "confidence"), columns, strict=True))))

    whole = confidence_metrics(ranked(rows), ["a", "b", "c"], len(rows))["fields"]
    for code, name in enumerate("abc"):
        alone = [row for row in rows if row[0] == code]
        assert (name in whole) == bool(alone)
        if alone:
            assert whole[name] == confidence_metrics(ranked(alone), ["a", "b", "c"], 1)["overall"]


def test_equal_confidences_stand_by_key_in_the_order_of_first_rows() -> None:
    columns = {"key": np.array([1, 0, 1, 0]), "match": np.array([True, False, False, True]), "confidence": np.full(4, 0.5)}
    assert Ranked.of(Table(columns)).key.tolist() == [1, 1, 0, 0]
    assert Ranked.of(Table(columns)).match.tolist() == [True, False, False, True]
