"""Class maps: many to one, drop, per side; every label that is not mapped is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, Detection, Evaluator, read
from calque.corpus.boxes import BoxCorpus
from calque.corpus.class_map import class_map, target_of
from calque.readers import read_pair
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth

LOW = (0.1, 0.6, 0.9, 0.9)


def plain(*labels: str) -> list[dict[str, Any]]:
    return [
        {"doc": "d", "category": label, "bbox": [100 * number, 0, 100 * number + 50, 50], "score": 0.5}
        for number, label in enumerate(labels)
    ]


def issues(corpus: Any) -> dict[str, Any]:
    return {issue.code: issue for issue in corpus.issues}


@pytest.mark.parametrize(
    "text",
    [
        "Picture: Figure\nChart: Figure\nHeader: drop\n",
        "Picture: Figure\nChart: Figure\nHeader:\n",
        "Figure: [Picture, Chart]\ndrop: [Header]\n",
        "map: {Picture: Figure, Chart: Figure}\ndrop: [Header]\n",
        '{"Picture": "Figure", "Chart": "Figure", "Header": null}',
        '{\t"Figure": ["Picture", "Chart"], "drop": ["Header"]}',
    ],
)
def test_ways_to_write_a_map(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    assert class_map(path) == (("Chart", "Figure"), ("Header", ""), ("Picture", "Figure"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "label: target"),
        ("a: {b: c}\n", "put it in quotes"),
        ("a: true\n", "put it in quotes"),
        ("A: [x]\nB: [x]\n", "keep one"),
        ("a: [b\n", "line 2 column 1"),
        ("a: !!python/object/apply:os.system ['true']\n", "tag .* is not allowed"),
        ("a: b\nc: d\na: e\n", "line 3 column 1: the key 'a' occurs twice"),
        ('{"a": "b", "a": "b"}', "the key 'a' occurs twice"),
        ('{"map": {"a": "b", "a": null}}', "the key 'a' occurs twice"),
    ],
)
def test_maps_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    with pytest.raises(CalqueError, match=message):
        class_map(path)
    with pytest.raises(CalqueError, match="cannot be read"):
        class_map(tmp_path / "nothing.yaml")


BOMB = "".join(f"{chr(98 + step)}: &{chr(98 + step)} [{', '.join([f'*{chr(97 + step)}'] * 9)}]\n" for step in range(12))


def test_aliases_that_unfold_to_gigabytes_are_refused_at_the_line(tmp_path: Path) -> None:
    """The names of YOLO's classes and class maps are read by the loader of suites, which counts what aliases stand for."""
    bomb = "a: &a [x, x, x]\n" + BOMB
    (tmp_path / "map.yaml").write_text(bomb)
    with pytest.raises(CalqueError, match=r"line \d+ column \d+: the aliases unfold to more than"):
        class_map(tmp_path / "map.yaml")
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    (labels / "data.yaml").write_text(bomb + "names: *m\n")
    with pytest.raises(CalqueError, match=r"line \d+ column \d+: the aliases unfold to more than"):
        read(labels)


@pytest.mark.parametrize("names", ["[Figure, Table]", "{0: Figure, 1: Table}", "{'0': Figure, 1: Table}"])
def test_names_of_yolo_by_place_or_by_number(tmp_path: Path, names: str) -> None:
    (tmp_path / "a.txt").write_text("1 0.5 0.5 0.1 0.1\n")
    (tmp_path / "data.yaml").write_text(f"names: {names}\n")
    corpus = read(tmp_path)
    assert [corpus.labels[code] for code in corpus.label] == ["Table"]


def test_a_number_of_yolo_has_one_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 0.5 0.5 0.1 0.1\n")
    for twice in ("{1: Table, 1: Figure}", "{1: Table, 01: Figure}"):
        (tmp_path / "data.yaml").write_text(f"names: {twice}\n")
        with pytest.raises(CalqueError, match="twice"):
            read(tmp_path)


def test_the_own_entry_goes_before_patterns_and_long_patterns_before_short() -> None:
    pairs = class_map({"Text:*": "Text", "Text:head*": "Title", "Text:header": None, "*": "Other"})
    names = ["Text:header", "Text:heading", "Text:body", "Picture"]
    assert [target_of(name, pairs) for name in names] == ["", "Title", "Text", "Other"]


