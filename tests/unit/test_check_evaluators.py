"""Evaluators beyond the source's scenarios: formats, measures, batches, bad data."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError
from calque.checks import Outcome, evaluator, polygon_iou
from calque.checks.evaluators.paths import Path
from calque.checks.shapes.regions import _even_odd


def boxes(found: Any, truth: Any, **settings: Any) -> Outcome:
    config = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", **settings}
    return evaluator(config).evaluate({"b": found}, {"b": truth})


def points(found: Any, truth: Any, more: dict[str, Any] | None = None, **settings: Any) -> Outcome:
    config = {"type": "coordinate_distance", "point_path": "p", "expected_point_path": "p", **settings}
    return evaluator(config).evaluate({"p": found}, {"p": truth, **(more or {})})


# Formats.

SAME_BOX = {
    "xyxy": [10, 20, 40, 60],
    "yxyx": [20, 10, 60, 40],
    "xywh": [10, 20, 30, 40],
    "cxcywh": [25, 40, 30, 40],
    "polygon": [[10, 20], [40, 20], [40, 60], [10, 60]],
    "quad": [10, 20, 40, 20, 40, 60, 10, 60],
    "rotated": [25, 40, 40, 30, 90],
}


@pytest.mark.parametrize("first", SAME_BOX)
@pytest.mark.parametrize("second", SAME_BOX)
def test_every_format_spells_the_same_box(first: str, second: str) -> None:
    outcome = boxes(SAME_BOX[first], SAME_BOX[second], format=first, expected_format=second)
    assert (outcome.score, outcome.metadata["union_area"]) == (1.0, 1200.0)


def test_thousandths_of_a_page() -> None:
    outcome = boxes([100, 100, 500, 500], [60, 80, 300, 400], format="xyxy1000", expected_format="xyxy", page_size=[600, 800])
    assert outcome.score == 1.0
    config = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "format": "yxyx1000", "expected_format": "xywh"}
    check = evaluator({**config, "page_size_path": "page.size"})
    assert check.evaluate({"b": [100, 0, 200, 500]}, {"b": [0, 10, 100, 10], "page": {"size": [200, 100]}}).score == 1.0
    broken = check.evaluate({"b": [100, 0, 200, 500]}, {"b": [0, 10, 100, 10], "page": {}})
    assert broken.score == 0.0
    assert "page_size" in broken.reasoning
    assert boxes([0, 0, 1001, 5], [0, 0, 5, 5], format="xyxy1000").misses == ["Invalid bounding box format"]
    with pytest.raises(ConfigError, match="without the size of the page"):
        evaluator(config)


@pytest.mark.parametrize("angle", [0, 30, 90, 210, 360, -45])
def test_a_rotated_box_keeps_its_area(angle: float) -> None:
    outcome = boxes([5, 5, 8, 3, angle], [5, 5, 8, 3, angle + 180], format="rotated")
    assert outcome.score == pytest.approx(1.0, abs=1e-12)
    assert outcome.metadata["union_area"] == pytest.approx(24.0)


BAD_BOXES = {
    "xyxy": [
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        "1,2,3,4",
        7,
        {},
        [1, 2, "x", 4],
        [1, 2, None, 4],
        [math.nan, 0, 1, 1],
        [0, 0, 10**400, 1],
    ],
    "xywh": [[0, 0, -1, 1], [1e308, 0, 1e308, 1]],
    "cxcywh": [[0, 0, 1, -1]],
    "polygon": [
        [1, 2, 3, 4],
        [[0, 0], [1, 1]],
        [[0, 0], [1, 1], [0, 0]],
        [[0, 0, 0], [1, 1, 1], [2, 0, 0]],
        [1, 2, 3, 4, 5, 6, 7],
        3,
    ],
    "quad": [[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 0], [2, 1], [1, 2], [0, 1]]],
    "rotated": [[1, 2, 3, 4], [1, 2, -3, 4, 0]],
}


@pytest.mark.parametrize(
    ("format", "value"), [(name, value) for name, values in BAD_BOXES.items() for value in values], ids=str
)
def test_a_bad_box_scores_0_and_says_why(format: str, value: Any, caplog: pytest.LogCaptureFixture) -> None:
    outcome = boxes(value, SAME_BOX[format], format=format)
    assert (outcome.score, outcome.verdict, outcome.status) == (0.0, "fail", "ok")
    assert outcome.misses == ["Invalid bounding box format"]
    assert outcome.reasoning.startswith("output: ")
    assert len(caplog.records) == 1
    authored = boxes(SAME_BOX[format], value, format=format)
    assert (authored.score, authored.status) == (0.0, "error")
    assert authored.reasoning.startswith("expected: ")


# Polygons.

BOW_TIE = [[0, 0], [10, 10], [10, 0], [0, 10]]


def test_a_polygon_that_crosses_itself_is_repaired_by_the_even_odd_rule() -> None:
    outcome = boxes(BOW_TIE, [[0, 0], [10, 0], [10, 10], [0, 10]], format="polygon")
    assert (outcome.score, outcome.metadata["intersection_area"]) == (0.5, 50.0)
    assert outcome.metadata["repaired"] == ["output"]


def test_or_refused() -> None:
    outcome = boxes(BOW_TIE, [[0, 0], [10, 0], [10, 10], [0, 10]], format="polygon", on_invalid="reject")
    assert outcome.misses == ["Invalid bounding box format"]


def test_orientation_start_and_repeated_vertices_do_not_matter() -> None:
    ring = [[0.1, 0.2], [7.3, 1.1], [6.2, 8.4], [3.3, 4.4], [0.5, 9.1]]
    for same in (
        ring[::-1],
        ring[2:] + ring[:2],
        [*ring, ring[0]],
        [point for point in ring for _ in range(2)],
        [value for point in ring for value in point],
    ):
        assert boxes(same, ring, format="polygon").score == 1.0


def test_no_area_is_degenerate_not_invalid() -> None:
    line = [[0, 0], [5, 5], [10, 10]]
    outcome = boxes(line, line, format="polygon")
    assert (outcome.score, outcome.metadata["degenerate"]) == (0.0, ["output", "expected"])
    assert boxes([1, 1, 1, 5], [0, 0, 10, 10]).metadata["degenerate"] == ["output"]


def test_many_pairs_at_once() -> None:
    rng = np.random.default_rng(5)
    first = rng.random((50, 1, 2)) * 5 + np.array([[0, 0], [4, 0], [5, 3], [1, 4]])
    second = first + rng.random((50, 1, 2))
    each = [boxes(a.tolist(), b.tolist(), format="polygon").score for a, b in zip(first, second, strict=True)]
    assert polygon_iou(first, second).tolist() == pytest.approx(each, abs=1e-12)
    with pytest.raises(ValueError, match="crosses itself"):
        polygon_iou(np.array([BOW_TIE]), np.array([BOW_TIE]))
    with pytest.raises(ValueError, match="as many"):
        polygon_iou(first, second[:3])
    with pytest.raises(ValueError, match="shape"):
        polygon_iou(first[0], second[0])


# Extremes.


@pytest.mark.parametrize("exponent", [-500, -320, 0, 320, 500])
def test_the_smallest_and_the_largest_boxes(exponent: int) -> None:
    scale = 2.0**exponent
    outcome = boxes([0, 0, 4 * scale, 4 * scale], [2 * scale, 0, 6 * scale, 4 * scale])
    assert outcome.score == 1 / 3
    json.dumps(outcome.to_dict(), allow_nan=False)
    triangles = [[[0, 0], [4 * scale, 0], [0, 4 * scale]], [[0, 0], [4 * scale, 0], [4 * scale, 4 * scale]]]
    assert boxes(*triangles, format="polygon").score == 1 / 3


# Measures.


def test_further_measures_of_two_boxes() -> None:
    found, truth = [0, 0, 10, 10], [5, 0, 15, 10]
    expected = {
        "iou": 1 / 3,
        "giou": 1 / 3,
        "diou": 1 / 3 - 25 / 325,
        "dice": 0.5,
        "containment": 0.5,
        "coverage": 0.5,
        "center_in_box": 1.0,
    }
    assert {name: boxes(found, truth, metric=name).score for name in expected} == pytest.approx(expected)
    assert {name: boxes(found, truth, metric=name).metadata[name] for name in expected} == pytest.approx(expected)
    apart = boxes([0, 0, 1, 1], [9, 0, 10, 1], metric="giou")
    assert apart.score == 0.0
    assert apart.metadata["giou"] == pytest.approx(-0.8)
    assert boxes([0, 0, 2, 2], [0, 0, 10, 10], metric="containment").score == 1.0
    assert boxes([0, 0, 2, 2], [0, 0, 10, 10], metric="coverage").score == 0.04


def test_further_measures_of_polygons() -> None:
    triangle, square = [[0, 0], [6, 0], [0, 6]], [[0, 0], [6, 0], [6, 6], [0, 6]]
    assert boxes(triangle, square, format="polygon", metric="giou").score == pytest.approx(0.5)
    assert boxes(triangle, square, format="polygon", metric="center_in_box").score == 1.0
    assert boxes(triangle, square, format="polygon", metric="diou").score == pytest.approx(0.5 - 2 / 72)
    notch = [[0, 0], [10, 0], [10, 4], [4, 4], [4, 10], [0, 10]]
    assert boxes([[6, 6], [9, 6], [9, 9], [6, 9]], notch, format="polygon", metric="center_in_box").score == 0.0


def test_a_batch_under_another_measure() -> None:
    outcome = boxes([[0, 0, 2, 2]], [[0, 0, 10, 10]], metric="containment", threshold=0.9)
    assert (outcome.score, outcome.verdict, outcome.metadata["tp"]) == (1.0, "pass", 1)
    assert outcome.metadata["ious"] == [0.04]


# Batches.

CORNERS = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(1, 9), st.integers(1, 9))
BOXES = st.lists(CORNERS.map(lambda c: [c[0], c[1], c[0] + c[2], c[1] + c[3]]), max_size=4)


@given(BOXES, BOXES, st.sampled_from(["hungarian", "index", "max_matches"]))
def test_a_batch_adds_up(found: list[Any], truth: list[Any], matching: str) -> None:
    told = boxes(found, truth, threshold=0.3, matching=matching).metadata
    assert told["tp"] + told["fp"] == len(found)
    assert told["tp"] + told["fn"] == len(truth)
    assert len(told["pairs"]) == min(len(found), len(truth))
    assert told["pairs"] == sorted(told["pairs"])
    single = {(i, j): boxes(a, b).score for i, a in enumerate(found) for j, b in enumerate(truth)}
    assert all(single[i, j] == score for i, j, score in told["pairs"])
    small, large = sorted((len(found), len(truth)))
    if matching == "index":
        assert [pair[:2] for pair in told["pairs"]] == [[k, k] for k in range(small)]
        return
    ways = [
        [single[(k, c) if len(found) <= len(truth) else (c, k)] for k, c in enumerate(chosen)]
        for chosen in permutations(range(large), small)
    ]
    if matching == "hungarian":
        assert sum(told["ious"]) == pytest.approx(max(map(sum, ways)))
    else:
        assert told["tp"] == max(sum(score >= 0.3 - 1e-9 for score in way) for way in ways)


@pytest.mark.parametrize(("aggregate", "score"), [("mean_iou", 2 / 3), ("precision", 1.0), ("recall", 2 / 3), ("f1", 0.8)])
def test_what_becomes_the_score_of_a_batch(aggregate: str, score: float) -> None:
    found = [[0, 0, 4, 4], [10, 0, 14, 4]]
    outcome = boxes(found, [*found, [20, 0, 24, 4]], aggregate=aggregate, threshold=0.7)
    assert outcome.score == pytest.approx(score)
    assert (outcome.verdict == "pass") == (score >= 0.7)
    assert outcome.metadata["mean_iou_matched"] == 1.0
    assert outcome.metadata["mean_iou_truth"] == pytest.approx(2 / 3)


def test_nothing_expected_and_nothing_found_is_right() -> None:
    told = boxes([], [], threshold=0.5)
    assert (told.score, told.verdict) == (1.0, "pass")
    assert [told.metadata[name] for name in ("precision", "recall", "f1", "tp", "fp", "fn")] == [1.0, 1.0, 1.0, 0, 0, 0]
    assert points([], [], threshold=5).verdict == "pass"
    assert points([], [[1, 1]], threshold=5).verdict == "fail"
    assert points([], [[1, 1]]).verdict == "fail"


def test_a_bad_item_of_a_batch_is_an_unmatched_item(caplog: pytest.LogCaptureFixture) -> None:
    good = [[0, 0, 4, 4], [10, 0, 14, 4]]
    outcome = boxes([good[0], [9, 9, 1, 1], good[1]], good, threshold=0.5)
    told = outcome.metadata
    assert (told["tp"], told["fp"], told["fn"], told["invalid"]) == (2, 1, 0, ["output[1]"])
    assert (outcome.score, outcome.status) == (pytest.approx(2 / 3), "ok")
    assert "Invalid bounding box format" in outcome.misses
    assert len(caplog.records) == 1
    assert boxes(good, [*good, None], threshold=0.5).status == "error"


def test_a_single_box_against_a_list_is_a_batch_of_one() -> None:
    assert boxes([0, 0, 4, 4], [[0, 0, 4, 4], [9, 9, 12, 12]], threshold=0.5).metadata["fn"] == 1


def test_a_match_threshold_of_its_own() -> None:
    found, truth = [[0, 0, 20, 20]], [[0, 0, 20, 12]]
    assert boxes(found, truth, threshold=0.5, match_threshold=0.7).metadata["tp"] == 0
    assert boxes(found, truth, threshold=0.5).metadata["tp"] == 1
    assert boxes(found, truth).metadata["match_threshold"] == 0.5


def test_batches_of_polygons_pairs_and_flat() -> None:
    pairs, flat = [[[0, 0], [4, 0], [0, 4]], [[9, 9], [12, 9], [9, 12]]], [[0, 0, 4, 0, 0, 4], [9, 9, 12, 9, 9, 12]]
    assert boxes(flat, pairs[::-1], format="polygon").metadata["pairs"] == [[0, 1, 1.0], [1, 0, 1.0]]
    assert boxes([pairs[0], None], pairs, format="polygon").metadata["tp"] == 1


def test_large_batches_are_looked_at_in_parts() -> None:
    grid = [[x * 10, y * 10, x * 10 + 8, y * 10 + 8] for x in range(12) for y in range(10)]
    assert boxes(grid[::-1], grid, threshold=0.9).metadata["tp"] == 120


def test_verdict_ranges_of_ones_own(caplog: pytest.LogCaptureFixture) -> None:
    ranges = {"pass": 0.5, "partial": 0.1}
    assert boxes([0, 0, 20, 20], [0, 0, 20, 11], verdict_ranges=ranges).verdict == "pass"
    assert boxes([0, 0, 20, 20], [0, 0, 20, 3], verdict_ranges=ranges).verdict == "partial"
    assert boxes([0, 0, 20, 20], [0, 0, 20, 11], verdict_ranges=ranges, threshold=0.9).verdict == "fail"
    assert "verdict_ranges do nothing" in caplog.text


# Points.


@pytest.mark.parametrize(("scoring", "score"), [("binary", 0.0), ("linear", 0.5), ("exponential", math.exp(-0.5))])
def test_what_a_point_beyond_the_threshold_still_scores(scoring: str, score: float) -> None:
    outcome = points([0, 0], [9, 12], threshold=10, scoring=scoring)
    assert (outcome.score, outcome.verdict) == (pytest.approx(score), "fail")
    assert points([0, 0], [6, 8], threshold=10, scoring=scoring).score == 1.0
    assert points([0, 0], [1, 0], threshold=0, scoring=scoring).score == 0.0


def test_further_distances() -> None:
    assert points([0, 0], [3, 7], metric="chebyshev", threshold=9).metadata["distance"] == 7
    assert points([0, 0], [30, 40], normalize="diagonal", page_size=[60, 80], threshold=1).metadata["distance"] == 0.5
    more = {"page": [60, 80]}
    assert points([0, 0], [30, 40], more, normalize="diagonal", page_size_path="page", threshold=1).metadata["distance"] == 0.5
    assert points([0, 0], [30, 40], normalize="diagonal", page_size_path="page", threshold=1).status == "error"


def test_sets_of_points() -> None:
    told = points([[0, 0], [10, 0]], [[0, 0], [7, 4]], metric="hausdorff", threshold=5)
    assert (told.metadata["distance"], told.verdict) == (5.0, "pass")
    batch = points([[[0, 0]], [[1, 1]]], [[[0, 0]], [[9, 1]]], metric="hausdorff", threshold=5)
    assert batch.metadata["distances"] == [0.0, 8.0]
    assert "dimension" in points([[0, 0]], [[0, 0, 0]], metric="hausdorff", threshold=5).reasoning
    assert points([], [[0, 0]], metric="hausdorff", threshold=5).verdict == "fail"


def test_keypoints_as_coco_scores_them() -> None:
    settings = {"metric": "oks", "area_path": "area", "sigmas": [0.05, 0.1, 0.1], "threshold": 0.5}
    truth = [[0, 0, 2], [10, 0, 1], [5, 5, 0]]
    told = points([[1, 0], [10, 2], [99, 99]], truth, {"area": 100.0}, **settings)
    # As in pycocotools: exp(-d² / (2 · area · (2·sigma)²)), the mean over labelled keypoints.
    similarity = (math.exp(-1 / (2 * 100 * 0.1**2)) + math.exp(-4 / (2 * 100 * 0.2**2))) / 2
    assert told.metadata["distance"] == pytest.approx(1 - similarity)
    assert points([[0, 0], [10, 0]], truth, {"area": 100}, **settings).misses == ["Invalid coordinates"]
    assert points(truth, truth, {}, **settings).status == "error"
    assert points([truth], [truth], {"area": [100]}, **settings).score == 1.0
    assert points([truth], [truth], {"area": [100, 3]}, **settings).status == "error"
    assert points([[0, 0, 0]] * 3, [[0, 0, 0]] * 3, {"area": 9}, **settings).metadata["distance"] is None
    assert points(truth[:1], truth[:1], {"area": 9}, **settings).misses == ["Invalid coordinates"]


def test_points_matched_by_the_smallest_total_distance() -> None:
    found, truth = [[10, 0], [0, 0], [5, 5]], [[0, 1], [10, 1]]
    told = points(found, truth, matching="hungarian", threshold=2).metadata
    assert told["distances"] == [1.0, 1.0, None]
    assert points(found[:1], truth, matching="hungarian", threshold=2).metadata["fails"] == 1
    assert points([[0, 0], [5]], [[1, 0], [0, 1]], matching="hungarian", threshold=2).metadata["passes"] == 1


def test_graded_batches_without_a_threshold() -> None:
    outcome = points([[0, 0], [0, 0]], [[0, 0], [3, 0]])
    assert (outcome.score, outcome.verdict) == ((1 + 0.25) / 2, "partial")
    assert outcome.metadata["passes"] == 1


def test_a_distance_larger_than_any_number() -> None:
    for metric in ("euclidean", "manhattan"):
        outcome = points([1e308, 1e308], [-1e308, -1e308], metric=metric, threshold=1)
        assert (outcome.score, outcome.metadata["distance"]) == (0.0, None)
        json.dumps(outcome.to_dict(), allow_nan=False)


def test_arrays_are_taken_as_the_lists_that_they_hold() -> None:
    assert boxes(np.array([0, 0, 4, 4]), np.array([[0, 0, 4, 4]])).score == 1.0
    assert points(np.array([1.5, 2.0]), (1.5, 2.0), threshold=0).score == 1.0


# Missing values and paths.


def test_a_missing_expected_value_is_the_authors_error() -> None:
    check = evaluator({"type": "iou_score", "bbox_path": "a.b", "expected_bbox_path": "c", "threshold": 0.5})
    both = check.evaluate({"a": {}}, {})
    assert (both.status, both.misses) == ("error", ["output: a.b is missing (no b)", "expected: c is missing"])
    assert check.evaluate({"a": {}}, {"c": [0, 0, 1, 1]}).status == "ok"
    point = evaluator({"type": "coordinate_distance", "point_path": "a", "expected_point_path": "a", "threshold": 1})
    assert point.evaluate({"a": [1]}, None).status == "error"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a", 1),
        ("$.a", 1),
        ("$", {"a": 1, "b": [{"c": 2}, {"c": 3}], "d.e": {"f]": 4}, "g h": 5}),
        ("b[0].c", 2),
        ("b[-1].c", 3),
        ('["d.e"]["f]"]', 4),
        ("['d.e']['f]']", 4),
        ("g h", 5),
    ],
)
def test_paths(path: str, found: Any) -> None:
    assert Path.compile(path).find({"a": 1, "b": [{"c": 2}, {"c": 3}], "d.e": {"f]": 4}, "g h": 5}) == found


def test_every_item() -> None:
    data = {"pages": [{"boxes": [1, 2]}, {"boxes": []}, {"boxes": [3]}, {}]}
    found = Path.compile("pages[*].boxes[*]").find(data)
    assert found.items[:3] == (1, 2, 3)
    assert str(found.items[3]) == "pages[*].boxes[*] is missing (no boxes)"
    assert "list" in str(Path.compile("pages[0][*]").find(data))
    assert "missing" in str(Path.compile("other[*]").find(data))


@pytest.mark.parametrize("path", ["", "  ", "a[", "a[x]", "a..b", ".a", "a]", "[0]a", "a['x]", "a[1.5]"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        Path.compile(path)


# Settings.

BOX = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b"}
POINT = {"type": "coordinate_distance", "point_path": "p", "expected_point_path": "p"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "needs a type"),
        ({"type": "iou_scores"}, "did you mean 'iou_score'"),
        ({"type": 5}, "unknown evaluator type 5"),
        ({"type": "f.py:g"}, "cannot load code by itself"),
        ({"type": "iou_score"}, "needs 'bbox_path'"),
        ({**BOX, "treshold": 0.5}, "unknown key 'treshold' in iou_score; did you mean 'threshold'"),
        ({**BOX, "threshold": True}, "threshold must be a finite number"),
        ({**BOX, "threshold": "0.5"}, "threshold must be a finite number"),
        ({**BOX, "threshold": math.nan}, "threshold must be a finite number"),
        ({**BOX, "threshold": 0}, r"threshold must be in \(0, 1\]"),
        ({**BOX, "format": 5}, "Invalid bbox format: 5"),
        ({**BOX, "matching": "greedy"}, "Invalid matching: greedy"),
        ({**BOX, "bbox_path": 7}, "a path must be text"),
        ({**BOX, "weight": -1}, "weight must be at least 0"),
        ({**BOX, "name": ""}, "a name must be text"),
        ({**BOX, "verdict_ranges": {"pass": 0.1}}, "must not lie above"),
        ({**BOX, "verdict_ranges": [1]}, "verdict_ranges must be"),
        ({**BOX, "page_size": [1]}, "page_size must be"),
        ({**BOX, "page_size": [0, 1]}, "page_size must be positive"),
        ({**POINT, "threshold": -1}, "threshold must be at least 0"),
        ({**POINT, "threshold": math.inf}, "finite"),
        ({**POINT, "metric": "cosine", "threshold": 2.5}, r"\[0, 2\]"),
        ({**POINT, "scoring": "linear"}, "needs a threshold"),
        ({**POINT, "normalize": "diagonal", "threshold": 1}, "needs page_size"),
        ({**POINT, "metric": "oks", "threshold": 1}, "oks needs area_path"),
        ({**POINT, "metric": "oks", "area_path": "a", "sigmas": [], "threshold": 1}, "sigmas must be a list"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_settings_that_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        evaluator(config)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        evaluator({**BOX, "threshold": 7, "format": "xyz", "foo": 1})
    assert len(str(raised.value).splitlines()) == 3


def test_settings_must_be_a_mapping() -> None:
    with pytest.raises(TypeError, match="mapping"):
        evaluator(["iou_score"])  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("bp"), inner, max_size=2),
    max_leaves=12,
)


@given(JSON, JSON, st.sampled_from(["xyxy", "polygon", "rotated"]), st.sampled_from(["euclidean", "cosine", "hausdorff"]))
def test_no_data_ever_raises(found: Any, truth: Any, format: str, metric: str) -> None:
    for outcome in (boxes(found, truth, format=format), points(found, truth, metric=metric, threshold=1)):
        assert 0.0 <= outcome.score <= 1.0
        json.dumps(outcome.to_dict(), allow_nan=False)


@pytest.mark.parametrize("shift", [(0.0, 0.0), (8.0, 0.0), (0.0, 16.0), (-4.0, 32.0)])
def test_the_inside_of_a_crossing_ring_moves_with_it(shift: tuple[float, float]) -> None:
    def moved(ring: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x + shift[0], y + shift[1]) for x, y in ring]

    bow_tie = [(0.0, 0.0), (4.0, 4.0), (4.0, 0.0), (0.0, 4.0)]
    pieces = _even_odd(bow_tie)
    assert len(pieces) == 2
    assert [set(piece) for piece in _even_odd(moved(bow_tie))] == [set(moved(piece)) for piece in pieces]
