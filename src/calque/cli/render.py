"""A result in the format that was asked for, on stdout or whole in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from calque.cli import exits, outputs, reports
from calque.cli.gates import FOR_SERVERS, for_servers
from calque.cli.inputs import names_of_files, told
from calque.cli.reports import Wanted
from calque.cli.sheets import asked_for, check_wanted, columns_of, laid_out, shows_losses, spreadsheet_cell, terminal_columns
from calque.core.evaluator import Evaluator
from calque.core.presentation.sections import Section, printable, printable_json, to_text
from calque.core.result import Result

if TYPE_CHECKING:
    from calque.core.comparison.resample import Resampling
    from calque.core.gates.judging import Gates

EXTENSIONS = {
    ".txt": "table", ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex", ".xml": "junit",
}  # fmt: skip


FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, in both widths."""


Sheet: TypeAlias = tuple[Callable[[], list[Section]], Callable[[str], Iterator[str]]]
"""What is shown: sections for people, and the text of each format in pieces that end with a line."""


def formats_of(chosen: str | None, output: Sequence[str]) -> dict[str, str]:
    """Each output with its format; without any, what standard output gets."""
    return outputs.formats(chosen, output, EXTENSIONS)


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
    finish: Callable[[], None] | None = None,
) -> int:
    """Hold the result against the gates, print or write it and its report, keep the state, and return the exit code.

    ``finish`` waits for what is still being kept of the documents: where that fails, nothing is told of them.
    """
    evaluator.rename(names_of_files())
    result = with_intervals(evaluator.compute(), resampling, jobs=jobs, quiet=quiet)
    if gates is not None:
        result = gates.judged(result, jobs=jobs)
    if finish is not None:
        finish()
    exits.say_first(result, quiet=quiet)
    outputs.save(evaluator, save)
    reports.write(result, report, quiet=quiet)
    sections = result.brief if brief else result.sections
    sheet = (look(result) if look is not None else None) or (sections, lambda kind: lines(result, kind, brief=brief))
    kinds = formats_of(format, output)
    write_each(kinds, *sheet, quiet=quiet)
    if annotations:
        outputs.put(outputs.STDOUT, map(told, for_servers({"": result}, "github")))
    if not quiet and not shows_losses(kinds, brief=brief):
        exits.say_losses([result])
    return exits.code_of(result, quiet=quiet)


def with_intervals(result: Result, resampling: Resampling | None, *, jobs: int, quiet: bool) -> Result:
    """The result, with intervals where they are asked for."""
    if resampling is None:
        return result
    from calque.cli.progress import working
    from calque.core.comparison import presentation

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
    if kind == "json":
        yield printable_json(result.to_json()) + "\n"
    elif kind == "jsonl":
        import json

        encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
        for row in result.listed():
            yield printable_json(encode(row)) + "\n"
    elif kind == "csv":
        yield as_csv(result.spreadsheet())
    elif kind in FOR_SERVERS:
        yield from for_servers({"": result}, kind)
    else:
        check_wanted([kind], brief=brief, task=type(result.task))
        yield laid_out(asked_for(result, kind, brief=brief), kind)


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
