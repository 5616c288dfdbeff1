"""Rows by class and score: one sample sort for rows in memory, in temporary files and on a cluster.

Each part is sorted by itself and becomes a sorted run. Samples of all runs decide where to cut the whole order into ranges of
about `RANGE_ROWS` rows. The slices of all runs between two cuts are merged into one range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from calque.base.columns import Array, Codes, Floats, Ints, Table
from calque.engines import run_parallel, threads_for
from calque.evaluation.ledger import Joining
from calque.evaluation.storage.state import StoredTables, TemporaryFile
from calque.kernels import kernels
from calque.kernels.structs import ScoreOrder

RANGE_ROWS = 1 << 19
"""About how many rows a range has."""
SAMPLES = 64
"""How many rows of each `RANGE_ROWS` are samples."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one part."""

    labels: Codes
    """The class of each row. Rows with a negative class have no rank."""
    scores: Floats
    columns: tuple[Array, ...]
    """Further columns that follow the order."""
    ties: Callable[[], Ints]
    """Returns the tie-breaker of equal scores, ascending from row to row. Only needed when there are several parts."""


@dataclass(frozen=True, slots=True, eq=False)
class RankRange:
    """Consecutive rows of the whole order, in that order."""

    order: ScoreOrder
    scores: Floats
    columns: tuple[Array, ...]

    @classmethod
    def of(cls, class_offsets: Ints, scores: Floats, columns: tuple[Array, ...]) -> RankRange:
        """Return the range of rows that are in order already."""
        return cls(ScoreOrder(np.arange(len(scores), dtype=np.int32), class_offsets), scores, columns)

    def classes(self) -> Codes:
        """Return the class of each row."""
        return _labels(self.order.class_offsets)


class Ranked(Protocol):
    """Rows by class and score, in this process or on a cluster."""

    def fold(self, count: Callable[[RankRange], Ints], accumulate: Callable[[RankRange, Ints | None], Joining]) -> Joining:
        """Return what ``accumulate`` makes of each range, joined.

        ``accumulate`` receives the sum of ``count`` over all ranges before, or ``None`` where there is only one range.
        """


class SortKeys(NamedTuple):
    """The keys that rows are sorted by."""

    label: Codes
    score: Floats
    tie: Ints

    def take(self, rows: Array) -> SortKeys:
        """Return the keys of some rows."""
        return SortKeys(self.label[rows], self.score[rows], self.tie[rows])


class RunIndex(NamedTuple):
    """The facts about a sorted run that decide where to cut."""

    class_offsets: Ints
    sample: SortKeys
    first_tie: int
    last_tie: int


@dataclass(frozen=True, slots=True, eq=False)
class SortedRun:
    """The rows of one part, sorted: scores, tie-breakers and the further columns."""

    index: RunIndex
    columns: tuple[Array, ...]


class RunSlice(NamedTuple):
    """Consecutive rows of a sorted run."""

    first_tie: int
    last_tie: int
    labels: Codes
    columns: Sequence[Array]


