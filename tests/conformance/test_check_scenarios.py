"""The scenarios of the geometric evaluators' source document, under their titles."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError
from calque.checks import Outcome, Suite, evaluator


def boxes(found: Any, truth: Any, **settings: Any) -> Outcome:
    config = {"type": "iou_score", "bbox_path": "detected", "expected_bbox_path": "truth", **settings}
    return evaluator(config).evaluate({"detected": found}, {"truth": truth})


def points(found: Any, truth: Any, **settings: Any) -> Outcome:
    config = {"type": "coordinate_distance", "point_path": "extracted", "expected_point_path": "reference", **settings}
    return evaluator(config).evaluate({"extracted": found}, {"reference": truth})


def suite(folder: Path, text: str) -> Suite:
    path = folder / "suite.yaml"
    path.write_text(text + "\ncases:\n  - {id: one, output: {}, expected: {}}\n")
    return Suite.load(path)


class TestXyxyFormat:
    def test_perfect_overlap_returns_iou_of_1(self) -> None:
        outcome = boxes([10, 10, 50, 50], [10, 10, 50, 50], format="xyxy")
        assert (outcome.score, outcome.verdict) == (1.0, "pass")

    def test_partial_overlap_returns_proportional_iou(self) -> None:
        outcome = boxes([10, 10, 30, 30], [20, 20, 40, 40])
        assert outcome.score == 100 / 700
        assert outcome.metadata["intersection_area"] == 100

    def test_no_overlap_returns_iou_of_0(self) -> None:
        outcome = boxes([10, 10, 20, 20], [50, 50, 60, 60])
        assert (outcome.score, outcome.verdict) == (0.0, "fail")


class TestXywhFormat:
    def test_xywh_format_conversion_and_iou_calculation(self) -> None:
        outcome = boxes([10, 10, 40, 40], [10, 10, 40, 40], format="xywh")
        assert (outcome.score, outcome.metadata["union_area"]) == (1.0, 1600)

    def test_partial_overlap_with_xywh_format(self) -> None:
        outcome = boxes([10, 10, 20, 20], [15, 15, 20, 20], format="xywh")
        assert outcome.score == boxes([10, 10, 30, 30], [15, 15, 35, 35], format="xyxy").score == 225 / 575


class TestPolygonFormat:
    def test_polygon_defined_by_4_vertices(self) -> None:
        square = [[10, 10], [50, 10], [50, 50], [10, 50]]
        outcome = boxes(square, square, format="polygon")
        assert outcome.metadata == {"iou": 1.0, "intersection_area": 1600.0, "union_area": 1600.0}
        assert outcome.score == 1.0

    def test_rotated_polygon_vs_axis_aligned_box(self) -> None:
        half = 5 * math.sqrt(2)
        diamond = [[5, 5 - half], [5 + half, 5], [5, 5 + half], [5 - half, 5]]
        outcome = boxes(diamond, [[0, 0], [10, 0], [10, 10], [0, 10]], format="polygon")
        assert outcome.score == pytest.approx(1 / math.sqrt(2), abs=1e-12)


class TestBatchEvaluation:
    def test_array_of_bounding_boxes_with_matching(self) -> None:
        outcome = boxes([[10, 10, 50, 50], [60, 60, 100, 100]], [[10, 10, 50, 50], [60, 60, 100, 100]])
        assert (outcome.metadata["ious"], outcome.score) == ([1.0, 1.0], 1.0)

    def test_one_to_one_matching_with_hungarian_algorithm(self) -> None:
        found = [[100, 100, 140, 140], [10, 10, 50, 50], [60, 10, 100, 50]]
        truth = [[10, 10, 50, 50], [60, 12, 100, 52], [104, 100, 144, 140]]
        outcome = boxes(found, truth)
        assert [pair[:2] for pair in outcome.metadata["pairs"]] == [[0, 2], [1, 0], [2, 1]]
        assert outcome.score == pytest.approx(sum(outcome.metadata["ious"]) / 3)

    def test_mismatched_array_lengths(self) -> None:
        outcome = boxes([[10, 10, 50, 50], [60, 60, 100, 100]], [[10, 10, 50, 50], [60, 60, 100, 100], [200, 200, 240, 240]])
        assert (outcome.metadata["precision"], outcome.metadata["recall"]) == (1.0, 2 / 3)
        assert outcome.score == 2 / 3


class TestThresholdBasedVerdicts:
    def test_pass_with_iou_above_threshold(self) -> None:
        outcome = boxes([0, 0, 20, 20], [0, 0, 20, 15], threshold=0.7)
        assert (outcome.score, outcome.verdict) == (0.75, "pass")

    def test_fail_with_iou_below_threshold(self) -> None:
        outcome = boxes([0, 0, 20, 20], [0, 0, 20, 13], threshold=0.7)
        assert (outcome.score, outcome.verdict) == (0.65, "fail")

    def test_no_threshold_uses_graded_scoring_only(self) -> None:
        outcome = boxes([0, 0, 20, 20], [0, 0, 20, 11])
        assert (outcome.score, outcome.verdict) == (0.55, "partial")


class TestEuclideanDistance:
    def test_2d_coordinate_distance_calculation(self) -> None:
        outcome = points([10, 20], [13, 24], metric="euclidean", threshold=10.0)
        assert (outcome.metadata["distance"], outcome.score) == (5.0, 1.0)

    def test_3d_coordinate_distance(self) -> None:
        assert points([10, 20, 30], [13, 24, 32], threshold=10).metadata["distance"] == pytest.approx(math.sqrt(29))

    def test_distance_exceeds_threshold(self) -> None:
        outcome = points([10, 10], [50, 50], threshold=10.0)
        assert outcome.metadata["distance"] == pytest.approx(40 * math.sqrt(2))
        assert (outcome.score, outcome.verdict) == (0.0, "fail")


class TestManhattanDistance:
    def test_manhattan_distance_calculation(self) -> None:
        assert points([10, 20], [13, 24], metric="manhattan", threshold=10).metadata["distance"] == 7

    def test_manhattan_vs_euclidean_comparison(self) -> None:
        euclidean, manhattan = (
            points([10, 20], [13, 24], metric=metric, threshold=10).metadata["distance"]
            for metric in ("euclidean", "manhattan")
        )
        assert (euclidean, manhattan) == (5.0, 7.0)
        assert manhattan >= euclidean


class TestCosineDistance:
    def test_cosine_distance_for_direction_similarity(self) -> None:
        outcome = points([1, 0], [0.707, 0.707], metric="cosine")
        assert outcome.metadata["distance"] == pytest.approx(1 - math.cos(math.pi / 4))
        assert outcome.score == pytest.approx(math.cos(math.pi / 4))

    def test_identical_direction_vectors(self) -> None:
        outcome = points([3, 4], [6, 8], metric="cosine")
        assert (outcome.metadata["distance"], outcome.score) == (0.0, 1.0)


class TestBatchOfPoints:
    def test_array_of_coordinate_pairs(self) -> None:
        outcome = points([[10, 10], [20, 20], [30, 30]], [[11, 11], [21, 19], [29, 32]], threshold=5.0)
        # The source lists 1.41, 2.24, 3.16; these are the distances of the points that it gives.
        assert outcome.metadata["distances"] == pytest.approx([math.sqrt(2), math.sqrt(2), math.sqrt(5)])
        assert (outcome.score, outcome.verdict) == (1.0, "pass")

    def test_mixed_results_in_batch(self) -> None:
        outcome = points([[0, 0]] * 5, [[2, 0], [0, 4], [8, 0], [9, 12], [3, 0]], threshold=10.0)
        assert (outcome.metadata["passes"], outcome.metadata["fails"], outcome.score) == (4, 1, 0.8)


class TestInvalidInputs:
    def test_invalid_bbox_coordinates(self, caplog: pytest.LogCaptureFixture) -> None:
        outcome = boxes([50, 50, 10, 10], [10, 10, 50, 50])
        assert outcome.score == 0.0
        assert "Invalid bounding box format" in outcome.misses
        assert [record.levelno for record in caplog.records] == [logging.ERROR]

    def test_mismatched_coordinate_dimensions(self, caplog: pytest.LogCaptureFixture) -> None:
        outcome = points([10, 20], [10, 20, 30], threshold=10)
        assert outcome.score == 0.0
        assert "dimension" in outcome.reasoning
        assert [record.levelno for record in caplog.records] == [logging.ERROR]

    def test_non_numeric_coordinate_values(self) -> None:
        assert points(["10", "20"], [13, 24], threshold=10).metadata["distance"] == 5.0
        broken = points(["ten", "20"], [13, 24], threshold=10)
        assert broken.score == 0.0
        assert "ten" in broken.reasoning


class TestConfigurationIsValidated:
    def test_reject_invalid_bbox_format(self, tmp_path: Path) -> None:
        text = "evaluators:\n  - {type: iou_score, bbox_path: a, expected_bbox_path: a, format: invalid_format}"
        with pytest.raises(ConfigError, match=r"line 2 column 60: Invalid bbox format: invalid_format; .*xyxy, xywh, polygon"):
            suite(tmp_path, text)

    def test_reject_invalid_distance_metric(self, tmp_path: Path) -> None:
        text = "evaluators:\n  - {type: coordinate_distance, point_path: a, expected_point_path: a, metric: invalid_metric}"
        with pytest.raises(ConfigError, match=r"Invalid distance metric: invalid_metric; .*euclidean, manhattan, cosine"):
            suite(tmp_path, text)

    def test_require_threshold_for_distance_evaluator(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        suite(tmp_path, "evaluators:\n  - {type: coordinate_distance, point_path: a, expected_point_path: a}")
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        outcome = points([0, 0], [3, 0])
        assert (outcome.score, outcome.verdict) == (0.25, "fail")


class TestStructuredResults:
    def test_iou_result_with_metadata(self) -> None:
        assert boxes([0, 0, 20, 20], [0, 0, 20, 15], threshold=0.7).to_dict() == {
            "score": 0.75,
            "verdict": "pass",
            "hits": ["bbox matches above 0.7"],
            "misses": [],
            "reasoning": "iou 0.75: pass, threshold 0.7",
            "metadata": {"iou": 0.75, "intersection_area": 300, "union_area": 400},
            "status": "ok",
        }

    def test_distance_result_with_metadata(self) -> None:
        outcome = points([0, 0], [2, 4.8], threshold=10.0)
        assert (outcome.score, outcome.verdict) == (1.0, "pass")
        assert outcome.metadata == {"distance": 5.2, "metric": "euclidean", "threshold": 10.0}


class TestPrecisionAndRecall:
    TRUTH = tuple([x, 0, x + 40, 40] for x in (0, 60, 120, 180, 240))
    STRAY = ([500, 500, 540, 540], [600, 600, 640, 640])

    def test_perfect_detection(self) -> None:
        told = boxes(list(self.TRUTH[:3]), list(self.TRUTH[:3]), threshold=0.5).metadata
        assert (told["precision"], told["recall"], told["f1"]) == (1.0, 1.0, 1.0)

    def test_false_positives_present(self) -> None:
        told = boxes([*self.TRUTH[:3], *self.STRAY], list(self.TRUTH[:3]), threshold=0.5).metadata
        assert (told["precision"], told["recall"]) == (0.6, 1.0)
        assert told["f1"] == pytest.approx(0.75)

    def test_false_negatives_present(self) -> None:
        told = boxes(list(self.TRUTH[:2]), list(self.TRUTH), threshold=0.5).metadata
        assert (told["precision"], told["recall"]) == (1.0, 0.4)
        assert told["f1"] == pytest.approx(4 / 7)
