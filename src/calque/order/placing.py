"""Where a true block is in the prediction: the predicted block that it is read as, whatever both are called."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calque.core.columns import Floats
from calque.core.corpora.orders import OrderPage
from calque.geometry.boxes import Edges, edges, intersection, iou
from calque.geometry.forms import BoxForm

HALF, TENTH = 0.5, 0.1
"""What two blocks must share: half of the smaller, and a tenth of the true one."""


def placed(truth: OrderPage, found: OrderPage, how: str, least: float) -> dict[int, int]:
    """For each true block that is in the order the predicted block that it is in; none where nothing fits."""
    wanted = truth.order.blocks()
    if how == "id" or truth.boxes is None or found.boxes is None:
        by_id = {name: place for place, name in reversed(list(enumerate(found.ids)))}
        return {block: by_id[truth.ids[block]] for block in wanted if truth.ids[block] in by_id}
    if not wanted or not len(found.boxes):
        return {}
    shared, overlap, ours, theirs = overlaps(truth.boxes[wanted], found.boxes)
    rank = _ranks(found)
    pairs = _greedy(overlap, rank, least)
    if how == "cover":
        _covered(pairs, shared, overlap, (ours.area, theirs.area), rank)
    return {wanted[row]: column for row, column in pairs.items()}


def overlaps(ours: Floats, theirs: Floats) -> tuple[Floats, Floats, Edges, Edges]:
    """What every two boxes share, their IoU, and the edges of both sides."""
    one, other = edges(ours, BoxForm.XYXY), edges(theirs, BoxForm.XYXY)
    shared = intersection(one.stacked(), other)
    return shared, iou(shared, one.area[:, None], other.area), one, other


def _ranks(found: OrderPage) -> Floats:
    """Where each predicted block is read; those without order come last, as they are listed."""
    rank = np.arange(len(found.ids), dtype=np.float64) + len(found.ids)
    listed = found.order.blocks()
    rank[listed] = np.arange(len(listed))
    return rank


def _greedy(overlap: Floats, rank: Floats, least: float) -> dict[int, int]:
    rows, columns = np.nonzero(overlap >= least)
    best = np.lexsort((rows, rank[columns], -overlap[rows, columns]))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for row, column in zip(rows[best].tolist(), columns[best].tolist(), strict=True):
        if row not in pairs and column not in taken:
            pairs[row] = column
            taken.add(column)
    return pairs


def _covered(pairs: dict[int, int], shared: Floats, overlap: Floats, areas: tuple[Floats, Floats], rank: Floats) -> None:
    """Give each true block that is left the block that holds it best, whether it is taken or not."""
    ours, theirs = areas
    left = [row for row in range(len(ours)) if row not in pairs]
    part, sizes = shared[left], ours[left, None]
    fits = (part >= HALF * np.minimum(sizes, theirs[None, :])) & (part >= TENTH * sizes) & (part > 0)
    for row, there in zip(left, fits, strict=True):
        columns = np.flatnonzero(there)
        if len(columns):
            pairs[row] = int(columns[np.lexsort((rank[columns], -overlap[row, columns]))[0]])


def by_position(found: OrderPage, places: Mapping[int, int]) -> dict[int, int]:
    """Of the true blocks that are placed, where the prediction reads them; those in blocks without order are left out."""
    at = {block: place for place, block in enumerate(found.order.blocks())}
    return {block: at[there] for block, there in places.items() if there in at}
