"""Classes and JSON Schemas of other people are schemas as they are: nested, recursive, with aliases, in every notation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict, TypeVar

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, constr

from calque import ComparableField, ConfigError, Evaluator, Fields, StructuredModel
from calque.fields import error_table
from calque.fields.schemas.annotations import spoken
from calque.fields.schemas.comparable_field import described_field
from calque.fields.schemas.remembered import plain_json


def kinds(schema: Any) -> dict[str, str]:
    return {each["field"]: each["type"] for each in Fields(schema=schema).explain()}


class Payee(TypedDict):
    iban: str
    since: NotRequired[date]


class Letter(TypedDict, total=False):
    subject: Required[str]
    fee: Annotated[Decimal, "in euros"]
    payees: list[Payee]
    first: Payee | None
    by_name: dict[str, Payee]


@dataclass
class Branch:
    label: str
    payee: Payee
    below: list[Branch] = field(default_factory=list)


class Tree(BaseModel):
    label: str
    below: list[Tree] = []


class Bill(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    what: str = Field(alias="Beschreibung")
    reference: int | str
    code: Annotated[str, constr(pattern=r"A\d+")]
    due: date | str
    shares: dict[str, float]
    kind: Literal["a", 1]


def test_typed_dictionaries_and_dataclasses_at_any_depth() -> None:
    payee = {"iban": "code", "since": "date"}
    assert kinds(Letter) == {
        "subject": "str", "fee": "amount", "payees": "list[object]", "first": "object", "by_name": "any",
        **{f"{where}.{name}": kind for where in ("payees", "first") for name, kind in payee.items()},
    }  # fmt: skip
    assert kinds(Branch) == {
        "label": "str",
        "payee": "object",
        "below": "list[any]",
        "payee.iban": "code",
        "payee.since": "date",
    }


@pytest.mark.parametrize("schema", [Tree, Tree.model_json_schema()], ids=["class", "JSON Schema"])
def test_what_refers_to_itself_is_compared_as_a_whole(schema: Any) -> None:
    assert kinds(schema) == {"label": "str", "below": "list[any]"}
    leaves = [{"label": f"leaf {letter}", "below": []} for letter in "abcdefghijklmnop"]
    truth = {"label": "root", "below": [{"label": "branch", "below": leaves}]}
    found = {"label": "root", "below": [{"label": "branch", "below": [*leaves[:-1], {"label": "leaf q"}]}]}
    for other, right in ((truth, 2), (found, 1)):
        assert Evaluator(Fields(schema=schema)).update([truth], [other]).compute()["tp"] == right


def test_unions_choices_and_patterns() -> None:
    expected = {"what": "str", "reference": "code", "code": "code", "due": "date", "shares": "any", "kind": "any"}
    assert kinds(Bill) == kinds(StructuredModel.from_pydantic(Bill)) == expected

    class Ours(StructuredModel):
        reference: int | str = ComparableField()
        price: int | str = ComparableField()

    assert kinds(Ours) == {"reference": "code", "price": "amount"}


@pytest.mark.parametrize("key", ["Beschreibung", "what"])
def test_a_field_with_an_alias_goes_by_both_names(key: str) -> None:
    truth = {"Beschreibung": "one thing", "reference": 17}
    result = Evaluator(Fields(schema=Bill)).update([truth], [{key: "one thing", "reference": "17"}]).compute()
    assert (result["tp/what"], result["tp/reference"], result.numbers["not_in_schema"]) == (1, 1, {})


def test_a_part_of_a_mapping_or_of_an_object_that_is_wrong_makes_it_wrong() -> None:
    class Whole(BaseModel):
        shares: dict[str, float]
        tree: Tree

    shares = dict.fromkeys("abcdefghijklmnopqrst", 1.0)
    truth = {"shares": shares, "tree": {"label": "one leaf", "below": [{"label": "x"}]}}
    found = {"shares": {**shares, "t": 2.0}, "tree": {"label": "one leaf", "below": [{"label": "y"}]}}
    result = Evaluator(Fields(schema=Whole)).update([truth], [found]).compute()
    assert (result["tp"], result["fd"]) == (0, 2)


def test_notations_of_json_schema() -> None:
    schema = {
        "properties": {
            "anything": True,
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
            "dated": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]},
            "number": {"type": ["integer", "string", "null"]},
            "cost": {"type": ["number", "string", "null"]},
        }
    }
    assert kinds(schema) == {"anything": "any", "pair": "list[any]", "dated": "date", "number": "code", "cost": "amount"}


def test_numbers_of_a_schema_are_strict() -> None:
    schema = {"properties": {"pages": {"type": "integer"}, "size": {"type": "number"}}}
    for wrong in ("A12", "12 pages", True, "12k"):
        result = (
            Evaluator(Fields(schema=schema)).update([{"pages": 12, "size": 1}], [{"pages": wrong, "size": wrong}]).compute()
        )
        assert (result["tp"], result["fd"]) == (0, 2)
    assert (
        Evaluator(Fields(schema=schema))
        .update([{"pages": 12, "size": 12}], [{"pages": "12", "size": "12.0 €"}])
        .compute()["tp"]
        == 2
    )


NAMES = ("Acme Corporation of Ohio", "Acme Corporatian of Ohio", "Globex Trading and Sons", "Globex Tradimg and Sons")
OBJECTS = st.recursive(
    st.fixed_dictionaries({"name": st.sampled_from(NAMES), "city": st.sampled_from(("Rome", "Paris"))}),
    lambda inner: st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES), "in": inner, "tags": st.lists(st.sampled_from(NAMES), max_size=2)}
    ),
    max_leaves=3,
)


@given(st.lists(st.tuples(OBJECTS, OBJECTS), min_size=1, max_size=4))
def test_an_object_is_right_just_when_nothing_in_it_is_wrong(pairs: list[tuple[Any, Any]]) -> None:
    """Slips that are forgiven in a value are forgiven in the object, and one wrong value is enough."""
    for truth, found in [*pairs, *((truth, truth) for truth, _ in pairs)]:
        result = Evaluator(Fields()).update([{"o": truth, "l": [{"o": truth}]}], [{"o": found, "l": [{"o": found}]}]).compute()
        wrong = [
            row
            for row in error_table(result).rows()
            if row["truth_path"].startswith("o.") or row["found_path"].startswith("o.")
        ]
        assert (result["tp/o"], result["fd/o"]) == ((0, 1) if wrong else (1, 0))
        assert result["tp/l.o"] == result["tp/o"]


def test_whole_objects_by_columns_and_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = [{"o": {"name": name, "city": "Rome"}} for name in NAMES]
    found = [
        {"o": {"name": name, "city": city}}
        for name, city in zip(NAMES[1:] + NAMES[:1], ("Rome", "Rome", "Rome", "Paris"), strict=True)
    ]
    by_columns = Evaluator(Fields()).update(truth, found).compute()
    assert (by_columns["tp/o"], by_columns["fd/o"]) == (2, 2)
    monkeypatch.setattr("calque.fields.columns.layout.KNOWN", frozenset())
    assert Evaluator(Fields()).update(truth, found).compute().to_dict() == by_columns.to_dict()


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ({"type": "object", "whole": 1, "fields": {"a": {}}}, "whole: true or false"),
        ({"type": "object", "whole": True, "threshold": 0.5, "fields": {"a": {}}}, "threshold: has no effect"),
        ({"type": "str", "whole": True}, "whole: is for objects"),
    ],
)
def test_what_whole_is_not_for(field: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Fields(schema={"fields": {"x": field}})


class Account(typing_extensions.TypedDict):
    iban: str
    since: NotRequired[date]


class Order(StructuredModel):
    payee: Account = ComparableField()
    others: list[Account] = ComparableField()


class Ticket(typing_extensions.TypedDict, total=False):
    payee: Account
    others: list[Account]


def test_typed_dictionaries_of_both_makers() -> None:
    """Before Python 3.12 pydantic takes only those of typing_extensions inside of a model."""
    expected = {
        "payee": "object", "payee.iban": "code", "payee.since": "date",
        "others": "list[object]", "others.iban": "code", "others.since": "date",
    }  # fmt: skip
    assert kinds(Order) == kinds(Ticket) == expected
    data = {"payee": {"iban": "DE1", "since": "2024-03-05"}, "others": [{"iban": "DE1"}, {"iban": "DE2"}]}
    order = Order.from_json(data)
    assert order.raw_json() == data
    assert order.compare_with(Order.from_json({**data, "others": [{"iban": "DE2"}]}))["overall_score"] == 0.75


Some = TypeVar("Some")


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (AnyUrl, ("code", "AnyUrl")),
        (Annotated[int, "pages"], ("int", "")),
        (Some, ("any", "")),
        (list[Some], ("list[any]", "")),  # type: ignore[valid-type]  # nobody has said yet what it is
        (str | Annotated[str, "long"], ("str", "")),
        (int | float, ("float", "")),
        (int | str, ("amount", "a number or text")),
        (date | str, ("date", "a date or text")),
        (date | datetime, ("any", "")),
        (bool | str, ("any", "")),
        (date | datetime | str, ("any", "")),
        (Literal[True], ("bool", "")),
        (Literal[1, 2, None], ("int", "")),
        (Literal[True, 1], ("code", "one of an enumeration")),
        (list[int | float], ("list[float]", "")),
        (list[list[int]], ("list[any]", "")),
        (bytes, ("str", "")),
        (date | None, ("date", "a date")),
    ],
    ids=str,
)
def test_the_plain_type_of_an_annotation(annotation: Any, told: tuple[str, str]) -> None:
    said = spoken(annotation, "f")
    assert (said.type, said.evidence) == told
    assert said.inner is None


class Address(TypedDict):
    city: str
    kind: Literal["home", "work"]


def test_a_typed_dictionary_is_an_object() -> None:
    assert spoken(Address, "f") == ("object", Address, "")
    assert spoken(list[Address], "f") == ("list[object]", Address, "")
    assert kinds(Address) == {"city": "str", "kind": "code"}
    with pytest.raises(ConfigError, match=r"f: <class 'complex'> is not a type that can be compared; use str, int, float"):
        spoken(complex, "f")


def test_parts_of_json_schemas() -> None:
    named = {"type": "object", "properties": {"city": {"type": "string"}}}
    counted = {"properties": {"rooms": {"type": "integer"}}}
    schema = {
        "properties": {
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            "mark": {"type": "string", "pattern": "^A"},
            "both": {"allOf": [named, counted]},
            "either": {"oneOf": [named, {"type": "array"}]},
            "none": {"anyOf": [{"type": "null"}]},
        }
    }
    assert kinds(schema) == {
        "grid": "list[any]", "mark": "code", "both": "object", "both.city": "str", "both.rooms": "int", "either": "any",
        "none": "any",
    }  # fmt: skip
    told = {each["field"]: each["evidence"] for each in Fields(schema=schema).explain()}
    assert told["mark"] == "texts of one pattern"
    assert told["grid"] == "anything: right when all of it is"
    given = {"type": "array", "x-aws-stickler-comparator": "ExactComparator", "items": {"type": "array"}}
    (field,) = Fields(schema={"properties": {"grid": given}}).explain()
    assert (field["type"], field["comparator"], field["params"]) == ("list[any]", "exact", {})


def test_values_of_models_as_json() -> None:
    assert plain_json((1, {"days": {date(2024, 1, 2)}})) == [1, {"days": ["2024-01-02"]}]
    made = described_field({"type": "str"}, default_factory=list)
    assert made.get_default(call_default_factory=True) == []
    assert described_field({"type": "str"}, default=3).default == 3
