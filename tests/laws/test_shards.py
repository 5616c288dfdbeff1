"""Shards, merged states and one file give the same numbers, undefined metrics and exit codes, for every task."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Run

Calque = Callable[..., Run]
Documents = list[dict[str, Any]]
Write = Callable[["Subject", Documents, str], tuple[str, ...]]
OF_FILES = ("sources", "issues", "signature", "settings")
"""What a result says of its files."""


class Subject(NamedTuple):
    """A task: what its command is, and how some documents become a file."""

    command: tuple[str, ...]
    ending: str
    truth: Callable[[Documents], str]
    found: Callable[[Documents], str]
    documents: Callable[[], Documents]
    """Each has ``id``, ``truth`` and ``found``; either may be ``None`` where a side lacks the document."""


def lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def side(name: str, made: Callable[[str, Any], Any]) -> Callable[[Documents], str]:
    return lambda documents: lines(made(each["id"], each[name]) for each in documents if each[name] is not None)


def boxes() -> Documents:
    """Pages with all kinds of trouble; some classes are in one shard only, and the first shard has no object at all."""
    dice = random.Random("boxes")

    def page(number: int) -> tuple[list[Any], list[Any]]:
        here = [
            (dice.choice(["Table", "Figure"]) if number % 7 else f"Rare {number}", dice.randrange(200))
            for _ in range(number % 4)
        ]
        there = [(label, place + dice.randrange(9), dice.choice([0.5, dice.random()])) for label, place in here]
        return here, there + [("Invented", 300, 0.1)] * (number % 5 == 0)

    documents: Documents = [{"id": "empty", "truth": [], "found": []}]
    for number in range(30):
        here, there = page(number)
        documents.append(
            {"id": f"p{number:02}", "truth": None if number % 9 == 8 else here, "found": None if number % 11 == 10 else there}
        )
    return documents


def page_row(document: str, objects: list[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"doc_id": document, "page_index": 0, "width": 900, "height": 900}
    made["labels"] = [each[0] for each in objects]
    made["boxes"] = [[each[1], 10, each[1] + 40, 60] for each in objects]
    return made


def found_row(document: str, objects: list[Any]) -> dict[str, Any]:
    return page_row(document, objects) | {"scores": [each[2] for each in objects]}


NUMBER = {f"p{number:02}": number for number in range(30)} | {"empty": 99}
CLASSES = {"Table": 1, "Figure": 2, "Invented": 3} | {f"Rare {number}": 100 + number for number in range(30)}


def coco(documents: Documents) -> str:
    images = [
        {"id": NUMBER[each["id"]], "file_name": each["id"], "width": 900, "height": 900}
        for each in documents
        if each["truth"] is not None
    ]
    rows = [(each["id"], *item) for each in documents for item in each["truth"] or ()]
    annotations = [
        {"id": NUMBER[name] * 100 + place, "image_id": NUMBER[name], "category_id": CLASSES[label], "bbox": [left, 10, 40, 50]}
        for place, (name, label, left) in enumerate(rows)
    ]
    return json.dumps(
        {
            "images": images,
            "annotations": annotations,
            "categories": [{"id": code, "name": name} for name, code in CLASSES.items()],
        }
    )


def coco_results(documents: Documents) -> str:
    return json.dumps([
        {"image_id": NUMBER[each["id"]], "category_id": CLASSES[label], "bbox": [left, 10, 40, 50], "score": score}
        for each in documents for label, left, score in each["found"] or ()
    ])  # fmt: skip


def records() -> Documents:
    dice = random.Random("records")
    documents: Documents = []
    for number in range(24):
        truth = {
            "vendor": f"Acme {number}",
            "total": number * 1.5,
            "items": [{"name": f"n{place}", "price": place} for place in range(number % 4)],
        }
        found = {**truth, "total": truth["total"] + dice.choice([0, 1]), "items": truth["items"][: number % 3]}
        if number % 5 == 0:
            del found["vendor"]
        documents.append(
            {"id": f"r{number:02}", "truth": None if number == 7 else truth, "found": None if number == 9 else found}
        )
    return documents


def with_id(document: str, record: dict[str, Any]) -> dict[str, Any]:
    return {"id": document, **record}


def orders() -> Documents:
    dice = random.Random("orders")
    documents: Documents = []
    for number in range(20):
        names = [f"b{place}" for place in range(number % 6)]
        documents.append(
            {
                "id": f"o{number:02}",
                "truth": None if number == 4 else names,
                "found": None if number == 11 else dice.sample(names, len(names)),
            }
        )
    return documents


def order_row(document: str, order: list[str]) -> dict[str, Any]:
    return {"doc_id": document, "order": order}


def texts() -> Documents:
    dice = random.Random("texts")
    words = ["one", "two", "three", "four", "ﬁve", "six"]
    documents: Documents = []
    for number in range(16):
        truth = " ".join(dice.choices(words, k=number % 5 * 3))
        found = " ".join(dice.choice([word, "seven", ""]) for word in truth.split())
        documents.append(
            {"id": f"w{number:02}", "truth": None if number == 3 else truth, "found": None if number == 5 else found}
        )
    return documents


def text_of(name: str) -> Callable[[Documents], str]:
    return lambda documents: json.dumps({each["id"]: each[name] for each in documents if each[name] is not None})


def tables() -> Documents:
    dice = random.Random("tables")
    documents: Documents = []
    for number in range(16):
        grid = [[f"c{row}{column}" for column in range(1 + number % 3)] for row in range(1 + number % 4)]
        other = [[dice.choice([cell, "x"]) for cell in row] for row in grid]
        documents.append(
            {"id": f"t{number:02}", "truth": None if number == 2 else grid, "found": None if number == 6 else other}
        )
    return documents


def table_row(document: str, grid: list[list[str]]) -> dict[str, Any]:
    cells = [{"row": row, "column": column, "text": text} for row, line in enumerate(grid) for column, text in enumerate(line)]
    return {"id": document, "tables": [{"cells": cells}]}


ROWS = side("truth", page_row), side("found", found_row)
SCHEMA = {"fields": {"vendor": {"type": "str"}, "total": {"type": "float"}, "items": {"type": "list[object]", "fields": {
    "name": {"type": "str"}, "price": {"type": "float"}}}}}  # fmt: skip
SUITE = {"evaluators": [{"type": "equals", "name": "same"}, {"type": "contains", "name": "in"}]}


def cases() -> Documents:
    """Cases, all of which have an expected value and an output."""
    return [{"id": f"c{number:02}", "truth": "x" * (number % 3), "found": "x" * (number % 4)} for number in range(20)]


def case_rows(documents: Documents) -> str:
    return lines({"id": each["id"], "output": each["found"], "expected": each["truth"]} for each in documents)


SUBJECTS = {
    "ceiling": Subject(("ceiling", "--names", "one,two"), ".ndjson", *ROWS, boxes),
    "ceiling fields": Subject(
        ("ceiling", "--schema", "schema.json", "--names", "one,two"),
        ".jsonl",
        side("truth", with_id),
        side("found", with_id),
        records,
    ),
    "check": Subject(("check", "suite.yaml"), ".jsonl", case_rows, case_rows, cases),
    "detect rows": Subject(("detect",), ".ndjson", *ROWS, boxes),
    "detect coco": Subject(("detect",), ".json", coco, coco_results, boxes),
    "detect views": Subject(("detect", "--crops", "--confusion", "--sweep", "--page-view"), ".ndjson", *ROWS, boxes),
    "layout rows": Subject(("layout",), ".ndjson", *ROWS, boxes),
    "layout coco": Subject(("layout",), ".json", coco, coco_results, boxes),
    "fields": Subject(("fields", "--schema", "schema.json"), ".jsonl", side("truth", with_id), side("found", with_id), records),
    "fields inferred": Subject(("fields",), ".jsonl", side("truth", with_id), side("found", with_id), records),
    "tables": Subject(("tables",), ".jsonl", side("truth", table_row), side("found", table_row), tables),
    "order": Subject(("order",), ".ndjson", side("truth", order_row), side("found", order_row), orders),
    "words": Subject(("words",), ".json", text_of("truth"), text_of("found"), texts),
}
NO_PATTERNS = ("words", "ceiling", "check")
"""Commands that take no patterns; their states are merged."""


def numbers(run: Run) -> tuple[int, str]:
    """The exit code, and everything that is not about files."""
    assert run.code in (0, 1, 3), run.err
    return run.code, json.dumps({key: value for key, value in run.json.items() if key not in OF_FILES})


def by_side(documents: Documents) -> list[Documents]:
    """A shard whose truth and predictions have no document in common, and one of all others."""
    alone = [each for each in documents if each["truth"] is None or each["found"] is None]
    return [alone, [each for each in documents if each not in alone]]


def one_each(documents: Documents) -> list[Documents]:
    """A shard for each document; what only one side has is together, as an empty file is refused."""
    alone, *_ = by_side(documents)
    return [*([each] for each in documents if each not in alone), alone]


CUTS: dict[str, Callable[[Documents], list[Documents]]] = {
    "the first document alone": lambda documents: [documents[:1], documents[1:]],
    "in turns": lambda documents: [documents[part::4] for part in range(4)],
    "one document each": one_each,
    "by side": by_side,
}


@pytest.fixture
def files(tmp_path: Path) -> Write:
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE))

    def write(subject: Subject, documents: Documents, name: str) -> tuple[str, ...]:
        paths = f"truth-{name}{subject.ending}", f"found-{name}{subject.ending}"
        for path, made in zip(paths, (subject.truth, subject.found), strict=True):
            (tmp_path / path).write_text(made(documents))
        if subject.command[0] == "check":
            return "--data", paths[0]
        if subject.command[0] != "ceiling":
            return paths
        lazy = [
            {**each, "found": each["found"] and type(each["found"])()} if each["id"].endswith("1") else each
            for each in documents
        ]
        (tmp_path / f"lazy-{name}{subject.ending}").write_text(subject.found(lazy))
        return (*paths, f"lazy-{name}{subject.ending}")

    return write


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_shards_and_one_file_give_the_same_numbers_and_exit_code(calque: Calque, files: Write, name: str, cut: str) -> None:
    subject = SUBJECTS[name]
    documents = subject.documents()
    whole = numbers(calque(*subject.command, *files(subject, documents, "all"), "--format", "json"))
    shards = [some for some in CUTS[cut](documents) if some]
    for part, some in enumerate(shards):
        paths = files(subject, some, f"part{part}")
        done = calque(*subject.command, *paths, "--save", f"{part}.state")
        assert done.code in (0, 1, 3), done.err
    if name != "fields inferred":  # a state has the schema that its own shard led to
        states = [f"{part}.state" for part in range(len(shards))]
        assert numbers(calque("merge", *states, "--format", "json")) == whole
        assert numbers(calque("merge", *reversed(states), "--format", "json")) == whole
    if subject.command[0] not in NO_PATTERNS:
        patterns = [f"{side}-part*{subject.ending}" for side in ("truth", "found")]
        assert numbers(calque(*subject.command, *patterns, "--format", "json")) == whole
        kept = (*subject.command, *patterns, "--format", "json", "--checkpoint", "kept")
        assert numbers(calque(*kept)) == whole
        assert numbers(calque(*kept)) == whole


@pytest.mark.parametrize("name", ["detect rows", "layout rows", "fields", "tables", "order"])
@pytest.mark.parametrize("empty", ["truth", "found"])
def test_shards_an_empty_file_of_rows_is_refused_by_every_task(
    calque: Calque, files: Write, tmp_path: Path, name: str, empty: str
) -> None:
    """Nobody knows whether it was ever written."""
    subject = SUBJECTS[name]
    documents = [each for each in subject.documents() if each["truth"] and each["found"]]
    for part, some in enumerate((documents[::2], documents[1::2])):
        paths = files(subject, some, f"part{part}")
    (tmp_path / paths[empty == "found"]).write_text("")
    patterns = [f"{side}-part*{subject.ending}" for side in ("truth", "found")]
    assert calque(*subject.command, *patterns).code == 2
