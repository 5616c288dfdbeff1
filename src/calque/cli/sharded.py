"""Many shards in one command: each is evaluated by itself, kept where that is asked for, and added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from calque.core.errors import ConfigError

if TYPE_CHECKING:
    from calque.core.checkpoint import Checkpoint
    from calque.core.evaluator import Evaluator, Keep
    from calque.core.task import Task
    from calque.readers.sources.shards import Shard


def evaluated(task: Task, shards: Sequence[Shard], *, keep: Keep, jobs: int, checkpoint: str | None, quiet: bool) -> Evaluator:
    """One evaluator of all shards."""
    from calque.core.evaluator import Evaluator
    from calque.engines import meter

    kept = None if checkpoint is None else _opened(checkpoint)
    evaluator = Evaluator(task.settled(shards[0].truth), keep=keep, jobs=jobs)
    if len(shards) == 1:
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
    from calque.core.checkpoint import Checkpoint

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
    from calque.core.evaluator import Evaluator

    def evaluate() -> Evaluator:
        return Evaluator(task, keep=keep, jobs=jobs).update(shard.truth, shard.predictions)

    return evaluate() if kept is None else kept.evaluated(kept.key(task, keep, shard.truth, shard.predictions), evaluate)
