"""Documents that have the same name as text and as a number, or no name at all: none is lost, and every note says which."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Fields, Layout, Task, read
from tests.conftest import Run

SCHEMA = {"fields": {"name": {"type": "str"}}}
UNNAMED = [{"name": "a"}, {"name": "b"}]


def _both(task: Task, truth: Any, found: Any) -> Evaluator:
    return Evaluator(task).update(truth, found)


def _boxes(*documents: int | str) -> Any:
    return [{"doc": document, "category": "Table", "bbox": [0, 0, 5, 5], "score": 0.5} for document in documents]


@pytest.mark.parametrize("task", [Layout(), Detection()])
def test_3_and_the_text_3_stay_two_documents(task: Task) -> None:
    corpora = [read(_boxes(name), side="ground_truth") for name in (3, "3")]
    assert [corpus.units() for corpus in corpora] == [(3,), ("3",)]
    one, other = (Evaluator(task).update(corpus, corpus) for corpus in corpora)
    result = one.merge(other).compute()
    assert {row["document"] for row in result.outcomes().rows()} == {"3", '"3"'}
    if isinstance(task, Layout):
        blocks = {name: block["layout_total_blocks"] for name, block in result.numbers["documents"].items()}
        assert blocks == {"3": 1, '"3"': 1}


def test_records_without_ids_are_appended_in_the_order_given() -> None:
    """As the contract says: appended, and said."""
    found = [{"name": "a"}, {"name": "x"}]
    one, two = (_both(Fields(schema=SCHEMA), UNNAMED, each) for each in (UNNAMED, found))
    merged = Evaluator.from_state(one.state()).merge(Evaluator.from_state(two.state()))
    result = merged.compute()
    assert result.numbers["document_count"] == 4
    assert (result.numbers["overall"]["tp"], result.numbers["overall"]["fd"]) == (3, 1)
    assert [(row["document"], row["match"]) for row in result.outcomes().rows()] == [
        ("0", True), ("1", True), ("2", True), ("3", False),
    ]  # fmt: skip
    assert [issue.code for issue in result.issues] == ["numbered-on"]
    whole = _both(Fields(schema=SCHEMA), [*UNNAMED, *UNNAMED], [*UNNAMED, *found]).compute()
    assert whole.numbers["overall"] == result.numbers["overall"]


def test_updates_without_ids_are_appended_too_and_ids_are_not() -> None:
    evaluator = Evaluator(Fields(schema=SCHEMA))
    assert evaluator.update(UNNAMED, UNNAMED).update(UNNAMED, UNNAMED).compute().numbers["document_count"] == 4
    named = [{"id": 7, "name": "a"}]
    assert evaluator.update(named, named).compute().numbers["document_count"] == 5
    with pytest.raises(Exception, match="seen twice: document 7"):
        evaluator.update(named, named)


def test_states_without_ids_on_the_command_line(calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in UNNAMED))
    calque("fields", "t.jsonl", "t.jsonl", "--save", "a.state")
    run = calque("merge", "a.state", "a.state")
    assert run.code == 0
    assert "4 documents" in run.out
    assert "documents without ids are counted on, in the order in which they were added" in run.out


def test_record_ids_as_text_and_as_numbers_are_told(calque: Callable[..., Run], tmp_path: Path) -> None:
    """Where no id meets, that is told first; where some do, the others are told."""
    for name, ids in (("n", [1, 2, "x"]), ("s", ["1", "2", "x"]), ("all", ["1", "2"]), ("numbers", [1, 2])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"id": each, "name": "a"}) + "\n" for each in ids))
    for verb in ("fields", "validate"):
        some = calque(verb, "n.jsonl", "s.jsonl")
        assert "2 ids are text on one side and a number on the other, such as 1" in some.out
        none = calque(verb, "numbers.jsonl", "all.jsonl")
        assert none.code == 3
        assert "2 ids are text on one side and numbers on the other" in none.out + none.err


def test_labels_that_a_class_map_drops_are_not_invalid(calque: Callable[..., Run], tmp_path: Path) -> None:
    kept = {"doc": "a", "category": "Table", "bbox": [0, 0, 5, 5], "score": 0.5}
    (tmp_path / "t.json").write_text(json.dumps([kept, {**kept, "category": "Footer"}, {**kept, "category": "Footer"}]))
    (tmp_path / "map.yaml").write_text("Footer: drop\n")
    run = calque("layout", "t.json", "t.json", "--class-map", "map.yaml", "--format", "json")
    assert (run.json["counts"]["truths"], run.json["counts"]["invalid"], run.json["counts"]["dropped"]) == (3, 0, 4)
    assert "3 predictions, 4 dropped by a class map" in calque("layout", "t.json", "t.json", "--class-map", "map.yaml").out
    rows = [json.loads(line) for line in calque(
        "layout", "t.json", "t.json", "--class-map", "map.yaml", "--format", "jsonl").out.splitlines()]  # fmt: skip
    assert [row["outcome"] for row in rows].count("dropped") == 4  # of either side
