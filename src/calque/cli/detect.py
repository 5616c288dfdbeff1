"""``calque detect``: boxes on pages."""

from __future__ import annotations

from typing import Any

import click

from calque.cli.options import jobs_option, output_options, task_from, task_options
from calque.detection.task import Detection


@click.command("detect")
@click.argument("truth", type=click.Path())
@click.argument("predictions", type=click.Path())
@task_options(Detection)
@jobs_option
@output_options
def command(truth: str, predictions: str, **values: Any) -> int:
    """Evaluate PREDICTIONS against TRUTH: which boxes were found, and how well they fit.

    Both are snapshot files (schema 1.3), or COCO ground truth and COCO results. Boxes of one page and label are paired
    greedily by IoU for precision, recall and fit, and by score for AP.

    \b
    calque detect truth.json predictions.json
    calque detect truth.json predictions.json --iou 0.5 --format markdown -o report.md
    """
    from calque.cli.evaluate import evaluate

    return evaluate(task_from(Detection, values), truth, predictions, values)
