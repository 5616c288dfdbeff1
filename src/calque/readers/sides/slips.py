"""The usual slips in one file: pixels for shares, percent for scores, width for right edge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from calque.base.columns import Floats
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import Extent

MANY = 0.5
"""From this share on, a slip is held to be the rule of a file and not an accident."""


OPEN_FORMATS = frozenset({"plain", "ndjson", "parquet"})
"""Formats that leave open what the numbers of a box mean: there an option says so."""
DIVIDE = {"pixels": "divide x by the page's width and y by its height", "percent": "divide them by 100"}
"""What to do about numbers in other units."""


def box_hints(odd_boxes: Sequence[Sequence[float]], remedies: Mapping[str, str] = DIVIDE) -> Iterator[str]:
    """What refused boxes look like: pixels, percent, or x, y, width, height."""
    boxes = np.array(odd_boxes, dtype=np.float64).reshape(-1, 4)
    boxes = boxes[np.isfinite(boxes).all(axis=1)]
    if not len(boxes):
        return
    largest = float(boxes.max())
    above = boxes[(boxes > 1 + 1e-9).any(axis=1)]
    if len(above) > MANY * len(boxes):
        if largest > 100:
            yield f"values up to {largest:.6g} look like pixels: {remedies['pixels']}"
        elif largest > 2:
            yield f"values up to {largest:.6g} look like percent: {remedies['percent']}"
    inside = boxes[((boxes >= 0) & (boxes <= 1)).all(axis=1)]
    as_sizes = inside[(inside[:, 0] + inside[:, 2] <= 1 + 1e-9) & (inside[:, 1] + inside[:, 3] <= 1 + 1e-9)]
    if len(as_sizes) > MANY * len(boxes):
        yield "these boxes look like [x, y, width, height]: write [x1, y1, x2, y2]"


def score_hint(odd_scores: Sequence[float]) -> Iterator[str]:
    """What refused scores look like."""
    if odd_scores and all(1 < score <= 100 for score in odd_scores):
        yield f"scores up to {max(odd_scores):.6g} look like percent: divide them by 100"


def unit_slips(boxes: Floats, extent: Extent, sizes: Floats, file: str) -> Iterator[Issue]:
    """Notes on the boxes of one file (corners, with the sizes of their pages): units that the numbers belie."""
    if not len(boxes):
        return
    largest = float(boxes.max())
    if extent is Extent.PIXELS and 0 < largest <= 1:
        text = f"no coordinate is above {largest:.6g}: they look like shares of the page, and were read as pixels"
        yield Issue("looks-normalized", text, file, help="pass --units normalized", severity=Severity.NOTE)
    elif extent is Extent.NORMALIZED and 0 < largest <= 0.0105:
        text = f"no coordinate is above {largest:.6g} of the page: they were divided once too often"
        yield Issue("looks-divided", text, file, help="check --units", severity=Severity.NOTE)
    elif extent is Extent.PIXELS:
        with np.errstate(over="ignore"):  # a side that large is no side, and nothing lies beyond it
            beyond = (boxes[:, 2:] > 1.02 * sizes).any(axis=1)
        if beyond.sum() > MANY * len(boxes):
            text = f"{beyond.mean():.0%} of the boxes reach beyond their pages"
            help = "check --boxes, --units and --page-size, and whether x and y are swapped"
            yield Issue("beyond-page", text, file, help=help, severity=Severity.NOTE)
