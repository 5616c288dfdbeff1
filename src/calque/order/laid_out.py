"""Pages of orders as columns: blocks one after the other, and their trees as lists with stretches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints
from calque.core.corpora.orders import Group, OrderPage
from calque.kernels.structs import PageOrders


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
