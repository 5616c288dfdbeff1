"""The published JSON Schemas against what every verb prints: valid, and nothing printed that is not described."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.test_check import BROKEN
from tests.cli.test_fields import FOUND, SCHEMA, TRUTH
from tests.conftest import Run
from tests.snapshots import predictions, truth, write

Calque = Callable[..., Run]
Place = tuple[str | int, ...]

PAGES = """<PcGts>
<Page><TextRegion id="a" type="heading"><TextEquiv><Unicode>the cat</Unicode></TextEquiv></TextRegion></Page>
<Page><TextRegion id="b" type="paragraph"><TextEquiv><Unicode>sat on a mat</Unicode></TextEquiv></TextRegion></Page>
</PcGts>"""
GRID = "<table><tr><th colspan=2>x</th></tr><tr><td>1</td><td>2</td></tr></table>"
VERBS = {
    "detect": "detection",
    "layout": "layout",
    "fields": "fields",
    "check": "checks",
    "words": "words",
    "tables": "tables",
    "order": "order",
    "ceiling": "ceiling",
}
VIEWS = ("--crops", "--confusion", "--sweep", "--recall-floor", "0.5", "--page-view", "--by", "kind", "--metadata", "kinds.csv")

COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "detect": [
        ("gt.json", "pred.json"),
        ("gt.json", "pred.json", *VIEWS),
        ("gt.json", "pred.json", "--errors", "tide", "--max-detections", "7"),
        ("gt.json", "pred.json", "--errors", "none", "--sweep"),
        ("gt.json", "nothing.json", *VIEWS),
        ("gt.json", "pred.json", "--fail-under", "recall=0.99"),
    ],
    "layout": [("gt.json", "pred.json"), ("gt.json", "nothing.json")],
    "fields": [
        ("gt.jsonl", "pred.jsonl", "--schema", "schema.json"),
        ("gt.jsonl", "pred.jsonl", "--schema", "schema.json", "--accounting", "paired"),
        ("gt.jsonl", "bare.jsonl"),
    ],
    "check": [("suite.yaml",), ("suite.yaml", "--only-failed")],
    "words": [
        ("truth", "one"),
        ("truth", "one", "--cer", "--stop-words", "english", "--errors", "5"),
        ("truth", "two", "--holdout-fraction", "0.5"),
        ("truth", "one", "two", "--build-lattice"),
        ("truth", "one", "two"),
        ("truth", "one", "two", "--fail-under", "recall=0.99"),
        ("pages", "one"),
    ],
    "tables": [
        ("grids", "read"),
        ("grids", "read", "--by", "kind", "--metadata", "kinds.csv", "--adjacency", "2019"),
        ("grids", "read", "--only", "teds"),
        ("grids", "read", "--compat", "pubtabnet"),
        ("grids", "read", "--compat", "table-transformer"),
    ],
    "order": [("way.ndjson", "read.ndjson"), ("way.ndjson", "read.ndjson", "--pair", "id"), ("way.ndjson", "none.ndjson")],
    "ceiling": [
        ("gt.json", "pred.json", "nothing.json"),
        ("gt.json", "pred.json", "--by", "kind", "--metadata", "kinds.csv"),
        ("gt.json", "pred.json", "nothing.json", "--task", "layout"),
        ("gt.jsonl", "pred.jsonl", "bare.jsonl", "--schema", "schema.json"),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> None:
    write_boxes(tmp_path)
    for name, records in (("gt", TRUTH), ("pred", FOUND), ("bare", [{"doc_id": "a"}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    write(tmp_path / "schema.json", SCHEMA)
    for name, order in (("way", ["a", "b", "c"]), ("read", ["b", {"unordered": ["a", "c"]}]), ("none", [])):
        (tmp_path / f"{name}.ndjson").write_text(json.dumps({"doc_id": "d", "order": order}) + "\n")
    (tmp_path / "suite.yaml").write_text(BROKEN)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "d1.xml").write_text(PAGES)
    texts = {
        "truth/d1": "the cat sat on a mat",
        "truth/d2": "to be",
        "one/d1": "the cot sat",
        "one/d2": "to be",
        "two/d1": "mat",
    }
    texts |= {"grids/a": GRID, "grids/b": GRID, "read/a": GRID.replace("x", "y") + GRID, "read/b": "|q|\n|-|\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.txt").write_text(text)


def write_boxes(folder: Path) -> None:
    expected = {
        ("a", 0): [("Figure", (0.1, 0.1, 0.4, 0.4)), ("Table", (0.5, 0.5, 0.9, 0.9))],
        ("b", 0): [("Figure", (0, 0, 1, 1))],
    }
    found = {("a", 0): [("Figure", (0.1, 0.1, 0.4, 0.3), 0.9), ("Figure", (0.5, 0.5, 0.9, 0.8), 0.3)], ("c", 2): []}
    write(folder / "gt.json", truth(expected))
    write(folder / "pred.json", predictions(found))
    write(folder / "nothing.json", predictions({("a", 0): []}))
    (folder / "kinds.csv").write_text("doc_id,kind\na,report\nc,letter\n")


def closed(schema: Any) -> Any:
    """The schema with no keys allowed but those that it describes."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {**inner, "additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else inner


def validator(calque: Calque, *verb: str) -> Draft202012Validator:
    return checked(calque("explain", "--json-schema", *verb).out)


