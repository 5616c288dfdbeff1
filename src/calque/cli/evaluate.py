"""Verbs that lay two files over each other: the settings of a task are their options, and the evaluator does the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calque.cli.gates import gates_from
from calque.cli.help import GroupedCommand
from calque.cli.inputs import cut, taken_in, told
from calque.cli.options import (
    PATH,
    engine_options,
    interval_options,
    intervals_from,
    jobs_option,
    output_options,
    task_from,
    task_options,
)
from calque.cli.sharded import kept_in
from calque.kernels.scanning import Scanned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from calque.cli.render import Sheet
    from calque.evaluation.evaluator import Keep
    from calque.evaluation.result import Result
    from calque.evaluation.shards.checkpoint import KeptBatches
    from calque.evaluation.task import Task
    from calque.readers.sources.shards import Shard
    from calque.statistics.gates import Gates


def evaluation_verb(name: str, task: type[Task], help: str) -> click.Command:
    """The verb of a task."""

    @click.command(name, cls=GroupedCommand, help=help)
    @click.argument("truth", type=PATH)
    @click.argument("predictions", type=PATH)
    @task_options(task)
    @interval_options
    @jobs_option
    @engine_options
    @output_options
    def command(truth: str, predictions: str, **values: Any) -> int:
        return evaluate(task, truth, predictions, values)

    return command


def evaluate(
    kind: type[Task],
    truth: str,
    predictions: str | tuple[str, ...],
    values: dict[str, Any],
    *,
    look: Callable[[Result], Sheet | None] | None = None,
    scans: bool | None = None,
) -> int:
    """Evaluate files under the task that the options describe, and deliver the result as they say; the exit code.

    ``look`` sees the result first, and may give a sheet to be shown in its place. Several files of predictions are for tasks
    that take several. ``scans`` tells whether the compiled scanner reads the files in the background, as it does for boxes.
    """
    shards = cut(truth, predictions, values) if isinstance(predictions, str) else []
    if shards:
        return _evaluate_shards(kind, shards, values, look)
    read = Scanned if (kind.long_columns if scans is None else scans) else str
    truth, *files = taken_in(truth, *((predictions,) if isinstance(predictions, str) else predictions))
    # Files are read in the background from here on, unless a checkpoint may know their numbers.
    checkpoint = values.pop("checkpoint", None)
    sources = None if checkpoint else [*map(read, (truth, *files))]
    gates = gates_for(kind, values)
    task = task_from(kind, values)
    resampling = intervals_from(values)
    from calque.cli.progress import working
    from calque.cli.render import deliver
    from calque.cli.reports import wanted
    from calque.evaluation.evaluator import Evaluator

    jobs = values.pop("jobs")
    if checkpoint:
        task = task.resolved(truth)  # the checkpoint is found again under all settings
    values.pop("engine", None)
    _no_scheduler(values.pop("scheduler", None))
    report = wanted(values, values.pop("report"), jobs)
    keep = what_to_keep(values, kind, everything=report is not None)

    def update(known: KeptBatches | None = None) -> Evaluator:
        first, *others = sources or map(read, (truth, *files))
        found = others[0] if isinstance(predictions, str) else tuple(others)
        return Evaluator(task, keep=keep, jobs=jobs).update(first, found, known=known)

    with kept_in(checkpoint, quiet=values["quiet"]) as kept:
        with working(told(f"evaluating {', '.join(files)}"), quiet=values["quiet"]):
            evaluator = update() if kept is None else kept.evaluated(task, keep, (truth, *files), update)
        return deliver(evaluator, gates=gates, resampling=resampling, jobs=jobs, report=report, look=look, **values)


def _no_scheduler(given: str | None) -> None:
    if given is not None:
        raise click.UsageError("--scheduler is about --engine dask.")


def _evaluate_shards(
    kind: type[Task], shards: Sequence[Shard], values: dict[str, Any], look: Callable[[Result], Sheet | None] | None
) -> int:
    """The same for many pairs of files, or for one whose batches are kept."""
    from calque.base.errors import ConfigError
    from calque.cli.outputs import settle
    from calque.cli.progress import working
    from calque.cli.render import deliver
    from calque.cli.reports import wanted
    from calque.cli.sharded import in_this_process, on_cluster

    gates = gates_for(kind, values)
    task = task_from(kind, values)
    resampling = intervals_from(values)
    jobs = values.pop("jobs")
    engine, scheduler, checkpoint = (values.pop(name) for name in ("engine", "scheduler", "checkpoint"))
    if engine == "dask" and checkpoint is not None:
        raise ConfigError("--checkpoint is for --engine here; on a cluster, dask does again what was lost")
    _no_scheduler(None if engine == "dask" else scheduler)
    report = wanted(values, values.pop("report"), jobs)
    keep = what_to_keep(values, kind, everything=report is not None)
    files = [path for shard in shards for path in (shard.truth, shard.predictions)]
    settle(*files)
    here = partial(in_this_process, checkpoint=checkpoint, quiet=values["quiet"])
    place = here if engine == "here" else partial(on_cluster, scheduler=scheduler)
    with place(task, shards, keep=keep, jobs=jobs) as evaluated:
        with working(f"evaluating {len(shards):,} shard{'' if len(shards) == 1 else 's'}", quiet=values["quiet"]):
            evaluator = evaluated()
        return deliver(evaluator, gates=gates, resampling=resampling, jobs=jobs, report=report, look=look, **values)


def gates_for(kind: type[Task], values: dict[str, Any]) -> Gates | None:
    """The gates that the options describe, refused before the work where no result of the task could be held to them."""
    gates = gates_from(values)
    if gates is not None:
        gates.check(kind)
    return gates


def what_to_keep(values: dict[str, Any], task: type[Task], *, everything: bool = False) -> Keep:
    """Outcomes only where something shows or saves them; options that ask for the impossible are refused before the work."""
    from calque.cli.outputs import settle
    from calque.cli.render import check_wanted, formats_of

    kinds = formats_of(values["format"], values["output"])
    check_wanted(kinds.values(), brief=values["brief"], task=task)
    settle()
    listed = everything or "jsonl" in kinds.values() or values["save"] is not None
    return "outcomes" if listed or click.get_current_context().params.get("baseline") else "numbers"
