"""Rows by class and score of more parts than memory holds: each is sorted in a file, and stretches of all are merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.base.columns import Array, Codes, Floats, Ints
from calque.evaluation.storage.ranked_runs import Rows, Stretch
from calque.evaluation.storage.spool import Place, Spool
from calque.kernels import kernels
from calque.kernels.structs import ScoreOrder

MOST_ROWS = 1 << 19
"""About how many rows are merged at once."""

SAMPLES = 64
"""How many rows of a part are looked at, of as many as are merged at once, to see where to cut."""


class Keys(NamedTuple):
    """What some rows are ordered by."""

    label: Codes
    score: Floats
    tie: Ints

    def at(self, rows: Array) -> Keys:
        """Those of these rows."""
        return Keys(self.label[rows], self.score[rows], self.tie[rows])


class Outline(NamedTuple):
    """What has to be known of a sorted part to find its rows."""

    class_offsets: Ints
    sample: Keys
    first: int
    """The lowest tie-breaker."""
    last: int


class Sorted(NamedTuple):
    """The rows of a part by rank."""

    outline: Outline
    columns: tuple[Array, ...]
    """Scores, tie-breakers, and what goes along."""


class Slice(NamedTuple):
    """Some rows of a sorted part on end."""

    first: int
    last: int
    labels: Codes
    columns: Sequence[Array]


def in_order(rows: Rows, classes: int, jobs: int = 1) -> Sorted:
    """The rows of a part by rank; those without one are left out."""
    order, offsets = kernels().score_order(rows.labels, rows.scores, classes, jobs)
    ranked = order.astype(np.int64)
    ties, scores = rows.ties()[ranked], rows.scores[ranked]
    step = max(1, MOST_ROWS // SAMPLES)
    sampled = np.arange(min(step, len(ranked)) // 2, len(ranked), step)
    sample = Keys(rows.labels[ranked[sampled]], scores[sampled], ties[sampled])
    bounds = (int(ties.min()), int(ties.max())) if len(ties) else (0, -1)
    columns = (scores, ties, *(np.take(column, ranked, axis=0) for column in rows.columns))
    return Sorted(Outline(offsets, sample, *bounds), tuple(map(np.ascontiguousarray, columns)))


def cuts_of(outlines: Sequence[Outline], most: int | None = None) -> Keys:
    """Where to cut, so that stretches have about `MOST_ROWS` rows, and there are at most so many: rows of samples, by rank."""
    every = Keys(*(np.concatenate(columns) for columns in zip(*(outline.sample for outline in outlines), strict=True)))
    every = every.at(np.lexsort((every.tie, -every.score, every.label)))
    rows = sum(int(outline.class_offsets[-1]) for outline in outlines)
    stretches = max(1, -(-rows // MOST_ROWS)) if most is None else min(most, max(1, -(-rows // MOST_ROWS)))
    return every.at(np.arange(1, stretches) * len(every.label) // stretches)


def bounds_of(class_offsets: Ints, scores: Floats, ties: Ints, cuts: Keys) -> list[int]:
    """How many rows of a sorted part rank before each cut, with both ends."""
    falling = -scores
    bounds = [0]
    for label, score, tie in zip(cuts.label.tolist(), cuts.score.tolist(), cuts.tie.tolist(), strict=True):
        start, stop = class_offsets[label : label + 2].tolist()
        first, after = (start + int(np.searchsorted(falling[start:stop], -score, side)) for side in ("left", "right"))
        bounds.append(first + int(np.searchsorted(ties[first:after], tie)))
    return [*bounds, int(class_offsets[-1])]


def labels_of(class_offsets: Ints, start: int, stop: int) -> Codes:
    """The classes of some rows of a sorted part."""
    bounds: Ints = np.clip(class_offsets, start, stop)
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), bounds[1:] - bounds[:-1])


def merged(slices: Sequence[Slice], classes: int, nothing: tuple[Array, ...], *, last: bool, jobs: int = 1) -> Stretch:
    """The rows of some slices by rank; ``nothing`` is what the columns are where there are no rows."""
    there = sorted((one for one in slices if len(one.labels)), key=lambda one: one.first)
    if not there:
        none = ScoreOrder(np.zeros(0, np.int32), np.zeros(classes + 1, np.int64))
        return Stretch(none, np.zeros(0), nothing, last=last)
    labels = np.concatenate([one.labels for one in there])
    scores, ties, *columns = (np.concatenate(parts) for parts in zip(*(one.columns for one in there), strict=True))
    rows: Ints
    # Parts that follow one another stay in order when they are put one after the other.
    if all(one.last < after.first for one, after in pairwise(there)):
        order, offsets = kernels().score_order(labels, scores, classes, jobs)
        rows = order.astype(np.int64)
    else:
        rows = np.lexsort((ties, -scores, labels))
        offsets = np.searchsorted(labels[rows], np.arange(classes + 1)).astype(np.int64)
    in_place = ScoreOrder(np.arange(len(rows), dtype=np.int32), offsets)
    return Stretch(in_place, scores[rows], tuple(np.take(column, rows, axis=0) for column in columns), last=last)


class _Run(NamedTuple):
    """A sorted part in a file."""

    outline: Outline
    places: tuple[Place, ...]


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
        part = in_order(rows, self._classes, self._jobs)
        if len(part.columns[0]):
            self._runs.append(_Run(part.outline, tuple(self._spool.write(column) for column in part.columns)))

    def stretches(self, only: int | None = None) -> Iterator[Stretch]:
        """All rows by rank; there is at least one stretch, and classes come one after the other.

        ``only`` leaves out stretches without rows of that class.
        """
        if not self._runs:
            yield merged([], self._classes, self._nothing, last=True)
            return
        cuts = cuts_of([run.outline for run in self._runs])
        bounds = [self._bounds(run, cuts) for run in self._runs]
        for number in range(len(bounds[0]) - 1):
            parts = [(run, at[number], at[number + 1]) for run, at in zip(self._runs, bounds, strict=True)]
            if only is not None and not any(_has(run, start, stop, only) for run, start, stop in parts):
                continue
            slices = [self._slice(run, start, stop) for run, start, stop in parts if start < stop]
            yield merged(slices, self._classes, self._nothing, last=number == len(bounds[0]) - 2, jobs=self._jobs)

    def _bounds(self, run: _Run, cuts: Keys) -> list[int]:
        return bounds_of(run.outline.class_offsets, self._read(run.places[0]), self._read(run.places[1]), cuts)

    def _slice(self, run: _Run, start: int, stop: int) -> Slice:
        outline = run.outline
        columns = [self._read(place, start, stop) for place in run.places]
        return Slice(outline.first, outline.last, labels_of(outline.class_offsets, start, stop), columns)

    def _read(self, place: Place, start: int = 0, stop: int | None = None) -> Array:
        """Some rows of a column."""
        height, *wide = place.form.shape
        rows = height if stop is None else stop
        width = int(np.prod(wide, dtype=np.int64)) * place.form.dtype.itemsize
        return self._spool.read(Place(place.start + start * width, replace(place.form, shape=(rows - start, *wide))))


def _has(run: _Run, start: int, stop: int, label: int) -> bool:
    """Whether there are rows of a class among some rows of a run."""
    first, last = run.outline.class_offsets[label : label + 2].tolist()
    return bool(max(first, start) < min(last, stop))
