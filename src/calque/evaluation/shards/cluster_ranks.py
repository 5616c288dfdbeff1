"""Rows by class and score that no worker could hold: each shard is sorted where it is, and stretches are merged anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.evaluation.shards.cluster import all_joined
from calque.evaluation.storage.merged_runs import Keys, Outline, Slice, Sorted, bounds_of, cuts_of, in_order, labels_of, merged

if TYPE_CHECKING:
    from calque.base.columns import Array, Ints
    from calque.engines.on_dask import Cluster
    from calque.evaluation.ledger import Joining, Piece
    from calque.evaluation.storage.ranked_runs import Rows, Stretch


MOST_STRETCHES = 256
"""Every shard has a slice of every stretch, and a scheduler can hand out some million of them; then stretches grow longer."""


class ClusterRuns:
    """The rows of all shards, to be folded over stretches."""

    def __init__(self, cluster: Cluster, pieces: Sequence[Any], rows: Callable[[Piece], Rows], classes: int) -> None:
        self._cluster = cluster
        self._classes = classes
        self._runs = [cluster.put(partial(sorted_rows, rows, classes), piece) for piece in pieces]

    def folded(self, hits: Callable[[Stretch], Ints], draw: Callable[[Stretch, Ints | None], Joining]) -> Joining:
        """What is drawn of each stretch, joined: every stretch is counted first, so that all can be drawn at the same time."""
        put = self._cluster.put
        stretches = self._stretches()
        before: list[Ints | None] = [None]
        if len(stretches) > 1:
            counted = self._cluster.of([put(hits, stretch) for stretch in stretches])
            summed = np.cumsum([np.zeros_like(counted[0]), *counted[:-1]], axis=0)
            before = list(summed)
        drawn = [put(draw, stretch, ahead) for stretch, ahead in zip(stretches, before, strict=True)]
        joined: Joining = self._cluster.of(self._cluster.reduced(all_joined, drawn))
        return joined

    def _stretches(self) -> list[Any]:
        put = self._cluster.put
        outlines: list[Outline] = self._cluster.of([put(outline_of, run) for run in self._runs])
        nothing: tuple[Array, ...] = self._cluster.of(put(columns_without_rows, self._runs[0]))
        filled = [run for run, outline in zip(self._runs, outlines, strict=True) if outline.class_offsets[-1]]
        told = [outline for outline in outlines if outline.class_offsets[-1]]
        cuts = cuts_of(told, MOST_STRETCHES) if told else Keys(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
        sliced = [put(partial(slices, cuts), run) for run in filled]
        last = len(cuts.label)
        return [
            put(
                partial(stretch_of, self._classes, nothing, number == last),
                [put(partial(one_of, number), run) for run in sliced],
            )
            for number in range(last + 1)
        ]


def sorted_rows(rows: Callable[[Piece], Rows], classes: int, piece: Piece) -> Sorted:
    """The rows of a piece by rank."""
    return in_order(rows(piece), classes)


def outline_of(run: Sorted) -> Outline:
    """What has to be known of them to cut."""
    return run.outline


def columns_without_rows(run: Sorted) -> tuple[Array, ...]:
    """What goes along, without rows."""
    return tuple(column[:0] for column in run.columns[2:])


def slices(cuts: Keys, run: Sorted) -> list[Slice]:
    """The rows of a run between each two cuts."""
    outline, columns = run.outline, run.columns
    bounds = bounds_of(outline.class_offsets, columns[0], columns[1], cuts)
    return [
        Slice(
            outline.first,
            outline.last,
            labels_of(outline.class_offsets, start, stop),
            [np.ascontiguousarray(column[start:stop]) for column in columns],
        )
        for start, stop in pairwise(bounds)
    ]


def one_of(number: int, parts: list[Slice]) -> Slice:
    """One of them."""
    return parts[number]


def stretch_of(classes: int, nothing: tuple[Array, ...], last: bool, parts: list[Slice]) -> Stretch:
    """The rows of all shards between two cuts, by rank."""
    return merged(parts, classes, nothing, last=last)
