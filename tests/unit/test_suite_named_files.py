"""What a suite and its data may name: files that are regular and within limits, schemas, programs and code."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, ContractError
from calque.checks import Suite, evaluator
from calque.checks.suites import named_files
from tests.conftest import Run

INTEGER = '{"type": "integer"}'


def results(suite: Suite) -> dict[Any, list[tuple[str, str]]]:
    found: dict[Any, list[tuple[str, str]]] = {}
    for chunk in suite.stream():
        for row in chunk:
            found.setdefault(row.case.id, []).append((str(row.outcome.verdict), str(row.outcome.status)))
    return found


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# Schemas in files.


def test_schema_file_in_the_evaluators_of_a_case_is_read_from_the_suites_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "suites/schemas/whole.json", INTEGER)
    own = "evaluators: [{type: json_schema, schema: schemas/whole.json}]"
    suite = write(tmp_path, "suites/s.yaml", f"cases:\n- {{id: a, output: 1, {own}}}\n- {{id: b, output: x, {own}}}\n")
    monkeypatch.chdir(tmp_path)
    assert results(Suite.load(suite)) == {"a": [("pass", "ok")], "b": [("fail", "ok")]}


def test_schema_file_in_the_evaluators_of_a_case_that_is_missing_is_a_config_error(tmp_path: Path) -> None:
    suite = write(tmp_path, "s.yaml", "cases:\n- {id: a, output: 1, evaluators: [{type: json_schema, schema: gone.json}]}\n")
    with pytest.raises(ConfigError, match=r"line 2 .*gone\.json"):
        Suite.load(suite)


def test_schema_file_named_by_a_line_of_data_is_an_error_of_its_case(tmp_path: Path) -> None:
    write(tmp_path, "whole.json", INTEGER)
    own = [{"type": "json_schema", "schema": "whole.json"}]
    lines = [{"id": "a", "output": 1, "evaluators": own}, {"id": "b", "output": 1}]
    write(tmp_path, "d.jsonl", "\n".join(map(json.dumps, lines)))
    suite = write(tmp_path, "s.yaml", "data: d.jsonl\nevaluators: [{type: json_schema, schema: whole.json}]\n")
    assert results(Suite.load(suite)) == {"a": [("fail", "error")], "b": [("pass", "ok")]}


# Programs and code.


def test_program_named_by_a_line_of_data_is_not_run_though_programs_are_allowed(calque: Run, tmp_path: Path) -> None:
    run_me = [sys.executable, "-c", "open('executed', 'w'); print(1)"]
    own = [{"type": "command", "command": run_me}]
    lines = [{"id": "a", "output": 1, "evaluators": own}, {"id": "b", "output": 1}]
    write(tmp_path, "d.jsonl", "\n".join(map(json.dumps, lines)))
    write(tmp_path, "d.json", json.dumps(lines))
    write(tmp_path, "d.csv", "id,output,evaluators\na,1," + '"' + json.dumps(own).replace('"', '""') + '"\n')
    for data in ("d.jsonl", "d.json", "d.csv"):
        suite = write(tmp_path, "s.yaml", f"data: {data}\nevaluators: [{{type: contains, value: x, negate: true}}]\n")
        done = calque("check", str(suite), "--allow-commands", "--format", "jsonl")
        assert (json.loads(done.out.splitlines()[0])["status"], done.code) == ("error", 3)
        assert not (tmp_path / "executed").exists()


def test_program_named_by_a_case_of_the_suite_is_run_where_programs_are_allowed(tmp_path: Path) -> None:
    own = json.dumps([{"type": "command", "command": [sys.executable, "-c", "print(1)"]}])
    suite = write(tmp_path, "s.yaml", f"cases: [{{id: a, output: 1, evaluators: {own}}}]")
    assert results(Suite.load(suite, allow_commands=True)) == {"a": [("pass", "ok")]}
    with pytest.raises(ConfigError):
        Suite.load(suite)


def test_code_named_by_a_line_of_data_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file, nor a module, nor a class of fields, nor the file of a task's setting."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, "own_code.py", "open('executed', 'w')\nclass Model: pass\ndef judge(output, expected): return 1.0\n")
    named = [
        {"type": "own_code.py:judge"},
        {"type": "own_code:judge"},
        {"type": "fields", "measure": "cm_f1", "options": {"schema": "own_code.py:Model"}},
        {"type": "fields", "measure": "cm_f1", "options": {"schema": "own_code:Model"}},
        {"type": "detect", "measure": "recall@0.5", "options": {"class_map": "own_code.py"}},
        {"type": "words", "measure": "recall", "options": {"lattice": "own_code.py"}},
    ]
    lines = [{"id": number, "output": 1, "expected": 1, "evaluators": [own]} for number, own in enumerate(named)]
    write(tmp_path, "d.jsonl", "\n".join(map(json.dumps, lines)))
    suite = Suite.load(write(tmp_path, "s.yaml", "data: d.jsonl\nevaluators: [{type: equals}]\n"), allow_commands=True)
    assert set(map(tuple, results(suite).values())) == {(("fail", "error"),)}
    assert not (tmp_path / "executed").exists()


def test_installed_evaluator_is_used_by_data_only_where_the_suite_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(site, "plugin_code.py", "def judge(output, expected): return 1.0\n")
    write(site, "plugin-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    write(site, "plugin-1.0.dist-info/entry_points.txt", "[calque.evaluators]\nplugged = plugin_code:judge\n")
    monkeypatch.syspath_prepend(site)
    write(tmp_path, "d.jsonl", json.dumps({"id": "a", "output": 1, "expected": 1, "evaluators": [{"type": "plugged"}]}))
    suite = write(tmp_path, "s.yaml", "data: d.jsonl\nevaluators: [{type: equals}]\n")
    assert results(Suite.load(suite)) == {"a": [("fail", "error")]}
    assert "plugin_code" not in sys.modules
    write(tmp_path, "s.yaml", "data: d.jsonl\nevaluators: [{type: equals}, {type: plugged}]\n")
    assert results(Suite.load(suite)) == {"a": [("pass", "ok")] * 3}
    monkeypatch.delitem(sys.modules, "plugin_code")


def test_evaluator_that_the_user_names_is_used_by_data(tmp_path: Path) -> None:
    write(tmp_path, "d.jsonl", json.dumps({"id": "a", "output": 1, "evaluators": [{"type": "mine"}]}))
    suite = write(tmp_path, "s.yaml", "data: d.jsonl\n")
    assert results(Suite.load(suite, evaluators={"mine": lambda _output, _expected: 1})) == {"a": [("pass", "ok")]}


def test_task_settings_that_are_files_take_their_content() -> None:
    config = {"type": "detect", "measure": "recall@0.5/Table", "options": {"class_map": {"tab": "Table"}}}
    boxes = [{"bbox": [0, 0, 9, 9], "label": "tab", "score": 1}]
    assert evaluator(config).evaluate(boxes, boxes).verdict == "pass"


# What is not a regular file.


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: a terabyte that takes no room


KINDS: list[Callable[[Path], None]] = [fifo, device, folder, endless]
SUITES = {
    "data": "data: NAME\nevaluators: [{type: equals}]\n",
    "pattern": "data: 'NAM?*'\nevaluators: [{type: equals}]\n",
    "expected": "expected: NAME\nactual: fine.jsonl\nevaluators: [{type: equals}]\n",
    "actual": "expected: fine.jsonl\nactual: NAME\nevaluators: [{type: equals}]\n",
    "schema": "evaluators: [{type: json_schema, schema: NAME}]\ncases: [{id: 1, output: 1}]\n",
    "schema of a case": "cases: [{id: 1, output: 1, evaluators: [{type: json_schema, schema: NAME}]}]\n",
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and devices")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", SUITES.values(), ids=SUITES)
def test_suite_that_names_what_is_not_a_regular_file_is_refused(
    calque: Run, tmp_path: Path, text: str, kind: Callable[[Path], None]
) -> None:
    kind(tmp_path / "NAME")
    write(tmp_path, "fine.jsonl", '{"id": 1}\n')
    done = calque("check", str(write(tmp_path, "s.yaml", text)))
    assert done.code == 2
    assert "NAM" in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and devices")
@pytest.mark.parametrize("kind", KINDS)
def test_suite_or_code_that_is_not_a_regular_file_is_refused(calque: Run, tmp_path: Path, kind: Callable[[Path], None]) -> None:
    kind(tmp_path / "odd.yaml")
    kind(tmp_path / "odd.py")
    assert calque("check", str(tmp_path / "odd.yaml")).code == 2
    suite = write(tmp_path, "s.yaml", "evaluators: [{type: mine}]\ncases: [{id: 1, output: 1}]\n")
    done = calque("check", str(suite), "--evaluator", f"mine={tmp_path / 'odd.py'}:judge")
    assert done.code == 2
    assert "odd.py" in done.err


@pytest.mark.parametrize(("name", "code"), [("array.json", "file-too-large"), ("lines.jsonl", "line-too-long")])
def test_data_beyond_its_limit_is_refused(tmp_path: Path, name: str, code: str) -> None:
    """A sparse file of zeros after a sound beginning."""
    path = write(tmp_path, name, "[\n" if name == "array.json" else '{"id": 1}\n')
    with path.open("ab") as file:
        file.truncate(named_files.LONGEST_LINE + 100)
    with pytest.raises(ContractError) as raised:
        results(Suite.load(write(tmp_path, "s.yaml", f"data: {name}\nevaluators: [{{type: equals}}]\n")))
    assert [issue.code for issue in raised.value.issues] == [code]


# Patterns.

TREE = [
    "a.jsonl", "b.txt", "sub/a.jsonl", "sub/deep/a.jsonl", "sub/deep/c.jsonl.gz", ".hidden/a.jsonl", "sub/.a.jsonl",
    "x[1].jsonl", "other/sub/b.jsonl",
]  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    ["*.jsonl", "**/*.jsonl", "**", "*/*", "*/a.jsonl", "sub/**/*", "**/deep/*", "**/sub/**/*.jsonl", ".*/*", "sub/../*.txt",
     "[ab].*", "**/**/a.jsonl", "none*", "./*.jsonl", "sub/*/", "**/.a*"],
)  # fmt: skip
def test_pattern_of_a_suite_matches_the_files_that_glob_matches(tmp_path: Path, pattern: str) -> None:
    for name in TREE:
        write(tmp_path, name, "")
    with contextlib.chdir(tmp_path):
        right = {os.path.normpath(path) for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)}
        found = {os.path.normpath(path) for path in named_files.found_files(pattern)}
        assert found == (right or {os.path.normpath(pattern)})
    whole = {os.path.normpath(path) for path in named_files.found_files(os.path.join(tmp_path, pattern))}
    assert whole == ({str(tmp_path / path) for path in right} or {os.path.normpath(tmp_path / pattern)})


def test_pattern_that_matches_too_many_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(named_files.MOST_FILES + 1):
        (tmp_path / "many" / f"{number}.jsonl").touch()
    suite = write(tmp_path, "s.yaml", "data: 'many/*.jsonl'\nevaluators: [{type: equals}]\n")
    with pytest.raises(ConfigError, match=f"{named_files.MOST_FILES:,}"):
        Suite.load(suite)


def test_pattern_whose_walk_does_not_end_is_refused(tmp_path: Path) -> None:
    """Twenty links to their own folder: 20 ** 40 paths, none of which matches."""
    (tmp_path / "loop").mkdir()
    for number in range(20):
        (tmp_path / "loop" / f"link{number}").symlink_to(tmp_path / "loop", target_is_directory=True)
    suite = write(tmp_path, "s.yaml", "data: 'loop/**/link*/**/*.none'\nevaluators: [{type: equals}]\n")
    with pytest.raises(ConfigError, match=f"{named_files.MOST_ENTRIES:,}"):
        Suite.load(suite)
