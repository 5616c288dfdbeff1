"""Metric names: results, gates, comparisons and ``calque explain`` take the same names, and refuse the same ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from calque import ConfigError, Corpus, Detection, Evaluator, Result, Words, compare, gated, resample
from tests.conftest import Run


@pytest.fixture(scope="module")
def words() -> Result:
    return Evaluator(Words()).update({"a": "one two", "b": "three"}, {"a": "one", "b": "three"}).compute()


@pytest.fixture(scope="module")
def detection() -> Result:
    boxes, labels = [[0, 0, 10, 10], [20, 0, 30, 10]], ["Table", "Text"]
    truth = Corpus.from_arrays(boxes, labels)
    predictions = Corpus.from_arrays([[0, 0, 10, 7], [20, 0, 30, 10]], labels, scores=[0.8, 0.9])
    return Evaluator(Detection(max_detections=(1, 7, 100))).update(truth, predictions).compute()


def test_a_threshold_that_a_metric_does_not_have_is_refused_with_a_suggestion(words: Result) -> None:
    with pytest.raises(KeyError, match=r"no metric recall@0.5: recall has no thresholds; did you mean 'recall'\?"):
        words["recall@0.5"]
    with pytest.raises(ConfigError, match=r"--fail-under recall@0.5: no measure of this result is called so; the nearest are"):
        gated(words, fail_under={"recall@0.5": 0.1})
    with pytest.raises(ConfigError, match=r"there is no measure 'recall@0.5'; the nearest are recall, "):
        compare([words, words], primary=["recall@0.5"])
    with pytest.raises(ConfigError, match=r"there is no measure 'recall@0.5'"):
        resample(words, [[1, 1]], ["recall@0.5"])


def test_a_class_that_a_metric_does_not_have_is_refused(detection: Result) -> None:
    assert detection["recall@0.5/Table"] == 1.0
    with pytest.raises(KeyError, match="there is no 'Figure'"):
        detection["recall@0.5/Figure"]


def test_average_precision_at_a_threshold_of_its_own_has_that_value(detection: Result) -> None:
    assert detection["AP@0.5"] == detection["mAP@0.50"] == detection["AP50"] == pytest.approx(1.0)
    assert detection["AP@0.75/Table"] == detection["AP75/Table"] == 0.0
    with pytest.raises(KeyError, match="AP has no thresholds"):
        detection["AP@0.6"]


def test_aliases_and_headers_index_a_result(detection: Result) -> None:
    assert detection["mAP"] == detection["AP"]
    assert detection["mean IoU@0.5"] == detection["mean_iou@0.5"]
    assert detection["mean IoU"] == detection["mean_iou@0.5"]
    assert detection["AR7"] == pytest.approx(detection["AR100"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AR7", "with the 7 best predictions"),
        ("AR100", "with the 100 best predictions"),
        ("AP@0.5", "Average precision at IoU 0.5."),
        ("recall@0.5", "at least 0.5"),
        ("AP/Table", "detection"),
    ],
)
def test_explain_resolves_the_names_of_results(calque: Callable[..., Run], name: str, text: str) -> None:
    run = calque("explain", name)
    assert run.code == 0
    assert text in run.out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AR0", "no measure or column is named 'AR0'; the nearest are 'AR10'"),
        ("AP@0.6", "AP has no thresholds; the nearest are"),
        ("wer@0.5", "wer has no thresholds; the nearest are 'wer'"),
    ],
)
def test_explain_refuses_names_that_no_result_has(calque: Callable[..., Run], name: str, text: str) -> None:
    run = calque("explain", name)
    assert run.code == 2
    assert text in run.err