@functools.cache
def checked(text: str) -> Draft202012Validator:
    """The validator of a schema that is valid itself, which takes longest to see."""
    schema = json.loads(text)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(("verb", "arguments"), [(verb, given) for verb, uses in COMMANDS.items() for given in uses], ids=str)
def test_what_a_verb_prints_is_described(calque: Calque, verb: str, arguments: tuple[str, ...]) -> None:
    printed = calque(verb, *arguments, "--format", "json").json
    assert printed["task"] == VERBS[verb]
    own = validator(calque, verb)
    own.validate(printed)
    Draft202012Validator(closed(own.schema)).validate(printed)
    validator(calque).validate(printed)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_added_to_a_result_is_described(calque: Calque, verb: str) -> None:
    """Intervals, gates, and the differences to a baseline."""
    calque(verb, *COMMANDS[verb][0], "--save", "base.state")
    added = ("--intervals", "--replicates", "100", "--baseline", "base.state")
    printed = calque(verb, *COMMANDS[verb][0], *added, "--format", "json").json
    assert printed.keys() >= {"intervals", "gate", "baseline"}
    Draft202012Validator(closed(validator(calque, verb).schema)).validate(printed)


COMPARED = {
    "detect": ("gt.json", "pred.json", "nothing.json"),
    "layout": ("gt.json", "pred.json", "nothing.json"),
    "fields": ("gt.jsonl", "pred.jsonl", "pred.jsonl", "--schema", "schema.json"),
    "words": ("truth", "one", "two"),
    "tables": ("grids", "read", "grids"),
    "order": ("way.ndjson", "read.ndjson", "way.ndjson"),
    "ceiling": ("gt.json", "pred.json", "nothing.json"),
}


@pytest.mark.parametrize("verb", COMPARED)
def test_a_comparison_is_described(calque: Calque, verb: str) -> None:
    for number, run in enumerate(COMPARED[verb][1:3]):
        calque(verb, COMPARED[verb][0], run, *COMPARED[verb][3:], "--save", f"{number}.state")
    printed = calque("compare", "0.state", "1.state", "--replicates", "100", "--format", "json").json
    assert (printed["task"], len(printed["runs"])) == (VERBS[verb], 2)
    own = validator(calque, "compare")
    own.validate(printed)
    Draft202012Validator(closed(own.schema)).validate(printed)
    for key in printed.keys() - {"gate"}:
        assert not own.is_valid({name: value for name, value in printed.items() if name != key})


@pytest.mark.parametrize("verb", VERBS)
def test_a_merged_state_is_described(calque: Calque, verb: str) -> None:
    calque(verb, *COMMANDS[verb][0], "--save", "state.calque")
    validator(calque, verb).validate(calque("merge", "state.calque", "--format", "json").json)


@pytest.mark.parametrize("verb", VERBS)
def test_other_shapes_are_refused(calque: Calque, verb: str) -> None:
    printed = calque(verb, *COMMANDS[verb][0], "--format", "json").json
    own, any_verb = validator(calque, verb), validator(calque)
    places: set[Place] = set()
    broken = with_words_for_numbers(printed, places)
    assert places
    for schema in (own, any_verb):
        assert places <= {tuple(error.absolute_path) for error in schema.iter_errors(broken)}
    for key in printed.keys() - {"errors", "gate"}:
        assert not own.is_valid({name: value for name, value in printed.items() if name != key})


def with_words_for_numbers(tree: Any, places: set[Place], path: Place = ()) -> Any:
    """A word at every number, whose places are written down; what evaluators add of their own is free."""
    if path and path[-1] == "metadata":
        return tree
    if isinstance(tree, dict):
        return {key: with_words_for_numbers(value, places, (*path, key)) for key, value in tree.items()}
    if isinstance(tree, list):
        return [with_words_for_numbers(value, places, (*path, place)) for place, value in enumerate(tree)]
    if isinstance(tree, int | float):
        places.add(path)
        return "high"
    return tree


def test_any_result_names_its_task(calque: Calque) -> None:
    schema = validator(calque)
    assert not schema.is_valid({})
    assert not schema.is_valid({"task": "sudoku"})
    assert schema.schema["properties"]["task"] == {"enum": list(VERBS.values())}


def test_verbs_and_tasks_have_the_same_schema(calque: Calque) -> None:
    for verb, task in VERBS.items():
        assert validator(calque, verb).schema == validator(calque, task).schema


def test_only_verbs_with_results_have_a_schema(calque: Calque) -> None:
    run = calque("explain", "--json-schema", "felds")
    assert (run.code, run.err) == (2, "error: no results of 'felds' have a schema; did you mean 'fields'?\n")
    assert (
        "there are detect, check, layout, fields, words, tables, order, ceiling, compare"
        in calque("explain", "--json-schema", "sudoku").err
    )


def test_shares_are_from_0_to_1_and_counts_are_no_fractions() -> None:
    from calque.evaluation.presentation.result_schema import COUNT, SHARE

    assert [Draft202012Validator(SHARE).is_valid(value) for value in (0, 0.5, 1, None, -0.001, 1.001, "1")] == [True] * 4 + [
        False
    ] * 3
    assert [Draft202012Validator(COUNT).is_valid(value) for value in (0, 7, -1, 0.5)] == [True, True, False, False]
