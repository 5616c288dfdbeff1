"""The limit on overlapping boxes of one page: memory and time grow with the number of overlapping pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.base.errors import ContractError
from calque.corpus.boxes import distinct_names
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT

if TYPE_CHECKING:
    from calque.evaluation.boxes.overlay import Layer, Overlay

MOST_PAIRS = 5_000_000
"""The largest number of overlapping pairs on one page: a ground-truth object and a prediction whose boxes overlap."""
PIECE = 1_000_000
"""The number of pairs that are compared at once."""


def check_crowding(overlay: Overlay, file: str) -> None:
    """Raise `ContractError` if a page has more than `MOST_PAIRS` overlapping pairs.

    Only pages on which so many pairs are possible are looked at. Masks overlap if the boxes around their pixels do.
    """
    truth, found = overlay.truth, overlay.found
    possible = np.diff(truth.offsets) * np.diff(found.offsets)
    for page in np.flatnonzero(possible > MOST_PAIRS).tolist():
        pairs = _count_overlaps(_boxes_of(truth, page), _boxes_of(found, page))
        if pairs > MOST_PAIRS:
            document = distinct_names(overlay.documents)[overlay.page_document[page]]
            raise ContractError.single(
                "too-crowded",
                f"page {overlay.page_index[page]} of document {document!r}: at most {MOST_PAIRS:,} pairs of boxes may overlap "
                f"on one page, got more. The page has {_size(truth, page):,} ground-truth objects and "
                f"{_size(found, page):,} predictions",
                file=file,
                help="remove duplicate boxes, or predictions with low scores, from this page",
            )


def _size(layer: Layer, page: int) -> int:
    return int(layer.offsets[page + 1] - layer.offsets[page])


def _boxes_of(layer: Layer, page: int) -> Floats:
    """Return the corners of the boxes on a page. A mask has the box around its pixels."""
    start, stop = layer.offsets[page : page + 2].tolist()
    if layer.masks is None or layer.mask_sizes is None:
        return corners(layer.boxes[start:stop], layer.form)
    roles = np.full(len(layer), LEFT_OUT, dtype=np.uint8)
    roles[start:stop] = 0
    bounds: Codes = kernels().mask_facts(layer.page_boxes(roles))[2]
    return corners(bounds[start:stop].astype(np.float64), BoxForm.XYWH)


def _count_overlaps(truth: Floats, found: Floats) -> int:
    """Return the number of overlapping pairs, or a number above `MOST_PAIRS` as soon as there are more.

    Ground-truth boxes are taken from the top down, some at a time, so that boxes of other lines are not compared.
    """
    order: Ints = np.argsort(truth[:, 1], kind="stable")
    step = max(1, min(256, PIECE // max(len(found), 1)))
    pairs = 0
    for start in range(0, len(order), step):
        some = truth[order[start : start + step]]
        near = found[(found[:, 1] < np.fmax.reduce(some[:, 3])) & (found[:, 3] > np.fmin.reduce(some[:, 1]))]
        left, top, right, bottom = (some[:, [side]] for side in range(4))
        touching = (left < near[:, 2]) & (near[:, 0] < right) & (top < near[:, 3]) & (near[:, 1] < bottom)
        pairs += int(np.count_nonzero(touching))
        if pairs > MOST_PAIRS:
            break
    return pairs
