"""``--by`` and ``--metadata`` on every command that evaluates: table, JSON, JSON Schema and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import Run

Calque = Callable[..., Run]
DOCUMENTS = ("a", "b", "c", "d")
SUBJECTS = {"a": "land", "b": "money", "c": "land"}
"""The subject of each document; d has none."""


def boxes(shift: float, *, scores: bool) -> str:
    """One page with one box per document, as NDJSON."""
    rows = [
        {
            "doc_id": name,
            "page_number": 0,
            "boxes": [[shift * place, 0.0, 10.0, 10.0]],
            "labels": ["Text" if place % 2 else "Table"],
            **({"scores": [0.9]} if scores else {}),
        }
        for place, name in enumerate(DOCUMENTS)
    ]
    return "\n".join(map(json.dumps, rows))


def order(wrong: bool) -> str:
    """One page with three blocks per document."""
    rows = [{"doc_id": name, "order": ["x", "z", "y"] if wrong and name == "b" else ["x", "y", "z"]} for name in DOCUMENTS]
    return "\n".join(map(json.dumps, rows))


SUITE = {
    "name": "totals",
    "evaluators": [{"type": "numeric_tolerance", "path": "total", "absolute": 0.01}],
    "cases": [
        {"id": name, "output": {"total": place}, "expected": {"total": min(place, 1)}} for place, name in enumerate(DOCUMENTS)
    ],
}


def texts(folder: Path, last: str) -> None:
    folder.mkdir()
    for name in DOCUMENTS:
        (folder / f"{name}.txt").write_text(f"the cat {last if name == 'b' else 'sat'}")


def tables(cell: str) -> str:
    page = "<table><tr><td>a</td><td>{}</td></tr></table>"
    return json.dumps({name: page.format(cell if name == "b" else "x") for name in DOCUMENTS})


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    """The arguments of each command, and a metadata file."""
    (tmp_path / "metadata.csv").write_text("doc_id,subject\n" + "".join(f"{name},{own}\n" for name, own in SUBJECTS.items()))
    (tmp_path / "truth.ndjson").write_text(boxes(0.0, scores=False))
    (tmp_path / "found.ndjson").write_text(boxes(1.0, scores=True))
    records = [{"id": name, "total": place} for place, name in enumerate(DOCUMENTS)]
    for side, wrong in (("truth", 0), ("found", 1)):
        lines = [json.dumps({**record, "total": record["total"] + wrong * (record["id"] == "b")}) for record in records]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(lines))
        texts(tmp_path / side, "sit" if wrong else "sat")
        (tmp_path / f"{side}_tables.json").write_text(tables("y" if wrong else "x"))
        (tmp_path / f"{side}_order.ndjson").write_text(order(bool(wrong)))
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE))
    return {
        "detect": ("truth.ndjson", "found.ndjson"),
        "layout": ("truth.ndjson", "found.ndjson"),
        "fields": ("truth.jsonl", "found.jsonl", "--id", "id"),
        "words": ("truth", "found"),
        "tables": ("truth_tables.json", "found_tables.json"),
        "order": ("truth_order.ndjson", "found_order.ndjson"),
        "check": ("suite.yaml",),
    }


COMMANDS = ("detect", "layout", "fields", "words", "tables", "order", "check")
BY = ("--by", "subject", "--metadata", "metadata.csv")


def of(inputs: dict[str, tuple[str, ...]], command: str, tmp_path: Path, *options: str) -> list[str]:
    names = [str(tmp_path / each) if (tmp_path / each).exists() else each for each in (*inputs[command], *BY)]
    return [command, *names, *options]


@pytest.mark.parametrize("command", COMMANDS)
def test_slices_are_in_the_json_and_follow_its_schema(
    calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path, command: str
) -> None:
    run = calque(*of(inputs, command, tmp_path, "--format", "json"))
    tree: dict[str, Any] = run.json["slices"]["subject"]
    assert {value: block["documents"] for value, block in tree["values"].items()} == {"land": 2, "money": 1}
    assert tree["without_value"]["documents"] == 1
    assert tree["macro_slices"]
    Draft202012Validator(calque("explain", command, "--json-schema").json).validate(run.json)


@pytest.mark.parametrize("command", COMMANDS)
def test_slices_are_a_table(calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path, command: str) -> None:
    lines = calque(*of(inputs, command, tmp_path)).out.splitlines()
    (start,) = [place for place, line in enumerate(lines) if line.startswith("By subject")]
    assert lines[start + 1].split()[:2] == ["subject", "documents"]
    assert [line.split("  ")[0] for line in lines[start + 2 : start + 7]][:2] == ["land", "money"]
    assert lines[start + 5].startswith("mean of slices")
    assert lines[start + 6].startswith("(no value)")


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "detect"])
def test_slices_are_rows_of_the_spreadsheet(
    calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path, command: str
) -> None:
    rows = csv.DictReader(io.StringIO(calque(*of(inputs, command, tmp_path, "--format", "csv")).out))
    assert [row["part"] for row in rows if row.get("scope") == "subject"] == ["land", "money"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_that_no_document_has_is_refused(
    calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path, command: str
) -> None:
    run = calque(*[each.replace("subject", "subjects") for each in of(inputs, command, tmp_path)])
    assert run.code == 2
    assert "no document has 'subjects'; did you mean 'subject'?" in run.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_saved_state_has_its_slices(calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path, command: str) -> None:
    state = str(tmp_path / "run.state")
    first = calque(*of(inputs, command, tmp_path, "--format", "json", "--save", state)).json
    assert calque("merge", state, "--format", "json").json["slices"] == first["slices"]


def test_several_predictions_of_words_have_their_own_slices(
    calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    texts(tmp_path / "other", "sang")
    run = calque(*of(inputs, "words", tmp_path), str(tmp_path / "other"))
    assert [line for line in run.out.splitlines() if ": by subject" in line] == ["found: by subject", "other: by subject"]


def test_records_are_sliced_by_their_own_keys(calque: Calque, inputs: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in inputs["fields"][:2]]
    run = calque("fields", *files, "--id", "id", "--by", "total", "--format", "json")
    assert list(run.json["slices"]["total"]["values"]) == ["0", "1", "2", "3"]
