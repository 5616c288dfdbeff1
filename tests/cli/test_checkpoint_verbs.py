"""Every verb that evaluates has checkpoints and workers: whatever is kept, and however many work, the same bits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from calque.checks.suites.runner import CHUNK, SOON
from tests.conftest import Run

Calque: TypeAlias = Callable[..., Run]

CASES = 2 * CHUNK + 30
SUITE = "evaluators:\n  - {type: fields, measure: cm_f1}\n  - {type: equals}\ndata: cases.jsonl\n"
VERBS: dict[str, list[str]] = {
    "detect": ["detect", "truth.ndjson", "one.ndjson"],
    "layout": ["layout", "truth.ndjson", "one.ndjson"],
    "ceiling": ["ceiling", "truth.ndjson", "one.ndjson", "two.ndjson"],
    "compare": ["compare", "truth.ndjson", "one.ndjson", "two.ndjson", "--replicates", "100"],
    "compare words": ["compare", "--task", "words", "texts", "read", "texts", "--replicates", "100"],
    "compare suites": ["compare", "plain.yaml", "cases.jsonl", "others.jsonl", "--replicates", "100"],
    "fields": ["fields", "records", "records2"],
    "words": ["words", "texts", "read"],
    "tables": ["tables", "grids", "grids2"],
    "order": ["order", "order.json", "order2.json"],
    "check": ["check", "suite.yaml"],
}


def page(number: int, shift: int, **more: Any) -> str:
    boxes = [[10 * place + shift, 10, 10 * place + 8, 20 + number] for place in range(3)]
    return json.dumps({"doc_id": f"d{number}", "page_index": 0, "boxes": boxes, "labels": ["Table", "Figure", "Table"], **more})


def folder_of(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for every verb."""
    home = tmp_path_factory.mktemp("inputs")
    scores = {"scores": [0.9, 0.5, 0.4]}
    (home / "truth.ndjson").write_text("".join(page(number, 0) + "\n" for number in range(9)))
    for name, shift in (("one", 1), ("two", 3)):
        (home / f"{name}.ndjson").write_text("".join(page(number, shift, **scores) + "\n" for number in range(9)))
    for name, last in (("texts", "not"), ("read", "nut")):
        folder_of(home / name, {f"{number}.txt": f"to be or {last} to be {number}" for number in range(9)})
    for name, total in (("records", 1), ("records2", 2)):
        folder_of(home / name, {f"{number}.json": json.dumps({"total": total * number, "who": "Ann"}) for number in range(9)})
    for name, cell in (("grids", "x"), ("grids2", "y")):
        table = f"<table><tr><td>a</td><td>{cell}</td></tr></table>"
        folder_of(home / name, {f"{number}.html": table for number in range(9)})
    for name, ways in (("order", "abc"), ("order2", "acb")):
        rows = [{"doc_id": f"d{number}", "page_index": 0, "order": list(ways)} for number in range(9)]
        (home / f"{name}.json").write_text(json.dumps(rows))
    (home / "suite.yaml").write_text(SUITE)
    (home / "plain.yaml").write_text("evaluators:\n  - {type: equals}\ndata: cases.jsonl\n")
    for name, step in (("cases", 3), ("others", 2)):
        cases = ({"id": number, "output": {"n": number % step}, "expected": {"n": number % 2}} for number in range(CASES))
        (home / f"{name}.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return home


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_kept_and_who_works_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, inputs: Path, tmp_path: Path, calque: Calque, verb: str
) -> None:
    monkeypatch.chdir(inputs)
    line = [*VERBS[verb], "--format", "json"]
    kept = ["--checkpoint", str(tmp_path / "kept")]
    plain = calque(*line, "--jobs", "1")
    assert plain.code in (0, 1), plain.err
    assert json.loads(plain.out)
    first, again = calque(*line, *kept, "--jobs", "2"), calque(*line, *kept, "--jobs", "3")
    assert plain.out == first.out == again.out
    assert (plain.code, plain.err) == (first.code, first.err)
    assert "taken from there" in again.err
    assert sorted((tmp_path / "kept").glob("*.state"))
    # A damaged state is told, done again, and replaced.
    for state in (tmp_path / "kept").iterdir():
        state.write_bytes(state.read_bytes()[:-3])
    mended = calque(*line, *kept, "--jobs", "1")
    assert mended.out == plain.out
    assert "warning" in mended.err
    assert "--save" not in mended.err
    assert calque(*line, *kept, "--jobs", "1").err == again.err


@pytest.mark.parametrize("line", [["tables", "grids", "grids2", "--show", "1"], ["words", "texts", "read", "--show", "1"]])
def test_what_only_shows_one_document_keeps_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, inputs: Path, tmp_path: Path, calque: Calque, line: list[str]
) -> None:
    monkeypatch.chdir(inputs)
    done = calque(*line, "--checkpoint", str(tmp_path / "kept"))
    assert done.code == 2
    assert "--checkpoint" in done.err
    assert not (tmp_path / "kept").exists()


