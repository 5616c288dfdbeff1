"""Missing, overlap, trespass and excess areas, against a count of grid cells."""

from __future__ import annotations

import math

from hypothesis import given

from calque import Corpus, Detection, Evaluator
from calque.corpus.boxes import BoxCorpus
from calque.detection.views import page_view
from tests.views.plain import LABELS, Box, area, boxes, evaluate

VIEW = Detection(page_view=True)


def by_hand(truths: list[Box], found: list[Box], label: str) -> dict[str, float]:
    sums = dict.fromkeys(page_view.AREAS, 0.0)
    for place in {(b.document, b.page) for b in [*truths, *found]}:
        here = [b for b in truths if (b.document, b.page) == place]
        predicted = [b for b in found if (b.document, b.page) == place and b.label == label]
        own, other = [b for b in here if b.label == label], [b for b in here if b.label != label]
        everything = [*here, *predicted]

        def covered(things: list[Box], x: float, y: float) -> int:
            return sum(b.holds(x, y) for b in things)

        sums["truth_area"] += area(everything, lambda x, y: covered(own, x, y))
        sums["found_area"] += area(everything, lambda x, y: covered(predicted, x, y))
        sums["missing"] += area(everything, lambda x, y: covered(own, x, y) and not covered(predicted, x, y))
        sums["overlap"] += area(everything, lambda x, y: covered(predicted, x, y) > 1)
        stray = lambda x, y: covered(predicted, x, y) and not covered(own, x, y)
        sums["trespass"] += area(everything, lambda x, y: stray(x, y) and covered(other, x, y))
        sums["excess"] += area(everything, lambda x, y: stray(x, y) and not covered(other, x, y))
    return sums


@given(truths=boxes, found=boxes)
def test_areas_are_those_of_the_grid(kernels: str, truths: list[Box], found: list[Box]) -> None:
    view = evaluate(truths, found, VIEW).numbers["page_view"]
    for label in LABELS:
        expected = by_hand(truths, found, label)
        assert {name: view["per_class"][label][name] for name in expected} == expected
    for name in page_view.AREAS:
        assert view["overall"][name] == sum(view["per_class"][label][name] for label in LABELS)


@given(truths=boxes, found=boxes)
def test_what_is_predicted_is_right_or_one_of_the_errors(truths: list[Box], found: list[Box]) -> None:
    block = evaluate(truths, found, VIEW).numbers["page_view"]["overall"]
    right = block["truth_area"] - block["missing"]
    assert block["found_area"] == right + block["trespass"] + block["excess"] + block["excused"]


def test_worked_example(kernels: str) -> None:
    truths = [Box("a", 0, "Table", 0, 0, 10, 10), Box("a", 0, "Figure", 10, 0, 20, 10)]
    found = [Box("a", 0, "Table", 0, 2, 12, 10, 0.9), Box("a", 0, "Table", 0, 8, 10, 12, 0.8)]
    view = evaluate(truths, found, VIEW).numbers["page_view"]
    table = view["per_class"]["Table"]
    assert table == {
        "truth_area": 100.0,
        "found_area": 116.0,
        "missing": 20.0,
        "overlap": 20.0,
        "trespass": 16.0,
        "excess": 20.0,
        "excused": 0.0,
        "missing_share": 0.2,
        "overlap_share": 20 / 116,
        "trespass_share": 16 / 116,
        "excess_share": 20 / 116,
    }
    figure = view["per_class"]["Figure"]
    assert (figure["missing"], figure["missing_share"], figure["excess_share"]) == (100.0, 1.0, None)
    assert view["worst"] == [
        {
            "document": "a",
            "page": 0,
            "wrong_share": 176 / 316,
            **{name: table[name] + figure[name] for name in page_view.AREAS},
        }
    ]


def test_what_lies_on_an_ignored_truth_is_excused(kernels: str) -> None:
    truth = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "iscrowd": 1}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [5, 0, 10, 10], "score": 0.5}]
    block = Evaluator(VIEW).update(truth, found).compute().numbers["page_view"]["overall"]
    assert (block["excused"], block["excess"], block["truth_area"]) == (50.0, 50.0, 0.0)


def test_nothing_there() -> None:
    empty = Corpus.from_arrays([], [], label_names=["Table"], all_documents=["a"])
    assert isinstance(empty, BoxCorpus)
    result = Evaluator(VIEW).update(empty, empty).compute()
    assert result.numbers["page_view"]["overall"]["missing_share"] is None
    assert result.undefined["page_view.overall.missing_share"] == "no truths"
    assert result.numbers["page_view"]["worst"] == []


def test_boxes_with_fractions_agree_to_rounding() -> None:
    truths = [Box("a", 0, "Table", 0.1, 0.1, 0.7, 0.3)]
    found = [Box("a", 0, "Table", 0.2, 0.1, 0.7, 0.3, 0.9)]
    block = evaluate(truths, found, VIEW).numbers["page_view"]["overall"]
    assert math.isclose(block["missing"], 0.02)
