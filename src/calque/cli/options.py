"""Command-line options, made from the settings of a task and shared between verbs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calque.cli.gates import gate_options
from calque.cli.outputs import Named, Written, WrittenPage
from calque.cli.reports import image_options
from calque.evaluation.task import Setting, Task, settings

if TYPE_CHECKING:
    from calque.evaluation.boxes.reading import BoxReading

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
SomeTask = TypeVar("SomeTask", bound=Task)

PATH, FILE = Named(allow_dash=True), Named(dir_okay=False, allow_dash=True)
WRITTEN = Written(dir_okay=False, allow_dash=True)
PAGE = WrittenPage(dir_okay=False, allow_dash=True)
FOLDER = Written(file_okay=False)
"""Made once: click looks for a translation of each one's name in a score of folders."""


def _numbers(uses: tuple[str, ...], flag: str) -> tuple[float, ...]:
    """``0.5 0.75`` or ``0.5,0.75``."""
    try:
        return tuple(float(part) for use in uses for part in use.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{', '.join(uses)} is not a number or a list of numbers such as 0.5,0.75", param_hint=flag
        ) from None


def _words(uses: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for use in uses for word in use.split(",") if word.strip())


def _weights(uses: tuple[str, ...], flag: str) -> tuple[tuple[str, float], ...]:
    """``Table=2``."""
    try:
        pairs = [use.rpartition("=") for use in uses]
        return tuple((name, float(weight)) for name, _, weight in pairs)
    except ValueError:
        raise click.BadParameter(f"{', '.join(uses)} is not NAME=WEIGHT, such as Table=2", param_hint=flag) from None


