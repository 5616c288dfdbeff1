"""Programs as evaluators and as the system under test: only where they are allowed, in time, and never through a shell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError
from calque.checks import Suite, evaluator

CASES = "cases:\n- {id: a, output: 1, expected: 1}\n- {id: b, output: 1, expected: 2}\n"
JUDGE = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"score": asked["output"] == asked["expected"], "metadata": {"told": asked["options"]}}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "judge.py").write_text(JUDGE)
    return tmp_path


def suite_of(folder: Path, config: dict[str, Any], rest: str = CASES, **options: Any) -> Suite:
    """A suite with one program as its evaluator."""
    (folder / "suite.yaml").write_text(f"evaluators: [{json.dumps({'type': 'command', **config})}]\n{rest}")
    return Suite.load(folder / "suite.yaml", **{"allow_commands": True, **options})


def results(suite: Suite) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = suite.run().to_dict()["results"]
    return told


def test_programs_are_refused_unless_they_are_allowed(folder: Path) -> None:
    config = {"command": [sys.executable, "judge.py"]}
    with pytest.raises(ConfigError, match=r"line 1 column 34: commands are not run unless you allow it.*--allow-commands"):
        suite_of(folder, config, allow_commands=False)
    with pytest.raises(ConfigError, match="commands are not run"):
        evaluator({"type": "command", **config})
    (folder / "suite.yaml").write_text(
        f"system: {{command: [{sys.executable}]}}\nevaluators: [{{type: equals}}]\ncases: [{{id: 1}}]"
    )
    with pytest.raises(ConfigError, match=r"line 1 column 10: commands are not run"):
        Suite.load(folder / "suite.yaml")


def test_a_program_judges(folder: Path) -> None:
    told = results(suite_of(folder, {"command": [sys.executable, "judge.py"], "options": {"a": [1]}}))
    assert [(row["verdict"], row["score"], row["status"]) for row in told] == [("pass", 1.0, "ok"), ("fail", 0.0, "ok")]
    assert told[0]["metadata"] == {"told": {"a": [1]}}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import sys; sys.exit('no licence')", "the evaluator command ended with code 1: no licence"),
        ("print('hello')", "did not answer with JSON"),
        ("print('NaN')", "did not answer with JSON"),
        ("print('7')", "gave an answer that is no result: it returned 7 and not a score from 0 to 1"),
        ("import time; time.sleep(60)", "took longer than 0.2 s"),
    ],
)
def test_a_program_that_breaks_is_an_error(folder: Path, script: str, message: str) -> None:
    timeout = 0.2 if "sleep" in script else 60
    told = results(suite_of(folder, {"command": [sys.executable, "-c", script], "timeout": timeout}))
    assert [row["status"] for row in told] == ["error", "error"]
    assert message in told[0]["reasoning"]


def test_a_program_that_is_not_there(folder: Path) -> None:
    assert "could not be started: no such file" in results(suite_of(folder, {"command": ["no-such-program"]}))[0]["reasoning"]


def test_there_is_no_shell(folder: Path) -> None:
    told = results(suite_of(folder, {"command": ["echo", "1 > made; touch made"]}))
    assert not (folder / "made").exists()
    assert "did not answer with JSON" in told[0]["reasoning"]
    with pytest.raises(ConfigError, match="there is no shell"):
        suite_of(folder, {"command": "touch made"})


COUNTED = """
import json, pathlib, sys
times = pathlib.Path("times"); n = int(times.read_text()) + 1 if times.exists() else 1
times.write_text(str(n))
sys.exit(1) if n < int(sys.argv[1]) else print("1")
"""


def test_it_is_asked_again_when_it_fails(folder: Path) -> None:
    (folder / "flaky.py").write_text(COUNTED)
    one = "cases: [{id: a, output: 1, expected: 1}]"
    config = {"command": [sys.executable, "flaky.py", "3"]}
    assert results(suite_of(folder, {**config, "retries": 2}, one))[0]["verdict"] == "pass"
    assert (folder / "times").read_text() == "3"
    (folder / "times").unlink()
    assert results(suite_of(folder, {**config, "retries": 1}, one))[0]["status"] == "error"
    (folder / "times").unlink()
    at_once = {"command": [sys.executable, "flaky.py", "1"], "retries": 2}
    assert results(suite_of(folder, at_once, one))[0]["verdict"] == "pass"
    assert (folder / "times").read_text() == "1", "and no more when it answers"


def test_answers_are_kept_by_content(folder: Path) -> None:
    (folder / "count.py").write_text(COUNTED)
    config = {"command": [sys.executable, "count.py", "0"]}
    cache = folder / "kept"

    def times() -> int:
        return int((folder / "times").read_text())

    first = results(suite_of(folder, config, cache=cache))
    assert times() == 2
    assert results(suite_of(folder, config, cache=cache)) == first
    assert times() == 2  # nothing was asked
    results(suite_of(folder, config, CASES.replace("output: 1, expected: 2", "output: 1, expected: 3"), cache=cache))
    assert times() == 3  # one case is new
    (folder / "count.py").write_text(COUNTED + "# another version\n")
    results(suite_of(folder, config, cache=cache))
    assert times() == 5  # and now the program
    (folder / "judge.py").write_text(JUDGE + "# a module that the program may import\n")
    results(suite_of(folder, config, cache=cache))
    assert times() == 7
    results(suite_of(folder, {**config, "cache": False}, cache=cache))
    assert times() == 9


def test_a_system_under_test_gives_the_outputs(folder: Path) -> None:
    (folder / "system.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "sys.exit('broken') if asked['id'] == 'c' else print(json.dumps({'twice': asked['input'] * 2}))\n"
    )
    (folder / "suite.yaml").write_text(
        f"system: {{command: [{sys.executable}, system.py]}}\nevaluators: [{{type: equals}}]\ncases:\n"
        "- {id: a, input: 2, expected: {twice: 4}}\n- {id: b, input: x, expected: {twice: x}}\n"
        "- {id: c, input: 1, expected: 1}\n"
    )
    told = results(Suite.load(folder / "suite.yaml", allow_commands=True))
    assert [(row["verdict"], row["status"]) for row in told] == [("pass", "ok"), ("fail", "ok"), ("fail", "error")]
    assert told[2]["reasoning"] == "the system ended with code 1: broken"


def test_a_system_takes_its_inputs_from_files_too(folder: Path) -> None:
    (folder / "system.py").write_text("import json, sys\nprint(json.dumps({'kind': json.load(sys.stdin)['input']}))\n")
    (folder / "truth.jsonl").write_text('{"id": 1, "input": "x", "kind": "x"}\n{"id": 2, "input": "y", "kind": "x"}\n')
    (folder / "suite.yaml").write_text(
        f"system: {{command: [{sys.executable}, system.py]}}\n"
        "evaluators: [{type: equals, path: kind}]\nexpected: truth.jsonl\n"
    )
    told = results(Suite.load(folder / "suite.yaml", allow_commands=True))
    assert [row["verdict"] for row in told] == ["pass", "fail"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "command needs 'command'"),
        ({"command": []}, "command must be a list of texts"),
        ({"command": [""]}, "must begin with the name of a program"),
        ({"command": ["a"], "retries": -1}, "retries must be a whole number from 0 to 100"),
        ({"command": ["a"], "cache": "x"}, "cache must be true or false"),
        ({"command": ["a"], "timeout": 0}, "timeout must be in (0, 86400]"),
    ],
)
def test_settings_are_checked_at_load(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        evaluator({"type": "command", **config}, allow_commands=True)
    assert message in str(raised.value)
