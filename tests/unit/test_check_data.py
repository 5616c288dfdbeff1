"""The data of suites: two files joined by id, and every form that a file can have."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError
from calque.checks import Suite
from calque.checks.suites.data_files import entries

HEAD = "evaluators: [{type: equals, path: kind}]\n"
TRUTH = [{"doc_id": "a", "kind": "x", "tags": ["scan"]}, {"doc_id": 7, "kind": "y"}, {"doc_id": "c", "kind": "z"}]
RUN = [{"doc_id": "7", "kind": "y"}, {"doc_id": "a", "kind": "other"}, {"doc_id": "d", "kind": "w"}]


def write_csv(path: Path, rows: list[dict[str, Any]], separator: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, ["doc_id", "kind"], delimiter=separator, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows), encoding="utf-8")


def write_gzip(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


FORMS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "run.jsonl": write_lines,
    "run.json": write_json,
    "run.csv": write_csv,
    "run.tsv": lambda path, rows: write_csv(path, rows, "\t"),
    "run.jsonl.gz": write_gzip,
}


def outcomes(suite: Suite) -> dict[Any, tuple[str, str]]:
    return {row.case.id: (str(row.outcome.verdict), str(row.outcome.status)) for chunk in suite.stream() for row in chunk}


@pytest.mark.parametrize("name", FORMS)
def test_two_files_are_joined_by_id(tmp_path: Path, name: str) -> None:
    write_lines(tmp_path / "truth.jsonl", TRUTH)
    FORMS[name](tmp_path / name, RUN)
    (tmp_path / "suite.yaml").write_text(f"{HEAD}expected: truth.jsonl\nactual: {name}\nid: doc_id\n")
    suite = Suite.load(tmp_path / "suite.yaml")
    assert outcomes(suite) == {"a": ("fail", "ok"), 7: ("pass", "ok"), "c": ("fail", "ok"), "d": ("fail", "error")}
    told = {row["id"]: row["reasoning"] for row in suite.run().to_dict()["results"]}
    assert told["c"] == f"output: {name} has no entry with the id 'c'"
    assert "nothing is expected of the id 'd': truth.jsonl has no such entry" in told["d"]


@pytest.mark.parametrize("name", FORMS)
def test_the_other_side_may_have_any_form_too(tmp_path: Path, name: str) -> None:
    FORMS[name](tmp_path / name, TRUTH)
    write_lines(tmp_path / "found.jsonl", RUN)
    (tmp_path / "suite.yaml").write_text(f"{HEAD}expected: {name}\nactual: found.jsonl\nid: doc_id\n")
    result = Suite.load(tmp_path / "suite.yaml").run()
    assert {key: result[key] for key in ("pass", "fail", "error")} == {"pass": 1, "fail": 2, "error": 1}


def test_broken_and_repeated_entries_are_errors_of_their_cases(tmp_path: Path) -> None:
    (tmp_path / "truth.jsonl").write_text('{"id": "a", "kind": 1}\n{"id": "b", "kind": 1}\n{"kind": 1}\n{"id": 1.5}\n')
    (tmp_path / "run.jsonl").write_text('{"id": "a", "kind": 1}\n{"id": "a", "kind": 2}\n{"id"\n{"id": "b", "kind": 1}\n')
    (tmp_path / "suite.yaml").write_text(HEAD + "expected: truth.jsonl\nactual: run.jsonl\n")
    suite = Suite.load(tmp_path / "suite.yaml")
    assert outcomes(suite) == {
        "a": ("fail", "error"),
        "b": ("pass", "ok"),
        "expected line 3": ("fail", "error"),
        "expected line 4": ("fail", "error"),
        "actual line 3": ("fail", "error"),
    }
    told = {row["id"]: row["reasoning"] for row in suite.run().to_dict()["results"]}
    assert told["expected line 3"].endswith("truth.jsonl: line 3: has no 'id'")
    assert told["expected line 4"].endswith("truth.jsonl: line 4: has the id 1.5; give text or a whole number")


def test_each_side_may_name_its_id_and_several_files(tmp_path: Path) -> None:
    for number, row in enumerate(TRUTH):
        write_lines(tmp_path / f"truth-{number}.jsonl", [row])
    write_lines(tmp_path / "run.jsonl", [{"meta": {"name": row["doc_id"]}, "kind": row["kind"]} for row in TRUTH])
    text = "expected: truth-*.jsonl\nactual: [run.jsonl]\nid: {expected: doc_id, actual: meta.name}\n"
    (tmp_path / "suite.yaml").write_text(HEAD + text)
    suite = Suite.load(tmp_path / "suite.yaml")
    assert set(outcomes(suite).values()) == {("pass", "ok")}
    assert [case.tags for case in suite.cases()] == [("scan",), (), ()]


def test_outputs_alone_can_be_held_to_the_suite(tmp_path: Path) -> None:
    write_lines(tmp_path / "run.jsonl", RUN)
    (tmp_path / "suite.yaml").write_text(
        "evaluators: [{type: regex, path: kind, pattern: '^[a-z]$'}]\nactual: run.jsonl\nid: doc_id\n"
    )
    assert outcomes(Suite.load(tmp_path / "suite.yaml")) == {
        "7": ("pass", "ok"), "a": ("fail", "ok"), "d": ("pass", "ok"),
    }  # fmt: skip


def test_another_run_of_the_same_suite(tmp_path: Path) -> None:
    write_lines(tmp_path / "truth.jsonl", TRUTH)
    write_lines(tmp_path / "tonight.jsonl", TRUTH)
    (tmp_path / "suite.yaml").write_text(HEAD + "expected: truth.jsonl\nactual: none.jsonl\nid: doc_id\n")
    suite = Suite.load(tmp_path / "suite.yaml", actual=tmp_path / "tonight.jsonl")
    assert set(outcomes(suite).values()) == {("pass", "ok")}
    with pytest.raises(ContractError, match=r"none\.jsonl: does not exist"):
        Suite.load(tmp_path / "suite.yaml").run()


@pytest.mark.parametrize("text", ["id,output\n1,2,3\n2,x\n", "id,output\n1\n2,x\n"])
def test_rows_of_the_wrong_length_are_errors_of_their_cases(tmp_path: Path, text: str) -> None:
    (tmp_path / "cases.csv").write_text(text)
    found = list(entries(str(tmp_path / "cases.csv")))
    assert [bool(entry.trouble) for entry in found] == [True, False]
    assert found[1].value == {"id": "2", "output": "x"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "has no head"),
        ("a.csv", "id,id\n", "names a column twice"),
        ("a.csv", 'id,x\n"a,b\n', "is not CSV"),
        ("a.json", '[{"id": 1},]', "is not JSON"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ContractError, match=message):
        list(entries(str(tmp_path / name)))


def test_cells_may_hold_lists_and_objects(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,box,note\n1,"[0, 1]","[not json"\n')
    assert [entry.value for entry in entries(str(tmp_path / "a.csv"))] == [{"id": "1", "box": [0, 1], "note": "[not json"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data: a.jsonl\nexpected: b.jsonl", "a suite has data, or expected and actual, not both"),
        ("cases: [{id: 1}]\nactual: b.jsonl", "a suite has cases or actual, not both"),
        ("expected: b.jsonl", "expected needs actual, the file with the outputs"),
        ("actual: 5", "actual names a file (JSONL, JSON or CSV) or several, not 5"),
        ("expected: a\nactual: b\nid: 5", "line 4 column 1: id names a key, not 5"),
        ("expected: a\nactual: b\nid: {truth: x}", "id is a key, or {expected: KEY, actual: KEY}"),
        ("cases: [{id: 1}]\nid: doc", "the suite names neither"),
    ],
)
def test_what_a_suite_cannot_say_of_its_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "suite.yaml").write_text(HEAD + text)
    with pytest.raises(ConfigError) as raised:
        Suite.load(tmp_path / "suite.yaml")
    assert message in str(raised.value)


TREES = st.recursive(
    st.integers() | st.text('":{ab', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('":ab', max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", '":']), TREES), max_size=4), st.sampled_from([":", " :", ": ", " : "]))
def test_no_key_that_occurs_twice_is_missed(tmp_path_factory: pytest.TempPathFactory, pairs: list[Any], colon: str) -> None:
    path = tmp_path_factory.mktemp("keys") / "cases.jsonl"
    inner = ",".join(f"{json.dumps(key)}{colon}{json.dumps(value)}" for key, value in pairs)
    path.write_text(f'{{"output": {{{inner}}}}}\n', encoding="utf-8")
    (entry,) = entries(str(path))
    assert bool(entry.trouble) == (len({key for key, _ in pairs}) < len(pairs))


@given(
    st.sampled_from(["a.jsonl", "a.csv", "a.txt", "a.json", "a.jsonl.gz"]),
    st.binary(max_size=40) | st.text('[]{}",:\n\\u0ai.e', max_size=40).map(str.encode),
)
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(content)
    try:
        found = list(entries(str(path)))
    except ContractError:
        return
    assert all(entry.place and (entry.value is not None or entry.trouble or b"null" in content) for entry in found)
