"""The scopes of order metrics: all pages together, the mean over pages, and the mean over documents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator, intervals
from calque.order import Order
from tests.conftest import Run

Command = Callable[..., Run]
SCOPES = ("micro", "macro", "macro_pages", "macro_documents")


def rows(*pages: tuple[str, int, list[str]]) -> list[dict[str, Any]]:
    return [{"doc_id": document, "page_index": page, "order": order} for document, page, order in pages]


TRUTH = rows(("one", 0, ["a", "b"]), ("two", 0, ["a", "b"]), ("two", 1, ["a", "b"]), ("bare", 0, ["a"]))
PREDICTIONS = rows(("one", 0, ["a", "b"]), ("two", 0, ["b", "a"]), ("two", 1, ["b", "a"]), ("bare", 0, ["a"]))
"""Document values of `pairs`: 1, 0 and undefined; page values: 1, 0, 0 and undefined."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, listed in (("truth", TRUTH), ("pred", PREDICTIONS)):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in listed))
    return tmp_path


def test_order_scopes_of_unequal_documents_differ(here: Path, calque: Command) -> None:
    found = calque("order", "truth.ndjson", "pred.ndjson", "--format", "json").json
    assert {scope: found[scope]["pairs"] for scope in SCOPES} == {
        "micro": 1 / 3,
        "macro": 1 / 3,
        "macro_pages": 1 / 3,
        "macro_documents": 1 / 2,
    }
    assert found["macro_documents"]["edit"] == pytest.approx((1 + 0 + 1) / 3)
    assert found["macro"] == found["macro_pages"]


def test_order_scopes_as_measure_names_are_those_of_the_json() -> None:
    result = Evaluator(Order()).update(TRUTH, PREDICTIONS).compute()
    for scope in SCOPES[1:]:
        for name in ("pairs", "successors", "footrule", "edit"):
            assert result[f"{scope}.{name}"] == result.numbers[scope][name]


def test_order_scopes_without_judged_pages_are_undefined_with_a_reason(here: Path, calque: Command) -> None:
    (here / "alone.ndjson").write_text(json.dumps(TRUTH[-1]) + "\n")
    found = calque("order", "alone.ndjson", "alone.ndjson", "--format", "json").json
    for scope in SCOPES:
        assert found[scope]["pairs"] is None
        assert found["undefined"][f"{scope}.pairs"]


@pytest.mark.parametrize(("scope", "value"), [("macro", 1 / 3), ("macro_pages", 1 / 3), ("macro_documents", 0.5)])
def test_order_gates_of_scopes_use_their_own_value(here: Path, calque: Command, scope: str, value: float) -> None:
    files = ("order", "truth.ndjson", "pred.ndjson")
    assert calque(*files, "--fail-under", f"{scope}.pairs={value - 0.01}").code == 0
    assert calque(*files, "--fail-under", f"{scope}.pairs={value + 0.01}").code == 1


def test_order_document_mean_in_intervals_and_comparisons_is_over_documents(here: Path, calque: Command) -> None:
    calque("order", "truth.ndjson", "pred.ndjson", "--save", "pred.state")
    calque("order", "truth.ndjson", "truth.ndjson", "--save", "right.state")
    measures = calque("compare", "pred.state", "right.state", "--format", "json").json["measures"]
    assert measures["macro_documents.pairs"]["delta"]["value"] == pytest.approx(1 / 2)
    assert measures["macro.pairs"]["delta"]["value"] == pytest.approx(2 / 3)
    many = [
        [{**row, "doc_id": f"{row['doc_id']}{copy}"} for row in side for copy in range(40)] for side in (TRUTH, PREDICTIONS)
    ]
    result = Evaluator(Order()).update(*many).compute()
    found = intervals(result, measures=["macro_documents.pairs", "macro.pairs", "macro_pages.pairs"])
    assert found["macro.pairs"] == found["macro_pages.pairs"]
    documents, pages = found["macro_documents.pairs"], found["macro.pairs"]
    assert documents.low is not None
    assert pages.high is not None
    assert documents.low > 1 / 3, "the mean over pages is outside of the interval of the mean over documents"
    assert pages.high < 1 / 2


def test_order_csv_and_explain_list_the_scopes(here: Path, calque: Command) -> None:
    table = calque("order", "truth.ndjson", "pred.ndjson", "--format", "csv").out
    values = {row["scope"]: row["pairs"] for row in csv.DictReader(io.StringIO(table)) if row["scope"] in SCOPES}
    assert float(values["macro"]) == pytest.approx(1 / 3)
    assert float(values["macro_documents"]) == pytest.approx(1 / 2)
    for scope in SCOPES:
        assert f"{scope}:" in calque("explain", f"{scope}.successors").out
