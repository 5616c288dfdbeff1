"""Many shards in one command: each is evaluated by itself, kept where that is asked for, and added up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from calque.base.errors import ConfigError

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator, Keep
    from calque.evaluation.shards.checkpoint import Checkpoint
    from calque.evaluation.task import Task
    from calque.readers.sources.shards import Shard


class Sharded(NamedTuple):
    """How shards are evaluated."""

    evaluated: Callable[[], Evaluator]
    """Makes one evaluator of all of them."""
    finish: Callable[[], None]
    """Waits for what is still being kept of them."""


@contextmanager
def on_cluster(task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, scheduler: str | None) -> Iterator[Sharded]:
    """By the workers of a cluster, which are there until the block ends."""
    from calque.engines.on_dask import Cluster
    from calque.evaluation.shards.cluster import evaluated_on

    with Cluster(scheduler, jobs) as cluster:
        yield Sharded(lambda: evaluated_on(cluster, _settled(task, shards), shards, keep=keep), lambda: None)


@contextmanager
def in_this_process(
    task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, checkpoint: str | None, quiet: bool
) -> Iterator[Sharded]:
    """One after the other; what is finished is kept where that is asked for, if need be until the block ends."""
    with kept_in(checkpoint, quiet=quiet) as kept:
        finish = (lambda: None) if kept is None else kept.finish
        yield Sharded(lambda: _evaluated(task, shards, keep=keep, jobs=jobs, kept=kept), finish)


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
        return task.settled(shards[0].truth)
    import tempfile

    from calque.evaluation.shards.cluster import brought
    from calque.readers.sources.shards import is_address

    with tempfile.TemporaryDirectory(prefix="calque-") as folder:
        truths = [brought(shard.truth, os.path.join(folder, str(number))) for number, shard in enumerate(shards)]
        return task.settled_over(truths, [shard.predictions for shard in shards if not is_address(shard.predictions)])


@contextmanager
def kept_in(folder: str | None, *, quiet: bool) -> Iterator[Checkpoint | None]:
    """The checkpoint in a folder, if one is named. When all went well, it is told how much was there already."""
    if folder is None:
        yield None
        return
    from calque.evaluation.shards.checkpoint import Checkpoint

    try:
        checkpoint = Checkpoint(folder)
    except FileExistsError:
        raise ConfigError(f"{folder}: is a file; --checkpoint needs a folder") from None
    with checkpoint as kept:
        yield kept
    if kept.reused and not quiet:
        parts = f"{kept.reused:,} finished part{'' if kept.reused == 1 else 's'}"
        click.echo(f"note: {folder}: {parts} taken from there", err=True)
