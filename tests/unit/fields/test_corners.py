"""Corners in which models, schemas and lists were not what people took them for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from calque import ComparableField, Evaluator, Fields, StructuredModel
from calque.comparators import ANLSStarComparator
from calque.fields import (
    BBoxMAPAccumulator,
    BulkStructuredModelEvaluator,
    ConfidenceAccumulator,
    PostComparisonAccumulator,
    compare_json,
)
from tests.conftest import Run


class Line(StructuredModel):
    text: str = ComparableField(threshold=0.9)
    amount: float = ComparableField()


class Invoice(StructuredModel):
    vendor: str = ComparableField(threshold=0.8, alias="vendorName")
    currency: str = ComparableField(comparator="exact", default="EUR")
    tags: list[str] = ComparableField()
    lines: list[Line] = ComparableField()
    first: Line | None = ComparableField()


DATA = {
    "vendorName": {"_value": "Acme", "_bbox": [0, 0, 9, 3], "_confidence": 0.9, "_origin": "page 1"},
    "tags": ["a", {"_value": "b", "_confidence": 0.5}],
    "lines": [
        {"_value": {"text": {"_value": "apples", "_bbox": [0, 5, 9, 8]}, "amount": 1}, "_bbox": [0, 5, 20, 8]},
        {"text": "pears"},
    ],
    "first": {"text": "apples", "amount": 1.0},
    "more": 5,
}


def test_a_change_after_from_json_counts() -> None:
    truth, found = Invoice.from_json(DATA), Invoice.from_json(DATA)
    assert truth.compare_with(found)["overall_score"] == 1.0
    found.vendor = "Globex"
    assert truth.compare_with(found)["field_scores"]["vendor"] == 0.0
    assert found.raw_json()["vendorName"] == {**DATA["vendorName"], "_value": "Globex"}  # type: ignore[dict-item]  # a wrapper
    assert found.get_all_boxes()["vendorName"] == [0, 0, 9, 3]
    found.vendor = "Acme"
    assert found.raw_json() == DATA


def test_changes_inside_lists_and_objects_count() -> None:
    truth, found = Invoice.from_json(DATA), Invoice.from_json(DATA)
    found.lines[0].text = "oranges"
    found.tags[1] = "c"
    assert found.first is not None
    found.first.amount = 7.0
    found.lines.append(Line(text="plums", amount=3))
    raw = found.raw_json()
    assert raw["lines"][0] == {
        "_value": {"text": {"_value": "oranges", "_bbox": [0, 5, 9, 8]}, "amount": 1},
        "_bbox": [0, 5, 20, 8],
    }
    assert raw["tags"] == ["a", {"_value": "c", "_confidence": 0.5}]
    assert (raw["first"]["amount"], raw["lines"][2]) == (7.0, {"text": "plums", "amount": 3.0})
    rows = truth.compare_with(found, include_confusion_matrix=True)["confusion_matrix"]["fields"]
    assert (rows["lines"]["overall"]["tp"], rows["lines"]["overall"]["fd"], rows["lines"]["overall"]["fa"]) == (1, 1, 1)
    found.lines = [found.lines[1], found.lines[0]]
    assert found.raw_json()["lines"][1]["_bbox"] == [0, 5, 20, 8]
    found.lines = []
    assert truth.compare_with(found, include_confusion_matrix=True)["confusion_matrix"]["fields"]["lines"]["overall"]["fn"] == 2


def test_a_copy_with_an_update_is_what_it_says() -> None:
    truth = Invoice.from_json(DATA)
    copy = truth.model_copy(update={"vendor": "Globex", "first": None})
    assert truth.compare_with(copy)["field_scores"] == {"vendor": 0.0, "currency": 1.0, "tags": 1.0, "lines": 1.0, "first": 0.0}
    assert truth.raw_json() == DATA
    assert copy.raw_json()["vendorName"]["_confidence"] == 0.9


def test_defaults_stand_for_what_is_not_there() -> None:
    bare = Invoice.from_json({"vendorName": "Acme"})
    assert (bare.currency, Invoice(vendor="Acme").currency) == ("EUR", "EUR")
    assert bare.compare_with(Invoice.from_json({"vendorName": "Acme", "currency": "EUR"}))["field_scores"]["currency"] == 1.0
    assert bare.compare_with(Invoice.from_json({"vendorName": "Acme", "currency": "USD"}))["field_scores"]["currency"] == 0.0
    result = Evaluator(Fields(schema=Invoice)).update([{"vendorName": "a"}], [{"vendorName": "a", "currency": "EUR"}]).compute()
    assert result["tp/currency"] == 1
    assert "currency" not in bare.raw_json()


def test_aliases_and_names_both_work() -> None:
    by_alias, by_name, made = (
        Invoice.from_json({"vendorName": "Acme"}),
        Invoice.from_json({"vendor": "Acme"}),
        Invoice(vendor="Acme"),
    )
    assert by_name.vendor == "Acme"
    for one in (by_alias, by_name, made):
        for other in (by_alias, by_name, made):
            assert one.compare_with(other)["field_scores"]["vendor"] == 1.0
    by_name.vendor = "Globex"
    assert by_name.raw_json() == {"vendor": "Globex"}
    numbers = Evaluator(Fields(schema=Invoice)).update([{"vendorName": "Acme"}], [{"vendor": "Acme"}]).compute().numbers
    assert (numbers["fields"]["vendor"]["tp"], numbers["not_in_schema"]) == (1, {})
    both = Evaluator(Fields(schema=Invoice)).update([{"vendorName": "Acme", "vendor": "x"}], [{}]).compute().numbers
    assert both["not_in_schema"] == {"vendor": 1}


def test_extras_are_reachable() -> None:
    model = Invoice.from_json(DATA)
    assert model.get_all_extras() == {"vendorName": {"_origin": "page 1"}}
    assert (model.get_field_extras("vendorName"), model.get_field_extras("tags")) == ({"_origin": "page 1"}, {})
    rows = model.compare_with(model, document_field_comparisons=True)["field_comparisons"]
    assert rows[0]["expected_extras"] == rows[0]["actual_extras"] == {"_origin": "page 1"}


@pytest.mark.parametrize("other", [None, {"vendor": "Acme"}, Line(text="a", amount=1), 5])
def test_other_classes_and_nothing_are_refused(other: Any) -> None:
    with pytest.raises(TypeError, match="is compared with another Invoice"):
        Invoice.from_json(DATA).compare_with(other)
    with pytest.raises(TypeError, match="is compared with another Invoice"):
        Invoice.from_json(DATA).compare(other)


def test_bulk_refuses_other_classes_and_nothing() -> None:
    truth = Invoice.from_json(DATA)
    for schema in (None, Invoice, Invoice.to_config()):
        evaluator = BulkStructuredModelEvaluator(schema)
        evaluator.update(truth, truth)
        for pair in ((truth, None), (None, truth), (truth, Line(text="a", amount=1)), (truth, 5)):
            with pytest.raises(TypeError, match=r"document 1: the (truth|prediction) is"):
                evaluator.update(*pair)
        evaluator.update(truth, DATA)
        assert evaluator.compute().document_count == 2
    with pytest.raises(TypeError, match="need a schema"):
        BulkStructuredModelEvaluator().update({}, {})


@pytest.mark.parametrize(
    ("truth", "found", "score"),
    [
        (["a"], "a", 0.0), ("a", ["a"], 0.0), ({"a": "x"}, "x", 0.0), ("x", {"a": "x"}, 0.0), ({"a": "x"}, ["x"], 0.0),
        ({"k": ["a"], "l": "b"}, {"k": "a", "l": "b"}, 0.5), (["a"], ["a"], 1.0), (5, "5", 1.0), ({"a": ["x"]}, {}, 0.0),
    ],
)  # fmt: skip
def test_anls_star_of_different_types_is_nothing(truth: Any, found: Any, score: float) -> None:
    assert ANLSStarComparator().compare(truth, found) == score


LINES = {"fields": {"lines": {"type": "list[object]", "fields": {"text": {"type": "str"}, "amount": {"type": "float"}}}}}


def test_the_fields_of_missed_items_count_as_missed() -> None:
    truth = [{"lines": [{"text": f"line number {n}", "amount": n} for n in range(10)]}]
    result = Evaluator(Fields(schema=LINES)).update(truth, [{"lines": truth[0]["lines"][:1]}]).compute()
    assert (result["cm_recall/lines.amount"], result["fn/lines.amount"], result["cm_recall/lines"]) == (0.1, 9, 0.1)
    result = Evaluator(Fields(schema=LINES)).update([{"lines": truth[0]["lines"][:1]}], truth).compute()
    assert (result["cm_precision/lines.text"], result["fa/lines.text"]) == (0.1, 9)
    for nothing in ({}, {"lines": None}, {"lines": []}):
        assert Evaluator(Fields(schema=LINES)).update(truth, [nothing]).compute()["fn/lines.amount"] == 10
    assert result.numbers["fields"]["lines.text"]["mean_score"] == 0.1


def test_the_confusion_matrix_of_one_document_counts_them_too() -> None:
    model = StructuredModel.model_from_config(LINES)
    lines = [{"text": f"line number {n}", "amount": n} for n in range(10)]
    truth, found = model.from_json({"lines": lines}), model.from_json({"lines": lines[:1]})
    for accounting, missed in (("complete", 9), ("paired", 0)):
        told = truth.compare_with(found, include_confusion_matrix=True, accounting=accounting)  # type: ignore[arg-type]  # one of two
        node = told["confusion_matrix"]["fields"]["lines"]
        assert (node["overall"]["fn"], node["fields"]["amount"]["overall"]["fn"]) == (9, missed)
        assert node["aggregate"]["tp"] == 2


def test_fields_outside_the_schema_merge_by_name() -> None:
    task = Fields(schema={"fields": {"a": {"type": "str"}}})
    truth = [{"id": n, "a": "x", f"k{n % 3}": 1, "z": 2} for n in range(6)]
    whole = Evaluator(task).update(truth, truth)
    shards = [Evaluator(task).update(truth[part], truth[part]) for part in (slice(4, None), slice(4))]
    merged = shards[0].merge(shards[1])
    assert merged.compute().to_json() == whole.compute().to_json()
    assert merged.compute().numbers["not_in_schema"] == {"z": 6, "k0": 2, "k1": 2, "k2": 2}


def test_the_fields_of_missed_objects_count_as_missed() -> None:
    leaf = {"type": "str"}
    inner = {
        "a": leaf,
        "p": {"type": "object", "fields": {"b": leaf}},
        "v": {"type": "list[str]"},
        "l": LINES["fields"]["lines"],
    }
    schema = {"fields": {"o": {"type": "object", "fields": inner}}}
    truth = [{"o": {"a": "x", "p": {"b": "y"}, "v": ["1", "2"], "l": [{"text": "t"}, {"amount": 5}]}}]
    for found, name in (([{}], "fn"), ([{"o": 5}], "fn")):
        result = Evaluator(Fields(schema=schema)).update(truth, found).compute()
        counts = [result[f"{name}/{field}"] for field in ("o.a", "o.p", "o.p.b", "o.v", "o.l", "o.l.text", "o.l.amount")]
        assert counts == [1, 1, 1, 2, 2, 1, 1]
    made_up = Evaluator(Fields(schema=schema)).update([{}], truth).compute()
    assert [made_up[f"fa/{field}"] for field in ("o", "o.a", "o.l.text")] == [1, 1, 1]


BELOW = (
    [{"lines": [{"text": {"_value": "two red apples", "_bbox": [0, 0, 9, 9]}, "amount": 5}]}],
    [
        {
            "lines": [
                {
                    "text": {"_value": "hammer", "_bbox": [0, 0, 9, 9], "_confidence": 0.2},
                    "amount": {"_value": 5, "_confidence": 0.9},
                }
            ]
        }
    ],
)


def test_a_pair_below_the_match_threshold_is_told_with_its_partner() -> None:
    result = Evaluator(Fields(schema=LINES)).update(*BELOW).compute()
    rows = list(result.outcomes().rows())
    assert [(row["truth_path"], row["found_path"], row["outcome"]) for row in rows] == [
        ("lines[0]", "lines[0]", "fd"), ("lines[0].text", "lines[0].text", "fd"), ("lines[0].amount", "lines[0].amount", "tp"),
    ]  # fmt: skip
    assert rows[0]["reason"] == "paired with an item that is too different"
    assert rows[0]["truth"] == {"text": "two red apples", "amount": 5}
    assert (rows[2]["truth"], rows[2]["prediction"]) == (5.0, 5.0)
    assert [result[f"{name}/lines"] for name in ("tp", "fd", "fn", "fa")] == [0, 1, 0, 0]
    assert [result[f"{name}/lines.amount"] for name in ("tp", "fd", "fn", "fa")] == [1, 0, 0, 0]


def test_equal_values_of_such_a_pair_are_not_wrong_for_calibration_and_its_boxes_meet_nothing() -> None:
    numbers = Evaluator(Fields(schema=LINES)).update(*BELOW).compute().numbers
    assert numbers["confidence_metrics"]["overall"]["auroc"]["value"] == 1.0
    assert numbers["confidence_metrics"]["fields"]["lines[].amount"]["brier_score"]["value"] == pytest.approx(0.01)
    entry = numbers["bbox_map_metrics"]["fields"]["lines[].text"]
    assert (entry["num_gt"], entry["num_detections"], entry["ap"], numbers["unaccounted_boxes"]) == (1, 1, 0.0, 0)


def test_fields_that_the_schema_does_not_know_are_in_no_number() -> None:
    schema = {"fields": {"a": {"type": "str"}, "l": {"type": "list[object]", "fields": {"t": {"type": "str"}}}}}
    box = {"_value": "x", "_bbox": [0, 0, 1, 1], "_confidence": 0.5}
    truth = [{"doc_id": n, "a": "x", "b": box, "l": [{"t": "u", "c": 1}] * 2} for n in range(96)]
    found = [{"doc_id": n, "a": "x", "b": {**box, "_value": "y"}, "l": [{"t": "u"}] * 2, "d": 1} for n in range(96)]
    result = Evaluator(Fields(schema=schema)).update(truth, found).compute()
    assert (result["cm_accuracy"], result["fa"], result.numbers["unaccounted_boxes"]) == (1.0, 0, 0)
    assert result.numbers["not_in_schema"] == {"l[].c": 192, "b": 96, "d": 96}
    assert result.numbers["bbox_map_metrics"]["fields"] == result.numbers["confidence_metrics"]["fields"] == {}
    assert result.numbers["boxes"] == {"truth": 0, "predicted": 0, "ignored": 192}
    assert "not in the schema: l[].c (192), b (96), d (96)" in str(result)
    paired = Evaluator(Fields(schema=schema, accounting="paired")).update(truth, found).compute()
    assert (paired["fa"], paired.numbers["not_in_schema"]) == (192, {})


class Kept(PostComparisonAccumulator):
    """Remembers what it is shown."""

    name = "kept"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def reset(self) -> None:
        self.seen = []

    def accumulate(self, comparison_result: dict[str, Any], prediction_raw: dict[str, Any] | None) -> None:
        self.seen.append((comparison_result["field_comparisons"], prediction_raw))

    def compute(self) -> dict[str, Any]:
        return {"rows": [row["expected_key"] for rows, _ in self.seen for row in rows]}

    def get_state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None: ...

    def merge_state(self, other_state: Mapping[str, Any]) -> None: ...


def test_own_accumulators_receive_the_rows_of_their_accounting() -> None:
    rows = {}
    for accounting in ("complete", "paired"):
        evaluator = BulkStructuredModelEvaluator(LINES, [Kept()], accounting=accounting)
        evaluator.update({"lines": [{"text": "a", "amount": 1}]}, {"lines": []})
        rows[accounting] = evaluator.compute().accumulator_metrics["kept"]["rows"]
    assert rows == {"complete": ["lines[0].text", "lines[0].amount"], "paired": ["lines[0]"]}


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_accumulators_fed_by_hand_say_the_same(accounting: Any) -> None:
    model = StructuredModel.model_from_config(LINES)
    truth, found = model.from_json(BELOW[0][0]), model.from_json(BELOW[1][0])
    bulk = BulkStructuredModelEvaluator(model, [BBoxMAPAccumulator(), ConfidenceAccumulator()], accounting=accounting)
    bulk.update(truth, found)
    alone = BBoxMAPAccumulator(), ConfidenceAccumulator()
    told = truth.compare_with(found, document_field_comparisons=True, accounting=accounting)
    for accumulator in alone:
        accumulator.accumulate(told, None)
    assert bulk.compute().accumulator_metrics == {each.name: each.compute() for each in alone}


def test_bulk_keeps_outcomes_when_asked() -> None:
    for keep, count in ((True, 2), (False, 0)):
        evaluator = BulkStructuredModelEvaluator(LINES, keep_outcomes=keep)
        evaluator.update({"lines": [{"text": "a", "amount": 1}]}, {"lines": [{"text": "a", "amount": 1}]})
        assert evaluator.compute().result.outcomes().height == count


def test_records_of_somebody_elses_model_in_bulk() -> None:
    class Bill(BaseModel):
        number: str
        total: float | None = None

    evaluator = BulkStructuredModelEvaluator()
    evaluator.update(Bill(number="A-1", total=2), Bill(number="A-2", total=2), "one")
    assert evaluator.compute().field_metrics["number"]["fd"] == 1


def test_one_json_against_another() -> None:
    found = compare_json({"a": "x", "n": [1, 2]}, {"a": "y", "n": [1, 2]})
    assert (found["field_scores"], found["overall_score"]) == ({"a": 0.0, "n": 1.0}, 0.5)
    assert found["non_matches"][0]["field_path"] == "a"
    assert compare_json({"vendorName": "Acme"}, {"vendor": "Acme"}, Invoice)["field_scores"]["vendor"] == 1.0
    with pytest.raises(TypeError, match="predictions"):
        compare_json({"a": 1}, [])


def test_no_document_in_common_is_no_success(calque: Callable[..., Run], tmp_path: Any) -> None:
    for name, key in (("gt", "a"), ("pred", "b")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"doc_id": key, "x": 1}) + "\n")
    for more in ((), ("--missing", "intersect"), ("--accounting", "paired")):
        run = calque("fields", "gt.jsonl", "pred.jsonl", *more)
        assert (run.code, "in common" in run.err) == (3, True)


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_a_field_that_occurs_once_says_how_alike_it_is(accounting: str) -> None:
    truth, found = Invoice.from_json(DATA), Invoice.from_json(DATA)
    assert found.first is not None
    found.first.text = "pears"
    told = truth.compare_with(found, include_confusion_matrix=True, accounting=accounting)  # type: ignore[arg-type]  # one of two
    rows = told["confusion_matrix"]["fields"]
    for row in rows.values():
        assert 0 <= row["threshold_applied_score"] <= row["raw_similarity_score"] <= 1
        assert row["weight"] == 1.0
    assert rows["tags"]["raw_similarity_score"] == 1.0
    assert rows["first"]["raw_similarity_score"] < 1.0


BOXED = {"a": {"_value": {"_value": "1", "_bbox": [0, 0, 1, 1]}}}


@pytest.mark.parametrize(
    ("truth", "found", "told"),
    [
        ({"a": "1"}, BOXED, ("fa", "not in the truth")),
        (BOXED, {"a": "1"}, ("fn", "missing in the prediction")),
    ],
)
def test_boxes_at_places_that_no_schema_knows_say_so(truth: Any, found: Any, told: tuple[str, str]) -> None:
    task = Fields(schema={"fields": {"a": {"type": "str"}}})
    result = Evaluator(task, keep="outcomes").update({"d": truth}, {"d": found}).compute()
    assert [(row["outcome"], row["reason"]) for row in result.outcomes().rows()] == [("tp", "same"), told]


@pytest.mark.parametrize("count", range(3, 17))
@pytest.mark.parametrize("keep", ["numbers", "outcomes"])
def test_sums_that_are_equal_are_equal_however_they_are_made(count: int, keep: Any) -> None:
    """Two of so many parts and none are worth what one and one are; then the earliest items are partners."""
    names = [f"f{number}" for number in range(count)]
    part = {name: {"type": "str", "comparator": "exact"} for name in names}
    task = Fields(schema={"fields": {"lines": {"type": "list[object]", "match_threshold": 0.01, "fields": part}}})

    def line(own: str, **shared: str) -> dict[str, str]:
        return {name: shared.get(name, f"{own} {name}") for name in names}

    last = names[-1]
    truth = [line("t", f0="x", f1="y"), line("u", **{last: "z"})]
    found = [line("p", **{last: f"t {last}"}), line("q", f0="x", f1="y", **{last: "z"})]
    made = Evaluator(task, keep=keep).update({"d": {"lines": truth}}, {"d": {"lines": found}}).compute()
    right = {name: block["tp"] for name, block in made.numbers["fields"].items() if block["tp"] and name != "lines"}
    assert right == {f"lines.{last}": 2}


def test_fields_without_weight_make_no_two_records_alike() -> None:
    """Nothing that counts says that they are the same; where neither has anything, they are."""
    name = {"fields": {"name": {"type": "str", "weight": 0.0}}}
    schema = {"fields": {"to": {"type": "object", **name}, "lines": {"type": "list[object]", "match_threshold": 0.5, **name}}}
    truth, found, blank = ({"to": {"name": value}, "lines": [{"name": value}]} for value in ("x", "y", None))
    one_by_one = compare_json(truth, found, schema)
    assert one_by_one["field_scores"] == {"to": 0.0, "lines": 0.0}
    assert compare_json(blank, blank, schema)["field_scores"]["to"] == 1.0
    in_columns = Evaluator(Fields(schema=schema)).update([truth], [found]).compute()
    assert [in_columns[f"fd/{field}"] for field in ("to", "lines")] == [1, 1]


def test_a_comparison_weighs_its_score_as_the_field_weighs() -> None:
    """Also within items that are partners and yet too different to be the same."""
    weights = {"name": 2.0, "lines[]": 0.5, "lines[].text": 3.0, "lines[].to": 4.0, "lines[].to.name": 5.0}
    line = {
        "text": {"type": "str", "weight": 3.0, "clip": False},
        "to": {"type": "object", "weight": 4.0, "fields": {"name": {"type": "str", "weight": 5.0, "clip": False}}},
    }
    schema = {
        "fields": {
            "name": {"type": "str", "weight": 2.0, "clip": False},
            "lines": {"type": "list[object]", "weight": 0.5, "match_threshold": 0.9, "fields": line},
        }
    }
    truth = {"name": "acme", "lines": [{"text": "two red apples", "to": {"name": "Bob"}}, {"text": "nails", "to": {}}]}
    found = {"name": "acne", "lines": [{"text": "two bad apples", "to": {"name": "Rob"}}, {"text": "snails", "to": "Ann"}]}
    told = compare_json(truth, found, schema)["field_comparisons"]
    assert {row["class"] for row in told} == weights.keys()
    for row in told:
        assert row["weighted_score"] == pytest.approx(row["score"] * weights[row["class"]]), row["expected_key"]
