"""Exit codes and issues if a run evaluated nothing, or not the documents that a hold-out list names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
TABLE = "<table><tr><td>a</td></tr></table>"
FILES = {
    "tables": {
        "full": {"a.html": TABLE}, "other": {"b.html": TABLE}, "none": {"a.html": "<p>no table</p>"},
        "empty": {"a.html": ""},
    },
    "order": {
        "full": {"a.ndjson": '{"doc_id": "a", "order": ["x", "y"]}\n'},
        "other": {"b.ndjson": '{"doc_id": "b", "order": ["x", "y"]}\n{"doc_id": "c", "order": ["x", "y"]}\n'},
        "none": {"a.ndjson": '{"doc_id": "a", "order": []}\n'},
        "empty": {"a.json": "[]"},
    },
}  # fmt: skip
CASES = [
    ("other", "full", "no-common-document"),
    ("full", "other", "no-common-document"),
    ("none", "full", "no-truth"),
    ("none", "none", "no-truth"),
    ("empty", "empty", "no-truth"),
    ("empty", "full", "no-truth"),
]


@pytest.fixture
def sides(tmp_path: Path) -> Path:
    for command, folders in FILES.items():
        for folder, files in folders.items():
            (tmp_path / command / folder).mkdir(parents=True)
            for name, text in files.items():
                (tmp_path / command / folder / name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize("command", sorted(FILES))
@pytest.mark.parametrize(("truth", "predictions", "code"), CASES)
def test_command_that_evaluates_nothing_exits_with_3(
    calque: Command, command: str, truth: str, predictions: str, code: str
) -> None:
    run = calque(command, f"{command}/{truth}", f"{command}/{predictions}", "--format", "json")
    assert run.code == 3
    if run.out:
        assert code in {issue["code"] for issue in run.json["issues"]}


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize("command", sorted(FILES))
def test_command_with_predictions_of_nothing_is_evaluated(calque: Command, command: str) -> None:
    assert calque(command, f"{command}/full", f"{command}/none").code == 0


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "truth").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "truth" / f"{name}.txt").write_text(f"one {name}")
    return tmp_path


def test_holdout_with_some_unknown_ids_names_them(texts: Path, calque: Command) -> None:
    (texts / "ids.txt").write_text("a\nd\nb.txt\n")
    run = calque("words", "truth", "truth", "--holdout", "ids.txt", "--format", "json")
    assert run.code == 0
    (issue,) = [issue for issue in run.json["issues"] if issue["code"] == "unknown-holdout"]
    assert "'d'" in issue["message"]
    assert "'b.txt'" in issue["message"]
    assert "'d'" in run.err
    assert run.json["counts"]["documents"] == 1
    assert run.json["counts"]["listed_without_truth"] == 2


def test_holdout_with_known_ids_names_none(texts: Path, calque: Command) -> None:
    (texts / "ids.txt").write_text("a\nb\n")
    run = calque("words", "truth", "truth", "--holdout", "ids.txt", "--format", "json")
    assert (run.code, run.json["issues"], run.err) == (0, [], "")


def test_holdout_with_unknown_ids_only_evaluates_nothing(texts: Path, calque: Command) -> None:
    (texts / "ids.txt").write_text("d\ne\n")
    run = calque("words", "truth", "truth", "--holdout", "ids.txt")
    assert run.code == 3
    assert "held out" in run.err


def test_holdout_in_shards_names_the_ids_that_no_shard_has(texts: Path, calque: Command) -> None:
    (texts / "ids.txt").write_text("a\nb\nd\n")
    for name in ("a", "b"):
        calque("words", f"truth/{name}.txt", f"truth/{name}.txt", "--holdout", "ids.txt", "--save", f"{name}.state")
    found = json.loads(calque("merge", "a.state", "b.state", "--format", "json").out)
    (issue,) = [issue for issue in found["issues"] if issue["code"] == "unknown-holdout"]
    assert "'d'" in issue["message"]
    assert "'b'" not in issue["message"]
