"""``calque report``: a page that shows everything about a result, from a state that was saved."""

from __future__ import annotations

from typing import Any

import click

from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.options import PAGE, PATH, jobs_option
from calque.cli.reports import image_options


@click.command("report", cls=GroupedCommand)
@click.argument("states", nargs=-1, required=True, metavar="STATE...", type=PATH)
@click.option("-o", "--output", required=True, type=PAGE, metavar="FILE", help="HTML file to write (-o).")
@image_options
@jobs_option
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
def command(states: tuple[str, ...], output: str, jobs: int, quiet: bool, **values: Any) -> int:
    """Write an HTML report of saved states; it opens offline.

    STATE is a file from --save. The first of several states is the base of the comparison.

    \b
    calque detect truth.json predictions.json --save run.state
    calque report run.state -o report.html --images scans/
    """
    from calque.cli.compare import run_names
    from calque.cli.inputs import taken_in
    from calque.cli.outputs import settle
    from calque.cli.reports import wanted, write_runs
    from calque.evaluation.evaluator import Evaluator

    report = wanted(values, output, jobs)
    settle()
    paths = taken_in(*states)
    names = run_names(paths) if len(paths) > 1 else [""]
    results = {name: Evaluator.load(path).compute() for name, path in zip(names, paths, strict=True)}
    for result in results.values():
        exits.say_first(result)
    write_runs(results, report, quiet=quiet)
    return exits.INCOMPLETE if any(result.incomplete for result in results.values()) else exits.FINE
