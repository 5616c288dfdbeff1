"""Suites: loading, selecting, running here and elsewhere, gates, evaluators of one's own."""

from __future__ import annotations

import json
import pickle
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, ContractError, Evaluator, MergeError
from calque.checks import Checks, Outcome, Suite
from calque.checks.evaluators.custom import identities
from calque.checks.evaluators.outcome import Verdict
from calque.checks.suites.cases import Case, CaseCorpus, Selection
from calque.checks.suites.editor_schema import suite_schema
from calque.checks.suites.inputs import Inputs
from calque.checks.suites.runner import Judging
from calque.engines import run_in_background, with_timeout

HEAD = "evaluators:\n  - {type: iou_score, bbox_path: b, expected_bbox_path: b, threshold: 0.5}\n"
CASES = """cases:
  - {id: good, output: {b: [0, 0, 2, 2]}, expected: {b: [0, 0, 2, 2]}, tags: [easy, small]}
  - {id: bad, output: {b: [0, 0, 2, 2]}, expected: {b: [5, 5, 6, 6]}, tags: hard}
  - {id: 7, output: {b: [0, 0, 2, 2]}, expected: {}}
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str, name: str = "suite.yaml") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


def lines(count: int) -> str:
    rows = [
        {"id": f"c{k}", "output": {"b": [0, 0, 2, 2] if k % 3 else [9, 9, 1, 1]}, "expected": {"b": [0, 0, 2, 1 + k % 2]}}
        for k in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_suite_from_file_to_numbers(write: Write) -> None:
    result = Suite.load(write(HEAD + CASES)).run()
    assert result.numbers["summary"] == {
        "cases": 3, "pass": 1, "partial": 0, "fail": 1, "error": 1, "partial_failed": 0,
        "score": 1 / 3, "pass_rate": 1 / 3,
    }  # fmt: skip
    assert [row["id"] for row in result.to_dict()["results"]] == ["good", "bad", 7]
    assert result["score"] == result["score/iou_score"] == 1 / 3
    assert result.incomplete
    assert "could not be judged: 7" in str(result)
    assert next(result.outcomes().rows())["verdict"] == "pass"


def test_weights_and_own_evaluators_of_a_case(write: Write) -> None:
    text = """
evaluators:
  - {type: iou_score, bbox_path: b, expected_bbox_path: b, threshold: 0.5, weight: 3}
cases:
  - id: one
    output: {b: [0, 0, 2, 2], p: [0, 0]}
    expected: {b: [0, 0, 2, 2], p: [9, 9]}
    evaluators:
      - {type: coordinate_distance, point_path: p, expected_point_path: p, threshold: 1, name: center}
      - {type: iou_score, bbox_path: b, expected_bbox_path: b}
"""
    result = Suite.load(write(text)).run()
    assert [row["evaluator"] for row in result.listed()] == ["iou_score", "center", "iou_score 2"]
    assert result["score"] == (3 * 1 + 0 + 1) / 5


def test_data_is_streamed_and_the_same_for_any_number_of_jobs(write: Write) -> None:
    write(lines(650), "cases.jsonl")
    suite = Suite.load(write(HEAD + "data: cases.jsonl\n"))
    chunks = list(suite.stream())
    assert len(chunks) > 3
    here, there = suite.run(), suite.run(jobs=2)
    assert here.to_json() == there.to_json()
    assert [row["id"] for row in there.listed()] == [f"c{k}" for k in range(650)]


def test_workers_log_where_they_were_asked(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    suite = Suite.load(write(HEAD), data=write(lines(401), "cases.jsonl"))
    suite.run(jobs=2)
    assert len(caplog.records) == len([k for k in range(401) if k % 3 == 0])


def test_what_a_worker_does(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    suite = Suite.load(write(HEAD.replace("0.5", "0.5, verdict_ranges: {pass: 0.9, partial: 0.5}") + CASES))
    assert [record.getMessage() for record in caplog.records] == ["iou_score: verdict_ranges do nothing beside a threshold"]
    caplog.clear()
    judging = pickle.loads(pickle.dumps(Judging(suite.bench)))
    judged = judging(list(suite.cases()))
    assert judged.records == [(40, "expected: b is missing")]
    assert not caplog.records
    assert [row.to_dict() for row in judged.rows] == [row.to_dict() for chunk in suite.stream() for row in chunk]
    assert len(caplog.records) == 1


def test_evaluators_of_one_type_are_numbered(write: Write) -> None:
    text = """
