"""For every kernel of the protocol a random call: what it is given, sound and as odd as callers may be.

`test_twins` tries both twins on them, and ``make sanitize`` the compiled one alone, built with sanitizers.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from calque.geometry.forms import RECALL_POINTS
from calque.kernels.structs import (
    Grids,
    ItemLeaf,
    ItemRows,
    RowTables,
    TextPoints,
    Trees,
)
from tests.kernels.random_shapes import ODD, SHAPE_CALLS, Call, Random, floats, index_pairs, jobs, offsets, ragged

# Words.


def _documents(rng: Random) -> tuple[Any, ...]:
    count, words = int(rng.integers(0, 4)), int(rng.integers(1, 12))
    both = []
    for _ in range(2):
        bounds = ragged(rng, count, int(rng.choice([5, 70, 200])))
        both += [rng.integers(0, words, int(bounds[-1])).astype(np.int32), bounds]
    return *both, words


def _partners(rng: Random) -> tuple[Any, ...]:
    return *_documents(rng), int(rng.choice([0, 3, 1 << 20])), jobs(rng)


def _lattice(rng: Random) -> tuple[Any, ...]:
    nodes, words = int(rng.integers(1, 6)), 5
    ends = sorted(
        {(int(a), int(b)) for a, b in np.sort(rng.integers(0, nodes, (8, 2)), axis=1) if a < b}
        | {(n, n + 1) for n in range(nodes - 1)}
    )
    bounds = ragged(rng, len(ends), 3)
    final = (rng.random(nodes) < 0.3).astype(np.uint8)
    final[-1] = 1
    sources, targets = (np.array([end[side] for end in ends], np.int32) for side in (0, 1))
    spelt = rng.integers(0, words, int(bounds[-1])).astype(np.int32)
    return (
        rng.integers(0, words, int(rng.integers(0, 70))).astype(np.int32),
        sources,
        targets,
        bounds,
        spelt,
        final,
        words,
        int(rng.choice([1, 4, 1000])),
    )


def _texts(rng: Random) -> tuple[Any, ...]:
    pieces = ["a", "bé", " ", "\t", "\n", "\u2003", "\u00a0", "\u200b", "😀", "\ud800", "\x00", "\x1c", "x" * 40]
    return (
        [
            ("".join(rng.choice(pieces, int(rng.integers(0, 30))))).encode("utf-8", "surrogatepass")
            for _ in range(int(rng.integers(0, 4)))
        ],
    )


# Reading orders.


def _page_order(rng: Random, size: int) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Some blocks of a page in any order, and groups of them, some inside of others."""
    listed = rng.permutation(size)[: int(rng.integers(0, size + 1))].tolist()
    groups: list[tuple[int, int, int]] = []

    def group(start: int, end: int, depth: int) -> None:
        while start < end and depth < 4:
            size = int(rng.integers(1, end - start + 1))
            if rng.random() < 0.6:
                groups.append((start, start + size, int(rng.random() < 0.5)))
                group(start, start + size, depth + 1)
            start += size

    if rng.random() < 0.7:
        group(0, len(listed), 0)
    return listed, groups


def _place(rng: Random, block: int, there: int) -> int:
    if not there or rng.random() < 0.1:
        return -1
    return int(rng.integers(0, there)) if rng.random() < 0.3 else block % there


# Tables.


def _points(rng: Random, count: int) -> TextPoints:
    bounds = ragged(rng, count, int(rng.choice([3, 9, 90])))
    return TextPoints(rng.integers(0, 6, int(bounds[-1])).astype(np.int32), bounds)


def _row_tables(rng: Random, texts: int) -> RowTables:
    tables = ragged(rng, int(rng.integers(1, 4)), 5)
    rows = ragged(rng, int(tables[-1]), 4)
    cells = int(rows[-1])
    return RowTables(
        tables, rows, rng.choice([65537, 65538, 131073], cells).astype(np.int64), rng.integers(0, texts, cells).astype(np.int32)
    )


