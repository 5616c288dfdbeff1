"""What people read of a result, laid out as they asked: text, Markdown or LaTeX, and the cells of spreadsheets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calque.cli.gates import FOR_SERVERS
from calque.core.errors import ConfigError
from calque.core.presentation.sections import Missing, Section, to_markdown, to_text
from calque.core.result import Result
from calque.core.task import Task

FOR_PEOPLE = ("table", "markdown", "latex")
"""Formats that ``--brief`` shortens; the others are for programs, and whole."""
NO_NUMBER = "NA"
"""Undefined in CSV, as R and pandas read it; an empty cell is a column that a row does not have."""


def asked_for(result: Result, kind: str, *, brief: bool) -> list[Section]:
    """The sections of a result that a format shows."""
    if kind == "template":
        return result.template()
    return result.brief() if brief else result.sections()


def laid_out(sections: Sequence[Section], kind: str) -> str:
    """The sections in a format for people."""
    if kind in ("markdown", "template"):
        return to_markdown(sections)
    if kind == "latex":
        from calque.core.presentation.sections import to_latex

        return to_latex(sections)
    return to_text(sections) + "\n"


def check_wanted(kinds: Iterable[str], *, brief: bool, task: type[Task] | None = None) -> None:
    """Refuse before the work what no format can show."""
    for kind in kinds:
        if brief and kind not in (*FOR_PEOPLE, *FOR_SERVERS):
            raise ConfigError(f"--brief is for what people read ({', '.join(FOR_PEOPLE)}); {kind} is always whole")
        if kind == "template" and task is not None and task.report_sections is Task.report_sections:
            raise ConfigError(f"the source document of {task.name} has no reporting template; use --format markdown")


def shows_losses(kinds: Mapping[str, str], *, brief: bool) -> bool:
    """Whether standard output gets a sheet in which people read what could not be evaluated."""
    from calque.cli.outputs import STDOUT

    return not brief and kinds.get(STDOUT) in FOR_PEOPLE


def terminal_columns() -> int | None:
    """How wide the terminal is that stdout is; nothing where it is none, so that files and pipes get whole lines."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All columns of rows that have different ones, in the order in which they first occur; the signature is the last."""
    names = dict.fromkeys(name for row in rows for name in row)
    return sorted(names, key=lambda name: name == "signature")


def spreadsheet_cell(value: Any) -> Any:
    """A value of CSV: undefined is said, never left empty."""
    return NO_NUMBER if value is None or isinstance(value, Missing) else value
