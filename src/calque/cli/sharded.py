"""Many shards in one command: each is evaluated by itself, kept where that is asked for, and added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from calque.core.errors import ConfigError
from calque.readers.sources.shards import is_address

if TYPE_CHECKING:
    from calque.core.evaluator import Evaluator, Keep
    from calque.core.shards.checkpoint import Checkpoint
    from calque.core.task import Task
    from calque.readers.sources.shards import Shard


@contextmanager
def on_cluster(
    task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, scheduler: str | None
) -> Iterator[Callable[[], Evaluator]]:
    """Makes one evaluator of all shards, by the workers of a cluster, which are there until the block ends."""
    from calque.core.shards.cluster import evaluated_on
    from calque.engines.on_dask import Cluster

    first = next((shard.truth for shard in shards if not is_address(shard.truth)), None)
    with Cluster(scheduler, jobs) as cluster:
        yield lambda: evaluated_on(cluster, task if first is None else task.settled(first), shards, keep=keep)


def evaluated(task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, checkpoint: str | None, quiet: bool) -> Evaluator:
    """One evaluator of all shards."""
    from calque.core.evaluator import Evaluator
    from calque.engines import meter

    kept = None if checkpoint is None else _opened(checkpoint)
    evaluator = Evaluator(task.settled(shards[0].truth), keep=keep, jobs=jobs)
    if len(shards) == 1 and not is_address(shards[0].truth) and not is_address(shards[0].predictions):
        _in_batches(evaluator, shards[0], keep, kept)
    else:
        meter().expect(len(shards), "shard")
        for shard in shards:
            evaluator.merge(_shard(evaluator.task, shard, keep, jobs, kept))
            meter().advance()
    if kept is not None and kept.reused and not quiet:
        click.echo(
            f"note: {kept.folder}: {kept.reused:,} finished part{'' if kept.reused == 1 else 's'} taken from there", err=True
        )
    return evaluator


def _opened(folder: str) -> Checkpoint:
    from calque.core.shards.checkpoint import Checkpoint

    try:
        return Checkpoint(folder)
    except FileExistsError:
        raise ConfigError(f"{folder}: is a file; --checkpoint needs a folder") from None


def _in_batches(evaluator: Evaluator, shard: Shard, keep: Keep, kept: Checkpoint | None) -> None:
    """One pair of files, batch by batch."""
    sides: tuple[Any, Any] = evaluator.task.begin(shard.truth), evaluator.task.begin(shard.predictions)
    if kept is None:
        evaluator.update(*sides)
        return
    batches = kept.batches(kept.key(evaluator.task, keep, shard.truth, shard.predictions))
    evaluator.update(*sides, known=batches)
    batches.end()


def _shard(task: Task, shard: Shard, keep: Keep, jobs: int, kept: Checkpoint | None) -> Evaluator:
    from calque.core.shards.cluster import evaluated_shard

    def evaluate() -> Evaluator:
        return evaluated_shard(task, shard, keep=keep, jobs=jobs)

    return evaluate() if kept is None else kept.evaluated(kept.key(task, keep, shard.truth, shard.predictions), evaluate)