def sort_rows(rows: Rows, classes: int, jobs: int = 1) -> SortedRun:
    """Sort the rows of a part and drop those without a rank."""
    order, offsets = kernels().score_order(rows.labels, rows.scores, classes, jobs)
    ranked = order.astype(np.int64)
    ties, scores = rows.ties()[ranked], rows.scores[ranked]
    step = max(1, RANGE_ROWS // SAMPLES)
    sampled = np.arange(min(step, len(ranked)) // 2, len(ranked), step)
    sample = SortKeys(rows.labels[ranked[sampled]], scores[sampled], ties[sampled])
    bounds = (int(ties.min()), int(ties.max())) if len(ties) else (0, -1)
    return SortedRun(RunIndex(offsets, sample, *bounds), (scores, ties, *_in_order(rows.columns, ranked, jobs)))


def rank_rows(rows: Rows, classes: int, jobs: int = 1) -> RankRange:
    """Return all rows of the only part as one range. Rows are in the order of their tie-breakers, so none are needed."""
    order, offsets = kernels().score_order(rows.labels, rows.scores, classes, jobs)
    scores, *columns = _in_order((rows.scores, *rows.columns), order.astype(np.int64), jobs)
    return RankRange.of(offsets, scores, tuple(columns))


def choose_cuts(indexes: Sequence[RunIndex], most_ranges: int | None = None) -> SortKeys:
    """Return the first keys of all ranges but the first, so that ranges have about `RANGE_ROWS` rows."""
    if not indexes:
        return SortKeys(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
    samples = SortKeys(*(np.concatenate(columns) for columns in zip(*(index.sample for index in indexes), strict=True)))
    samples = samples.take(np.lexsort((samples.tie, -samples.score, samples.label)))
    rows = sum(int(index.class_offsets[-1]) for index in indexes)
    ranges = max(1, -(-rows // RANGE_ROWS))
    if most_ranges is not None:
        ranges = min(ranges, most_ranges)
    return samples.take(np.arange(1, ranges) * len(samples.label) // ranges)


def cut_positions(run: SortedRun, cuts: SortKeys) -> list[int]:
    """Return how many rows of a run rank before each cut, with both ends."""
    class_offsets, (scores, ties, *_) = run.index.class_offsets, run.columns
    falling = -scores
    positions = [0]
    for label, score, tie in zip(cuts.label.tolist(), cuts.score.tolist(), cuts.tie.tolist(), strict=True):
        start, stop = class_offsets[label : label + 2].tolist()
        first, after = (start + int(np.searchsorted(falling[start:stop], -score, side)) for side in ("left", "right"))
        positions.append(first + int(np.searchsorted(ties[first:after], tie)))
    return [*positions, int(class_offsets[-1])]


def slice_run(run: SortedRun, start: int, stop: int) -> RunSlice:
    """Return a copy of consecutive rows of a run."""
    index = run.index
    labels = _labels(np.clip(index.class_offsets, start, stop))
    return RunSlice(index.first_tie, index.last_tie, labels, [np.array(column[start:stop]) for column in run.columns])


def merge_slices(slices: Sequence[RunSlice], classes: int, empty: tuple[Array, ...], jobs: int = 1) -> RankRange:
    """Merge slices into a range. ``empty`` has the further columns without rows."""
    filled = sorted((one for one in slices if len(one.labels)), key=lambda one: one.first_tie)
    if not filled:
        return RankRange.of(np.zeros(classes + 1, np.int64), np.zeros(0), empty)
    labels = np.concatenate([one.labels for one in filled])
    scores, ties, *columns = (np.concatenate(parts) for parts in zip(*(one.columns for one in filled), strict=True))
    rows: Ints
    if all(one.last_tie < after.first_tie for one, after in pairwise(filled)):
        # Tie-breakers rise from slice to slice, so a stable sort by class and score is enough.
        order, offsets = kernels().score_order(labels, scores, classes, jobs)
        rows = order.astype(np.int64)
    else:
        rows = np.lexsort((ties, -scores, labels))
        offsets = np.searchsorted(labels[rows], np.arange(classes + 1)).astype(np.int64)
    scores, *columns = _in_order((scores, *columns), rows, jobs)
    return RankRange.of(offsets, scores, tuple(columns))


def _in_order(columns: Sequence[Array], rows: Ints, jobs: int) -> list[Array]:
    return list(run_parallel(threads_for(len(rows), jobs), *(partial(np.take, column, rows, axis=0) for column in columns)))


def _labels(class_offsets: Ints) -> Codes:
    return np.repeat(np.arange(len(class_offsets) - 1, dtype=np.int32), np.diff(class_offsets))


@dataclass(frozen=True, slots=True, eq=False)
class _StoredRun:
    """A sorted run in a temporary file."""

    index: RunIndex
    stored: StoredTables

    def load(self) -> SortedRun:
        return SortedRun(self.index, tuple(self.stored.load()["run"].columns.values()))  # type: ignore[arg-type]  # no strings

    def has(self, label: int, start: int, stop: int) -> bool:
        """Return whether rows of a class are among some rows."""
        first, last = self.index.class_offsets[label : label + 2].tolist()
        return bool(max(first, start) < min(last, stop))


class Ranking:
    """The rows of any number of parts by class and score, in this process.

    The rows of a single part stay in memory. Of several parts, each one is sorted and waits in a temporary file. Equal scores
    are ordered by the tie-breaker, which occurs in one part only, and then by the order of the rows.
    """

    def __init__(self, parts: Iterable[Rows], classes: int, jobs: int = 1) -> None:
        self._classes = classes
        self._jobs = jobs
        self._runs: list[_StoredRun] = []
        self._whole: RankRange | None = None
        self._empty: tuple[Array, ...] = ()
        """The further columns without rows."""
        file = TemporaryFile()
        only: Rows | None = None
        for number, rows in enumerate(parts):
            if number == 0:
                only = rows
                self._empty = tuple(column[:0].copy() for column in rows.columns)
                continue
            if only is not None:
                self._store(only, file)
                only = None
            self._store(rows, file)
        if only is not None:
            self._whole = rank_rows(only, classes, jobs)

    def _store(self, rows: Rows, file: TemporaryFile) -> None:
        run = sort_rows(rows, self._classes, self._jobs)
        if len(run.columns[0]):
            table = Table({str(number): column for number, column in enumerate(run.columns)})
            self._runs.append(_StoredRun(run.index, file.append({"run": table})))

    def fold(self, count: Callable[[RankRange], Ints], accumulate: Callable[[RankRange, Ints | None], Joining]) -> Joining:
        """Return what ``accumulate`` makes of each range, joined."""
        ranges = self.ranges()
        if self._count == 1:
            return accumulate(next(ranges), None)
        first = next(ranges)
        before = count(first)
        joined = accumulate(first, np.zeros_like(before))
        for following in ranges:
            joined = joined.join(accumulate(following, before))
            before = before + count(following)
        return joined

    def ranges(self, only: int | None = None) -> Iterator[RankRange]:
        """Yield all ranges in order; ``only`` skips ranges without rows of that class."""
        if self._whole is not None:
            yield self._whole
            return
        for number in range(self._count):
            bounds = [
                (run, positions[number], positions[number + 1]) for run, positions in zip(self._runs, self._cuts, strict=True)
            ]
            if only is None or any(run.has(only, start, stop) for run, start, stop in bounds):
                slices = [slice_run(run.load(), start, stop) for run, start, stop in bounds if start < stop]
                yield merge_slices(slices, self._classes, self._empty, self._jobs)

    @cached_property
    def _cuts(self) -> list[list[int]]:
        """The positions of all cuts in each run."""
        cuts = choose_cuts([run.index for run in self._runs])
        return [cut_positions(run.load(), cuts) for run in self._runs]

    @property
    def _count(self) -> int:
        """The number of ranges; at least one."""
        return len(self._cuts[0]) - 1 if self._runs else 1
