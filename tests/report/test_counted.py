"""What the counts of fields count: rows, whole items and objects together are what the numbers say, whatever the records."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Fields, Result
from calque.evaluation.presentation.report_data import OUTCOMES
from calque.fields.comparison.cells import class_of
from calque.fields.counted import OF_ALL, OF_FIELD, counted
from calque.fields.occurrences import Paths, bare
from tests.report.made import fields

SCHEMA = {
    "fields": {
        "name": {"type": "str"},
        "tags": {"type": "list[str]"},
        "address": {"type": "object", "fields": {"street": {"type": "str"}, "town": {"type": "str"}}},
        "items": {
            "type": "list[object]",
            "fields": {
                "what": {"type": "str"},
                "parts": {"type": "list[object]", "fields": {"code": {"type": "str"}}},
                "at": {"type": "object", "fields": {"shelf": {"type": "str"}}},
            },
        },
    }
}
TEXT = st.sampled_from(["", "one", "two", "three", None])
PLACED = st.fixed_dictionaries({"_value": TEXT, "_bbox": st.just([1, 1, 9, 9])})
SHELF = st.none() | st.fixed_dictionaries({}, optional={"shelf": TEXT})
PART = st.fixed_dictionaries({}, optional={"code": TEXT})
ITEM = st.none() | st.fixed_dictionaries(
    {}, optional={"what": TEXT | PLACED, "parts": st.none() | st.lists(PART, max_size=2), "at": SHELF}
)
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "name": TEXT | PLACED,
        "tags": st.none() | st.lists(TEXT, max_size=3),
        "address": st.none() | st.fixed_dictionaries({}, optional={"street": TEXT, "town": TEXT}),
        "items": st.none() | st.lists(ITEM, max_size=3),
        "unheard": TEXT,
    },
)
NAMES = {"tp": "tp", "fd": "wrong", "fn": "fn", "fa": "fp"}


def objects(result: Result) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """How many objects each count leads to: by field and outcome, and of everything."""
    rows = result.ledger.table("rows")
    assert isinstance(result.task, Fields)
    flags, wholes = counted(result.task, result.ledger, Paths(rows))
    rows = rows.take(rows.array("counted").nonzero()[0])
    labels = [class_of(truth or found) for truth, found in zip(rows["truth_path"], rows["found_path"], strict=True)]
    drawn = [OUTCOMES[code] for code in (0, 2, 3, 1, 0)]
    told = [drawn[code] for code in rows.array("outcome").tolist()]
    of_field = Counter((bare(label), name) for label, name, flag in zip(labels, told, flags, strict=True) if flag & OF_FIELD)
    of_all = Counter(name for name, flag in zip(told, flags, strict=True) if flag & OF_ALL)
    of_field.update((bare(whole["field"]), drawn[whole["outcome"]]) for whole in wholes.rows())
    of_all.update(drawn[whole["outcome"]] for whole in wholes.rows() if whole["of_all"])
    return of_field, of_all


@pytest.mark.parametrize("accounting", ["complete", "paired"])
@given(pairs=st.lists(st.tuples(RECORD, RECORD), min_size=1, max_size=3))
def test_objects_are_what_the_numbers_count(accounting: Any, pairs: list[tuple[Any, Any]]) -> None:
    truth = [{"id": place, **record} for place, (record, _) in enumerate(pairs)]
    found = [{"id": place, **record} for place, (_, record) in enumerate(pairs)]
    result = Evaluator(Fields(schema=SCHEMA, accounting=accounting)).update(truth, found).compute()
    of_field, of_all = objects(result)
    for name, entry in result.numbers["fields"].items():
        assert {mark: of_field[name, mark] for mark in NAMES.values()} == {
            mark: entry[outcome] for outcome, mark in NAMES.items()
        }, name
    overall = result.numbers["overall"]
    assert {mark: of_all[mark] for mark in NAMES.values()} == {mark: overall[outcome] for outcome, mark in NAMES.items()}


def test_whole_items_are_where_they_stand() -> None:
    result = fields(better=True)
    assert isinstance(result.task, Fields)
    _, wholes = counted(result.task, result.ledger, Paths(result.ledger.table("rows")))
    mine = [whole for whole in wholes.rows() if result.ledger.units[whole["unit"]] == "inv-3"]
    # The second item has another quantity, which half of it is not enough for; the third is made up.
    assert sorted((whole["path"], OUTCOMES[(0, 2, 3, 1, 0)[whole["outcome"]]]) for whole in mine) == [
        ("items[0]", "tp"), ("items[1]", "wrong"), ("items[2]", "fp"),
    ]  # fmt: skip
