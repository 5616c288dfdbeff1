"""Calls of kernels that would take many minutes, or hours: as a program, it makes one, and whoever started it sends a signal.

``python -m tests.kernels.endless_calls NAME JOBS`` says that it begins, calls, and says what ended the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from calque.geometry.forms import BoxForm
from calque.kernels.structs import (
    CocoSettings,
    CocoTruths,
    Grids,
    ItemLeaf,
    ItemRows,
    KindLimits,
    PageBoxes,
    RowTables,
    TextPoints,
    Trees,
)

MANY = 2_000_000
"""Boxes on one page, or cells of a table: a million million pairs."""
LONG = 5_000_000
"""Words of a document, or characters of a text."""


def page(apart: bool = True) -> PageBoxes:
    """Boxes on one page in a long row; or all over each other, one wider than the next."""
    left = np.arange(MANY, dtype=np.float64)
    right = left + 0.5 if apart else 2.0 * MANY - left
    bottom = 1.0 + left if not apart else np.ones(MANY)
    boxes = np.stack([left, np.zeros(MANY), right, bottom], axis=1)
    nothing = np.zeros(MANY, np.int32)
    return PageBoxes(boxes, BoxForm.XYXY, nothing, np.array([0, MANY]), nothing.astype(np.uint8))


def words() -> tuple[np.ndarray, np.ndarray]:
    """Two documents of one side; the second is as long as the first."""
    return np.random.default_rng(7).integers(0, 2, 2 * LONG).astype(np.int32), np.array([0, LONG, 2 * LONG])


def both_words() -> tuple[Any, ...]:
    written, places = words()
    return written, places, np.ascontiguousarray(1 - written[::-1]), places, 2


def texts(count: int, each: int) -> TextPoints:
    points = np.random.default_rng(7).integers(0, 4, count * each).astype(np.int32)
    return TextPoints(points, np.arange(0, count * each + 1, each))


def tables(rows: int = 1, width: int = MANY) -> RowTables:
    """Two tables of so many rows."""
    cells = 2 * rows * width
    texts = (np.arange(cells) % 9).astype(np.int32)
    return RowTables(np.arange(0, 2 * rows + 1, rows), np.arange(0, cells + 1, width), np.full(cells, 65537), texts)


def one_pair(count: int = 2) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count, dtype=np.int32), np.arange(count, dtype=np.int32)[::-1].copy()


def trees() -> Trees:
    """Two roots with very many leaves each."""
    firsts = np.arange(MANY, dtype=np.int32)
    firsts[-1] = 0
    return Trees(
        np.array([0, MANY, 2 * MANY]), np.zeros(2 * MANY, np.int32), np.full(2 * MANY, -1, np.int32), np.tile(firsts, 2)
    )


def grids() -> Grids:
    """Two grids of one row each."""
    slots = (np.arange(2 * MANY) % 9).astype(np.int32)
    return Grids(slots, np.array([0, MANY, 2 * MANY]), np.ones(2, np.int64), np.full(2, MANY))


def items() -> tuple[Any, ...]:
    codes, keys = np.arange(MANY, dtype=np.int32), np.arange(float(MANY))
    none, all_of_them = np.zeros(1, np.int64), np.full(1, MANY)
    return [ItemLeaf(codes, codes, 1.0, keys, keys)], ItemRows(none, all_of_them, none, all_of_them), 0.0


def lattice() -> tuple[Any, ...]:
    reference, _ = words()
    ends = np.zeros(1, np.int32), np.ones(1, np.int32)
    said = np.ascontiguousarray(1 - reference[::-1])
    return reference, *ends, np.array([0, len(said)]), said, np.array([0, 1], np.uint8), 2, 1000


def coco() -> tuple[Any, ...]:
    truth = page()
    ranges = np.array([[0.0, 1e10]])
    settings = CocoSettings(np.array([0.5]), ranges, MANY)
    return truth, CocoTruths(np.ones(MANY), np.zeros(MANY, np.uint8)), page(), np.zeros(MANY), settings


none_matched = np.full(MANY, -1, np.int32)
no_scores, one_system = np.zeros(MANY), np.zeros(MANY, np.uint8)
two_systems = (np.arange(MANY) % 2).astype(np.uint8)

CALLS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "match_greedy": lambda: (page(), page(), no_scores, 0.5),
    "match_best": lambda: (page(), page()),
    "overlapping_pairs": lambda: (page(), page()),
    "error_kinds": lambda: (page(), page(), no_scores, none_matched, KindLimits(0.5, 0.1, 0.5, 0.8)),
    "page_areas": lambda: (page(apart=False), page(apart=False)),
    "contacts": lambda: (page(), page(), one_system, 0.5),
    "agreed_boxes": lambda: (page(), two_systems, no_scores, np.array([0.5])),
    "fuse_boxes": lambda: (page(), no_scores, one_system, 0.5),
    "coco_match": coco,
    "lcs_partners": lambda: (*both_words(), 1 << 20),
    "lattice_path": lattice,
    "row_tree_distances": lambda: (tables(), tables(), texts(9, 50), *one_pair(), False),
    "row_tree_mappings": lambda: (
        *(tables(MANY // 40, 4), tables(MANY // 40, 4), texts(9, 50)),
        *(*one_pair(), np.full(2, 2.0 * MANY)),
    ),
    "tree_distances": lambda: (trees(), trees(), texts(1, 1), *one_pair()),
    "grid_boxes": lambda: (grids(), grids(), np.arange(36.0).reshape(9, 4), np.arange(36.0).reshape(9, 4)),
    "grid_texts": lambda: (grids(), grids(), texts(9, 50)),
    "grid_given": lambda: (grids(), grids(), np.zeros((9, 9))),
    "edit_distances": lambda: (texts(2, LONG), np.array([0, 1], np.int32), np.array([1, 0], np.int32)),
    "item_partners": items,
}
"""Kernels whose work grows faster than what they are given."""

ONE_THREAD = ("lattice_path", "item_partners")
"""Those that take no number of threads."""


def main(name: str, jobs: int) -> None:
    """Call, and say what came of it."""
    from calque.kernels import _native

    given = CALLS[name]()
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    try:
        getattr(_native, name)(*given, **({} if name in ONE_THREAD else {"jobs": jobs}))
    except KeyboardInterrupt:
        sys.stdout.write("interrupted\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
