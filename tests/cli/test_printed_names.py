"""Every name that a table prints can be explained, and every metric in a summary table can be used in a gate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from calque import Detection, Evaluator, Fields, Layout, Order, Tables, Words
from calque.ceiling.task import Ceiling
from calque.checks.suites.suite import Suite
from calque.core.presentation.sections import Section
from calque.core.result import Result
from calque.sample import sample
from tests.conftest import Run

Command = Callable[..., Run]
TABLE = "<table><tr><th>Item<th>2019<tr><td>Revenue<td>4</table>"
WORSE = "<table><tr><th>Item<th>2019<tr><td>Revenua</table>"
SUITE = "name: x\nevaluators: [{type: equals, name: same}]\ncases: [{id: a, output: 1, expected: 1}]\n"
OF_METRICS = ("scope", "measure", "metric", "tool", "what")
"""Headers of columns that name metrics or scopes."""


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Result]:
    """A result of each task, with all tables that options add."""
    for name, tree in sample().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    truth, finder, cropper = (str(tmp_path / f"{name}.json") for name in ("truth", "finder", "cropper"))
    orders = [{"doc_id": name, "page_index": 0, "ids": [1, 2, 3], "order": [1, 2, 3]} for name in "ab"]
    wrong = [{**row, "order": [3, 1, 2]} for row in orders]
    records = [{"id": name, "total": 1, "name": {"_value": "x", "_confidence": 0.9}} for name in "ab"]
    (tmp_path / "suite.yaml").write_text(SUITE)
    detection = Detection(crops=True, confusion=True, sweep=True, page_view=True, beside="boxes")
    pairs = {
        "detect": (detection, truth, finder),
        "layout": (Layout(), truth, finder),
        "fields": (Fields(), records, [*records[:1], {**records[1], "total": 2}]),
        "words": (Words(cer=True, errors=5), {"a": "one two"}, {"a": "one too"}),
        "tables": (Tables(), {"a": TABLE}, {"a": WORSE}),
        "order": (Order(), orders, wrong),
        "ceiling": (Ceiling(), truth, (finder, cropper)),
    }
    evaluated = {name: Evaluator(task).update(one, two).compute() for name, (task, one, two) in pairs.items()}
    return {**evaluated, "check": Suite.load(tmp_path / "suite.yaml").run()}


def data_names(result: Result) -> set[str]:
    """Names from the data: classes, fields, documents, systems and evaluators."""
    units = {str(unit) for unit in result.ledger.units}
    return units | {"Figure", "Table", "finder", "cropper", "total", "name", "same", ""}


def printed(section: Section, data: set[str]) -> Iterator[str]:
    """The headers of a table, and the names of metrics and scopes in its first column."""
    yield from (str(header) for header in section.head if str(header) not in data)
    if section.head and section.head[0] in OF_METRICS:
        yield from (str(row[0]).removesuffix(" *") for row in section.rows if str(row[0]) not in data)


def test_explain_knows_every_name_that_a_table_prints(results: dict[str, Result], calque: Command) -> None:
    unknown = {}
    for task, result in results.items():
        data = data_names(result)
        names = dict.fromkeys(name for section in result.sections() for name in printed(section, data))
        unknown |= {(task, name): run.err for name in names if (run := calque("explain", name)).code}
    assert sorted(unknown) == []


def test_explain_knows_the_rows_of_scopes(results: dict[str, Result], calque: Command) -> None:
    for task in ("detect", "words", "tables", "order"):
        summary = next(section for section in results[task].sections() if section.head)
        labels = [str(row[0]) for row in summary.rows if str(row[0]) not in data_names(results[task])]
        assert labels
        assert all(calque("explain", label).code == 0 for label in labels), labels


def test_explain_knows_the_names_of_a_comparison(calque: Command, tmp_path: Path) -> None:
    for name, tree in sample().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    lines = calque("compare", "truth.json", "finder.json", "cropper.json").out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("measure "))
    rows = [line.split("  ")[0].removesuffix(" *") for line in lines[head + 1 :] if "  " in line and "." in line]
    assert len(rows) > 5
    assert all(calque("explain", name).code == 0 for name in rows), rows


def test_explain_of_map_explains_detection(calque: Command) -> None:
    assert "detection" in calque("explain", "mAP").out


SUMMARIES = {"detect": 4, "layout": 1, "words": 1, "tables": 2, "order": 1}
"""How many tables of a result are summaries; those of fields have names of their own."""


def test_gates_take_every_header_of_a_summary_table(results: dict[str, Result], calque: Command, tmp_path: Path) -> None:
    files = {
        "detect": ("truth.json", "finder.json"),
        "layout": ("truth.json", "finder.json"),
        "words": ("words.json", "words.json", "--cer"),
        "tables": ("tables.json", "tables.json"),
        "order": ("order.ndjson", "order.ndjson"),
    }
    (tmp_path / "words.json").write_text('{"a": "one two"}')
    (tmp_path / "tables.json").write_text(json.dumps({"a": TABLE}))
    (tmp_path / "order.ndjson").write_text('{"doc_id": "a", "page_index": 0, "ids": [1, 2], "order": [1, 2]}\n')
    for task, count in SUMMARIES.items():
        summaries = [section for section in results[task].sections() if section.head][:count]
        for header in dict.fromkeys(str(header) for section in summaries for header in section.head[1:]):
            for flag, value in (("--fail-under", "0"), ("--fail-over", "1000000")):
                run = calque(task, *files[task], flag, f"{header}={value}")
                if run.code != 2:
                    break
            named = [part for part in ("nearest", "use --fail") if part in run.err]
            assert run.code != 2 or (named and header.casefold() in run.err.casefold()), (task, header, run.err)


def test_gate_with_an_unknown_name_is_refused_with_the_nearest(calque: Command, results: dict[str, Result]) -> None:
    run = calque("detect", "truth.json", "finder.json", "--fail-under", "recal=0.5")
    assert run.code == 2
    assert "recall@0.5" in run.err


def test_gate_with_a_header_judges_the_metric(calque: Command, results: dict[str, Result]) -> None:
    assert calque("detect", "truth.json", "finder.json", "--fail-under", "mean IoU@0.5=0.99").code == 1
    assert calque("detect", "truth.json", "finder.json", "--fail-under", "mean IoU@0.5=0.1").code == 0
    assert calque("detect", "truth.json", "finder.json", "--fail-under", "mAP=0.99").code == 1
    assert calque("detect", "truth.json", "finder.json", "--fail-under", "FP=3").code == 2


def test_tolerance_and_primary_take_headers(calque: Command, results: dict[str, Result]) -> None:
    assert calque("detect", "truth.json", "finder.json", "--save", "base.state").code == 0
    worse = ("detect", "truth.json", "cropper.json", "--baseline", "base.state")
    assert calque(*worse, "--tolerance", "F1@0.5=0.01").code == 1
    assert calque(*worse, "--tolerance", "mean IoU@0.5=0.01").code == 0
    assert calque("compare", "truth.json", "finder.json", "cropper.json", "--primary", "mAP").code == 0
