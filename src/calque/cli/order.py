"""``calque order``: in which order the blocks of a page are read."""

from __future__ import annotations

from typing import Any

import click

from calque.cli.evaluate import evaluate
from calque.cli.options import PATH, engine_options, interval_options, jobs_option, output_options, task_options
from calque.order.task import Order


@click.command("order")
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH)
@task_options(Order)
@interval_options
@jobs_option
@engine_options
@output_options
def command(truth: str, predictions: str, **values: Any) -> int:
    """Evaluate the reading order of PREDICTIONS against TRUTH: pairs, next steps, distances, and where the path is left.

    Both are files or folders: PAGE XML, OmniDocBench, DoclingDocument, or page rows (NDJSON, Parquet, JSON) with order as
    nested lists of ids. Rows may have nothing but an order.

    \b
    calque order truth/ predictions/
    calque order OmniDocBench.json sorted.ndjson --pair id
    """
    return evaluate(Order, truth, predictions, values)
