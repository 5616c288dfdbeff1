"""Outlines and turned boxes as every format draws them: what is kept, what is refused, and what a conversion carries."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator
from calque.base.errors import ContractError, Severity
from calque.corpus.boxes import BoxCorpus
from calque.detection import Detection
from calque.geometry.rings import is_upright_box
from calque.readers import read
from calque.readers.boxes import formats
from calque.readers.boxes.convert import converted
from calque.readers.sources.source import Source

DIAMOND = [50.0, 10.0, 90.0, 50.0, 50.0, 90.0, 10.0, 50.0]
HOOK = [10.0, 10.0, 90.0, 10.0, 90.0, 90.0, 60.0, 90.0, 60.0, 40.0, 10.0, 40.0]


def boxes(source: Any, **options: Any) -> BoxCorpus:
    corpus = read(source, **options)
    assert isinstance(corpus, BoxCorpus)
    return corpus


def rings(corpus: BoxCorpus) -> list[list[float]]:
    return [[] if corpus.outlines is None else [round(v, 9) for v in corpus.outlines.ring(row)] for row in range(len(corpus))]


def coco(*shapes: dict[str, Any]) -> dict[str, Any]:
    rows = [{"id": n, "image_id": 1, "category_id": 1, **shape} for n, shape in enumerate(shapes, start=1)]
    return {"images": [{"id": 1, "width": 100, "height": 100}], "categories": [{"id": 1, "name": "a"}], "annotations": rows}


def test_turned_boxes_of_coco_turn_as_their_makers_say(tmp_path: Path) -> None:
    """``obb`` turns from x towards y in radians; a box of five numbers the other way, in degrees."""
    corner = [50 + 20 * math.cos(math.radians(30)) - 10 * math.sin(math.radians(30)),
              50 + 20 * math.sin(math.radians(30)) + 10 * math.cos(math.radians(30))]  # fmt: skip
    tree = coco(
        {"obb": [50, 50, 40, 20, math.radians(30)]},
        {"bbox": [50, 50, 40, 20, -30]},
        {"bbox": [50, 50, 40, 20, 90]},
        {"bbox": [50, 50, 40, 20, 0]},
        {"bbox": DIAMOND},
        {"bbox": [1, 2, 3, 4], "obb": [50, 50, 40, 20, 0.5]},
    )
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(tree))
    for source in (tree, path):
        corpus = boxes(source)
        found = rings(corpus)
        assert found[0][4:6] == pytest.approx(corner)
        assert found[0] == pytest.approx(found[1])
        assert found[2:5] == [[], [], DIAMOND]
        assert corpus.boxes[2].tolist() == [40, 30, 20, 40]
        assert corpus.boxes[3].tolist() == [30, 40, 40, 20]
        assert corpus.boxes[5].tolist() == [1, 2, 3, 4]
        assert len(found[5]) == 8


def test_lines_of_yolo(tmp_path: Path) -> None:
    lines = {
        "0 0.5 0.5 0.2 0.2": (0, math.nan),
        "0 0.5 0.5 0.2 0.2 0.7": (0, 0.7),
        "0 0.1 0.1 0.9 0.2 0.5 0.8": (6, math.nan),
        "0 0.1 0.1 0.9 0.2 0.5 0.8 0.6": (6, 0.6),
        "0 0.1 0.1 0.9 0.2 0.9 0.8 0.2 0.9": (8, math.nan),
        "0 0.1 0.1 0.9 0.1 0.9 0.8 0.1 0.8 0.25": (0, 0.25),
    }
    (tmp_path / "a.txt").write_text("\n".join(lines))
    corpus = boxes(tmp_path, side="prediction", allow_missing_scores=True)
    assert [(len(ring), score) for ring, score in zip(rings(corpus), corpus.scores.tolist(), strict=True)] == [
        pytest.approx(expected, nan_ok=True) for expected in lines.values()
    ]


@pytest.mark.parametrize("line", ["0 0.5 0.5 0.2 0.2 0.4 0.4 2", "0 0.5 0.5 0.2 0.2 0.4 0.4 0 0.6 0.6 1"])
def test_key_points_are_refused_by_name(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text(line)
    with pytest.raises(ContractError) as refused:
        read(tmp_path)
    assert [issue.code for issue in refused.value.issues if issue.severity is Severity.ERROR] == ["key-points"]


def test_results_of_dota(tmp_path: Path) -> None:
    truth, found = tmp_path / "truth", tmp_path / "found"
    for folder in (truth, found):
        folder.mkdir()
    corners = " ".join(map(str, DIAMOND))
    (truth / "P0001.txt").write_text(f"imagesource:x\ngsd:1\nacquired: 2020\n{corners} plane\n{corners} ship 1\n")
    (found / "Task1_plane.txt").write_text(f"P0001 0.9 {corners}\nP 2 0.3 {corners}\n")
    (found / "Task1_ship.txt").write_text("")
    assert formats.recognised(Source(found)).name == "dota"
    corpus = boxes(found, side="prediction")
    assert (corpus.documents, corpus.labels, corpus.scores.tolist()) == (("P0001", "P 2"), ("plane", "ship"), [0.9, 0.3])
    result = Evaluator(Detection()).update(truth, found).compute()
    assert (result["tp@0.5/plane"], result["fn@0.5/ship"]) == (1, 0)


def test_an_outline_of_two_points_is_invalid(tmp_path: Path) -> None:
    rows = [{"category": "a", "polygon": [1, 1, 5, 5, 1, 1]}, {"category": "a", "polygon": DIAMOND}]
    corpus = boxes(rows)
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [("outline-invalid", Severity.LOSS)]
    result = Evaluator(Detection()).update(rows, [{**rows[1], "score": 0.5}]).compute()
    assert (result["tp@0.5"], result["fn@0.5"]) == (1, 0)
    assert [issue.code for issue in boxes(rows, on="boxes").issues] == ["outline-boxed"]


def test_a_bow_tie_of_four_corners_is_no_box() -> None:
    tie = [{"category": "a", "polygon": [0, 0, 10, 10, 10, 0, 0, 10]}]
    square = [{"category": "a", "bbox": [0, 0, 10, 10], "score": 0.5}]
    assert Evaluator(Detection()).update(tie, square).compute()["mean_iou@0.5"] == 0.5


@pytest.mark.parametrize("name", ["page", "label-studio", "yolo", "dota", "plain", "labelme", "cvat", "omnidocbench", "coco"])
def test_a_conversion_carries_outlines_where_the_target_has_them(tmp_path: Path, name: str) -> None:
    source = boxes([
        {"doc_id": "a", "category": "x", "polygon": ring, "width": 100, "height": 100} for ring in (DIAMOND, HOOK)
    ])  # fmt: skip
    target = formats.named(name)
    files, issues = converted(source, target, None)
    from calque.base.files import write_folder, write_whole

    path = tmp_path / "out"
    write_whole(path, files[""]) if set(files) == {""} else write_folder(path, files)
    again = boxes(path, format=name, page_size=(100.0, 100.0))
    scale = 100 if again.extent == "normalized" else 1
    got = [[value * scale for value in ring] for ring in rings(again)]
    kept = [DIAMOND, HOOK] if "outlines" in target.carries else [DIAMOND, []]
    assert [pytest.approx(ring) for ring in kept] == got
    noted = [issue for issue in issues if issue.code == "not-carried" and "outlines" in issue.message]
    assert [(issue.severity, issue.count) for issue in noted] == ([] if "outlines" in target.carries else [(Severity.NOTE, 1)])


def test_a_conversion_carries_masks_to_coco_and_boxes_elsewhere() -> None:
    mask = {"size": [100, 100], "counts": [120, 5, 95, 5]}
    source = boxes(coco({"segmentation": mask}, {"bbox": [1, 2, 3, 4], "segmentation": [HOOK]}))
    files, _ = converted(source, formats.named("coco"), None)
    assert [row.get("segmentation") for row in json.loads(files[""])["annotations"]] == [mask, [HOOK]]
    assert json.loads(files[""])["annotations"][0]["bbox"] == [1, 20, 2, 5]
    _, issues = converted(source, formats.named("voc"), None)
    assert [(issue.severity, issue.count) for issue in issues if "masks" in issue.message] == [(Severity.NOTE, 2)]


@pytest.mark.parametrize("turned", range(4))
@pytest.mark.parametrize("backwards", [False, True])
def test_vertices_along_a_side_do_not_matter_and_spikes_do(turned: int, backwards: bool) -> None:
    corners = [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)]
    start, end = corners[turned], corners[(turned + 1) % 4]
    at = {share: tuple(a + share * (b - a) for a, b in zip(start, end, strict=True)) for share in (0.25, 0.75, 1.5, -0.5)}
    for shares, upright in (((), True), ((0.25,), True), ((0.25, 0.75), True), ((1.5, 0.75), False), ((0.25, -0.5), False)):
        ring = corners.copy()
        ring[turned + 1 : turned + 1] = [at[share] for share in shares]  # type: ignore[misc]  # two numbers each
        assert is_upright_box(ring[::-1] if backwards else ring) is upright, shares