evaluators:
  - {type: coordinate_distance, point_path: p, expected_point_path: p, threshold: 1}
  - {type: coordinate_distance, point_path: p, expected_point_path: p, threshold: 2}
  - {type: own}
  - {type: own}
cases: [{output: {p: [1]}, expected: {p: [2.5]}}]
"""
    suite = Suite.load(write(text), evaluators={"own": lambda _output, _expected: 1})
    assert [(row["evaluator"], row["score"]) for row in suite.run().listed()] == [
        ("coordinate_distance", 0.0), ("coordinate_distance 2", 1.0), ("own", 1.0), ("own 2", 1.0),
    ]  # fmt: skip
    assert suite.corpus().units() == ("case 1",)
    assert "1 case>" in repr(suite.corpus())


def test_selecting(write: Write) -> None:
    suite = Suite.load(write(HEAD + CASES))

    def ids(**wish: Any) -> list[Any]:
        return [case.id for case in suite.cases(Selection(**wish))]

    assert ids(ids=("go*", "7")) == ["good", 7]
    assert ids(tags=("hard", "small")) == ["good", "bad"]
    assert ids(only=frozenset({7})) == [7]
    with pytest.raises(ConfigError, match="no case matches"):
        suite.run(selection=Selection(ids=("x",)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "a suite is a mapping"),
        (HEAD, "the suite has no cases"),
        (HEAD + "cases: []", "the suite has no cases"),
        (HEAD + "cases: 5", "line 3 column 1: cases is a list, not 5"),
        ("evaluators: 5\n" + CASES, "evaluators is a list, not 5"),
        ("evaluators: [5]\n" + CASES, "line 1 column 14: an evaluator is a mapping with a type, not 5"),
        (CASES, "line 2 column 5: the case 'good' has no evaluators"),
        (HEAD + "cass: []\n" + CASES, "unknown key 'cass' in a suite; did you mean 'cases'?"),
        (HEAD + "data: x.jsonl\n" + CASES, "cases or data, not both"),
        (HEAD + "data: 5", "data names a file (JSONL, JSON or CSV) or several, not 5"),
        (HEAD + "cases: [5]", "line 3 column 9: a case is a mapping"),
        (
            HEAD + "cases:\n- {idd: 1, output: 1, expected: 1}",
            "line 4 column 4: unknown key 'idd' in a case; did you mean 'id'?",
        ),
        (HEAD + "cases:\n- {id: [1]}", "the id of a case is text"),
        (HEAD + "cases:\n- {id: true}", "the id of a case is text"),
        (HEAD + "cases:\n- {tags: 5}", "tags are a list of words"),
        (HEAD + "cases:\n- {evaluators: 5}", "evaluators are a list"),
        (HEAD + "cases:\n- {id: a}\n- {id: a}", "line 5 column 3: the id 'a' was used before, at line 4 column 3"),
        (HEAD + "cases:\n- evaluators:\n  - {type: nope}", 'line 5 column 6: unknown evaluator type "nope"'),
        (HEAD + "gate: 5\n" + CASES, "gate is a mapping"),
        (HEAD + "gate: {}\n" + CASES, "gate is a mapping"),
        (HEAD + "gate: {mean_score: 7}\n" + CASES, "line 3 column 8: mean_score must be in [0, 1]"),
        (
            HEAD + "gate: {evaluators: {iou_scor: 1}}\n" + CASES,
            "line 3 column 21: no evaluator is named 'iou_scor'; did you mean",
        ),
        (HEAD + "gate: {evaluators: 3}\n" + CASES, "the minima of evaluators are a mapping"),
    ],
    ids=lambda value: value[-30:].replace("\n", "/"),
)
def test_suites_that_are_refused(write: Write, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Suite.load(write(text))
    assert "suite.yaml" in str(raised.value)
    assert message in str(raised.value)


def test_a_suite_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Suite.load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ('{"id": 1}\n\n{"id": 1}', ConfigError, "line 3: the id 1 was used before, at line 1"),
        ("[" * 100_000, ContractError, "nested too deeply"),
        ("", ConfigError, "there are no cases"),
    ],
    ids=str,
)
def test_data_that_is_refused(write: Write, data: str, error: type[Exception], message: str) -> None:
    write(data, "cases.jsonl")
    suite = Suite.load(write(HEAD + "data: cases.jsonl"))
    with pytest.raises(error) as raised:
        suite.run()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("line", "identity", "message"),
    [
        (b'{"id": 2', "line 2", "cases.jsonl: line 2 column 9: is not JSON"),
        (b'{"id": 2, "id": 3}', 3, "line 2: the key 'id' occurs twice"),
        (b'{"id": 2, "output": {"b": 1, "b" : 1}}', 2, "line 2: /output: the key 'b' occurs twice"),
        (b'{"idd": 1}', "line 2", "line 2: unknown key 'idd' in a case; did you mean 'id'?"),
        (b'{"id": 2, "evaluators": [{"type": "nope"}]}', 2, "line 2: unknown evaluator type"),
        (b'{"id": "\xff"}', "line 2", "line 2: is not UTF-8"),
        (b"5", "line 2", "line 2: a case is a mapping with output and expected, not 5"),
    ],
    ids=str,
)
def test_a_broken_line_is_an_error_of_that_case(tmp_path: Path, write: Write, line: bytes, identity: Any, message: str) -> None:
    good = b'{"id": "%s", "output": {"b": [0, 0, 1, 1]}, "expected": {"b": [0, 0, 1, 1]}}\n'
    (tmp_path / "cases.jsonl").write_bytes(good % b"first" + line + b"\n" + good % b"last")
    result = Suite.load(write(HEAD + "data: cases.jsonl")).run()
    assert {key: result[key] for key in ("cases", "pass", "fail", "error")} == {"cases": 3, "pass": 2, "fail": 0, "error": 1}
    told = result.to_dict()["results"][1]
    assert (told["id"], told["status"]) == (identity, "error")
    assert message in told["reasoning"]


def test_data_that_is_not_there(write: Write) -> None:
    with pytest.raises(ContractError, match="does not exist"):
        Suite.load(write(HEAD + "data: cases.jsonl")).run()


@pytest.mark.parametrize(
    ("gate", "failures"),
    [
        ("", ["1 case failed"]),
        ("gate: {mean_score: 0.5}", []),
        ("gate: {mean_score: 0.51}", ["mean score 0.5000 is below 0.51"]),
        ("gate: {pass_rate: 0.9}", ["pass rate 0.5000 is below 0.9"]),
        ("gate: {evaluators: {iou_score: 0.6}}", ["the score of iou_score 0.5000 is below 0.6"]),
    ],
)
def test_gates(write: Write, gate: str, failures: list[str]) -> None:
    cases = "\n".join(line for line in CASES.splitlines() if "id: 7" not in line)
    suite = Suite.load(write(f"{HEAD}{gate}\n{cases}"))
    assert suite.gate.failures(suite.run().numbers) == failures


# As a task.


def test_both_sides_may_come_apart(write: Write) -> None:
    suite = Suite.load(write(HEAD + CASES))
    whole = suite.corpus()
    outputs = CaseCorpus(cases=tuple(Case(case.id, case.output, None) for case in whole.cases if case.id != "bad"))
    more = CaseCorpus(cases=(*outputs.cases, Case("stray", {"b": [0, 0, 1, 1]}, None)))
    result = Evaluator(suite.task()).update(whole, more).compute()
    told = {row["id"]: (row["verdict"], row["status"], row["misses"][:1]) for row in result.listed()}
    assert told["bad"] == ("fail", "ok", ["output: b is missing"])
    assert told["stray"] == ("fail", "error", ["expected: b is missing"])
    with pytest.raises(TypeError, match="CaseCorpus"):
        Evaluator(suite.task()).update({}, {})


@pytest.mark.parametrize(
    ("doors", "places"),
    [
        ("expected: rows.jsonl\nactual: rows.jsonl\n", ["line 1", "line 2"]),
        ("actual: rows.jsonl\n", ["line 1", "line 2"]),
        ("data: cases.jsonl\n", ["line 1", "line 2"]),
        ("cases:\n  - {id: a, output: {v: 1}}\n  - {id: b, output: {v: 1}}\n", ["line 3 column 5", "line 4 column 5"]),
    ],
)
def test_every_case_knows_its_line(write: Write, doors: str, places: list[str]) -> None:
    """Whichever door it comes through: servers put what they say of a case there."""
    write('{"id": "a", "v": 1}\n{"id": "b", "v": 1}\n', "rows.jsonl")
    write('{"id": "a", "output": {"v": 1}}\n{"id": "b", "output": {"v": 1}}\n', "cases.jsonl")
    suite = Suite.load(str(write(f"evaluators: [{{type: equals, path: v, value: 1}}]\n{doors}")))
    assert [row.case.place for rows in suite.stream() for row in rows] == places


def test_a_selection_is_a_setting_of_the_task(write: Write, tmp_path: Path) -> None:
    suite = Suite.load(write(HEAD + CASES))
    (tmp_path / "last.jsonl").write_text(
        '{"id": 7, "verdict": "fail", "status": "ok"}\n{"id": "good", "verdict": "pass", "status": "ok"}\n'
    )
    whole = suite.corpus()
    untagged = CaseCorpus(cases=tuple(replace(case, tags=()) for case in whole.cases))
    for wish, told in (
        ({"tags": ("hard",)}, "tag:hard"),
        ({"ids": ("go*",)}, "filter:go*"),
        ({"only": frozenset({7})}, "1 listed ("),
    ):
        result = suite.run(selection=Selection(**wish))
        assert told in str(result.signature)
        assert result.numbers["summary"]["cases"] == 1
        assert Evaluator(result.task).update(whole, untagged).compute().numbers == result.numbers
        stray = CaseCorpus(cases=(*untagged.cases, Case("stray", {"b": [0, 0, 1, 1]}, None)))
        assert Evaluator(result.task).update(whole, stray).compute().numbers == result.numbers, "what nobody asked for"
        with pytest.raises(MergeError):
            Evaluator(suite.task()).merge(Evaluator(result.task))
    assert suite.task(Selection(only=frozenset({7}))) == replace(suite.task(), only=str(tmp_path / "last.jsonl"))


def test_an_unknown_key_is_told_before_what_evaluators_lack(write: Write) -> None:
    with pytest.raises(ConfigError, match="unknown key 'gates' in a suite"):
        Suite.load(write("gates: {}\nevaluators: [{type: nonsense}]\n" + CASES))


def test_a_listed_result_has_the_keys_that_people_read(write: Write) -> None:
    result = Suite.load(write(HEAD + CASES)).run()
    for listed in result.listed():
        assert list(listed) == ["id", "evaluator", "score", "verdict", "hits", "misses", "reasoning", "metadata", "status"]


def test_a_selection_is_the_same_in_any_order_and_with_ids_of_both_kinds() -> None:
    selected = Checks(only=["b", 10, "a", 9, "b"], ids=("z", "y", "z"), tags=("t", "s"))
    assert (selected.only, selected.ids, selected.tags) == ((9, 10, "a", "b"), ("y", "z"), ("s", "t"))
    assert Checks(only=[9, "a", 10, "b"], ids=("y", "z"), tags=("s", "t")) == selected


def test_the_code_of_own_evaluators_is_in_the_signature(write: Write, tmp_path: Path) -> None:
    suite = write("evaluators: [{type: own}]\ncases: [{output: 1, expected: 1}]\n")
    signatures = set()
    for name, text in (("a.py", "1"), ("b.py", "1"), ("c.py", "0.5")):
        (tmp_path / name).write_text(f"def judge(output, expected): return {text}\n")
        result = Suite.load(suite, evaluators={"own": f"{tmp_path / name}:judge"}).run()
        signatures.add(str(result.signature))
    assert len(signatures) == 2
    by_text, by_name = (
        Suite.load(suite, evaluators={"own": function}).task().own for function in (lambda _output, _expected: 1, max)
    )
    assert len({by_text, by_name}) == 2


@pytest.mark.parametrize(
    ("file", "reason"), [("none.py", "no such file or directory"), (".", "is a folder"), ("a\0b.py", "no such file")]
)
def test_an_evaluator_whose_code_cannot_be_had_is_told(file: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{re.escape(file)}: .*{reason}"):
        identities({"own": f"{file}:judge"}, ())


def test_states_know_their_evaluators(write: Write) -> None:
    suite = Suite.load(write(HEAD + CASES))
    evaluator = Evaluator(suite.task()).update(suite.corpus(), suite.corpus())
    again = Evaluator.from_state(evaluator.state()).compute()
    assert again.to_json() == evaluator.compute().to_json()
    assert re.fullmatch(r"calque \S+ \| checks \| evaluators:1 \([0-9a-f]{12}\)", str(again.signature))
    assert '"threshold":0.5' in again.task.evaluators[0]
    assert again.task == Checks.of(suite.bench.configs)


# Evaluators of one's own.

OWN = """evaluators:
  - {type: own, threshold: 0.5, timeout: 600, options: {limit: 3}}
