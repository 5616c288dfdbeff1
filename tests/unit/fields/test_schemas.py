"""Schemas: strict about themselves, and the same whichever form they come in."""

from __future__ import annotations

import json
import re
from enum import Enum
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import pytest

from calque import ComparableField, ConfigError, ContractError, Evaluator, Fields, StructuredModel
from calque.comparators import DateComparator, NumericComparator, OneOfComparator
from calque.evaluation.storage.state import pack, unpack
from calque.fields.schemas.json_schema import from_plain, to_plain
from calque.fields.schemas.plain_form import canonical, compile_plan
from calque.readers.records import read_records


class Colour(Enum):
    RED = "red"


class Line(StructuredModel):
    match_threshold = 0.6
    text: str = ComparableField(threshold=0.8)
    amount: float | None = ComparableField(comparator=NumericComparator(absolute_tolerance=0.01, threshold=0.9), weight=2)


class Invoice(StructuredModel):
    number: str = ComparableField(comparator="exact", threshold=1.0, alias="invoiceNumber")
    when: str = ComparableField(comparator=DateComparator(), clip_under_threshold=False)
    city: Any = ComparableField(comparator=OneOfComparator())
    colour: Colour = ComparableField()
    kind: Literal["a", "b"] = ComparableField()
    paid: bool = ComparableField()
    total: int
    more: dict[str, Any] = ComparableField()
    tags: list[str] = ComparableField(matching="ordered")
    lines: list[Line] = ComparableField(weight=3)
    first: Line | None = ComparableField(threshold=0.4)


FIELDS = json.loads(canonical(Invoice.to_config()))["fields"]


def test_what_a_class_says_of_its_fields() -> None:
    assert {name: each["type"] for name, each in FIELDS.items()} == {
        "number": "str", "when": "str", "city": "any", "colour": "code", "kind": "code", "paid": "bool", "total": "int",
        "more": "any", "tags": "list[str]", "lines": "list[object]", "first": "object",
    }  # fmt: skip
    assert FIELDS["number"]["alias"] == "invoiceNumber"
    assert FIELDS["when"]["clip"] is False
    assert FIELDS["lines"]["match_threshold"] == 0.6
    assert FIELDS["lines"]["fields"]["amount"] == {
        "type": "float", "comparator": "numeric", "params": {"absolute_tolerance": 0.01}, "threshold": 0.9, "weight": 2.0,
    }  # fmt: skip
    assert "threshold" not in FIELDS["total"]
    assert FIELDS["colour"]["evidence"] == "one of an enumeration"


def test_all_forms_of_a_schema_are_one(tmp_path: Path) -> None:
    text = canonical(Invoice.to_config())
    schema = Invoice.to_json_schema()
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    forms: list[Any] = [
        Invoice, Invoice.to_config(), json.dumps(Invoice.to_config()), schema, str(tmp_path / "schema.json"),
        tmp_path / "schema.json", f"{__name__}:Invoice", StructuredModel.model_from_config(Invoice.to_config()),
        StructuredModel.from_json_schema(schema), text,
    ]  # fmt: skip
    assert {Fields(schema=form).schema for form in forms} == {text}
    assert to_plain(from_plain(json.loads(text))) == json.loads(text)


