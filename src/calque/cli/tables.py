"""``calque tables``: rows, columns, cells and texts of tables."""

from __future__ import annotations

from typing import Any

import click

from calque.cli import exits
from calque.cli.evaluate import evaluate, gates_for
from calque.cli.help import GroupedCommand
from calque.cli.inputs import taken_in
from calque.cli.options import PATH, engine_options, interval_options, jobs_option, output_options, task_from, task_options
from calque.tables.task import Tables


@click.command("tables", cls=GroupedCommand)
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH)
@task_options(Tables)
@click.option("--show", metavar="DOC[#N]", help="Print both grids of a document's tables side by side.")
@interval_options
@jobs_option
@engine_options
@output_options
def command(truth: str, predictions: str, show: str | None, **values: Any) -> int:
    """Evaluate tables: exact TEDS, GriTS, cells and error types.

    TRUTH and PREDICTIONS are folders (documents pair by file stem) or files: HTML, Markdown, JSON with cells,
    table-transformer, PubTabNet, OmniDocBench, DoclingDocument, ICDAR XML.

    \b
    calque tables truth/ predictions/
    calque tables OmniDocBench.json predictions/ --compat omnidocbench
    calque tables truth.html predicted.md --show truth
    """
    if show is None:
        return evaluate(Tables, truth, predictions, values)
    if values["checkpoint"] or values["engine"] != "here" or values["scheduler"]:
        raise click.UsageError(
            "--show looks at the tables of one document; --checkpoint and --engine are for numbers. Give one of them."
        )
    from calque.cli.progress import working
    from calque.cli.render import terminal_columns
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.presentation.sections import printable
    from calque.tables import views

    truth, predictions = taken_in(truth, predictions)
    gates = gates_for(Tables, values)
    task = task_from(Tables, values)
    with working(f"evaluating {predictions}", quiet=values["quiet"]):
        evaluator = Evaluator(task, jobs=values["jobs"]).update(truth, predictions)
    result = evaluator.compute() if gates is None else gates.judge(evaluator.compute())
    exits.say_first(result, quiet=values["quiet"])
    if result.unevaluated is not None:
        return exits.INCOMPLETE
    for line in views.shown(evaluator.ledger(), show, columns=terminal_columns()):
        click.echo(printable(line))
    if not values["quiet"]:
        exits.say_losses([result])
    return exits.code_of(result, quiet=values["quiet"])
