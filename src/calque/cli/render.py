"""A result in the format that was asked for: sheets for people, rows for programs; on stdout, or whole in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from calque.base.errors import ConfigError
from calque.cli import exits, outputs, reports
from calque.cli.gates import FOR_SERVERS, for_servers
from calque.cli.inputs import names_of_files, told
from calque.cli.reports import Wanted
from calque.evaluation.presentation.sections import Missing, Section, printable, printable_json, to_latex, to_markdown, to_text
from calque.evaluation.result import Result, on_one_line, strict_json
from calque.evaluation.task import Task

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator
    from calque.statistics.bootstrap import Resampling
    from calque.statistics.gates import Gates

FOR_PEOPLE = ("table", "markdown", "latex")
"""Formats that ``--brief`` shortens; the others are for programs, and whole."""
EXTENSIONS = {
    ".txt": "table", ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex", ".xml": "junit",
}  # fmt: skip
NO_NUMBER = "NA"
"""Undefined in CSV, as R and pandas read it; an empty cell is a column that a row does not have."""
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, in both widths."""
Sheet: TypeAlias = tuple[Callable[[], list[Section]], Callable[[str], Iterator[str]]]
"""What is shown: sections for people, and the text of each format in pieces that end with a line."""


def formats_of(chosen: str | None, output: Sequence[str]) -> dict[str, str]:
    """Each output with its format; without any, what standard output gets."""
    return outputs.formats(chosen, output, EXTENSIONS)


def check_wanted(kinds: Iterable[str], *, brief: bool, task: type[Task] | None = None) -> None:
    """Refuse before the work what no format can show."""
    for kind in kinds:
        if brief and kind not in (*FOR_PEOPLE, *FOR_SERVERS):
            raise ConfigError(f"--brief is for what people read ({', '.join(FOR_PEOPLE)}); {kind} is always whole")
        if kind == "template" and task is not None and task().view().template is None:
            raise ConfigError(f"the source document of {task.name} has no reporting template; use --format markdown")


def shows_losses(kinds: Mapping[str, str], *, brief: bool) -> bool:
    """Whether standard output gets a sheet in which people read what could not be evaluated."""
    return not brief and kinds.get(outputs.STDOUT) in FOR_PEOPLE


def deliver(
    evaluator: Evaluator,
    *,
    gates: Gates | None,
    resampling: Resampling | None = None,
    jobs: int = 1,
    format: str | None,
    output: Sequence[str],
    save: str | None,
    quiet: bool,
    brief: bool,
    annotations: bool,
    report: Wanted | None = None,
    look: Callable[[Result], Sheet | None] | None = None,
) -> int:
    """Hold the result against the gates, print or write it and its report, keep the state, and return the exit code."""
    evaluator.rename(names_of_files())
    result = with_intervals(evaluator.compute(), resampling, jobs=jobs, quiet=quiet)
    if gates is not None:
        result = gates.judge(result, jobs=jobs)
    exits.say_first(result, quiet=quiet)
    outputs.save(evaluator, save)
    reports.write(result, report, quiet=quiet)
    sections = result.brief if brief else result.sections
    own = look(result) if look is not None and result.unevaluated is None else None
    sheet = own or (sections, lambda kind: lines(result, kind, brief=brief))
    kinds = with_numbers(formats_of(format, output), [result])
    write_each(kinds, *sheet, quiet=quiet)
    if annotations:
        outputs.put(outputs.STDOUT, map(told, for_servers({"": result}, "github")))
    if not quiet and not shows_losses(kinds, brief=brief) and result.unevaluated is None:
        exits.say_losses([result])
    return exits.code_of(result, quiet=quiet)


def with_numbers(kinds: Mapping[str, str], results: Iterable[Result]) -> dict[str, str]:
    """Return the outputs to write: without a table on stdout when nothing was evaluated, because stderr says why."""
    if any(result.unevaluated is None for result in results):
        return dict(kinds)
    return {path: kind for path, kind in kinds.items() if path != outputs.STDOUT or kind not in (*FOR_PEOPLE, "template")}


