"""Layout before the laws: the boxes of detection, of which each true one takes its best prediction."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from calque import Layout
from calque.evaluation.measures import settle
from calque.evaluation.result import Result
from tests.laws.detection import corpora, documents, iou, scaled, stray
from tests.laws.subject import Document, Subject

CLOSE = 1e-9
"""Overlaps nearer than this may be equal for one kernel and not for another way to compute them."""


def perfect(document: Document) -> Document:
    """Every true box once: of two that coincide, both take the first prediction, whatever its label."""
    once = {(box.page, box.corners): box for box in document.expected}
    return replace(document, expected=tuple(once.values()), found=tuple(replace(box, score=0.5) for box in once.values()))


def shufflable(document: Document) -> bool:
    """Every true box overlaps each prediction by another share, so that no position decides which it takes."""
    for truth in document.expected:
        shares = [iou(truth, box) for box in document.found if box.page == truth.page]
        if any(one > 0 and abs(one - two) < CLOSE for one, two in combinations(shares, 2)):
            return False
    return True


def numbers_at(result: Result, threshold: float) -> Any:
    """What the same rows give at another threshold."""
    return settle(Layout(iou=threshold).measure(result.ledger))


LAYOUT = Subject(
    name="layout",
    task=Layout(iou=0.3),
    documents=documents(),
    corpora=corpora,
    perfect=perfect,
    ones=("layout_classification_accuracy", "layout_accuracy_over_total"),
    stray=stray,
    precision=("layout_matched_blocks", "layout_classification_accuracy", "layout_accuracy_over_total"),
    recall=("layout_matched_blocks",),
    shufflable=shufflable,
    scaled=scaled,
    in_units=frozenset({("truth", "box"), ("found", "box"), ("truth_digest", "digest")}),
    at=lambda thresholds: Layout(iou=thresholds[0]),
    numbers_at=numbers_at,
)
