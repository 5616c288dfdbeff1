"""Pages of both sides: as columns, where true blocks are in the prediction, and how far the two orders are apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.corpus.orders import Group, OrderPage
from calque.geometry.boxes import areas, iou
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, PageBoxes
from calque.order.page_orders import PageOrders, judge_orders


@dataclass(frozen=True, eq=False)
class OrderSide:
    """The pages of one side."""

    pages: Sequence[OrderPage]
    orders: PageOrders
    boxes: Floats
    """Four numbers for each block; NaN on pages of which only names are known."""
    boxed: Flags
    """Which pages have boxes."""

    def first_blocks(self) -> Ints:
        """For each block of an order the row of the first block of its page."""
        return np.repeat(self.orders.blocks[:-1], np.diff(self.orders.listed_offsets))

    def labels(self) -> list[str]:
        """What each block is called; nothing where nobody says."""
        return [*chain.from_iterable(page.labels or [""] * len(page.ids) for page in self.pages)]


def laid_out(pages: Sequence[OrderPage]) -> OrderSide:
    """The columns of some pages."""
    flat = [_flat(page.order) for page in pages]
    groups = [group for _, found in flat for group in found]
    starts, ends, ordered = (np.array([group[side] for group in groups], np.int32) for side in range(3))
    orders = PageOrders(
        _offsets([len(page.ids) for page in pages]),
        _column([blocks for blocks, _ in flat]),
        _offsets([len(blocks) for blocks, _ in flat]),
        starts,
        ends,
        ordered.astype(np.uint8),
        _offsets([len(found) for _, found in flat]),
    )
    boxed = np.array([page.boxes is not None for page in pages], dtype=np.bool_)
    parts = [np.full((len(page.ids), 4), np.nan) if page.boxes is None else page.boxes for page in pages]
    return OrderSide(pages, orders, np.concatenate([np.zeros((0, 4)), *parts]), boxed)


def _column(lists: Sequence[Sequence[int]]) -> Codes:
    """Lists of blocks one after the other; of ranges no number is looked at."""
    if all(isinstance(blocks, range) for blocks in lists):
        return np.concatenate([np.zeros(0, np.int32), *(np.arange(len(blocks), dtype=np.int32) for blocks in lists)])
    return np.fromiter(chain.from_iterable(lists), np.int32)


def _offsets(counts: Sequence[int]) -> Ints:
    return np.cumsum([0, *counts], dtype=np.int64)


def _flat(root: Group) -> tuple[Sequence[int], list[tuple[int, int, bool]]]:
    """The blocks of a tree as they are listed, and its groups as stretches of that list, the outer ones first.

    Groups that order nothing are left out: those with one block, and those with one member, which is a group itself.

    >>> _flat(Group((2, Group((0, 1), ordered=False), Group((3,)))))
    ([2, 0, 1, 3], [(0, 4, True), (1, 3, False)])
    """
    if isinstance(root.members, range) or (root.ordered and Group not in set(map(type, root.members))):
        return root.members, []  # type: ignore[return-value]  # no group among them: they are blocks
    blocks: list[int] = []
    opened: list[tuple[int, bool]] = []
    ends: dict[int, int] = {}
    waiting: list[int | Group | tuple[int]] = [root]
    while waiting:
        member = waiting.pop()
        if isinstance(member, Group):
            waiting += [(len(opened),), *reversed(member.members)]
            opened.append((len(blocks), member.ordered))
        elif isinstance(member, tuple):
            ends[member[0]] = len(blocks)
        else:
            blocks.append(member)
    groups = [(start, ends[place], ordered) for place, (start, ordered) in enumerate(opened) if ends[place] - start > 1]
    inside = {group[:2]: place for place, group in enumerate(groups)}  # of equal stretches the innermost
    return blocks, [group for place, group in enumerate(groups) if inside[group[:2]] == place]


def pages_of(offsets: Ints) -> Array:
    """The page of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


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
    match, *_ = kernels().match_greedy(one, other, np.zeros(len(theirs)), least, jobs)
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
    counts, rank, position, discordant, break_offsets, before, after, kind = judge_orders(
        ours.orders, theirs.orders, places, _furniture(ours, furniture), columns
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