def _pairs_of(rng: Random, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return tuple(one.astype(np.int32) for one in index_pairs(rng, len(first) - 1, len(second) - 1))  # type: ignore[return-value]  # two


def _row_trees(rng: Random) -> tuple[Any, ...]:
    truth, found = _row_tables(rng, 6), _row_tables(rng, 6)
    return truth, found, _points(rng, 6), *_pairs_of(rng, truth.tables, found.tables), bool(rng.random() < 0.3), jobs(rng)


def _mappings(rng: Random) -> tuple[Any, ...]:
    from calque.kernels import reference

    truth, found, texts, ours, theirs, _, threads = _row_trees(rng)
    distances = reference.row_tree_distances(truth, found, texts, ours, theirs, False)
    return truth, found, texts, ours, theirs, distances, threads


def _trees(rng: Random) -> tuple[Any, ...]:
    both = [_forest(rng), _forest(rng)]
    return *both, _points(rng, 6), *_pairs_of(rng, both[0].offsets, both[1].offsets), jobs(rng)


def _forest(rng: Random) -> Trees:
    """Trees whose nodes stand after their children."""
    firsts: list[list[int]] = []
    for _ in range(int(rng.integers(1, 4))):
        size = int(rng.integers(1, 9))
        roots: list[int] = []  # the first node of each tree that has no parent yet
        made: list[int] = []
        for node in range(size):
            taken = len(roots) if node == size - 1 else int(rng.integers(0, len(roots) + 1))
            first = roots[len(roots) - taken] if taken else node
            roots = [*roots[: len(roots) - taken], first]
            made.append(first)
        firsts.append(made)
    nodes = sum(map(len, firsts))
    texts = rng.integers(-1, 6, nodes).astype(np.int32)
    flat = np.array([first for tree in firsts for first in tree], np.int32)
    return Trees(offsets([*map(len, firsts)]), rng.integers(0, 3, nodes).astype(np.int32), texts, flat)


def _grids(rng: Random, count: int, items: int) -> Grids:
    rows, columns = rng.integers(0, 5, count), rng.integers(0, 5, count)
    bounds = offsets(rows * columns)
    return Grids(rng.integers(0, items, int(bounds[-1])).astype(np.int32), bounds, rows, columns)


def _grid_boxes(rng: Random) -> tuple[Any, ...]:
    count = int(rng.integers(0, 4))
    return _grids(rng, count, 5), _grids(rng, count, 7), floats(rng, 5, 4, odd=0.02), floats(rng, 7, 4, odd=0.02), jobs(rng)


def _grid_texts(rng: Random) -> tuple[Any, ...]:
    count = int(rng.integers(0, 4))
    return _grids(rng, count, 6), _grids(rng, count, 6), _points(rng, 6), jobs(rng)


def _grid_given(rng: Random) -> tuple[Any, ...]:
    count = int(rng.integers(0, 4))
    return _grids(rng, count, 5), _grids(rng, count, 7), rng.integers(0, 5, (5, 7)) / 4, jobs(rng)


# Documents drawn again, sums, JSON.


def _weights(rng: Random, documents: int, replicates: int) -> np.ndarray:
    return rng.poisson(1, (documents, replicates)).astype(np.int32)


def _weighted_precision(rng: Random) -> tuple[Any, ...]:
    documents, classes, thresholds, replicates, rows = (int(rng.integers(1, most)) for most in (6, 4, 17, 20, 30))
    bounds = np.sort(np.concatenate([[0, rows], rng.integers(0, rows + 1, classes - 1)])).astype(np.int64)
    units = rng.integers(0, documents, rows).astype(np.int32)
    tied = np.zeros(rows, np.uint8)
    for row in range(1, rows):
        if row not in bounds and rng.random() < 0.3:
            units[row], tied[row] = units[row - 1], 1
    masks = [rng.integers(0, 1 << thresholds, rows).astype(np.uint16) for _ in range(2)]
    truths = rng.integers(0, 9, (classes, replicates))
    weights = _weights(rng, documents, replicates)
    return units, tied, bounds, masks[0], masks[0] & masks[1], thresholds, truths, np.array(RECALL_POINTS), weights, jobs(rng)


def _auroc(rng: Random) -> tuple[Any, ...]:
    documents, groups, rows = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(0, 30))
    bounds = np.sort(np.concatenate([[0, rows], rng.integers(0, rows + 1, groups - 1)])).astype(np.int64)
    flags = [(rng.random(rows) < 0.5).astype(np.uint8) for _ in range(2)]
    return (
        rng.integers(0, documents, rows).astype(np.int32),
        *flags,
        bounds,
        _weights(rng, documents, int(rng.integers(0, 20))),
        jobs(rng),
    )


def _fractions(rng: Random) -> tuple[Any, ...]:
    rows, size = int(rng.integers(0, 40)), int(rng.integers(1, 5))
    return rng.random(rows), rng.integers(-1, size, rows).astype(np.int32), size, float(rng.choice([1.0, 0.5, 2.0**-20]))


def _nested(rng: Random) -> tuple[Any, ...]:
    return *_keys(rng), int(rng.integers(0, 5))


def _record_lines(rng: Random) -> tuple[Any, ...]:
    return *_keys(rng), ["a", "b", "a b"][: int(rng.integers(0, 4))], int(rng.integers(0, 5))


