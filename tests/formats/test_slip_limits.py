"""From where on a slip is told: more than half of the boxes, hardly any that meet as they are, and not of a handful."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from calque import read
from calque.readers import read_pair
from calque.readers.sides.slips import box_hints, score_hint

Box = list[float]
TRUTHS: list[Box] = [[60.0 + 20 * k, 500.0 + 40 * k, 160.0 + 20 * k, 600.0 + 40 * k] for k in range(10)]
"""One box a page, on pages of 1000 by 1400 pixels."""
FAR: Box = [1.0, 1.0, 3.0, 2.0]
"""Meets no truth, however the file may be turned."""


def swapped(box: Box) -> Box:
    return [box[1], box[0], box[3], box[2]]


def items(boxes: list[Box], **more: Any) -> list[dict[str, Any]]:
    return [{"doc": "d", "page": page, "category": "Table", "bbox": box, **more} for page, box in enumerate(boxes)]


def notes(found: list[Box]) -> list[str]:
    truth = items(TRUTHS[: len(found)], width=1000, height=1400)
    return [issue.code for issue in read_pair(truth, items(found, score=0.5))[1].issues]


@pytest.mark.parametrize("turned", range(11))
def test_a_slip_is_told_when_more_than_half_of_the_truths_would_be_met(turned: int) -> None:
    found = [swapped(box) for box in TRUTHS[:turned]] + [FAR] * (10 - turned)
    assert notes(found) == (["axes-swapped"] if turned > 5 else [])


@pytest.mark.parametrize("fitting", range(11))
def test_so_is_another_scale(fitting: int) -> None:
    """Boxes that end where they should and are too small for any truth keep the scale and meet nothing."""
    scaled = [[value / 4 for value in box] for box in TRUTHS]
    specks = [[box[2] - 1, box[3] - 1, box[2], box[3]] for box in scaled]
    assert notes(scaled[:fitting] + specks[fitting:]) == (["scales-differ"] if fitting > 5 else [])


@pytest.mark.parametrize("met", range(4))
def test_it_is_not_told_when_more_than_a_tenth_are_met_as_they_are(met: int) -> None:
    found = TRUTHS[:met] + [swapped(box) for box in TRUTHS[met:]]
    assert notes(found) == (["axes-swapped"] if met <= 1 else [])


@pytest.mark.parametrize("truths", range(1, 8))
def test_fewer_than_five_truths_say_nothing(truths: int) -> None:
    assert notes([swapped(box) for box in TRUTHS[:truths]]) == (["axes-swapped"] if truths >= 5 else [])


@pytest.mark.parametrize(("height", "met"), [(50.0, True), (49.0, False)])
def test_a_truth_is_met_from_one_half_on(height: float, met: bool) -> None:
    halves = [swapped([x1, y1, x2, y1 + height]) for x1, y1, x2, _ in TRUTHS]
    assert notes(halves) == (["axes-swapped"] if met else [])


# One file.


def told(boxes: list[Box], **options: Any) -> list[str]:
    return [issue.code for issue in read(items(boxes), **options).issues]


@pytest.mark.parametrize("beyond", range(5))
def test_boxes_beyond_their_pages_are_told_when_they_are_more_than_half(beyond: int) -> None:
    boxes: list[Box] = [[10, 20, 400, 300]] * beyond + [[10, 20, 290, 300]] * (4 - beyond)
    assert told(boxes, page_size=(300, 400)) == (["beyond-page"] if beyond > 2 else [])


@pytest.mark.parametrize(("right", "beyond"), [(306.0, False), (math.nextafter(306.0, 400), True)])
def test_a_margin_of_two_per_cent_is_no_slip(right: float, beyond: bool) -> None:
    assert told([[10, 20, right, 300]], page_size=(300, 400)) == (["beyond-page"] if beyond else [])


@pytest.mark.parametrize(("largest", "code"), [(1.0, ["looks-normalized"]), (math.nextafter(1.0, 2), [])])
def test_pixels_up_to_one_look_like_shares(largest: float, code: list[str]) -> None:
    assert told([[0.1, 0.2, 0.5, largest]]) == code


@pytest.mark.parametrize(("largest", "code"), [(0.0105, ["looks-divided"]), (math.nextafter(0.0105, 1), [])])
def test_shares_of_about_a_hundredth_were_divided_twice(largest: float, code: list[str]) -> None:
    assert told([[0.001, 0.002, 0.005, largest]], units="normalized") == code


# What a refused file looks like.


@pytest.mark.parametrize(
    ("largest", "unit"), [(2.0, None), (2.5, "percent"), (100.0, "percent"), (100.5, "pixels"), (2381.0, "pixels")]
)
def test_values_over_one_look_like_percent_from_two_and_like_pixels_from_a_hundred(largest: float, unit: str | None) -> None:
    hints = list(box_hints([[0.1, 0.1, largest, 0.5]]))
    assert [f"look like {unit}" in hint for hint in hints] == ([True] if unit else [])


@pytest.mark.parametrize("odd", range(5))
def test_a_hint_is_about_more_than_half_of_the_refused_boxes(odd: int) -> None:
    pixels, sizes = [10.0, 10.0, 500.0, 500.0], [0.5, 0.5, 0.2, 0.2]
    hints = list(box_hints([pixels] * odd + [sizes] * (4 - odd)))
    expected = ["look like pixels"] * (odd > 2) + ["look like [x, y, width, height]"] * (4 - odd > 2)
    assert len(hints) == len(expected)
    assert all(text in hint for text, hint in zip(expected, hints, strict=True))


@pytest.mark.parametrize(("scores", "hint"), [([1.5, 100.0], True), ([1.5, 100.5], False), ([1.0, 50.0], False), ([], False)])
def test_scores_look_like_percent_when_all_are_above_one_and_none_above_a_hundred(scores: list[float], hint: bool) -> None:
    assert bool(list(score_hint(scores))) == hint


def test_the_half_that_looks_like_sizes_lies_on_the_page() -> None:
    """At the edge of the page, give or take float noise."""
    edge = np.nextafter(0.5, 1)
    assert list(box_hints([[0.5, 0.5, 0.5, 0.5]])) == list(box_hints([[edge, 0.5, 0.5, 0.5]])) != []
    assert list(box_hints([[0.51, 0.5, 0.5, 0.5]])) == []
