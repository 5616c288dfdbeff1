"""Types, names and the shape of values decide how fields are compared: a wrong value is never called right."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypedDict
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from calque import ComparableField, ConfigError, Evaluator, Fields, StructuredModel
from calque.comparators import (
    ANLSStarComparator,
    DateComparator,
    ExactComparator,
    LevenshteinComparator,
    NumericComparator,
)
from calque.comparators.base import BUILT_IN, comparator
from calque.comparators.written_numbers import written
from calque.fields.schemas.explained import editable
from calque.fields.schemas.leaf_types import COMPLETE, LEAF_TYPES
from calque.fields.schemas.plain_form import canonical, comparison_of


def chosen(task: Fields) -> dict[str, tuple[str, str, float]]:
    return {each["field"]: (each["type"], each["comparator"], each["threshold"]) for each in task.explain()}


WRONG = {
    "an invoice number": ({"invoice_number": "INV-2024-0017"}, {"invoice_number": "INV-2024-0099"}),
    "a code without a telling name": ({"x": "INV-2024-0017"}, {"x": "INV-2024-0018"}),
    "a day": ({"due": "2024-03-05"}, {"due": "2024-03-06"}),
    "a day in another form": ({"due": "March 5, 2024"}, {"due": "2024-03-06"}),
    "a moment": ({"at": "2024-03-05T10:30:00Z"}, {"at": "2024-03-05T10:31:00Z"}),
    "a time": ({"start": "10:30"}, {"start": "10:31"}),
    "a cent": ({"total": "$1,500.00"}, {"total": "$1,500.01"}),
    "a cent in Germany": ({"total": "1.234,50 €"}, {"total": "1.234,51 €"}),
    "a decimal mark": ({"total": "12,50"}, {"total": "1250"}),
    "a number and a text with a comma": ({"total": 1250.0}, {"total": "12,50"}),
    "a whole number and a text with letters": ({"pages": 12}, {"pages": "A12"}),
    "a currency": ({"total": "$1,500.00"}, {"total": "€1,500.00"}),
    "an e-mail address": ({"contact": "ann.miller@example.com"}, {"contact": "ann.muller@example.com"}),
    "a telephone number": ({"call": "+49 30 1234567"}, {"call": "+49 30 1234568"}),
    "an IBAN": ({"to": "DE89 3704 0044 0532 0130 00"}, {"to": "DE89 3704 0044 0532 0130 01"}),
    "digits with leading zeros": ({"x": "000123456789"}, {"x": "000123456788"}),
    "a house number": ({"street": "Long Winding Street 15"}, {"street": "Long Winding Street 16"}),
    "a number in a long text": ({"terms": "to be paid " * 10 + "in 30 days"}, {"terms": "to be paid " * 10 + "in 60 days"}),
    "a truth value": ({"paid": True}, {"paid": False}),
    "a share and a number": ({"rate": "12 %"}, {"rate": "12"}),
    "a unit": ({"weight": "12 kg"}, {"weight": "12 g"}),
    "a crown": ({"total": "12 kr"}, {"total": "12 Kč"}),
    "somebody else": ({"signed": "John Smith"}, {"signed": "Joan Smith"}),
    "the contrary": ({"terms": "to be paid by the buyer " * 5}, {"terms": "not " + "to be paid by the buyer " * 5}),
    "a prefix": ({"finding": "an asymptomatic patient"}, {"finding": "a symptomatic patient"}),
    "a version": ({"version": "1.10"}, {"version": "1.1"}),
    "half of an object": ({"buyer": {"name": "Acme", "city": "Rome"}}, {"buyer": {"name": "Acme", "city": "Paris"}}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_never_called_right(name: str) -> None:
    truth, found = WRONG[name]
    result = Evaluator(Fields()).update([truth], [found]).compute()
    assert (result["tp"], result["fd"]) == (0, 1)
    assert Evaluator(Fields()).update([truth], [truth]).compute()["tp"] == 1


RIGHT = {
    "another spelling of an amount": ({"total": "$1,500.00"}, {"total": 1500}),
    "decimal commas and points": ({"total": "1.234,50 €"}, {"total": "1,234.50 EUR"}),
    "an amount in brackets": ({"total": "(5.00)"}, {"total": "-5"}),
    "another spelling of a day": ({"due": "2024-03-05"}, {"due": "5 March 2024"}),
    "blanks around a code": ({"sku": "A-17"}, {"sku": " A-17 "}),
    "one letter of a long name": ({"vendor": "Acme Corporation International"}, {"vendor": "Acme Corporation Internationel"}),
    "a unit without a blank": ({"weight": "12.0 kg"}, {"weight": "12kg"}),
    "an accent in two characters": ({"vendor": "Café"}, {"vendor": "Cafe\u0301"}),
    "an accent of a code": ({"sku": "Ä-17"}, {"sku": "A\u0308-17"}),
    "a line break": ({"goods": "delivery of goods to the warehouse"}, {"goods": "delivery of goods\nto the warehouse."}),
    "case of a name": ({"vendor": "ACME Corp"}, {"vendor": "Acme corp"}),
    "a text that is no amount": ({"total": "n/a"}, {"total": "n/a"}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_another_spelling_is_right(name: str) -> None:
    truth, found = RIGHT[name]
    assert Evaluator(Fields()).update([truth], [found]).compute()["tp"] == 1


def test_every_choice_is_shown_with_its_evidence() -> None:
    truth = [
        {
            "number": f"A{n}",
            "when": f"{n + 1:02}/13/2024",
            "sum": f"1.{n}34,00",
            "note": "word " * 20,
            "who": "Ann",
            "tags": ["a1"],
        }
        for n in range(5)
    ]
    task = Fields.inferred(truth)
    assert chosen(task) == {
        "number": ("code", "exact", 1.0),
        "when": ("date", "date", 1.0),
        "sum": ("amount", "numeric", 1.0),
        "note": ("text", "levenshtein", 0.8),
        "who": ("str", "levenshtein", 0.9),
        "tags": ("list[code]", "exact", 1.0),
    }
    why = {each["field"]: (each["evidence"], each["params"]) for each in task.explain()}
    assert why["when"] == ("dates with the month first, by the look of 5 values", {"dayfirst": False, "same_text": True})
    assert why["sum"][1] == {"decimal_comma": True, "strict": True}
    with pytest.raises(ConfigError, match="no schema"):
        Fields().explain()


def test_what_a_name_and_readable_values_say_together() -> None:
    days = ["Tue 5 March 2024", "Wed 6 April 2024"]
    told = {each["field"]: each for each in Fields.inferred([{"invoice_date": day, "remark": day} for day in days]).explain()}
    assert told["invoice_date"]["type"] == "date"
    assert told["invoice_date"]["evidence"] == "its name, invoice_date, and dates, by the look of 2 values"
    assert told["remark"]["type"] == "str"
    assert chosen(Fields.inferred([{"a": [{}, {}]}])) == {"a": ("list[any]", "anls_star", 1.0)}


def test_in_paired_accounting_the_type_alone_decides() -> None:
    truth = [{"invoice_number": "INV-2024-0017", "due": "2024-03-05", "o": {"a": "x"}}]
    found = [{"invoice_number": "INV-2024-0099", "due": "2024-03-06", "o": {"a": "x"}}]
    assert chosen(Fields.inferred(truth, accounting="paired")) == {
        "invoice_number": ("str", "levenshtein", 0.5),
        "due": ("str", "levenshtein", 0.5),
        "o": ("object", "by its fields", 0.5),
        "o.a": ("str", "levenshtein", 0.5),
    }
    assert Evaluator(Fields(accounting="paired")).update(truth, found).compute()["tp"] == 3
    schema = {
        "properties": {"invoice_number": {"type": "string"}, "total": {"anyOf": [{"type": "number"}, {"type": "string"}]}}
    }
    assert chosen(Fields(schema=schema, accounting="paired"))["invoice_number"] == ("str", "levenshtein", 0.5)

    class Bill(StructuredModel):
        invoice_number: str = ComparableField()

    pair = Bill(invoice_number="INV-2024-0017"), Bill(invoice_number="INV-2024-0099")
    assert pair[0].compare_with(pair[1])["field_scores"] == {"invoice_number": 0.0}
    assert pair[0].compare_with(pair[1], accounting="paired")["field_scores"]["invoice_number"] > 0.5


def test_thresholds_of_a_given_schema_depend_on_the_accounting() -> None:
    schema = {"fields": {"t": {"type": "str"}, "n": {"type": "float"}, "d": {"comparator": "date"},
                         "f": {"comparator": "fuzzy"}, "own": {"comparator": "levenshtein", "params": {"threshold": 0.7}},
                         "said": {"threshold": 0.6},
                         "box": {"type": "any", "comparator": "bbox_iou"}}}  # fmt: skip
    complete, paired = (chosen(Fields(schema=schema, accounting=kind)) for kind in ("complete", "paired"))
    assert [each[2] for each in complete.values()] == [0.9, 1.0, 1.0, 0.9, 0.7, 0.6, 0.5]
    assert [each[2] for each in paired.values()] == [0.5, 0.5, 0.5, 0.5, 0.7, 0.6, 0.5]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    sku: str
    price: Decimal


class Order(BaseModel):
    order_number: str
    vendor: str
    total: Decimal
    rate: float | str
    due: date
    seen: datetime
    opens: time
    colour: Colour
    kind: Literal["a", "b"]
    key: UUID
    paid: bool
    count: int
    email_address: str | None = None
    parts: list[Part]
    first: Part | None = None


TYPES = {
    "order_number": "code", "vendor": "str", "total": "amount", "rate": "amount", "due": "date", "seen": "datetime",
    "opens": "time", "colour": "code", "kind": "code", "key": "code", "paid": "bool", "count": "int", "email_address": "code",
    "parts": "list[object]", "parts.sku": "code", "parts.price": "amount", "first": "object", "first.sku": "code",
    "first.price": "amount",
}  # fmt: skip


def test_any_pydantic_model_is_a_schema() -> None:
    assert {name: kind for name, (kind, _, _) in chosen(Fields(schema=Order)).items()} == TYPES
    assert {name: kind for name, (kind, _, _) in chosen(Fields(schema=Order.model_json_schema())).items()} == TYPES
    made = StructuredModel.from_pydantic(Order)
    assert made.__name__ == "Order"
    assert {name: kind for name, (kind, _, _) in chosen(Fields(schema=made)).items()} == TYPES
    assert chosen(Fields(schema=f"{__name__}:Order"))["total"] == ("amount", "numeric", 1.0)
    assert StructuredModel.from_pydantic(made) is made


def test_records_may_be_instances_of_the_class() -> None:
    class Bill(BaseModel):
        due: date
        total: Decimal

    truth, found = Bill(due=date(2024, 3, 5), total=Decimal("12.50")), Bill(due=date(2024, 3, 6), total=Decimal("12.5"))
    result = Evaluator(Fields(schema=Bill)).update([truth], [found]).compute()
    assert (result["fd/due"], result["tp/total"]) == (1, 1)


@dataclass
class Item:
    iban: str
    amount: float | str


class Tail(TypedDict):
    due_date: str
    items: list[Item]


def test_dataclasses_and_typed_dictionaries() -> None:
    assert chosen(Fields(schema=Item)) == {"iban": ("code", "exact", 1.0), "amount": ("amount", "numeric", 1.0)}
    kinds = {name: kind for name, (kind, _, _) in chosen(Fields(schema=Tail)).items()}
    assert kinds == {"due_date": "date", "items": "list[object]", "items.iban": "code", "items.amount": "amount"}
    with pytest.raises(ConfigError, match="is no schema; it can be a pydantic model, a dataclass or a TypedDict"):
        Fields(schema=int)


def test_a_structured_model_takes_the_types_of_its_annotations() -> None:
    class Line(StructuredModel):
        amount: Decimal | None = ComparableField()

    class Bill(StructuredModel):
        due: date = ComparableField()
        kind: Literal["a", "b"] = ComparableField()
        lines: list[Line] | Any | None = ComparableField()
        part: Part | None = ComparableField()

    kinds = {name: kind for name, (kind, _, _) in chosen(Fields(schema=Bill)).items()}
    assert kinds == {"due": "date", "kind": "code", "lines": "list[object]", "lines.amount": "amount", "part": "object",
                     "part.sku": "code", "part.price": "amount"}  # fmt: skip
    data = {"due": "2024-03-05", "lines": [{"amount": "12,50 €"}], "part": {"sku": "A1", "price": 1}}
    bill = Bill.from_json(data)
    assert bill.lines[0].amount == "12,50 €"
    assert bill.raw_json() == data
    assert bill.compare_with(Bill.from_json({**data, "lines": [{"amount": 12.5}]}))["overall_score"] == 1.0


def test_the_reasons_are_not_in_the_signature() -> None:
    truth = [{"a": "x y", "b": 1}, {"a": "y z", "b": 2}]
    one, two = Fields.inferred(truth), Fields.inferred(truth[:1])
    assert one.schema != two.schema
    assert one.signature() == two.signature()
    plain = canonical({"fields": {"a": {"type": "object", "fields": {"b": {"evidence": "seen"}}}}})
    assert "seen" in plain
    assert "seen" not in comparison_of(plain)


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_a_written_schema_is_the_same_comparison(accounting: Literal["complete", "paired"]) -> None:
    truth = [{"a": "x y", "b": 1, "c": "$5.00", "d": "2024-03-05", "e": "A-17", "f": True, "g": {"h": [["u"]], "i": "10:30"},
              "l": [{"m": "word " * 20}], "n": ["1.5"]}]  # fmt: skip
    task = Fields.inferred(truth, accounting=accounting)
    written = Fields(schema=editable(task.schema, accounting), accounting=accounting)
    assert written.signature() == task.signature()
    assert written.explain() == [
        {**each, "evidence": mine["evidence"]} for each, mine in zip(task.explain(), written.explain(), strict=True)
    ]
    assert Fields(schema=editable(written.schema, accounting), accounting=accounting).signature() == task.signature()


@pytest.mark.parametrize("accounting", ["complete", "paired"])
@pytest.mark.parametrize("kind", LEAF_TYPES)
def test_a_written_schema_is_the_same_comparison_whatever_was_chosen(
    kind: str, accounting: Literal["complete", "paired"]
) -> None:
    """For every type with every comparator, and with what the type sets turned off: spelt out, nothing is lost or added."""
    chosen: list[dict[str, Any]] = [{"comparator": name} for name in sorted(BUILT_IN) if name != "one_of"]
    chosen += [{"params": {option: not value}} for option, value in COMPLETE[kind].params.items()]
    for field in chosen:
        task = Fields(schema={"fields": {"x": {"type": kind, **field}}}, accounting=accounting)
        written = Fields(schema=editable(task.schema, accounting), accounting=accounting)
        assert [(each["comparator"], each["params"], each["threshold"]) for each in written.explain()] == [
            (each["comparator"], each["params"], each["threshold"]) for each in task.explain()
        ], field


def test_a_written_schema_says_of_each_field_what_can_be_turned_and_nothing_else() -> None:
    """Objects that are judged as a whole, and lists of objects, have no threshold of their own; dates in paired accounting
    are compared as moments, which that accounting sees to by itself."""
    inner = {"n": {"type": "int"}}
    schema = {
        "fields": {
            "day": {"type": "date"},
            "name": {"type": "str"},
            "to": {"type": "object", "threshold": 0.6, "fields": inner},
            "all": {"type": "object", "whole": True, "fields": inner},
            "lines": {"type": "list[object]", "match_threshold": 0.4, "fields": inner},
        }
    }
    number = {"type": "int", "comparator": "numeric", "threshold": 1.0, "weight": 1.0}
    complete, paired = (
        json.loads(editable(Fields(schema=schema, accounting=accounting).schema, accounting))["fields"]
        for accounting in ("complete", "paired")
    )
    assert complete == {
        "day": {"type": "date", "comparator": "date", "params": {"same_text": True}, "threshold": 1.0, "weight": 1.0},
        "name": {"type": "str", "comparator": "levenshtein", "threshold": 0.9, "weight": 1.0},
        "to": {"type": "object", "threshold": 0.6, "weight": 1.0, "fields": {"n": number}},
        "all": {"type": "object", "whole": True, "weight": 1.0, "fields": {"n": number}},
        "lines": {"type": "list[object]", "match_threshold": 0.4, "weight": 1.0, "fields": {"n": number}},
    }
    assert paired["day"] == {**complete["day"], "params": {"same_text": False}, "threshold": 0.5}
    assert paired["to"] == {**complete["to"], "fields": {"n": {**number, "threshold": 0.5}}}


@pytest.mark.parametrize(
    ("kind", "option", "pair"),
    [("code", "trim", ("a", " a")), ("amount", "strict", ("12", "A12")), ("date", "same_text", ("soon", "soon"))],
)
def test_what_a_type_sets_can_be_turned_off(kind: str, option: str, pair: tuple[str, str]) -> None:
    schemas = [{"fields": {"x": {"type": kind, "params": {option: value}}}} for value in (True, False)]
    counts = [Evaluator(Fields(schema=each)).update([{"x": pair[0]}], [{"x": pair[1]}]).compute()["tp"] for each in schemas]
    assert sorted(counts) == [0, 1]
    assert len({str(Fields(schema=each).signature()) for each in schemas}) == 2


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.50", "1234.50"), ("1.234,50", "1234.50"), ("1 234,50", "1234.50"), ("1'234.50", "1234.50"),
        ("1,00,000", "100000"),
        ("-5", "-5"), ("(5)", "-5"), ("5-", "-5"), ("$ -5", "-5"), ("5 %", "5"), (".5", "0.5"), ("12,5", "12.5"),
        ("Rs. 500", "500"),
        ("A12", None), ("12 34", None), ("1,23,4", None), ("1.2.3", None), ("", None), ("--5", None), ("(-5)", None),
        ("$5€", None),
        ("12/5", None), ("5 apples", None), ("9" * 500, None),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(text: str, number: str | None) -> None:
    read = written(text)
    assert (None if read is None else read.number) == (None if number is None else Decimal(number))


@given(st.decimals(-(10**9), 10**9, places=2))
def test_every_way_to_write_an_amount_is_that_amount(amount: Decimal) -> None:
    english = f"{amount:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    for text in (str(amount), english, german, f"{english} USD", f"${english}".replace("$-", "-$"), german + " €"):
        assert NumericComparator(strict=True).compare(float(amount), text) == 1.0
        assert NumericComparator(strict=True).compare(float(amount) + 0.01, text) == 0.0


def test_options_of_comparators() -> None:
    strict = NumericComparator(strict=True)
    matrix = strict.matrix(strict.prepare_all(["5 USD", "n/a", 7]), strict.prepare_all(["5", "n/a", "7 EUR"]))
    assert matrix.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert ExactComparator(trim=True).compare(" a ", "a") == 1.0
    text = LevenshteinComparator(same_numbers=True)
    assert text.compare("Street 5", "Street 6") == 0.0
    assert text.matrix(["street 5", "abc"], ["street 5", "abd"]).tolist() == [[1.0, 0.0], [0.0, pytest.approx(2 / 3)]]


def test_options_as_stickler_writes_them() -> None:
    assert comparator("Fuzz", {"method": "token_sort_ratio"}) == comparator("fuzzy", {"method": "token_sort_ratio"})
    assert comparator("NumericExactC", {"tolerance": 1}) == NumericComparator(absolute_tolerance=1)
    assert comparator("ANLSStarComparator", {"leaf_threshold": 0.7}) == ANLSStarComparator(floor=0.7)
    for misplaced in (False, "token_sort_ratio"):
        with pytest.raises(ConfigError, match=r"threshold must be from 0 to 1, not .*; give options by name"):
            LevenshteinComparator(misplaced)  # type: ignore[arg-type]  # its first option there is another


def test_a_date_with_a_time_zone_keeps_its_local_day() -> None:
    late = "2024-03-05T23:30:00-05:00"
    assert DateComparator().compare(late, "2024-03-05") == 1.0
    assert DateComparator().compare(late, "2024-03-06") == 0.0
    assert DateComparator().compare(late, "2024-03-06T04:30:00Z") == 1.0  # the same moment
    assert DateComparator().compare(late, "2024-03-05T01:00:00+09:00") == 1.0
    assert DateComparator(utc=True).compare(late, "2024-03-05") == 0.0
    assert DateComparator().compare("2024-03-04 - 2024-03-05", "2024-03-04 - 2024-03-05") == 1.0
    assert Fields(schema={"fields": {"d": {"comparator": "date"}}}, accounting="paired").plan().fields[0].comparator.utc


def test_times_count_where_they_should() -> None:
    timed = DateComparator(times=True)
    assert timed.compare("10:30", "10:30:00") == timed.compare("2024-03-05T10:30Z", "2024-03-05T11:30+01:00") == 1.0
    assert timed.compare("10:30", "10:31") == timed.compare("2024-03-05T10:30", "2024-03-05") == 0.0
    assert DateComparator(times=True, tolerance=1).compare("2024-03-05T10:30", "2024-03-06T10:30") == 1.0
    assert DateComparator().compare("10:30", "10:30") == 0.0
    assert DateComparator(same_text=True).compare(" soon", "soon ") == 1.0
    assert DateComparator(same_text=True).compare("soon", "2024-03-05") == 0.0
    assert timed.compare(datetime(2024, 3, 5, 10), "2024-03-05 10:00") == 1.0


@pytest.mark.parametrize(
    ("truth", "found", "score"),
    [
        ("10:30", "10:30 - 11:30", 0.5), ("10:30 - 11:30", "10:30 - 12:30", 0.5), ("10:30 - 11:30", "10:30 – 11:30", 1.0),
        ("2024-03-05 10:00 to 2024-03-05 12:00", "2024-03-05 10:00 to 2024-03-05 13:00", 2 / 3),
        ("2024-03-05 10:00Z to 2024-03-05 12:00Z", "2024-03-05 11:00+01:00 to 2024-03-05 13:00+01:00", 1.0),
        ("2024-03-05 10:30 EST", "2024-03-05 10:30 PST", 0.0), ("2024-03-05 10:30 EST", "2024-03-05T15:30Z", 1.0),
        ("2024-03-05 10:30 XYZ", "2024-03-05 10:30 ABC", 0.0), ("22:00 - 06:00", "22:00 - 06:00", 1.0),
        ("22:00 - 06:00", "22:00 - 05:00", 0.0),
    ],
)  # fmt: skip
def test_hours_and_zones(truth: str, found: str, score: float) -> None:
    assert DateComparator(times=True, same_text=True).compare(truth, found) == pytest.approx(score)


def test_where_only_days_count_hours_and_names_of_zones_do_not() -> None:
    for other in ("2024-03-05 23:30 EST", "2024-03-05 10:00 - 2024-03-05 12:00", "2024-03-05 10:00 XYZ"):
        assert DateComparator().compare("2024-03-05", other) == 1.0
