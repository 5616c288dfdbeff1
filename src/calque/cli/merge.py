"""``calque merge``: states of shards become one result."""

from __future__ import annotations

from typing import Any

import click

from calque.cli.help import GroupedCommand
from calque.cli.options import PATH, interval_options, intervals_from, jobs_option, output_options


@click.command("merge", cls=GroupedCommand)
@click.argument("states", nargs=-1, required=True, metavar="STATE...", type=PATH)
@interval_options
@jobs_option
@output_options
def command(states: tuple[str, ...], **values: Any) -> int:
    """Merge states of shards, and print the result as the command that made them.

    The order of the states does not matter. States with different settings, or with a common document, are refused.

    \b
    calque merge one.state two.state
    """
    from calque.cli.gates import gates_from
    from calque.cli.inputs import taken_in
    from calque.cli.outputs import settle
    from calque.cli.progress import working
    from calque.cli.render import check_wanted, deliver, formats_of
    from calque.cli.reports import wanted
    from calque.evaluation.evaluator import Evaluator

    gates = gates_from(values)
    resampling = intervals_from(values)
    check_wanted(formats_of(values["format"], values["output"]).values(), brief=values["brief"])
    report = wanted(values, values.pop("report"))
    settle()
    states = taken_in(*states)
    with working("merging", quiet=values["quiet"], steps=len(states), noun="state") as merging:
        evaluator = Evaluator.load(states[0])
        merging.advance()
        for path in states[1:]:
            evaluator.merge(Evaluator.load(path))
            merging.advance()
    return deliver(evaluator, gates=gates, resampling=resampling, report=report, **values)
