"""The masks of rows, from the text in which a file has them: what is known of each, and what those of a page share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.geometry.boxes import corners as box_corners
from calque.kernels.reference.masks import (
    MOST_PLACES,
    Faulty,
    Interval,
    bounds_of,
    drawn,
    read_counts,
    read_runs,
    shared_pixels,
    united,
)
from calque.kernels.reference.shapes import corners, points_of
from calque.kernels.reference.slabs import EXCUSING, OTHER, OWN, PREDICTED, STATES
from calque.kernels.structs import LEFT_OUT, MaskFacts, MaskFault, PageBoxes, RowMasks


class Made(NamedTuple):
    """A mask as it is made of a row."""

    intervals: list[Interval]
    fault: MaskFault = MaskFault.NONE
    height: int = -1
    width: int = -1
    odd: bool = False
    """Whether a ring had a number too many."""


def mask_facts(side: PageBoxes, jobs: int = 1) -> MaskFacts:
    """Of each row's mask: what is wrong with it, its pixels, the box around them, the size of its page, and odd numbers.

    The box is x, y, width and height; the size is height and width, -1 where nobody says. Rows left out have none of it.
    """
    del jobs  # the native kernel has threads
    facts = _no_facts(len(side.boxes))
    for row in np.flatnonzero(side.roles != LEFT_OUT).tolist():
        _note(facts, row, made_mask(side, row))
    return facts


def mask_pairs(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[MaskFacts, MaskFacts, Ints, Codes, Floats]:
    """The facts of both sides, and the pixels that each found row shares with each truth of its page.

    A page whose size nobody says has that of its first mask, the truth's before the others.
    """
    del jobs  # the native kernel has threads
    truth_facts, found_facts = _no_facts(len(truth.boxes)), _no_facts(len(found.boxes))
    counts = np.zeros(len(found.boxes), np.int64)
    truths: list[int] = []
    areas: list[float] = []
    for page in range(len(truth.offsets) - 1):
        size: list[tuple[int, int]] = []
        candidates = _page_masks(truth, page, size, truth_facts)
        for row, mask in _page_masks(found, page, size, found_facts):
            shared = [(candidate, pixels) for candidate, other in candidates if (pixels := shared_pixels(other, mask))]
            counts[row] = len(shared)
            truths += [candidate for candidate, _ in shared]
            areas += [float(pixels) for _, pixels in shared]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return truth_facts, found_facts, offsets, np.array(truths, np.int32), np.array(areas, np.float64)


def _page_masks(side: PageBoxes, page: int, size: list[tuple[int, int]], facts: MaskFacts) -> list[tuple[int, list[Interval]]]:
    """The masks of the rows of a page; ``size`` takes the first that is known."""
    masks = []
    for row in range(*side.offsets[page : page + 2].tolist()):
        if side.roles[row] == LEFT_OUT:
            continue
        made = made_mask(side, row)
        if made.fault is MaskFault.NONE:
            size[:] = size or [(made.height, made.width)]
            if size[0] != (made.height, made.width):
                made = made._replace(fault=MaskFault.SIZE, intervals=[])
        _note(facts, row, made)
        masks.append((row, made.intervals))
    return masks


def _no_facts(rows: int) -> MaskFacts:
    sizes = np.full((rows, 2), -1, np.int32)
    return np.zeros(rows, np.uint8), np.zeros(rows), np.zeros((rows, 4), np.int32), sizes, np.zeros(rows, np.uint8)


def _note(facts: MaskFacts, row: int, made: Made) -> None:
    faults, areas, bounds, sizes, odd = facts
    faults[row], odd[row] = made.fault, made.odd
    areas[row] = sum(end - start for start, end in made.intervals)
    bounds[row] = bounds_of(made.intervals, max(made.height, 0))
    sizes[row] = [min(side, 2**31 - 1) for side in (made.height, made.width)]


def mask_states(truth: PageBoxes, found: PageBoxes, truths: Sequence[tuple[int, int]], founds: Sequence[int]) -> list[float]:
    """The pixels of states that truths, each with its part, and found rows make."""
    masks = [(made_mask(found, row).intervals, PREDICTED) for row in founds]
    masks += [(made_mask(truth, row).intervals, part) for row, part in truths]
    events = sorted(event for mask, part in masks for start, end in mask for event in ((start, part, 1), (end, part, -1)))
    sums = [0.0] * STATES
    depth = [0, 0, 0, 0]
    for (place, part, change), (following, _, _) in pairwise([*events, (0, 0, 0)]):
        depth[part] += change
        state = 8 * min(depth[PREDICTED], 2) + 4 * (depth[OWN] > 0) + 2 * (depth[OTHER] > 0) + (depth[EXCUSING] > 0)
        if state:
            sums[state] += following - place
    return sums


def made_mask(side: PageBoxes, row: int) -> Made:
    """The mask that a file states for a row, else its ring or its box, drawn."""
    masks = side.masks
    if masks is None:
        raise ValueError("rows must have masks")
    size = masks.sizes[row].tolist()
    page = (int(size[0]), int(size[1])) if min(size) >= 0 else None
    try:
        if masks.starts[row] == masks.ends[row]:
            ring = points_of(side, row) or corners(box_corners(side.boxes[row : row + 1], side.form)[0].tolist())
            return _of_rings([ring], page, odd=False)
        return _of_value(json.loads(_text(masks, row)), page)
    except Faulty as faulty:
        return Made([], faulty.fault)


def _text(masks: RowMasks, row: int) -> bytes:
    start, end = int(masks.starts[row]), int(masks.ends[row])
    if not masks.path:
        return masks.text[start:end].tobytes()
    with open(masks.path, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def _of_value(value: Any, page: tuple[int, int] | None) -> Made:
    if isinstance(value, Mapping):
        return _of_runs(value, page)
    if not isinstance(value, list):
        raise Faulty(MaskFault.COUNTS)
    if not all(isinstance(ring, list) for ring in value):
        raise Faulty(MaskFault.RING)
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for ring in value for number in ring):
        raise Faulty(MaskFault.COUNTS)
    rings = [list(zip(ring[0::2], ring[1::2], strict=False)) for ring in value]
    odd = any(len(ring) % 2 for ring in value)
    if not any(len(ring) > 2 for ring in rings):
        return Made([], MaskFault.RING, odd=odd)
    return _of_rings(rings, page, odd=odd)


def _of_rings(rings: list[list[tuple[float, float]]], page: tuple[int, int] | None, *, odd: bool) -> Made:
    if page is None or page[0] * page[1] >= MOST_PLACES:
        return Made([], MaskFault.PAGE, *(page or (-1, -1)), odd)
    try:
        return Made(united([drawn(ring, *page) for ring in rings]), MaskFault.NONE, *page, odd)
    except Faulty as faulty:
        return Made([], faulty.fault, *page, odd)


def _of_runs(value: Mapping[str, Any], page: tuple[int, int] | None) -> Made:
    sides, counts = _whole(value.get("size")), value.get("counts")
    listed = _whole(counts)
    if "counts" in value and not isinstance(counts, str) and listed is None:
        raise Faulty(MaskFault.COUNTS)
    if sides is None or len(sides) != 2 or min(sides) < 0:
        raise Faulty(MaskFault.SIZE)
    size = sides[0], sides[1]
    if "counts" not in value:
        return Made([], MaskFault.COUNTS, *size)
    if page is not None and page != size:
        return Made([], MaskFault.SIZE, *page)
    if size[0] * size[1] >= MOST_PLACES:
        return Made([], MaskFault.PAGE, *size)
    try:
        runs = read_counts(list(counts.encode("utf-8", "surrogatepass"))) if isinstance(counts, str) else listed or []
        return Made(read_runs(runs, size[0] * size[1]), MaskFault.NONE, *size)
    except Faulty as faulty:
        return Made([], faulty.fault, *size)


def _whole(values: Any) -> list[int] | None:
    """A list of whole numbers; what is none of them is -1."""
    if not isinstance(values, list) or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return None
    return [int(value) if abs(value) < 9e15 and value == value // 1 else -1 for value in values]