def test_a_suite_does_again_what_was_changed(
    monkeypatch: pytest.MonkeyPatch, inputs: Path, tmp_path: Path, calque: Calque
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("suite.yaml", "cases.jsonl"):
        (tmp_path / name).write_text((inputs / name).read_text())
    line = [*VERBS["check"], "--format", "json", "--checkpoint", "kept", "--jobs", "1"]
    chunks = -(-CASES // SOON)
    calque(*line)
    assert len(list((tmp_path / "kept").iterdir())) == chunks
    lines = (tmp_path / "cases.jsonl").read_text().splitlines()
    lines[SOON] = json.dumps({"id": "new", "output": {"n": 7}, "expected": {"n": 7}})
    (tmp_path / "cases.jsonl").write_text("\n".join(lines) + "\n")
    assert f"{chunks - 1} finished parts" in calque(*line).err
    (tmp_path / "suite.yaml").write_text(SUITE.replace("{type: equals}", "{type: equals, weight: 2}"))
    assert "finished" not in calque(*line).err


def test_cases_that_could_not_be_judged_are_asked_again(
    monkeypatch: pytest.MonkeyPatch, inputs: Path, tmp_path: Path, calque: Calque
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text((inputs / "suite.yaml").read_text())
    sound = [{"id": number, "output": {"n": 1}, "expected": {"n": 1}} for number in range(SOON)]
    line = [*VERBS["check"], "--format", "json", "--checkpoint", "kept", "--jobs", "1"]
    broken = [{**sound[0], "expected": "no record"}, *sound[1:]]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, broken)))
    assert calque(*line).code == 3
    assert not list((tmp_path / "kept").iterdir())
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, sound)))
    assert calque(*line).code == 0
    assert list((tmp_path / "kept").iterdir())


OWN_CODE = {
    "function": ("evaluators: [{type: mine}]\n", ["--evaluator", "mine=own.py:judge"]),
    "program": (f"evaluators: [{{type: command, command: [{sys.executable}, own.py]}}]\n", ["--allow-commands"]),
    "system": (
        f"system: {{command: [{sys.executable}, own.py]}}\nevaluators: [{{type: equals, value: 1}}]\n",
        ["--allow-commands"],
    ),
    "function of one case": ("evaluators: [{type: equals, value: 0}]\n", ["--evaluator", "mine=own.py:judge"]),
}


@pytest.mark.parametrize("kind", OWN_CODE)
def test_suite_with_code_of_the_users_own_keeps_nothing_and_follows_what_that_code_imports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, calque: Calque, kind: str
) -> None:
    """The module that the code imports is not among the files that the command names."""
    monkeypatch.chdir(tmp_path)
    evaluators, options = OWN_CODE[kind]
    case = {"id": "a", **({} if kind == "system" else {"output": 0})}
    if kind == "function of one case":
        case["evaluators"] = [{"type": "mine"}]
    (tmp_path / "suite.yaml").write_text(evaluators + "data: cases.jsonl\n")
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\ndef judge(*sides): return float(Path('helper').read_text())\n"
        "if __name__ == '__main__': print(int(judge()))\n"
    )
    line = ["check", "suite.yaml", *options, "--format", "jsonl", "--checkpoint", "kept"]
    codes = []
    for answer in ("1", "0", "1"):
        (tmp_path / "helper").write_text(answer)
        done = calque(*line)
        codes.append(done.code)
        if kind != "function of one case":
            assert "suite.yaml" in done.err
            assert "checkpoint" in done.err
    assert codes == [0, 1, 0]
    assert not list((tmp_path / "kept").glob("*.state"))


@pytest.mark.parametrize("lost", ["nothing", "what ends each file", "a batch of each file"])
def test_what_was_noticed_is_told_as_often_as_before(calque: Calque, tmp_path: Path, lost: str) -> None:
    """Once for each time that it occurs, whatever of it comes from the checkpoint and what is done again."""
    for shard in range(2):
        rows = [{"id": f"{shard}{row}", "a": {"_value": "x", "_bbox": [row]}, "b": row} for row in range(3)]
        for side in ("truth", "found"):
            (tmp_path / f"{side}-{shard}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "schema.json").write_text(json.dumps({"fields": {"a": {"type": "str"}, "b": {"type": "str"}}}))
    given = ("fields", "truth-*.jsonl", "found-*.jsonl", "--schema", "schema.json", "--id", "id", "--format", "json")
    plain = calque(*given).json
    assert {issue["code"]: issue["count"] for issue in plain["issues"] if issue["file"] == "truth-0.jsonl"} == {"odd-box": 3}
    assert calque(*given, "--checkpoint", "kept").json == plain
    for state in (tmp_path / "kept").iterdir():
        if lost != "nothing" and ("-" in state.name) == (lost == "a batch of each file"):
            state.unlink()
    assert calque(*given, "--checkpoint", "kept").json == plain
