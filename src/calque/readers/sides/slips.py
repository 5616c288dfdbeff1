"""The usual slips: pixels for shares, width for right edge, swapped axes. "All scores zero" is never the only message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from calque.core.columns import Codes, Flags, Floats
from calque.core.corpus import BoxCorpus, Extent
from calque.core.errors import Issue, Severity
from calque.core.start_up import Frozen
from calque.geometry.boxes import corners, edges, intersection, iou
from calque.geometry.forms import BoxForm

MANY = 0.5
"""From this share on, a slip is held to be the rule of a file and not an accident."""


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
        beyond = (boxes[:, 2:] > 1.02 * sizes).any(axis=1)
        if beyond.sum() > MANY * len(boxes):
            text = f"{beyond.mean():.0%} of the boxes reach beyond their pages"
            help = "check --boxes, --units and --page-size, and whether x and y are swapped"
            yield Issue("beyond-page", text, file, help=help, severity=Severity.NOTE)


SAMPLE = 30
"""How many pages are looked at to find out whether one side is turned, shifted or scaled as a whole."""
CROWDED = 300
"""How many boxes of one page are looked at."""
FEWEST = 5
"""Fewer truths than this say nothing about a whole file."""


class _Sheet(Frozen, eq=False):
    """One page of both sides: corners of the truths and of the predictions, and the page's size (NaN if unknown)."""

    truths: Floats
    found: Floats
    size: Floats


OPEN_FORMATS = frozenset({"plain", "ndjson", "parquet"})
"""Formats that leave open what the numbers of a box mean: there an option says so."""

_Transform = Callable[[_Sheet], Floats]


def _flipped(sheet: _Sheet) -> Floats:
    boxes, height = sheet.found, sheet.size[1]
    return np.stack([boxes[:, 0], height - boxes[:, 3], boxes[:, 2], height - boxes[:, 1]], axis=1)


def _stretched(whole: float) -> _Transform:
    return lambda sheet: sheet.found / whole * np.concatenate([sheet.size, sheet.size])


_TRANSFORMS: dict[str, tuple[_Transform, str, str]] = {
    "axes-swapped": (lambda s: s.found[:, [1, 0, 3, 2]], "have x and y swapped ([y1, x1, y2, x2])", ""),
    "sizes-for-corners": (
        lambda s: corners(s.found, BoxForm.XYWH),
        "are [x, y, width, height] and not corners",
        "pass --boxes xywh",
    ),
    "corners-for-sizes": (
        lambda s: np.concatenate([s.found[:, :2], s.found[:, 2:] - s.found[:, :2]], axis=1),
        "are corners and not [x, y, width, height]",
        "pass --boxes xyxy",
    ),
    "centres-for-corners": (
        lambda s: np.concatenate([s.found[:, :2] - s.found[:, 2:] / 2, s.found[:, :2] + s.found[:, 2:] / 2], axis=1),
        "are [centre x, centre y, width, height] and not corners",
        "pass --boxes cxcywh",
    ),
    "origin-bottom": (_flipped, "have their origin at the bottom", "pass --origin bottom_left"),
    "shares-for-pixels": (_stretched(1.0), "are shares of the page and not pixels", "pass --units normalized"),
    "percent-for-pixels": (_stretched(100.0), "are percent of the page and not pixels", "pass --units percent"),
    "thousandths-for-pixels": (_stretched(1000.0), "are thousandths of the page and not pixels", "pass --units thousand"),
}
"""What may have happened to a whole file: how to undo it on a page, in words, and the option that does so."""


def pair_slips(truth: BoxCorpus, found: BoxCorpus) -> tuple[Issue, ...]:
    """A note when predictions meet hardly any truth as they are, and most truths after one plain transform."""
    if truth.extent is not found.extent:
        return ()
    sheets = _sheets(truth, found)
    if sum(len(sheet.truths) for sheet in sheets) < FEWEST or _often_met(sheets):
        return ()
    for code, (transform, words, option) in _TRANSFORMS.items():
        share = _share_that_is_met(sheets, transform)
        if share > MANY:
            text = f"hardly any truth meets a prediction, but {share:.0%} would if the predicted boxes {words}"
            help = option if found.format in OPEN_FORMATS and option else "correct the file, or ask its producer"
            return (Issue(code, text, found.source, help=help, severity=Severity.NOTE),)
    return _scale_slip(sheets, found)


