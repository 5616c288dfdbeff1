"""What commands say of files that another command reads, of folders with other files, and what ``validate`` says of them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Fields, Layout, Order, Tables, Words
from calque.cli.compare import tasks_of_files
from calque.core.errors import ContractError
from calque.core.task import Task
from tests.conftest import Run

Command = Callable[..., Run]

PAGE = {"doc_id": "a", "page_index": 0, "boxes": [[0.1, 0.1, 0.5, 0.5]], "labels": ["Table"], "scores": [0.9]}
COCO = {
    "images": [{"id": 1, "file_name": "a.png", "width": 10, "height": 10}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "area": 25}],
    "categories": [{"id": 1, "name": "T"}],
}
PAGE_XML = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
    '<Page imageFilename="a.png" imageWidth="10" imageHeight="10">'
    '<TextRegion id="r"><Coords points="0,0 5,0 5,5 0,5"/></TextRegion></Page></PcGts>'
)
FILES: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "coco.json": (json.dumps(COCO), ("detect", "layout", "fields")),
    "pages.ndjson": (json.dumps(PAGE) + "\n", ("detect", "layout", "fields", "order")),
    "records.json": ('[{"id": 1, "total": 5}, {"id": 2, "total": 6}]', ("fields",)),
    "records.jsonl": ('{"id": 1, "total": 5}\n{"id": 2, "total": 6}\n', ("fields",)),
    "texts.json": ('{"a": "one two", "b": "three"}', ("words", "fields", "tables")),
    "cells.json": ('{"cells": [{"row": 0, "column": 0, "text": "x"}]}', ("tables", "fields")),
    "table.html": ("<table><tr><td>1</table>", ("tables", "words")),
    "order.ndjson": ('{"doc_id": "a", "page_index": 0, "ids": [1, 2], "order": [1, 2]}\n', ("order", "fields")),
    "bad-order.ndjson": ('{"doc_id": "a", "page_index": 0, "ids": [1, 2], "order": "x"}\n', ("fields",)),
    "twice-order.ndjson": ('{"doc_id": "a", "page_index": 0, "ids": [1, 2], "order": [1, 1]}\n', ("order", "fields")),
    "torn-pages.ndjson": (json.dumps(PAGE) + '\n{"doc_id": "b", "page_index": 0}\n', ("detect", "layout", "fields", "order")),
    "bad-score.json": (json.dumps([{"bbox": [0, 0, 1, 1], "category": "a", "doc_id": "x", "score": "high"}]), ("fields",)),
    "bad-box.json": (json.dumps(COCO | {"annotations": [{"id": 1, "image_id": 1, "category_id": 9, "bbox": [0, 0, 1]}]}), ()),
    "bad-words.tsv": ("docid\twordid\tword\na\t0\thi\na\tx\tho\n", ()),
    "bad-cells.json": ('{"cells": [{"row": 0, "column": "x", "text": "x"}]}', ("fields",)),
    "bad-records.jsonl": ('{"id": 1, "total": 5}\n{"id": 1, "total": 6}\n', ()),
    "plain.txt": ("hello world", ("words",)),
    "page.xml": (PAGE_XML, ("detect", "layout", "order", "words")),
    "broken.json": ('{"a": ', ()),
    "empty.json": ("", ()),
    "number.json": ("42", ()),
    "report.pdf": (b"%PDF-1.4\n\x00\x01", ()),
    "scan.png": (b"\x89PNG\r\n\x1a\n" + bytes(20), ()),
    "suite.yaml": ("name: x\nevaluators: [{type: equals}]\ncases: [{id: a, output: 1, expected: 1}]\n", ("check",)),
}
"""Files, and the commands that are meant for them."""
TASKS: dict[str, Callable[[], Task]] = {
    "detect": lambda: Detection(allow_missing_scores=True),
    "layout": Layout,
    "fields": Fields,
    "words": Words,
    "tables": Tables,
    "order": Order,
}
OF_SIDES = {"no-scores", "score-missing", "scores-unused"}
"""What depends on the side that a file is given for."""
SINGLE = {"detect": ("--allow-missing-scores",)}


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def codes_of_command(task: Task, file: Path) -> tuple[bool, set[str]]:
    """Whether the task evaluates a file against itself, and the codes of everything that it reports of the file."""
    try:
        result = Evaluator(task).update(file, file).compute()
    except ContractError as error:
        return False, {issue.code for issue in error.issues}
    return True, {issue.code for issue in result.issues if issue is not result.unevaluated}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", TASKS)
def test_validate_agrees_with_the_command(command: str, name: str, calque: Command, kinds: Path) -> None:
    file = kinds / name
    options = SINGLE.get(command, ())
    run = calque("validate", "--as", command, name, "--format", "json", *options)
    [verdict] = run.json["files"]
    evaluated, codes = codes_of_command(TASKS[command](), file)
    assert verdict["valid"] is evaluated
    assert (calque(command, name, name, *options).code == 2) is (not evaluated)
    told = {issue["code"] for issue in verdict["issues"]}
    assert told - {"unknown-format"} <= codes
    if told != {"unknown-format"}:
        assert codes - OF_SIDES == told - OF_SIDES


def test_validate_recognizes_the_command_of_each_file(calque: Command, kinds: Path) -> None:
    for name, (_, commands) in FILES.items():
        run = calque("validate", name)
        assert (run.code == 2) is (not commands or name.startswith("bad")), (name, run.out)


def test_validate_of_a_suite_agrees_with_check(calque: Command, kinds: Path) -> None:
    assert calque("validate", "suite.yaml", "--as", "check").code == 0
    (kinds / "suite.yaml").write_text("name: x\nevaluators: [{type: no_such}]\ncases: [{id: a, output: 1}]\n")
    assert calque("check", "suite.yaml").code == 2
    assert calque("validate", "suite.yaml").code == 2


FOREIGN = [
    ("detect", "records.json", "calque fields"),
    ("detect", "records.jsonl", "calque fields"),
    ("layout", "texts.json", "calque words"),
    ("detect", "table.html", "calque tables"),
    ("detect", "plain.txt", "calque words"),
    ("detect", "order.ndjson", "calque order"),
    ("detect", "suite.yaml", "calque check"),
    ("detect", "report.pdf", "PDF"),
    ("audit", "scan.png", "PNG image"),
    ("words", "coco.json", "calque detect"),
    ("tables", "coco.json", "calque detect"),
    ("order", "coco.json", "calque detect"),
    ("order", "plain.txt", "calque words"),
    ("fields", "page.xml", "calque detect"),
    ("words", "records.json", "calque fields"),
    ("tables", "records.jsonl", "calque fields"),
]


@pytest.mark.parametrize(("command", "name", "told"), FOREIGN)
def test_file_of_another_command_gets_one_short_line(command: str, name: str, told: str, calque: Command, kinds: Path) -> None:
    run = calque(command, name, *([] if command == "audit" else [name]))
    assert (run.code, run.out) == (2, "")
    assert run.err.count("\n") == 1
    assert len(run.err) < 200
    assert name in run.err
    assert told in run.err


def test_folder_of_texts_given_to_detect_names_words(calque: Command, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("hello world")
    run = calque("detect", "texts", "texts")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "calque words" in run.err


RUNS: dict[str, Any] = {
    "words": {"a.txt": "one two three", "b.txt": "four five"},
    "fields": {"a.json": '{"id": "a", "total": 5}', "b.json": '{"id": "b", "total": 6}'},
    "detection": {"a.xml": PAGE_XML},
}


@pytest.mark.parametrize("task", RUNS)
def test_compare_finds_the_task_of_folders(task: str, calque: Command, tmp_path: Path) -> None:
    for folder in ("gt", "one", "two"):
        (tmp_path / folder).mkdir()
        for name, text in RUNS[task].items():
            (tmp_path / folder / name).write_text(text)
    run = calque("compare", "gt", "one", "two", "--format", "json")
    assert (run.code, run.json["task"]) == (0, task)


@pytest.mark.parametrize(
    ("name", "task"),
    [("records.jsonl", "fields"), ("texts.json", "words"), ("order.ndjson", "order"), ("cells.json", "tables")],
)
def test_compare_finds_the_task_of_files(name: str, task: str, calque: Command, kinds: Path) -> None:
    shutil.copy(kinds / name, kinds / f"two-{name}")
    run = calque("compare", name, name, f"two-{name}", "--format", "json")
    assert (run.code, run.json["task"]) == (0, task)


def test_compare_of_html_asks_for_the_task(calque: Command, kinds: Path) -> None:
    run = calque("compare", "table.html", "table.html", "table.html")
    assert run.code == 2
    assert "--task" in run.err
    assert calque("compare", "--task", "tables", "table.html", "table.html", "table.html").code == 0


def yolo(folder: Path) -> None:
    (folder / "a.txt").write_text("0 0.5 0.5 0.1 0.1 0.9\n")
    (folder / "classes.txt").write_text("Table\n")


def page(folder: Path) -> None:
    (folder / "a.xml").write_text(PAGE_XML)


@pytest.mark.parametrize(
    ("command", "name", "content"), [("tables", "a.html", "<table><tr><td>1</table>"), ("order", "a.xml", PAGE_XML)]
)
def test_subfolders_that_are_not_read_are_reported(
    command: str, name: str, content: str, calque: Command, tmp_path: Path
) -> None:
    for folder in ("files", "files/more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
    assert "more/" in calque("validate", "files", "--as", command).out


@pytest.mark.parametrize("make", [yolo, page])
@pytest.mark.parametrize(
    "command",
    [
        ("detect", "labels-1", "labels-1", "--allow-missing-scores"),
        ("layout", "labels-1", "labels-1"),
        ("audit", "labels-1"),
        ("validate", "labels-1"),
        ("convert", "labels-1", "out.json", "--to", "snapshot"),
    ],
    ids=lambda command: command[0],
)
def test_files_in_a_folder_that_are_not_read_are_reported(
    make: Callable[[Path], None], command: tuple[str, ...], calque: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "labels-1"
    folder.mkdir()
    make(folder)
    run = calque(*command)
    assert "not read" not in run.out + run.err
    (tmp_path / "out.json").unlink(missing_ok=True)
    (folder / "export.csv").write_text("a,b\n")
    (folder / "more").mkdir()
    (folder / "more" / "b.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    run = calque(*command)
    assert "export.csv" in run.out + run.err
    assert "more/" in run.out + run.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_compare_does_not_look_into_a_pipe(kinds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe among the arguments may be an output; opening it to recognize its format would block."""
    monkeypatch.chdir(kinds)
    os.mkfifo("pipe")
    assert tasks_of_files(["texts.json", "texts.json", "texts.json", "pipe"]) == []
    assert tasks_of_files(["texts.json", "texts.json", "texts.json", "-o", "pipe"])[:1] == ["words"]