cases:
  - {id: one, output: 2, expected: 5}
"""


def run_own(write: Write, function: Any, timeout: float = 600) -> Outcome:
    suite = Suite.load(write(OWN.replace("600", str(timeout))), evaluators={"own": function})
    return next(iter(suite.stream()))[0].outcome


@pytest.mark.parametrize(
    ("returned", "score", "verdict"),
    [
        (True, 1.0, "pass"),
        (0.25, 0.25, "fail"),
        ({"score": 0.5, "hits": ["a"], "metadata": {"x": 1}}, 0.5, "pass"),
        ({"score": 1, "verdict": "partial"}, 1.0, "partial"),
        (Outcome(0.3, Verdict.PARTIAL), 0.3, "partial"),
    ],
)
def test_what_a_function_may_return(write: Write, returned: Any, score: float, verdict: str) -> None:
    outcome = run_own(write, lambda output, expected, limit: returned if (output, expected, limit) == (2, 5, 3) else None)
    assert (outcome.score, outcome.verdict, outcome.status) == (score, verdict, "ok")


def raise_it(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *_, **__: 7, "not a score from 0 to 1"),
        (lambda *_, **__: None, "not a score"),
        (lambda *_, **__: {"scroe": 1}, "unknown key 'scroe'"),
        (lambda *_, **__: {"score": 1, "metadata": {"x": float("nan")}}, "raised ValueError"),
        (lambda *_, **__: {"score": 1, "metadata": {"x": object()}}, "raised TypeError"),
        (lambda *_, **__: {"score": 1, "verdict": "maybe"}, "'maybe' is not a valid Verdict"),
        (lambda *_, **__: Outcome(float("nan"), Verdict.PASS), "not a score"),
        (lambda *_, **__: raise_it(RuntimeError("broken")), "raised RuntimeError: broken"),
        (lambda *_, **__: raise_it(SystemExit(3)), "raised SystemExit"),
        (lambda *_: 1, "unexpected keyword argument 'limit'"),
    ],
)
def test_a_function_that_breaks_is_an_error_and_no_failure(write: Write, function: Any, message: str) -> None:
    outcome = run_own(write, function)
    assert (outcome.score, outcome.status) == (0.0, "error")
    assert message in outcome.reasoning


def test_a_function_that_takes_too_long_is_an_error_and_no_failure(write: Write) -> None:
    outcome = run_own(write, lambda *_, **__: time.sleep(600), timeout=0.2)
    assert (outcome.score, outcome.status) == (0.0, "error")
    assert "took longer than 0.2 s" in outcome.reasoning


def test_timeouts_outside_the_main_thread() -> None:
    def elsewhere(work: Callable[[], Any], seconds: float) -> Any:
        return run_in_background(lambda: with_timeout(work, seconds)).result()

    assert elsewhere(lambda: 5, 600) == 5
    with pytest.raises(TimeoutError):
        elsewhere(lambda: time.sleep(5), 0.05)
    with pytest.raises(KeyError):
        elsewhere(lambda: raise_it(KeyError()), 600)


def test_a_function_in_a_file_also_in_other_processes(write: Write, tmp_path: Path) -> None:
    own = write("def judge(output, expected, limit=1):\n    return abs(output - expected) <= limit\n", "own.py")
    write("".join(json.dumps({"id": k, "output": k, "expected": 3}) + "\n" for k in range(500)), "cases.jsonl")
    text = "evaluators:\n  - {type: near, options: {limit: 2}}\ndata: cases.jsonl\n"
    suite = Suite.load(write(text), evaluators={"near": f"{own}:judge"})
    result = suite.run(jobs=2)
    assert result["pass"] == 5
    assert result.to_json() == suite.run().to_json()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("own.py", "write file.py:function"),
        ("none.py:f", "none.py: cannot be read: no such file"),
        ("own.py:jugde", "did you mean 'judge'"),
        ("bad.py:f", "cannot be loaded: ZeroDivisionError"),
        ("own.txt:f", "is not a Python file"),
    ],
)
def test_functions_that_cannot_be_had(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, message: str
) -> None:
    write("def judge(output, expected):\n    return 1\n", "own.py")
    write("1 / 0", "bad.py")
    write("hello", "own.txt")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        Suite.load(write(OWN), evaluators={"own": reference})


def test_installed_evaluators(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from calque.checks.evaluators import custom

    entry = EntryPoint("own", "tests.unit.test_suites:accept", custom.GROUP)

    def entries(*, group: str, name: str = "own") -> list[EntryPoint]:
        return [entry] if (group, name) == (custom.GROUP, "own") else []

    monkeypatch.setattr(custom, "entry_points", entries)
    assert Suite.load(write(OWN)).run()["pass"] == 1
    with pytest.raises(ConfigError, match="did you mean 'own'"):
        Suite.load(write(OWN.replace("own", "owm")))


def accept(output: Any, expected: Any, limit: int) -> float:
    return 1.0


def test_a_suite_cannot_name_options_that_are_none(write: Write) -> None:
    with pytest.raises(ConfigError, match="options must be a mapping"):
        Suite.load(write(OWN.replace("{limit: 3}", "3")), evaluators={"own": accept})


# For editors.


def test_the_schema_accepts_what_the_loader_accepts() -> None:
    import jsonschema
    import yaml

    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = yaml.safe_load(HEAD + "gate: {mean_score: 0.5, evaluators: {iou_score: 0.1}}\n" + CASES)
    assert list(validator.iter_errors(good)) == []
    assert list(validator.iter_errors(yaml.safe_load(OWN))) == []
    for broken in (
        HEAD,
        HEAD + CASES + "foo: 1",
        HEAD.replace("threshold: 0.5", "threshold: 5") + CASES,
        HEAD.replace("threshold", "tresh") + CASES,
    ):
        assert list(validator.iter_errors(yaml.safe_load(broken)))


def test_a_file_that_is_gone_has_no_lines_to_count(tmp_path: Path) -> None:
    (tmp_path / "two.jsonl").write_text("{}\n{}\n")
    assert Inputs(data=(str(tmp_path / "two.jsonl"),)).lines() == 2
    assert Inputs(data=(str(tmp_path / "two.jsonl"), str(tmp_path / "gone.jsonl"))).lines() == 0