def test_many_to_one_and_drop() -> None:
    found_map = {"Picture": "Figure", "Chart": "Figure", "Page-header": None}
    expected, found = read_pair(
        plain("Figure", "Figure", "Table"), plain("Picture", "Chart", "Page-header"), class_map_pred=found_map
    )
    result = Evaluator(Detection()).update(expected, found).compute()
    assert result["tp@0.5/Figure"] == 2
    assert result["fp@0.5"] == 0, "what is dropped is not made up"
    assert result.numbers["counts"]["predictions_not_counted"] == {"other_label": 1}
    assert issues(found)["label-dropped"].message == "1 label is dropped by the class map: 'Page-header' (1)"
    assert not result.incomplete, "dropped on purpose: exit code 0"
    _, found = read_pair(plain("T"), plain("x", "b", "b", "a", "T"), class_map_pred=dict.fromkeys("xba"))
    assert issues(found)["label-dropped"].message.endswith(": 'b' (2), 'a' (1), 'x' (1)"), "the most frequent first"


def test_dropped_objects_keep_their_rows() -> None:
    task = Detection(class_map={"Table": None})
    rows = list(Evaluator(task).update(plain("Figure", "Table"), plain("Figure", "Table")).compute().outcomes().rows())
    assert len(rows) == 4


def test_labels_that_are_not_mapped_are_named_and_kept() -> None:
    _, found = read_pair(plain("Figure", "Table"), plain("Picture", "Table", "Table"), class_map_pred={"Picture": "Figure"})
    assert "'Table' (2)" in issues(found)["label-not-mapped"].message
    assert found.labels == ("Figure", "Table")


def test_an_entry_for_a_label_that_is_not_there() -> None:
    _, found = read_pair(plain("Figure"), plain("Picture"), class_map_pred={"Picture": "Figure", "Pictures": "Figure"})
    assert "did you mean 'Picture'" in issues(found)["label-unused"].help
    _, found = read_pair(plain("Figure"), plain("Picture"), class_map_pred={"Picture": "Figure", "Xyz": "Figure"})
    assert issues(found)["label-unused"].help == "", "nothing is like it"


def test_each_side_has_its_own_map() -> None:
    task = Detection(class_map_truth={"Figure": "Visual", "Table": "Visual"}, class_map_pred={"Bild": "Visual"})
    result = Evaluator(task).update(plain("Figure", "Table"), plain("Bild", "Bild")).compute()
    assert result["f1@0.5/Visual"] == 1.0


def test_rule_2_compares_the_mapped_labels() -> None:
    """Two snapshot files with different label maps are refused, unless a class map makes their labels the same."""
    expected = truth({("a", 0): [("Figure", BOX), ("Table", LOW)]})
    found = predictions({("a", 0): [("Figure", BOX, 0.9), ("Table", LOW, 0.9)]})
    found["label_map"] = {"7": "figure", "9": "chart", "3": "table"}
    for entry, name in zip(found["predictions"][0]["objects"], ("chart", "table"), strict=True):
        entry["label"] = name
    with pytest.raises(CalqueError, match="write a class map"):
        read_pair(expected, found)
    task = Detection(class_map_pred={"figure": "Figure", "chart": "Figure", "table": "Table"})
    assert Evaluator(task).update(expected, found).compute()["f1@0.5"] == 1.0
    with pytest.raises(CalqueError, match=r"'chart' is a label of .* and not of"):
        read_pair(expected, found, class_map_pred={"figure": "Figure", "table": "Table"})


def test_coco_results_share_the_map_of_their_truth() -> None:
    tree = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}],
    }
    results = [{"image_id": 1, "category_id": 2, "bbox": [0, 0, 9, 9], "score": 1}]
    task = Detection(class_map_truth={"a": "x", "b": "x"})
    assert Evaluator(task).update(tree, results).compute()["f1@0.5/x"] == 1.0


