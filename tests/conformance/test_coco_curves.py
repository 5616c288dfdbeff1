"""What pycocotools' precision array says beyond its twelve numbers: curves, APs of classes, and ties over documents."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.test_coco import NAMES, Found, Tree, generated, ours, theirs

SHOWN = {"0.5": 0, "0.75": 5}
"""Where the thresholds that are shown stand among pycocotools' ten, 0.50:0.05:0.95."""


def test_the_thresholds_stand_where_they_are_looked_for() -> None:
    grid = theirs(*generated(0)).params.iouThrs
    assert {text: grid[place] for text, place in SHOWN.items()} == {text: float(text) for text in SHOWN}


@given(seed=st.integers(0, 10_000))
def test_curves_and_the_averages_of_each_class(kernels: str, seed: int) -> None:
    truth, found = generated(seed)
    precision = theirs(truth, found).eval["precision"][:, :, :, 0, 2]
    coco = ours(truth, found).numbers["coco"]
    assert coco["curves"]["recall"] == np.linspace(0, 1, 101).tolist()
    for position, category in enumerate(truth["categories"]):
        name, curves = category["name"], precision[:, :, position]
        if (curves == -1).all():
            assert coco["per_class"][name] == {"AP": None, "AP50": None, "AP75": None}
            assert all(name not in shown for shown in coco["curves"]["precision"].values())
            continue
        averages = {"AP": curves.mean(), "AP50": curves[0].mean(), "AP75": curves[5].mean()}
        assert coco["per_class"][name] == {key: pytest.approx(value, abs=1e-12) for key, value in averages.items()}
        for text, place in SHOWN.items():
            assert coco["curves"]["precision"][text][name] == pytest.approx(curves[place].tolist(), abs=1e-12)
        assert coco["curves"]["precision"]["mean"][name] == pytest.approx(curves.mean(axis=0).tolist(), abs=1e-12)


def test_the_three_curves_of_a_class_differ_where_boxes_are_poor() -> None:
    """IoUs of 0.72 and 0.77: right at 0.5, one of two right at 0.75, in six and five of the ten on average."""
    boxes = [(100.0, 72.0), (100.0, 77.0)]
    truth: Tree = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{"id": k, "image_id": k, "category_id": 1, "bbox": [0, 0, 100, 100]} for k in (1, 2)],
    }
    found: Found = [
        {"image_id": k, "category_id": 1, "bbox": [0, 0, *size], "score": k / 10} for k, size in enumerate(boxes, start=1)
    ]
    coco = ours(truth, found).numbers["coco"]
    curves = {text: shown["Table"] for text, shown in coco["curves"]["precision"].items()}
    assert curves["0.5"] == pytest.approx([1.0] * 101)
    assert curves["0.75"] == pytest.approx([1.0] * 51 + [0.0] * 50)
    assert curves["mean"] == pytest.approx([0.6] * 51 + [0.5] * 50)
    assert coco["per_class"]["Table"]["AP75"] == coco["AP75"] == pytest.approx(51 / 101)


# Ties in score go by image id, whatever the grouping into documents.


def grouped(truth: Tree, seed: int) -> Tree:
    """The same images as the pages of a few documents, dealt out so that no order of documents is that of images."""
    dice = random.Random(seed)
    tree = copy.deepcopy(truth)
    pages = dice.sample(range(len(tree["images"])), len(tree["images"]))
    for image, page in zip(tree["images"], pages, strict=True):
        image.update(doc_id=dice.choice(["c", "a", "b"]), page_index=page)
    return tree


def few_scores(found: Found) -> Found:
    """So many ties that their order decides."""
    return [{**row, "score": 0.5 if row["score"] < 0.8 else 0.9} for row in found]


@given(seed=st.integers(0, 10_000))
def test_ties_go_by_image_and_not_by_document(kernels: str, seed: int) -> None:
    truth, found = generated(seed)
    found = few_scores(found)
    stats = theirs(truth, found).stats
    alone, together = ours(truth, found), ours(grouped(truth, seed), found)
    assert len(together.ledger.units) < len(alone.ledger.units)
    for name, value in zip(NAMES, stats, strict=True):
        assert together[name] == alone[name] == (None if value == -1 else pytest.approx(value, abs=1e-12)), name
    impact = [result.numbers["errors"]["impact"] for result in (alone, together)]
    assert impact[0] == impact[1]


@given(seed=st.integers(0, 10_000))
def test_integers_go_by_value_before_strings_by_letter(kernels: str, seed: int) -> None:
    """The order of the ids counts and nothing else: 2 < 10 < "10" < "2" stands for 1 < 2 < 3 < 4."""
    truth, found = generated(seed, images=4)
    found = few_scores(found)
    order: list[Any] = [2, 10, "10", "2"]
    spelt = dict(zip(sorted(image["id"] for image in truth["images"]), order, strict=True))
    renamed: Tree = {
        **truth,
        "images": [{**image, "id": spelt[image["id"]]} for image in truth["images"]],
        "annotations": [{**row, "image_id": spelt[row["image_id"]]} for row in truth["annotations"]],
    }
    rows: Found = [{**row, "image_id": spelt[row["image_id"]]} for row in found]
    stats = theirs(truth, found).stats
    for tree in (renamed, grouped(renamed, seed)):
        result = ours(tree, rows)
        for name, value in zip(NAMES, stats, strict=True):
            assert result[name] == (None if value == -1 else pytest.approx(value, abs=1e-12)), name
