"""Shards on a cluster: each is scored where there is room, and what they come to is added up in a tree.

What a shard comes to stays with the worker that scored it. A measure that is folded over pieces is worked out there, and only
sums travel; rows that have to be ranked are sorted there, and a stretch of all shards meets at some worker. No worker ever
holds all rows, and whoever asks holds no more than the documents' ids.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calque.base.columns import Table
from calque.base.errors import Issue, MergeError
from calque.corpus.boxes import UnitId
from calque.engines import current_progress
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.ledger import Ledger, Piece, joint_names, joint_units, recoded
from calque.evaluation.result import Sources
from calque.readers.sources.shards import Shard, is_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from calque.base.columns import Codes
    from calque.engines.on_dask import Cluster
    from calque.evaluation.ledger import Joining
    from calque.evaluation.shards.checkpoint import Checkpoint, KeptBatches
    from calque.evaluation.storage.ledger_parts import LedgerParts
    from calque.evaluation.storage.ranked_runs import Ranked, Rows
    from calque.evaluation.task import Task


def evaluated_shard(task: Task, shard: Shard, *, keep: Keep, jobs: int = 1, kept: Checkpoint | None = None) -> Evaluator:
    """The evaluator of one shard; files on other machines are brought here first."""
    paths = shard.truth, shard.predictions
    with tempfile.TemporaryDirectory(prefix="calque-") if any(map(is_address, paths)) else nullcontext("") as folder:
        here = [brought(path, os.path.join(folder, side)) for side, path in zip(("truth", "predictions"), paths, strict=True)]

        def evaluate(sources: Iterable[Any], known: KeptBatches | None = None) -> Evaluator:
            return Evaluator(task, keep=keep, jobs=jobs).update(*sources, known=known)

        if kept is None:
            evaluator = evaluate(map(task.begin, here))
        else:
            contents = kept.contents(here, task.begin)
            evaluator = kept.evaluated(task, keep, contents, lambda known: evaluate(contents.sources(), known))
    evaluator.rename({name: path for name, path in zip(here, paths, strict=True) if name != path})
    return evaluator


def brought(path: str, folder: str) -> str:
    """Return a path on this machine: the same, or that of a copy in a folder that this makes."""
    if not is_address(path):
        return path
    from calque.readers.sources.shards import fetched

    os.mkdir(folder)
    return fetched(path, folder)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """What has to be known of every shard before anything is measured."""

    units: tuple[UnitId, ...]
    names: Mapping[str, tuple[str, ...]]
    tables: tuple[str, ...]
    issues: tuple[Issue, ...]
    sources: Sources
    extent: str


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What a shard comes to."""

    head: Head
    ledger: Ledger


def scored(task: Task, keep: Keep, shard: Shard) -> Scored:
    """A shard, by a worker."""
    evaluator = evaluated_shard(task, shard, keep=keep)
    whole = evaluator.ledger()
    ledger = Ledger.concat([piece.ledger for piece in whole.pieces()])  # a long one is in a file, which cannot be sent
    tables = {name: Table(dict(table.items())) for name, table in ledger.tables.items()}
    kept = Ledger(units=ledger.units, names=ledger.names, details=ledger.details, tables=tables)
    head = Head(ledger.units, ledger.names, tuple(tables), evaluator.issues(), evaluator.sources, evaluator.extent)
    return Scored(head, kept)


def head_of(shard: Scored) -> Head:
    """The small part of it."""
    return shard.head


def placed(shard: Scored, names: Mapping[str, tuple[str, ...]], places: Codes) -> Piece:
    """A shard as a piece of the whole: with its codes, and the places of its documents."""
    old = shard.ledger
    tables = {
        name: Table({key: recoded(key, old.names, column, names) for key, column in table.items()})
        for name, table in old.tables.items()
    }
    return Piece(Ledger(units=old.units, names=names, details=old.details, tables=tables), places)


class ClusterEvaluator(Evaluator):
    """An evaluator whose documents are with the workers of a cluster."""

    def __init__(self, task: Task, keep: Keep, heads: Sequence[Head], ledger: ClusterLedger) -> None:
        super().__init__(task, keep=keep)
        extents = {head.extent for head in heads} - {""}
        if len(extents) > 1:
            raise MergeError("boxes are in pixels in some shards and in shares of the page in others; evaluate them apart")
        self._ledger = ledger
        self._extent = "".join(extents)
        for head in heads:
            self._noticed(head.issues)
            self._sources |= head.sources

    def ledger(self) -> Ledger:
        """The outcomes, which are elsewhere."""
        return self._ledger

    def _count(self) -> int:
        return len(self._ledger.units)

    def _all_parts(self) -> LedgerParts:
        """Return the documents, brought here one shard after the other."""
        parts = self._no_parts()
        for piece in self._ledger.pieces():
            parts.add(piece.ledger)
        return parts

    def _add(self, parts: LedgerParts, extent: str = "") -> None:  # noqa: ARG002  # whatever they are
        """Refuse further documents: this evaluator would measure only those of the cluster."""
        raise MergeError("documents cannot be added to those of a cluster; merge the evaluator of the cluster into another one")


