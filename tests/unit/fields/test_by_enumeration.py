"""Pairing and average precision against plain enumeration: nothing here uses the code that it checks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Fields
from calque.fields.comparison.cells import Cell, Record
from calque.fields.comparison.lists import assignment

# Pairing


def best_pairs(scores: Sequence[Sequence[float]], nearness: Sequence[Sequence[float]] | None) -> list[tuple[int, int]]:
    """The pairs of all items of the shorter list: the highest total, then the nearest, then the lowest indices."""
    if len(scores) > len(scores[0]):
        turned = None if nearness is None else list(zip(*nearness, strict=True))
        return sorted((row, column) for column, row in best_pairs(list(zip(*scores, strict=True)), turned))
    choices = itertools.permutations(range(len(scores[0])), len(scores))

    def goodness(columns: Sequence[int]) -> tuple[float, float]:
        near = 0.0 if nearness is None else math.fsum(nearness[row][column] for row, column in enumerate(columns))
        return math.fsum(scores[row][column] for row, column in enumerate(columns)), near

    # Permutations come in the order of indices, and max keeps the first of equals.
    return list(enumerate(max(choices, key=goodness)))


def nearness_of(truths: Sequence[Any], founds: Sequence[Any]) -> list[list[float]] | None:
    """From 1 for the same place to 0 for the farthest pair, in steps of 1/4096; 0 where a place is unknown."""
    known = [math.dist(a, b) for a in truths for b in founds if a is not None and b is not None]
    if not known:
        return None
    farthest = max(known)

    def near(a: Any, b: Any) -> float:
        if a is None or b is None:
            return 0.0
        return round((1 - math.dist(a, b) / farthest) * 4096) / 4096 if farthest else 1.0

    return [[near(a, b) for b in founds] for a in truths]


def cell(place: tuple[int, int] | None) -> Cell:
    box = None if place is None else (place[0] - 1, place[1] - 1, place[0] + 1, place[1] + 1, None)
    return Cell(Record([Cell("x", None, box)], 0))


matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)
places = st.one_of(st.none(), st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(matrices, st.data())
def test_pairing_is_the_best_then_the_nearest_then_the_earliest(rows: list[list[float]], data: st.DataObject) -> None:
    truths, founds = ([data.draw(places) for _ in range(size)] for size in (len(rows), len(rows[0])))
    for nearest, nearness in ((False, None), (True, nearness_of(truths, founds))):
        found = assignment(np.array(rows), [cell(each) for each in truths], [cell(each) for each in founds], nearest)
        assert list(zip(*(index.tolist() for index in found), strict=True)) == best_pairs(rows, nearness)


ITEMS = {"text": {"type": "str", "weight": 2.0}, "amount": {"type": "float"}}
SCHEMA = {"fields": {"lines": {"type": "list[object]", "match_threshold": 0.0, "fields": ITEMS}}}
items = st.lists(
    st.fixed_dictionaries({"text": st.sampled_from(["ab", "abc", "xyz", ""]), "amount": st.sampled_from([None, 1.0, 2.0])}),
    min_size=1,
    max_size=4,
)


def edits(left: str, right: str) -> int:
    """The edit distance, by its definition."""
    if not left or not right:
        return len(left) + len(right)
    changed = edits(left[1:], right[1:]) + (left[0] != right[0])
    return min(changed, edits(left[1:], right) + 1, edits(left, right[1:]) + 1)


def alike(truth: dict[str, Any], found: dict[str, Any]) -> float:
    """The weighted mean over fields that one side has, before any threshold."""
    total = weight = 0.0
    for name, importance in (("text", 2.0), ("amount", 1.0)):
        a, b = truth[name] or None, found[name] or None
        if a is None and b is None:
            continue
        weight += importance
        if a is not None and b is not None:
            total += importance * (1 - edits(a, b) / max(len(a), len(b)) if isinstance(a, str) else float(a == b))
    return total / weight if weight else 1.0


@given(items, items)
def test_list_items_are_paired_as_enumeration_pairs_them(truths: list[Any], founds: list[Any]) -> None:
    scores = [[alike(truth, found) for found in founds] for truth in truths]
    ledger = Evaluator(Fields(schema=SCHEMA)).update([{"lines": truths}], [{"lines": founds}]).ledger()
    paths = zip(ledger.table("rows")["truth_path"], ledger.table("rows")["found_path"], strict=True)
    # Every pair matches here, so each has a row "lines[3].text" / "lines[1].text".
    paired = [(int(truth[6]), int(found[6])) for truth, found in paths if truth.endswith(".text") and found]
    assert len({i for i, _ in paired}) == len({j for _, j in paired}) == len(paired) == min(len(truths), len(founds))
    best = math.fsum(scores[i][j] for i, j in best_pairs(scores, None))
    assert math.fsum(scores[i][j] for i, j in paired) == pytest.approx(best, abs=1e-8)


# Average precision


def average_precision(observations: Sequence[tuple[bool, float | None, float | None]], threshold: float) -> float | None:
    """COCO's average precision, point by point, of (has truth, IoU or nothing, confidence) in the order of documents."""
    truths = sum(has_truth for has_truth, _, _ in observations)
    if not truths:
        return None
    detections = [(1.0 if rated is None else rated, iou) for _, iou, rated in observations if iou is not None]
    detections.sort(key=lambda each: -each[0])
    hits, curve = 0, []
    for rank, (_, iou) in enumerate(detections, 1):
        hits += iou >= threshold
        curve.append((hits / truths, hits / rank))
    at = [max((precision for recall, precision in curve if recall >= point / 100), default=0.0) for point in range(101)]
    return sum(at) / 101


