"""Which tables of a document go together: by id, else by page and box, else by content."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calque.core.assignment import assign
from calque.core.columns import Floats
from calque.core.corpora.tables import CellTable
from calque.geometry.boxes import edges, intersection, iou
from calque.geometry.forms import BoxForm

Tables = Sequence[CellTable]
Places = list[tuple[int, int]]
LEAST_IOU = 0.5


def paired(
    documents: Sequence[tuple[Tables, Tables]], alike: Callable[[list[tuple[CellTable, CellTable]]], Floats]
) -> list[Places]:
    """For each document the tables that go together, as places on both sides in the order of the truth.

    ``alike`` says how alike tables are (TEDS; 1 where neither has anything); it is asked once, for all documents.
    """
    known = [_by_id(*document) if _all_have_ids(*document) else _by_box(*document) for document in documents]
    asked = [(place, ours, theirs) for place, (ours, theirs) in enumerate(documents) if known[place] is None]
    values = alike([(truth, found) for _, ours, theirs in asked for truth in ours for found in theirs]) if asked else None
    start = 0
    for place, ours, theirs in asked:
        size = len(ours) * len(theirs)
        scores = np.asarray(values)[start : start + size].reshape(len(ours), len(theirs))
        known[place] = _best(scores, 0.0)
        start += size
    return [pairs or [] for pairs in known]


def _all_have_ids(ours: Tables, theirs: Tables) -> bool:
    return bool(ours and theirs) and all(table.id for table in (*ours, *theirs))


def _by_id(ours: Tables, theirs: Tables) -> Places:
    place = {table.id: number for number, table in reversed(list(enumerate(theirs)))}
    pairs = []
    for number, table in enumerate(ours):
        other = place.pop(table.id, None)
        if other is not None:
            pairs.append((number, other))
    return pairs


def _by_box(ours: Tables, theirs: Tables) -> Places | None:
    """The largest sum of IoU within pages; ``None`` unless all tables have a page and a box."""
    if not ours or not theirs:
        return []
    if any(table.page is None or table.box is None for table in (*ours, *theirs)):
        return None
    one, other = (edges(np.array([table.box for table in side], dtype=np.float64), BoxForm.XYXY) for side in (ours, theirs))
    shares = iou(intersection(one.stacked(), other), one.stacked().area, other.area)
    same = np.array([[truth.page == found.page for found in theirs] for truth in ours])
    shares[~(same & (shares >= LEAST_IOU))] = 0.0
    return _best(shares, 0.0)


def _best(scores: Floats, worthless: float) -> Places:
    """The assignment with the largest sum, without pairs that are worth nothing."""
    if not scores.size:
        return []
    rows, columns = assign(np.maximum(scores, worthless))
    return [
        (row, column) for row, column in zip(rows.tolist(), columns.tolist(), strict=True) if scores[row, column] > worthless
    ]