def _edits(rng: Random) -> tuple[Any, ...]:
    pairs = int(rng.integers(0, 9))
    first, second = (rng.integers(0, 6, pairs).astype(np.int32) for _ in range(2))
    return _points(rng, 6), first, second, jobs(rng)


def _best_partners(rng: Random) -> tuple[Any, ...]:
    heights = rng.integers(1, 5, 4)
    widths = heights + rng.integers(0, 3, 4)
    return rng.integers(0, 6, int((heights * widths).sum())), heights, widths


def _item_partners(rng: Random) -> tuple[Any, ...]:
    heights, widths = (rng.integers(1, 5, 4) for _ in range(2))
    lists = ItemRows(np.cumsum(heights) - heights, heights, np.cumsum(widths) - widths, widths)
    sizes, pairs = (int(heights.sum()), int(widths.sum())), int((heights * widths).sum())

    def items() -> Any:
        return (rng.integers(-2, 3, size).astype(np.int32) for size in sizes)

    keys = [rng.integers(0, 3, 3).astype(np.float64) for _ in range(2)]
    leaves = [
        ItemLeaf(*items(), 1.0, *keys),
        ItemLeaf(*items(), 0.5, *keys, _points(rng, 6), 3),
        ItemLeaf(*items(), 2.0, scores=rng.integers(0, 5, pairs) / 4),
    ]
    return leaves, lists, float(rng.choice([0.0, 1e-9, 0.3]))


def _keys(rng: Random) -> tuple[Any, ...]:
    """A JSON text, often with a key that comes again."""
    draw = random.Random(int(rng.integers(2**32)))

    def value(depth: int) -> str:
        kind = draw.randint(0, 5) if depth < 4 else 5
        if kind < 2:
            keys = [draw.choice(['"a"', '"b"', '"\\u0061"', '"a b"', '""']) for _ in range(draw.randint(0, 3))]
            return "{" + ", ".join(f"{key}: {value(depth + 1)}" for key in keys) + "}"
        if kind < 4:
            return "[" + ",".join(value(depth + 1) for _ in range(draw.randint(0, 3))) + " ]"
        return draw.choice(["1", "-0.5e9", "null", "true", '"a: {"', '"\\""', '"é"'])

    return (value(0).encode(),)


CALLS: dict[str, Call] = {
    **SHAPE_CALLS,
    "lcs_partners": _partners,
    "lattice_path": _lattice,
    "split_words": _texts,
    "row_tree_distances": _row_trees,
    "row_tree_mappings": _mappings,
    "tree_distances": _trees,
    "grid_boxes": _grid_boxes,
    "grid_texts": _grid_texts,
    "grid_given": _grid_given,
    "weighted_precision": _weighted_precision,
    "weighted_auroc": _auroc,
    "fraction_parts": _fractions,
    "nests_beyond": _nested,
    "record_lines": _record_lines,
    "edit_distances": _edits,
    "best_partners": _best_partners,
    "item_partners": _item_partners,
    "repeats_a_key": _keys,
}
"""Each kernel, and how a random call of it is made."""


def broken(rng: Random, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same call with something wrong in one of its columns: other values, other lengths, a number that is far off."""
    place = int(rng.integers(0, len(arguments)))
    return *arguments[:place], _broken(rng, arguments[place]), *arguments[place + 1 :]


def _broken(rng: Random, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _broken_column(rng, value)
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        name = str(rng.choice(value._fields))  # type: ignore[attr-defined]  # a named tuple
        return value._replace(**{name: _broken(rng, getattr(value, name))})
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        place = int(rng.integers(0, len(value)))
        return [*value[:place], _broken(rng, value[place]), *value[place + 1 :]]
    if isinstance(value, int):
        return int(rng.choice([-1, 0, 1, 7, 1000]))  # none that only takes memory
    if isinstance(value, float):
        return float(rng.choice(ODD))
    return value


def _broken_column(rng: Random, column: np.ndarray) -> np.ndarray:
    if not column.size or rng.random() < 0.3:
        return np.ascontiguousarray(np.concatenate([column, column[-1:]]) if rng.random() < 0.5 else column[:-1])
    changed = column.copy()
    flat = changed.reshape(-1)
    odd: tuple[Any, ...] = ODD
    if column.dtype.kind != "f":
        # The copies of a document whose rows tie are walked one by one: two thousand million would only take time.
        most = 1000 if column.dtype == np.int32 and column.ndim == 2 else np.iinfo(column.dtype).max
        odd = np.iinfo(column.dtype).min, most, 0, 1, 5
    flat[int(rng.integers(0, flat.size))] = rng.choice(odd)
    return changed
