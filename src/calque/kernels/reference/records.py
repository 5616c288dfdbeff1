"""Records: keys and nesting of a JSON text, edit distances of chosen texts, and which items of two lists are partners."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from calque.core.assignment import cheapest_earliest
from calque.core.columns import Bytes, Codes, Floats, Ints
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


def edit_distances(texts: TextPoints, first: Codes, second: Codes, jobs: int = 1) -> Codes:  # noqa: ARG001  # as the compiled twin
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
    """For each row of many matrices, at least as wide as high, the column that it has in the assignment of the greatest total.

    Matrices stand one after the other, row by row. Of several best assignments the one is taken that gives the earliest row
    the earliest column, then the next row.

    >>> best_partners(np.array([9, 8, 7, 1]), np.array([2]), np.array([2])).tolist()
    [1, 0]
    """
    partners: list[int] = []
    start = 0
    for height, width in zip(heights.tolist(), widths.tolist(), strict=True):
        matrix = worth[start : start + height * width].reshape(height, width)
        partners += cheapest_earliest((-matrix).tolist())
        start += height * width
    return np.array(partners, dtype=np.int32)
