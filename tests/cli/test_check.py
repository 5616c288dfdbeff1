"""``calque check``: output, selection, exit codes, files, and pytest's view of a suite."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import msgspec  # noqa: F401  # a run of pytest within a test forgets what it imported, and no process loads these twice
import numpy  # noqa: F401
import pytest
import yaml  # noqa: F401

from calque import Evaluator
from calque.cli.render import EXTENSIONS
from calque.core.ledger import digests_of
from calque.pytest_plugin import CheckFailed
from tests.conftest import Run

SUITE = """\
name: boxes
evaluators:
  - type: iou_score
    bbox_path: box
    expected_bbox_path: box
    threshold: 0.5
cases:
  - {id: good, output: {box: [0, 0, 2, 2]}, expected: {box: [0, 0, 2, 2]}, tags: [easy]}
  - id: bad
    output: {box: [0, 0, 2, 2]}
    expected: {box: [5, 5, 6, 6]}
"""
BROKEN = SUITE + "  - {id: 'broken, %', output: {box: [0, 0, 2, 2]}, expected: {bxo: [1]}}\n"
Calque = Callable[..., Run]

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    (tmp_path / "suite.yaml").write_text(SUITE)
    return "suite.yaml"


def test_a_table_and_the_reason_on_stderr(calque: Calque, suite: str) -> None:
    done = calque("check", suite)
    assert done.code == 1
    assert done.out.startswith("Of 2 cases 1 pass and 1 fail.\n\nChecks\n2 cases: 1 pass, 0 partial, 1 fail, 0 error\n")
    assert "iou 0: fail, threshold 0.5" in done.out
    assert done.err == "gate: 1 case failed\n"
    assert calque("check", suite, "--quiet").err == ""


def test_json_has_the_shape_of_the_contract(calque: Calque, suite: str) -> None:
    told = calque("check", suite, "--format", "json").json
    assert told["task"] == "checks"
    assert {key: told["summary"][key] for key in ("cases", "pass", "partial", "fail", "error", "score")} == {
        "cases": 2, "pass": 1, "partial": 0, "fail": 1, "error": 0, "score": 0.5,
    }  # fmt: skip
    assert list(told["results"][0]) == [
        "id", "evaluator", "score", "verdict", "hits", "misses", "reasoning", "metadata", "status",
    ]  # fmt: skip
    assert told["gate"] == {"passed": False, "failures": ["1 case failed"]}


def test_jsonl_and_running_again_what_failed(calque: Calque, suite: str, tmp_path: Path) -> None:
    done = calque("check", suite, "--format", "jsonl")
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["good", "bad"]
    only = calque("check", suite, "--format", "jsonl", "--only-failed")
    assert [json.loads(line)["id"] for line in only.out.splitlines()] == ["bad"]
    (tmp_path / "last.jsonl").write_text(done.out)
    again = calque("check", suite, "--rerun-failed", "last.jsonl", "--format", "json")
    assert [row["id"] for row in again.json["results"]] == ["bad"]
    (tmp_path / "last.jsonl").write_text(done.out.splitlines()[0])
    assert "nothing failed there" in calque("check", suite, "--rerun-failed", "last.jsonl").err
    (tmp_path / "last.jsonl").write_text("{}")
    assert "line 1: is no result line" in calque("check", suite, "--rerun-failed", "last.jsonl").err


def test_junit_keeps_failures_apart_from_errors(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BROKEN)
    done = calque("check", "suite.yaml", "--format", "junit")
    assert done.code == 3
    root = ET.fromstring(done.out)
    assert root.attrib == {"tests": "3", "failures": "1", "errors": "1"}
    cases = {case.attrib["name"]: [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {"good": [], "bad": ["failure"], "broken, %": ["error"]}


def test_github_annotations_point_at_lines(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BROKEN)
    lines = calque("check", "suite.yaml", "--format", "github").out.splitlines()
    assert lines == [
        "::error file=suite.yaml,line=9,col=5,title=bad%3A iou_score failed::iou 0: fail, threshold 0.5",
        "::error file=suite.yaml,line=12,col=5,title=broken%2C %25%3A iou_score could not be judged::expected: box is missing",
    ]


def test_several_files_in_one_run(calque: Calque, suite: str, tmp_path: Path) -> None:
    names = ("a.xml", "b.md", "c.jsonl", "d.json", "e.txt")
    done = calque("check", suite, *(part for name in names for part in ("-o", name)), "--annotations")
    assert done.code == 1
    assert done.out.startswith("::error file=suite.yaml")
    assert all(f"wrote {name}" in done.err for name in names)
    assert (tmp_path / "a.xml").read_text().startswith("<?xml")
    assert (tmp_path / "b.md").read_text().startswith("Of 2 cases 1 pass and 1 fail.\n\n### Checks\n")
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 2
    assert json.loads((tmp_path / "d.json").read_text())["summary"]["cases"] == 2
    assert "\nGate: failed\n1 case failed\n" in (tmp_path / "e.txt").read_text()
    assert calque("check", suite, "-o", "x.out", "--format", "github").code == 1
    assert (tmp_path / "x.out").read_text().startswith("::error")
    assert "names no format" in calque("check", suite, "-o", "x.foo").err
    assert calque("check", suite, "-o", "y.md", "--format", "markdown").out == ""


@pytest.mark.parametrize("extension", [*EXTENSIONS, ".MARKDOWN"])
def test_check_writes_every_format_that_other_commands_write(
    calque: Calque, suite: str, tmp_path: Path, extension: str
) -> None:
    assert calque("check", suite, "-o", f"named{extension}").code == 1
    assert calque("check", suite, "-o", "other", "--format", EXTENSIONS[extension.lower()]).code == 1
    assert (tmp_path / f"named{extension}").read_bytes() == (tmp_path / "other").read_bytes()


def test_markdown(calque: Calque, suite: str) -> None:
    told = calque("check", suite, "--format", "markdown").out
    assert told.startswith("Of 2 cases 1 pass and 1 fail.\n\n### Checks\n")
    assert "### Gate: failed\n\n- 1 case failed\n" in told


def test_choosing_cases(calque: Calque, suite: str) -> None:
    assert calque("check", suite, "--filter", "g*").code == 0
    assert calque("check", suite, "--tag", "easy").code == 0
    missing = calque("check", suite, "--filter", "nothing")
    assert (missing.code, "no case matches" in missing.err) == (3, True)


def test_other_data_and_states(calque: Calque, suite: str, tmp_path: Path) -> None:
    case = {"id": "x", "output": {"box": [0, 0, 1, 1]}, "expected": {"box": [0, 0, 1, 1]}}
    (tmp_path / "more.jsonl").write_text(json.dumps(case))
    assert calque("check", suite, "--data", "more.jsonl", "--save", "one").code == 0
    calque("check", suite, "--save", "two")
    merged = calque("merge", "one", "two", "--format", "json")
    assert merged.json["summary"]["cases"] == 3
    assert [json.loads(line)["id"] for line in calque("merge", "one", "two", "--format", "jsonl").out.splitlines()] == [
        "good", "x", "bad",
    ]  # fmt: skip
    assert calque("merge", "two", "--format", "csv").out.splitlines()[0].startswith("evaluator,cases,pass")


def test_a_warning_is_shown_once(calque: Calque, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And not by whoever listens to all logs of the process as well."""
    text = "evaluators:\n- {type: coordinate_distance, point_path: p, expected_point_path: p}\n"
    (tmp_path / "suite.yaml").write_text(text + "cases:\n- {output: {p: [1]}, expected: {p: [1]}}\n")
    done = calque("check", "suite.yaml")
    assert (done.code, done.err) == (0, "warning: coordinate_distance has no threshold: scores are graded by distance\n")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SUITE.replace("threshold", "treshold"),
            "line 6 column 5: unknown key 'treshold' in iou_score; did you mean 'threshold'?",
        ),
        (SUITE.replace("box: [0", "box: !!python/object:os.system [0"), "is not allowed"),
        (SUITE + "  - {id: good}\n", "line 12 column 5: the id 'good' was used before"),
        ("a: \x00", "a character that YAML does not allow"),
        ("evaluators: []\ncases: []", "the suite has no cases"),
    ],
)
def test_a_suite_that_is_wrong_exits_with_2(calque: Calque, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "suite.yaml").write_text(text)
    done = calque("check", "suite.yaml")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_usage(calque: Calque, suite: str) -> None:
    assert calque("check").code == 2
    assert calque("check", "none.yaml").code == 2
    assert calque("check", suite, "--evaluator", "x").code == 2
    assert calque("check", suite, "-o", "no/such/folder.md").code == 2
    assert calque("check", "--schema").json["title"] == "calque suite"


