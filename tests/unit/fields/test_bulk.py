"""The bulk evaluator and its accumulators: adding up, states, documents without ids, accumulators of users."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, Evaluator, Fields, MergeError, StructuredModel
from calque.fields import BBoxMAPAccumulator, BulkStructuredModelEvaluator, ConfidenceAccumulator, PostComparisonAccumulator
from calque.fields.bulk import BUFFER

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
    cut = base64.b64encode(base64.b64decode(filled(range(1)).get_state()["state"])[:-1]).decode()
    with pytest.raises(ContractError, match=r"^state: "):
        BulkStructuredModelEvaluator().load_state({"state": cut, "schema": "", "calls": 0})
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


def _children() -> set[int]:
    """The processes that this one has started and that still run."""
    mine = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                mine.add(int(stat.parent.name))
    return mine


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to find workers in")
def test_workers_stay_from_one_round_to_the_next() -> None:
    before = _children()
    evaluator = BulkStructuredModelEvaluator(SCHEMA, jobs=2)
    crews = []
    for first in (0, BUFFER):
        evaluator.update_batch([({"a": "x"}, {"a": "x"}, f"{number}") for number in range(first, first + BUFFER)])
        crews.append(_children() - before)
    assert crews[0] == crews[1] != set()
    assert evaluator.compute().document_count == 2 * BUFFER
    assert _children() == before


class Bill(StructuredModel):
    """A class that says of nothing how it is compared: the types and names do, or stickler's usual way."""

    invoice_number: str
    total: float
    issued: str
    kind: Literal["bill", "credit note"]


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_every_door_compares_a_class_alike(accounting: Literal["complete", "paired"]) -> None:
    truth = Bill(invoice_number="INV-2024-0017", total=10.0, issued="3 May 2024", kind="bill")
    found = Bill(invoice_number="INV-2024-0099", total=10.004, issued="2024-05-03", kind="bill")
    evaluator = BulkStructuredModelEvaluator(Bill, accounting=accounting)
    unnamed = BulkStructuredModelEvaluator(accounting=accounting)
    for each in (evaluator, unnamed):
        each.update(truth, found, "d")
    through_task = (
        Evaluator(Fields(schema=Bill, accounting=accounting)).update([truth.model_dump()], [found.model_dump()]).compute()
    )
    scores = {
        truth.compare_with(found, accounting=accounting)["overall_score"],
        evaluator.compute().metrics["weighted_overall_score"],
        unnamed.compute().metrics["weighted_overall_score"],
        through_task["weighted_overall_score"],
    }
    # For stickler 11 of 13 letters make the numbers of two bills alike.
    assert scores == {(11 / 13 + 0 + 0 + 1) / 4 if accounting == "paired" else 1 / 4}


def test_a_model_of_another_class_is_refused_though_its_fields_are_the_same() -> None:
    class Other(StructuredModel):
        name: str

    class Own(StructuredModel):
        name: str

    for evaluator in (BulkStructuredModelEvaluator(Own), BulkStructuredModelEvaluator()):
        evaluator.update(Own(name="a"), Own(name="a"))
        with pytest.raises(TypeError, match=r"^document 1: the truth is a Other, not a Own$"):
            evaluator.update(Other(name="a"), Own(name="a"))
        with pytest.raises(TypeError, match=r"^document 1: the prediction is a Other, not a Own$"):
            evaluator.update(Own(name="a"), Other(name="a"))


def test_an_accounting_that_is_not_known_is_refused_at_once() -> None:
    for door in (partial(BulkStructuredModelEvaluator, Bill), Bill.to_config, partial(Fields, schema=Bill)):
        with pytest.raises(ConfigError, match="accounting must be one of complete, paired, not 'pared'"):
            door(accounting="pared")


SETTINGS = {
    "accounting": ({"accounting": "complete"}, {"accounting": "paired"}),
    "recall-with-fd": ({}, {"recall_with_fd": True}),
    "iou": ({"iou": (0.5,)}, {"iou": (0.75,)}),
}


@pytest.mark.parametrize("method", ["merge_state", "load_state"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_fresh_evaluator_with_a_state_of_other_settings_refuses(method, setting):
    schema = {"fields": {"a": {"type": "str"}}}
    mine, theirs = SETTINGS[setting]
    other = BulkStructuredModelEvaluator(schema, **theirs)
    other.update({"a": "x"}, {"a": "x"}, "1")
    fresh = BulkStructuredModelEvaluator(schema, **mine)
    with pytest.raises(MergeError, match=setting):
        getattr(fresh, method)(other.get_state())
    fresh.update({"a": "x"}, {"a": "y"}, "1")
    assert fresh.compute().metrics["tp"] == 0


@pytest.mark.parametrize("method", ["merge_state", "load_state"])
def test_fresh_evaluator_with_a_state_of_another_schema_refuses(method):
    other = BulkStructuredModelEvaluator({"fields": {"a": {"type": "str"}}})
    other.update({"a": "x"}, {"a": "x"}, "1")
    fresh = BulkStructuredModelEvaluator({"fields": {"b": {"type": "str"}}})
    with pytest.raises(MergeError, match="schema"):
        getattr(fresh, method)(other.get_state())


def test_load_state_of_other_settings_leaves_the_evaluator_as_it_is():
    other = BulkStructuredModelEvaluator({"fields": {"a": {"type": "str"}}})
    other.update({"a": "x"}, {"a": "x"}, "1")
    used = BulkStructuredModelEvaluator({"fields": {"b": {"type": "str"}}})
    used.update({"b": "x"}, {"b": "x"}, "1")
    with pytest.raises(MergeError):
        used.load_state(other.get_state())
    assert used.compute().document_count == 1
    assert set(used.compute().field_metrics) == {"b"}


@pytest.mark.parametrize("method", ["merge_state", "load_state"])
def test_evaluator_without_a_schema_takes_that_of_a_state(method):
    other = BulkStructuredModelEvaluator({"fields": {"a": {"type": "str"}}})
    other.update({"a": "x"}, {"a": "x"}, "1")
    fresh = BulkStructuredModelEvaluator()
    getattr(fresh, method)(other.get_state())
    fresh.update({"a": "x"}, {"a": "y"}, "2")
    assert fresh.compute().metrics["tp"] == 1
