"""Mutated files of every format: the reader returns a corpus or raises a CalqueError, never anything else."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import CalqueError, Corpus, Detection, Evaluator, read
from calque.corpus.class_map import class_map
from calque.readers.boxes import formats
from calque.readers.boxes.convert import converted
from calque.readers.boxes.yolo import image_size
from tests.examples import examples
from tests.formats.conftest import ALTO, DOCLING, OLD_PAGE, OMNI, OMNI_RESULTS, PAGE, TASKS, VOC, jpeg, png
from tests.fuzz.test_snapshot_reader import places, values

PLAIN = [
    {"bbox": [10, 20, 30, 60], "category": "Table", "doc": "d", "page": 2, "score": 0.5, "id": "x", "width": 100, "height": 90},
    {"poly": [[0, 0], [5, 5], [9, 1]], "label": "Figure", "doc_id": "d"},
]
TREES: dict[str, Any] = {
    "label-studio": TASKS,
    "omnidocbench": OMNI,
    "omnidocbench results": OMNI_RESULTS,
    "docling": DOCLING,
    "plain": PLAIN,
}
TEXTS = {"voc": VOC, "page": PAGE, "old page": OLD_PAGE, "alto": ALTO}
YOLO = "1 0.5 0.5 0.2 0.4 0.9\n0 0.1 0.1 0.3 0.1 0.3 0.5 0.1 0.5\n"


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from(list(TREES)))
    tree = copy.deepcopy(TREES[name])
    for _ in range(draw(st.integers(1, 4))):
        spots = list(places(tree))
        if not spots:
            break
        container, key = draw(st.sampled_from(spots))
        action = draw(st.sampled_from(["replace", "remove", "repeat"]))
        if action == "replace":
            container[key] = copy.deepcopy(draw(values))
        elif action == "remove":
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[draw(st.text(max_size=6))] = copy.deepcopy(container[key])
    return name.split()[0], tree


def attempt(source: Any, **options: Any) -> None:
    """Read it for either side; what is accepted can be evaluated and written in every format."""
    for side in ("ground_truth", "prediction"):
        try:
            corpus = read(source, side=side, **options)
        except CalqueError:
            continue
        assert isinstance(corpus, Corpus)
        try:
            Evaluator(Detection()).update(corpus, corpus).compute().to_json()
        except CalqueError:
            continue
        for target in formats.FORMATS:
            if target.write is not None:
                try:
                    converted(corpus, target, (1000, 1400))
                except CalqueError:
                    continue


options = st.fixed_dictionaries(
    {},
    optional={
        "boxes": st.sampled_from(["xyxy", "xywh", "cxcywh", "polygon"]),
        "units": st.sampled_from(["pixels", "normalized", "percent", "thousand"]),
        "origin": st.sampled_from(["top_left", "bottom_left"]),
        "page_size": st.just((100.0, 200.0)),
        "lenient": st.booleans(),
        "document_key": st.just("stem"),
    },
)


@examples(200)
@given(drawn=mutated(), more=options, named=st.booleans())
def test_mutated_trees(drawn: tuple[str, Any], more: dict[str, Any], named: bool) -> None:
    name, tree = drawn
    if isinstance(tree, dict | list):
        attempt(tree, **more, **({"format": name} if named else {}))


def test_half_of_a_surrogate_pair() -> None:
    attempt([{"bbox": [1, 2, 3, 4], "category": "a\ud800", "doc": "\ud800b", "id": "\udfff"}])
    attempt([{"bbox": [1, 2, 3, 4], "category": "a\ud800", "doc": "\ud800b"}] * 2, document_key="stem")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.binary(max_size=6)), min_size=1, max_size=4)


def edited(original: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    data = bytearray(original)
    for where, removed, put in changes:
        start = int(where * len(data))
        data[start : start + removed] = put
    return bytes(data)


@examples(150)
@given(name=st.sampled_from([*TREES, *TEXTS]), changes=edits)
@example(name="voc", changes=[(0.0, 0, b"<!DOCTYPE a SYSTEM 'file:///etc/passwd'>")])
@example(name="page", changes=[(0.0, 9999, b"<a>" * 5000)])
@example(name="alto", changes=[(0.0, 9999, b"<")])
def test_mutated_bytes(folder: Path, name: str, changes: list[tuple[float, int, bytes]]) -> None:
    original = TEXTS[name] if name in TEXTS else json.dumps(TREES[name])
    file = folder / ("file.xml" if name in TEXTS else "file.json")
    file.write_bytes(edited(original.encode(), changes))
    attempt(file)
    attempt(file, format={"old page": "page"}.get(name, name.split(maxsplit=1)[0]))


words = st.sampled_from(["0", "1", "-1", "0.5", "1e400", "nan", "inf", "1_0", "0x1", "Figure", "é", "9999999999999999999999"])


@examples(100)
@given(lines=st.lists(st.lists(words, max_size=8).map(" ".join), max_size=4), names=st.binary(max_size=30), changes=edits)
def test_mutated_yolo_folders(folder: Path, lines: list[str], names: bytes, changes: list[tuple[float, int, bytes]]) -> None:
    root = folder / "yolo"
    root.mkdir(exist_ok=True)
    (root / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    (root / "b.txt").write_bytes(edited(YOLO.encode(), changes))
    (root / "data.yaml").write_bytes(b"names: " + names)
    (root / "a.png").write_bytes(edited(png(10, 20), changes))
    attempt(root, format="yolo")
    attempt(root)


@examples(100)
@given(original=st.sampled_from([png(10, 20), jpeg(30, 40)]), changes=edits)
def test_mutated_images(folder: Path, original: bytes, changes: list[tuple[float, int, bytes]]) -> None:
    (folder / "image").write_bytes(edited(original, changes))
    size = image_size(folder / "image")
    assert size is None or min(size) > 0


@examples(100)
@given(data=st.one_of(st.binary(max_size=40), st.text("ab:[]{}*&!-, \n\t'\"#|>", max_size=40).map(str.encode)))
@example(b"a: &x [*x]\n")
@example(b"? [a]\n: b\n")
def test_any_class_map(folder: Path, data: bytes) -> None:
    attempt_class_map(folder, data)


def test_class_map_nested_beyond_reading(folder: Path) -> None:
    # Not an example of the property: hypothesis allows a deeper stack, in which YAML takes twice as long to give up.
    attempt_class_map(folder, b"[" * 100_000)


def attempt_class_map(folder: Path, data: bytes) -> None:
    (folder / "map.yaml").write_bytes(data)
    try:
        pairs = class_map(folder / "map.yaml")
    except CalqueError:
        return
    assert pairs == class_map(pairs) == class_map({label: target or None for label, target in pairs})
