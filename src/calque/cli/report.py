"""``calque report``: a page that shows everything about a result, from a state that was saved."""

from __future__ import annotations

from typing import Any

import click

from calque.cli import exits
from calque.cli.options import PATH, WRITTEN, jobs_option
from calque.cli.reports import image_options


@click.command("report")
@click.argument("states", nargs=-1, required=True, metavar="STATE...", type=PATH)
@click.option("-o", "--output", required=True, type=WRITTEN, metavar="FILE", help="The HTML file that is written.")
@image_options
@jobs_option
@click.option("--quiet", is_flag=True, help="No progress and no remarks on stderr.")
def command(states: tuple[str, ...], output: str, jobs: int, quiet: bool, **values: Any) -> int:
    """Write one HTML file that shows what a STATE saved with --save holds: numbers, pages, objects. It opens offline.

    \b
    calque detect truth.json predictions.json --save run.state
    calque report run.state -o report.html --images scans/
    """
    from calque.cli.inputs import taken_in
    from calque.cli.outputs import settle
    from calque.cli.reports import wanted, write
    from calque.core.evaluator import Evaluator

    report = wanted(values, output, jobs)
    settle()
    results = [Evaluator.load(path).compute() for path in taken_in(*states)]
    for result in results:
        exits.say_first(result)
    write(results, report, quiet=quiet)
    return max(exits.code_of(result, quiet=True) for result in results)
