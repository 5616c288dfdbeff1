"""Ceilings of what is no upright box: the areas that outlines share decide, for every system as for one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pycocotools.mask
import pytest

from tests.conftest import Run

Command = Callable[..., Run]
AS_OUTLINES = ("--boxes", "polygon", "--units", "pixels", "--format", "json")


def objects(chance: random.Random, slant: float) -> list[dict[str, Any]]:
    """Quadrilaterals of two classes on six pages, in a grid that every side has; ``slant`` 0 makes them upright boxes."""
    found = []
    for place in range(24):
        if chance.random() < 0.2:
            continue
        x, y = 60 * (place % 4) + 8 * chance.random(), 8 * chance.random()
        s = slant * chance.random()
        corners = [x + s, y, x + 40, y + s, x + 40 - s, y + 30, x, y + 30 - s]
        found.append({"image": f"page {place // 4}", "category": "ab"[place % 2], "poly": corners, "score": chance.random()})
    return found


def write(folder: Path, seed: int, slant: float) -> list[str]:
    for number, name in enumerate(("truth", "a", "b", "c")):
        rows = objects(random.Random(f"{seed} {number}"), slant)
        if name == "truth":
            rows = [{key: value for key, value in row.items() if key != "score"} for row in rows]
        (folder / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    return ["truth.json", "a.json", "b.json", "c.json"]


@pytest.mark.parametrize("seed", range(3))
def test_every_single_system_is_what_detect_says(calque: Command, tmp_path: Path, seed: int) -> None:
    truth, *systems = write(tmp_path, seed, slant=14)
    together = calque("ceiling", truth, *systems, *AS_OUTLINES).json
    apart = set()
    for system in systems:
        name = system.removesuffix(".json")
        alone = calque("detect", truth, system, *AS_OUTLINES).json
        for level, block in together["levels"].items():
            expected = alone["metrics"][level]["micro"]
            apart.add(expected["tp"])
            assert block["single"][name] == {
                "tp": expected["tp"],
                "found": expected["tp"] + expected["fp"],
                "recall": pytest.approx(expected["recall"], abs=1e-12),
                "precision": pytest.approx(expected["precision"], abs=1e-12),
                "f1": pytest.approx(expected["f1"], abs=1e-12),
            }
        assert together["ap"]["single"][name] == pytest.approx(alone["coco"]["AP"], abs=1e-12)
    assert len(apart) > 2


def test_the_outline_counts_and_not_the_box_around_it(calque: Command, tmp_path: Path) -> None:
    names = write(tmp_path, 5, slant=18)
    outlines = calque("ceiling", *names, *AS_OUTLINES).json["levels"]["0.75"]
    boxes = calque("ceiling", *names, *AS_OUTLINES, "--on", "boxes").json["levels"]["0.75"]
    assert outlines["select"]["recall"] < boxes["select"]["recall"]


def test_an_upright_outline_is_a_box(calque: Command, tmp_path: Path) -> None:
    names = write(tmp_path, 7, slant=0)
    outlines, boxes = (calque("ceiling", *names, *AS_OUTLINES, *more).json for more in ((), ("--on", "boxes")))
    assert outlines["levels"] == boxes["levels"]
    assert outlines["ap"] == boxes["ap"]


def test_systems_in_any_order(calque: Command, tmp_path: Path) -> None:
    truth, *systems = write(tmp_path, 9, slant=12)
    forwards, backwards = (calque("ceiling", truth, *order, *AS_OUTLINES).json for order in (systems, systems[::-1]))
    for level, block in forwards["levels"].items():
        for rung in ("single", "select", "recombine", "average"):
            assert block[rung] == backwards["levels"][level][rung]


MASKS = ("--on", "masks", "--format", "json")


def write_masks(folder: Path, cut: int) -> list[str]:
    """COCO sets whose masks are rectangles of whole pixels, of which ``cut`` pixels of a corner are missing.

    Where systems see the same object they see the same box, so that a fused one is of whole pixels, too.
    """
    for name in ("truth", "a", "b", "c"):
        chance, rows = random.Random(name), []
        for place in range(24):
            x, y = 60 * (place % 4), 5 * (place % 3)
            if name != "truth":
                x += (0, 3, 9, 16)[place % 4]
            corners = [x, y, x + 40 - cut, y, x + 40, y + cut, x + 40, y + 30, x, y + 30]
            row = {"image_id": place // 4, "category_id": 1 + place % 2, "segmentation": [corners]}
            if chance.random() < 0.75:
                rows.append({**row, "score": 0.5 + place / 100} if name != "truth" else {"id": place, **row, "iscrowd": 0})
        images = [{"id": number, "width": 300, "height": 60} for number in range(6)]
        truth = {"images": images, "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "annotations": rows}
        for row in rows if name == "truth" else ():
            x, y = min(row["segmentation"][0][::2]), min(row["segmentation"][0][1::2])
            row |= {"bbox": [x, y, 40, 30], "area": 1200}
        (folder / f"{name}.json").write_text(json.dumps(truth if name == "truth" else rows), "utf-8")
    return ["truth.json", "a.json", "b.json", "c.json"]


def test_a_mask_that_fills_its_box_is_a_box(calque: Command, tmp_path: Path) -> None:
    """Also where boxes of several systems are fused and measured again."""
    names = write_masks(tmp_path, cut=0)
    masks, boxes = (calque("ceiling", *names, *more).json for more in (MASKS, ("--on", "boxes", "--format", "json")))
    assert masks["ap"] == boxes["ap"]
    for level, block in masks["levels"].items():
        for key in ("single", "best", "select", "votes", "agreement", "pairs", "missed"):
            assert block[key] == boxes["levels"][level][key], key
    assert min(block["tp"] for block in masks["levels"]["0.75"]["votes"].values()) > 0


def test_the_mask_counts_and_every_single_system_is_what_detect_says(calque: Command, tmp_path: Path) -> None:
    truth, *systems = write_masks(tmp_path, cut=28)
    together = calque("ceiling", truth, *systems, *MASKS).json
    for system in systems:
        alone = calque("detect", truth, system, *MASKS).json
        for level, block in together["levels"].items():
            expected = alone["metrics"][level]["micro"]
            single = block["single"][system.removesuffix(".json")]
            assert [single["tp"], single["found"]] == [expected["tp"], expected["tp"] + expected["fp"]]
    # A fused box is a box: it has the corner that masks lack, a third of all pixels, so that two thirds are the most it shares.
    votes = {level: block["votes"]["1"]["tp"] for level, block in together["levels"].items()}
    assert votes["0.5"] > votes["0.75"] == 0
    assert together["levels"]["0.75"]["select"]["recall"] > 0


def as_runs(folder: Path, names: list[str], images: set[int]) -> None:
    """The masks of some images written as runs, which say how large their image is, and nothing else that does."""
    for name in names:
        tree = json.loads((folder / name).read_text("utf-8"))
        for row in tree["annotations"] if isinstance(tree, dict) else tree:
            if row["image_id"] in images:
                mask = pycocotools.mask.merge(pycocotools.mask.frPyObjects(row["segmentation"], 60, 300))
                row["segmentation"] = {"size": mask["size"], "counts": mask["counts"].decode()}
        if isinstance(tree, dict):
            tree["images"] = [{"id": image["id"]} if image["id"] in images else image for image in tree["images"]]
        (folder / name).write_text(json.dumps(tree), "utf-8")


@pytest.mark.parametrize("images", [{0, 1, 2, 3, 4, 5}, {1, 4}], ids=["all", "some"])
def test_fused_boxes_are_measured_where_only_masks_say_how_large_a_page_is(
    images: set[int], calque: Command, tmp_path: Path
) -> None:
    names = write_masks(tmp_path, cut=0)
    levels = calque("ceiling", *names, *MASKS).json["levels"]
    as_runs(tmp_path, names, images)
    assert calque("ceiling", *names, *MASKS).json["levels"] == levels
    assert min(block["tp"] for block in levels["0.5"]["votes"].values()) > 0
