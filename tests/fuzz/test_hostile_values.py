"""Hostile values at every place of a sound file: each verb counts, refuses or says what it left out, and never gives up."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError
from calque.cli.app import calque
from calque.readers.records import read_records
from calque.readers.text.texts import read_texts
from tests.examples import examples
from tests.formats.conftest import DOCLING, OMNI, OMNI_RESULTS, TASKS
from tests.fuzz.test_snapshot_reader import places
from tests.snapshots import valid_predictions, valid_truth
from tests.tables import test_readers as tables

MARK = "@@"
DEEP = 300
HOSTILE = (
    "1e999", "-1e999", "NaN", "1e308", "-1e308", "1.7976931348623157e308", "5e-324", "-5e-324", "1e-155", "1e-158", "1e-161",
    "0", "-0.0", "-1", "1.5", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551616",
    "-9223372036854775809", "7" * 400, "-" + "7" * 400, "0." + "7" * 400, "null", "true", "false", '""', '"a"', '"\\ud800"',
    '"\\u0000"', '"1e999"', '"\\u202e"', "[]", "{}", "[[]]", "[null]", "[{}]", '{"a": null}', '{"type": {}}', '{"": []}',
    "1e-300", "[0, 0, 1e308, 1e308]", "[1e308, 1e308, -1e308, -1e308]", "[0, 0, 1e-160, 1e-160]", "[0, 0, 5e-324, 5e-324]",
    "[0, 0, 1e308, 0, 1e308, 1e308, 1e307, 1e307, 0, 1e308]", "[[0, 0], [1e308, 0], [1, 1], [0, 1e308]]",
    "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP,
)  # fmt: skip
KEYS = ("\ud800", "", "a\x00", "é" * 300, "_value", "type")


@dataclass(frozen=True)
class Subject:
    """Sound files, each the value of a JSON file or the lines of one, and commands that read them all."""

    files: dict[str, Any]
    commands: tuple[str, ...]


COCO = {
    "images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 80}],
    "categories": [{"id": 1, "name": "Figure"}, {"id": 2, "name": "Table"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40], "area": 1200, "iscrowd": 0},
        {"id": 2, "image_id": 1, "category_id": 2, "bbox": [50, 2, 30, 40], "area": 1200, "iscrowd": 1,
         "segmentation": [[50, 2, 80, 2, 80, 42]]},
    ],
}  # fmt: skip
RESULTS = [
    {"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40], "score": 0.5},
    {"image_id": 1, "category_id": 2, "bbox": [50, 3, 30, 40], "score": 0.25},
]
PLAIN = [
    {"bbox": [10, 20, 30, 60], "category": "Table", "doc": "d", "page": 2, "score": 0.5, "id": "x", "width": 100, "height": 90},
    {"poly": [[0, 0], [5, 5], [9, 1]], "label": "Figure", "doc_id": "d", "page": 2, "score": 0.25},
]
ROWS = [
    {"doc_id": "a", "page_index": page, "width": 10.0, "height": 20.0, "boxes": [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 2.0, 3.0]],
     "labels": ["Table", "Figure"], "scores": [0.5, 0.25], "ids": ["x", "y"], "crowd": [True, False],
     "area": [1.0, 2.0], "kind": "k"}
    for page in range(2)
]  # fmt: skip
RECORD = {
    "doc_id": "d",
    "total": {"_value": 5.5, "_bbox": [1, 2, 3, 4], "_confidence": 0.5, "_page": 0},
    "name": "acme",
    "day": "2026-01-02",
    "lines": [{"text": "a", "amount": 1.5, "box": [1, 2, 3, 4]}, {"text": "b", "amount": 2}],
    "tags": ["x", "y"],
}
SCHEMA = {
    "fields": {
        "total": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 2.0},
        "name": {"type": "str", "comparator": "levenshtein", "threshold": 0.7},
        "day": {"type": "str", "comparator": "date"},
        "lines": {
            "type": "list[object]",
            "fields": {"text": {"type": "str"}, "amount": {"type": "any"}, "box": {"type": "any"}},
        },
        "tags": {"type": "list[str]"},
    }
}
WORDS = [{"docid": "d", "wordid": 0, "word": "a"}, {"docid": "d", "wordid": 1, "word": "b"}]
LATTICE = {"d": [[["a"], ["b"]], [["b"]]], "e": {"edges": [[0, 1, ["a"]], [1, 2, ["b", "c"]]], "start": 0, "finals": [2]}}
ORDER_ROWS = [
    {
        "doc_id": "d",
        "page_index": 0,
        "boxes": [[0, 0, 5, 5], [0, 6, 5, 9], [6, 0, 9, 9]],
        "labels": ["Text", "Page-footer", "Text"],
        "ids": ["a", "b", "c"],
        "order": ["a", {"unordered": ["b", ["c"]]}],
    },
    {"doc_id": "d", "page_index": 1, "order": ["x", "y", ["z"]]},
]
SUITE = {
    "name": "s",
    "evaluators": [
        {"type": "iou_score", "bbox_path": "boxes", "expected_bbox_path": "boxes", "threshold": 0.3, "weight": 2},
        {"type": "iou_score", "bbox_path": "quads", "expected_bbox_path": "quads", "format": "quad", "name": "quads"},
    ],
    "cases": [
        {"id": "c", "output": {"boxes": [[0, 0, 2, 2]], "quads": [[0, 0, 4, 0, 1, 1, 0, 4]]},
         "expected": {"boxes": [[0, 0, 2, 3]], "quads": [[0, 0, 4, 0, 1, 2, 0, 4]]}},
    ],
}  # fmt: skip
BOXES = ("detect {0} {1} --format json", "detect {0} {1} --format jsonl --sweep --crops --confusion",
         "layout {0} {1} --format json", "validate {0} {1}", "audit {0} {1}")  # fmt: skip
TO = tuple(f"convert {{0}} {kind}.out --to {kind}" for kind in ("coco", "snapshot", "yolo", "ndjson", "plain", "voc"))
SUBJECTS = {
    "snapshot": Subject({"truth.json": valid_truth(), "found.json": valid_predictions()}, (*BOXES, *TO)),
    "coco": Subject({"truth.json": COCO, "found.json": RESULTS}, (*BOXES, *TO)),
    "plain": Subject({"truth.json": PLAIN, "found.json": PLAIN[:1]}, (*BOXES, *TO)),
    "label studio": Subject({"truth.json": TASKS, "found.json": TASKS[:1]}, (*BOXES, *TO)),
    "omnidocbench": Subject({"truth.json": OMNI, "found.json": OMNI_RESULTS}, (*BOXES, *TO)),
    "docling": Subject({"truth.json": DOCLING, "found.json": DOCLING}, (*BOXES[:3], TO[0])),
    "ndjson": Subject({"truth.ndjson": ROWS, "found.ndjson": ROWS[:1]}, (*BOXES, *TO)),
    "fields": Subject(
        {"truth.jsonl": [RECORD, RECORD | {"doc_id": "e"}], "found.jsonl": [RECORD], "schema.json": SCHEMA},
        tuple(f"fields {{0}} {{1}} --schema {{2}} --format {kind}" for kind in ("json", "jsonl --accounting paired", "csv")),
    ),
    "fields without schema": Subject(
        {"truth.jsonl": [RECORD, RECORD | {"doc_id": "e"}], "found.jsonl": [RECORD]},
        ("fields {0} {1} --format json", "validate {0} {1}"),
    ),
    "words": Subject({"truth.json": {"d": ["a", "b"]}, "found.json": {"d": ["a", "c"]}}, ("words {0} {1} --cer --errors 3",)),
    "words by line": Subject({"truth.jsonl": WORDS, "found.jsonl": WORDS}, ("words {0} {1} --format jsonl",)),
    "lattice": Subject(
        {"truth.json": {"d": ["a", "b"], "e": ["a", "b"]}, "lattice.json": LATTICE},
        ("words {0} {0} --lattice {1} --format json",),
    ),
    "check": Subject({"suite.check.yaml": SUITE}, ("check {0} --format json", "check {0} --format junit")),
    "tables": Subject(
        {file: [{"id": "t", "page": 1, "box": [0, 0, 5, 5], "cells": tables.listed()}] for file in ("truth.json", "pred.json")},
        ("tables {0} {1} --format json", "tables {0} {1} --lenient --format jsonl", "validate {0} {1}"),
    ),
    "tables by line": Subject(
        {"truth.jsonl": [tables.PUBTABNET], "found.jsonl": [tables.PUBTABNET]}, ("tables {0} {1} --format csv",)
    ),
    "order": Subject(
        {"truth.json": ORDER_ROWS, "found.json": ORDER_ROWS},
        ("order {0} {1} --format json", "order {0} {1} --pair id --format jsonl", "validate {0} {1}"),
    ),
    "ceiling": Subject(
        {"truth.json": COCO, "one.json": RESULTS, "two.json": RESULTS[:1]},
        ("ceiling {0} {1} {2} --format json", "ceiling {0} {1} {2} --format jsonl"),
    ),
    "ceiling of fields": Subject(
        {"truth.jsonl": [RECORD, RECORD | {"doc_id": "e"}], "one.jsonl": [RECORD], "two.jsonl": [RECORD]},
        ("ceiling {0} {1} {2} --task fields --format json",),
    ),
    "class map": Subject(
        {"map.json": {"Figure": ["Picture"], "Table": None}, "truth.json": valid_truth(), "found.json": valid_predictions()},
        ("detect {1} {2} --class-map {0}",),
    ),
}  # fmt: skip


def spelt(name: str, tree: Any, hostile: str) -> bytes:
    """The file with the hostile text where the mark stands."""
    whole = (
        "\n".join(map(json.dumps, tree)) if name.endswith(("ndjson", "jsonl")) and isinstance(tree, list) else json.dumps(tree)
    )
    return whole.replace(json.dumps(MARK), hostile).encode()


def attacks(subject: Subject) -> Iterator[tuple[str, Any]]:
    """Every file with the mark at each of its places in turn, under a strange key, and in place of everything."""
    for name, tree in subject.files.items():
        for number in range(sum(1 for _ in places(tree))):
            for key in (None, *(KEYS if number % 5 == 0 else ())):
                changed = copy.deepcopy(tree)
                container, place = next(itertools.islice(places(changed), number, None))
                if key is None:
                    container[place] = MARK
                elif isinstance(container, dict):
                    container[key] = MARK
                else:
                    continue
                yield name, changed
        yield name, MARK


def run(command: str, files: list[str]) -> None:
    """Run it as the entry point does; what that one would not know how to tell comes out of here."""
    arguments = command.format(*files).split()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = calque.main(arguments, prog_name="calque", standalone_mode=False)
        except (CalqueError, click.ClickException, OSError):
            return
    assert code in (None, 0, 1, 2, 3)


def attack(folder: Path, subject: Subject, attacked: tuple[str, Any], hostile: str) -> None:
    for name, tree in subject.files.items():
        (folder / name).write_bytes(spelt(name, attacked[1] if name == attacked[0] else tree, hostile))
    for command in subject.commands:
        run(command, list(subject.files))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


ATTACKS = {name: list(attacks(subject)) for name, subject in SUBJECTS.items()}


@pytest.mark.parametrize("name", SUBJECTS)
def test_samples_are_sound(folder: Path, name: str) -> None:
    subject = SUBJECTS[name]
    for file, tree in subject.files.items():
        (folder / file).write_bytes(spelt(file, tree, ""))
    with contextlib.redirect_stdout(io.StringIO()):
        code = calque.main(subject.commands[0].format(*subject.files).split(), prog_name="calque", standalone_mode=False)
    assert code in (0, 1, 3)


@pytest.mark.parametrize("name", SUBJECTS)
@examples(60)
@given(data=st.data())
def test_no_value_ends_a_run_in_another_way(folder: Path, name: str, data: st.DataObject) -> None:
    attacked = ATTACKS[name][data.draw(st.integers(0, len(ATTACKS[name]) - 1))]
    attack(folder, SUBJECTS[name], attacked, data.draw(st.sampled_from(HOSTILE)))


@pytest.mark.parametrize(
    ("name", "file", "path", "hostile"),
    [
        ("coco", "found.json", [0, "score"], "1e999"),
        ("coco", "found.json", [0, "bbox"], "[1, 2, 1e-158, 1e-158]"),
        ("coco", "truth.json", ["annotations", 0, "bbox"], "[1, 2, 1e-155, 1e-161]"),
        ("coco", "truth.json", ["categories", 0, "id"], "18446744073709551616"),
        ("coco", "truth.json", ["images", 0, "width"], "7" * 400),
        ("plain", "truth.json", [0, "height"], "5e-324"),
        ("plain", "truth.json", [1, "poly"], "[[0, 0], [1e308, 0], [1, 1], [0, 1e308]]"),
        ("label studio", "truth.json", [0, "annotations", 0, "result", 0, "type"], "{}"),
        ("fields", "truth.jsonl", [0, "lines", 0, "amount"], "[" * DEEP + "]" * DEEP),
        ("fields", "schema.json", ["fields", "total", "weight"], "7" * 400),
        ("fields without schema", "truth.jsonl", [0, "\ud800"], "1"),
        ("words", "found.json", ["d"], "null"),
        ("lattice", "lattice.json", ["e", "finals"], "[[]]"),
        ("check", "suite.check.yaml", ["evaluators", 0, "weight"], "7" * 400),
        ("check", "suite.check.yaml", ["cases", 0, "output", "quads"], "[[0, 0, 1e308, 0, 1e307, 1e307, 0, 1e308]]"),
    ],
)
def test_values_that_once_did(folder: Path, name: str, file: str, path: list[Any], hostile: str) -> None:
    tree = copy.deepcopy(SUBJECTS[name].files[file])
    node = tree
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = MARK
    attack(folder, SUBJECTS[name], (file, tree), hostile)


def test_word_ids_that_no_column_holds_are_named(folder: Path) -> None:
    (folder / "w.tsv").write_text(f"docid\twordid\tword\nd\t{2**63}\ta\nd\t{'9' * 5000}\tb\n")
    with pytest.raises(CalqueError, match=r"line 2: wordid .* is not a whole number"):
        read_texts(folder / "w.tsv")


def test_compressed_lines_are_records_like_others(folder: Path) -> None:
    lines = "".join(json.dumps(RECORD | {"doc_id": name}) + "\n" for name in "ab").encode()
    (folder / "plain.jsonl").write_bytes(lines)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(lines))
    plain, packed = (read_records(folder / name) for name in ("plain.jsonl", "packed.jsonl.gz"))
    assert packed.documents == plain.documents == ("a", "b")
    assert list(packed.records) == list(plain.records)
