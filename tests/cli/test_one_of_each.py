"""One is not several: with one document, page, object, field, word and case, no verb in any format speaks of "1 documents"."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from calque.cli.app import VERBS
from tests.cli.conftest import MadeOnce
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

SINGULAR = "|".join(("is", "was", "has", "its", "as", "this", "pass", "class", "always"))
PLURAL = re.compile(rf"(?<![\d.,/])1 (?:[a-z]+ ){{0,2}}?(?!(?:{SINGULAR})\b)[a-z]+[^s\W]s\b")
"""A one, perhaps a word or two, and a noun in the plural."""
SUITE = """\
evaluators: [{type: iou_score, bbox_path: box, expected_bbox_path: box, threshold: 0.5}]
cases: [{id: only, output: {box: [0, 0, 2, 2]}, expected: {box: [%s, 2, 2]}}]
"""
LINES: dict[str, list[str]] = {
    "detect": ["t.json", "p.json"],
    "detect, apart": ["t.json", "far.json"],
    "detect, everything": ["t.json", "p.json", "--crops", "--confusion", "--sweep", "--page-view", "--errors"],
    "detect, another document": ["t.json", "other.json"],
    "detect, nothing found": ["t.json", "none.json"],
    "detect, a class map": ["t.json", "p.json", "--class-map", "map.yaml"],
    "layout": ["t.json", "p.json"],
    "layout, apart": ["t.json", "far.json"],
    "layout, another document": ["t.json", "other.json"],
    "fields": ["t.jsonl", "t.jsonl"],
    "fields, wrong": ["t.jsonl", "p.jsonl"],
    "words": ["t.txt", "t.txt", "--errors"],
    "words, wrong": ["t.txt", "p.txt", "--errors"],
    "check": ["good.yaml"],
    "check, failing": ["bad.yaml"],
    "tables": ["t.html", "t.html"],
    "tables, wrong": ["t.html", "p.html"],
    "order": ["t.ndjson", "t.ndjson"],
    "order, another block": ["t.ndjson", "p.ndjson"],
    "ceiling": ["t.json", "p.json"],
    "ceiling, apart": ["t.json", "p.json", "far.json", "--suspects", "1"],
    "ceiling, fields": ["t.jsonl", "p.jsonl"],
    "compare": ["t.json", "p.json", "far.json"],
    "compare, states": ["one.state", "far.state"],
    "merge": ["one.state"],
    "audit": ["t.json"],
    "audit, with predictions": ["t.json", "far.json", "--score", "0.1"],
    "audit, agreement": ["t.json", "t.json", "--agreement"],
    "validate": ["t.json", "p.json"],
    "validate, broken": ["bad.json"],
    "validate, records": ["t.jsonl", "p.jsonl"],
    "convert": ["t.json", "out.ndjson"],
}


@pytest.fixture
def folder(made_once: MadeOnce, calque: Callable[..., Run], tmp_path: Path) -> Path:
    return made_once(_make, calque, tmp_path)


def _make(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "t.json", truth({("a.pdf", 0): [("Figure", BOX)]}))
    for name, objects in (("p", [("Figure", BOX, 0.9)]), ("far", [("Figure", (0.0, 0.0, 0.01, 0.01), 0.9)]), ("none", [])):
        write(tmp_path / f"{name}.json", predictions({("a.pdf", 0): objects}))
    write(tmp_path / "other.json", predictions({("b.pdf", 0): [("Figure", BOX, 0.9)]}))
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "map.yaml").write_text("Table: Figure\n")
    for name, value in (("t", "a"), ("p", "b")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "field": value}) + "\n")
        (tmp_path / f"{name}.txt").write_text(f"word{value}\n")
        (tmp_path / f"{name}.html").write_text(f"<table><tr><td>{value}</td></tr></table>\n")
        (tmp_path / f"{name}.ndjson").write_text(json.dumps({"doc_id": "a", "order": [value]}) + "\n")
    (tmp_path / "good.yaml").write_text(SUITE % "0, 0")
    (tmp_path / "bad.yaml").write_text(SUITE % "1.9, 1.9")
    for name, found in (("one", "p"), ("far", "far")):
        calque("detect", "t.json", f"{found}.json", "--save", f"{name}.state", "--quiet")


@pytest.mark.parametrize("line", list(LINES))
def test_one_is_never_several(calque: Callable[..., Run], folder: Path, line: str) -> None:
    verb = line.partition(",")[0]
    formats = ["table", "markdown"] if verb != "convert" else [""]
    for format in formats:
        run = calque(verb, *LINES[line], *(["--format", format] if format else []))
        assert run.code in (0, 1, 2, 3)
        assert PLURAL.findall(run.out + run.err) == [], run.out + run.err


@pytest.mark.parametrize("line", [line for line in LINES if line.partition(",")[0] not in ("convert", "validate")])
def test_what_is_brief_has_no_number_that_the_whole_has_not(calque: Callable[..., Run], folder: Path, line: str) -> None:
    verb = line.partition(",")[0]
    whole, brief = (calque(verb, *LINES[line], *more) for more in ((), ("--brief",)))
    assert brief.code == whole.code
    assert set(re.findall(r"\d+(?:[.,]\d+)*", brief.out)) <= set(re.findall(r"\d+(?:[.,]\d+)*", whole.out))


def test_every_verb_that_reads_files_is_among_them() -> None:
    others = {"report", "bless", "explain", "demo"}  # they tell of no data, or just where they wrote
    assert {line.partition(",")[0] for line in LINES} == VERBS.keys() - others


@pytest.mark.parametrize("text", ["1 documents", "1 true blocks", "only 1 boxes", "1 documents, 1 pages"])
def test_the_pattern_finds_slips(text: str) -> None:
    assert PLURAL.search(text)


@pytest.mark.parametrize("text", ["1 document", "11 documents", "0.1 points", "1 of 2 files", "1 label is dropped", "1 class"])
def test_the_pattern_leaves_the_rest(text: str) -> None:
    assert not PLURAL.search(text)
