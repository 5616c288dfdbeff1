"""Rows by class and score of more parts than memory holds: each is sorted in a file, and stretches of all are merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.core.columns import Array, Codes, Floats, Ints
from calque.core.storage.ranked_runs import Rows, Stretch
from calque.core.storage.spool import Place, Spool
from calque.kernels import kernels
from calque.kernels.structs import ScoreOrder

MOST_ROWS = 1 << 19
"""About how many rows are merged at once."""

SAMPLES = 64
"""How many rows of a part are looked at, of as many as are merged at once, to see where to cut."""


class _Keys(NamedTuple):
    """What some rows are ordered by."""

    label: Codes
    score: Floats
    tie: Ints

    def at(self, rows: Array) -> _Keys:
        return _Keys(self.label[rows], self.score[rows], self.tie[rows])


class _Run(NamedTuple):
    """The rows of one part by rank, in a file."""

    class_offsets: Ints
    places: tuple[Place, ...]
    """Of the scores, the ties and the columns."""
    sample: _Keys
    first: int
    """The lowest tie."""
    last: int


class MergedRuns:
    """The rows of any number of parts, each by rank in one file."""

    def __init__(self, classes: int, jobs: int = 1) -> None:
        self._classes = classes
        self._jobs = jobs
        self._runs: list[_Run] = []
        self._nothing: tuple[Array, ...] = ()
        """The columns, without rows."""
        self._spool = Spool()

    def write(self, rows: Rows) -> None:
        """Take in the rows of a part."""
        self._nothing = tuple(column[:0] for column in rows.columns)
        order, offsets = kernels().score_order(rows.labels, rows.scores, self._classes, self._jobs)
        if not len(order):
            return
        ranked = order.astype(np.int64)
        ties = rows.ties()[ranked]
        scores = rows.scores[ranked]
        step = max(1, MOST_ROWS // SAMPLES)
        sampled = np.arange(min(step, len(ranked)) // 2, len(ranked), step)
        sample = _Keys(rows.labels[ranked[sampled]], scores[sampled], ties[sampled])
        columns = (scores, ties, *(np.take(column, ranked, axis=0) for column in rows.columns))
        places = tuple(self._spool.write(np.ascontiguousarray(column)) for column in columns)
        self._runs.append(_Run(offsets, places, sample, int(ties.min()), int(ties.max())))

    def stretches(self, only: int | None = None) -> Iterator[Stretch]:
        """All rows by rank; there is at least one stretch, and classes come one after the other.

        ``only`` leaves out stretches without rows of that class.
        """
        if not self._runs:
            yield self._merged([], last=True)
            return
        # Parts that follow one another stay in order when they are put one after the other.
        self._runs.sort(key=lambda run: run.first)
        cuts = self._cuts()
        bounds = [self._bounds(run, cuts) for run in self._runs]
        for number in range(len(bounds[0]) - 1):
            parts = [(run, at[number], at[number + 1]) for run, at in zip(self._runs, bounds, strict=True)]
            if only is not None and not any(_has(run, start, stop, only) for run, start, stop in parts):
                continue
            yield self._merged(parts, last=number == len(bounds[0]) - 2)

    def _cuts(self) -> _Keys:
        """Where to cut, so that stretches have about `MOST_ROWS` rows: some rows of the samples, by rank."""
        every = _Keys(*(np.concatenate(columns) for columns in zip(*(run.sample for run in self._runs), strict=True)))
        every = every.at(np.lexsort((every.tie, -every.score, every.label)))
        rows = sum(int(run.class_offsets[-1]) for run in self._runs)
        stretches = -(-rows // MOST_ROWS)
        return every.at(np.arange(1, stretches) * len(every.label) // stretches)

    def _bounds(self, run: _Run, cuts: _Keys) -> list[int]:
        """How many of the run's rows rank before each cut, with both ends."""
        falling, ties = -self._read(run.places[0]), self._read(run.places[1])
        bounds = [0]
        for label, score, tie in zip(cuts.label.tolist(), cuts.score.tolist(), cuts.tie.tolist(), strict=True):
            start, stop = run.class_offsets[label : label + 2].tolist()
            first, after = (start + int(np.searchsorted(falling[start:stop], -score, side)) for side in ("left", "right"))
            bounds.append(first + int(np.searchsorted(ties[first:after], tie)))
        return [*bounds, int(run.class_offsets[-1])]

    def _read(self, place: Place, start: int = 0, stop: int | None = None) -> Array:
        """Some rows of a column."""
        rows = place.shape[0] if stop is None else stop
        width = int(np.prod(place.shape[1:], dtype=np.int64)) * place.dtype.itemsize
        return self._spool.read(Place(place.start + start * width, place.dtype, (rows - start, *place.shape[1:])))

    def _merged(self, parts: Sequence[tuple[_Run, int, int]], *, last: bool) -> Stretch:
        there = [(run, start, stop) for run, start, stop in parts if start < stop]
        if not there:
            none = ScoreOrder(np.zeros(0, np.int32), np.zeros(self._classes + 1, np.int64))
            return Stretch(none, np.zeros(0), self._nothing, last=last)
        labels = np.concatenate([_labels(run, start, stop) for run, start, stop in there])
        read = (
            np.concatenate([self._read(run.places[place], start, stop) for run, start, stop in there])
            for place in range(len(there[0][0].places))
        )
        scores, ties, *columns = read
        rows: Ints
        if all(run.last < after.first for (run, *_), (after, *_) in pairwise(there)):
            order, offsets = kernels().score_order(labels, scores, self._classes, self._jobs)
            rows = order.astype(np.int64)
        else:
            rows = np.lexsort((ties, -scores, labels))
            offsets = np.searchsorted(labels[rows], np.arange(self._classes + 1)).astype(np.int64)
        in_place = ScoreOrder(np.arange(len(rows), dtype=np.int32), offsets)
        return Stretch(in_place, scores[rows], tuple(np.take(column, rows, axis=0) for column in columns), last=last)


def _has(run: _Run, start: int, stop: int, label: int) -> bool:
    """Whether there are rows of a class among some rows of a run."""
    first, last = run.class_offsets[label : label + 2].tolist()
    return bool(max(first, start) < min(last, stop))


def _labels(run: _Run, start: int, stop: int) -> Codes:
    bounds: Ints = np.clip(run.class_offsets, start, stop)
    counts = bounds[1:] - bounds[:-1]
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)
