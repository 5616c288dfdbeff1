"""Names from data: what is written stays in the folder that was named, and no cell of a spreadsheet is a formula."""

from __future__ import annotations

import contextlib
import csv
import importlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from calque.cli.app import VERBS
from calque.cli.render import FORMULA
from calque.readers.boxes import formats
from tests.conftest import Run
from tests.fuzz.doors import EVERY_EVALUATOR, SIDE

PLACES = (
    "../evil",
    "../../evil",
    "/evil",
    "a/../../evil",
    "..",
    ".",
    "a/b",
    "..\\evil",
    "C:\\evil",
    "CON",
    "a\x00b",
    "-rf",
    "~",
    "x" * 300,
    "é",
)
"""Names that lead out of a folder, or to something else in it."""


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("target", [entry.name for entry in formats.FORMATS if entry.write is not None])
def test_names_of_documents_lead_nowhere(target: str, calque: Callable[..., Run], tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    boxes = [{"bbox": [1, 2, 30, 40], "category": name, "doc_id": name, "width": 100, "height": 90} for name in PLACES]
    (inner / "truth.json").write_text(json.dumps(boxes))
    before = everything(tmp_path)
    for size in (("--page-size", "100,90"), ()):
        with contextlib.chdir(inner):
            run = calque("convert", inner / "truth.json", inner / "out", "--to", target, *size)
        assert "should not happen" not in run.err
        if run.code != 2:
            break
    made = everything(tmp_path) - before
    assert all(name.startswith(os.path.join("a", "b", "c", "out")) for name in made)


def test_pictures_beside_a_report_have_numbers_for_names(calque: Callable[..., Run], tmp_path: Path) -> None:
    from tests.fuzz.doors import picture

    rows = [
        {
            "doc_id": name,
            "page_index": 0,
            "boxes": [[1, 2, 30, 40]],
            "labels": ["x"],
            "scores": [0.5],
            "width": 60,
            "height": 40,
        }
        for name in PLACES
        if "\0" not in name
    ]
    (tmp_path / "t.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scans = tmp_path / "scans"
    scans.mkdir()
    (scans / "é-0.png").write_bytes(picture("PNG"))
    (tmp_path / "evil-0.png").write_bytes(picture("PNG"))
    run = calque("detect", "t.ndjson", "t.ndjson", "--report", "r.html", "--images", "scans", "--sidecar")
    assert run.code == 0, run.err
    assert sorted(path.name for path in (tmp_path / "r_files").iterdir()) == [
        f"{sorted(row['doc_id'] for row in rows).index('é')}.webp"
    ]


FORMULAS = ("=1+1", "+A1", "-cmd|x", "@SUM(A1)", "\t=1", " =1", "\r@x", "＝1")  # spreadsheets know the wide one, too
BOX = [0, 0, 10, 10]


@pytest.fixture
def formulas(tmp_path: Path) -> Path:
    """Files of every task in which every name is a formula."""
    boxes = [{"bbox": BOX, "category": name, "doc_id": name, "id": name} for name in FORMULAS]
    lines: dict[str, list[dict[str, Any]]] = {
        "t.jsonl": [{"id": name, name: name} for name in FORMULAS],
        "o.ndjson": [{"doc_id": name, "order": list(FORMULAS)} for name in FORMULAS],
    }
    trees: dict[str, Any] = {
        "t.json": boxes,
        "p.json": [{**box, "score": 0.5} for box in boxes[1:]],
        "words.json": {name: list(FORMULAS) for name in FORMULAS},
        "tables.json": {name: f"<table><tr><td>{name}</td></tr></table>" for name in FORMULAS},
        "suite.yaml": EVERY_EVALUATOR
        | {"name": FORMULAS[0], "cases": [{"id": name, "output": {}, "expected": SIDE, "tags": [name]} for name in FORMULAS]},
    }
    for file, tree in trees.items():
        (tmp_path / file).write_text(json.dumps(tree))
    for file, rows in lines.items():
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


SHEETS: dict[str, tuple[str, ...]] = {
    "detect": ("t.json", "p.json", "--confusion", "--by", "kind", "--metadata", "about.csv"),
    "ceiling": ("t.json", "p.json"),
    "layout": ("t.json", "p.json"),
    "fields": ("t.jsonl", "t.jsonl", "--documents", "d.csv"),
    "check": ("suite.yaml",),
    "words": ("words.json", "words.json", "--errors", "3"),
    "tables": ("tables.json", "tables.json"),
    "order": ("o.ndjson", "o.ndjson"),
    "compare": ("t.json", "p.json", "p.json", "--replicates", "100"),
    "validate": ("t.json", "p.json"),
    "audit": ("t.json", "p.json"),
    "merge": ("one.state",),
    "bless": ("one.state", "-o", "base.state"),
    "explain": (),
}
"""Every verb that can print CSV, on files in which names are formulas."""


def writes_csv(verb: str) -> bool:
    command: click.Command = importlib.import_module(f"calque.cli.{verb}").command
    kinds = [parameter.type.choices for parameter in command.params if isinstance(parameter.type, click.Choice)]
    return any("csv" in choices for choices in kinds)


def test_every_verb_that_prints_csv_is_tried() -> None:
    assert {verb for verb in VERBS if writes_csv(verb)} <= SHEETS.keys()


@pytest.mark.parametrize("verb", SHEETS)
def test_no_cell_of_a_spreadsheet_is_a_formula(verb: str, calque: Callable[..., Run], formulas: Path) -> None:
    if not writes_csv(verb):
        pytest.skip(f"calque {verb} prints no CSV")
    (formulas / "about.csv").write_text("doc_id,kind\n" + "".join(f'"{name}","{name}"\n' for name in FORMULAS[:5]))
    if verb in ("merge", "bless"):
        assert calque("detect", "t.json", "p.json", "--save", "one.state").code in (0, 3)
    run = calque(verb, *SHEETS[verb], "--format", "csv")
    assert run.code in (0, 1, 3), run.err
    texts = [run.out, *(path.read_text() for path in formulas.glob("d.csv"))]
    cells = [cell for text in texts for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any(cell.startswith("'") for cell in cells) or verb not in ("detect", "layout", "fields", "words", "tables", "order")
    for cell in cells:
        if cell.lstrip().startswith(FORMULA):
            float(cell)  # a number stays one


def test_one_long_name_does_not_make_every_line_as_long(calque: Callable[..., Run], tmp_path: Path) -> None:
    """Lined up, a table of many classes would be as many times as long as its longest name."""
    long = "x" * 100_000
    boxes = [{"bbox": BOX, "category": name, "doc_id": "d"} for name in (long, *map(str, range(200)))]
    (tmp_path / "t.json").write_text(json.dumps(boxes))
    run = calque("detect", "t.json", "t.json")
    assert run.code == 0, run.err
    assert long in run.out
    assert len(run.out) < 20 * len(long)


@pytest.mark.parametrize("half", ["\ud800", "a\udfff", "\udc00\ud800"])
def test_keys_with_half_of_a_character(half: str, calque: Callable[..., Run], tmp_path: Path) -> None:
    """Escapes of JSON can spell them, and no compiled reader can."""
    (tmp_path / "r.jsonl").write_text(json.dumps({"id": half, half: half, "list": [{half: 1}]}) + "\n")
    run = calque("fields", "r.jsonl", "r.jsonl", "--format", "json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["overall"]["cm_f1"] == 1.0