def test_the_signature_names_the_schema() -> None:
    first, second = Fields(schema=Invoice), Fields(schema={"fields": {"a": {}}})
    assert first.signature().settings["schema"] != second.signature().settings["schema"]
    assert first.signature().differences(second.signature())[0].startswith("schema: ")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({}, "a schema has 'fields'"),
        ({"fields": {}}, "at least one field"),
        ({"fields": {"a": 3}}, "fields.a: an object such as"),
        ({"fields": {"a": {"treshold": 1}}}, "unknown key 'treshold'; did you mean 'threshold'"),
        ({"fields": {"a": {}}, "version": 1}, "unknown key 'version'"),
        ({"fields": {"a": {"type": "strng"}}}, "did you mean 'str"),
        ({"fields": {"a": {"type": 5}}}, "5 is no type"),
        ({"fields": {"a": {"threshold": 1.5}}}, "fields.a.threshold: a number from 0 to 1"),
        ({"fields": {"a": {"threshold": True}}}, "a number from 0 to 1"),
        ({"fields": {"a": {"weight": -1}}}, "fields.a.weight"),
        ({"fields": {"a": {"clip": 1}}}, "true or false"),
        ({"fields": {"a": {"clip": True, "clip_under_threshold": True}}}, "give one"),
        ({"fields": {"a": {"comparator": "levenstein"}}}, "fields.a: no comparator"),
        ({"fields": {"a": {"comparator": "numeric", "params": {"relative_tolerance": "a"}}}}, "relative_tolerance"),
        ({"fields": {"a": {"comparator": 5}}}, "comparator is a name"),
        ({"fields": {"a": {"fields": {"b": {}}}}}, "'fields' belong to object"),
        ({"fields": {"a": {"type": "object", "comparator": "exact", "fields": {"b": {}}}}}, "is compared by its fields"),
        ({"fields": {"a": {"type": "object"}}}, "fields.a.fields: an object with at least one field"),
        ({"fields": {"a": {"type": "list[str]", "matching": "best"}}}, "none of optimal"),
        ({"fields": {"a": {"type": "list[object]", "matching": "key", "fields": {"b": {}}}}}, "needs match_key"),
        ({"fields": {"a": {"type": "list[object]", "match_key": "c", "fields": {"b": {}}}}}, "it can be b"),
        ({"fields": {"a": {}, "b": {"alias": "a"}}}, "share the JSON key 'a'"),
        ({"properties": {"a": {"type": "text"}}}, "is no JSON type"),
        ({"properties": {"a": {"x-calque-treshold": 1}}}, "did you mean 'x-calque-threshold'"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "leads nowhere"),
        ({"properties": {"a": {"$ref": "http://example.com"}}}, "leads out of the schema"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "in a circle"),
        ({"properties": {"a": reduce(lambda inner, _: {"anyOf": [inner]}, range(65), {"type": "string"})}}, "in a circle"),
        ({"properties": {"a": 5}}, "an object is expected here"),
        ({"properties": {}}, "needs 'properties'"),
        (reduce(lambda inner, _: {"properties": {"n": inner}}, range(70), {"type": "string"}), "64 levels deep"),
        ({"feilds": {"a": {}}}, "this one has 'feilds'; did you mean 'fields'"),
        ({"fields": {"a": {}}, "name": 5}, "schema.name: text is expected"),
        ({"fields": {"a": {"alias": ""}}}, "fields.a.alias: text is expected"),
        ({"fields": {"a": {"description": 5}}}, "fields.a.description: text is expected"),
        ({"fields": {"_value": {}}}, "'_value' is what a value carries along"),
        ({"fields": {"a": {"match_threshold": 0.5}}}, "fields.a.match_threshold: is for list[object], not for str"),
        ({"fields": {"a": {"type": "list[str]", "match_threshold": 0.5}}}, "its items are compared with threshold"),
        ({"fields": {"a": {"type": "list[object]", "match_threshold": 2, "fields": {"b": {}}}}}, "a number from 0 to 1"),
        ({"fields": {"a": {"type": "object", "matching": "ordered", "fields": {"b": {}}}}}, "matching: is for lists"),
        ({"fields": {"a": {"match_key": "b"}}}, "fields.a.match_key: is for lists, not for str"),
        ({"fields": {"a": {"comparator": "anls", "params": {"floor": "high"}}}}, "floor: a number is expected here"),
        ({"fields": {"a": {"comparator": "exact", "params": {"case_sensitive": "no"}}}}, "case_sensitive: true or false"),
        ({"fields": {"a": {"comparator": "phone", "params": {"region": 5}}}}, "region: text is expected"),
        ({"fields": {"a": {"comparator": "date", "params": {"tolerance": "x"}}}}, "tolerance: a number is expected"),
        ({"fields": {"a": {"params": {"threshold": "x"}}}}, "threshold: a number is expected"),
        ({"fields": {"a": {"comparator": "one_of", "params": {"inner": 5}}}}, "inner: a name, or"),
        ({"fields": {"a": {"comparator": "one_of", "params": {"inner": {"params": {}}}}}}, "inner: a name, or"),
        ({"properties": {"a": {"type": {}}}}, "{} is no JSON type"),
        ({"properties": {"a": {"type": "array", "items": {"type": []}}}, "propertys": 1}, "did you mean 'properties'"),
        ({"properties": {"a": {"anyOf": 5}}}, "anyOf: a list of schemas"),
        ({"properties": {"a": {"x-calqe-threshold": 0.5}}}, "did you mean 'x-calque-threshold'"),
        ({"properties": {"a": {"type": "string", "thresold": 0.5}}}, "unknown key 'thresold'"),
    ],
)  # fmt: skip
def test_a_wrong_schema_is_refused_with_its_place(schema: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Fields(schema=schema)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.json", "nowhere.json: cannot be read: no such file"),
        ("no.such.module:Class", "cannot be imported"),
        ("calque.base.errors:ConfigError", "is no schema; it can be a pydantic model"),
        ("{", "line 1 column 2: is not JSON"),
    ],
)
def test_a_schema_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Fields(schema=text)


