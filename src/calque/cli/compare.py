"""``calque compare``: is one run better than another, by how much, how sure, and where?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from calque.base.errors import ConfigError, ContractError
from calque.cli import exits, outputs
from calque.cli.gates import FOR_SERVERS, OF_RUNS, gates_from, limit_options
from calque.cli.help import GroupedCommand
from calque.cli.options import (
    PATH,
    brief_option,
    checkpoint_option,
    completing,
    jobs_option,
    output_option,
    report_option,
    resampling_from,
    resampling_options,
    task_from,
    task_options,
)
from calque.cli.reports import image_options, wanted, write
from calque.cli.sharded import kept_in
from calque.evaluation.task import BUILT_IN, Task, settings, task_class

if TYPE_CHECKING:
    from calque.evaluation.presentation.sections import Section
    from calque.evaluation.result import Result
    from calque.evaluation.shards.checkpoint import Checkpoint
    from calque.evaluation.verdict import Verdict
    from calque.statistics.comparison import Comparison

VERBS_OF = {"detection": "detect", "checks": "check"}
"""Tasks whose verbs have another name."""
TASKS = tuple(dict.fromkeys([*BUILT_IN, *VERBS_OF.values()]))
FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex", *FOR_SERVERS)
EXTENSIONS = {
    ".txt": "table", ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex", ".xml": "junit",
}  # fmt: skip
Decorated = TypeVar("Decorated", bound=Any)

HELP = """Compare runs on the same documents: differences, intervals and tests.

    Give the ground truth and two or more runs, or states from --save, or a suite of checks and files with its cases. The
    first run is the base. The task follows from the files, or from --task, and its options apply (--iou, --schema).

    \b
    calque compare truth.json old.json new.json
    calque compare old.state new.state --format json
    calque compare truth.jsonl old.jsonl new.jsonl --schema invoice.json
    calque compare suite.yaml old.jsonl new.jsonl
    """


class ByTask(GroupedCommand):
    """A command that has the options of the task that its arguments name."""

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any) -> Any:
        """The context of the command for that task."""
        return command_of(chosen_task(args)).make_context(info_name, args, parent, **extra)


def chosen_task(args: Sequence[str]) -> str:
    """Return the task that ``--task`` names, or the one that the files and options belong to; detection as a last resort."""
    given = [arg.partition("=") for arg in args if arg.startswith("--")]
    for place, arg in enumerate(args):
        named = arg.partition("=")[2] if arg.startswith("--task=") else "".join(args[place + 1 : place + 2])
        if arg == "--task" or arg.startswith("--task="):
            return _by_name(named)
    if any(not arg.startswith("-") and arg.lower().endswith((".yaml", ".yml")) for arg in args[:1]):
        return "checks"
    flags = {flag for flag, _, _ in given}
    # Ceilings are compared by their states, which say what they are.
    own = {name: {note.flag for note in settings(_class(name)).values()} for name in BUILT_IN if name != "ceiling"}
    every = set().union(*own.values())
    fitting = [name for name in own if flags & every <= own[name]]
    return next((name for name in tasks_of_files(args) if name in fitting), next(iter(fitting), "detection"))


def tasks_of_files(args: Sequence[str]) -> list[str]:
    """Return the tasks that can evaluate every file among the arguments, the likeliest first; none when unclear.

    Text and tables are both in HTML: then only options or ``--task`` decide.
    """
    paths = [arg for before, arg in pairwise(["", *args]) if not before.startswith("-") and os.path.exists(arg)]
    if len(paths) < 2 or any(map(is_state, paths)):
        return []
    from calque.readers.sides.kinds import kind_of

    kinds = [kind_of(path) for path in paths]
    common = [command for command in (kinds[0].commands if kinds[0] else ()) if all(k and command in k.commands for k in kinds)]
    if common[:2] == ["tables", "words"]:
        flags = {arg.partition("=")[0] for arg in args if arg.startswith("--")}
        if not flags & {note.flag for name in ("tables", "words") for note in settings(_class(name)).values()}:
            raise ConfigError(f"{paths[0]}: contains tables and text; add --task tables or --task words")
    return [_by_name(command) for command in common if _by_name(command) in BUILT_IN]


def _by_name(named: str) -> str:
    """The task of that name, or of the verb of that name; click refuses what is neither."""
    return next((task for task, verb in VERBS_OF.items() if verb == named), named if named in BUILT_IN else "detection")


def _class(name: str) -> type[Task]:
    found = task_class(name)
    if found is None:
        raise ConfigError(f"no task is named {name!r}")
    return found


def command_of(name: str) -> click.Command:
    """The command with the options of one task."""
    task = _class(name)

    def command(sources: tuple[str, ...], **values: Any) -> int:
        return _run(task, sources, values)

    for decorate in reversed(_decorators(task)):
        command = decorate(command)
    return click.command("compare", cls=GroupedCommand, help=HELP)(command)


def _decorators(task: type[Task]) -> list[Any]:
    own = [] if task.name in ("checks", "ceiling") else [task_options(task)]
    return [
        click.argument("sources", nargs=-1, required=True, metavar="TRUTH RUN RUN...", type=PATH),
        click.option(
            "--task",
            "_task",
            type=click.Choice(TASKS),
            metavar="TASK",
            shell_complete=completing(TASKS),
            help="Task of the runs; default: detected from the files and options.",
        ),
        click.option("--names", metavar="A,B", help="Names of the runs; default: their file names."),
        click.option("--primary", multiple=True, metavar="METRIC", help="Metric to test. Repeatable."),
        click.option(
            "--difference",
            type=float,
            default=0.01,
            show_default=True,
            metavar="NUMBER",
            help="Difference for which to print the number of documents needed.",
        ),
        click.option("--shared-documents", is_flag=True, help="Compare only documents that all states have."),
        *own,
        click.option(
            "--baseline",
            type=PATH,
            metavar="STATE",
            help="State of the first run; exit with 1 if a main metric is significantly worse.",
        ),
        limit_options,
        resampling_options,
        jobs_option,
        checkpoint_option,
        click.option("--quiet", is_flag=True, help="No progress and no notes on stderr."),
        output_option,
        report_option,
        image_options,
        brief_option,
        click.option("--format", type=click.Choice(FORMATS), help="Output format; default: table."),
    ]


command = ByTask("compare", params=command_of("detection").params, help=HELP)


def _run(task: type[Task], sources: tuple[str, ...], values: dict[str, Any]) -> int:
    from calque.cli.inputs import taken_in
    from calque.cli.render import check_wanted
    from calque.statistics.gates import Gates

    kinds = outputs.formats(values["format"], values["output"], EXTENSIONS)
    check_wanted(kinds.values(), brief=values["brief"])
    if not values["difference"] > 0:
        raise ConfigError(f"--difference must be above 0, not {values['difference']}")
    resampling = resampling_from(values)
    gates = gates_from({name: values.pop(name) for name in OF_RUNS}) or Gates()
    names = None if values["names"] is None else [name.strip() for name in values["names"].split(",")]
    report = wanted(values, values.pop("report"), values["jobs"])
    outputs.settle()
    baseline = values.pop("baseline")
    with kept_in(values.pop("checkpoint"), quiet=values["quiet"]) as kept:
        results = _results(task, taken_in(*((baseline,) if baseline else ()), *sources), values, kept)
    if names is not None and len(names) != len(results):
        raise ConfigError(f"--names: there are {len(results)} runs and {len(names)} names")
    from calque.cli.progress import working
    from calque.statistics.comparison import compare

    with working("comparing", quiet=values["quiet"]):
        comparison = compare(
            list(results.values()),
            names or list(results),
            resampling=resampling,
            measures=gates.compared_metrics(*results.values()),
            primary=values["primary"],
            wanted=values["difference"],
            shared_documents=values["shared_documents"],
            jobs=values["jobs"],
        )
    write(comparison, report, quiet=values["quiet"])
    return _deliver(comparison, gates.judge_runs(comparison, has_baseline=baseline is not None), kinds, values)


def _results(task: type[Task], sources: Sequence[str], values: dict[str, Any], kept: Checkpoint | None) -> dict[str, Result]:
    """One result for each run, by the name of its file."""
    states = [is_state(source) for source in sources]
    if all(states):
        _refuse_settings(task)
        _need_two(sources)
        return _loaded(sources, values)
    if any(states):
        _need_files(sources)
        state, other = sources[states.index(True)], sources[states.index(False)]
        raise ConfigError(f"{state} is a state and {other} is none; compare states with states, or files with files")
    if task.name == "ceiling":
        raise ConfigError(
            "a ceiling is of several systems: make a state of each set with calque ceiling --save, and compare those"
        )
    _need_two(sources[1:])
    if task.name == "checks":
        return _judged(sources, values, kept)
    try:
        return _evaluated(task, sources, values, kept)
    except ContractError as error:
        from calque.readers.sides.kinds import reworded

        raise reworded(error, VERBS_OF.get(task.name, task.name)) from None


def is_state(path: str) -> bool:
    """Whether a file was saved with ``--save``; what cannot be opened is for the reader to tell of."""
    from calque.evaluation.storage.state import FAMILY

    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(FAMILY)) == FAMILY
    except OSError:
        return False


def _need_files(paths: Sequence[str]) -> None:
    for path in paths:
        if not os.path.exists(path):
            raise ConfigError(f"{path}: does not exist; check the path")


def _need_two(runs: Sequence[str]) -> None:
    if len(runs) < 2:
        alone = f"{runs[0]} is alone" if runs else "there is none"
        raise ConfigError(f"a comparison needs two runs or more, and {alone}: calque compare TRUTH A B, or A.state B.state")


def _refuse_settings(task: type[Task]) -> None:
    """States have their settings."""
    context = click.get_current_context()
    for name, note in settings(task).items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{note.flag}: states have the settings that they were made with.")


def run_names(paths: Sequence[str]) -> list[str]:
    """Each file by its name without extension, or by as much of its path as tells them all apart.

    >>> run_names(["old/a.json", "new/a.json"]), run_names(["runs/finder.json", "cropper.state"])
    (['old/a.json', 'new/a.json'], ['finder', 'cropper'])
    """
    from calque.base.wording import short_names

    stems = [os.path.splitext(os.path.basename(os.path.normpath(path)))[0] or path for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    short = short_names(list(dict.fromkeys(paths)))
    listed = [short[path] for path in paths]
    return listed if len(set(listed)) == len(listed) else [f"{name} ({place})" for place, name in enumerate(listed, 1)]


def _loaded(states: Sequence[str], values: dict[str, Any]) -> dict[str, Result]:
    from calque.cli.progress import working
    from calque.evaluation.evaluator import Evaluator

    results = {}
    with working("reading states", quiet=values["quiet"], steps=len(states), noun="state") as reading:
        for name, path in zip(run_names(states), states, strict=True):
            results[name] = Evaluator.load(path).compute()
            reading.advance()
    return results


def _judged(sources: Sequence[str], values: dict[str, Any], kept: Checkpoint | None) -> dict[str, Result]:
    from pathlib import Path

    from calque.checks.evaluators.custom import named_evaluators
    from calque.checks.suites.suite import Suite
    from calque.cli.progress import working

    suite, *data = sources
    registry: dict[str, Any] = dict(named_evaluators(Path()))
    with working(f"checking {suite}", quiet=values["quiet"]):
        return {
            name: Suite.load(suite, evaluators=registry, run=path).run(jobs=values["jobs"], checkpoint=kept)
            for name, path in zip(run_names(data), data, strict=True)
        }


def _evaluated(task: type[Task], sources: Sequence[str], values: dict[str, Any], kept: Checkpoint | None) -> dict[str, Result]:
    from calque.cli.inputs import told
    from calque.cli.progress import working
    from calque.evaluation.shards.cluster import evaluated_shard
    from calque.readers.sources.shards import Shard

    truth, *runs = sources
    chosen = task_from(task, values)
    results = {}
    for name, path in zip(run_names(runs), runs, strict=True):
        with working(told(f"evaluating {path}"), quiet=values["quiet"]):
            evaluator = evaluated_shard(chosen, Shard(truth, path), keep="outcomes", jobs=values["jobs"], kept=kept)
        results[name] = evaluator.compute()
    return results


def _deliver(comparison: Comparison, verdict: Verdict, kinds: dict[str, str], values: dict[str, Any]) -> int:
    from calque.cli.render import FOR_PEOPLE, shows_losses, write_each

    for name, result in comparison.results.items():
        exits.say_first(result, name=name)
    code = exits.GATE_FAILED if verdict.failures else exits.FINE
    if any(result.incomplete for result in comparison.results.values()):
        code = exits.INCOMPLETE
    exits.note_code(code)
    unevaluated = any(result.unevaluated is not None for result in comparison.results.values())
    if verdict.failures and not values["quiet"] and not unevaluated:
        exits.say_failures(verdict.failures)
    if unevaluated:
        kinds = {path: kind for path, kind in kinds.items() if path != outputs.STDOUT or kind not in FOR_PEOPLE}
    write_each(
        kinds,
        lambda: _sections(comparison, verdict, brief=values["brief"]),
        lambda kind: _lines(comparison, verdict, kind, brief=values["brief"]),
        quiet=values["quiet"],
    )
    if values["annotations"]:
        outputs.put(outputs.STDOUT, _lines(comparison, verdict, "github", brief=False))
    if not values["quiet"] and not unevaluated and not shows_losses(kinds, brief=values["brief"]):
        exits.say_losses(comparison.results.values())
    return code


def _sections(comparison: Comparison, verdict: Verdict, *, brief: bool) -> list[Section]:
    """What failed, the comparison, what holds, the signature."""
    from calque.evaluation.presentation.sections import noticed
    from calque.statistics import presentation

    *shown, signature = presentation.sections(comparison, brief=brief)
    issues = [] if brief else noticed(dict.fromkeys(issue for each in comparison.results.values() for issue in each.issues))
    return [*verdict.failure_sections(verdict.failures), *shown, *verdict.sections(), *issues, signature]


def _lines(comparison: Comparison, verdict: Verdict, kind: str, *, brief: bool) -> Iterator[str]:
    from calque.cli.gates import told_servers
    from calque.cli.render import in_format
    from calque.statistics import presentation

    if kind in FOR_SERVERS:
        runs = {name: result.whole() for name, result in comparison.results.items()}
        tests = [replace(test, name=f"{name}: {test.name}") for name, test in runs.items()]
        return told_servers([*verdict.tests("calque.compare.gate"), *tests], "calque compare", kind)
    return in_format(
        kind,
        lambda: _tree(comparison, verdict),
        lambda: presentation.listed(comparison),
        lambda: presentation.rows(comparison),
        lambda: _sections(comparison, verdict, brief=brief),
    )


def _tree(comparison: Comparison, verdict: Verdict) -> dict[str, Any]:
    """The JSON of a comparison, with what gates say of it before its last parts."""
    from calque.statistics import presentation

    tree = presentation.tree(comparison)
    last: dict[str, Any] = {key: tree.pop(key) for key in ("undefined", "issues") if key in tree}
    return {**tree, **verdict.to_dict(verdict.failures), **last}
