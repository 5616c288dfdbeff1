"""What ``calque validate`` prints: a sentence that says the main thing, at its extremes, and the same in every format."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

GOOD, OTHER = {("a.pdf", 0): [("Figure", BOX)]}, {("b.pdf", 0): [("Figure", BOX, 0.5)]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "t.json", truth(GOOD))
    write(tmp_path / "p.json", predictions({("a.pdf", 0): [("Figure", BOX, 0.5)]}))
    write(tmp_path / "other.json", predictions(OTHER))
    (tmp_path / "bad.json").write_text("{")
    return tmp_path


@pytest.mark.parametrize(
    ("files", "code", "sentence"),
    [
        (["t.json"], 0, "The file is valid."),
        (["t.json", "p.json"], 0, "Both files are valid."),
        (["t.json", "t.json", "t.json"], 0, "All 3 files are valid."),
        (["bad.json"], 2, "The file is not valid: 1 issue."),
        (["t.json", "bad.json"], 2, "1 of 2 files is not valid: 1 issue."),
        (["bad.json", "bad.json"], 2, "None of the 2 files is valid: 2 issues."),
        (["t.json", "bad.json", "bad.json"], 2, "2 of 3 files are not valid: 2 issues."),
        (["p.json", "t.json"], 2, "Both files are valid alone, and calque detect refuses them together."),
        (["t.json", "other.json"], 3, "Both files are valid, but calque detect would leave something out."),
    ],
)
def test_the_sentence(calque: Callable[..., Run], folder: Path, files: list[str], code: int, sentence: str) -> None:
    run = calque("validate", *files)
    assert (run.code, run.out.splitlines()[0]) == (code, sentence)
    brief = calque("validate", *files, "--brief")
    assert brief.out.splitlines()[0] == sentence
    assert len(brief.out.splitlines()) >= 2 + len(files)
    assert calque("validate", *files, "--format", "markdown").out.splitlines()[0] == sentence


def test_every_format_has_every_issue(calque: Callable[..., Run], folder: Path) -> None:
    files = ("t.json", "other.json")
    tree = calque("validate", *files, "--format", "json").json
    told = [(report["file"], issue["code"]) for report in tree["files"] for issue in report["issues"]]
    assert told
    rows = list(csv.DictReader(io.StringIO(calque("validate", *files, "--format", "csv").out)))
    assert [(row["file"], row["code"]) for row in rows if row["code"]] == told
    assert {row["file"] for row in rows} == {report["file"] for report in tree["files"]}
    markdown = calque("validate", *files, "--format", "markdown").out
    assert all(f"| {file} | " in markdown and code in markdown for file, code in told)
    assert "--brief is for what people read" in calque("validate", *files, "--brief", "--format", "csv").err
