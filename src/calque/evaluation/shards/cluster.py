"""Shards: evaluated here or on a Dask cluster.

On a cluster, the ledger of a shard stays with the worker that scored it. Metrics are folded there and only sums travel. To rank
rows, each worker sorts its own; the slices of all shards in one range meet at one worker. No worker holds all rows, and this
process holds no more than the ids of the documents.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.errors import Issue, MergeError
from calque.engines import current_progress
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.ledger import Ledger
from calque.evaluation.result import Sources
from calque.evaluation.storage.partitioned import Part, PartCollector, PartitionedLedger, Placement
from calque.evaluation.storage.ranking import (
    RankRange,
    RunIndex,
    RunSlice,
    SortedRun,
    SortKeys,
    choose_cuts,
    cut_positions,
    merge_slices,
    slice_run,
    sort_rows,
)
from calque.readers.sources.shards import Shard, fetched, is_address

if TYPE_CHECKING:
    from calque.base.columns import Array, Ints
    from calque.engines.on_dask import Cluster
    from calque.evaluation.ledger import Joining, Piece
    from calque.evaluation.shards.checkpoint import Checkpoint, KeptBatches
    from calque.evaluation.storage.ranking import Ranked, Rows
    from calque.evaluation.task import Task

MOST_RANGES = 256
"""The largest number of ranges on a cluster: each shard has a slice of each range, and the scheduler handles every one."""


def evaluated_shard(task: Task, shard: Shard, *, keep: Keep, jobs: int = 1, kept: Checkpoint | None = None) -> Evaluator:
    """Return the evaluator of one shard. Files on other machines are copied here first."""
    paths = shard.truth, shard.predictions
    with tempfile.TemporaryDirectory(prefix="calque-") if any(map(is_address, paths)) else nullcontext("") as folder:
        here = [brought(path, os.path.join(folder, side)) for side, path in zip(("truth", "predictions"), paths, strict=True)]

        def evaluate(known: KeptBatches | None = None) -> Evaluator:
            return Evaluator(task, keep=keep, jobs=jobs).update(*here, known=known)

        evaluator = evaluate() if kept is None else kept.evaluated(task, keep, here, evaluate)
    evaluator.rename({name: path for name, path in zip(here, paths, strict=True) if name != path})
    return evaluator


def brought(path: str, folder: str) -> str:
    """Return a path on this machine: the same, or that of a copy in a new folder."""
    if not is_address(path):
        return path
    os.mkdir(folder)
    return fetched(path, folder)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The facts about a shard that this process needs before metrics are computed."""

    part: Part
    """The ledger of the shard, without its rows."""
    issues: tuple[Issue, ...]
    sources: Sources
    extent: str


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A scored shard."""

    head: Head
    ledger: Ledger

    @classmethod
    def of(cls, evaluator: Evaluator) -> Scored:
        """Return the shard of an evaluator as one ledger: a partitioned one cannot be sent."""
        ledger = Ledger.concat([piece.ledger for piece in evaluator.ledger().pieces()])
        return cls(Head(Part.of(ledger, None), evaluator.issues(), evaluator.sources, evaluator.extent), ledger)


def score_shard(task: Task, keep: Keep, shard: Shard) -> Scored:
    """Score a shard, on a worker."""
    return Scored.of(evaluated_shard(task, shard, keep=keep))


def place_shard(placement: Placement, shard: Scored) -> Piece:
    """Return the ledger of a shard as a piece of the whole."""
    return placement(shard.ledger)


class ClusterEvaluator(Evaluator):
    """An evaluator whose documents are with the workers of a cluster."""

    def __init__(self, cluster: Cluster, task: Task, keep: Keep, shards: Sequence[Any], heads: Sequence[Head]) -> None:
        super().__init__(task, keep=keep)
        extents = {head.extent for head in heads} - {""}
        if len(extents) > 1:
            raise MergeError("boxes are in pixels in some shards and in shares of the page in others; evaluate them apart")
        self._extent = "".join(extents)
        parts = [replace(head.part, source=shard) for head, shard in zip(heads, shards, strict=True)]
        self._ledger = PartitionedLedger.over(parts, ClusterRunner(cluster))
        for head in heads:
            self._noticed(head.issues)
            self._sources |= head.sources

    def ledger(self) -> Ledger:
        """Return the ledger of all shards, whose rows are on the cluster."""
        return self._ledger

    def _count(self) -> int:
        return len(self._ledger.units)

    def _all_parts(self) -> PartCollector:
        """Return the documents, copied here one shard after the other."""
        parts = self._no_parts()
        for piece in self._ledger.pieces():
            parts.add(piece.ledger)
        return parts

    def _add(self, parts: PartCollector, extent: str = "") -> None:  # noqa: ARG002  # never any
        """Refuse further documents: this evaluator would measure only those of the cluster."""
        raise MergeError("documents cannot be added to those of a cluster; merge the evaluator of the cluster into another one")


def evaluated_on(cluster: Cluster, task: Task, shards: Sequence[Shard], *, keep: Keep) -> Evaluator:
    """Return the evaluator of all shards. It computes metrics on the cluster, as long as the cluster is open."""
    current_progress().expect(len(shards), "shard")
    names: dict[str, str] = {}
    scored = [cluster.put(partial(score_shard, task, keep), _anywhere(shard, names)) for shard in shards]
    cluster.counted(scored)
    heads: list[Head] = cluster.of([cluster.put(attrgetter("head"), shard) for shard in scored])
    if task.numbers_documents or not task.streams:
        evaluator = Evaluator(task, keep=keep)
        for shard, head in zip(scored, heads, strict=True):
            ledger = cluster.of(shard).ledger
            evaluator.merge(Evaluator(task, keep=keep).add(ledger, issues=head.issues, sources=head.sources))
    else:
        evaluator = ClusterEvaluator(cluster, task, keep, scored, heads)
    evaluator.rename(names)
    return evaluator


def _anywhere(shard: Shard, names: dict[str, str]) -> Shard:
    """Return the shard with paths that are valid in any folder; ``names`` receives the original paths by those."""
    paths = [path if is_address(path) else os.path.abspath(path) for path in (shard.truth, shard.predictions)]
    names.update(zip(paths, (shard.truth, shard.predictions), strict=True))
    return Shard(*paths)


class ClusterRunner:
    """Works on parts where they are: with the workers of a cluster. Handles are futures of pieces."""

    elsewhere = True

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def place(self, part: Part, placement: Placement) -> Any:
        """Return the future of the piece that a placement makes of a shard."""
        return self._cluster.put(partial(place_shard, placement), part.source)

    def map(self, work: Callable[[Piece], Any], handles: Sequence[Any]) -> Iterator[Any]:
        """Yield what ``work`` makes of each piece; results are copied here one after the other."""
        return (self._cluster.of(self._cluster.put(work, handle)) for handle in handles)

    def fold(self, work: Callable[[Piece], Joining], handles: Sequence[Any]) -> Joining:
        """Return what ``work`` makes of each piece, joined in a tree."""
        made = [self._cluster.put(work, handle) for handle in handles]
        joined: Joining = self._cluster.of(self._cluster.reduced(join_all, made))
        return joined

    def ranked(self, rows: Callable[[Piece], Rows], handles: Sequence[Any], classes: int, jobs: int) -> Ranked:  # noqa: ARG002  # workers have one
        """Return the rows of all pieces by class and score."""
        return ClusterRanking(self._cluster, handles, rows, classes)


class ClusterRanking:
    """The rows of all shards by class and score. Each shard is sorted where it is; ranges are merged at any worker."""

    def __init__(self, cluster: Cluster, handles: Sequence[Any], rows: Callable[[Piece], Rows], classes: int) -> None:
        self._cluster = cluster
        self._classes = classes
        self._runs = [cluster.put(partial(_sorted_run, rows, classes), handle) for handle in handles]

    def fold(self, count: Callable[[RankRange], Ints], accumulate: Callable[[RankRange, Ints | None], Joining]) -> Joining:
        """Return what ``accumulate`` makes of each range, joined. All ranges are counted first and accumulated in parallel."""
        put = self._cluster.put
        ranges = self._ranges()
        before: list[Ints | None] = [None]
        if len(ranges) > 1:
            counts = self._cluster.of([put(count, each) for each in ranges])
            before = list(np.cumsum([np.zeros_like(counts[0]), *counts[:-1]], axis=0))
        accumulated = [put(accumulate, each, ahead) for each, ahead in zip(ranges, before, strict=True)]
        joined: Joining = self._cluster.of(self._cluster.reduced(join_all, accumulated))
        return joined

    def _ranges(self) -> list[Any]:
        put = self._cluster.put
        indexes: list[RunIndex] = self._cluster.of([put(attrgetter("index"), run) for run in self._runs])
        empty: tuple[Array, ...] = self._cluster.of(put(_without_rows, self._runs[0]))
        filled = [(run, index) for run, index in zip(self._runs, indexes, strict=True) if index.class_offsets[-1]]
        cuts = choose_cuts([index for _, index in filled], MOST_RANGES)
        sliced = [put(partial(_slices, cuts), run) for run, _ in filled]
        return [
            put(
                partial(merge_slices, classes=self._classes, empty=empty),
                [put(itemgetter(number), slices) for slices in sliced],
            )
            for number in range(len(cuts.label) + 1)
        ]


def _sorted_run(rows: Callable[[Piece], Rows], classes: int, piece: Piece) -> SortedRun:
    return sort_rows(rows(piece), classes)


def _without_rows(run: SortedRun) -> tuple[Array, ...]:
    return tuple(column[:0] for column in run.columns[2:])


def _slices(cuts: SortKeys, run: SortedRun) -> list[RunSlice]:
    return [slice_run(run, start, stop) for start, stop in pairwise(cut_positions(run, cuts))]


def join_all(parts: list[Any]) -> Any:
    """Join all parts. They stay as they are, because Dask may have to join them again."""
    first, *others = parts
    joined = copy.deepcopy(first)
    for other in others:
        joined = joined.join(other)
    return joined
