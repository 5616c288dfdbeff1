"""The questions people have: which documents are worst, which fields fail and how, what a review would catch."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, Evaluator, Fields
from calque.fields import (
    BulkStructuredModelEvaluator,
    ConfidenceAccumulator,
    document_table,
    error_table,
    evaluate_dataframe,
    field_table,
)
from tests.laws.fields import RECORDS
from tests.laws.fields import SCHEMA as WIDE

SCHEMA = {
    "fields": {
        "vendor": {"type": "str"},
        "number": {"type": "code"},
        "lines": {"type": "list[object]", "fields": {"text": {"type": "str"}, "amount": {"type": "float"}}},
        "tags": {"type": "list[str]"},
    }
}
LINES = [{"text": "red apples", "amount": 3}, {"text": "green pears", "amount": 4}]
TRUTH = [
    {"id": "a", "vendor": "Acme", "number": "INV-17", "lines": LINES, "tags": ["x"]},
    {"id": "b", "vendor": "Acme", "number": "INV-18", "lines": LINES},
    {"id": "c", "vendor": "Acme", "number": "INV-19"},
    {"id": "d", "vendor": "Acme", "number": "INV-20"},
]
FOUND = [
    {"id": "a", "vendor": "Globex", "number": "INV-11", "lines": LINES[:1], "tags": ["y"]},
    {"id": "b", "vendor": "Globex", "number": "INV-18", "lines": [LINES[1], LINES[0], {"text": "plums"}]},
    {"id": "c", "vendor": "Globex", "number": "INV-19", "tags": ["new"]},
    {"id": "d", "vendor": "Acme", "number": "INV-20"},
]


@pytest.fixture(scope="module")
def result() -> Any:
    return Evaluator(Fields(schema=SCHEMA)).update(TRUTH, FOUND).compute()


def test_which_fields_fail_and_how(result: Any) -> None:
    failures = result.numbers["failures"]
    kinds = {name: tuple(entry[kind] for kind in ("missing", "invented", "wrong", "close")) for name, entry in failures.items()}
    assert kinds == {
        "vendor": (0, 0, 3, 0), "number": (0, 0, 0, 1), "lines.text": (1, 1, 0, 0), "lines.amount": (1, 0, 0, 0),
        "tags": (0, 1, 1, 0),
    }  # fmt: skip
    assert failures["vendor"]["pairs"] == [{"truth": "Acme", "prediction": "Globex", "count": 3}]
    assert "Acme → Globex (3 times)" in str(result)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=40))
def test_the_most_frequent_wrong_pairs_come_first_and_equally_frequent_ones_by_name(pairs: list[tuple[str, str]]) -> None:
    truth, found = ([{"id": number, "a": pair[side]} for number, pair in enumerate(pairs)] for side in (0, 1))
    schema = {"fields": {"a": {"type": "str", "comparator": "exact"}}}
    numbers = Evaluator(Fields(schema=schema)).update(truth, found).compute().numbers
    wrong = Counter(pair for pair in pairs if pair[0] != pair[1])
    ordered = sorted(wrong.items(), key=lambda each: (-each[1], each[0]))
    listed = numbers["failures"].get("a", {"pairs": []})["pairs"]
    assert listed == [{"truth": one, "prediction": other, "count": count} for (one, other), count in ordered[:5]]


def test_which_documents_are_worst_and_how_many_are_wholly_right(result: Any) -> None:
    worst = result.numbers["worst_documents"]
    assert [(each["document"], each["wrong"]) for each in worst] == [("a", 5), ("c", 2), ("b", 2)]
    assert worst[0]["fields"] == ["vendor", "number", "lines.text", "lines.amount", "tags"]
    assert worst[0]["score"] == min(each["score"] for each in worst)
    assert result.numbers["wholly_right"] == {"documents": 1, "share": 0.25}
    assert result["wholly_right"] == 0.25
    assert "1 of 4 documents (25 %) are wholly right" in str(result)
    nothing = Evaluator(Fields(schema=SCHEMA, missing="intersect")).update(TRUTH[:1], FOUND[1:2]).compute()
    assert nothing.numbers["wholly_right"] == {"documents": 0, "share": None}


def test_tables(result: Any) -> None:
    rows = list(document_table(result).rows())
    assert [(row["document"], row["wrong"], row["wholly_right"]) for row in rows] == [
        ("a", 5, False), ("b", 2, False), ("c", 2, False), ("d", 0, True),
    ]  # fmt: skip
    assert rows[1]["wrong_fields"] == "vendor, lines.text"
    errors = list(error_table(result).rows())
    assert len(errors) == 9
    assert errors[2] == {
        "document": "a", "field": "lines.text", "kind": "missing", "truth_path": "lines[1].text", "found_path": "",
        "truth": "green pears", "prediction": "",
    }  # fmt: skip
    fields = {row["field"]: row for row in field_table(result).rows()}
    assert (fields["vendor"]["wrong"], fields["vendor"]["fd"], fields["lines"]["wrong"]) == (3, 3, 0)
    assert list(document_table(result).to_pandas().columns)[:3] == ["document", "score", "wrong"]
    with pytest.raises(TypeError, match="result must be a result of fields, not 5"):
        document_table(5)  # type: ignore[arg-type]  # what it refuses


@given(st.lists(st.tuples(RECORDS, RECORDS), min_size=1, max_size=4))
def test_a_document_without_wrong_values_has_no_other_outcome_and_the_other_way_round(pairs: list[tuple[Any, Any]]) -> None:
    truth, found = ([{"doc_id": place, **pair[side]} for place, pair in enumerate(pairs)] for side in (0, 1))
    result = Evaluator(Fields(schema=WIDE)).update(truth, found).compute()
    wrong = {str(place): 0 for place in range(len(pairs))}
    for row in result.outcomes().rows():
        values = row["truth"] is not None or row["prediction"] is not None
        if row["outcome"] in ("fa", "fd", "fn") and values and not isinstance(row["truth"] or row["prediction"], dict | list):
            wrong[row["document"]] += 1
    counted = {row["document"]: row["wrong"] for row in document_table(result).rows()}
    assert {name for name, count in wrong.items() if count} <= {name for name, count in counted.items() if count}
    assert result.numbers["wholly_right"]["documents"] == sum(not count for count in counted.values())
    kinds = ("missing", "invented", "wrong", "close")
    assert sum(counted.values()) == sum(entry[kind] for entry in result.numbers["failures"].values() for kind in kinds)
    if any(each.get("tags") == "odd" for each in truth):
        return  # no list, and never the same
    for accounting in ("complete", "paired"):
        again = Evaluator(Fields(schema=WIDE, accounting=accounting)).update(truth, truth).compute()  # type: ignore[arg-type]  # one of two
        assert again.numbers["wholly_right"]["share"] == 1.0


def rated(count: int) -> tuple[list[Any], list[Any]]:
    truth = [{"id": n, "a": "x", "b": 1} for n in range(count)]
    found = [
        {
            "id": n,
            "a": {"_value": "x" if n % 10 else "y", "_confidence": 0.95 if n % 10 else 0.2},
            "b": {"_value": 1 if n % 4 else 2, "_confidence": 0.8},
        }
        for n in range(count)
    ]
    return truth, found


def test_what_a_review_would_catch_and_what_can_be_accepted() -> None:
    schema = {"fields": {"a": {"type": "str"}, "b": {"type": "int"}}}
    result = Evaluator(Fields(schema=schema)).update(*rated(40)).compute()
    text = str(result)
    review = text.partition("\nReview\n")[2].partition("\n\n")[0].splitlines()
    assert review[0].split() == ["least", "sure", "fields", "errors", "found", "share", "at", "random"]
    # Of 80 fields the 8 least sure: four of "a" with 0.2, all wrong, and four of "b".
    assert review[1].split()[:4] == ["10", "%", "8", "5"]
    assert review[-1].startswith("reviewing the fields with the lowest confidences")
    acceptance = text.partition("\nAcceptance\n")[2].partition("\n\n")[0].splitlines()
    assert acceptance[1].split() == ["a", "0.9500", "1.0000", "0.9000"]
    assert acceptance[2].split()[:2] == ["b", "–"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.5001, 0.9, 1.0])), min_size=1, max_size=60))
def test_calibration_by_definition(pairs: list[tuple[bool, float]]) -> None:
    schema = {"fields": {"a": {"type": "int"}}}
    truth = [{"id": n, "a": 1} for n in range(len(pairs))]
    found = [{"id": n, "a": {"_value": int(right), "_confidence": sure}} for n, (right, sure) in enumerate(pairs)]
    block = Evaluator(Fields(schema=schema)).update(truth, found).compute().numbers["calibration"]["overall"]
    right, sure = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    parts, place = block["brier"], np.minimum((sure * 10 + 1e-9).astype(int), 9)
    reliability = sum((place == k).mean() * (sure[place == k].mean() - right[place == k].mean()) ** 2 for k in set(place))
    resolution = sum((place == k).mean() * (right[place == k].mean() - right.mean()) ** 2 for k in set(place))
    assert parts["value"] == pytest.approx(((sure - right) ** 2).mean(), abs=1e-9)
    assert (parts["reliability"], parts["resolution"]) == (pytest.approx(reliability), pytest.approx(resolution))
    assert parts["uncertainty"] == pytest.approx(right.mean() * (1 - right.mean()))
    whole = parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within_bins"]
    assert parts["value"] == pytest.approx(whole)
    bins = block["equal_mass"]["bins"]
    assert sum(each["count"] for each in bins) == len(pairs)
    assert sum(each["count"] * each["accuracy"] for each in bins) == pytest.approx(right.sum())
    assert all(a["range"][1] < b["range"][0] for a, b in pairwise(bins))
    risks = [1 - right[sure >= level].mean() for level in sure]
    assert block["risk_coverage"]["area"] == pytest.approx(math.fsum(risks) / len(risks))
    assert block["risk_coverage"]["points"][0]["coverage"] == pytest.approx((sure == sure.max()).mean())


def test_bins_of_equal_mass_have_as_many_fields_each() -> None:
    schema = {"fields": {"a": {"type": "int"}}}
    truth = [{"id": n, "a": 1} for n in range(100)]
    found = [{"id": n, "a": {"_value": 1, "_confidence": n / 100}} for n in range(100)]
    block = Evaluator(Fields(schema=schema)).update(truth, found).compute().numbers["calibration"]
    assert [each["count"] for each in block["overall"]["equal_mass"]["bins"]] == [10] * 10
    assert block["fields"]["a"] == {**block["overall"], "risk_coverage": block["fields"]["a"]["risk_coverage"]}


def test_own_measures_of_confidence() -> None:
    measures = {"sure_and_wrong": lambda right, confidence: int((~right & (confidence >= 0.8)).sum())}
    schema = {"fields": {"a": {"type": "str"}, "b": {"type": "int"}}}
    evaluator = BulkStructuredModelEvaluator(schema, [ConfidenceAccumulator(measures=measures)])
    for truth, found in zip(*rated(40), strict=True):
        evaluator.update(truth, found, truth["id"])
    metrics = evaluator.compute().accumulator_metrics["confidence_metrics"]
    assert metrics["overall"]["sure_and_wrong"] == metrics["fields"]["b"]["sure_and_wrong"] == {"value": 10}
    assert metrics["fields"]["a"]["sure_and_wrong"] == {"value": 0}
    with pytest.raises(ConfigError, match="'auroc' comes with calque"):
        ConfidenceAccumulator(measures={"auroc": lambda right, confidence: 0})


def test_frames_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    truth = pandas.DataFrame(
        {"doc_id": ["a", "b"], "total": [1.5, float("nan")], "due": pandas.to_datetime(["2024-03-05"] * 2)}
    )
    found = pandas.DataFrame({"doc_id": ["b", "a"], "total": [2.0, 1.5], "due": ["2024-03-05", "2024-03-06"]})
    result = evaluate_dataframe(truth, found)
    assert (result["tp/total"], result["fa/total"], result["tp/due"], result["fd/due"]) == (1, 1, 1, 1)
    assert list(document_table(result).to_pandas()["wrong"]) == [1, 1]
    frame = pandas.DataFrame({
        "doc_id": ["x", "y"], "expected": ['{"a": "u"}', {"a": "v"}], "predicted": ['{"a": "u"}', '{"a": "w"}'],
    })  # fmt: skip
    both = evaluate_dataframe(frame)
    assert [row["wrong_fields"] for row in document_table(both).rows()] == ["", "a"]
    bulk = BulkStructuredModelEvaluator({"fields": {"a": {}}}).evaluate_dataframe(frame)
    assert (bulk.document_count, bulk.metrics["tp"], bulk.metrics["fd"]) == (2, 1, 1)
    for bad, message in (
        (pandas.DataFrame({"expected": ["{}"]}), "no column 'predicted'"),
        (pandas.DataFrame({"expected": ["{"], "predicted": ["{}"]}), "row 0: expected"),
        (pandas.DataFrame({"expected": ["[]"], "predicted": ["{}"]}), "not an object"),
    ):
        for evaluate in (evaluate_dataframe, BulkStructuredModelEvaluator({"fields": {"a": {}}}).evaluate_dataframe):
            with pytest.raises((ConfigError, ContractError), match=message):
                evaluate(bad)
    with pytest.raises(TypeError, match="must be a frame"):
        evaluate_dataframe([{"a": 1}], [{"a": 1}])


def test_frames_of_others() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": [1, 2], "tags": [["a"], ["b", "c"]], "total": [1, None]})
    assert evaluate_dataframe(frame, frame)["cm_accuracy"] == 1.0
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"id": [1, 2], "total": [1, None]})
    assert evaluate_dataframe(table, table)["cm_accuracy"] == 1.0


def test_columns_that_become_one_field_are_refused() -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    fine = pandas.DataFrame({"id": [1], "v": ["a"]})
    for twice in (
        pandas.DataFrame([[1, "a", "b"]], columns=["id", "v", "v"]),
        pandas.DataFrame([[1, "a", "b"]], columns=["id", 3, "3"]),
        arrow.table([[1], ["a"], ["b"]], names=["id", "v", "v"]),
    ):
        with pytest.raises(ConfigError, match=r"the predictions: the column '.' is there twice"):
            evaluate_dataframe(fine, twice)


def test_rows_that_show_equal_items_hold_items_of_their_own() -> None:
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {"a": {"type": "str"}, "b": {"type": "str"}}}}}
    sides = [[{"id": place, "lines": [{"a": "x", "b": text}]} for place in range(2)] for text in ("one", "other thing")]
    result = Evaluator(Fields(schema=schema)).update(*sides).compute()
    first, second = (row["truth"] for row in result.outcomes().rows() if row["path"] == "lines[0]")
    first["a"] = "changed"
    assert second == {"a": "x", "b": "one"}
