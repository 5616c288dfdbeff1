"""Runs that know other documents, pages or labels are brought to those of all, and say of each object what they said before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator
from calque.base.columns import Strings
from calque.evaluation.ledger import UNIT, Ledger
from calque.report.comparison import aligned

Place = tuple[str, int, str]
"""The document, the page and the label of a box."""


def ledger(truth: list[Place], found: list[Place]) -> Ledger:
    def side(places: list[Place], **more: Any) -> Corpus:
        labels = sorted({label for *_, label in places}) or ["Table"]
        return Corpus.from_arrays(
            [[0.0, 0.0, 10.0, 10.0]] * len(places),
            [label for *_, label in places],
            documents=[document for document, *_ in places],
            pages=[page for _, page, _ in places],
            label_names=labels,
            **more,
        )

    return Evaluator(Detection()).update(side(truth), side(found, scores=[0.9] * len(found))).compute().ledger


def said(of: Ledger) -> list[tuple[Any, ...]]:
    """What a ledger says of every object, in words that hang on no numbering."""
    pages, told = of.table("pages"), []
    for name in ("truth", "found"):
        table = of.table(name)
        page = of.absolute("pages", table.array(UNIT), table.array("page"))
        for row in range(table.height):
            document = of.units[table.array(UNIT)[row]]
            assert of.units[pages.array(UNIT)[page[row]]] == document
            label = of.names["label"][table.array("label")[row]]
            told.append(
                (name, document, int(pages.array("page_index")[page[row]]), label, repr(float(table.array("iou")[row])))
            )
    return told


def types(of: Ledger) -> dict[tuple[str, str], str]:
    return {
        (table, name): "text" if isinstance(column, Strings) else column.dtype.str
        for table in ("pages", "truth", "found")
        for name, column in of.table(table).columns.items()
    }


BASE: list[Place] = [("a", 0, "Table"), ("b", 0, "Table"), ("b", 2, "Table")]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([("c", 0, "Table")], id="another document"),
        pytest.param([("A", 0, "Table")], id="an earlier document"),
        pytest.param([("b", 1, "Table")], id="another page"),
        pytest.param([("b", 3, "Table")], id="a later page"),
        pytest.param([("b", 0, "Figure")], id="another label"),
        pytest.param([], id="nothing more"),
    ],
)
def test_what_is_said_of_objects_stays(more: list[Place]) -> None:
    runs = [ledger(BASE, BASE), ledger(BASE, [*BASE[1:], *more])]
    both = aligned(runs)
    assert [said(one) for one in both] == [said(one) for one in runs]
    assert [types(one) for one in both] == [types(one) for one in runs]
    assert both[0].units == both[1].units
    assert both[0].names["label"] == both[1].names["label"]
    for name in (UNIT, "page_index"):
        assert np.array_equal(both[0].table("pages").array(name), both[1].table("pages").array(name))
    for before, after in zip(runs, both, strict=True):
        known = {unit: row for row, unit in enumerate(before.units)}
        for name in ("in_truth", "in_found"):
            flags = after.table("documents").array(name)
            was = before.table("documents").array(name)
            assert flags.dtype == np.bool_
            assert flags.tolist() == [bool(was[known[unit]]) if unit in known else False for unit in after.units]


def test_runs_that_are_alike_stay_as_they_are() -> None:
    runs = [ledger(BASE, BASE), ledger(BASE, BASE[1:])]
    assert all(one is other for one, other in zip(aligned(runs), runs, strict=True))