def _scale_slip(sheets: list[_Sheet], found: BoxCorpus) -> tuple[Issue, ...]:
    """A note when the predictions fit at another scale, as PDF points and pixels do."""
    both = [sheet for sheet in sheets if len(sheet.truths) and len(sheet.found)]
    reach = [np.sum([boxes[:, 2:].max(axis=0) for boxes in side], axis=0) for side in _sides(both)]
    if not both or not (reach[1] > 0).all():
        return ()
    ratio = reach[0] / reach[1]
    share = _share_that_is_met(sheets, lambda sheet: sheet.found * np.concatenate([ratio, ratio]))
    if share <= MANY:
        return ()
    text = (
        f"hardly any truth meets a prediction, but {share:.0%} would if the predicted boxes were "
        f"{ratio[0]:.3g} times as wide and {ratio[1]:.3g} times as high: the pages may be of different resolution"
    )
    help = "give the pages' sizes in both files, or convert one of them"
    return (Issue("scales-differ", text, found.source, help=help, severity=Severity.NOTE),)


def _sides(sheets: list[_Sheet]) -> tuple[list[Floats], list[Floats]]:
    return [sheet.truths for sheet in sheets], [sheet.found for sheet in sheets]


def _sheets(truth: BoxCorpus, found: BoxCorpus) -> list[_Sheet]:
    """A sample of the pages that both sides have, spread over the truth."""
    occupied = np.flatnonzero(np.bincount(truth.page, minlength=len(truth.page_index)))
    sample = occupied[np.linspace(0, len(occupied) - 1, SAMPLE).astype(np.int64)] if len(occupied) > SAMPLE else occupied
    wanted = {truth.documents[code] for code in truth.page_document[sample].tolist()}
    code_of = {document: code for code, document in enumerate(found.documents) if document in wanted}
    near = np.flatnonzero(_flags(list(code_of.values()), len(found.documents))[found.page_document])
    row_of = {(int(found.page_document[row]), int(found.page_index[row])): row for row in near.tolist()}
    pages = []
    for page in sample.tolist():
        place = code_of.get(truth.documents[truth.page_document[page]], -1), int(truth.page_index[page])
        if place in row_of:
            pages.append((page, row_of[place]))
    mine, theirs = _grouped(truth, [page for page, _ in pages]), _grouped(found, [page for _, page in pages])
    sizes = np.full((len(truth.page_index), 2), np.nan) if truth.page_sizes is None else truth.page_sizes
    if truth.extent is Extent.NORMALIZED:
        sizes = np.ones((len(truth.page_index), 2))
    return [_Sheet(mine[page], theirs[other], sizes[page]) for page, other in pages]


def _grouped(corpus: BoxCorpus, pages: list[int]) -> dict[int, Floats]:
    """The corners of the boxes of some pages; those of negative size too, for a slip may have made them so."""
    rows = np.flatnonzero(_flags(pages, len(corpus.page_index))[corpus.page])
    rows = rows[np.isfinite(corpus.boxes[rows]).all(axis=1)]
    boxes, page_of = corners(corpus.boxes[rows], BoxForm(corpus.form)), corpus.page[rows]
    return {page: _first(boxes, page_of, page) for page in pages}


def _flags(chosen: list[int], size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[chosen] = True
    return flags


def _first(boxes: Floats, page_of: Codes, page: int) -> Floats:
    return np.asarray(boxes[page_of == page][:CROWDED])


def _often_met(sheets: list[_Sheet]) -> bool:
    """Whether more than a tenth of the truths meet a prediction as they are; most files show so on their first pages."""
    enough = 0.1 * sum(len(sheet.truths) for sheet in sheets)
    with np.errstate(invalid="ignore", over="ignore"):
        return any(met > enough for met in accumulate(_met(sheet.truths, sheet.found) for sheet in sheets))


def _share_that_is_met(sheets: list[_Sheet], transform: _Transform) -> float:
    """The share of truths with IoU of at least one half with a prediction on their page, whatever the labels."""
    with np.errstate(invalid="ignore", over="ignore"):
        met = sum(_met(sheet.truths, transform(sheet)) for sheet in sheets)
    return met / sum(len(sheet.truths) for sheet in sheets)


def _met(truths: Floats, boxes: Floats) -> int:
    one, other = edges(truths, BoxForm.XYXY).stacked(), edges(boxes, BoxForm.XYXY)
    # NaN, where a page has no size, meets nothing.
    return int((iou(intersection(one, other), one.area, other.area) >= 0.5).any(axis=1).sum())
