"""``calque layout``: blocks of a page and their categories."""

from __future__ import annotations

from typing import Any

import click

from calque.cli.options import jobs_option, output_options, task_from, task_options
from calque.layout.task import Layout


@click.command("layout")
@click.argument("truth", type=click.Path())
@click.argument("predictions", type=click.Path())
@task_options(Layout)
@jobs_option
@output_options
def command(truth: str, predictions: str, **values: Any) -> int:
    """Evaluate the layout blocks in PREDICTIONS against TRUTH.

    Each true block takes the prediction that it overlaps most, and several may take the same one. Reported are the blocks
    that are found, how often their category is right, and what was taken for what.

    \b
    calque layout truth.json predictions.json --iou 0.5
    """
    from calque.cli.evaluate import evaluate

    return evaluate(task_from(Layout, values), truth, predictions, values)
