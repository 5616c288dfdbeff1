"""Items and objects that counts have and no row is for, found by the paths of the values in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from calque.base.columns import Array, Flags, Ints, Strings, Table, distinct, numbered
from calque.evaluation.ledger import UNIT
from calque.fields.accounting.rows import OUTCOMES
from calque.fields.comparison.cells import class_of
from calque.fields.comparison.records import Outcome

LAST = np.iinfo(np.int64).max
"""After all that has a rank."""


def bare(path: str) -> str:
    """A path without list marks, as the schema has it."""
    return path.replace("[]", "")


def around(path: str) -> list[str]:
    """The items and objects around a value, the outermost first.

    >>> around("items[0].box.left")
    ['items[0]', 'items[0].box']
    """
    return [path[:place] for place, character in enumerate(path) if character == "."]


class Paths:
    """The paths of an outcome list by number, with those of the items and objects around them."""

    def __init__(self, rows: Table) -> None:
        texts, (self.truth, self.found) = numbered(_strings(rows, "truth_path"), _strings(rows, "found_path"))
        outer = [around(text) for text in texts]
        self.texts, (_, self._outer) = numbered(texts, chain.from_iterable(outer))
        self.labels = [class_of(text) for text in self.texts]
        """The class of each."""
        self._sizes = np.array([*map(len, outer), *[0] * (len(self.texts) - len(texts))], dtype=np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        absent = np.array([text == "" for text in self.texts], dtype=np.bool_)
        self.own = np.where(absent[self.truth], self.found, self.truth) if len(texts) else self.truth
        """For each row the path in the truth, or in the prediction where the truth has none."""

    def entries(self, codes: Array, whole: Flags) -> tuple[Ints, Ints, Ints]:
        """What is around each row's value, and a ``whole`` item itself: rows, levels and paths, in this order."""
        sizes, each = self._sizes[codes], np.flatnonzero(whole)
        rows = np.repeat(np.arange(len(codes)), sizes)
        levels = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        outer = self._outer[np.repeat(self._starts[codes], sizes) + levels]
        parts = ((rows, each), (levels, sizes[each]), (outer, codes[each]))
        row, level, path = (np.concatenate(part).astype(np.int64) for part in parts)
        order = np.lexsort((level, row))
        return row[order], level[order], path[order]


def _strings(rows: Table, name: str) -> Strings:
    column = rows[name]
    assert isinstance(column, Strings)  # noqa: S101  # paths are texts
    return column


class Occurrences:
    """The items and objects of all documents, each known by its document and its path in one number."""

    def __init__(self, rows: Table, paths: Paths, fields: Ints) -> None:
        self._paths = paths
        self._fields = fields
        """For each path the number of its field, or -1."""
        unit, told = rows.array(UNIT).astype(np.int64), ~rows.array("counted")
        row, level, path = paths.entries(paths.truth, told)
        other_row, other_level, other_path = paths.entries(paths.found, told)
        mine, others = unit[row] * len(fields) + path, unit[other_row] * len(fields) + other_path
        self._mine, place, self._first = _in_order_of_coming(mine)
        score = np.bincount(place, rows.array("score")[row], len(self._mine))
        self._mean = score / np.bincount(place, minlength=len(self._mine))
        self._told = np.isin(self._mine, (unit * len(fields) + paths.truth)[told])
        # Partners stand around the values of one row, equally far out.
        deep = max(level.max(initial=0), other_level.max(initial=0)) + 1
        at, other_at = row * deep + level, other_row * deep + other_level
        partner = np.searchsorted(other_at, at)
        paired = np.flatnonzero(np.isin(at, other_at))
        self._partner = np.full(len(self._mine), -1, dtype=np.int64)
        self._partner[place[paired]] = others[partner[paired]]
        alone, _, first = _in_order_of_coming(others)
        lone = ~np.isin(alone, self._partner)
        self._alone, self._first_alone = alone[lone], first[lone]

    def found(self, keys: Ints, counts: Ints, names: Sequence[str]) -> Table:
        """So many outcomes of fields in documents, each with its place; one that has none stands at its field's name.

        A key is a document, one of the ``names`` and an outcome in one number.
        """
        has_partner = self._partner >= 0
        # Which of several pairs are the same is decided by how alike they are: the best are.
        ranks = (self._first, -self._mean, self._told)
        pairs, rank, path = self._ranked(self._mine[has_partner], [each[has_partner] for each in ranks], len(names))
        same = _looked_up(keys, counts, pairs + Outcome.TP)
        parts = [
            (np.where(rank < same, pairs + Outcome.TP, pairs + Outcome.FD), np.where(rank < same, rank, rank - same), path)
        ]
        for outcome, items, first in (
            (Outcome.FN, self._mine[~has_partner], self._first[~has_partner]),
            (Outcome.FA, self._alone, self._first_alone),
        ):
            lone, rank, path = self._ranked(items, [first], len(names))
            parts.append((lone + outcome, rank, path))
        key, rank, path = (np.concatenate(column) for column in zip(*parts, strict=True))
        kept = rank < _looked_up(keys, counts, key)
        key, rank, path = key[kept], rank[kept], path[kept]
        missing = np.repeat(keys, counts - np.bincount(np.searchsorted(keys, key), minlength=len(keys)))
        path = np.concatenate([path, len(self._fields) + missing // OUTCOMES % len(names)])
        key, rank = np.concatenate([key, missing]), np.concatenate([rank, np.full(len(missing), LAST)])
        order = np.lexsort((rank, key))
        rest, outcomes = np.divmod(key[order], OUTCOMES)
        return Table({
            UNIT: rest // len(names),
            "code": rest % len(names),
            "outcome": outcomes,
            "field": Strings.pack([*self._paths.labels, *names]).take(path[order]),
            "path": Strings.pack([*self._paths.texts, *names]).take(path[order]),
        })  # fmt: skip

    def _ranked(self, items: Ints, ranks: Sequence[Array], fields: int) -> tuple[Ints, Ints, Ints]:
        """Items that are in a field, by it and their ranks: the key of each without outcome, its place there, its path."""
        unit, path = np.divmod(items, max(len(self._fields), 1))
        field = self._fields[path]
        key = (unit * fields + field) * OUTCOMES
        order = np.lexsort((*ranks, key))
        order = order[field[order] >= 0]
        ordered = key[order]
        return ordered, np.arange(len(ordered)) - np.searchsorted(ordered, ordered), path[order]


def _in_order_of_coming(items: Ints) -> tuple[Ints, Ints, Ints]:
    """The different items, for each one given its place among them, and for each different one where it came first."""
    different, place = distinct(items)
    first = np.empty(len(different), dtype=np.int64)
    first[place[::-1]] = np.arange(len(items))[::-1]
    return different, place, first


def _looked_up(keys: Ints, counts: Ints, wanted: Ints) -> Ints:
    """The counts of some keys; 0 of one that is not there."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)
