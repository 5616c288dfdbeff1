"""``calque validate`` says of two files what the verb would say, and of each what no verb looks at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ContractError, Detection, Evaluator
from calque.evaluation.task import Task
from calque.fields.task import Fields
from calque.layout.task import Layout
from calque.tables.task import Tables
from calque.words.task import Words
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth

Command = Callable[..., Run]

IMAGES = [{"id": 1, "width": 100, "height": 100}, {"id": 2, "width": 100, "height": 100}]
COCO = {
    "images": IMAGES,
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40]},
        {"id": 2, "image_id": 2, "category_id": 1, "bbox": [5, 5, 20, 20]},
    ],
}
FOUND = [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40], "score": 0.5}]
SNAPSHOT = truth({("a.pdf", 0): [("Figure", BOX)]}), predictions({("a.pdf", 0): [("Figure", BOX, 0.9)]})
RECORDS = [{"id": "a", "total": 1.5, "vendor": "Acme"}, {"id": "b", "total": 2.0, "vendor": "Beta"}]
TASKS: dict[str, type[Task]] = {"detect": Detection, "layout": Layout, "fields": Fields, "words": Words, "tables": Tables}


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


FAULTY: dict[str, tuple[str, tuple[str, Any], tuple[str, Any], str]] = {
    "unknown images": ("detect", ("t.json", COCO), ("p.json", [{**FOUND[0], "image_id": 9}]), "unknown-image"),
    "unknown categories": ("detect", ("t.json", COCO), ("p.json", [{**FOUND[0], "category_id": 7}]), "unknown-category"),
    "no score": ("detect", ("t.json", COCO), ("p.json", [{**FOUND[0], "score": None}]), "score-missing"),
    "bad boxes": ("detect", ("t.json", COCO), ("p.json", [{**FOUND[0], "bbox": [1, 2, -3, 4]}]), "box-invalid"),
    "ids as text": ("detect", ("t.json", COCO), ("p.json", [{**FOUND[0], "image_id": "1"}]), "unknown-image"),
    "sides swapped (COCO)": ("detect", ("t.json", FOUND), ("p.json", COCO), "wrong-side"),
    "sides swapped": ("detect", ("t.json", SNAPSHOT[1]), ("p.json", SNAPSHOT[0]), "wrong-side"),
    "other documents": (
        "detect",
        ("t.json", SNAPSHOT[0]),
        ("p.json", predictions({("b.pdf", 0): [("Figure", BOX, 0.9)]})),
        "no-common-document",
    ),
    "other labels": (
        "detect",
        ("t.json", COCO),
        ("p.json", [{"doc": 1, "page": 0, "category": "tabular", "bbox": [1, 2, 30, 40], "score": 0.5}]),
        "labels-do-not-meet",
    ),
    "label maps": (
        "detect",
        ("t.json", SNAPSHOT[0]),
        ("p.json", {**SNAPSHOT[1], "label_map": {"1": "Figure"}}),
        "label-maps-differ",
    ),
    "units": (
        "detect",
        ("t.json", SNAPSHOT[0]),
        ("p.json", [{"doc": "a.pdf", "page": 0, "category": "Figure", "bbox": [1, 2, 30, 40], "score": 0.5}]),
        "units-differ",
    ),
    "layout, other images": ("layout", ("t.json", COCO), ("p.json", [{**FOUND[0], "image_id": 9}]), "unknown-image"),
    "layout, sides swapped": ("layout", ("t.json", FOUND), ("p.json", COCO), "wrong-side"),
    "records, a broken line": ("fields", ("t.jsonl", lines(RECORDS)), ("p.jsonl", lines(RECORDS) + "{\n"), "broken-line"),
    "records, ids on one side": (
        "fields",
        ("t.json", RECORDS),
        ("p.json", [{"total": 1.5, "vendor": "Acme"}, {"total": 2.0, "vendor": "Beta"}]),
        "ids-on-one-side",
    ),
    "records, one id twice": ("fields", ("t.json", RECORDS), ("p.json", [RECORDS[0], RECORDS[0]]), "repeated-id"),
    "records, odd boxes": (
        "fields",
        ("t.json", RECORDS),
        ("p.json", [{**RECORDS[0], "total": {"_value": 1.5, "_bbox": [1, 2], "_confidence": 0.5}}, RECORDS[1]]),
        "odd-box",
    ),
    "tables, two cells on one slot": (
        "tables",
        ("t.json", {"cells": [{"row": 0, "column": 0, "text": "a"}]}),
        ("p.json", {"cells": [{"row": 0, "column": 0, "text": "a"}, {"row": 0, "column": 0, "text": "b"}]}),
        "overlap",
    ),
    "tables, a bad box": (
        "tables",
        ("t.json", {"cells": [{"row": 0, "column": 0, "text": "a"}]}),
        ("p.json", {"cells": [{"row": 0, "column": 0, "text": "a", "box": [5, 0, 1, 1]}]}),
        "bad-box",
    ),
    "words, other documents": ("words", ("t.json", {"a": "one two"}), ("p.json", {"b": "one two"}), "no-common-document"),
    "words, not words": ("words", ("t.json", {"a": "one two"}), ("p.json", {"a": [1, 2]}), "wrong-words"),
    "words, an id twice": (
        "words",
        ("t.tsv", "docid\twordid\tword\na\t0\tone\n"),
        ("p.tsv", "docid\twordid\tword\na\t0\tone\na\t0\ttwo\n"),
        "duplicate-word",
    ),
}


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The two files of a faulty pair."""
    _, first, second, _ = FAULTY[request.param]
    for name, content in (first, second):
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return first[0], second[0]


