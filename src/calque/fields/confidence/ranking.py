"""Rows by rank, some at a time: the rows of any number of documents are ordered without holding them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.base.columns import Array, Floats, Ints
from calque.evaluation.measures import counts
from calque.evaluation.storage.spool import Place, Spool
from calque.kernels import kernels

MOST_ROWS = 1 << 17
"""How many rows are ordered at once."""

SAMPLES = 256
"""How many rows are looked at, of those that are ordered at once, to see where to cut."""


class Ranked(NamedTuple):
    """Rows with what they are ordered by: a number, then the tie-breaker, then the order in which they stand."""

    number: Floats
    tie: Ints
    values: tuple[Array, ...]
    """Columns that go along."""

    def columns(self) -> tuple[Array, ...]:
        """All columns."""
        return (self.number, self.tie, *self.values)

    def take(self, rows: Array) -> Ranked:
        """The rows given, in this order."""
        return Ranked.of([column[rows] for column in self.columns()])

    def ordered(self) -> Ranked:
        """The rows by rank."""
        first = _by_tie(self.tie)
        order, _ = kernels().score_order(np.zeros(len(first), np.int32), -self.number[first], 1)
        return self.take(first[order])

    @staticmethod
    def of(columns: list[Array]) -> Ranked:
        """The rows with these columns, in the order of `columns`."""
        number, tie, *values = columns
        return Ranked(number, tie, tuple(values))

    @staticmethod
    def concat(parts: list[Ranked]) -> Ranked:
        """All rows, one part after the other."""
        return Ranked.of([np.concatenate(columns) for columns in zip(*(part.columns() for part in parts), strict=True)])


def _by_tie(ties: Ints) -> Ints:
    """The rows by their tie-breakers, equal ones as they stand: 16 bits at a time, which are sorted by counting."""
    order = np.arange(len(ties))
    if (ties[1:] >= ties[:-1]).all():
        return order
    for shift in range(0, int(ties.max()).bit_length(), 16):
        digits = (ties[order] >> shift & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    return order


class Ranking:
    """All rows of a ledger's table, to be gone through by rank as often as needed.

    ``chunks`` gives the rows as they stand in the ledger, each time from the beginning. Up to ``MOST_ROWS`` of them are
    ordered in memory; more are first dealt, in a file, to stretches of about that many by what they are ordered by.
    """

    def __init__(self, chunks: Callable[[], Iterator[Ranked]], rows: int) -> None:
        self._whole: Ranked | None = None
        self._spool = Spool()
        self._stretches: list[list[Place]] = []
        if 0 < rows <= MOST_ROWS:
            self._whole = Ranked.concat(list(chunks())).ordered()
        elif rows:
            for pieces in dealt(chunks, self._spool, _cuts(chunks, -(-rows // MOST_ROWS))):
                if pieces:
                    stretch = Ranked.concat([self._read(piece) for piece in pieces]).ordered()
                    self._stretches.append([self._spool.write(column) for column in stretch.columns()])

    def __iter__(self) -> Iterator[Ranked]:
        if self._whole is not None:
            yield self._whole
        yield from map(self._read, self._stretches)

    def _read(self, places: list[Place]) -> Ranked:
        return Ranked.of([self._spool.read(place) for place in places])


def _cuts(chunks: Callable[[], Iterator[Ranked]], stretches: int) -> Ranked:
    """Where to cut, so that stretches have about the same number of rows: some rows of a sample, by rank."""
    random = np.random.default_rng(0)  # any sample will do, as long as it is always the same
    share = SAMPLES / MOST_ROWS
    # Only what rows are ordered by.
    keys = (Ranked(chunk.number, chunk.tie, ()) for chunk in chunks())
    sample = Ranked.concat([chunk.take(np.flatnonzero(random.random(len(chunk.number)) < share)) for chunk in keys]).ordered()
    return sample.take(np.arange(1, stretches) * len(sample.number) // stretches)


def dealt(chunks: Callable[[], Iterator[Ranked]], spool: Spool, cuts: Ranked) -> list[list[list[Place]]]:
    """For each stretch between two cuts its rows, written to a file piece by piece, in the order in which they came."""
    stretches: list[list[list[Place]]] = [[] for _ in range(len(cuts.number) + 1)]
    for chunk in chunks():
        for number, rows in grouped(stretch_of(chunk, cuts), len(stretches)):
            stretches[number].append([spool.write(column) for column in chunk.take(rows).columns()])
    return stretches


def by_code(codes: Array, size: int) -> tuple[Ints, Ints]:
    """The rows by code (from 0 to below ``size``), those of one code in their order, and where each code begins."""
    # Numbers of 16 bits are sorted by counting, in a moment.
    order = np.argsort(codes.astype(np.uint16) if size <= 1 << 16 else codes, kind="stable").astype(np.int64, copy=False)
    return order, np.concatenate([[0], np.cumsum(counts(codes, size))])


def grouped(codes: Array, size: int) -> Iterator[tuple[int, Ints]]:
    """Each code that occurs, and its rows."""
    order, bounds = by_code(codes, size)
    for code, (start, end) in enumerate(pairwise(bounds.tolist())):
        if start < end:
            yield code, order[start:end]


def stretch_of(rows: Ranked, cuts: Ranked) -> Ints:
    """For each row how many cuts rank no higher than it."""
    first, last = (np.searchsorted(cuts.number, rows.number, side) for side in ("left", "right"))
    # Where a row has just the number of some cuts, their tie-breakers decide.
    for start in set(first[first < last].tolist()):
        level = np.flatnonzero((first == start) & (last > start))
        ties = cuts.tie[start : last[level[0]]]
        first[level] += np.searchsorted(ties, rows.tie[level], "right")
    return np.asarray(first, dtype=np.int64)
