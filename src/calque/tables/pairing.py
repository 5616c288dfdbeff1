"""Which tables of a document go together: by id, else by page and box, else by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from calque.base.columns import Floats
from calque.corpus.tables import CellTable
from calque.geometry.boxes import edges, intersection, iou
from calque.geometry.forms import BoxForm
from calque.kernels.assignment import assign

Tables = Sequence[CellTable]
Places = list[tuple[int, int]]
LEAST_IOU = 0.5
MOST_STEPS = 10_000_000_000
"""What the tables of one document may take: slots of one side times slots of the other, for all that are compared; minutes."""
STEPS_OF_A_PAIR = 10_000
"""What it takes to look at two tables at all."""


def paired(
    documents: Sequence[tuple[Tables, Tables]], alike: Callable[[list[tuple[CellTable, CellTable]]], Floats]
) -> list[Places | None]:
    """For each document the tables that go together, as places on both sides in the order of the truth.

    ``alike`` says how alike tables are (TEDS; 1 where neither has anything); it is asked once, for all documents.
    A document whose tables cannot be compared within the limit has ``None``.
    """
    within = [_can_be_looked_at(*document) for document in documents]
    known = [_known(*document) if fine else None for document, fine in zip(documents, within, strict=True)]
    within = [
        fine and steps(_compared(*document, pairs)) <= MOST_STEPS
        for document, pairs, fine in zip(documents, known, within, strict=True)
    ]
    asked = [(place, ours, theirs) for place, (ours, theirs) in enumerate(documents) if within[place] and known[place] is None]
    values = alike([(truth, found) for _, ours, theirs in asked for truth in ours for found in theirs]) if asked else None
    start = 0
    for place, ours, theirs in asked:
        size = len(ours) * len(theirs)
        scores = np.asarray(values)[start : start + size].reshape(len(ours), len(theirs))
        known[place] = _best(scores, 0.0)
        start += size
    return [(pairs or []) if fine else None for pairs, fine in zip(known, within, strict=True)]


def steps(pairs: Iterable[tuple[CellTable, CellTable]]) -> int:
    """What it takes to compare tables: slots, or cells where several lie on one slot, that are held against each other."""
    return sum(max(truth.slots, len(truth)) * max(found.slots, len(found)) for truth, found in pairs)


def _can_be_looked_at(ours: Tables, theirs: Tables) -> bool:
    """Whether there are few enough tables to hold each against each, where no ids say which go together."""
    return _all_have_ids(ours, theirs) or len(ours) * len(theirs) * STEPS_OF_A_PAIR <= MOST_STEPS


def _known(ours: Tables, theirs: Tables) -> Places | None:
    """What goes together by id or by box; ``None`` where only content can tell."""
    return _by_id(ours, theirs) if _all_have_ids(ours, theirs) else _by_box(ours, theirs)


def _compared(ours: Tables, theirs: Tables, known: Places | None) -> Iterator[tuple[CellTable, CellTable]]:
    """The tables that are compared: those that go together, or each with each to find out."""
    if known is None:
        return product(ours, theirs)
    return ((ours[truth], theirs[found]) for truth, found in known)


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
    rows, columns = assign(np.maximum(scores, worthless))
    return [
        (row, column) for row, column in zip(rows.tolist(), columns.tolist(), strict=True) if scores[row, column] > worthless
    ]
