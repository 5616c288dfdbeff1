"""Lists with more pairs than fit into memory: paired optimally row by row, or, where that takes too long, with a proven bound.

Rows and columns have prices, and no pair is worth more than the prices of its two sides together: so much and no more can
any pairing be worth. Equal items, and rows whose best column nobody else wants, begin as pairs that are worth just their
prices. For every other row the cheapest chain of exchanges to a free column is looked for, one row of similarities at a
time. When that has taken too much work, or a look at every row would, what is left is paired in blocks that share values or
words, and the prices say how much better the best pairing could be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from calque.base.columns import Floats, Ints
from calque.kernels.assignment import assign

PART = 256
"""How many pairs are compared at a time, where only pairs are wanted."""
NEARLY = 1e-6
"""What rounding may add up to."""
TO_BEGIN = 1.5
"""So many times the work of looking for chains may go into a first look at every row."""
COMMON = 64
"""A word that more items have on both sides together tells little of them: no block is made of it."""


class LongLists(NamedTuple):
    """Two lists, of which any part can be compared."""

    truths: int
    founds: int
    scores: Callable[[Ints, Ints], Floats]
    """The similarities of some truths with some found items."""
    same: list[tuple[int, int]]
    """Pairs of items with equal values, each item at most once."""
    words: Callable[[], tuple[list[list[Hashable]], list[list[Hashable]]]]
    """For each item what it may share with others: values and words."""
    most: int
    """So many similarities fit into memory."""
    work: int
    """So many similarities may be looked at while chains of exchanges are looked for."""

    def turned(self) -> LongLists:
        """The same with the sides exchanged."""
        return LongLists(
            self.founds,
            self.truths,
            lambda rows, columns: self.scores(columns, rows).T,
            [(found, truth) for truth, found in self.same],
            lambda: self.words()[::-1],
            self.most,
            self.work,
        )


class Paired(NamedTuple):
    """The pairs by truth, and by how much their total similarity may be below the best possible."""

    pairs: list[tuple[int, int]]
    shortfall: float


def pair_long(lists: LongLists) -> Paired:
    """Pairs of the greatest total similarity; every item of the shorter list has a partner."""
    if lists.truths > lists.founds:
        turned = pair_long(lists.turned())
        return Paired(sorted((truth, found) for found, truth in turned.pairs), turned.shortfall)
    matching = _Matching(lists)
    waiting = matching.begin()
    for place, row in enumerate(waiting):
        if not matching.give_column(row):
            return matching.finish_in_blocks(waiting[place:])
    return matching.paired(0.0)


class _Matching:
    """An assignment while it is made, with the prices that prove it: at least as many columns as rows."""

    def __init__(self, lists: LongLists) -> None:
        self._lists = lists
        self._work = lists.work
        self._column = np.full(lists.truths, -1, np.int64)
        self._row = np.full(lists.founds, -1, np.int64)
        self._row_price = np.ones(lists.truths)
        self._column_price = np.zeros(lists.founds)
        self._seen: dict[int, Floats] = {}
        """The similarities of rows that chains came through: they come through the contested ones again and again."""

    def begin(self) -> list[int]:
        """Pair equal items, and rows with their best columns. Returns the rows whose best column has another row.

        Where there are too many to be looked at, all wait: nothing is known of them but that no pair is worth more than 1.
        """
        self._take_equal()
        rows = np.flatnonzero(self._column < 0)
        if len(rows) * self._lists.founds > TO_BEGIN * self._lists.work:
            self._work = 0
            return rows.tolist()
        every = np.arange(self._lists.founds)
        size = max(1, self._lists.most // max(self._lists.founds, 1))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            scores = self._lists.scores(part, every)
            best = scores.argmax(axis=1)
            self._row_price[part] = scores[np.arange(len(part)), best]
            for row, column in zip(part.tolist(), best.tolist(), strict=True):
                if self._row[column] < 0:
                    self._column[row], self._row[column] = column, row
        return np.flatnonzero(self._column < 0).tolist()

    def _take_equal(self) -> None:
        """Give equal items each other, where that is as good as can be: a similarity of 1."""
        for start in range(0, len(self._lists.same), PART):
            part = self._lists.same[start : start + PART]
            rows, columns = np.array(part, dtype=np.int64).T
            scores = np.diagonal(self._lists.scores(rows, columns))
            for (row, column), score in zip(part, scores.tolist(), strict=True):
                if score >= 1.0:
                    self._column[row], self._row[column] = column, row

    def give_column(self, start: int) -> bool:
        """Give a row a column, moving other rows along the cheapest chain to a free one; whether there was work left for it."""
        every = np.arange(self._lists.founds)
        cost = np.full(self._lists.founds, np.inf)
        come_from = np.full(self._lists.founds, -1, np.int64)
        done = np.zeros(self._lists.founds, np.bool_)
        row, so_far = start, 0.0
        while True:
            self._work -= self._lists.founds
            if self._work < 0:
                return False
            scores = self._scores_of(row, every)
            through = so_far + np.maximum(self._row_price[row] + self._column_price - scores, 0.0)
            better = ~done & (through < cost)
            cost[better], come_from[better] = through[better], row
            column = int(np.where(done, np.inf, cost).argmin())
            so_far = float(cost[column])
            if self._row[column] < 0:
                break
            done[column] = True
            row = int(self._row[column])
        gain = so_far - cost[done]
        self._row_price[self._row[done]] -= gain
        self._column_price[done] += gain
        self._row_price[start] -= so_far
        while True:
            row = int(come_from[column])
            self._row[column] = row
            column, self._column[row] = int(self._column[row]), column
            if row == start:
                return True

    def _scores_of(self, row: int, every: Ints) -> Floats:
        if row not in self._seen:
            if len(self._seen) * len(every) >= self._lists.most:
                del self._seen[next(iter(self._seen))]
            self._seen[row] = self._lists.scores(np.array([row]), every)[0]
        return self._seen[row]

    def paired(self, shortfall: float) -> Paired:
        """All pairs."""
        return Paired(list(enumerate(self._column.tolist())), shortfall)

    def finish_in_blocks(self, waiting: Sequence[int]) -> Paired:
        """Pair the rows that wait in blocks that share values or words, and what is left in order."""
        rows, free = np.array(waiting, dtype=np.int64), np.flatnonzero(self._row < 0)
        truth_words, found_words = self._lists.words()
        blocks = _blocks([truth_words[row] for row in rows], [found_words[column] for column in free], self._lists.most)
        for block_rows, block_columns in blocks:
            first, second = assign(self._lists.scores(rows[block_rows], free[block_columns]))
            self._column[rows[block_rows[first]]] = free[block_columns[second]]
        taken = np.zeros(self._lists.founds, np.bool_)
        taken[self._column[self._column >= 0]] = True
        alone = np.flatnonzero(self._column < 0)
        self._column[alone] = np.flatnonzero(~taken)[: len(alone)]
        lost = float(self._row_price.sum() + self._column_price.sum()) - self._total()
        return self.paired(lost if lost > NEARLY else 0.0)

    def _total(self) -> float:
        total = 0.0
        for start in range(0, len(self._column), PART):
            rows = np.arange(start, min(start + PART, len(self._column)))
            total += float(np.diagonal(self._lists.scores(rows, self._column[rows])).sum())
        return total


def _blocks(truths: Sequence[Iterable[Hashable]], founds: Sequence[Iterable[Hashable]], most: int) -> list[tuple[Ints, Ints]]:
    """Items that are linked by shared words, as long as their pairs fit into memory; the rarest words link first."""
    count: Counter[Hashable] = Counter()
    for words in (*truths, *founds):
        count.update(set(words))
    holders: dict[Hashable, list[int]] = {word: [] for word, number in count.items() if 1 < number <= COMMON}
    for item, words in enumerate((*truths, *founds)):
        for word in set(words):
            if word in holders:
                holders[word].append(item)
    groups = _Groups(len(truths), len(founds), most)
    for word in sorted(holders, key=lambda word: (count[word], str(word))):
        first, *others = holders[word]
        for other in others:
            groups.join(first, other)
    return groups.blocks()


class _Groups:
    """Items that were joined: truths first, then found items."""

    def __init__(self, truths: int, founds: int, most: int) -> None:
        self._truths = truths
        self._most = most
        self._parent = list(range(truths + founds))
        self._sizes = [(1, 0)] * truths + [(0, 1)] * founds

    def _root(self, item: int) -> int:
        while self._parent[item] != item:
            self._parent[item] = item = self._parent[self._parent[item]]
        return item

    def join(self, first: int, second: int) -> None:
        """Put two items into one group, unless that would be too large."""
        one, other = self._root(first), self._root(second)
        rows, columns = (a + b for a, b in zip(self._sizes[one], self._sizes[other], strict=True))
        if one != other and rows * columns <= self._most:
            self._parent[other] = one
            self._sizes[one] = rows, columns

    def blocks(self) -> list[tuple[Ints, Ints]]:
        """The groups with items of both sides, each as the places of its rows and of its columns."""
        members: dict[int, tuple[list[int], list[int]]] = {}
        for item in range(len(self._parent)):
            rows, columns = members.setdefault(self._root(item), ([], []))
            (rows if item < self._truths else columns).append(item if item < self._truths else item - self._truths)
        return [
            (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))
            for rows, columns in members.values()
            if rows and columns
        ]