def test_schema_files_that_are_not_schemas(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name, message in (("list", "is an object with"), ("latin", "not UTF-8"), ("deep", "nested too deeply")):
        with pytest.raises(ConfigError, match=message):
            Fields(schema=tmp_path / f"{name}.json")
    with pytest.raises(ConfigError, match="a path, or the data itself"):
        Fields(schema=5)
    with pytest.raises(TypeError, match="a schema is a mapping, a class, or the path of a file, not set"):
        Fields(schema={5})


@pytest.mark.parametrize(
    "settings", [{"iou": 0}, {"iou": ()}, {"accounting": "odd"}, {"missing": "odd"}, {"boxes": "odd"}, {"target_precision": 0}]
)
def test_wrong_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Fields(schema={"fields": {"a": {}}}, **settings)


def test_without_a_schema_the_first_update_makes_one_from_the_truth() -> None:
    truth = [{"key": "x", "a": 1, "b": "one"}, {"key": "y", "a": 2.5, "b": "two"}]
    evaluator = Evaluator(Fields(id="key")).update(truth, truth[:1])
    assert evaluator.task == Fields.inferred(truth, id="key")
    decided = {
        "a": {"type": "float", "params": {"strict": True}, "evidence": "numbers, by the look of 2 values"},
        "b": {"type": "str", "params": {"same_words": True}, "evidence": "free text, by the look of 2 values"},
    }
    assert evaluator.task.schema == Fields(schema={"fields": decided, "inferred": "2 documents of the truth"}).schema
    assert evaluator.compute()["tp"] == 2
    with pytest.raises(TypeError, match="give a list"):
        Evaluator(Fields()).update(iter(truth), truth)
    with pytest.raises(ConfigError, match="no schema"):
        Fields().plan()


def test_options_lie_in_options_as_deep_as_references_lead() -> None:
    nested = reduce(lambda inner, _: {"anyOf": [inner, {"type": "null"}]}, range(64), {"type": "boolean"})
    assert to_plain({"properties": {"a": nested}})["fields"]["a"]["type"] == "bool"


def test_a_failed_update_settles_nothing() -> None:
    evaluator = Evaluator(Fields())
    with pytest.raises(TypeError):
        evaluator.update([{"a": 1}], 3)
    assert evaluator.task == Fields()


def test_json_schema_forms() -> None:
    anything = {"type": "any", "params": {"strict": True}, "threshold": 1.0}
    plain = to_plain({
        "$defs": {"money": {"type": ["number", "null"], "x-calque-comparator-config": {"tolerance": 1}}},
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "b": {"$ref": "#/$defs/money", "x-calque-weight": 2},
            "c": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "d": {"enum": ["x"]},
            "e": {"type": "object"},
            "f": {"type": "array", "items": {"type": "integer"}},
            "g": {"type": "array", "items": {"properties": {"h": {}}, "x-calque-match-threshold": 0.3}},
            "i": {"type": ["string", "number"]},
        },
    })  # fmt: skip
    assert plain["fields"] == {
        "a": {"type": "str", "params": {"same_words": True}, "evidence": "text of which no more is known"},
        "b": {"type": "float", "params": {"tolerance": 1}, "weight": 2},
        "c": {"type": "amount", "evidence": "a number or text"},
        "d": {"type": "code", "evidence": "one of an enumeration"},
        "e": {**anything, "evidence": "anything: right when all of it is"},
        "f": {"type": "list[int]", "params": {"strict": True}, "evidence": "whole numbers"},
        "g": {"type": "list[object]", "match_threshold": 0.3, "fields": {"h": {**anything, "evidence": "anything"}}},
        "i": {"type": "amount", "evidence": "a number or text"},
    }


