"""``calque compare`` accepts two runs only if their ground truth gives the same numbers, for every task."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Run

Change = Callable[[Any], object]
SQUARE = [[10, 10, 30, 10, 30, 30, 10, 30]]
COCO = {
    "images": [
        {"id": 1, "file_name": "a.png", "width": 100, "height": 100},
        {"id": 2, "file_name": "b.png", "width": 100, "height": 100},
    ],
    "categories": [{"id": 1, "name": "Table"}, {"id": 2, "name": "Figure"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0, "segmentation": SQUARE},
        {"id": 2, "image_id": 2, "category_id": 2, "bbox": [50, 50, 9, 9], "area": 81, "iscrowd": 0, "segmentation": [
            [50, 50, 59, 50, 59, 59, 50, 59]]},
    ],
}  # fmt: skip
COCO_FOUND = [
    {"image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 18], "score": 0.9, "segmentation": SQUARE},
    {"image_id": 2, "category_id": 2, "bbox": [50, 50, 9, 9], "score": 0.8, "segmentation": [[50, 50, 59, 50, 59, 59]]},
]
RECORDS = [{"id": "x", "total": 10, "items": [{"name": "a b"}]}, {"id": "y", "total": 3, "items": []}]
TABLE = [{"id": "d", "tables": [{"id": "t", "page": 1, "box": [0, 0, 9, 9], "rows": 2, "cells": [
    {"row": 0, "column": 0, "rowspan": 1, "colspan": 2, "text": "head", "header": True},
    {"row": 1, "column": 0, "rowspan": 1, "colspan": 1, "text": "a", "header": False},
    {"row": 1, "column": 1, "rowspan": 1, "colspan": 1, "text": "b", "header": False},
]}]}]  # fmt: skip
ORDERS = [
    {"doc_id": "d", "page_index": 0, "width": 100, "height": 100, "ids": ["a", "b", "c"], "labels": ["text", "text", "footer"],
     "boxes": [[0, 0, 50, 10], [0, 20, 50, 30], [0, 90, 50, 99]], "order": ["a", "b", "c"]},
    {"doc_id": "e", "page_index": 0, "order": ["a", {"unordered": ["b", "c"]}]},
]  # fmt: skip
WORDS = {"d": "one two\nthree", "e": "four"}
SUITE = {
    "name": "s",
    "evaluators": [{"type": "equals", "name": "same"}],
    "cases": [
        {"id": "a", "output": "x", "expected": "x"},
        {"id": "b", "output": "y", "expected": "z", "evaluators": [{"type": "contains", "name": "in", "value": "y"}]},
    ],
}


class Subject(NamedTuple):
    """A task with a ground truth, and what can be changed in it."""

    command: tuple[str, ...]
    truth: Any
    found: Any
    other_numbers: dict[str, Change]
    same_numbers: dict[str, Change]


def annotation(key: str, value: Any) -> Change:
    return lambda tree: tree["annotations"][0].update({key: value})


BOXES: dict[str, Change] = {
    "box": annotation("bbox", [10, 10, 20, 19]),
    "label": annotation("category_id", 2),
    "crowd": annotation("iscrowd", 1),
    "area": annotation("area", 90000),
    "page size": lambda tree: tree["images"][0].update(width=200, height=200),
    "empty page": lambda tree: tree["images"].append({"id": 3, "file_name": "c.png"}),
    "declared class": lambda tree: tree["categories"].append({"id": 9, "name": "Formula"}),
    "object": lambda tree: tree["annotations"].pop(),
}
BOX_NAMES: dict[str, Change] = {
    "ids of objects": lambda tree: [each.update(id=each["id"] + 70) for each in tree["annotations"]],
    "files of images": lambda tree: [each.update(file_name=f"{each['id']}.jpg") for each in tree["images"]],
    "order of images": lambda tree: tree["images"].reverse(),
    "order of objects on different pages": lambda tree: tree["annotations"].reverse(),
    "order of classes": lambda tree: tree["categories"].reverse(),
}
MASKS: dict[str, Change] = {
    "polygon": annotation("segmentation", [[10, 10, 30, 10, 30, 30]]),
    "run lengths": annotation("segmentation", {"size": [100, 100], "counts": [0, 20, 9980]}),
}


def cell(place: int, **values: Any) -> Change:
    return lambda rows: rows[0]["tables"][0]["cells"][place].update(values)


SUBJECTS = {
    "detect": Subject(("detect",), COCO, COCO_FOUND, BOXES, BOX_NAMES),
    "detect masks": Subject(("detect", "--on", "masks"), COCO, COCO_FOUND, BOXES | MASKS, BOX_NAMES),
    "detect shapes": Subject(
        ("detect", "--on", "shapes"), COCO, COCO_FOUND, {"polygon": MASKS["polygon"], "box": BOXES["box"]}, BOX_NAMES
    ),
    "layout": Subject(("layout",), COCO, COCO_FOUND, BOXES, BOX_NAMES),
    "ceiling": Subject(("ceiling",), COCO, COCO_FOUND, BOXES, BOX_NAMES),
    "fields": Subject(
        ("fields", "--schema", "schema.json"),
        RECORDS,
        RECORDS,
        {
            "value": lambda rows: rows[0].update(total=11),
            "whitespace": lambda rows: rows[0]["items"][0].update(name="a  b"),
            "missing field": lambda rows: rows[0].pop("total"),
            "item": lambda rows: rows[1]["items"].append({"name": "c"}),
        },
        {
            "order of documents": lambda rows: rows.reverse(),
            "order of keys": lambda rows: rows[0].update(total=rows[0].pop("total")),
        },
    ),
    "words": Subject(
        ("words", "--characters", "graphemes"),
        WORDS,
        WORDS,
        {
            "word": lambda texts: texts.update(d="one too\nthree"),
            "order of words": lambda texts: texts.update(d="two one\nthree"),
        },
        {"order of documents": lambda texts: texts.update(d=texts.pop("d"))},
    ),
    "words lines": Subject(
        ("words", "--characters", "graphemes", "--separators", "lines"),
        WORDS,
        WORDS,
        {
            "line break": lambda texts: texts.update(d="one two three"),
            "word": lambda texts: texts.update(d="one too\nthree"),
        },
        {"order of documents": lambda texts: texts.update(d=texts.pop("d"))},
    ),
    "tables": Subject(
        ("tables",),
        TABLE,
        TABLE,
        {
            "text": cell(1, text="A"),
            "span": cell(0, colspan=1),
            "header": cell(0, header=False),
            "place": lambda rows: rows[0]["tables"][0]["cells"].pop(),
            "id of the table": lambda rows: rows[0]["tables"][0].update(id="u"),
            "page of the table": lambda rows: rows[0]["tables"][0].update(page=2),
            "box of the table": lambda rows: rows[0]["tables"][0].update(box=[0, 0, 9, 8]),
            "another table": lambda rows: rows[0]["tables"].append({**rows[0]["tables"][0], "id": "v"}),
        },
        {"order of cells": lambda rows: rows[0]["tables"][0]["cells"].reverse()},
    ),
    "order": Subject(
        ("order",),
        ORDERS,
        ORDERS,
        {
            "order of blocks": lambda rows: rows[0].update(order=["b", "a", "c"]),
            "order of names": lambda rows: rows[1].update(order=["a", "b", "c"]),
            "box": lambda rows: rows[0].update(boxes=[[0, 0, 50, 11], *rows[0]["boxes"][1:]]),
            "label": lambda rows: rows[0].update(labels=["text", "footer", "text"]),
            "block": lambda rows: rows[0].update(order=["a", "b"]),
        },
        {"order of documents": lambda rows: rows.reverse()},
    ),
    "check": Subject(
        ("check",),
        SUITE,
        None,
        {
            "expected value": lambda suite: suite["cases"][0].update(expected="w"),
            "own evaluator": lambda suite: suite["cases"][1]["evaluators"][0].update(value="q"),
        },
        {"output": lambda suite: suite["cases"][0].update(output="w")},
    ),
}
OTHER = [(name, change) for name, subject in SUBJECTS.items() for change in subject.other_numbers]
SAME = [(name, change) for name, subject in SUBJECTS.items() for change in subject.same_numbers]


@pytest.fixture
def compared(calque: Callable[..., Run], tmp_path: Path) -> Callable[[str, Change], int]:
    """Compare a run with the same run against a changed ground truth; return the exit code."""
    (tmp_path / "schema.json").write_text(json.dumps({
        "fields": {"total": {"type": "float"}, "items": {"type": "list[object]", "fields": {"name": {"type": "str"}}}}
    }))  # fmt: skip

    def save(subject: Subject, truth: Any, name: str) -> None:
        path, found = tmp_path / f"{name}.truth.json", tmp_path / f"{name}.json"
        path.write_text(json.dumps(truth))
        found.write_text(json.dumps(subject.found))
        if subject.command == ("check",):
            path = path.rename(tmp_path / f"{name}.yaml")
        files = (path,) if subject.found is None else (path, found)
        done = calque(*subject.command, *files, "--save", f"{name}.state", "--quiet")
        assert (tmp_path / f"{name}.state").exists(), done

    def compare(name: str, change: Change) -> int:
        subject = SUBJECTS[name]
        changed = copy.deepcopy(subject.truth)
        change(changed)
        assert json.dumps(changed) != json.dumps(subject.truth)
        save(subject, subject.truth, "one")
        save(subject, changed, "two")
        return calque("compare", "one.state", "two.state", "--replicates", "100").code

    return compare


@pytest.mark.parametrize(("name", "change"), OTHER, ids=[" ".join(case) for case in OTHER])
def test_compare_changed_ground_truth_exits_2(compared: Callable[[str, Change], int], name: str, change: str) -> None:
    assert compared(name, SUBJECTS[name].other_numbers[change]) == 2


@pytest.mark.parametrize(("name", "change"), SAME, ids=[" ".join(case) for case in SAME])
def test_compare_renamed_or_reordered_ground_truth_compares(
    compared: Callable[[str, Change], int], name: str, change: str
) -> None:
    assert compared(name, SUBJECTS[name].same_numbers[change]) in (0, 3)
