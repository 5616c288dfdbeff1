"""A result in the format that was asked for, on stdout or whole in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from calque.cli import exits
from calque.core.errors import ConfigError
from calque.core.evaluator import Evaluator
from calque.core.presentation.sections import Section, to_markdown, to_text
from calque.core.result import Result
from calque.core.storage.files import write_whole

EXTENSIONS = {".txt": "table", ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown"}


def format_of(chosen: str | None, output: str | None) -> str:
    """The format asked for: by name, by the file's extension, or a table."""
    if chosen is not None or output is None:
        return chosen or "table"
    from pathlib import PurePath

    extension = PurePath(output).suffix.lower()
    if extension not in EXTENSIONS:
        raise ConfigError(f"{output}: the extension {extension!r} names no format; use {', '.join(EXTENSIONS)} or --format")
    return EXTENSIONS[extension]


def check_writable(*paths: str | None) -> None:
    """Refuse before the work, not after it, when a file could not be written."""
    named = [path for path in paths if path is not None]
    if not named:
        return
    from pathlib import Path

    for path in named:
        if not Path(path).resolve().parent.is_dir():
            raise ConfigError(f"{path}: the folder {Path(path).parent} does not exist; make it, or write elsewhere")
    given = [Path(path).resolve() for path in named]
    if len(set(given)) < len(given):
        raise ConfigError(f"{given[0].name}: the result and the state cannot be the same file; name two")


def deliver(evaluator: Evaluator, *, format: str | None, output: str | None, save: str | None, quiet: bool) -> int:
    """Print or write the result, keep the state, and return the exit code."""
    result = evaluator.compute()
    exits.say_first(result)
    kind = format_of(format, output)
    if save is not None:
        evaluator.save(save)
    if output is not None:
        write_whole(output, "".join(lines(result, kind)).encode("utf-8", "backslashreplace"))
        if not quiet:
            click.echo(f"wrote {output}", err=True)
    elif kind == "table" and sys.stdout.isatty():
        click.echo(coloured(result.sections()))
    else:
        for line in lines(result, kind):
            click.echo(line, nl=False)
    return exits.code_of(result, quiet=quiet)


def lines(result: Result, kind: str) -> Iterator[str]:
    """The result as text, in pieces that end with a line."""
    if kind == "json":
        yield result.to_json() + "\n"
    elif kind == "jsonl":
        import json

        for row in result.listed():
            yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
    elif kind == "csv":
        yield as_csv(result.task.flat(result.numbers))
    elif kind == "markdown":
        yield to_markdown([*result.warning(), *result.task.report_sections(result.to_dict())])
    else:
        yield to_text(result.sections()) + "\n"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as CSV, with a line of names."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0].keys())
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def coloured(sections: list[Section]) -> str:
    """The sections for a terminal: titles stand out, the signature steps back."""
    parts = []
    for position, section in enumerate(sections):
        text = to_text([section])
        if position == len(sections) - 1:
            text = click.style(text, dim=True)
        elif section.title:
            title, newline, rest = text.partition("\n")
            text = click.style(title, bold=True) + newline + rest
        parts.append(text)
    return "\n\n".join(parts)