def test_inferred_schemas() -> None:
    truth = [
        {
            "id": "a", "n": 1, "x": {"_value": 2.5, "_bbox": [0, 0, 1, 1]}, "b": True, "o": {"s": "t"}, "l": [{"s": 1}],
            "v": ["a"], "m": [1, "a", {}],
        },
        {"id": "b", "n": None, "x": 3, "b": None, "o": None, "l": [], "v": None, "e": {}, "f": [[]]},
    ]  # fmt: skip
    task = Fields.inferred(truth)
    kinds = {plan.path: f"{plan.kind} {plan.type}" for plan in task.plan().walk()}
    assert kinds == {
        "n": "leaf int", "x": "leaf float", "b": "leaf bool", "o": "object object", "o.s": "leaf str", "l": "items object",
        "l.s": "leaf int", "v": "values str", "m": "values any", "e": "leaf str", "f": "values any",
    }  # fmt: skip
    assert Evaluator(task).update(truth, truth).compute()["cm_accuracy"] == 1.0
    with pytest.raises(ConfigError, match="no schema can be made"):
        Fields.inferred([{}])


def test_deep_schemas_and_documents() -> None:
    schema: dict[str, Any] = {"type": "str"}
    document: Any = "x"
    for _ in range(63):
        schema, document = {"type": "object", "fields": {"a": schema}}, {"a": document}
    task = Fields(schema={"fields": {"a": schema}})
    assert Evaluator(task).update([{"a": document}], [{"a": document}]).compute()["cm_precision"] == 1.0
    with pytest.raises(ConfigError, match="64 levels"):
        canonical({"fields": {"a": {"type": "object", "fields": {"a": schema}}}})
    assert len(list(compile_plan(task.schema).walk())) == 64


def test_models_keep_what_they_were_made_from() -> None:
    data = {
        "invoiceNumber": {"_value": "7", "_confidence": 0.5, "_bbox": [0, 0, 1, 1]},
        "lines": [{"text": "a"}, 5],
        "first": {"text": "b"},
        "extra": 1,
    }
    model = Invoice.from_json(json.dumps(data))
    assert (model.number, model.lines[0].text, model.first.text if model.first else "", model.when) == ("7", "a", "b", None)
    assert model.raw_json() == data
    assert model.get_all_confidences() == {"invoiceNumber": 0.5}
    assert model.get_all_boxes() == {"invoiceNumber": [0, 0, 1, 1]}
    assert model.get_field_confidence("when") is None
    assert Invoice.from_json(data).compare(model) < 1.0  # a line that is no object is never the same
    plain = Line(text="a", amount=2)
    assert plain.compare(Line(text="a", amount=2)) == 1.0
    assert plain.raw_json() == {"text": "a", "amount": 2.0}
    with pytest.raises(TypeError):
        Line.from_json("[]")


def test_fields_that_cannot_be_compared() -> None:
    class Odd(StructuredModel):
        when: complex = ComparableField()

    with pytest.raises(ConfigError, match=r"Odd\.when"):
        Odd.plan()
    with pytest.raises(ConfigError, match="threshold must be"):
        ComparableField(threshold=2)


def test_a_corpus_of_models() -> None:
    corpus = read_records([Line(text="a", amount=1)])
    assert corpus.record(0) == {"text": "a", "amount": 1.0}
    assert len(read_records(Line(text="a", amount=1))) == 1


def test_a_state_holds_the_schema_of_a_class_and_never_its_name() -> None:
    header, ledger = unpack(Evaluator(Fields(schema=Line)).update([{"text": "a"}], [{"text": "a"}]).state(), "")
    assert json.loads(header["fields"]["schema"])["fields"].keys() == {"text", "amount"}
    header["fields"]["schema"] = "subprocess:Popen"
    with pytest.raises(ContractError, match="the setting schema is 'subprocess:Popen', which would have to be looked up"):
        Evaluator.from_state(pack(header, ledger))


STICKLER = {
    "model_name": "Product",
    "match_threshold": 0.8,
    "fields": {
        "name": {"type": "str", "comparator": "LevenshteinComparator", "threshold": 0.8, "weight": 2.0, "required": True},
        "price": {"type": "float", "comparator": "NumericComparator", "default": 1.5, "comparator_config": {"tolerance": 0.1}},
        "tags": {"type": "List[str]", "comparator": "auto", "examples": [["a"]]},
        "maker": {"type": "structured_model", "fields": {"city": {"type": "Optional[str]"}}},
        "parts": {"type": "list_structured_model", "match_threshold": 0.6, "fields": {"no": {"type": "int"}}},
    },
}


