"""What checks say of suites, files and cases that cannot be judged, in whole sentences."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, ContractError
from calque.checks import Suite, evaluator
from calque.checks.evaluators.paths import EVERY
from calque.checks.evaluators.registry import build_all
from calque.checks.evaluators.settings import Complaints
from calque.checks.presentation import annotated
from calque.checks.shapes.formats import _quad
from calque.checks.shapes.regions import Region, hull
from calque.checks.suites.cases import Case
from calque.checks.suites.runner import UNKNOWN, Bench
from calque.checks.task import _written

SYSTEM = f"system: {{command: [{json.dumps(sys.executable)}]}}\nevaluators: [{{type: equals}}]\n"
GIVES = "has an output, and the suite a system that gives it"


def load(folder: Path, text: str) -> Suite:
    (folder / "suite.yaml").write_text(text)
    return Suite.load(folder / "suite.yaml", allow_commands=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system: 5\nevaluators: [{type: equals}]\ncases: [{id: 1}]",
         "system is a mapping with command, timeout, retries, cache, not 5"),
        (SYSTEM + "cases: [{id: 1, output: 3}, {id: 2}]", f"line 3 column 9: the case 1 {GIVES}"),
        (SYSTEM + "expected: a.jsonl\nactual: a.jsonl",
         "line 4 column 1: a suite has actual, or a system that gives outputs, not both"),
        ("evaluators: [{type: json_schema, schema: gone.json}]\ncases: [{id: 1, output: 3}]",
         "line 1 column 34: the schema gone.json cannot be read: no such file or directory"),
        ("evaluators: [{type: json_schema, schema: a.jsonl}]\ncases: [{id: 1, output: 3}]",
         "line 1 column 34: the schema a.jsonl is not JSON: Expecting property name enclosed in double quotes: "
         "line 1 column 2 (char 1)"),
    ],
)  # fmt: skip
def test_suites_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.jsonl").write_text("{")
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert str(raised.value) == f"{tmp_path / 'suite.yaml'}: {message}"


def outcomes(suite: Suite) -> list[tuple[Any, str, str, str]]:
    return [(row["id"], row["evaluator"], row["status"], row["reasoning"]) for row in suite.run().to_dict()["results"]]


def test_a_line_with_an_output_is_no_case_for_a_system(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": 1, "output": 3, "expected": 3}\n')
    told = outcomes(load(tmp_path, SYSTEM + "data: d.jsonl"))
    assert told == [(1, "equals", "error", f"line 1: it {GIVES}")]


def test_lines_whose_evaluators_are_wrong_are_judged_by_none(tmp_path: Path) -> None:
    bad, good = {"evaluators": [{"type": "nope"}]}, {"evaluators": [{"type": "equals"}]}
    rows = [json.dumps({"id": place, "output": 1, "expected": 1, **own}) for place, own in enumerate((bad, good))]
    (tmp_path / "d.jsonl").write_text("\n".join([*rows, "nonsense"]))
    for head, name in (("", "case"), ("evaluators: [{type: equals}]\n", "equals")):
        told = outcomes(load(tmp_path, head + "data: d.jsonl"))
        more = [(1, "equals 2", "ok", "1 equals 1: pass")] if head else []
        assert [row[:3] for row in told] == [
            (0, name, "error"), (1, "equals", "ok"), *[row[:3] for row in more], ("line 3", name, "error"),
        ]  # fmt: skip
        assert told[0][3].startswith(f'{tmp_path / "suite.yaml"}: line 1: unknown evaluator type "nope"; known are iou_score, ')


def test_evaluators_that_have_something_to_say_of_a_case() -> None:
    bench = Bench([{"type": "equals"}])
    wrong = Case("a", 1, 1, evaluators=({"type": "nope"},), place="line 4")
    assert bench.checks_of(wrong) == bench.checks
    assert bench.checks_of(Case("b", 1, 1, trouble="broken")) == bench.checks
    empty = Bench([], file="s.yaml")
    assert empty.checks_of(Case("b", 1, 1, trouble="broken")) == (UNKNOWN,)
    with pytest.raises(ConfigError, match='line 4: unknown evaluator type "nope"'):
        empty.checks_of(wrong)
    assert UNKNOWN.renamed("other").name == "other"
    with pytest.raises(ConfigError, match=r"^s\.yaml: line 2: the case 'c' has no evaluators; name some in the suite"):
        empty.prepared(Case("c", 1, 1, place="line 2"))


def test_evaluators_of_one_name_are_numbered() -> None:
    words = {"type": "words", "measure": "recall"}
    checks = build_all([{"type": "equals"}, words, {"type": "equals"}, words, words], Complaints("s.yaml"), {})
    assert [check.name for check in checks] == ["equals", "words recall", "equals 2", "words recall 2", "words recall 3"]


def test_only_a_line_is_a_place_for_an_annotation(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('[{"id": "a", "output": 1, "expected": 2}]')
    for text, place in (
        ("cases: [{id: a, output: 1, expected: 2}]", "file=s.yaml,line=2,col=9,"),
        ("data: d.json", "file=s.yaml,"),
    ):
        suite = load(tmp_path, "evaluators: [{type: equals}]\n" + text)
        rows = [row for case in suite.cases() for row in suite.bench.judge(case)]
        (line,) = annotated(rows, "s.yaml")
        assert line == f"::error {place}title=a%3A equals failed::1 is not 2: fail"


def test_tags_of_joined_files(tmp_path: Path) -> None:
    given = ["x", "", ["y", "z"], 5]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps({"id": n, "tags": tags}) + "\n" for n, tags in enumerate(given)))
    suite = load(tmp_path, "evaluators: [{type: equals}]\nexpected: e.jsonl\nactual: e.jsonl")
    assert [case.tags for case in suite.cases()] == [("x",), (), ("y", "z"), ()]


def test_a_table_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes(b"id,output\n1,\xff\n")
    with pytest.raises(ContractError, match=r"c\.csv: is not UTF-8 text; save it as UTF-8$"):
        load(tmp_path, "evaluators: [{type: equals}]\ndata: c.csv").run()


def test_a_text_that_spells_the_number_is_told() -> None:
    check = evaluator({"type": "equals"})
    assert check.evaluate("x", 3).reasoning == '"x" is not 3: fail'
    assert check.evaluate("3", 3).reasoning == '"3" is not 3 (text and number): fail'


def test_orders_and_schemas_given_as_objects() -> None:
    order = evaluator({"type": "order", "measure": "pairs"})
    assert order.evaluate({"order": ["b", "a"]}, {"order": ["a", "b"]}).score == 0.0
    assert order.evaluate({"order": ["a", "b"]}, {"order": ["a", "b"]}).score == 1.0
    fields = {"type": "fields", "measure": "cm_f1"}
    only = evaluator({**fields, "options": {"schema": {"fields": {"a": {"type": "str"}}}}})
    assert only.evaluate({"a": "1", "b": "x"}, {"a": "1", "b": "y"}).score == 1.0
    every = evaluator({**fields, "options": {"schema": ""}})
    assert every.evaluate({"a": "1", "b": "x"}, {"a": "1", "b": "y"}).score == 2 / 3


def test_an_item_without_a_box_is_told() -> None:
    boxes = {"bbox_path": "x[*].b", "expected_bbox_path": "x[*].b", "threshold": 0.5}
    box = {"b": [0, 0, 1, 1]}
    told = evaluator({"type": "iou_score", **boxes}).evaluate({"x": [box, {}]}, {"x": [box]})
    assert told.reasoning.startswith("output[1]: x[*].b is missing (no b); 1 of 1 expected found, 1 more in the output")
    assert repr(EVERY) == "[*]"


def test_details_that_only_the_usual_way_can_write() -> None:
    for details in ({"a": "\ud800"}, {"a": 10**400}, {"a": [1.5, None]}):
        assert json.loads(_written(details)) == details
    with pytest.raises(ValueError, match="Out of range"):
        _written({"a": "\ud800", "b": float("nan")})


def test_shapes_without_area_and_points_on_edges() -> None:
    assert _quad([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) == _quad([[0, 0], [1, 0], [1, 1], [0, 1]])
    assert Region((((0.0, 0.0), (2.0, 0.0), (4.0, 0.0)),)).center == (2.0, 0.0)
    assert hull([(1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]) == ((0.0, 0.0), (1.0, 1.0))
    square = Region((((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)),))
    points = [(0.0, 1.0), (2.0, 2.0), (1.0, 0.0), (2.1, 1.0), (1.0, 1.0), (3.0, 0.0), (2.0, 2.1)]
    assert [square.contains(point) for point in points] == [True, True, True, False, True, False, False]
