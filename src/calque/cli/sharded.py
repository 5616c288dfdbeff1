"""Many shards in one command: each is evaluated by itself, kept where that is asked for, and added up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from calque.base.errors import ConfigError

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator, Keep
    from calque.evaluation.shards.checkpoint import Checkpoint
    from calque.evaluation.task import Task
    from calque.readers.sources.shards import Shard


@contextmanager
def on_cluster(
    task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, scheduler: str | None
) -> Iterator[Callable[[], Evaluator]]:
    """Yield a function that evaluates all shards on a cluster, which runs until the block ends."""
    from calque.engines.on_dask import Cluster
    from calque.evaluation.shards.cluster import evaluated_on

    with Cluster(scheduler, jobs) as cluster:
        yield lambda: evaluated_on(cluster, _settled(task, shards), shards, keep=keep)


@contextmanager
def in_this_process(
    task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, checkpoint: str | None, quiet: bool
) -> Iterator[Callable[[], Evaluator]]:
    """Yield a function that evaluates all shards, one after the other."""
    with kept_in(checkpoint, quiet=quiet) as kept:
        yield lambda: _evaluated(task, shards, keep=keep, jobs=jobs, kept=kept)


def _evaluated(task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, kept: Checkpoint | None) -> Evaluator:
    from calque.engines import current_progress
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.shards.cluster import evaluated_shard

    evaluator = Evaluator(_settled(task, shards), keep=keep, jobs=jobs)
    if len(shards) > 1:
        current_progress().expect(len(shards), "shard")
    for shard in shards:
        evaluator.merge(evaluated_shard(evaluator.task, shard, keep=keep, jobs=jobs, kept=kept))
        if len(shards) > 1:
            current_progress().advance()
    return evaluator


def _settled(task: Task, shards: Sequence[Shard]) -> Task:
    """Return the task with all that it leaves to the truth of all shards filled in; files elsewhere are brought here first."""
    from calque.fields.task import Fields

    if not isinstance(task, Fields) or task.schema:
        return task.resolved(shards[0].truth)
    import tempfile

    from calque.evaluation.shards.cluster import brought
    from calque.readers.sources.shards import is_address

    with tempfile.TemporaryDirectory(prefix="calque-") as folder:
        truths = [brought(shard.truth, os.path.join(folder, str(number))) for number, shard in enumerate(shards)]
        return task.resolved_over(truths, [shard.predictions for shard in shards if not is_address(shard.predictions)])


@contextmanager
def kept_in(folder: str | None, *, quiet: bool) -> Iterator[Checkpoint | None]:
    """Yield the checkpoint in a folder, if one is named. If all went well, print how many parts came from it."""
    if folder is None:
        yield None
        return
    from calque.evaluation.shards.checkpoint import Checkpoint

    try:
        checkpoint = Checkpoint(folder)
    except FileExistsError:
        raise ConfigError(f"{folder}: is a file; --checkpoint needs a folder") from None
    yield checkpoint
    if checkpoint.reused and not quiet:
        parts = f"{checkpoint.reused:,} finished part{'' if checkpoint.reused == 1 else 's'}"
        click.echo(f"note: {folder}: {parts} taken from there", err=True)
