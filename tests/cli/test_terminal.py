"""What stands in the data reaches neither a terminal nor a spreadsheet as a command: every verb, in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Detection, Evaluator
from calque.cli.app import VERBS
from calque.cli.render import FORMULA, as_csv, csv_cell
from calque.evaluation.presentation.sections import printable_json
from tests.cli.test_process import on_a_terminal
from tests.conftest import Run
from tests.snapshots import BOX

Command = Callable[..., Run]

HOSTILE = "a\x1b[2J\x9b31m\u202e\x07\x7f\u2028b"
"""Escape sequences in both spellings, text that runs backwards, a bell, and a line that ends where none should."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Files of every task in which every name is hostile."""
    truth = [{"bbox": list(BOX), "category": HOSTILE, "doc_id": HOSTILE}, {"bbox": list(BOX), "category": "=1", "doc_id": "d"}]
    found = [{**box, "score": 0.5} for box in truth]
    records = [{"id": HOSTILE, HOSTILE: HOSTILE}, {"id": "=2", HOSTILE: "@x"}]
    suite = {
        "name": HOSTILE,
        "evaluators": [{"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "threshold": 0.5}],
        "cases": [{"id": HOSTILE, "output": {"b": [0, 0, 1, 1]}, "expected": {"c": [0]}, "tags": [HOSTILE]}],
    }
    for name, tree in (("t.json", truth), ("p.json", found), ("suite.yaml", suite), ("words.json", {HOSTILE: ["a", HOSTILE]})):
        (tmp_path / name).write_text(json.dumps(tree))
    (tmp_path / "other.json").write_text(json.dumps({HOSTILE: ["b", "c"]}))
    for name in ("t.jsonl", "p.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / f"{HOSTILE}.json").write_text(json.dumps(truth))
    (tmp_path / "tables.json").write_text(json.dumps({HOSTILE: f"<table><tr><td>{HOSTILE}</td></tr></table>"}))
    orders = [{"doc_id": HOSTILE, "order": [HOSTILE, "b"]}, {"doc_id": HOSTILE, "order": ["b", HOSTILE]}]
    for name, order in zip(("o.ndjson", "q.ndjson"), orders, strict=True):
        (tmp_path / name).write_text(json.dumps(order) + "\n")
    for name, side in (("one.state", found), ("two.state", found[:1])):
        Evaluator(Detection()).update(truth, side).save(tmp_path / name)
    return tmp_path


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
LINES = [
    *(("detect", "t.json", "p.json", "--format", shape) for shape in FORMATS),
    *(("detect", f"{HOSTILE}.json", "p.json", "--format", shape) for shape in FORMATS),
    *(("layout", "t.json", "p.json", "--format", shape) for shape in FORMATS),
    *(("fields", "t.jsonl", "p.jsonl", "--format", shape) for shape in FORMATS),
    *(("words", "words.json", "other.json", "--format", shape) for shape in FORMATS),
    ("words", "words.json", "other.json", "--show", HOSTILE),
    ("words", "words.json", "other.json", "--errors"),
    ("words", "words.json", "other.json", "t.jsonl"),
    *(("check", "suite.yaml", "--format", shape) for shape in ("table", "json", "jsonl", "markdown", "github")),
    ("check", "suite.yaml", "--annotations"),
    *(("audit", "t.json", "p.json", "--format", shape) for shape in ("table", "json")),
    *(("validate", "t.json", "p.json", "--format", shape) for shape in ("table", "json")),
    ("validate", "words.json"),
    ("validate", f"{HOSTILE}.json", "suite.yaml"),
    *(("convert", "t.json", f"{HOSTILE}.out", "--to", shape) for shape in ("ndjson", "plain", "coco")),
    *(("ceiling", "t.json", "p.json", "--format", shape) for shape in FORMATS),
    *(("tables", "tables.json", "tables.json", "--format", shape) for shape in FORMATS),
    ("tables", "tables.json", "tables.json", "--show", HOSTILE),
    *(("order", "o.ndjson", "q.ndjson", "--format", shape) for shape in FORMATS),
    *(("merge", "one.state", "--format", shape) for shape in FORMATS),
    ("merge", "one.state", "--baseline", "two.state", "--no-broken"),
    ("merge", "one.state", "--no-broken", HOSTILE, "--baseline", "one.state"),
    *(("compare", "one.state", "two.state", "--replicates", "100", "--format", shape) for shape in FORMATS),
    ("report", "one.state", "-o", f"{HOSTILE}.html"),
    ("bless", "one.state", "-o", f"{HOSTILE}.state"),
    ("bless", "one.state", "-o", "two.state"),
    ("detect", "t.json", f"{HOSTILE}-not-there.json"),
    ("detect", "t.json", "p.json", "-o", f"{HOSTILE}.md"),
    ("detect", "t.json", "p.json", "-o", f"no/{HOSTILE}.md"),
    ("detect", "t.json", "p.json", "--labels", HOSTILE + "x"),
    ("demo", "--keep", HOSTILE),
    ("explain", HOSTILE),
    (HOSTILE,),
    ("detect", f"--{HOSTILE}"),
    ("detect", "t.json", "p.json", "--iou", HOSTILE),
]


def test_every_verb_is_tried() -> None:
    assert {line[0] for line in LINES} - {HOSTILE} == set(VERBS)


@pytest.mark.parametrize("arguments", LINES, ids=lambda line: " ".join(line).encode("unicode_escape").decode()[:90])
def test_nothing_in_the_data_commands_a_terminal(arguments: tuple[str, ...], calque: Command, hostile: Path) -> None:
    run = calque(*arguments)
    assert "this should not happen" not in run.err
    for stream in (run.out, run.err):
        assert stream.replace("\n", "").isprintable(), stream.encode("unicode_escape")


@pytest.mark.parametrize("to", ["ndjson", "plain", "parquet"])
def test_what_is_converted_to_a_terminal_is_shown_not_obeyed(to: str, hostile: Path) -> None:
    if to == "parquet":
        pytest.importorskip("pyarrow")
    seen = on_a_terminal(hostile, "convert", "t.json", "-", "--to", to, NO_COLOR="1")
    assert seen.replace("\n", "").isprintable()
    assert ("redirect it" if to == "parquet" else "a\\") in seen


@given(st.text())
def test_json_that_can_be_printed_says_the_same(text: str) -> None:
    spelt = printable_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert spelt.isprintable()
    assert json.loads(spelt) == {text: [text]}


@given(st.one_of(st.text(), st.tuples(st.sampled_from(["=", "+", "-", "@", " =", "\t@", "\r+"]), st.text()).map("".join)))
def test_no_text_of_the_data_is_a_formula(text: str) -> None:
    ((name, number), (cell, value)) = csv.reader(io.StringIO(as_csv([{"class": text, "recall": -0.5}])))
    assert (name, number, value) == ("class", "recall", "-0.5")
    assert cell.isprintable()
    if cell.lstrip().startswith(FORMULA):
        float(cell)  # a number stays one


@pytest.mark.parametrize(
    ("text", "cell"),
    [("=1+1", "'=1+1"), ("+A1", "'+A1"), ("-cmd", "'-cmd"), ("@x", "'@x"), (" =1", "' =1"), ("\uff1d1", "'\uff1d1"),
     ("-7", "-7"), ("+1e5", "+1e5"), ("a=1", "a=1"), ("Table", "Table"), ("", "")],
)  # fmt: skip
def test_a_formula_gets_an_apostrophe(text: str, cell: str) -> None:
    assert csv_cell(text) == cell


def test_csv_of_hostile_labels(calque: Command, hostile: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(calque("detect", "t.json", "p.json", "--format", "csv").out)))
    assert "'=1" in {row["class"] for row in rows}