def test_configurations_of_stickler_are_read() -> None:
    with pytest.warns(UserWarning, match="without meaning here: tags: examples"):
        model = StructuredModel.model_from_json(STICKLER)
    assert (model.__name__, model.match_threshold) == ("Product", 0.8)
    fields = model.to_config()["fields"]
    assert {name: each["type"] for name, each in fields.items()} == {
        "name": "str", "price": "float", "tags": "list[str]", "maker": "object", "parts": "list[object]",
    }  # fmt: skip
    assert fields["price"]["params"] == {"absolute_tolerance": 0.1}
    assert fields["parts"]["match_threshold"] == 0.6
    assert model(name="x").price == model.from_json({"name": "x"}).price == 1.5
    with pytest.raises(ValueError, match="name"):
        model()
    result = Evaluator(Fields(schema=STICKLER)).update([{"name": "x", "price": 1.5}], [{"name": "x"}]).compute()
    assert (result["tp/price"], result["tp/name"]) == (1, 1)
    told = [issue.message for issue in result.issues if issue.code == "schema-key-passed-over"]
    assert [each.partition(":")[0] for each in told] == ["the schema", "name", "tags"]


def test_json_schemas_of_stickler_are_read() -> None:
    schema = {
        "x-aws-stickler-model-name": "Product",
        "x-aws-stickler-match-threshold": 0.8,
        "properties": {
            "name": {
                "type": "string",
                "x-aws-stickler-comparator": "FuzzyComparator",
                "x-aws-stickler-comparator-config": {"method": "token_set_ratio"},
                "x-aws-stickler-threshold": 0.7,
                "x-aws-stickler-clip-under-threshold": False,
                "x-aws-stickler-aggregate": True,
            }
        },
    }
    plan = Fields(schema=schema).plan().fields[0]
    assert (plan.comparator.params(), plan.threshold, plan.clip) == ({"method": "token_set_ratio"}, 0.7, False)
    with pytest.warns(UserWarning, match="x-aws-stickler-aggregate: every field is added up anyway"):
        assert StructuredModel.from_json_schema(schema).__name__ == "Product"
    for key, message in (("treshold", "did you mean 'x-aws-stickler-threshold'"), ("comparater", "x-aws-stickler-comparator")):
        with pytest.raises(ConfigError, match=message):
            Fields(schema={"properties": {"a": {f"x-aws-stickler-{key}": 1}}})
    with pytest.raises(ConfigError, match="no comparator is named 'SemanticComparator'"):
        Fields(schema={"properties": {"a": {"type": "string", "x-aws-stickler-comparator": "SemanticComparator"}}})


def test_comparable_field_takes_its_arguments_as_stickler_does() -> None:
    class Line(StructuredModel):
        text: str = ComparableField(NumericComparator(), 0.8, 2.0, "none", description="for people", max_length=9)

    field = Line.to_config()["fields"]["text"]
    assert (field["comparator"], field["threshold"], field["weight"], field["default"]) == ("numeric", 0.8, 2.0, "none")
    with pytest.raises(TypeError, match="takes no 'treshold'; did you mean 'threshold'"):
        ComparableField(treshold=0.5)
    with pytest.raises(TypeError, match="'aggregate': every field is added up anyway"):
        ComparableField(aggregate=True)
    with pytest.raises(TypeError, match="comparator must be"):
        ComparableField(0.5)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"fields": {"a": {"type": "list[object]", "threshold": 0.8, "fields": {"b": {}}}}}, "threshold: has no effect"),
        ({"fields": {"a": {"comparator": "ignore", "threshold": 0.8}}}, "threshold: has no effect: the field is not compared"),
        ({"fields": {"a": {"params": {}, "comparator_config": {}}}}, "params and comparator_config are the same"),
        ({"fields": {"a": {"default": float("nan")}}}, "default: a JSON value"),
    ],
)
def test_what_has_no_effect_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Fields(schema=schema)


def test_what_has_no_effect_on_a_class_is_refused() -> None:
    class Many(StructuredModel):
        lines: list[Line] = ComparableField(threshold=0.8)

    class One(StructuredModel):
        line: Line = ComparableField(comparator="exact")

    for model, message in ((Many, r"Many\.lines: threshold has no effect"), (One, r"One\.line: comparator has no effect")):
        with pytest.raises(ConfigError, match=message):
            model.plan()


def test_json_schema_reference_with_percent_encoding_is_followed() -> None:
    properties = {"a": {"$ref": "#/$defs/net%20total"}, "b": {"$ref": "#/%24defs/x~1y"}}
    schema = {"properties": properties, "$defs": {"net total": {"type": "number"}, "x/y": {"type": "string"}}}
    task = Fields(schema=schema)
    result = Evaluator(task).update([{"id": 1, "a": 1.0, "b": "x"}], [{"id": 1, "a": 1.0, "b": "x"}]).compute()
    assert result["accuracy"] == 1.0
