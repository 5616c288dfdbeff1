"""Pages of both sides: where true blocks are in the prediction, and how far the two orders are apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from calque.core.columns import Bytes, Codes, Ints
from calque.core.corpora.orders import OrderPage
from calque.kernels import kernels
from calque.order.laid_out import OrderSide, laid_out
from calque.order.placing import placed


@dataclass(frozen=True, eq=False)
class Judged:
    """All that is counted of pages, and what became of each true block and of each step; places are counted within pages."""

    truth: OrderSide
    found: OrderSide
    counts: Ints
    """A row for each page, a column for each of `ORDER_COUNTS`."""
    places: Codes
    """The predicted block of each true block, or -1."""
    rank: Codes
    """The place of each true block in the true line, or -1; those that are not placed have one, too."""
    position: Codes
    """The place of each true block in what was read, or -1."""
    discordant: Codes
    break_offsets: Ints
    """The breaks of page ``p`` are ``break_offsets[p]:break_offsets[p + 1]``."""
    before: Codes
    after: Codes
    kind: Bytes


def judged(
    truth: Sequence[OrderPage], found: Sequence[OrderPage], *, pair: str, iou: float, furniture: Collection[str], jobs: int = 1
) -> Judged:
    """Everything that is said of some pages, of which each side has one."""
    ours, theirs = laid_out(truth), laid_out(found)
    places = placed(ours, theirs, pair, iou, jobs)
    columns = np.ascontiguousarray(ours.boxes[:, ::2])
    counts, rank, position, discordant, break_offsets, before, after, kind = kernels().judge_orders(
        ours.orders, theirs.orders, places, _furniture(ours, furniture), columns, jobs
    )
    return Judged(ours, theirs, counts, places, rank, position, discordant, break_offsets, before, after, kind)


def _furniture(side: OrderSide, names: Collection[str]) -> Bytes:
    """Which blocks have a label that is one of these names."""
    if not any(page.labels for page in side.pages):
        return np.zeros(len(side.boxes), np.uint8)
    labels = side.labels()
    known = {label: _plain(label) in names for label in {*labels}}
    return np.fromiter(map(known.__getitem__, labels), np.uint8, len(labels))


def _plain(label: str) -> str:
    """A label as furniture is named: what follows the last colon, in small letters, with hyphens."""
    return label.rpartition(":")[2].lower().replace("_", "-")
