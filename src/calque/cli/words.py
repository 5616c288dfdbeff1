"""``calque words``: what OCR read, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calque.base.errors import ConfigError
from calque.cli import exits
from calque.cli.evaluate import evaluate, gates_for, what_to_keep
from calque.cli.help import GroupedCommand
from calque.cli.inputs import taken_in
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
from calque.cli.reports import wanted, write_runs
from calque.words.task import Words

if TYPE_CHECKING:
    from calque.evaluation.presentation.sections import Section
    from calque.evaluation.result import Result
    from calque.statistics.gates import Gates
    from calque.words.views import Runs


@click.command("words", cls=GroupedCommand)
@click.argument("truth", type=PATH)
@click.argument("predictions", nargs=-1, metavar="[PRED]...", type=PATH)
@task_options(Words)
@click.option("--show", metavar="DOC", help="Print ground truth and prediction of one document side by side.")
@click.option("--differences", is_flag=True, help="With --show: print only differences, with one line of context.")
@click.option("--removed", is_flag=True, help="List what clean-up removed from the ground truth.")
@interval_options
@jobs_option
@engine_options
@output_options
def command(truth: str, predictions: tuple[str, ...], show: str | None, differences: bool, removed: bool, **values: Any) -> int:
    """Evaluate OCR text: recall in order, precision, WER and CER.

    TRUTH and PRED are folders (documents pair by file stem) or files: text, hOCR, ALTO, PAGE XML, HTML, Tesseract TSV, one
    word per line (.seq), or tables docid, wordid, word (TSV, CSV, Parquet). With --lattice and no PRED, calque evaluates what
    each of its sources reads alone.

    \b
    calque words truth/ tesseract/
    calque words truth/ tesseract/ gocr/ ocrad/ --build-lattice
    calque words truth/ --lattice candidates/
    """
    if differences and show is None:
        raise click.UsageError("--differences is about --show DOC.")
    if not predictions and not values["lattice"]:
        raise click.UsageError("Missing argument 'PRED...': give what was read, or --lattice.")
    if len(predictions) == 1 and show is None and not removed:
        return evaluate(Words, truth, predictions[0], values)
    look = None if show is None and not removed else partial(_look, show=show, context=1 if differences else None)
    return _evaluate_runs(truth, predictions, values, look)


def _look(runs: Runs, *, show: str | None, context: int | None) -> Runs:
    """Print one document, or what clean-up took out; the runs that go on."""
    if show is None:
        return _print_removed(runs)
    _print_document(runs, show, context)
    return runs


def _evaluate_runs(truth: str, predictions: Sequence[str], values: dict[str, Any], look: Callable[[Runs], Runs] | None) -> int:
    """Several predictions of one truth, or one of which ``look`` shows something in place of its numbers; the exit code."""
    _without_shards(values)
    truth, *found = taken_in(truth, *predictions)
    task = task_from(Words, values)
    gates = gates_for(Words, values)
    resampling = intervals_from(values)
    report = wanted(values, values.pop("report"), values["jobs"])
    keep = what_to_keep(values, Words, everything=report is not None)
    if len(found) > 1 and values["save"] is not None:
        raise ConfigError("--save keeps the state of one PRED; evaluate several one by one")
    from calque.cli.progress import working
    from calque.cli.render import formats_of, shows_losses, with_intervals
    from calque.words import views

    jobs, quiet = values.pop("jobs"), values["quiet"]
    with working(f"evaluating {', '.join(found) or 'the lattice'}", quiet=quiet):
        runs = views.evaluated(task, truth, found, keep=keep if look is None else "outcomes", jobs=jobs)
    computed = {name: evaluator.compute() for name, evaluator in runs.evaluators.items()}
    evaluated = any(result.unevaluated is None for result in computed.values())
    if look is not None and evaluated:
        runs = look(runs)
    results = _judged({name: computed[name] for name in runs.evaluators}, gates, quiet=quiet)
    if look is None:
        shown = {name: with_intervals(result, resampling, jobs=jobs, quiet=quiet) for name, result in results.items()}
        _deliver(shown, values)
    write_runs(views.with_one_lattice(results), report, quiet=quiet)
    losses_are_shown = look is None and shows_losses(formats_of(values["format"], values["output"]), brief=values["brief"])
    if not quiet and not losses_are_shown and evaluated:
        exits.say_losses(results.values())
    return max(exits.code_of(result, quiet=quiet) for result in results.values())


def _without_shards(values: dict[str, Any]) -> None:
    """Refuse to keep shards of what is not evaluated by shards."""
    checkpoint, engine, scheduler = (values.pop(name) for name in ("checkpoint", "engine", "scheduler"))
    if checkpoint or engine != "here" or scheduler:
        raise ConfigError("--checkpoint and --engine are for one PRED; evaluate several one by one, and without --show")


def _judged(results: dict[str, Result], gates: Gates | None, *, quiet: bool) -> dict[str, Result]:
    """The results with what gates say of each; what fails is said at once."""
    if gates is not None:
        results = {name: gates.judge(result) for name, result in results.items()}
    for name, result in results.items():
        exits.say_first(result, quiet=quiet, name=name)
    return results


def _print_document(runs: Runs, document: str, context: int | None) -> None:
    """One document of every run beside its truth, and what its lattice offers."""
    from calque.cli.inputs import told
    from calque.cli.render import terminal_columns
    from calque.evaluation.presentation.sections import printable
    from calque.words import views

    for name, evaluator in runs.evaluators.items():
        lines = views.shown(evaluator.ledger(), document, name, columns=terminal_columns(), context=context)
        click.echo(click.style(told(printable(next(lines))), bold=True))
        for line in lines:
            click.echo(printable(line))
    _print_choices(views.chosen(runs, document))


def _print_choices(choices: Section | None) -> None:
    """Where the lattice has a choice, and what the best path takes there."""
    if choices is None:
        return
    from calque.cli.render import laid_out

    click.echo("\n" + laid_out([choices], "table"), nl=False)


def _print_removed(runs: Runs) -> Runs:
    """What clean-up took out of the truth, which all runs share: only the first goes on."""
    import json

    from calque.evaluation.presentation.sections import printable_json
    from calque.words import views

    name, evaluator = next(iter(runs.evaluators.items()))
    for entry in views.removed(evaluator.ledger()):
        click.echo(printable_json(json.dumps(entry, ensure_ascii=False)))
    return views.Runs({name: evaluator}, runs.lattices)


def _deliver(results: Mapping[str, Result], values: dict[str, Any]) -> None:
    """Several predictions of one truth: each one's block under ``runs``, the oracle beside them."""
    from calque.cli import outputs
    from calque.cli.inputs import told
    from calque.cli.render import FOR_PEOPLE, formats_of, with_numbers

    for path, kind in with_numbers(formats_of(values["format"], values["output"]), results.values()).items():
        printed = path == outputs.STDOUT and kind in FOR_PEOPLE  # stderr says which runs were not evaluated
        shown = {name: result for name, result in results.items() if not printed or result.unevaluated is None}
        outputs.put(path, map(told, _lines(shown, kind, brief=values["brief"])), quiet=values["quiet"])
    if values["annotations"]:
        outputs.put(outputs.STDOUT, map(told, _lines(results, "github", brief=False)))


def _lines(results: Mapping[str, Result], kind: str, *, brief: bool) -> Iterator[str]:
    from calque.cli.gates import FOR_SERVERS, for_servers
    from calque.cli.render import in_format
    from calque.words import views

    if kind in FOR_SERVERS:
        return for_servers(results, kind)
    return in_format(
        kind,
        lambda: views.tree(results),
        lambda: views.listed(results),
        lambda: views.rows(results),
        lambda: views.sections(results, brief=brief),
    )
