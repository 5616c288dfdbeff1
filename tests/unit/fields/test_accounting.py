"""Complete accounting: no box is lost, whatever the documents look like."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import Evaluator, Fields
from calque.base.errors import ContractError
from calque.corpus.records import RecordCorpus
from calque.fields import compare_json
from calque.fields.accounting.rows import page_name, plain, told_value
from calque.fields.comparison.cells import Cell, Record, Unfit
from calque.fields.presentation import FAILURES, _failures
from calque.fields.scoring import Scorer
from tests.laws.fields import RECORDS, SCHEMA

odd = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text("a_", max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["_value", "_bbox", "_confidence", "_page", "_alternatives", "text", "lines", "tags", "sender", "x"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


def boxes_in(tree: Any) -> int:
    """The boxes of a document: what stands under ``_bbox`` in an object that is a value with metadata."""
    if isinstance(tree, list):
        return sum(map(boxes_in, tree))
    if not isinstance(tree, dict):
        return 0
    if "_value" in tree or (({"_bbox", "_confidence"} & tree.keys()) and all(key.startswith("_") for key in tree)):
        return (tree.get("_bbox") is not None) + boxes_in(tree.get("_value"))
    return sum(map(boxes_in, tree.values()))


box = st.one_of(
    st.lists(st.one_of(st.integers(0, 9), st.floats(), st.none(), st.text(max_size=1)), max_size=5),
    st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=4),
    st.text(max_size=2),
    st.integers(0, 1),
)
marked = st.fixed_dictionaries(
    {"_bbox": box}, optional={"_value": odd, "_page": odd, "_confidence": st.one_of(st.floats(), st.text(max_size=1))}
)
holder = st.recursive(
    marked,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["text", "amount", "parts", "marks", "x"]), inner, max_size=3),
        st.builds(lambda value, more: {**more, "_value": value}, inner, marked),
    ),
    max_leaves=8,
)
anything = st.dictionaries(st.sampled_from(["text", "amount", "lines", "tags", "sender", "x"]), holder | odd) | marked | odd


@given(RECORDS | anything, RECORDS | anything)
@example({}, {"_bbox": [], "_value": [{"_bbox": False}]})  # no record, though it looks like one
@example([{"_bbox": [0, 0, 1, 1]}], {})
def test_every_box_is_observed_exactly_once(truth: Any, found: Any) -> None:
    numbers = _numbers(truth, found)
    classes = numbers["bbox_map_metrics"]["fields"].values()
    assert numbers["unaccounted_boxes"] == 0
    observed = sum(each["num_gt"] + each["num_detections"] for each in classes)
    assert numbers["boxes"]["truth"] + numbers["boxes"]["predicted"] == observed
    # The boxes of fields that the schema does not know are counted, and are in no other number.
    assert observed + numbers["boxes"]["ignored"] == boxes_in(truth) + boxes_in(found)
    if not numbers["not_in_schema"]:
        assert numbers["boxes"]["ignored"] == 0


def _numbers(truth: Any, found: Any, **settings: Any) -> Any:
    sides = [RecordCorpus(documents=("a",), records=[side]) for side in (truth, found)]
    settings.setdefault("schema", SCHEMA)
    return Evaluator(Fields(**settings)).update(*sides).compute().numbers


@given(st.lists(st.tuples(RECORDS | anything | st.none(), RECORDS | anything | st.none()), min_size=1, max_size=3))
def test_no_box_is_lost_in_documents_that_one_side_lacks(pairs: list[tuple[Any, Any]]) -> None:
    sides = [
        RecordCorpus(
            documents=tuple(number for number, pair in enumerate(pairs) if pair[side] is not None),
            records=[pair[side] for pair in pairs if pair[side] is not None],
        )
        for side in (0, 1)
    ]
    numbers = Evaluator(Fields(schema=SCHEMA)).update(*sides).compute().numbers
    assert numbers["unaccounted_boxes"] == 0
    every = sum(boxes_in(side) for pair in pairs for side in pair)
    assert sum(numbers["boxes"].values()) == every


def test_any_number_of_jobs_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    chance = random.Random("jobs")  # data, not secrets

    def record(number: int) -> Any:
        boxes = [[0, 0, chance.randint(1, 9), 9], [1, 2], None]
        lines = [{"text": {"_value": f"line {chance.randint(0, 3)}", "_bbox": chance.choice(boxes)}} for _ in range(3)]
        confidence = chance.choice([0.5, 0.9, 7])
        return {"id": f"d{number}", "text": {"_value": "acme", "_confidence": confidence}, "lines": lines, "other": number}

    truth, found = ([record(number) for number in range(150) if chance.random() > 0.05] for _ in range(2))
    for task in (Fields(schema=SCHEMA), Fields(schema=SCHEMA, accounting="paired", keep_outcomes=False)):
        states = {Evaluator(task, jobs=jobs).update(truth, found).state() for jobs in (1, 2, 3)}
        assert len(states) == 1


def test_a_worker_tells_what_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    truth = [{"id": number, "text": "a"} for number in range(100)]
    found = [{"id": number, "text": {"_value": "a", "_confidence": 2 if number == 77 else 1}} for number in range(100)]
    with pytest.raises(ContractError, match="document 77: text"):
        Evaluator(Fields(schema=SCHEMA, strict=True), jobs=2).update(truth, found)


@given(RECORDS, RECORDS)
def test_paired_accounting_says_how_many_boxes_it_loses(truth: Any, found: Any) -> None:
    numbers = _numbers(truth, found, accounting="paired")
    assert 0 <= numbers["unaccounted_boxes"] <= boxes_in(truth) + boxes_in(found)


def test_pages() -> None:
    schema = {"fields": {"text": {"type": "str"}}}
    truth = {"text": {"_value": "a", "_bbox": [0, 0, 1, 1], "_page": 1}}
    for box, expected in (
        ({"_bbox": [0, 0, 1, 1, 1]}, 1.0),
        ({"_bbox": [0, 0, 1, 1], "_page": 2}, 0.0),
        ({"_bbox": [0, 0, 1, 1]}, 1.0),
    ):
        assert _numbers(truth, {"text": {"_value": "a", **box}}, schema=schema)["bbox_map_metrics"]["mean_ap"] == expected


def test_pages_have_numbers_or_names() -> None:
    schema = {"fields": {"text": {"type": "str"}}}

    def box(page: Any) -> Any:
        return {"text": {"_value": "a", "_bbox": [0, 0, 1, 1], "_page": page}}

    for pages, expected in (((3, "3"), 1.0), (("iv", "iv"), 1.0), (("iv", 4), 0.0), (("4", "04a"), 0.0)):
        assert _numbers(box(pages[0]), box(pages[1]), schema=schema)["bbox_map_metrics"]["mean_ap"] == expected
    for odd_page in ([], True, float("nan"), {"n": 1}):
        result = Evaluator(Fields(schema=schema)).update([box(1)], [box(odd_page)]).compute()
        assert result["mean_ap"] == 1.0
        assert "odd-page" in {issue.code for issue in result.issues}
        assert result.incomplete


def test_a_document_may_be_wrapped_itself() -> None:
    schema = {"fields": {"text": {"type": "str"}}}
    whole = {"_value": {"text": {"_value": "a", "_bbox": [0, 0, 1, 1]}}, "_bbox": [0, 0, 9, 9], "_confidence": 0.5}
    numbers = _numbers(whole, whole, schema=schema)
    assert numbers["overall"]["cm_accuracy"] == 1.0
    assert set(numbers["bbox_map_metrics"]["fields"]) == {"(document)", "text"}


def test_boxes_without_values() -> None:
    schema = {"fields": {"logo": {"type": "str"}}}
    numbers = _numbers({"logo": {"_bbox": [0, 0, 4, 4]}}, {"logo": {"_bbox": [0, 0, 4, 3], "_confidence": 0.9}}, schema=schema)
    assert numbers["bbox_map_metrics"]["fields"]["logo"]["mean_iou"] == 0.75
    assert numbers["fields"]["logo"]["tn"] == 1


def test_joint_score_wants_the_right_value_in_the_right_place() -> None:
    schema = {"fields": {"a": {"type": "str"}, "b": {"type": "str"}}}
    box = [0, 0, 4, 4]
    truth = {"a": {"_value": "acme", "_bbox": box}, "b": {"_value": "acme", "_bbox": box}}
    found = {"a": {"_value": "acme", "_bbox": box}, "b": {"_value": "globex", "_bbox": box}}
    joint = _numbers(truth, found, schema=schema)["joint"]["0.5"]
    assert joint == {"correct": 1, "precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_ignored_fields_count_nowhere() -> None:
    schema = {"fields": {"a": {"type": "str"}, "b": {"type": "str", "comparator": "ignore"}}}
    numbers = _numbers({"a": "x", "b": {"_value": "y", "_bbox": [0, 0, 1, 1]}}, {"a": "x", "b": "z"}, schema=schema)
    assert numbers["boxes"] == {"truth": 0, "predicted": 0, "ignored": 1}
    assert set(numbers["fields"]) == {"a"}
    assert numbers["overall"]["weighted_overall_score"] == 1.0


@pytest.mark.parametrize("keep_outcomes", [True, False])
@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_where_an_ignored_field_stands_makes_no_difference(accounting: str, keep_outcomes: bool) -> None:
    told: dict[str, Any] = {"a": {"type": "str"}, "b": {"type": "str"}, "odd": {"type": "str", "comparator": "ignore"}}

    def numbers(order: list[str]) -> Any:
        fields = {name: told[name] for name in order}
        schema = {"fields": {**fields, "lines": {"type": "list[object]", "fields": fields}}}
        values = [
            {name: {"_value": name + end, "_bbox": [0, 0, 1, size], "_confidence": 0.5} for name in told}
            for end, size in (("1", 1), ("2", 2), ("3", 3), ("4", 4))
        ]
        truth = {**values[0], "lines": values[1:]}
        found = {**values[0], "b": "other", "lines": values[:0:-1]}
        return _numbers(truth, found, schema=schema, accounting=accounting, keep_outcomes=keep_outcomes)

    last = numbers(["a", "b", "odd"])
    assert last["overall"]["tp"] > 2
    assert numbers(["odd", "a", "b"]) == numbers(["a", "odd", "b"]) == last


@pytest.mark.parametrize("holds", ["itself", "object", "list"])
def test_items_are_paired_without_what_is_ignored_in_them_and_in_what_they_hold(holds: str) -> None:
    """One item of three is quite another, whatever stands in fields that are ignored, and however much they weigh."""

    def overall(*, ignored: bool) -> Any:
        code = {"code": {"type": "str", "comparator": "ignore", "weight": 9}} if ignored else {}
        inner = {"colour": {"type": "str", "comparator": "exact"}, **code}
        kind = {"object": "object", "list": "list[object]"}.get(holds)
        item = {"holds": {"type": kind, "fields": inner}} if kind else inner
        schema = {"fields": {"lines": {"type": "list[object]", "match_threshold": 0.7, "fields": item}}}

        def line(colour: str, number: str) -> Any:
            both = {"colour": colour, **({"code": number} if ignored else {})}
            return {"holds": [both] if holds == "list" else both} if kind else both

        truth = {"lines": [line("red", "1"), line("blue", "2"), line("green", "3")]}
        found = {"lines": [line("grey", "3"), line("red", "2"), line("blue", "1")]}
        return _numbers(truth, found, schema=schema)["overall"]

    assert overall(ignored=True) == overall(ignored=False)
    assert overall(ignored=True)["tp"] == 2


def test_alternatives() -> None:
    schema = {
        "fields": {"a": {"type": "str", "comparator": "exact"}, "l": {"type": "list[object]", "fields": {"a": {"type": "str"}}}}
    }
    accepted = {"_value": "New York", "_alternatives": ["NYC", None]}
    numbers = _numbers(
        {"a": accepted, "l": [{"a": accepted}, {"a": "b"}]}, {"a": "NYC", "l": [{"a": "b"}, {"a": "NYC"}]}, schema=schema
    )
    assert numbers["overall"]["tp"] == 3
    assert _numbers({"a": "NYC"}, {"a": accepted}, schema=schema)["overall"]["fd"] == 1
    assert _numbers({"a": {"_value": "x", "_alternatives": "y"}}, {"a": "y"}, schema=schema)["overall"]["fd"] == 1


LINES = {"key": {"type": "str", "comparator": "exact"}, "text": {"type": "str"}}


@pytest.mark.parametrize(
    ("matching", "tp", "fd", "fa", "fn"),
    [({}, 2, 0, 1, 0), ({"matching": "ordered"}, 0, 2, 1, 0), ({"match_key": "key"}, 1, 0, 2, 1)],
)
def test_ways_to_pair_items(matching: dict[str, str], tp: int, fd: int, fa: int, fn: int) -> None:
    schema = {"fields": {"lines": {"type": "list[object]", **matching, "match_threshold": 0.5, "fields": LINES}}}
    truth = {"lines": [{"key": "1", "text": "apples"}, {"key": None, "text": "pears"}]}
    found = {"lines": [{"key": "2", "text": "pears"}, {"key": "1", "text": "apples"}, {"key": "3"}]}
    entry = _numbers(truth, found, schema=schema)["fields"]["lines"]
    assert [entry[name] for name in ("tp", "fd", "fa", "fn")] == [tp, fd, fa, fn]


def test_ordered_values() -> None:
    schema = {"fields": {"tags": {"type": "list[str]", "matching": "ordered", "comparator": "exact", "threshold": 1.0}}}
    entry = _numbers({"tags": ["a", "b"]}, {"tags": ["b", "a", "c"]}, schema=schema)["fields"]["tags"]
    assert (entry["tp"], entry["fd"], entry["fa"]) == (0, 2, 1)


def test_equal_items_are_paired_by_their_boxes() -> None:
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {"text": {"type": "str"}}}}}
    low, high = {"text": {"_value": "a", "_bbox": [0, 0, 2, 2]}}, {"text": {"_value": "a", "_bbox": [0, 50, 2, 52]}}
    truth, found = {"lines": [low, high]}, {"lines": [high, low]}
    assert _numbers(truth, found, schema=schema)["bbox_map_metrics"]["mean_ap"] == 1.0
    assert _numbers(truth, found, schema=schema, accounting="paired")["bbox_map_metrics"]["mean_ap"] == 0.0


@pytest.mark.long
def test_long_lists_are_paired_as_short_ones_are_and_very_long_ones_not_at_all() -> None:
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {"text": {"type": "str"}}}, "tags": {"type": "list[int]"}}}
    lines = [{"text": f"line {number}"} for number in range(2_100)]
    truth = {"lines": lines, "tags": list(range(2_100))}
    found = {"lines": [*reversed(lines[1:]), {"text": "else"}], "tags": list(range(2_099, -1, -1))}
    result = Evaluator(Fields(schema=schema)).update([truth], [found]).compute()
    assert result.numbers["fields"]["lines"]["tp"] == 2_099
    assert result.numbers["fields"]["tags"]["tp"] == 2_100
    assert (result.issues, result.incomplete) == ((), False)
    million = {"tags": [1] * 100_001}
    result = Evaluator(Fields(schema=schema)).update([million], [million]).compute()
    assert result.numbers["fields"]["tags"]["fd"] == 1
    assert {issue.code for issue in result.issues} == {"list-too-long"}


def test_oddities_are_losses_and_strict_refuses_them() -> None:
    schema = {"fields": {"a": {"type": "float"}}}
    truth, found = [{"a": {"_value": 1, "_bbox": [1, 2, 3]}}], [{"a": {"_value": "one", "_confidence": 7}}]
    result = Evaluator(Fields(schema=schema)).update(truth, found).compute()
    assert {(issue.code, str(issue.severity)) for issue in result.issues} == {
        ("odd-box", "loss"), ("odd-confidence", "loss"), ("wrong-type", "note"),
    }  # fmt: skip
    with pytest.raises(ContractError, match="document 0: a"):
        Evaluator(Fields(schema=schema, strict=True)).update(truth, found)


def test_types_are_converted_where_nothing_is_lost() -> None:
    schema = {
        "fields": {name: {"type": name, "comparator": "exact", "threshold": 1.0} for name in ("int", "float", "bool", "str")}
    }
    truth = {"int": 3, "float": 2.0, "bool": True, "str": "12"}
    found = {"int": 3.0, "float": "2", "bool": "yes", "str": 12}
    assert _numbers(truth, found, schema=schema)["overall"]["tp"] == 4
    assert _numbers(truth, {"int": 3.5, "float": "x", "bool": "maybe", "str": [1]}, schema=schema)["overall"]["fd"] == 4
    assert _numbers({"bool": 0}, {"bool": 0.0}, schema=schema)["fields"]["bool"]["tp"] == 1


def test_outcomes_explain_every_miss() -> None:
    schema = {
        "fields": {
            "a": {"type": "str", "threshold": 0.9},
            "b": {"type": "str"},
            "o": {"type": "object", "fields": {"c": {"type": "int"}}},
        }
    }
    truth, found = (
        [{"id": "x", "a": "acme", "o": {"c": 1}}],
        [{"id": "x", "a": {"_value": "acne", "_bbox": [0, 0, 1, 1]}, "b": "new", "o": 5}],
    )
    rows = list(Evaluator(Fields(schema=schema)).update(truth, found).compute().outcomes().rows())
    assert [(row["path"], row["reason"]) for row in rows] == [
        ("a", "below threshold"), ("b", "not in the truth"), ("o.c", "missing in the prediction"),
    ]  # fmt: skip
    assert rows[0] | {"document": "x", "score": 0.75, "threshold": 0.9, "match": False, "found_box": [0, 0, 1, 1]} == rows[0]
    slim = Evaluator(Fields(schema=schema, keep_outcomes=False), keep="numbers").update(truth, found).compute()
    assert list(slim.outcomes().rows()) == []


def test_missing_documents() -> None:
    schema = {"fields": {"a": {"type": "str"}}}
    truth, found = [{"id": "x", "a": "1"}, {"id": "y", "a": "2"}], [{"id": "y", "a": "2"}, {"id": "z", "a": "3"}]
    numbers = Evaluator(Fields(schema=schema)).update(truth, found).compute().numbers
    assert [numbers["overall"][name] for name in ("tp", "fn", "fa")] == [1, 1, 1]
    assert numbers["documents"] == {"only_truth": ["x"], "only_predictions": ["z"]}
    numbers = Evaluator(Fields(schema=schema, missing="intersect")).update(truth, found).compute().numbers
    assert [numbers["overall"][name] for name in ("tp", "fn", "fa")] == [1, 0, 0]
    assert numbers["document_count"] == 1


def test_below_an_object_paired_accounting_loses_the_boxes_of_missed_items() -> None:
    """As the original does: an item that nothing is paired with has the path ``object.None`` there."""
    line = {"type": "list[object]", "fields": {"a": {"type": "str"}}}
    schema = {"fields": {"sender": {"type": "object", "fields": {"lines": line}}}}
    boxed = {"a": {"_value": "y", "_bbox": [0, 0, 1, 1]}}
    truth, found = [{"sender": {"lines": [{"a": "x"}, boxed]}}], [{"sender": {"lines": [{"a": "x"}]}}]
    rows = list(Evaluator(Fields(schema=schema, accounting="paired")).update(truth, found).compute().outcomes().rows())
    missed = [row for row in rows if row["outcome"] == "fn"]
    assert [(row["truth_path"], row["found_path"], row["truth"], row["truth_box"], row["reason"]) for row in missed] == [
        ("sender.lines[1]", "sender.None", {"a": "y"}, None, "missing in the prediction")
    ]


def test_values_of_cells_as_json() -> None:
    assert plain([Cell(1), Cell([Cell("a"), 2.5])]) == [1, ["a", 2.5]]
    assert plain(Unfit(["raw"])) == ["raw"]


@pytest.mark.parametrize(
    ("accounting", "other"), [("paired", "below threshold"), ("complete", "paired with an item that is too different")]
)
def test_items_that_match_are_called_the_same(accounting: Any, other: str) -> None:
    """Also where a document is compared by itself, without columns."""
    task = Fields(schema={"fields": {"tags": {"type": "list[str]", "comparator": "exact"}}}, accounting=accounting)
    truth, found = {"tags": ["x", "y"]}, {"tags": ["x", "z"]}
    rows = Evaluator(task).update([truth], [found]).compute().outcomes().rows()
    assert [(row["outcome"], row["reason"]) for row in rows] == [("tp", "same"), ("fd", other)]


def test_fields_fail_the_most_frequent_first_and_else_as_the_schema_has_them() -> None:
    entry = dict.fromkeys(FAILURES, 0) | {"pairs": []}
    failures = {"a": {**entry, FAILURES[0]: 1}, "b": {**entry, FAILURES[1]: 2}, "c": {**entry, FAILURES[-1]: 1}, "d": entry}
    assert [row[0] for row in _failures(failures).rows] == ["b", "a", "c", "d"]


@pytest.mark.parametrize(("page", "name"), [(2.0, "2"), (2.5, "2.5"), ("iv", "iv"), ("2.0", "2.0"), (0.0, "0")])
def test_pages_are_called_by_their_number_or_name(page: float | str, name: str) -> None:
    assert page_name(page) == name


def test_a_matrix_has_the_fields_that_occur() -> None:
    inner = {"x": {"type": "str"}, "y": {"type": "str"}}
    schema = {"fields": {"lines": {"type": "list[object]", "fields": inner}, "to": {"type": "object", "fields": inner}}}
    record = {"lines": [{"x": "1"}], "to": {"y": "2"}}
    matrix = compare_json(record, record, schema)["confusion_matrix"]["fields"]
    counts = Evaluator(Fields(schema=schema)).update([record], [record]).compute().numbers["fields"]
    for name in ("lines", "to"):
        assert [f"{name}.{field}" for field in matrix[name]["fields"]] == [
            path for path in counts if path.startswith(f"{name}.")
        ]
    assert compare_json({"lines": []}, {"lines": []}, schema)["confusion_matrix"]["fields"]["lines"]["fields"] == {}
    assert "fields" not in matrix["to"]["fields"]["y"], "a value has no fields below it"


@pytest.mark.parametrize("sides", [(True, False), (False, True)])
def test_a_document_of_one_side_has_no_fields_where_only_shared_ones_count(sides: tuple[bool, bool]) -> None:
    scorer = Scorer(Fields(schema={"fields": {"a": {"type": "str"}}}, missing="intersect"))
    assert scorer.document(0, {"a": "x"}, {"a": "x"}, in_truth=sides[0], in_found=sides[1]) == ([], 0.0)
    assert scorer.document(1, {"a": "x"}, {"a": "x"})[1] == 1.0


def test_a_record_that_was_never_json_is_told_by_its_values() -> None:
    inner = Record([Cell("a"), Cell(None)], 0)
    assert told_value(Cell(inner)) == ["a", None]
    assert told_value(Cell([Cell(inner), Cell(2)])) == [["a", None], 2]