def completing(words: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """For shells: those of the words that begin as what is typed."""
    return lambda _context, _parameter, typed: [word for word in words if word.startswith(typed)]


def task_options(task: type[Any]) -> Callable[[Decorated], Decorated]:
    """A decorator that gives a command one option for each setting of a task, or of anything else that has settings."""
    defaults = {field.name: field.default for field in dataclasses.fields(task)}

    def decorate(command: Decorated) -> Decorated:
        for name, note in reversed(settings(task).items()):
            command = _option(name, note, defaults[name])(command)
        return command

    return decorate


def slice_options(command: Decorated) -> Decorated:
    """``--by`` and ``--metadata``, for a command that does not take all settings of its task."""
    for name in ("metadata", "by"):
        command = _option(name, settings(Task)[name], () if name == "by" else "")(command)
    return command


def slices_from(values: dict[str, Any]) -> dict[str, Any]:
    """The settings that these options give, taken out of their values."""
    return {"by": _words(values.pop("by")), "metadata": values.pop("metadata")}


def _option(name: str, note: Setting, default: Any) -> Callable[[Decorated], Decorated]:
    arguments: dict[str, Any] = {"help": note.help, **_looks(note, default)}
    if note.metavar:
        arguments["metavar"] = note.metavar
    if note.bare is not None:
        arguments |= {"is_flag": False, "flag_value": note.bare}
    return click.option(note.flag, name, **arguments)


def _formats() -> tuple[str, ...]:
    from calque.evaluation.boxes.reading import BOX_FORMATS

    return BOX_FORMATS


def _looks(note: Setting, default: Any) -> dict[str, Any]:
    """What click has to know of a setting of each kind."""
    number = {"default": default, "show_default": default is not None and note.bare is None}
    if note.kind == "numbers" and default:
        shown = [str(number) for number in default]
        shown = shown if len(shown) <= 4 else [*shown[:2], "…", shown[-1]]
        return {"multiple": True, "metavar": "NUMBER", "help": f"{note.help} [default: {','.join(shown)}]"}
    looks: dict[str, dict[str, Any]] = {
        "numbers": {"multiple": True, "metavar": "NUMBER"},
        "number": {"type": float, **number},
        "count": {"type": int, **number},
        "word": {
            "default": default,
            "metavar": "WORD",
            "shell_complete": completing(_formats() if note.metavar == "FORMAT" else ()),
        },
        "words": {"multiple": True, "metavar": "A,B"},
        "uses": {"multiple": True, "metavar": "WORD"},
        "weights": {"multiple": True, "metavar": "NAME=WEIGHT"},
        "choice": {"type": click.Choice(note.choices) if note.choices else None, "default": default, "show_default": True},
        "switch": {"is_flag": True},
        "file": {"type": FILE, "default": "", "metavar": "FILE"},
        "path": {"type": PATH, "default": "", "metavar": "PATH"},
    }
    return looks[note.kind]


def task_from(task: type[SomeTask], values: dict[str, Any]) -> SomeTask:
    """The task that the options describe."""
    return task(**_chosen(task, values))


def _chosen(holder: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """The settings that the options give, taken out of their values."""
    chosen: dict[str, Any] = {}
    for name, note in settings(holder).items():
        value = values.pop(name)
        if note.kind in ("file", "path") and not value:
            continue
        if note.kind == "numbers":
            value = _numbers(value, note.flag)
        elif note.kind == "words":
            value = _words(value)
        elif note.kind == "weights":
            value = _weights(value, note.flag)
        if value != ():
            chosen[name] = value
    return chosen


def box_options(command: Decorated) -> Decorated:
    """One option for each setting that says how the boxes of two sides are read, as on the tasks."""
    from calque.evaluation.boxes.reading import BoxReading

    notes = settings(BoxReading)
    for field in reversed(dataclasses.fields(BoxReading)):
        command = _option(field.name, notes[field.name], field.default)(command)
    return command


def box_reading(values: dict[str, Any]) -> BoxReading:
    """How boxes are read, taken out of the options' values."""
    from calque.evaluation.boxes.reading import BoxReading

    return BoxReading(**_chosen(BoxReading, values))


READING = ("document_key", "lenient", "boxes", "units", "origin", "page_size")
"""The settings that say how any one file is read."""


def reading_options(command: Decorated) -> Decorated:
    """One option for each setting that says how a file is read, as on the tasks."""
    from calque.evaluation.boxes.reading import BoxReading

    notes = settings(BoxReading)
    for field in reversed(dataclasses.fields(BoxReading)):
        if field.name in READING:
            command = _option(field.name, notes[field.name], field.default)(command)
    return command


def reading_rules(values: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `calque.read` that these options describe."""
    rules = {name: values[name] or None for name in READING}
    rules["lenient"] = bool(values["lenient"])
    rules["page_size"] = _numbers(values["page_size"], "--page-size") or None
    return rules


def jobs_option(command: Decorated) -> Decorated:
    """``--jobs``: how many threads or processes work."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=os.cpu_count() or 1,
        help="Number of workers; does not change the result. [default: all cores]",
    )(command)


def checkpoint_option(command: Decorated) -> Decorated:
    """``--checkpoint``: where what is finished is kept."""
    return click.option(
        "--checkpoint",
        type=FOLDER,
        metavar="DIR",
        help="Folder for finished work; the same command resumes from it.",
    )(command)


def engine_options(command: Decorated) -> Decorated:
    """``--checkpoint``, ``--engine`` and ``--scheduler``: how and where many shards are evaluated."""
    engine = click.option(
        "--engine", type=click.Choice(("here", "dask")), default="here", show_default=True, help="Engine that evaluates shards."
    )
    scheduler = click.option("--scheduler", metavar="ADDRESS", help="Scheduler of a dask cluster; default: a local cluster.")
    return checkpoint_option(engine(scheduler(command)))


RESAMPLING = {"replicates": 2000, "resample_seed": 0, "confidence": 0.95}
"""The options that say how documents are resampled, and what they are when nobody gives them."""


def resampling_options(command: Decorated) -> Decorated:
    """``--replicates``, ``--resample-seed`` and ``--confidence``: how sure numbers are, by resampling documents."""
    help = {
        "replicates": (int, "Bootstrap replicates"),
        "resample_seed": (int, "Seed of the bootstrap"),
        "confidence": (float, "Confidence level of intervals and tests"),
    }
    for name, default in reversed(RESAMPLING.items()):
        kind, text = help[name]
        flag = "--" + name.replace("_", "-")
        command = click.option(flag, name, type=kind, metavar="NUMBER", help=f"{text}. [default: {default}]")(command)
    return command


def interval_options(command: Decorated) -> Decorated:
    """``--intervals``, and how they are made."""
    text = "Add confidence intervals (bootstrap)."
    return click.option("--intervals", is_flag=True, help=text)(resampling_options(command))


def resampling_from(values: dict[str, Any]) -> Any:
    """How documents are resampled, taken out of the options' values."""
    from calque.statistics.bootstrap import Resampling

    given = {name: values.pop(name) for name in RESAMPLING}
    chosen: dict[str, Any] = {name: default if given[name] is None else given[name] for name, default in RESAMPLING.items()}
    return Resampling(chosen["replicates"], chosen["resample_seed"], chosen["confidence"])


def intervals_from(values: dict[str, Any]) -> Any:
    """How intervals are made, if they are asked for; options about them that nobody needs are refused."""
    if values.pop("intervals"):
        return resampling_from(values)
    given = ["--" + name.replace("_", "-") for name in RESAMPLING if values.pop(name) is not None]
    if given and not click.get_current_context().params.get("baseline"):
        raise click.UsageError(f"{given[0]} is about --intervals and --baseline.")
    return None


save_option = click.option("--save", type=WRITTEN, metavar="STATE", help="Save the state for merge, compare and report.")
output_option = click.option(
    "-o",
    "--output",
    multiple=True,
    type=WRITTEN,
    metavar="FILE",
    help="Output file (-o); its extension sets the format.",
)

report_option = click.option("--report", type=PAGE, metavar="FILE", help="Write an HTML report.")
brief_option = click.option("--brief", is_flag=True, help="Print one sentence and the main metrics.")


def output_options(command: Decorated) -> Decorated:
    """``--format``, ``--brief``, ``-o``, ``--save``, ``--report``, ``--quiet`` and gates, as on every verb with a result."""
    for option in (
        gate_options,
        image_options,
        report_option,
        click.option("--quiet", is_flag=True, help="No progress and no notes on stderr."),
        save_option,
        output_option,
        brief_option,
        click.option(
            "--format",
            type=click.Choice(("table", "json", "jsonl", "csv", "markdown", "latex", "template", "junit", "github")),
            help="Output format; default: table.",
        ),
    ):
        command = option(command)
    return command