def with_intervals(result: Result, resampling: Resampling | None, *, jobs: int, quiet: bool) -> Result:
    """The result, with intervals where they are asked for."""
    if resampling is None:
        return result
    from calque.cli.progress import working
    from calque.statistics import presentation

    with working("resampling documents", quiet=quiet):
        return presentation.with_intervals(result, resampling, jobs=jobs)


def write_each(
    kinds: Mapping[str, str], sections: Callable[[], list[Section]], rendered: Callable[[str], Iterator[str]], *, quiet: bool
) -> None:
    """Write a result to every output in its format; a table on a terminal is coloured."""
    for path, kind in kinds.items():
        if path == outputs.STDOUT and kind == "table" and sys.stdout.isatty():
            click.echo(told(coloured(sections())))
        else:
            outputs.put(path, map(told, rendered(kind)), quiet=quiet)


def lines(result: Result, kind: str, *, brief: bool = False) -> Iterator[str]:
    """The result as text, in pieces that end with a line."""
    if kind in FOR_SERVERS:
        return for_servers({"": result}, kind)
    return in_format(kind, result.to_dict, result.listed, result.spreadsheet, lambda: asked_for(result, kind, brief=brief))


def in_format(
    kind: str,
    tree: Callable[[], Mapping[str, Any]],
    listed: Callable[[], Iterable[Mapping[str, Any]]],
    rows: Callable[[], Sequence[Mapping[str, Any]]],
    sections: Callable[[], Sequence[Section]],
) -> Iterator[str]:
    """One of the four forms of some numbers as text: JSON, an object a line, CSV, or what people read."""
    if kind == "json":
        yield printable_json(strict_json(tree())) + "\n"
    elif kind == "jsonl":
        yield from map(json_line, listed())
    elif kind == "csv":
        yield as_csv(rows())
    else:
        yield laid_out(sections(), kind)


def asked_for(result: Result, kind: str, *, brief: bool) -> list[Section]:
    """The sections of a result that a format shows."""
    check_wanted([kind], brief=brief, task=type(result.task))
    if kind == "template":
        return result.template()
    return result.brief() if brief else result.sections()


def laid_out(sections: Sequence[Section], kind: str) -> str:
    """The sections in a format for people."""
    if kind in ("markdown", "template"):
        return to_markdown(sections)
    if kind == "latex":
        return to_latex(sections)
    return to_text(sections) + "\n"


def terminal_columns() -> int | None:
    """How wide the terminal is that stdout is; nothing where it is none, so that files and pipes get whole lines."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def coloured(sections: list[Section]) -> str:
    """The sections for a terminal: titles stand out, the signature steps back."""
    parts, columns = [], terminal_columns()
    for position, section in enumerate(sections):
        text = to_text([section], columns)
        if position == len(sections) - 1:
            text = click.style(text, dim=True)
        elif section.title:
            title, newline, rest = text.partition("\n")
            text = click.style(title, bold=True) + newline + rest
        parts.append(text)
    return "\n\n".join(parts)


def json_line(row: Mapping[str, Any]) -> str:
    """A row as one line of JSON, with nothing that a terminal would obey."""
    return printable_json(on_one_line(row)) + "\n"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV, with a line of names. No text of the data is a formula or commands a terminal."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = columns_of(rows)
    writer.writerow(csv_cell(name) for name in names)
    writer.writerows([csv_cell(spreadsheet_cell(row.get(name, ""))) for name in names] for row in rows)
    return text.getvalue()


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All columns of rows that have different ones, in the order in which they first occur; the signature is the last."""
    names = dict.fromkeys(name for row in rows for name in row)
    return sorted(names, key=lambda name: name == "signature")


def spreadsheet_cell(value: Any) -> Any:
    """A value of CSV: undefined is said, never left empty."""
    return NO_NUMBER if value is None or isinstance(value, Missing) else value


def csv_cell(value: Any) -> Any:
    """A value as it stands in CSV: a text that a spreadsheet would calculate gets an apostrophe in front, as people type it.

    >>> csv_cell("=1+1"), csv_cell("Table"), csv_cell(-0.5), csv_cell("-7")
    ("'=1+1", 'Table', -0.5, '-7')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
