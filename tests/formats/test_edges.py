"""What is refused, and what is only noticed, at the edges of the formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, Detection, read
from calque.base.errors import Severity
from calque.readers import read_pair
from tests.conftest import Run
from tests.formats.conftest import ALTO, OMNI, PAGE, VOC, saved
from tests.snapshots import write


def plain(*boxes: list[float], **more: Any) -> list[dict[str, Any]]:
    return [{"bbox": box, "category": "a", "doc": "d", **more} for box in boxes]


def codes(corpus: Any) -> list[str]:
    """What was noticed; what is an error would have been refused."""
    assert all(issue.severity is not Severity.ERROR for issue in corpus.issues)
    return [issue.code for issue in corpus.issues]


def test_pages_of_another_shape_are_not_scaled() -> None:
    _, found = read_pair(plain([0, 0, 9, 9], width=100, height=200), plain([0, 0, 9, 9], width=200, height=100, score=1))
    assert codes(found) == ["page-sizes-differ"]
    assert found.boxes.tolist() == [[0, 0, 9, 9]]


def test_a_page_of_known_size_beside_one_that_is_not() -> None:
    truth = [*plain([0, 0, 10, 20], width=100, height=200), *plain([0, 0, 10, 20], page=1)]
    found = [*plain([0, 0, 20, 40], width=200, height=400, score=1), *plain([0, 0, 10, 20], page=1, score=1)]
    _, scaled = read_pair(truth, found)
    assert codes(scaled) == ["pages-scaled"]
    assert scaled.boxes.tolist() == [[0, 0, 10, 20], [0, 0, 10, 20]]


@pytest.mark.parametrize("score", [1.5, -0.1, 97])
def test_scores_out_of_range(score: float) -> None:
    with pytest.raises(CalqueError, match="not from 0 to 1") as refused:
        read(plain([0, 0, 9, 9], score=score), side="prediction")
    assert ("look like percent" in str(refused.value)) == (score > 1)


def test_scores_that_are_no_numbers() -> None:
    with pytest.raises(CalqueError, match="/0/score: expected a number from 0 to 1"):
        read(plain([0, 0, 9, 9], score="high"))


def test_a_page_that_occurs_twice() -> None:
    with pytest.raises(CalqueError, match="pass --lenient to have them merged"):
        read(OMNI * 2)
    corpus = read(OMNI * 2, lenient=True)
    assert codes(corpus) == ["duplicate-page"]
    assert (len(corpus), len(corpus.page_index)) == (4, 1)


def test_pages_whose_metadata_differ() -> None:
    tree = json.loads(json.dumps(OMNI * 2))
    for number, sample in enumerate(tree):
        sample["page_info"] |= {"image_path": f"book_p00{number}.png", "page_attribute": {"language": ["en", "fr"][number]}}
    corpus = read(tree, metadata=True)
    assert corpus.metadata == {"language": {"book": None}}
    assert codes(corpus) == ["metadata-differs"]


@pytest.mark.parametrize(("content", "format"), [(VOC, "page"), (PAGE, "alto"), (ALTO, "voc")])
def test_xml_of_another_format(tmp_path: Path, content: str, format: str) -> None:
    with pytest.raises(CalqueError, match=r"line [12]: expected"):
        read(saved(tmp_path / "x.xml", content), format=format)


def test_regions_and_blocks_without_a_place(tmp_path: Path) -> None:
    with pytest.raises(CalqueError, match="has no outline"):
        read(saved(tmp_path / "p.xml", PAGE.replace('points="10,20 30,20 30,60 10,60"', 'points="10,20 30"')))
    with pytest.raises(CalqueError, match="lacks one of HPOS"):
        read(saved(tmp_path / "a.xml", ALTO.replace('HPOS="5"', "")))


def test_xml_that_no_format_reads(tmp_path: Path) -> None:
    with pytest.raises(CalqueError, match="contains XML"):
        read(saved(tmp_path / "x.xml", "<!-- <alto> --><html/>"))


def test_folders_that_no_format_reads(tmp_path: Path) -> None:
    with pytest.raises(CalqueError, match="contains no files"):
        read(tmp_path)
    saved(tmp_path / "notes.md", "hello")
    with pytest.raises(CalqueError, match=r"contains notes\.md"):
        read(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {"boxes": "yxyx"},
        {"units": "inches"},
        {"origin": "top"},
        {"page_size": (1,)},
        {"page_size": (0, 5)},
        {"page_size": (float("nan"), 5)},
    ],
)
def test_settings_that_mean_nothing(settings: dict[str, Any]) -> None:
    with pytest.raises(CalqueError, match="must be"):
        Detection(**settings)
    with pytest.raises(CalqueError, match="must be"):
        read(plain([0, 0, 9, 9]), **settings)


def test_integers_beyond_any_float() -> None:
    corpus = read([*plain([0, 0, 9, 10**400]), *plain([0, 0, 9, 9])])
    assert codes(corpus) == ["box-invalid"]


def test_validate_names_losses_and_refuses_pairs(calque: Callable[..., Run], tmp_path: Path) -> None:
    write(tmp_path / "a.json", plain([0, 0, 9, 9]))
    write(tmp_path / "b.json", plain([0.5, 0.5, 0.75, 0.75], score=0.5))
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "d.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    run = calque("validate", "a.json", "yolo")
    assert run.code == 2
    assert "a.json and yolo: not valid" in run.out
    assert "--page-size W,H" in run.out
    assert calque("validate", "a.json", "yolo", "--page-size", "10,10").code == 0
    report = calque("validate", "b.json", "--format", "json").json
    assert report["files"][0]["issues"][0]["code"] == "looks-normalized"


def test_xml_without_lxml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lxml", None)
    with pytest.raises(CalqueError, match=r"pip install 'calque-eval\[xml\]'"):
        read(saved(tmp_path / "x.xml", VOC))


@pytest.mark.parametrize("format", ["coco", "plain"])
def test_boxes_too_large_for_an_area_are_no_boxes(calque: Callable[..., Run], tmp_path: Path, format: str) -> None:
    """A number that overflows would spoil every sum that it enters."""
    huge, fine = [0, 0, 1e200, 1e200], [0, 0, 10, 10]
    if format == "coco":
        truth: Any = {
            "images": [{"id": 1, "width": 100, "height": 100}],
            "categories": [{"id": 1, "name": "Table"}],
            "annotations": [{"id": n, "image_id": 1, "category_id": 1, "bbox": box} for n, box in enumerate((huge, fine), 1)],
        }
        found: Any = [{"image_id": 1, "category_id": 1, "bbox": box, "score": 0.5} for box in (huge, fine)]
    else:
        truth = [{"bbox": box, "category": "Table", "doc_id": "a"} for box in (huge, fine)]
        found = [{**entry, "score": 0.5} for entry in truth]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "pred.json").write_text(json.dumps(found))
    run = calque("detect", "gt.json", "pred.json", "--page-view", "--crops", "--format", "json")
    assert run.code == 3
    assert run.json["counts"]["truths_not_counted"] == {"bad_box": 1}
    assert run.json["page_view"]["overall"]["found_area"] == 100.0
    assert {issue["code"] for issue in run.json["issues"]} == {"box-invalid"}
