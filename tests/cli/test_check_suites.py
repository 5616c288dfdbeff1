"""``calque check`` as its users have it: several suites, two files, programs, all that is wrong at once, the gate."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import msgspec  # noqa: F401  # a run of pytest within a test forgets what it imported, and no process loads these twice
import numpy  # noqa: F401
import pytest
import yaml  # noqa: F401

from tests.conftest import Run

Calque = Callable[..., Run]
pytest_plugins = ["pytester"]

EQUALS = "evaluators: [{type: equals}]\n"
GOOD = EQUALS + "cases: [{id: a, output: 1, expected: 1, tags: [easy]}]\n"
BAD = EQUALS + "cases: [{id: a, output: 1, expected: 2, tags: [hard]}, {id: b, output: 1, expected: 1}]\n"
BROKEN = "evaluators: [{type: equals, path: x}]\ncases: [{id: a, output: {x: 1}, expected: {}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("good.check.yaml", GOOD), ("bad.check.yml", BAD), ("broken.yaml", BROKEN)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_several_suites_in_one_call(calque: Calque) -> None:
    done = calque("check", "good.check.yaml", "bad.check.yml", "--format", "json")
    assert done.code == 1
    assert [(one["suite"], one["gate"]["passed"]) for one in done.json["suites"]] == [
        ("good.check", True),
        ("bad.check", False),
    ]
    table = calque("check", "good.check.yaml", "bad.check.yml").out
    assert (
        table.index("Suite good.check")
        < table.index("Gate: passed")
        < table.index("Suite bad.check")
        < table.index("Gate: failed")
    )
    assert calque("check", "*.check.y*", "--format", "jsonl").out.count('"suite": "bad.check"') == 2
    assert calque("check", "*.check.y*", "--format", "csv").out.splitlines()[1].startswith("bad.check,all,2,1")
    root = ET.fromstring(calque("check", "*.check.y*", "--format", "junit").out)
    assert root.attrib == {"tests": "3", "failures": "1", "errors": "0"}
    assert {one.attrib["name"]: one.attrib["value"] for one in root.iter("property")} == {
        "gate of bad.check": "failed",
        "gate of good.check": "passed",
    }
    assert calque("check", "*.yaml", "bad.check.yml").code == 3  # the highest wins
    assert "--save is for one SUITE" in calque("check", "*.check.y*", "--save", "state").err
    assert calque("check", "*.none").code == 2


@pytest.mark.usefixtures("folder")
def test_a_tag_that_one_suite_knows_is_enough(calque: Calque) -> None:
    assert calque("check", "*.check.y*", "--tag", "easy").code == 0
    assert "no case matches" in calque("check", "*.check.y*", "--tag", "none").err


NO_CASES = {"empty.jsonl": "", "blank.jsonl": "\n \n", "empty.json": "[]", "head.csv": "id,output,expected\n"}


@pytest.mark.parametrize("name", NO_CASES)
def test_check_of_data_without_cases_exits_with_3(calque: Calque, folder: Path, name: str) -> None:
    (folder / name).write_text(NO_CASES[name])
    (folder / "none.yaml").write_text(f"data: {name}\nevaluators: [{{type: equals}}]\ngate: {{pass_rate: 0}}\n")
    assert calque("check", "none.yaml").code == 3
    assert calque("check", "none.yaml", "--format", "json").out == ""
    alone, both = calque("check", "good.check.yaml"), calque("check", "good.check.yaml", "none.yaml")
    assert (alone.code, both.code) == (0, 3)
    assert name in both.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("selection", [("--filter", "none"), ("--tag", "none")])
def test_check_of_a_selection_that_no_case_matches_exits_with_3(calque: Calque, selection: tuple[str, str]) -> None:
    assert calque("check", "good.check.yaml", *selection).code == 3


def test_pytest_reports_a_suite_without_cases(pytester: pytest.Pytester) -> None:
    pytester.makefile(".check.yaml", none="data: none.jsonl\nevaluators: [{type: equals}]\n")
    pytester.makefile(".jsonl", none="")
    pytester.runpytest().assert_outcomes(errors=1)


@pytest.mark.usefixtures("folder")
def test_running_again_when_nothing_failed_is_fine(calque: Calque, folder: Path) -> None:
    calque("check", "good.check.yaml", "-o", "last.jsonl")
    done = calque("check", "good.check.yaml", "--rerun-failed", "last.jsonl", "-o", "again.xml")
    assert (done.code, "nothing failed there, so there is nothing to repeat" in done.err) == (0, True)
    assert ET.fromstring((folder / "again.xml").read_text()).attrib["tests"] == "0"
    (folder / "gated.yaml").write_text(GOOD + "gate: {pass_rate: 1}\n")
    assert calque("check", "gated.yaml", "--rerun-failed", "last.jsonl", "--fail-under", "score=0.5").code == 0
    calque("check", "*.check.y*", "-o", "both.jsonl")
    again = calque("check", "*.check.y*", "--rerun-failed", "both.jsonl", "--format", "json")
    assert [row["id"] for row in again.json["results"]] == ["a"]  # that of the suite in which it failed


def test_the_gate_is_not_passed_where_nothing_could_be_judged(calque: Calque, folder: Path) -> None:
    done = calque("check", "broken.yaml")
    assert done.code == 3
    assert "Gate: undecided\n1 case could not be judged\n" in done.out
    assert "passed" not in done.out
    assert "### Gate: undecided" in calque("check", "broken.yaml", "--format", "markdown").out
    assert calque("check", "broken.yaml", "--format", "json").json["gate"] == {
        "passed": False,
        "failures": ["1 case could not be judged"],
    }
    assert "undecided" in calque("check", "broken.yaml", "--format", "csv").out
    assert calque("check", "broken.yaml", "--fail-under", "score=0", "--brief").out.count("passed") == 0
    (folder / "gated.yaml").write_text(BROKEN + "gate: {mean_score: 0}\n")
    root = ET.fromstring(calque("check", "gated.yaml", "--format", "junit").out)
    assert [one.attrib["value"] for one in root.iter("property")] == ["undecided"]


@pytest.mark.parametrize(("limit", "kinds", "verdict"), [(0.5, [], "passed"), (0.9, ["failure"], "failed")])
def test_the_verdict_is_in_junit(calque: Calque, folder: Path, limit: float, kinds: list[str], verdict: str) -> None:
    (folder / "gated.yaml").write_text(f"{BAD}gate: {{pass_rate: {limit}}}\n")
    root = ET.fromstring(calque("check", "gated.yaml", "--format", "junit").out)
    tests = {case.attrib["classname"]: [child.tag for child in case] for case in root.iter("testcase")}
    assert tests["gated.gate"] == kinds
    assert [one.attrib["value"] for one in root.iter("property")] == [verdict]
    assert f"Gate: {verdict}" in calque("check", "gated.yaml").out
    both = ET.fromstring(calque("check", "gated.yaml", "--format", "junit", "--fail-under", "score=0.99").out)
    tests = {case.attrib["classname"]: [child.tag for child in case] for case in both.iter("testcase")}
    assert (tests["gated.gate"], tests["calque.checks.gate"]) == (kinds, ["failure"])  # each gate speaks for itself


def test_everything_wrong_is_told_at_once(calque: Calque, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(
        "nmae: x\nevaluators:\n- {type: eqals}\n- {type: regex, pattern: '('}\n"
        "cases:\n- {id: a, evaluators: [{type: nope}]}\n- {id: a, outptu: 1}\ngate: {pass_rate: 3}\npartial: maybe\n"
    )
    (tmp_path / "two.yaml").write_text("evaluators: []\ncases: []\n")
    done = calque("check", "one.yaml", "two.yaml", "--evaluator", "unused=none.py:judge")
    assert (done.code, done.out) == (2, "")
    for told in (
        "none.py: cannot be read: no such file",
        "one.yaml: line 1 column 1: unknown key 'nmae' in a suite; did you mean 'name'?",
        "one.yaml: line 3 column 4: unknown evaluator type \"eqals\"; did you mean 'equals'?",
        'one.yaml: line 4 column 17: "(" is not a regular expression',
        'one.yaml: line 6 column 25: unknown evaluator type "nope"',
        "one.yaml: line 7 column 3: the id 'a' was used before, at line 6 column 3",
        "one.yaml: line 7 column 11: unknown key 'outptu' in a case; did you mean 'output'?",
        "one.yaml: line 8 column 8: pass_rate must be in [0, 1], not 3",
        "one.yaml: line 9 column 1: partial is fail or pass",
        "two.yaml: line 2 column 1: the suite has no cases",
    ):
        assert told in done.err


def test_an_unused_evaluator_is_checked(calque: Calque, folder: Path) -> None:
    (folder / "own.py").write_text("def judge(output, expected):\n    return 1\n")
    assert calque("check", "good.check.yaml", "--evaluator", "x=own.py:judge").code == 0
    done = calque("check", "good.check.yaml", "--evaluator", "x=own.py:jduge")
    assert (done.code, "has no function 'jduge'; did you mean 'judge'?" in done.err) == (2, True)


def test_what_an_evaluator_prints_is_no_result(calque: Calque, folder: Path) -> None:
    (folder / "own.py").write_text("print('loaded')\ndef judge(output, expected):\n    print('looking')\n    return 1\n")
    (folder / "own.yaml").write_text("evaluators: [{type: own}]\ncases: [{id: a, output: 1, expected: 1}]\n")
    done = calque("check", "own.yaml", "--evaluator", "own=own.py:judge", "--format", "jsonl")
    assert json.loads(done.out)["verdict"] == "pass"
    assert done.err.splitlines()[:2] == ["loaded", "looking"]


def test_a_broken_line_does_not_end_the_run(calque: Calque, folder: Path) -> None:
    good = '{"id": "%s", "output": 1, "expected": 1}\n'
    (folder / "cases.jsonl").write_text(good % "a" + "{broken\n" + good % "b")
    (folder / "suite.yaml").write_text(EQUALS + "data: cases.jsonl\n")
    done = calque("check", "suite.yaml", "--format", "json")
    assert done.code == 3
    assert {key: done.json["summary"][key] for key in ("cases", "pass", "error")} == {"cases": 3, "pass": 2, "error": 1}
    assert calque("check", "suite.yaml", "--filter", "a").code == 3  # it might have been the one
    assert calque("check", "suite.yaml", "--format", "github").out.startswith("::error file=cases.jsonl,line=2,title=line 2")


def test_two_files_and_another_run(calque: Calque, folder: Path) -> None:
    (folder / "truth.jsonl").write_text('{"doc": "a", "kind": 1}\n{"doc": "b", "kind": 1}\n')
    (folder / "run.csv").write_text("doc,kind\na,1\nb,2\n")
    (folder / "tonight.jsonl").write_text('{"doc": "a", "kind": 1}\n{"doc": "b", "kind": 1}\n')
    (folder / "suite.yaml").write_text(
        "evaluators: [{type: numeric_tolerance, path: kind}]\nexpected: truth.jsonl\nactual: run.csv\nid: doc\n"
    )
    assert calque("check", "suite.yaml", "--format", "json").json["summary"]["pass"] == 1
    assert calque("check", "suite.yaml", "--actual", "tonight.jsonl").code == 0
    assert calque("check", "suite.yaml", "--actual", "tonight.jsonl", "--expected", "tonight.jsonl").code == 0
    assert calque("check", "suite.yaml", "--actual", "tonight.jsonl", "--data", "x.jsonl").code == 2
    assert "is read by this command" in calque("check", "suite.yaml", "-o", "truth.jsonl").err


def test_programs_need_a_word_from_the_user(calque: Calque, folder: Path) -> None:
    command = json.dumps([sys.executable, "-c", "print(1)"])
    (folder / "suite.yaml").write_text(
        f"evaluators: [{{type: command, command: {command}}}]\ncases: [{{id: a, output: 1, expected: 1}}]\n"
    )
    assert "commands are not run unless you allow it" in calque("check", "suite.yaml").err
    assert calque("check", "suite.yaml", "--allow-commands", "--cache", "kept").code == 0
    assert len(list((folder / "kept").rglob("*.json"))) == 1


def test_the_signature_is_short(calque: Calque) -> None:
    Path("suite.yaml").write_text(
        EQUALS.replace("}", ", name: " + "x" * 300 + "}") + "cases: [{id: a, output: 1, expected: 1}]\n"
    )
    signature = calque("check", "suite.yaml", "--format", "json").json["signature"]
    assert len(signature) < 80
    assert "evaluators:1 (" in signature


def test_pytest_collects_both_endings_and_tags_are_marks(pytester: pytest.Pytester) -> None:
    pytester.makefile(".check.yaml", good=GOOD)
    pytester.makefile(".check.yml", bad=BAD)
    pytester.runpytest_inprocess("--strict-markers", "-W", "error::pytest.PytestUnknownMarkWarning").assert_outcomes(
        passed=2, failed=1
    )
    pytester.runpytest_inprocess("--strict-markers", "-m", "easy").assert_outcomes(passed=1, deselected=2)
    pytester.runpytest_inprocess("-m", "hard").assert_outcomes(failed=1, deselected=2)


def test_pytest_shows_broken_lines_and_runs_programs_only_if_allowed(pytester: pytest.Pytester) -> None:
    pytester.makefile(".jsonl", cases='{"id": "a", "output": 1, "expected": 1}\n{broken\n')
    pytester.makefile(".check.yaml", data=EQUALS + "data: cases.jsonl\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    command = json.dumps([sys.executable, "-c", "print(1)"])
    text = f"system: {{command: {command}}}\n{EQUALS}cases: [{{id: a, input: 1, expected: 1}}]\n"
    pytester.makefile(".check.yaml", data=text)
    pytester.runpytest_inprocess().assert_outcomes(errors=1)
    pytester.runpytest_inprocess("--allow-commands").assert_outcomes(passed=1)


def test_runs_of_a_suite_with_two_files_are_compared(calque: Calque, folder: Path) -> None:
    rows = [{"id": f"d{number}", "kind": number % 3} for number in range(30)]
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, wrong in (("one.jsonl", 12), ("two.jsonl", 3)):
        found = [{**row, "kind": 9} if place < wrong else row for place, row in enumerate(rows)]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found))
    (folder / "suite.yaml").write_text("evaluators: [{type: equals, path: kind}]\nexpected: truth.jsonl\nactual: one.jsonl\n")
    told = calque("compare", "suite.yaml", "one.jsonl", "two.jsonl", "--format", "json").json["measures"]["pass_rate"]
    assert {name: entry["value"] for name, entry in told.items() if "value" in entry and name != "delta"} == {
        "one": 0.6,
        "two": 0.9,
    }


def test_a_stream_is_told_by_its_name_and_read_by_its_content(
    calque: Calque, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "suite.yaml").write_text(EQUALS + "cases: [{id: a}]\n")
    (folder / "cases.txt").write_text("id,output,expected,tags\na,1,1,\nb,1,2,x\nc,1\n")
    with (folder / "cases.txt").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        told = calque("check", "suite.yaml", "--data", "-", "--format", "json").json
    assert [(row["id"], row["verdict"], row["status"]) for row in told["results"]] == [
        ("a", "pass", "ok"),
        ("b", "fail", "ok"),
        ("line 4", "fail", "error"),
    ]
    assert told["results"][2]["reasoning"] == "-: line 4: has 2 cells, and the head has 4"
