"""``calque order`` as people use it: lines for blocks and breaks, states that add up, gates and comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
TRUTH = [{"doc_id": "d1", "order": ["a", "b", "c", "d"]}, {"doc_id": "d2", "order": ["a", {"unordered": ["b", "c"]}, "d"]}]
FOUND = [{"doc_id": "d1", "order": ["a", "c", "b"]}, {"doc_id": "d2", "order": ["a", "c", "b", "d"]}]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, rows in (("truth", TRUTH), ("found", FOUND)):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for number, row in enumerate(rows):
            (tmp_path / f"{name}{number}.ndjson").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_a_block_a_line_and_a_break_a_line(here: Path, calque: Command) -> None:
    lines = [json.loads(line) for line in calque("order", "truth.ndjson", "found.ndjson", "--format", "jsonl").out.splitlines()]
    keys = ("document", "id", "outcome", "rank", "position", "found", "discordant")
    assert [tuple(line[key] for key in keys) for line in lines if line["what"] == "block"] == [
        ("d1", "a", "placed", 0, 0, "a", 0),
        ("d1", "b", "placed", 1, 2, "b", 1),
        ("d1", "c", "placed", 2, 1, "c", 1),
        ("d1", "d", "missing", 3, -1, "", 0),
        ("d2", "a", "placed", 0, 0, "a", 0),
        ("d2", "b", "placed", 2, 2, "b", 0),  # b and c in whichever order, so in the one that was read
        ("d2", "c", "placed", 1, 1, "c", 0),
        ("d2", "d", "placed", 3, 3, "d", 0),
    ]
    breaks = [(line["document"], line["id"], line["to"], line["outcome"]) for line in lines if line["what"] == "break"]
    assert breaks == [("d1", "a", "c", "skip"), ("d1", "c", "b", "back")]


def numbers(run: Run) -> Any:
    return {key: value for key, value in run.json.items() if key != "sources"}


def test_states_of_documents_add_up_to_the_whole(here: Path, calque: Command) -> None:
    for number in (0, 1):
        calque("order", f"truth{number}.ndjson", f"found{number}.ndjson", "--save", f"{number}.state")
    whole = numbers(calque("order", "truth.ndjson", "found.ndjson", "--format", "json"))
    for states in (("0.state", "1.state"), ("1.state", "0.state")):
        assert numbers(calque("merge", *states, "--format", "json")) == whole
    assert whole["micro"] == {"pairs": 7 / 8, "successors": 2 / 4, "footrule": 1 - 2 / 12, "edit": 6 / 8}


def test_gates_and_comparisons(here: Path, calque: Command) -> None:
    files = ("order", "truth.ndjson", "found.ndjson")
    assert calque(*files, "--fail-under", "pairs=0.875").code == 0
    assert calque(*files, "--fail-under", "macro.pairs=0.875").code == 1
    assert calque(*files, "--fail-under", "successors=0.6").code == 1
    calque(*files, "--save", "found.state")
    calque("order", "truth.ndjson", "truth.ndjson", "--save", "right.state")
    measures = calque("compare", "found.state", "right.state", "--format", "json").json["measures"]
    assert measures["pairs"]["delta"]["value"] == pytest.approx(1 / 8)
    assert measures["edit"]["delta"]["value"] == pytest.approx(2 / 8)
