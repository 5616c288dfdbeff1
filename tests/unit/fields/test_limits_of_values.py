"""Values at the limits of what is shown, read and paired: small changes of the code that nothing else would notice."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from calque import Evaluator, Fields
from calque.ceiling.fields.leaves import groups
from calque.fields import error_table
from calque.fields.accounting.wrong import _similarity, shown
from calque.fields.comparison.cells import Cell
from calque.fields.schemas.plain_form import compile_plan

SCHEMA = {"fields": {"text": {"type": "code"}}}


@pytest.mark.parametrize(
    ("truth", "found", "alike"),
    [
        ("abcdefgh", "abcdef", 0.75),  # as short as something close can be
        ("abcdefgh", "abcde", 0.0),
        ("ab" * 100 + "x" * 40, "AB" * 100 + "y" * 60, 1.0),  # the first two hundred characters count, whatever their case
        ("x" * 40, "y" * 40, 0.0),
    ],
)
def test_how_close_two_texts_are(truth: str, found: str, alike: float) -> None:
    assert _similarity(truth, found) == _similarity(found, truth) == alike


@pytest.mark.parametrize(("value", "text"), [("", ""), (0, "0"), (0.0, "0.0"), (-1.5, "-1.5")])
def test_what_is_nothing_to_python_is_shown(value: Any, text: str) -> None:
    assert shown(Cell(value)) == text


def at(page: Any) -> dict[str, Any]:
    return {"text": {"_value": "a", "_bbox": [0, 0, 1, 1], "_page": page}}


@pytest.mark.parametrize(
    ("page", "other", "same"),
    [("3", 3, 1.0), ("000000003", 3, 1.0), ("0000000003", 3, 0.0), ("0000000003", "0000000003", 1.0), ("3a", 3, 0.0)],
)
def test_a_page_of_up_to_nine_digits_is_a_number(page: Any, other: Any, same: float) -> None:
    result = Evaluator(Fields(schema=SCHEMA)).update([at(page)], [at(other)]).compute()
    assert result["mean_iou/text"] == same


def test_odd_confidences_are_shown_up_to_sixty_characters() -> None:
    found = {"text": {"_value": "a", "_confidence": "x" * 61}}
    (issue,) = Evaluator(Fields(schema=SCHEMA)).update([{"text": "a"}], [found]).compute().issues
    assert "x" * 60 in issue.message
    assert "x" * 61 not in issue.message


@pytest.mark.parametrize(("truths", "founds"), [(["x"], ["x", "y", "z"]), (["x", "y", "z"], ["x"]), (["x"], []), ([], ["x"])])
def test_items_that_are_no_objects_are_paired_in_order_after_the_others(truths: list[str], founds: list[str]) -> None:
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {"n": {"type": "int"}}}}}
    sides = [{"lines": [*truths, {"n": 7}]}], [{"lines": [{"n": 7}, *founds]}]
    result = Evaluator(Fields(schema=schema)).update(*sides).compute()
    counts = [result[f"{name}/lines"] for name in ("tp", "fd", "fn", "fa")]
    pairs = min(len(truths), len(founds))
    assert counts == [1, pairs, len(truths) - pairs, len(founds) - pairs]


class Listed(BaseModel):
    """A class with a field that is called as a word of JSON Schema, and goes by another name in the JSON."""

    properties: str = Field(alias="props")
    items: list[int] = Field(alias="numbers")


def test_fields_may_be_called_as_words_of_json_schema_are() -> None:
    task = Fields(schema=Listed)
    result = Evaluator(task).update([{"props": "a", "numbers": [1]}], [{"props": "b", "numbers": [1]}]).compute()
    assert (result["tp/properties"], result["fd/properties"], result["tp/items"]) == (0, 1, 1)
    assert [row["truth_path"] for row in error_table(result).rows()] == ["props"]


def test_what_a_comparator_sees_nothing_of_is_itself() -> None:
    plan = compile_plan('{"fields": {"n": {"type": "str", "comparator": "numeric", "weight": 1.0}}}', "complete").fields[0]
    values = ["soon", "12", None, "later", "12.0", "soon", "$12"]
    assert groups(plan, values) == [1, 2, 0, 3, 2, 1, 2]
