"""Section 2 of the detection contract: hints for the usual slips, of one file and of two together."""

from __future__ import annotations

import math
from typing import Any

import pytest

from calque import read
from calque.base.errors import ContractError
from calque.readers import read_pair
from tests.conformance.test_validation import changed, first, issues_of
from tests.snapshots import BOX, predictions, truth, valid_truth

Tree = dict[str, Any]


def hints_of(tree: Tree) -> str:
    with pytest.raises(ContractError) as caught:
        read(tree)
    return str(caught.value).partition("hint: ")[2]


def test_hint_values_over_1_look_like_pixels() -> None:
    tree = truth({("a", 0): [("Figure", (100, 200, 600, 2381)), ("Table", (50, 60, 900, 1200))]})
    assert "values up to 2381 look like pixels" in hints_of(tree)


def test_hint_values_over_1_look_like_percent() -> None:
    tree = truth({("a", 0): [("Figure", (10, 20, 60, 97.5)), ("Table", (5, 60, 90, 80))]})
    assert "look like percent" in hints_of(tree)


def test_hint_boxes_look_like_x_y_width_height() -> None:
    tree = truth({("a", 0): [("Figure", (0.6, 0.5, 0.2, 0.3)), ("Table", (0.5, 0.6, 0.4, 0.1))]})
    assert "[x, y, width, height]" in hints_of(tree)


def test_hint_scores_look_like_percent() -> None:
    tree = predictions({("a", 0): [("Figure", BOX, 97.5), ("Table", BOX, 12)]})
    assert "scores up to 97.5 look like percent" in hints_of(tree)


def test_no_hint_when_values_are_not_numbers() -> None:
    tree = truth({("a", 0): [("Figure", (math.nan, 0, 1, 1))]})
    assert hints_of(tree) == ""


@pytest.mark.parametrize("number", [1, "1"])
def test_hint_label_ids_in_place_of_names(number: object) -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(label=number))
    (issue,) = issues_of(tree)
    assert issue.code == "label-id"
    assert "'Figure'" in issue.help


LAYOUT = [(0.1, 0.05 + 0.15 * k, 0.3 + 0.1 * k, 0.15 + 0.15 * k) for k in range(6)]


def pair_notes(boxes: list[tuple[float, ...]]) -> list[str]:
    _, found = read_pair(
        truth({("a", 0): [("Figure", box) for box in LAYOUT]}),
        predictions({("a", 0): [("Figure", box, 0.5) for box in boxes]}),
    )
    return [issue.code for issue in found.issues]


def test_hint_x_and_y_swapped() -> None:
    assert pair_notes([(b[1], b[0], b[3], b[2]) for b in LAYOUT]) == ["axes-swapped"]


def test_hint_origin_at_the_bottom() -> None:
    assert pair_notes([(b[0], 1 - b[3], b[2], 1 - b[1]) for b in LAYOUT]) == ["origin-bottom"]


def test_hint_widths_and_heights_that_happen_to_be_valid_corners() -> None:
    boxes = [(0.1, 0.02 + 0.02 * k, 0.6, 0.3 + 0.02 * k) for k in range(6)]
    _, found = read_pair(
        truth({("a", k): [("Figure", (b[0], b[1], b[0] + b[2], b[1] + b[3]))] for k, b in enumerate(boxes)}),
        predictions({("a", k): [("Figure", b, 0.5)] for k, b in enumerate(boxes)}),
    )
    assert [issue.code for issue in found.issues] in ([], ["sizes-for-corners"])
    far = [(0.3, 0.3, 0.31 + 0.01 * k, 0.32) for k in range(6)]
    _, found = read_pair(
        truth({("a", k): [("Figure", (b[0], b[1], b[0] + b[2], b[1] + b[3]))] for k, b in enumerate(far)}),
        predictions({("a", k): [("Figure", b, 0.5)] for k, b in enumerate(far)}),
    )
    assert [issue.code for issue in found.issues] == ["sizes-for-corners"]


def test_no_hint_when_the_boxes_meet_as_they_are() -> None:
    assert pair_notes(LAYOUT) == []


def test_no_hint_when_no_transform_helps() -> None:
    assert pair_notes([(0.9, 0.9, 0.95, 0.9 + 0.01 * (k + 1)) for k in range(6)]) == []
