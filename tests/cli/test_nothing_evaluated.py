"""Two sides without a common document: every command prints the reason once and no tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Command = Callable[..., Run]

TABLE = "<table><tr><td>1</table>"


def lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """Files for each task, whose predictions are about other documents than the truth."""
    for name, documents in (("truth", "ab"), ("found", "cd"), ("other", "ef")):
        pages = [{"doc_id": doc, "page_index": 0, "boxes": [[0.1, 0.1, 0.5, 0.5]], "labels": ["Table"]} for doc in documents]
        lines(tmp_path / f"{name}.ndjson", (page | {"scores": [0.9]} for page in pages))
        orders = ({"doc_id": document, "page_index": 0, "ids": [1, 2], "order": [1, 2]} for document in documents)
        lines(tmp_path / f"{name}-order.ndjson", orders)
        lines(tmp_path / f"{name}.jsonl", ({"id": document, "value": 1} for document in documents))
        (tmp_path / f"{name}-words.json").write_text(json.dumps(dict.fromkeys(documents, "one two")))
        (tmp_path / f"{name}-tables.json").write_text(json.dumps(dict.fromkeys(documents, TABLE)))
    return tmp_path


COMMANDS = [
    ("detect", "truth.ndjson", "found.ndjson"),
    ("detect", "truth.ndjson", "found.ndjson", "--missing", "intersect", "--fail-under", "AP=0.5"),
    ("layout", "truth.ndjson", "found.ndjson"),
    ("order", "truth-order.ndjson", "found-order.ndjson"),
    ("fields", "truth.jsonl", "found.jsonl"),
    ("words", "truth-words.json", "found-words.json"),
    ("words", "truth-words.json", "found-words.json", "other-words.json"),
    ("tables", "truth-tables.json", "found-tables.json"),
    ("ceiling", "truth.ndjson", "found.ndjson", "other.ndjson"),
    ("compare", "truth.ndjson", "found.ndjson", "other.ndjson"),
]
named = pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)


@named
@pytest.mark.parametrize("shape", ["table", "markdown", "latex"])
def test_command_without_common_documents_prints_the_reason_and_no_numbers(
    shape: str, arguments: tuple[str, ...], calque: Command, apart: Path
) -> None:
    run = calque(*arguments, "--format", shape)
    runs = sum("found" in argument or "other" in argument for argument in arguments) if arguments[0] != "ceiling" else 1
    assert (run.code, run.out) == (3, "")
    assert run.err.count("no document in common") == len(run.err.splitlines()) == runs


@named
def test_json_without_common_documents_has_the_reason(arguments: tuple[str, ...], calque: Command, apart: Path) -> None:
    run = calque(*arguments, "--format", "json")
    assert run.code == 3
    tree = run.json
    parts = tree["runs"].values() if arguments[0] == "words" and "runs" in tree else [tree]
    for part in parts:
        assert "no-common-document" in {issue["code"] for issue in part["issues"]}
        assert set(dict(part.get("undefined", {})).values()) <= {"nothing was evaluated"} or arguments[0] == "compare"


def test_file_without_common_documents_has_the_reason_once(calque: Command, apart: Path) -> None:
    run = calque("detect", "truth.ndjson", "found.ndjson", "-o", "result.md")
    assert run.code == 3
    text = (apart / "result.md").read_text()
    assert text.count("no document in common") == 1
    assert "recall" not in text


def test_words_of_several_runs_show_only_the_evaluated_one(calque: Command, apart: Path) -> None:
    run = calque("words", "truth-words.json", "truth-words.json", "found-words.json")
    assert run.code == 3
    assert "found-words" in run.err
    assert "found-words" not in run.out
    assert "truth-words" in run.out