@pytest.mark.parametrize(("fault", "pair"), [(fault, fault) for fault in FAULTY], indirect=["pair"])
@pytest.mark.parametrize("named", [True, False], ids=["with --as", "by content"])
def test_what_the_verb_refuses_leaves_out_or_notes_is_told(
    fault: str, pair: tuple[str, str], named: bool, calque: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    verb, _, _, code = FAULTY[fault]
    monkeypatch.chdir(tmp_path)
    told = calque("validate", *pair, *(["--as", verb] if named or verb == "layout" else []), "--format", "json")
    issues = [issue for report in told.json["files"] for issue in report["issues"]]
    try:
        result = Evaluator(TASKS[verb]()).update(*pair).compute()
        expected = result.issues
    except ContractError as error:
        expected = error.issues
    assert code in {issue.code for issue in expected}
    assert {issue.code for issue in expected} <= {issue["code"] for issue in issues}
    assert calque(verb, *pair).code == told.code


@pytest.mark.parametrize(
    ("files", "verb"),
    [
        ({"t.json": COCO, "p.json": [*FOUND, {**FOUND[0], "image_id": 2}]}, "detect"),
        ({"t.json": SNAPSHOT[0], "p.json": SNAPSHOT[1]}, "detect"),
        ({"t.json": RECORDS, "p.json": RECORDS}, "fields"),
        ({"t.jsonl": lines(RECORDS), "p.jsonl": lines(RECORDS)}, "fields"),
        ({"t.json": {"a": "one two"}, "p.json": {"a": ["one", "two"]}}, "words"),
        ({"t.txt": "one two", "p.txt": "one too"}, "words"),
    ],
)
def test_good_pairs_are_told_by_content_and_say_nothing(
    files: dict[str, Any], verb: str, calque: Command, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    run = calque("validate", *files, "--format", "json")
    assert run.code == calque(verb, *files).code == 0
    assert [(report["valid"], report["issues"]) for report in run.json["files"]] == [(True, [])] * 2


ODD = {
    "duplicate-annotation-id": {"annotations": [COCO["annotations"][0], {**COCO["annotations"][1], "id": 1}]},  # type: ignore[dict-item]
    "duplicate-category-name": {"categories": [{"id": 1, "name": "Table"}, {"id": 2, "name": "Table"}]},
    "no-area": {"annotations": [{**COCO["annotations"][0], "bbox": [1, 2, 0, 4]}]},  # type: ignore[dict-item]
    "beyond-image": {"annotations": [{**COCO["annotations"][0], "bbox": [90, 2, 30, 4]}]},  # type: ignore[dict-item]
}


@pytest.mark.parametrize("code", ODD)
def test_what_no_verb_looks_at_is_told_of_each_file(code: str, calque: Command, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({**COCO, **ODD[code]}))
    run = calque("validate", "t.json", "--format", "json")
    (report,) = run.json["files"]
    assert (run.code, [(issue["code"], issue["severity"]) for issue in report["issues"]]) == (0, [(code, "note")])


def test_a_box_may_reach_over_the_edge_by_a_pixel(calque: Command, tmp_path: Path) -> None:
    for width, code in ((11, []), (11.5, ["beyond-image"])):
        tree = {**COCO, "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [90, 2, width, 4]}]}
        (tmp_path / "t.json").write_text(json.dumps(tree))
        (report,) = calque("validate", "t.json", "--format", "json").json["files"]
        assert [issue["code"] for issue in report["issues"]] == code
