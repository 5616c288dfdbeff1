"""Unusual data: ids of all kinds, odd numbers, missing keys. Where pycocotools answers, calque answers the same."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calque.coco.sides import numeric_ids
from tests.coco.sets import Tree, made
from tests.coco.test_evaluation import KINDS, quiet, random_params, same

Sides = tuple[Tree, Tree]


def _rows(sides: Sides) -> list[Tree]:
    return [*sides[0]["annotations"], *sides[1]["annotations"]]


def text_ids(rng: random.Random, sides: Sides) -> None:
    for side in sides:
        for image in side["images"]:
            image["id"] = f"{image['id']}.png"
        for category in side["categories"]:
            category["id"] = f"c{category['id']}"
    for row in _rows(sides):
        row["image_id"], row["category_id"] = f"{row['image_id']}.png", f"c{row['category_id']}"


def float_ids(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        row["image_id"], row["id"] = float(row["image_id"]), np.float64(row["id"])


def numpy_numbers(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        row["image_id"], row["id"], row["category_id"] = (
            np.int32(row["image_id"]),
            np.int64(row["id"]),
            np.uint8(row["category_id"]),
        )
        row["area"], row["iscrowd"] = np.uint32(row["area"]), np.bool_(row["iscrowd"])
        row["bbox"] = np.array(row["bbox"], dtype=np.float32)
        if "score" in row:
            row["score"] = np.float32(row["score"])


def repeated_ids(rng: random.Random, sides: Sides) -> None:
    """The later annotation is taken twice."""
    for side in sides:
        for row in rng.sample(side["annotations"], len(side["annotations"]) // 4):
            row["id"] = rng.choice(side["annotations"])["id"]


def found_ids_from_0(rng: random.Random, sides: Sides) -> None:
    """A detection with id 0 or below does not use a truth up."""
    for row in sides[1]["annotations"]:
        row["id"] -= rng.choice([1, 10])


def negative_truth_ids(rng: random.Random, sides: Sides) -> None:
    for row in sides[0]["annotations"]:
        row["id"] = -row["id"]


def odd_scores(rng: random.Random, sides: Sides) -> None:
    odd = [float("nan"), float("inf"), -float("inf"), 0, -0.0, 1, -3, True]
    for row in sides[1]["annotations"]:
        if rng.random() < 0.3:
            row["score"] = rng.choice(odd)


def odd_boxes(rng: random.Random, sides: Sides) -> None:
    odd: list[Any] = [
        [0, 0, 0, 0],
        [5, 5, -3, 4],
        [5, 5, -3, -4],
        [0, 0, 1e200, 1e200],
        [1e-200, 0, 1e-200, 1e-200],
        [2, 2, 7, 0],
    ]
    odd += [[float("nan"), 0, 4, 4], [0, 0, float("inf"), 5], [0, 0, float("inf"), float("inf")]]
    for row in _rows(sides):
        if rng.random() < 0.2:
            row["bbox"] = rng.choice(odd)


def odd_areas(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        row["area"] = rng.choice([0, -1, 1024, 1024.0, 9216, float("inf"), float("nan"), 500])


def crowds_of_all_kinds(rng: random.Random, sides: Sides) -> None:
    for row in sides[0]["annotations"]:
        row["iscrowd"] = rng.choice([0, 1, True, False, 2, 255, 0.5])
        row["ignore"] = rng.choice([0, 1])


def other_images_and_classes(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        if rng.random() < 0.2:
            row["category_id"] = 999
        if rng.random() < 0.2:
            row["image_id"] = 31


def without_truths(rng: random.Random, sides: Sides) -> None:
    sides[0]["annotations"] = []


def without_detections(rng: random.Random, sides: Sides) -> None:
    sides[1]["annotations"] = []


def without_classes(rng: random.Random, sides: Sides) -> None:
    for side in sides:
        side["categories"] = []


def runs_of_any_form(rng: random.Random, sides: Sides) -> None:
    """As long as the page, but not canonical."""
    for row in _rows(sides):
        if rng.random() < 0.3:
            row["segmentation"] = {
                "size": [30, 20],
                "counts": rng.choice([[600, 0], [0, 0, 600], [10, 300, 0, 0, 290], [0, 600], [600]]),
            }


def masks_of_other_sizes(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        if rng.random() < 0.3:
            row["segmentation"] = {"size": rng.choice([[30, 20], [20, 30]]), "counts": [10, 300, 290]}


def counts_as_bytes(rng: random.Random, sides: Sides) -> None:
    for row in _rows(sides):
        if isinstance(row["segmentation"], dict) and isinstance(row["segmentation"]["counts"], str):
            size = tuple(row["segmentation"]["size"])
            row["segmentation"] = {"size": size, "counts": row["segmentation"]["counts"].encode()}


def equal_scores(rng: random.Random, sides: Sides) -> None:
    for row in sides[1]["annotations"]:
        row["score"] = 0.5


CHANGES: list[Callable[[random.Random, Sides], None]] = [
    text_ids, float_ids, numpy_numbers, repeated_ids, found_ids_from_0, negative_truth_ids, odd_scores, odd_boxes, odd_areas,
    crowds_of_all_kinds, other_images_and_classes, without_truths, without_detections, without_classes, runs_of_any_form,
    masks_of_other_sizes, counts_as_bytes, equal_scores,
]  # fmt: skip


def evaluated(kind: str, sides: Sides, iou_type: str, params: dict[str, Any]) -> Any:
    """Both sides made in memory, as torchmetrics does it."""
    api, evaluator = KINDS[kind]
    gt, dt = api(), api()
    gt.dataset, dt.dataset = copy.deepcopy(sides)
    gt.createIndex()
    dt.createIndex()
    one = evaluator(gt, dt, iou_type)
    for name, value in params.items():
        setattr(one.params, name, copy.deepcopy(value))
    one.evaluate()
    one.accumulate()
    one.summarize()
    return one


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_unusual_data(change, iou_type):
    answered = 0
    for seed in range(6):
        rng = random.Random(seed)
        truth, found = made(seed + 100, images=5)
        sides = truth, {key: truth[key] for key in ("images", "categories")} | {"annotations": found}
        sides = copy.deepcopy(sides)
        for number, row in enumerate(sides[1]["annotations"]):
            row.update(id=number + 1, area=row["bbox"][2] * row["bbox"][3], iscrowd=0)
        params = random_params(rng, truth) if seed > 1 and change is not text_ids else {}
        change(rng, sides)
        with quiet():
            try:
                theirs = evaluated("theirs", sides, iou_type, params)
            except Exception:  # whatever it cannot answer
                continue
            ours = evaluated("ours", sides, iou_type, params)
        same(theirs, ours)
        answered += 1
    assert answered


@pytest.mark.parametrize(
    ("ids", "above", "numbers"),
    [([1, 2.5], 0, True), ([0, 1], 0, False), ([0, 1], -1, True), (["a"], 0, False), ([None], 0, False), ([10**400], 0, False)],
)
def test_ids_are_numbers_or_not(ids, above, numbers):
    assert numeric_ids(ids, above=above) is numbers