boxed = st.tuples(
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 8)),
    st.one_of(st.none(), st.sampled_from([0.1, 0.5, 0.9])),
    st.sampled_from(["same", "other"]),
)


@given(st.lists(boxed, min_size=1, max_size=7))
def test_average_precision_and_joint_score_by_definition(rows: list[tuple[bool, int | None, float | None, str]]) -> None:
    truths, founds, observed, right = [], [], [], 0
    for number, (has_truth, height, rated, value) in enumerate(rows):
        truth = {"_value": "same", **({"_bbox": [0, 0, 8, 8]} if has_truth else {})}
        found: dict[str, Any] = {"_value": value}
        if height is not None:
            found["_bbox"] = [0, 0, 8, height]
        if rated is not None:
            found["_confidence"] = rated
        truths.append({"id": number, "a": truth})
        founds.append({"id": number, "a": found})
        iou = None if height is None else height / 8 if has_truth else 0.0
        observed.append((has_truth, iou, rated))
        right += has_truth and iou is not None and iou >= 0.5 and value == "same"
    schema = {"fields": {"a": {"type": "str", "comparator": "exact"}}}
    numbers = Evaluator(Fields(schema=schema, iou=(0.25, 0.5, 0.75))).update(truths, founds).compute().numbers
    metrics = numbers["bbox_map_metrics"]
    aps = [average_precision(observed, threshold) for threshold in (0.25, 0.5, 0.75)]
    if aps[0] is None:
        assert metrics["mean_ap"] is metrics["map_50"] is metrics["map_75"] is None
    else:
        assert metrics["mean_ap"] == pytest.approx(sum(ap or 0.0 for ap in aps) / 3, abs=1e-12)
        assert (metrics["map_50"], metrics["map_75"]) == (pytest.approx(aps[1], abs=1e-12), pytest.approx(aps[2], abs=1e-12))
        overlaps = [iou for _, iou, _ in observed if iou is not None]
        mean = sum(overlaps) / len(overlaps) if overlaps else 0.0
        assert metrics["fields"]["a"]["mean_iou"] == pytest.approx(mean, abs=1e-12)
    assert numbers["joint"]["0.5"]["correct"] == right
    assert numbers["unaccounted_boxes"] == 0
