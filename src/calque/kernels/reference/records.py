"""Records: keys and nesting of a JSON text, edit distances of chosen texts, and which items of two lists are partners."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from calque.base.columns import Bytes, Codes, Floats, Ints
from calque.kernels.structs import ItemLeaf, ItemRows, TextPoints

_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
"""Whole texts, too, so that no bracket is found in them."""


def repeats_a_key(text: bytes) -> bool:
    """Whether any object in a JSON text has a key twice; a text that is not JSON has none.

    >>> repeats_a_key(b'{"a": 1, "b": [{"a": 2}]}'), repeats_a_key(b'[{"a": 1, "a": 2}]')
    (False, True)
    """
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return repeated


def nests_beyond(text: bytes, levels: int) -> bool:
    """Whether a JSON text nests its values more than so many levels deep. Brackets within texts do not count.

    >>> nests_beyond(b'[["[[["]]', 2), nests_beyond(b"[[[]]]", 2)
    (False, True)
    """
    depth = 0
    for mark in _BRACKETS.findall(text):
        depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        if depth > levels:
            return True
    return False


def record_lines(
    text: bytes, keys: list[str], levels: int
) -> tuple[list[tuple[int, int, int, dict[str, str | int] | None]], int]:
    r"""The lines that are not blank: the number of each, where it begins, how long it is with its end, and its record's ids.

    These are the texts and whole numbers of 64 bits under some keys of a JSON object; ``None`` for what is no object, repeats
    a key, nests too deep, or has something else under one of the keys. And how many lines there are, blank ones too.

    >>> lines, _ = record_lines(b'{"id": 7, "a": [1]}\n\n{"id": null}', ["doc_id", "id"], 100)
    >>> lines
    [(0, 0, 20, {'id': 7}), (2, 21, 12, None)]
    """
    start = number = 0
    lines = []
    for line in io.BytesIO(text):
        if line.strip():
            lines.append((number, start, len(line), _record_ids(line, keys, levels)))
        start, number = start + len(line), number + 1
    return lines, number


def _record_ids(text: bytes, keys: list[str], levels: int) -> dict[str, str | int] | None:
    try:
        record = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or repeats_a_key(text) or nests_beyond(text, levels):
        return None
    found = {key: record[key] for key in keys if key in record}
    fine = all(type(each) is str or (type(each) is int and -(1 << 63) <= each < 1 << 63) for each in found.values())
    return found if fine else None


def edit_distances(texts: TextPoints, first: Codes, second: Codes, jobs: int = 1) -> Codes:  # noqa: ARG001  # as the native kernel
    """How many characters have to be put in, taken out or exchanged to make one text of each pair the other.

    >>> points = np.frombuffer("catcoat".encode("utf-32-le"), dtype=np.int32)
    >>> texts = TextPoints(points, np.array([0, 3, 7]))
    >>> edit_distances(texts, np.array([0, 1], dtype=np.int32), np.array([1, 1], dtype=np.int32)).tolist()
    [1, 0]
    """
    listed = [part.tolist() for part in np.split(texts.points, texts.offsets[1:-1])] if len(texts.offsets) > 1 else []
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([Levenshtein.distance(listed[a], listed[b]) for a, b in pairs], dtype=np.int32)


def item_partners(leaves: list[ItemLeaf], lists: ItemRows, slack: float) -> tuple[Codes, Bytes]:
    """The partner of each item of the truth, list after list, where it is plain who goes with whom.

    A list is settled (1) when, seen from its shorter side, no two items want the same partner and each prefers its own by more
    than ``slack``: then nothing beats these pairs. The items of other lists have no partner yet (-1).

    >>> lists = ItemRows(*(np.array([each]) for each in (0, 2, 0, 2)))
    >>> names = ItemLeaf(np.array([0, 1]), np.array([0, 1]), 1.0, np.array([5.0, 6.0]), np.array([6.0, 5.0]))
    >>> [column.tolist() for column in item_partners([names], lists, 0.0)]
    [[1, 0], [1]]
    """
    partners = np.full(int(lists.heights.sum()), -1, dtype=np.int32)
    settled = np.zeros(len(lists.heights), dtype=np.uint8)
    row = pair = 0
    for place, (truth, height, found, width) in enumerate(zip(*(column.tolist() for column in lists), strict=True)):
        rows, columns = np.arange(truth, truth + height), np.arange(found, found + width)
        matrix = _similarities(leaves, rows, columns, slice(pair, pair + height * width))
        mine = partners[row : row + height]
        turned = height > width
        wanted = _wanted(matrix.T if turned else matrix, slack)
        if wanted is not None:
            settled[place] = 1
            if turned:
                mine[wanted] = np.arange(width)
            else:
                mine[:] = wanted
        row, pair = row + height, pair + height * width
    return partners, settled


def _similarities(leaves: list[ItemLeaf], rows: Ints, columns: Ints, pairs: slice) -> Floats:
    """The weighted mean over the fields that one of the two items has; 1 where neither has any."""
    shape = len(rows), len(columns)
    total, weight = np.zeros(shape), np.zeros(shape)
    compared = np.zeros(shape, dtype=np.bool_)
    for leaf in leaves:
        one, other = leaf.truth[rows], leaf.found[columns]
        has_one, has_other = one >= 0, other >= 0
        there = has_one[:, None] | has_other[None, :]
        scores = np.zeros(shape)
        scores[np.ix_(has_one, has_other)] = _alike(leaf, one[has_one], other[has_other])
        if leaf.scores is not None:
            scores *= leaf.scores[pairs].reshape(shape)
        total, weight, compared = total + scores * leaf.weight, weight + leaf.weight * there, compared | there
    with np.errstate(all="ignore"):
        return np.where(weight > 0, total / weight, np.where(compared, 0.0, 1.0))


def _alike(leaf: ItemLeaf, truths: Codes, founds: Codes) -> Floats:
    """What keys and texts say of every pair of values."""
    alike = np.ones((len(truths), len(founds)))
    if leaf.truth_keys is not None and leaf.found_keys is not None:
        alike *= leaf.truth_keys[truths][:, None] == leaf.found_keys[founds][None, :]
    if leaf.texts is not None:
        first, second = _listed(leaf.texts, truths), _listed(leaf.texts, founds + leaf.truth_texts)
        distances = [[Levenshtein.distance(one, other) for other in second] for one in first]
        longest = [[max(len(one), len(other), 1) for other in second] for one in first]
        alike *= 1.0 - np.array(distances).reshape(alike.shape) / np.array(longest).reshape(alike.shape)
    return alike


def _listed(texts: TextPoints, numbers: Codes) -> list[list[int]]:
    bounds = zip(texts.offsets[numbers].tolist(), texts.offsets[numbers + 1].tolist(), strict=True)
    return [texts.points[start:end].tolist() for start, end in bounds]


def _wanted(matrix: Floats, slack: float) -> Ints | None:
    """The best column of each row, unless one is wanted twice or another is as good."""
    best = matrix.argmax(axis=1)
    if matrix.shape[1] > 1:
        ordered = np.partition(matrix, -2, axis=1)
        if (ordered[:, -1] - ordered[:, -2] <= slack).any():
            return None
    return best if len(set(best.tolist())) == len(best) else None


def best_partners(worth: Ints, heights: Ints, widths: Ints) -> Codes:
    """Return for each row of many matrices the column that it has in the assignment of the greatest total.

    Every matrix is at least as wide as high. The matrices follow each other, row by row. Of several best assignments the
    result is the one that gives the earliest row the earliest column, then the next row.

    >>> best_partners(np.array([9, 8, 7, 1]), np.array([2]), np.array([2])).tolist()
    [1, 0]
    """
    partners: list[int] = []
    start = 0
    for height, width in zip(heights.tolist(), widths.tolist(), strict=True):
        solver = _Assignment(worth[start : start + height * width].reshape(height, width))
        partners += solver.solve()
        start += height * width
    return np.array(partners, dtype=np.int32)


class _Assignment:
    """The Hungarian method: no pair is worth more than the prices of its two sides, and chosen pairs are worth just that.

    Prices stay between 0 and the greatest worth, because one column without a price is free until the last row has its own.
    """

    def __init__(self, worth: Ints) -> None:
        self.worth = worth
        self.row_price: Ints = worth.max(axis=1)
        self.column_price: Ints = np.zeros(worth.shape[1], dtype=np.int64)
        self.owner: Ints = np.full(worth.shape[1], -1, dtype=np.int64)
        self.column: Ints = np.full(worth.shape[0], -1, dtype=np.int64)

    def solve(self) -> list[int]:
        """Return the column of each row."""
        for row in range(len(self.worth)):
            self._give_column(row)
        for row in range(len(self.worth)):
            self._move_earlier(row)
        return [int(column) for column in self.column]

    def _give_column(self, start: int) -> None:
        """Give a row a column. Other rows move along the cheapest chain to a free column."""
        cost: Ints = np.full(len(self.owner), np.iinfo(np.int64).max)
        come_from: Ints = np.full(len(self.owner), -1, dtype=np.int64)
        done = np.zeros(len(self.owner), dtype=np.bool_)
        row, so_far, last = start, 0, -1
        while True:
            through = so_far + self.row_price[row] + self.column_price - self.worth[row]
            better = ~done & (through < cost)
            cost[better], come_from[better] = through[better], last
            open_costs = np.where(done, np.iinfo(np.int64).max, cost)
            so_far = int(open_costs.min())
            # A free column ends the chain: of equally cheap ones it comes first.
            cheapest = np.flatnonzero(~done & (open_costs == so_far))
            free = cheapest[self.owner[cheapest] < 0]
            column = int(free[0] if len(free) else cheapest[0])
            if len(free):
                break
            done[column] = True
            row, last = int(self.owner[column]), column
        gain = so_far - cost[done]
        self.row_price[self.owner[done]] -= gain
        self.column_price[done] += gain
        self.row_price[start] -= so_far
        while come_from[column] >= 0:
            before = int(come_from[column])
            self._take(int(self.owner[before]), column)
            column = before
        self._take(start, column)

    def _take(self, row: int, column: int) -> None:
        self.column[row], self.owner[column] = column, row

    def _move_earlier(self, row: int) -> None:
        """Give the row the earliest column that later rows, or none, can give up by moving among themselves."""
        released = int(self.column[row])
        wanted = np.flatnonzero(self.worth[row, :released] == self.row_price[row] + self.column_price[:released])
        if not len(wanted):
            return
        next_column: Ints = np.full(len(self.owner), -1, dtype=np.int64)
        reached = np.zeros(len(self.owner), dtype=np.bool_)
        reached[released] = True
        waiting = np.arange(row + 1, len(self.worth))
        front, free_ones = [released], False
        for column in front:
            tight = self.worth[waiting, column] == self.row_price[waiting] + self.column_price[column]
            found = [self.column[waiting[tight]]]
            waiting = waiting[~tight]
            if self.column_price[column] == 0 and not free_ones:
                # A column without a price may stay free: then a free one can be had for it.
                free_ones = True
                found.append(np.flatnonzero((self.owner < 0) & ~reached))
            new = np.concatenate(found)
            reached[new], next_column[new] = True, column
            front += new.tolist()
        wanted = wanted[reached[wanted]]
        if len(wanted):
            self._rotate(row, int(wanted[0]), released, next_column)

    def _rotate(self, row: int, column: int, released: int, next_column: Ints) -> None:
        """Give the row the column. Its owner takes the next one, until one row takes what the first row had."""
        mover = row
        while True:
            before = int(self.owner[column])
            if mover < 0:
                self.owner[column] = -1
            else:
                self._take(mover, column)
            if column == released:
                return
            mover, column = before, int(next_column[column])
