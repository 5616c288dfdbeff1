"""``calque ceiling``: what could several systems reach together?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from calque.base.errors import ConfigError
from calque.ceiling.task import Ceiling
from calque.cli.evaluate import evaluate
from calque.cli.help import GroupedCommand
from calque.cli.options import PATH, checkpoint_option, interval_options, jobs_option, output_options, task_options


@click.command("ceiling", cls=GroupedCommand)
@click.argument("truth", type=PATH)
@click.argument("predictions", nargs=-1, required=True, metavar="PREDICTIONS...", type=PATH)
@task_options(Ceiling)
@interval_options
@jobs_option
@checkpoint_option
@output_options
def command(truth: str, predictions: tuple[str, ...], **values: Any) -> int:
    """Report the best score that any combination of systems can reach.

    Also reports how much of it simple strategies achieve, and which objects no system finds. Each of the 1 to 16 PREDICTIONS
    is one system, in a format of calque detect (or of calque fields, with --schema).

    \b
    calque ceiling truth.json finder.json cropper.json
    calque ceiling truth.jsonl a.jsonl b.jsonl --schema invoice.json
    """
    _check(predictions)
    records = bool(values["schema"]) or values["kind"] == "fields"
    return evaluate(Ceiling, truth, predictions, values, scans=not records)


MOST = 16


def _check(systems: Sequence[str]) -> None:
    """Refuse too many systems, and the same twice."""
    if len(systems) > MOST:
        raise ConfigError(f"a ceiling is of 1 to {MOST} systems, not {len(systems)}")
    seen: dict[str, str] = {}
    for path in systems:
        place = os.path.realpath(path)
        if place in seen:
            also = f" as {seen[place]}" if seen[place] != path else ""
            raise ConfigError(f"{path}: is given twice{also}; a copy of a system adds nothing")
        seen[place] = path