def evaluated_on(cluster: Cluster, task: Task, shards: Sequence[Shard], *, keep: Keep) -> Evaluator:
    """The evaluator of all shards, each scored on the cluster; what it measures is measured there, while that is open."""
    current_progress().expect(len(shards), "shard")
    names: dict[str, str] = {}
    parts = [cluster.put(partial(scored, task, keep), _anywhere(shard, names)) for shard in shards]
    cluster.counted(parts)
    heads: list[Head] = cluster.of([cluster.put(head_of, part) for part in parts])
    if task.numbers_documents or not task.by_chunks:
        evaluator = Evaluator(task, keep=keep)
        for part, head in zip(parts, heads, strict=True):
            evaluator.merge(Evaluator(task, keep=keep).add(cluster.of(part).ledger, issues=head.issues, sources=head.sources))
    else:
        evaluator = ClusterEvaluator(task, keep, heads, ClusterLedger.over(cluster, parts, heads))
    evaluator.rename(names)
    return evaluator


def _anywhere(shard: Shard, names: dict[str, str]) -> Shard:
    """The shard by paths that hold in whatever folder a worker is; ``names`` learns what they were called here."""
    paths = [path if is_address(path) else os.path.abspath(path) for path in (shard.truth, shard.predictions)]
    names.update(zip(paths, (shard.truth, shard.predictions), strict=True))
    return Shard(*paths)


class _Tables(Mapping[str, Table]):
    """The tables of a ledger on a cluster, each brought here when somebody asks for the whole of it."""

    def __init__(self, cluster: Cluster, futures: Sequence[Any], names: Sequence[str]) -> None:
        self._cluster, self._futures, self._names = cluster, futures, names

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(name)
        parts = [self._cluster.of(self._cluster.put(partial(_table_alone, name), future)) for future in self._futures]
        return Ledger.concat(parts).tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _table_alone(name: str, piece: Piece) -> Ledger:
    ledger = piece.ledger
    return Ledger(units=ledger.units, names=ledger.names, details=ledger.details, tables={name: ledger.tables[name]})


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ClusterLedger(Ledger):
    """A ledger whose pieces are with the workers of a cluster."""

    elsewhere: ClassVar[bool] = True
    cluster: Any
    futures: Sequence[Any]

    def __post_init__(self) -> None:
        """Every part was checked when it was a ledger of its own."""

    @classmethod
    def over(cls, cluster: Cluster, parts: Sequence[Any], heads: Sequence[Head]) -> ClusterLedger:
        """The ledger of all shards."""
        units = joint_units([head.units for head in heads])
        names = joint_names([head.names for head in heads])
        position = {unit: place for place, unit in enumerate(units)}
        places = [np.array([position[unit] for unit in head.units], dtype=np.int32) for head in heads]
        futures = [cluster.put(placed, part, names, at) for part, at in zip(parts, places, strict=True)]
        tables = [name for name in heads[0].tables if all(name in head.tables for head in heads)]
        return cls(units=units, names=names, tables=_Tables(cluster, futures, tables), cluster=cluster, futures=futures)

    def pieces(self) -> Iterator[Piece]:
        """The pieces, brought here one after the other."""
        return (self.cluster.of(future) for future in self.futures)

    def chunks(self, table: str, *columns: str) -> Iterator[Table]:  # noqa: ARG002  # all columns are there
        """The rows of a table, shard by shard."""
        for piece in self.pieces():
            rows = piece.ledger.tables[table]
            if rows.height:
                yield Table({**rows.columns, "unit": np.asarray(piece.places)[rows.array("unit")]})

    def folded(self, work: Callable[[Piece], Joining]) -> Joining:
        """What a piece of work makes of each piece, where it is, joined in a tree."""
        made = [self.cluster.put(work, future) for future in self.futures]
        joined: Joining = self.cluster.of(self.cluster.reduced(all_joined, made))
        return joined

    def ranked(self, rows: Callable[[Piece], Rows], classes: int, jobs: int = 1) -> Ranked:  # noqa: ARG002  # workers have one
        """The rows by class and score, in stretches that meet at some worker."""
        from calque.evaluation.shards.cluster_ranks import ClusterRuns

        return ClusterRuns(self.cluster, self.futures, rows, classes)


def all_joined(parts: list[Any]) -> Any:
    """All of them together. They stay as they are: what is lost may have to be joined again."""
    import copy

    first, *others = parts
    joined = copy.deepcopy(first)
    for other in others:
        joined = joined.join(other)
    return joined
