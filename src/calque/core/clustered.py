"""Shards on a cluster: each is evaluated where there is room, and what they come to is added up in a tree."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from calque.core.evaluator import Evaluator, Keep
from calque.engines import meter
from calque.readers.sources.shards import Shard, is_address

if TYPE_CHECKING:
    from calque.core.task import Task
    from calque.engines.on_dask import Cluster


def evaluated_shard(task: Task, shard: Shard, *, keep: Keep, jobs: int = 1) -> Evaluator:
    """The evaluator of one shard; files on other machines are brought here first."""
    evaluator = Evaluator(task, keep=keep, jobs=jobs)
    paths = shard.truth, shard.predictions
    if not any(map(is_address, paths)):
        return evaluator.update(*paths)
    from calque.readers.sources.remote import fetched

    with tempfile.TemporaryDirectory(prefix="calque-") as truth, tempfile.TemporaryDirectory(prefix="calque-") as found:
        here = [fetched(path, folder) if is_address(path) else path for path, folder in zip(paths, (truth, found), strict=True)]
        evaluator.update(*here)
        evaluator.rename(dict(zip(here, paths, strict=True)))
    return evaluator


def state_of_shard(task: Task, keep: Keep, shard: Shard) -> bytes:
    """What one shard comes to, in a form that can be sent."""
    return evaluated_shard(task, shard, keep=keep).state()


def joint_state(states: list[bytes]) -> bytes:
    """What several shards come to together."""
    first, *others = (Evaluator.from_state(state) for state in states)
    for other in others:
        first.merge(other)
    return first.state()


def evaluated_on(cluster: Cluster, task: Task, shards: Sequence[Shard], *, keep: Keep) -> Evaluator:
    """The evaluator of all shards, each evaluated on the cluster."""
    meter().expect(len(shards), "shard")
    states: list[Any] = [cluster.put(partial(state_of_shard, task, keep), shard) for shard in shards]
    cluster.counted(states)
    return Evaluator.from_state(cluster.of(cluster.reduced(joint_state, states)))