def test_code_is_run_only_when_the_user_names_it(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judge(output, expected):\n    return output == expected\n")
    (tmp_path / "suite.yaml").write_text("evaluators: [{type: same}]\ncases: [{id: a, output: 1, expected: 1}]\n")
    assert "unknown evaluator type" in calque("check", "suite.yaml").err
    assert calque("check", "suite.yaml", "--evaluator", "same=own.py:judge").code == 0
    (tmp_path / "pyproject.toml").write_text('[tool.calque.evaluators]\nsame = "own.py:judge"\n')
    assert calque("check", "suite.yaml").code == 0
    (tmp_path / "pyproject.toml").write_text("[tool.calque]\nevaluators = 5\n")
    assert "tool.calque.evaluators" in calque("check", "suite.yaml").err
    (tmp_path / "pyproject.toml").write_text("[")
    assert calque("check", "suite.yaml").code == 2
    direct = "evaluators: [{type: 'own.py:judge'}]\ncases: [{id: a, output: 1, expected: 1}]\n"
    (tmp_path / "direct.yaml").write_text(direct)
    (tmp_path / "pyproject.toml").unlink()
    assert "cannot load code by itself" in calque("check", "direct.yaml").err


def test_explain_knows_the_numbers_of_checks(calque: Calque) -> None:
    assert "checks:" in calque("explain").out


# pytest.


def test_pytest_collects_suites(pytester: pytest.Pytester) -> None:
    pytester.makefile(".check.yaml", boxes=BROKEN)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rf")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*bad[[]iou_score[]]*", "*iou 0: fail, threshold 0.5*", "*bbox does not match*"])
    assert "Traceback" not in result.stdout.str()


