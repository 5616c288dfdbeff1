"""Green means evaluated: code 3, and the reason before anything else, wherever two sides never meet or nothing is true."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Calque = Callable[..., Run]


def _boxes(*documents: object, page: int = 0, **more: object) -> str:
    blocks = [{"doc_id": name, "page_index": page, "category": "a", "bbox": [0, 0, 9, 9], **more} for name in documents]
    return json.dumps(blocks)


def _records(*names: object) -> str:
    return "".join(json.dumps({"id": name, "total": 1}) + "\n" for name in names)


def _coco(*images: int) -> str:
    annotations = [{"id": at, "image_id": at, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81} for at in images]
    listed = [{"id": at, "file_name": f"{at}.png"} for at in images]
    return json.dumps({"images": listed, "annotations": annotations, "categories": [{"id": 1, "name": "a"}]})


def _results(*images: int, **score: float) -> str:
    return json.dumps([{"image_id": at, "category_id": 1, "bbox": [0, 0, 9, 9], **score} for at in images])


def _words(*names: object) -> str:
    return "docid\twordid\tword\n" + "".join(f"{name}\t0\thello\n" for name in names)


SCORED = {"score": 0.5}
APART = {
    "names of boxes": ("detect", "json", _boxes("a.pdf", "b.pdf"), _boxes("a", "b", **SCORED), "--document-key stem: 2"),
    "ids of boxes": ("detect", "json", _boxes("1", "2"), _boxes(1, 2, **SCORED), "--document-key stem: 2 ids are text"),
    "pages": ("detect", "json", _boxes("a", "b"), _boxes("a", "b", page=1, **SCORED), "pages are counted from 0"),
    "images": ("detect", "json", _coco(1, 2), _results(3, 4, **SCORED), "--document-key file_name"),
    "blocks": ("layout", "json", _boxes("a", "b"), _boxes("c", "d"), "the two sides have no document in common"),
    "records": ("fields", "jsonl", _records("a", "b"), _records("c", "d"), "--id KEY"),
    "ids of records": ("fields", "jsonl", _records("1", "2"), _records(1, 2), "2 ids are text on one side"),
    "words": ("words", "tsv", _words("a", "b"), _words("c", "d"), "the two sides have no document in common"),
}


@pytest.mark.parametrize(("verb", "ending", "truth", "found", "hint"), APART.values(), ids=APART)
@pytest.mark.parametrize("format", ["table", "markdown", "json"])
def test_sides_that_never_meet_end_with_3(
    calque: Calque, tmp_path: Path, verb: str, ending: str, truth: str, found: str, hint: str, format: str
) -> None:
    files = [f"truth.{ending}", f"found.{ending}"]
    for name, text in zip(files, (truth, found), strict=True):
        (tmp_path / name).write_text(text)
    done = calque(verb, *files, "--format", format, "--quiet")
    first = done.err.splitlines()[0]
    assert done.code == 3
    assert first.startswith("error: ")
    assert hint in first
    if format == "json":
        assert json.loads(done.out)["issues"][0]["severity"] == "loss"
    else:
        assert done.out == ""
    # The same files against themselves are evaluated.
    if truth != _coco(1, 2):
        assert calque(verb, files[0], files[0], "--format", format, *_unscored(verb)).code == 0


def _unscored(verb: str) -> list[str]:
    return ["--allow-missing-scores"] if verb == "detect" else []


EMPTY = {
    "boxes": ("detect", "json", json.dumps(json.loads(_coco(1)) | {"annotations": []}), _results(1, **SCORED), ()),
    "labels": ("detect", "json", _coco(1), _results(1, **SCORED), ("--labels", "a", "--min-area", "1000")),
    "blocks": ("layout", "json", json.dumps(json.loads(_coco(1)) | {"annotations": []}), _results(1, **SCORED), ()),
    "hold-out list": ("words", "tsv", _words("a"), _words("a"), ("--holdout", "list.txt")),
    "words": ("words", "html", "<p></p>", "<p>hello</p>", ()),
    "intersect": ("detect", "json", _coco(1), _results(3, **SCORED), ("--missing", "intersect")),
}


@pytest.mark.parametrize(("verb", "ending", "truth", "found", "options"), EMPTY.values(), ids=EMPTY)
def test_a_truth_of_which_nothing_counts_ends_with_3(
    calque: Calque, tmp_path: Path, verb: str, ending: str, truth: str, found: str, options: tuple[str, ...]
) -> None:
    (tmp_path / f"truth.{ending}").write_text(truth)
    (tmp_path / f"found.{ending}").write_text(found)
    (tmp_path / "list.txt").write_text("nobody\n")
    done = calque(verb, f"truth.{ending}", f"found.{ending}", *options)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: nothing was evaluated: ")
    if "the truth is empty" in done.err:
        assert f": truth.{ending}: " in done.err


def test_a_model_that_finds_nothing_was_evaluated(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(_coco(1, 2))
    (tmp_path / "found.json").write_text("[]")
    done = calque("detect", "truth.json", "found.json")
    assert done.code == 0
    assert "all predictions have the same score" not in done.out
    assert "ΔAP: no predictions" in done.out


def test_shards_that_meet_once_merged_are_evaluated(calque: Calque, tmp_path: Path) -> None:
    for name, documents, found in (("one", (1, 2), (3, 4)), ("two", (5, 6), (5, 6))):
        (tmp_path / f"{name}.json").write_text(_coco(*documents))
        (tmp_path / f"{name}-found.json").write_text(_results(*found, **SCORED))
    saved = [calque("detect", f"{name}.json", f"{name}-found.json", "--save", f"{name}.state") for name in ("one", "two")]
    assert [done.code for done in saved] == [3, 0]
    merged = calque("merge", "one.state", "two.state")
    assert "nothing was evaluated" not in merged.out
    assert merged.err == ""


def test_results_without_any_score_have_no_average_precision(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(_coco(1, 2))
    (tmp_path / "found.json").write_text(_results(1, 2))
    numbers = json.loads(calque("detect", "truth.json", "found.json", "--format", "json").out)
    averages = {name: value for name, value in numbers["coco"].items() if name.startswith(("AP", "AR"))}
    assert set(averages.values()) == {None}
    assert {numbers["undefined"][f"coco.{name}"] for name in averages} == {"no prediction has a score"}
    assert numbers["metrics"]["0.5"]["micro"]["f1"] == 1.0


def test_scores_below_zero_are_scores(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(_coco(1, 2))
    (tmp_path / "found.json").write_text(_results(1, 2, score=-3.5))

    def recall(*options: str) -> float:
        done = calque("detect", "truth.json", "found.json", "--format", "json", *options)
        return float(json.loads(done.out)["metrics"]["0.5"]["micro"]["recall"])

    assert (recall(), recall("--min-score", "-4"), recall("--min-score", "0")) == (1.0, 1.0, 0.0)


POINTS = """\
evaluators:
  - {type: coordinate_distance, point_path: p, expected_point_path: p, threshold: 1}