def test_labels_that_do_not_meet() -> None:
    _, found = read_pair(plain("Figure", "Table"), plain("figure", "table"))
    note = issues(found)["labels-do-not-meet"]
    assert "truth has 'Figure', 'Table'; predictions have 'figure', 'table'" in note.message
    assert "{ figure: Figure, table: Table, ... }" in note.help


def test_labels_of_one_side_that_look_like_the_others() -> None:
    _, found = read_pair(plain("Figure", "Page-header"), plain("Figure", "page_header"))
    assert "'page_header' → 'Page-header'" in issues(found)["label-one-sided"].help


def test_the_map_is_in_the_signature_and_in_states() -> None:
    task = Detection(class_map_pred={"b": "a", "c": None})
    assert "class-map-pred:b='a',c=''" in str(task.signature())
    evaluator = Evaluator(task).update(plain("a"), plain("b"))
    again = Evaluator.from_state(evaluator.state())
    assert again.compute().to_json() == evaluator.compute().to_json()
    with pytest.raises(CalqueError, match="class-map-pred"):
        again.merge(Evaluator(Detection()).update(plain("a"), plain("b")))


def test_one_map_for_both_sides_or_one_each() -> None:
    with pytest.raises(CalqueError, match="for both sides"):
        Detection(class_map={"a": "b"}, class_map_pred={"a": "b"})


def test_on_the_command_line(calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(json.dumps(plain("Figure", "Figure")))
    (tmp_path / "found.json").write_text(json.dumps(plain("Picture", "Chart")))
    (tmp_path / "map.yaml").write_text("Figure: [Picture, Chart]\n")
    without = calque("detect", "truth.json", "found.json", "--format", "json")
    assert without.json["issues"][0]["code"] == "labels-do-not-meet"
    run = calque("detect", "truth.json", "found.json", "--class-map-pred", "map.yaml", "--format", "json")
    assert run.code == 0
    assert run.json["metrics"]["0.5"]["micro"]["f1"] == 1.0


def test_a_class_of_yolo_may_be_written_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Table 0.5 0.5 0.1 0.1\n0 0.5 0.5 0.1 0.1\nTabel 0.5 0.5 0.1 0.1\n")
    (tmp_path / "data.yaml").write_text("names: [Figure, Table]\n")
    corpus = read(tmp_path, format="yolo")
    assert [corpus.labels[code] if code >= 0 else None for code in corpus.label] == ["Table", "Figure", None]
    assert "unknown-category" in [issue.code for issue in corpus.issues]


def test_ids_of_classes_follow_their_names() -> None:
    """Where a file has ids they lead to the new names, dropped classes have none, and a file without ids gets none."""
    boxes = [{"id": n, "image_id": 1, "category_id": n, "bbox": [0, 0, 5, 5], "area": 25, "iscrowd": 0} for n in (1, 2, 3)]
    names = [{"id": n, "name": name} for n, name in ((1, "figure"), (2, "table"), (3, "stamp"))]
    coco = {"images": [{"id": 1, "width": 9, "height": 9}], "categories": names, "annotations": boxes}
    renamed = {"figure": "Picture", "stamp": None}
    mapped, plain = (
        read(source, class_map=renamed) for source in (coco, [{"doc": "a", "category": "figure", "bbox": [0, 0, 5, 5]}])
    )
    assert isinstance(mapped, BoxCorpus)
    assert isinstance(plain, BoxCorpus)
    assert mapped.label_map == {1: "Picture", 2: "table"}
    assert (plain.label_map, plain.labels) == (None, ("Picture",))


@pytest.mark.parametrize(("count", "told"), [(1, "0"), (2, "0 to 1"), (12, "0 to 11")])
def test_a_class_of_yolo_without_a_name_is_told_which_there_are(tmp_path: Path, count: int, told: str) -> None:
    (tmp_path / "a.txt").write_text("99 0.5 0.5 0.2 0.2\n0 0.5 0.5 0.1 0.1\n")
    (tmp_path / "classes.txt").write_text("".join(f"class {number}\n" for number in range(count)))
    (issue,) = (issue for issue in read(tmp_path, format="yolo").issues if issue.code == "unknown-category")
    assert (issue.message, issue.help) == ("the class '99' has no name", f"names are given for {told}")
