"""The usual slips: pixels for shares, width for right edge, swapped axes. "All scores zero" is never the only message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calque.core.columns import Floats
from calque.core.corpus import BoxCorpus, BoxForm, Extent
from calque.core.errors import Issue, Severity
from calque.core.geometry import corners

MANY = 0.5
"""From this share on, a slip is held to be the rule of a file and not an accident."""


def box_hints(odd_boxes: Sequence[Sequence[float]]) -> Iterator[str]:
    """What refused boxes look like: pixels, percent, or x, y, width, height."""
    boxes = np.array(odd_boxes, dtype=np.float64).reshape(-1, 4)
    boxes = boxes[np.isfinite(boxes).all(axis=1)]
    if not len(boxes):
        return
    largest = float(boxes.max())
    above = boxes[(boxes > 1 + 1e-9).any(axis=1)]
    if len(above) > MANY * len(boxes):
        if largest > 100:
            yield f"values up to {largest:.6g} look like pixels: divide x by the page's width and y by its height"
        elif largest > 2:
            yield f"values up to {largest:.6g} look like percent: divide them by 100"
    inside = boxes[((boxes >= 0) & (boxes <= 1)).all(axis=1)]
    as_sizes = inside[(inside[:, 0] + inside[:, 2] <= 1 + 1e-9) & (inside[:, 1] + inside[:, 3] <= 1 + 1e-9)]
    if len(as_sizes) > MANY * len(boxes):
        yield "these boxes look like [x, y, width, height]: write [x1, y1, x2, y2]"


def score_hint(odd_scores: Sequence[float]) -> Iterator[str]:
    """What refused scores look like."""
    if odd_scores and all(1 < score <= 100 for score in odd_scores):
        yield f"scores up to {max(odd_scores):.6g} look like percent: divide them by 100"


SAMPLE = 2_000
"""How many objects of each side are looked at to find out whether one side is turned or shifted as a whole."""

_TRANSFORMS: dict[str, tuple[Callable[[Floats], Floats], str]] = {
    "axes-swapped": (lambda b: b[:, [1, 0, 3, 2]], "have x and y swapped ([y1, x1, y2, x2])"),
    "sizes-for-corners": (
        lambda b: np.concatenate([b[:, :2], b[:, :2] + b[:, 2:]], axis=1),
        "are [x, y, width, height] and not corners",
    ),
    "origin-bottom": (
        lambda b: np.stack([b[:, 0], 1 - b[:, 3], b[:, 2], 1 - b[:, 1]], axis=1),
        "have their origin at the bottom",
    ),
}


def pair_slips(truth: BoxCorpus, found: BoxCorpus) -> tuple[Issue, ...]:
    """A note when predictions meet hardly any truth as they are, and most of them after one plain transform."""
    if truth.extent is not Extent.NORMALIZED or found.extent is not Extent.NORMALIZED:
        return ()
    places = _truth_boxes(truth)
    sample = [(place, box) for place, box in _boxes_with_places(found, SAMPLE) if place in places]
    if len(sample) < 5:
        return ()
    candidates = [places[place] for place, _ in sample]
    boxes = np.array([box for _, box in sample])
    if _share_that_meets(candidates, boxes) > 0.1:
        return ()
    for code, (transform, words) in _TRANSFORMS.items():
        share = _share_that_meets(candidates, transform(boxes))
        if share > MANY:
            text = f"hardly any prediction meets a truth, but {share:.0%} would if the predicted boxes {words}"
            return (Issue(code, text, found.source, help="correct the file, or ask its producer", severity=Severity.NOTE),)
    return ()


def _boxes_with_places(corpus: BoxCorpus, limit: int) -> Iterator[tuple[tuple[object, int], Floats]]:
    boxes = corners(corpus.boxes[:limit], BoxForm(corpus.form))
    for row, page in enumerate(corpus.page[:limit].tolist()):
        yield (corpus.documents[corpus.page_document[page]], int(corpus.page_index[page])), boxes[row]


def _truth_boxes(truth: BoxCorpus) -> dict[tuple[object, int], Floats]:
    grouped: dict[tuple[object, int], list[Floats]] = {}
    for place, box in _boxes_with_places(truth, 5 * SAMPLE):
        grouped.setdefault(place, []).append(box)
    return {place: np.array(boxes) for place, boxes in grouped.items()}


def _share_that_meets(candidates: list[Floats], boxes: Floats) -> float:
    """The share of boxes with IoU of at least one half with a truth of their page, whatever the labels."""
    return sum(_best_iou(truths, box) >= 0.5 for truths, box in zip(candidates, boxes, strict=True)) / len(boxes)


def _best_iou(truths: Floats, box: Floats) -> float:
    low = np.maximum(truths[:, :2], box[:2])
    high = np.minimum(truths[:, 2:], box[2:])
    common = np.prod(np.clip(high - low, 0, None), axis=1)
    total = np.prod(truths[:, 2:] - truths[:, :2], axis=1) + np.prod(box[2:] - box[:2]) - common
    return float(np.max(np.divide(common, total, out=np.zeros_like(common), where=total > 0), initial=0.0))
