"""Counts of reading orders: long lines against an edit distance and all pairs; nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from calque.order.page_orders import ORDER_COUNTS, PageOrders, judge_orders

EDITS, MOVES, DISCORDANT = (ORDER_COUNTS.index(name) for name in ("edits", "moves", "discordant"))


def line(blocks: int, listed: Any, groups: Any = ()) -> PageOrders:
    """One page with some of its blocks in order, and groups of them."""
    starts, ends, ordered = (np.array([group[side] for group in groups], np.int32) for side in range(3))
    order = np.array(listed, np.int32)
    bounds = (np.array([0, count]) for count in (blocks, len(order), len(starts)))
    whole, stretch, grouped = bounds
    return PageOrders(whole, order, stretch, starts, ends, ordered.astype(np.uint8), grouped)


def counted(truth: PageOrders, found: PageOrders, places: Any) -> Any:
    blocks = int(truth.blocks[-1])
    return judge_orders(truth, found, np.array(places, np.int32), np.zeros(blocks, np.uint8), np.full((blocks, 2), np.nan))


def nearly(rng: np.random.Generator, size: int, moves: int) -> list[int]:
    order = list(range(size))
    for _ in range(moves):
        order.insert(int(rng.integers(size)), order.pop(int(rng.integers(size))))
    return order


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("moves", [0, 3, 40, 2000])
def test_edits_of_long_lines(seed: int, moves: int) -> None:
    """Blocks that are lost, and others moved a little or far: whatever the lines are, it is their edit distance."""
    rng = np.random.default_rng([seed, moves])
    size = int(rng.integers(40, 700))
    order = [block for block in nearly(rng, size, moves) if rng.random() > 0.05 * (seed % 3)]
    made = counted(line(size, range(size)), line(size, order), range(size))
    assert made[0][0, EDITS] == Levenshtein.distance(list(range(size)), order)
    assert made[0][0, DISCORDANT] == sum(one > other for at, one in enumerate(order) for other in order[at + 1 :])


def test_no_block_and_no_page() -> None:
    nothing = PageOrders(*(np.zeros(1, np.int64) if name in OFFSETS else np.zeros(0, TYPES[name]) for name in TYPES))
    made = counted(nothing, nothing, [])
    assert made[0].shape == (0, len(ORDER_COUNTS))
    assert made[4].tolist() == [0]
    empty = line(0, [])
    assert counted(empty, empty, [])[0].sum() == 0


OFFSETS = ("blocks", "listed_offsets", "group_offsets")
TYPES = {
    "blocks": np.int64, "listed": np.int32, "listed_offsets": np.int64, "starts": np.int32, "ends": np.int32,
    "ordered": np.uint8, "group_offsets": np.int64,
}  # fmt: skip
