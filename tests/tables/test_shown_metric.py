"""The metric that reports, comparisons and `--show` show for each table is one that was computed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator, Tables
from calque.tables.report_data import report_data
from tests.conftest import Run

Command = Callable[..., Run]
TABLE = "<table><tr><th>Name</th><th>Sum</th></tr><tr><td>Anna</td><td>12</td></tr></table>"
OTHER = TABLE.replace("12", "99").replace("Anna", "Otto")
SETTINGS: list[dict[str, Any]] = [
    {},
    {"only": ("grits",)},
    {"only": ("adjacency",)},
    {"only": ("cells",)},
    {"only": ("header",)},
    {"only": ("errors",)},
    {"compat": "table-transformer"},
    {"compat": "table-transformer", "only": ("adjacency",)},
    {"compat": "pubtabnet"},
]


def shown(truth: str, predicted: str, **settings: Any) -> tuple[str, dict[str, Any]]:
    """Return the title of the metric in the report, and the row of the only table."""
    task = Tables(**settings)
    result = Evaluator(task).update({"d": truth}, {"d": predicted}).compute()
    made = report_data(task, result.ledger, result.to_dict())
    assert made is not None
    return made.head["evaluators"][0], made.head["cases"][0]["rows"][0]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_report_of_an_identical_table_shows_a_pass(settings: dict[str, Any]) -> None:
    title, row = shown(TABLE, TABLE, **settings)
    assert (row["score"], row["verdict"]) == (1.0, "pass"), title


@pytest.mark.parametrize("only", ["grits", "adjacency", "cells", "errors"])
def test_report_of_a_different_table_shows_the_metric_of_the_result(only: str) -> None:
    _, row = shown(TABLE, OTHER, only=(only,))
    numbers = Evaluator(Tables(only=(only,))).update({"d": TABLE}, {"d": OTHER}).compute().numbers
    value = {
        "grits": lambda: numbers["mean"]["grits_con"],
        "adjacency": lambda: numbers["micro"]["adjacency"]["f1"],
        "cells": lambda: numbers["micro"]["cells"]["f1"],
        "errors": lambda: 1 - math.fsum(kind["loss"] for kind in numbers["errors"].values()),
    }[only]()
    assert 0 < value < 1
    assert row["score"] == pytest.approx(value)
    assert row["verdict"] == "partial"


def test_report_of_a_table_without_a_value_shows_none() -> None:
    _, row = shown("<table></table>", "<table></table>")
    assert row["score"] is None
    assert row["verdict"] == "error"


@pytest.mark.parametrize("only", ["grits", "cells", "adjacency", "errors"])
def test_comparison_without_teds_finds_identical_tables_right(tmp_path: Path, calque: Command, only: str) -> None:
    for name, text in (("truth", TABLE), ("same", TABLE), ("other", OTHER)):
        (tmp_path / f"{name}.json").write_text(json.dumps([{"id": "t", "html": text}]))
    for name in ("same", "other"):
        run = calque("tables", "truth.json", f"{name}.json", "--only", only, "--save", f"{name}.state")
        assert run.code == 0, run.err
    found = calque("compare", "other.state", "same.state", "--format", "json").json
    assert [change["change"] for change in found["changed"]] == ["fixed"]
    assert found["documents"]["runs"]["same"]["better"] == 1


def test_show_without_teds_prints_the_metric_that_was_computed(tmp_path: Path, calque: Command) -> None:
    (tmp_path / "d.html").write_text(TABLE)
    run = calque("tables", "d.html", "d.html", "--only", "grits", "--show", "d")
    assert "GriTS-Con 1.0000" in run.out
    assert "TEDS" not in run.out
