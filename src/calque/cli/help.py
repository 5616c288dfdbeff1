"""Help pages: options in groups, rendered by rich-click when somebody asks for help."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

GROUPS: dict[str, tuple[str, ...]] = {
    "Common": (
        "--iou", "--schema", "--id", "--task", "--as", "--data", "--actual", "--expected", "--agreement", "--to", "--cer",
        "--show", "--compat", "--pair", "--labels", "--min-score", "--class-map", "--lattice", "--filter", "--tag",
        "--rerun-failed", "--names", "--keep", "--json-schema", "--intervals", "--fail-under", "--baseline", "--output",
        "--report", "--save", "--format", "--brief",
    ),
    "Input formats": (
        "--from-truth", "--from-pred", "--from", "--boxes", "--units", "--origin", "--page-size", "--on",
        "--document-key", "--class-map-truth", "--class-map-pred", "--metadata", "--allow-missing-scores", "--lenient",
        "--strict", "--columns", "--stem-pattern", "--source-separator", "--level", "--page-regions", "--alto-hyphens",
    ),
    "Statistics": ("--replicates", "--resample-seed", "--confidence", "--difference", "--shared-documents", "--primary"),
    "Output": (
        "--fail-over", "--tolerance", "--no-broken", "--annotations", "--images", "--report-size", "--sidecar", "--quiet",
        "--only-failed", "--documents", "--explain-schema",
        "--write-schema", "--differences", "--removed", "--suspects", "--version", "--help",
    ),
    "Execution": ("--jobs", "--checkpoint", "--engine", "--scheduler", "--cache", "--allow-commands", "--evaluator", "--seed"),
}  # fmt: skip
"""The group of each option, in the order in which help shows them. All other options are under Metrics."""
METRICS = "Metrics"
ORDER = ("Common", METRICS, "Input formats", "Statistics", "Output", "Execution")
COMMANDS = {
    "Evaluate": ("detect", "layout", "fields", "words", "tables", "order", "check"),
    "Compare and report": ("compare", "ceiling", "report", "merge", "bless"),
    "Prepare data": ("validate", "audit", "convert"),
    "Learn": ("explain", "demo"),
}
WIDEST = 120
"""How many columns a help page fills at most."""


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help page."""
        formatter.write(rendered(self, ctx))


def rendered(command: click.Command, ctx: click.Context, commands: Iterable[click.Command] = ()) -> str:
    """Return the help page of a command, or of a group with these commands."""
    from rich_click import RichCommand, RichContext, RichGroup, RichHelpConfiguration

    params = [_shortened(param) for param in command.get_params(ctx)]
    common: dict[str, Any] = {"params": params, "help": command.help, "add_help_option": False}
    listed = {each.name: each for each in commands if each.name is not None}
    shown = RichGroup(name=command.name, commands=listed, **common) if listed else RichCommand(name=command.name, **common)
    terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    configuration = RichHelpConfiguration(
        theme="default-slim",
        enable_theme_env_var=False,
        width=min(ctx.terminal_width or _columns(), WIDEST),
        color_system="auto" if terminal else None,
        force_terminal=terminal,
        show_arguments=False,
        commands_before_options=True,
        option_groups={ctx.command_path: [*_groups(command, ctx)]},
        command_groups={ctx.command_path: [{"name": name, "commands": [*names]} for name, names in COMMANDS.items()]},
        text_markup="ansi",
        text_paragraph_linebreaks="\n\n",
        options_table_column_types=["opt_long", "metavar", "help"],
        options_table_help_sections=["help", "default", "required"],
        default_string="\\[default: {}]",
        required_long_string="\\[required]",
        range_string="",
    )
    page = RichContext(shown, info_name=ctx.info_name, parent=ctx.parent, rich_help_config=configuration)
    lines = [line.rstrip() for line in shown.get_help(page).strip("\n").splitlines()]
    summary = (command.help or "").strip().partition("\n")[0]
    return "".join(f"{line}\n\n" if summary and summary in line else f"{line}\n" for line in lines)


def _shortened(param: click.Parameter) -> click.Parameter:
    """A copy of a parameter with a short placeholder; its help lists the choices."""
    if not isinstance(param, click.Option) or param.is_flag:
        return param
    param = copy.copy(param)
    if isinstance(param.type, click.Choice):
        choices = ", ".join(map(str, param.type.choices))
        default = f"; default: {param.default}" if param.show_default and param.default else ""
        about, separator, rest = (param.help or "").rstrip(".").partition("; ")
        param.metavar, param.show_default = "WORD", False
        param.help = f"{about}: {choices}{separator}{rest}{default}."
    elif param.metavar is None:
        param.metavar = "NUMBER"
    return param


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size((80, 24)).columns


def _groups(command: click.Command, ctx: click.Context) -> Iterator[Any]:
    """The groups of a command's options that are not empty, in order."""
    flags = [option.opts[-1] for option in command.get_params(ctx) if isinstance(option, click.Option)]
    group_of = {flag: name for name, known in GROUPS.items() for flag in known}
    for name in ORDER:
        inside = [flag for flag in flags if group_of.get(flag, METRICS) == name]
        rank = {flag: place for place, flag in enumerate(GROUPS.get(name, ()))}
        if inside:
            yield {
                "name": "Options" if set(inside) == set(flags) else name,
                "options": sorted(inside, key=lambda flag: rank.get(flag, len(rank))),
            }