cases:
  - {id: some, output: {p: [[0, 0], [9, 9]]}, expected: {p: [[0, 0], [5, 5]]}}
  - {id: all, output: {p: [[0, 0]]}, expected: {p: [[0, 0]]}}
"""
GATES = {
    "no gate": ("", 1),
    "partial passes": ("partial: pass\n", 0),
    "a gate that holds": ("gate: {mean_score: 0.75}\n", 0),
    "a gate that does not": ("gate: {pass_rate: 0.9}\n", 1),
}


RUNS = """
import sys, pytest
print([int(pytest.main(["-p", "calque", "-p", "no:cacheprovider", "--rootdir", folder, folder])) for folder in sys.argv[1:]])
"""


def test_check_merge_and_pytest_agree_on_a_gate(calque: Calque, tmp_path: Path) -> None:
    wanted = [code for _, code in GATES.values()]
    for number, (rule, code) in enumerate(GATES.values()):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "points.check.yaml").write_text(rule + POINTS)
        checked = calque("check", f"{number}/points.check.yaml", "--save", "suite.state")
        merged = calque("merge", "suite.state")
        assert (checked.code, merged.code) == (code, code)
        assert checked.err == merged.err
    command = [sys.executable, "-c", RUNS, *map(str, range(len(wanted)))]
    done = subprocess.run(command, cwd=tmp_path, env=_alone(), capture_output=True, check=False, encoding="utf-8")
    assert done.stdout.splitlines()[-1] == str(wanted)


def _alone() -> dict[str, str]:
    """An environment in which pytest loads the plugins that it is told, and no others."""
    return {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def _pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own: within this one it would load modules a second time. Other plugins stay away."""
    command = [sys.executable, "-m", "pytest", "-p", "calque", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    return subprocess.run(command, cwd=folder, env=_alone(), capture_output=True, check=False, encoding="utf-8")


def test_a_failing_partial_is_a_failure_everywhere(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(POINTS)
    done = calque("check", "suite.yaml", "-o", "last.jsonl", "-o", "junit.xml", "--format", "github")
    assert "::error" in done.out
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    again = calque("check", "suite.yaml", "--rerun-failed", "last.jsonl", "--format", "json")
    tree = json.loads(again.out)
    assert [(row["id"], row["failed"]) for row in tree["results"]] == [("some", True)]
    assert (tree["summary"]["partial"], tree["summary"]["partial_failed"], tree["gate"]["passed"]) == (1, 1, False)


def test_states_with_other_gates_are_not_merged(calque: Calque, tmp_path: Path) -> None:
    for name, gate in (("one", "gate: {mean_score: 0.5}\n"), ("two", "gate: {mean_score: 0.9}\n")):
        text = POINTS.replace("id: ", f"id: {name}-")
        (tmp_path / f"{name}.yaml").write_text(gate + text)
        calque("check", f"{name}.yaml", "--save", f"{name}.state")
    done = calque("merge", "one.state", "two.state")
    assert done.code == 2
    assert "the gates of their suites differ" in done.err


def test_pytest_knows_the_evaluators_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.calque.evaluators]\nsame = "own.py:same"\n')
    (tmp_path / "own.py").write_text("def same(output, expected):\n    return float(output == expected)\n")
    cases = "cases:\n  - {id: a, output: 1, expected: 1}\n  - {id: b, output: 1, expected: 2}\n"
    (tmp_path / "own.check.yaml").write_text("evaluators: [{type: same}]\n" + cases)
    assert "1 failed, 1 passed" in _pytest(tmp_path).stdout


@pytest.mark.parametrize("again", [("report", "-o", "page.html"), ("merge",), ("compare",)], ids=lambda again: again[0])
def test_whoever_looks_at_a_state_later_is_told_too(calque: Calque, tmp_path: Path, again: tuple[str, ...]) -> None:
    (tmp_path / "truth.json").write_text(_boxes("a", "b"))
    (tmp_path / "found.json").write_text(_boxes("c", "d", **SCORED))
    first = calque("detect", "truth.json", "found.json", "--save", "one.state").err.splitlines()[0]
    assert first.startswith("error: nothing was evaluated: found.json: the two sides have no document in common")
    done = calque(again[0], "one.state", *(["one.state"] if again[0] == "compare" else []), *again[1:])
    assert done.code == 3
    assert "no document in common" in done.err
