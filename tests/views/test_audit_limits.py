"""The limits of an audit: every one is inclusive, but tiny is less than; and what they are unless others are given."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from calque import Corpus, read
from calque.corpus.boxes import BoxCorpus
from calque.detection.auditing.audit import DEFAULT_RULES, AuditRules, audit

Corners = tuple[float, float, float, float]
Row = tuple[str, Corners]


def side(rows: Sequence[Row], scores: Sequence[float] | None = None) -> BoxCorpus:
    made = Corpus.from_arrays(
        [corners for _, corners in rows],
        [label for label, _ in rows],
        scores=scores,
        label_names=["Figure", "Table"],
        all_documents=[0],
        documents=[0] * len(rows),
    )
    assert isinstance(made, BoxCorpus)
    return made


def kinds(truth: Sequence[Row], rules: AuditRules, found: Sequence[Row] = (), score: float = 1.0) -> list[str]:
    return list(audit(side(truth), side(found, [score] * len(found)) if found else None, rules)["kind"])


def stretch(percent: float) -> Corners:
    """So many hundredths of a box that is a hundred long; whole numbers of them divide to the nearest double."""
    return (0.0, 0.0, percent, 10.0)


WHOLE: Row = ("Table", stretch(100))


@pytest.mark.parametrize("percent", [10, 50, 75, 90, 99])
@pytest.mark.parametrize(("label", "kind"), [("Table", "near_duplicate"), ("Figure", "two_labels")])
def test_boxes_nearly_coincide_from_the_limit_on(kernels: str, percent: int, label: str, kind: str) -> None:
    share, pair = percent / 100, [WHOLE, (label, stretch(percent))]
    assert kinds(pair, AuditRules(near=share, nested=1.0, tiny=0.0)) == [kind]
    above = kinds(pair, AuditRules(near=math.nextafter(share, 2), nested=1.0, tiny=0.0))
    assert kind not in above


@pytest.mark.parametrize("percent", [10, 50, 75, 95, 99])
def test_a_box_is_nested_from_the_limit_on(kernels: str, percent: int) -> None:
    """So many hundredths of the smaller box lie in the larger."""
    inner = ("Table", (1000.0 - percent, 0.0, 1100.0 - percent, 10.0))
    pair, share = [("Table", (0.0, 0.0, 1000.0, 10.0)), inner], percent / 100
    assert kinds(pair, AuditRules(near=1.0, nested=share, tiny=0.0)) == ["nested"]
    assert kinds(pair, AuditRules(near=1.0, nested=math.nextafter(share, 2), tiny=0.0)) == []


@pytest.mark.parametrize("percent", [1, 10, 50, 99])
def test_a_box_is_tiny_below_the_limit_and_not_at_it(kernels: str, percent: int) -> None:
    """Relative to the median of its class: here that of three, two of which are a hundred long."""
    apart = [("Table", (0.0, 20.0 * row, length, 20.0 * row + 10)) for row, length in enumerate([100.0, 100.0, percent])]
    share = percent / 100
    assert kinds(apart, AuditRules(tiny=share)) == []
    assert kinds(apart, AuditRules(tiny=math.nextafter(share, 2))) == ["tiny"]


@pytest.mark.parametrize("score", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_prediction_is_sure_from_the_limit_on(kernels: str, score: float) -> None:
    stray = [("Table", (500.0, 500.0, 510.0, 510.0))]
    assert kinds([WHOLE], AuditRules(score=score), stray, score) == ["missing_label"]
    if score < 1:
        assert kinds([WHOLE], AuditRules(score=math.nextafter(score, 2)), stray, score) == []


@pytest.mark.parametrize("percent", [10, 50, 75, 99])
def test_a_prediction_finds_a_box_from_the_limit_on(kernels: str, percent: int) -> None:
    """On a box of its class it is no finding, on one of another class the label is in doubt; else a label is missing."""
    share = percent / 100
    for label, at in (("Table", []), ("Figure", ["wrong_label"])):
        found = [(label, stretch(percent))]
        assert kinds([WHOLE], AuditRules(iou=share), found) == at
        assert kinds([WHOLE], AuditRules(iou=math.nextafter(share, 2)), found) == ["missing_label"]


def test_what_the_limits_are_unless_others_are_given() -> None:
    assert AuditRules(near=0.9, nested=0.95, tiny=0.01, score=0.9, iou=0.5) == DEFAULT_RULES


def test_broken_boxes_are_left_out(kernels: str) -> None:
    boxes = [[0, 0, -5, 5], [0, 0, -5, 5], [0, 0, 9, 9], [0, 0, 9, 9]]
    truth = read(
        {
            "images": [{"id": 1, "width": 100, "height": 100}],
            "categories": [{"id": 1, "name": "Table"}],
            "annotations": [{"id": k, "image_id": 1, "category_id": 1, "bbox": box} for k, box in enumerate(boxes)],
        }
    )
    assert isinstance(truth, BoxCorpus)
    assert truth.flaws is not None
    assert [(row["kind"], row["id"], row["other_id"]) for row in audit(truth).rows()] == [("duplicate", "3", "2")]
