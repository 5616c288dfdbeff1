"""Where a true block is in the prediction: the predicted block that it is read as, whatever both are called."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from calque.core.columns import Array, Codes, Flags, Ints
from calque.geometry.boxes import areas, iou
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, PageBoxes
from calque.order.laid_out import OrderSide, pages_of

HALF, TENTH = 0.5, 0.1
"""What two blocks must share: half of the smaller, and a tenth of the true one."""


def placed(truth: OrderSide, found: OrderSide, how: str, least: float, jobs: int = 1) -> Codes:
    """For each true block the predicted block that it is in, counted from the first of its page; -1 where nothing fits.

    Blocks without an order are in none. Pages of which a side has no boxes are paired by ids.
    """
    places = np.full(len(truth.boxes), -1, np.int32)
    by_boxes = truth.boxed & found.boxed if how != "id" else np.zeros(len(truth.boxed), np.bool_)
    _by_ids(truth, found, np.flatnonzero(~by_boxes), places)
    if by_boxes.any():
        _by_boxes(truth, found, by_boxes, places, how, least, jobs)
    return places


def _by_ids(truth: OrderSide, found: OrderSide, pages: Array, places: Codes) -> None:
    orders = truth.orders
    for page in pages.tolist():
        ours, theirs = truth.pages[page].ids, found.pages[page].ids
        if not ours or not theirs:
            continue
        known = dict(zip(theirs, range(len(theirs)), strict=True))
        if len(known) < len(theirs):  # of equal ids the first counts
            known = dict(zip(reversed(theirs), range(len(theirs) - 1, -1, -1), strict=True))
        there = np.fromiter(map(known.get, ours, repeat(-1)), np.int32, len(ours))
        listed = orders.listed[orders.listed_offsets[page] : orders.listed_offsets[page + 1]]
        places[orders.blocks[page] + listed] = there[listed]


def _by_boxes(truth: OrderSide, found: OrderSide, pages: Flags, places: Codes, how: str, least: float, jobs: int) -> None:
    ours, theirs = _in_order(truth), _in_order(found)
    roles = np.full(len(ours), LEFT_OUT, np.uint8)
    roles[_listed_first(truth) & pages[pages_of(truth.orders.blocks)]] = TAKES_PART
    one, other = _boxes(truth, ours, roles), _boxes(found, theirs, np.zeros(len(theirs), np.uint8))
    match, _, _ = kernels().match_greedy(one, other, np.zeros(len(theirs)), least, jobs)
    if how == "cover":
        left = one._replace(roles=np.where(match < 0, roles, LEFT_OUT).astype(np.uint8))
        _cover(left, other, match, jobs)
    rows = np.flatnonzero(match >= 0)
    first = found.orders.blocks[:-1][pages_of(truth.orders.blocks)]
    places[ours[rows]] = theirs[match[rows]] - first[rows]


def _in_order(side: OrderSide) -> Ints:
    """The rows of blocks, page by page as they are read; those without order last, as they are listed. The first win ties."""
    orders = side.orders
    size, first = np.diff(orders.blocks), orders.blocks[:-1]
    read = np.zeros(len(side.boxes), np.bool_)
    rows = side.first_blocks() + orders.listed
    read[rows] = True
    place = np.empty(len(side.boxes), np.int64)
    place[rows] = np.arange(len(rows)) - np.repeat(orders.listed_offsets[:-1] - first, np.diff(orders.listed_offsets))
    rest = np.flatnonzero(~read)
    unread = np.cumsum(~read) - 1
    before = np.concatenate([[0], np.cumsum(~read)])[first] - np.diff(orders.listed_offsets)
    place[rest] = (unread + np.repeat(first - before, size))[rest]
    ordered = np.empty_like(place)
    ordered[place] = np.arange(len(place))
    return ordered


def _listed_first(side: OrderSide) -> Flags:
    """Of the rows that `_in_order` gives, which are of blocks with an order."""
    orders = side.orders
    within = np.arange(len(side.boxes)) - np.repeat(orders.blocks[:-1], np.diff(orders.blocks))
    return within < np.repeat(np.diff(orders.listed_offsets), np.diff(orders.blocks))


def _boxes(side: OrderSide, rows: Ints, roles: Array) -> PageBoxes:
    return PageBoxes(side.boxes[rows], BoxForm.XYXY, np.zeros(len(rows), np.int32), side.orders.blocks, roles)


def _cover(truth: PageBoxes, found: PageBoxes, match: Codes, jobs: int) -> None:
    """Give each true block that is left the block that holds it best, whether it is taken or not."""
    rows, columns, shared = kernels().overlapping_pairs(truth, found, jobs)
    ours, theirs = areas(truth.boxes[rows], truth.form), areas(found.boxes[columns], found.form)
    fits = (shared >= HALF * np.minimum(ours, theirs)) & (shared >= TENTH * ours)
    rows, columns = rows[fits], columns[fits]
    overlap = iou(shared[fits], ours[fits], theirs[fits])
    best_last = np.lexsort((-columns, overlap, rows))
    match[rows[best_last]] = columns[best_last]
