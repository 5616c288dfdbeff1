"""Tables in plain Python: rows of cells and trees turned into each other at least cost, and grids laid over each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from calque.base.columns import Array, Codes, Floats, Ints
from calque.geometry.boxes import edges, intersection, iou
from calque.geometry.forms import BoxForm
from calque.kernels.structs import Grids, RowTables, TextPoints, Trees

TIE = 1e-10
"""Costs closer than this are equal: sums of the same fractions in another order."""
ROW_END = -1
"""Stands for the spans of the end of a row."""
TOGETHER, TRUTH_LEFT, FOUND_LEFT = 0, 1, 2


class _Node(NamedTuple):
    """A cell, or the end of a row."""

    span: int
    text: int
    start: int
    """How many nodes stand before its row."""


Row = list[tuple[int, int]]


class _Texts:
    """What it costs to turn one text into another."""

    def __init__(self, texts: TextPoints) -> None:
        points = texts.points.tolist()
        self.texts = [points[begin:end] for begin, end in pairwise(texts.offsets.tolist())]
        self._known: dict[tuple[int, int], float] = {}

    def cost(self, a: int, b: int) -> float:
        """Edits by the length of the longer text; nothing for two empty ones."""
        if (a, b) not in self._known:
            longer = max(len(self.texts[a]), len(self.texts[b]))
            edits = 0 if a == b else Levenshtein.distance(self.texts[a], self.texts[b])
            self._known[a, b] = edits / longer if edits else 0.0
        return self._known[a, b]


def _rows(side: RowTables, table: int) -> list[Row]:
    first, last = side.tables[table : table + 2].tolist()
    bounds = side.rows[first : last + 1].tolist()
    return [
        list(zip(side.spans[begin:end].tolist(), side.texts[begin:end].tolist(), strict=True))
        for begin, end in pairwise(bounds)
    ]


def _sequence(rows: Sequence[Row]) -> list[_Node]:
    """The cells of each row, then its end."""
    nodes: list[_Node] = []
    for row in rows:
        start = len(nodes)
        nodes += [_Node(span, text, start) for span, text in row]
        nodes.append(_Node(ROW_END, -1, start))
    return nodes


def _cut(truth: list[Row], found: list[Row], *, beginning: bool) -> tuple[int, int]:
    """How many equal rows there are at the beginning (none unless asked for) and at the end."""
    most = min(len(truth), len(found))
    end = next((n for n in range(most) if truth[-1 - n] != found[-1 - n]), most)
    most -= end
    begin = next((n for n in range(most) if truth[n] != found[n]), most) if beginning else 0
    return begin, end


def row_tree_distances(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    structure: bool,
    jobs: int = 1,  # noqa: ARG001  # the native kernel has threads
) -> Floats:
    """For each pair of tables what it costs to turn the truth into the found one.

    A row or a cell costs 1 to take out or to put in. Two rows go together for what their cells cost; two cells for 1 when
    their spans differ, else for what their texts cost. Cells go together within rows that do, or between rows of which
    none does. A row without cells may stand for a cell at 1.
    """
    known = _Texts(texts)
    costs = []
    for t, f in zip(truth_index.tolist(), found_index.tolist(), strict=True):
        ours, theirs = _rows(truth, t), _rows(found, f)
        if structure:
            ours, theirs = ([[(span, 0) for span, _ in row] for row in rows] for rows in (ours, theirs))
        begin, end = _cut(ours, theirs, beginning=True)
        cost: Callable[[int, int], float] = (lambda _a, _b: 0.0) if structure else known.cost
        table = _Pass(_sequence(ours[begin : len(ours) - end]), _sequence(theirs[begin : len(theirs) - end]), cost)
        costs.append(table.values[-1][-1])
    return np.array(costs, dtype=np.float64)


class _Pass:
    """The whole table of costs: ``values[i][j]`` turns the first ``i`` nodes of one sequence into ``j`` of the other."""

    def __init__(self, ours: list[_Node], theirs: list[_Node], cost: Callable[[int, int], float]) -> None:
        self.ours, self.theirs, self._cost = ours, theirs, cost
        self.values = [[float(j) for j in range(len(theirs) + 1)]]
        self.choices: list[list[int]] = [[FOUND_LEFT] * (len(theirs) + 1)]
        for i, node in enumerate(ours):
            if node.start == i:
                inner = [float(j - (theirs[j].start if j < len(theirs) else j)) for j in range(len(theirs) + 1)]
            inner = self._step(i, node, inner)

    def exchange(self, a: _Node, b: _Node) -> float:
        """What it costs to turn one cell into another."""
        return 1.0 if a.span != b.span else self._cost(a.text, b.text)

    def _step(self, i: int, node: _Node, inner: list[float]) -> list[float]:
        """One row more; ``inner`` is what the cells of the row so far cost against those of each row of theirs."""
        before, end = self.values[-1], node.span == ROW_END
        now, choices = [before[0] + 1], [TRUTH_LEFT]
        following = [float(i + 1 - node.start)]
        for j, other in enumerate(self.theirs, 1):
            pair, their_end = np.inf, other.span == ROW_END
            if end and their_end:
                pair = self.values[node.start][other.start] + inner[j - 1]
            elif not end and not their_end:
                cost = self.exchange(node, other)
                pair = before[j - 1] + cost
                following.append(min(inner[j - 1] + cost, inner[j] + 1, following[j - 1] + 1))
            elif (end and node.start == i) or (their_end and other.start == j - 1):
                pair = before[j - 1] + 1
            if len(following) == j:
                following.append(float(i + 1 - node.start))
            least = min(pair, before[j] + 1, now[j - 1] + 1)
            now.append(least)
            choices.append(TOGETHER if pair <= least + TIE else TRUTH_LEFT if before[j] + 1 <= least + TIE else FOUND_LEFT)
        self.values.append(now)
        self.choices.append(choices)
        return inner if end else following


def row_tree_mappings(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    distances: Floats,  # noqa: ARG001  # the native kernel looks no further than these
    jobs: int = 1,  # noqa: ARG001  # as above
) -> tuple[Codes, Codes, Codes]:
    """For each pair the partners of truth rows, truth cells and found cells, counted within their tables.

    -1 stands for none, -2 for a row without cells. Of several cheapest ways the one is taken that, from the end, prefers
    to pair, then to leave out truth, then to leave out what was found.
    """
    known = _Texts(texts)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for t, f in zip(truth_index.tolist(), found_index.tolist(), strict=True):
        for part, partners in zip(parts, _partners(_rows(truth, t), _rows(found, f), known), strict=True):
            part.extend(partners)
    return np.array(parts[0], dtype=np.int32), np.array(parts[1], dtype=np.int32), np.array(parts[2], dtype=np.int32)


def _partners(ours: list[Row], theirs: list[Row], known: _Texts) -> tuple[list[int], list[int], list[int]]:
    _, end = _cut(ours, theirs, beginning=False)
    table = _Pass(_sequence(ours[: len(ours) - end]), _sequence(theirs[: len(theirs) - end]), known.cost)
    pairs = list(_followed(table))
    numbers = [_numbers(_sequence(rows)) for rows in (ours, theirs)]
    cut = len(table.ours), len(table.theirs)
    pairs += [(cut[0] + node, cut[1] + node) for node in range(len(numbers[0]) - cut[0])]
    nodes = [_sequence(ours), _sequence(theirs)]
    rows, cells, others = [-1] * len(ours), [-1] * sum(map(len, ours)), [-1] * sum(map(len, theirs))
    for i, j in pairs:
        is_row, other_is_row = nodes[0][i].span == ROW_END, nodes[1][j].span == ROW_END
        if is_row and other_is_row:
            rows[numbers[0][i]] = numbers[1][j]
        if not is_row:
            cells[numbers[0][i]] = -2 if other_is_row else numbers[1][j]
        if not other_is_row:
            others[numbers[1][j]] = -2 if is_row else numbers[0][i]
    return rows, cells, others


def _numbers(nodes: Sequence[_Node]) -> list[int]:
    """For each node its number among the cells, or among the rows."""
    rows = cells = 0
    numbers = []
    for node in nodes:
        numbers.append(rows if node.span == ROW_END else cells)
        rows, cells = rows + (node.span == ROW_END), cells + (node.span != ROW_END)
    return numbers


def _followed(table: _Pass) -> list[tuple[int, int]]:
    """The nodes that go together, from the end."""
    pairs: list[tuple[int, int]] = []
    i, j = len(table.ours), len(table.theirs)
    while i > 0:
        choice = table.choices[i][j]
        if choice == TOGETHER:
            a, b = table.ours[i - 1], table.theirs[j - 1]
            pairs.append((i - 1, j - 1))
            if a.span == b.span == ROW_END:
                pairs += _cells_together(table, (a.start, i - 1), (b.start, j - 1))
                i, j = a.start, b.start
                continue
        i, j = i - (choice != FOUND_LEFT), j - (choice != TRUTH_LEFT)
    return pairs


def _cells_together(table: _Pass, ours: tuple[int, int], theirs: tuple[int, int]) -> list[tuple[int, int]]:
    """The cells of two rows that go together."""
    (begin, end), (other, other_end) = ours, theirs
    values = [[float(j) for j in range(other_end - other + 1)]]
    choices = [[FOUND_LEFT] * len(values[0])]
    for i in range(begin, end):
        now, chosen = [values[-1][0] + 1], [TRUTH_LEFT]
        for j in range(other, other_end):
            at = j - other + 1
            pair = values[-1][at - 1] + table.exchange(table.ours[i], table.theirs[j])
            least = min(pair, values[-1][at] + 1, now[at - 1] + 1)
            now.append(least)
            chosen.append(TOGETHER if pair <= least + TIE else TRUTH_LEFT if values[-1][at] + 1 <= least + TIE else FOUND_LEFT)
        values.append(now)
        choices.append(chosen)
    pairs = []
    i, j = end - begin, other_end - other
    while i > 0 or j > 0:
        choice = choices[i][j]
        if choice == TOGETHER:
            pairs.append((begin + i - 1, other + j - 1))
        i, j = i - (choice != FOUND_LEFT), j - (choice != TRUTH_LEFT)
    return pairs


def tree_distances(
    truth: Trees,
    found: Trees,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    jobs: int = 1,  # noqa: ARG001  # as above
) -> Floats:
    """For each pair of trees what it costs to turn the truth into the found one (Zhang and Shasha).

    A node costs 1 to take out, to put in, or to turn into one with another label; else what its text costs.
    """
    known = _Texts(texts)
    ours, theirs = ([_tree(side, tree) for tree in range(len(side.offsets) - 1)] for side in (truth, found))
    pairs = zip(truth_index.tolist(), found_index.tolist(), strict=True)
    return np.array([_tree_distance(ours[t], theirs[f], known) for t, f in pairs], dtype=np.float64)


Tree = list[tuple[int, int, int]]
"""Label, text and first node of each node."""


def _tree(side: Trees, tree: int) -> Tree:
    begin, end = side.offsets[tree : tree + 2].tolist()
    return list(
        zip(side.labels[begin:end].tolist(), side.texts[begin:end].tolist(), side.firsts[begin:end].tolist(), strict=True)
    )


def _tree_distance(ours: Tree, theirs: Tree, known: _Texts) -> float:
    if not ours or not theirs:
        return float(len(ours) + len(theirs))
    roots = [sorted({first: node for node, (*_, first) in enumerate(tree)}.values()) for tree in (ours, theirs)]
    whole: dict[tuple[int, int], float] = {}
    for i in roots[0]:
        for j in roots[1]:
            _fill(ours, theirs, i, j, whole, known)
    return whole[len(ours) - 1, len(theirs) - 1]


def _fill(ours: Tree, theirs: Tree, i: int, j: int, whole: dict[tuple[int, int], float], known: _Texts) -> None:
    """The distances of all forests that begin where the trees ``i`` and ``j`` begin."""
    begin, other = ours[i][2], theirs[j][2]
    forests = [[float(y) for y in range(j - other + 2)]]
    for x in range(begin, i + 1):
        label, text, first = ours[x]
        forests.append([forests[-1][0] + 1])
        for y in range(other, j + 1):
            their_label, their_text, their_first = theirs[y]
            at = y - other + 1
            if first == begin and their_first == other:
                cost = 1.0 if label != their_label else 0.0 if min(text, their_text) < 0 else known.cost(text, their_text)
                pair = forests[-2][at - 1] + cost
            else:
                pair = forests[first - begin][their_first - other] + whole[x, y]
            forests[-1].append(min(min(forests[-2][at], forests[-1][at - 1]) + 1, pair))
            if first == begin and their_first == other:
                whole[x, y] = forests[-1][at]


def grid_boxes(
    truth: Grids,
    found: Grids,
    truth_boxes: Floats,
    found_boxes: Floats,
    jobs: int = 1,  # noqa: ARG001  # as above
) -> tuple[Floats, Floats, Floats]:
    """What the grids of each pair share by IoU: aligned rows and columns together, rows alone, columns alone."""
    one, other = edges(truth_boxes, BoxForm.XYXY), edges(found_boxes, BoxForm.XYXY)

    def share(a: Array, b: Array) -> Floats:
        mine, theirs = one.take(a).stacked(), other.take(b)
        return iou(intersection(mine, theirs), mine.area, theirs.area)

    return _shared(truth, found, share)


def grid_texts(truth: Grids, found: Grids, texts: TextPoints, jobs: int = 1) -> tuple[Floats, Floats, Floats]:  # noqa: ARG001  # as above
    """What they share by the longest common subsequences of texts, twice by both lengths; two empty texts are alike."""
    known = _Texts(texts).texts

    def alike(a: int, b: int) -> float:
        both = len(known[a]) + len(known[b])
        return 2.0 * LCSseq.similarity(known[a], known[b]) / both if both else 1.0

    def share(a: Array, b: Array) -> Floats:
        return np.array([[alike(x, y) for y in b.tolist()] for x in a.tolist()], dtype=np.float64).reshape(len(a), len(b))

    return _shared(truth, found, share)


def grid_given(truth: Grids, found: Grids, shares: Floats, jobs: int = 1) -> tuple[Floats, Floats, Floats]:  # noqa: ARG001  # as above
    """What they share by a table of truth items by found items."""
    return _shared(truth, found, lambda a, b: shares[np.ix_(a, b)])


def _shared(truth: Grids, found: Grids, share: Callable[[Array, Array], Floats]) -> tuple[Floats, Floats, Floats]:
    rows = []
    for ours, theirs in zip(_grids(truth), _grids(found), strict=True):
        (items, mine), (other_items, other) = (np.unique(grid, return_inverse=True) for grid in (ours, theirs))
        table = share(items, other_items)
        rows.append(_laid_over(mine.reshape(ours.shape), other.reshape(theirs.shape), table))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy()


def _grids(side: Grids) -> list[Ints]:
    sizes = zip(pairwise(side.offsets.tolist()), side.rows.tolist(), side.columns.tolist(), strict=True)
    return [side.slots[begin:end].reshape(rows, columns).astype(np.int64) for (begin, end), rows, columns in sizes]


def _laid_over(ours: Ints, theirs: Ints, table: Floats) -> tuple[float, float, float]:
    """Rows are aligned by what two of them are worth: the best alignment in order of their slots. Columns likewise."""
    if not ours.size or not theirs.size:
        return 0.0, 0.0, 0.0  # whatever number of rows, or of columns, a grid without slots names
    rows, by_rows = _aligned_rows(ours, theirs, table)
    columns, by_columns = _aligned_rows(ours.T, theirs.T, table)
    both = 0.0
    for row, other_row in rows:
        for column, other_column in columns:
            both += float(table[ours[row, column], theirs[other_row, other_column]])
    return both, by_rows, by_columns


def _aligned_rows(ours: Ints, theirs: Ints, table: Floats) -> tuple[list[tuple[int, int]], float]:
    worth = np.zeros((len(ours), len(theirs)))
    for i, row in enumerate(ours):
        for j, other in enumerate(theirs):
            worth[i, j] = _best(table[np.ix_(row, other)])[-1][-1] if row.size and other.size else 0.0
    scores = _best(worth)
    pairs = []
    i, j = worth.shape
    while i > 0 and j > 0:
        if scores[i][j] == scores[i - 1][j - 1] + worth[i - 1, j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif scores[i][j] == scores[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1], float(scores[-1][-1])


def _best(worth: Floats) -> list[list[float]]:
    """The table of the best alignments in order."""
    scores = [[0.0] * (worth.shape[1] + 1)]
    for row in worth.tolist():
        now = [0.0]
        for j, value in enumerate(row):
            now.append(max(scores[-1][j] + value, scores[-1][j + 1], now[j]))
        scores.append(now)
    return scores