def test_pytest_chooses_by_id_and_tag(pytester: pytest.Pytester) -> None:
    pytester.makefile(".check.yaml", boxes=SUITE)
    pytester.runpytest_inprocess("-k", "easy").assert_outcomes(passed=1, deselected=1)


def test_pytest_reports_a_suite_that_is_wrong(pytester: pytest.Pytester) -> None:
    pytester.makefile(".check.yaml", boxes="evaluators: 5")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*evaluators is a list, not 5*"])


def test_what_is_drawn_is_kept_for_whoever_wants_any_of_it(calque: Calque, suite: str, tmp_path: Path) -> None:
    """For a report alone, a state alone, or both; each has what is drawn, and what the truth was."""
    calque("check", suite, "--save", "alone.state")
    calque("check", suite, "--report", "alone.html")
    calque("check", suite, "--save", "both.state", "--report", "both.html")
    alone, both = ((tmp_path / f"{name}.state").read_bytes() for name in ("alone", "both"))
    assert alone == both
    ledger = Evaluator.load(tmp_path / "alone.state").ledger()
    assert len(digests_of(ledger)) == 2
    assert (tmp_path / "alone.html").read_text() == (tmp_path / "both.html").read_text()
    calque("report", "alone.state", "-o", "later.html")
    drawn = [re.sub(r"\s+", "", (tmp_path / f"{name}.html").read_text()) for name in ("alone", "later")]
    assert drawn[0] == drawn[1]


def test_a_truth_that_changed_is_told_to_whoever_holds_a_suite_against_a_baseline(
    calque: Calque, suite: str, tmp_path: Path
) -> None:
    calque("check", suite, "--save", "base.state")
    (tmp_path / suite).write_text(SUITE.replace("expected: {box: [5, 5, 6, 6]}", "expected: {box: [5, 5, 6, 7]}"))
    told = calque("check", suite, "--baseline", "base.state", "--tolerance", "score=0")
    assert "truth" in told.err


def test_what_a_check_says_is_the_text_of_its_error() -> None:
    """Whoever catches it, or sees it where pytest does not format it, reads the reason."""
    failed = CheckFailed("1 is not 2", ["a", "b"])
    assert (str(failed), failed.misses) == ("1 is not 2", ("a", "b"))
