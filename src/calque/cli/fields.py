"""``calque fields``: extracted records, and how they are compared."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calque.base.errors import ConfigError
from calque.cli.evaluate import evaluate
from calque.cli.gates import FOR_SERVERS
from calque.cli.help import GroupedCommand
from calque.cli.options import (
    PATH,
    WRITTEN,
    engine_options,
    interval_options,
    jobs_option,
    output_options,
    task_from,
    task_options,
)
from calque.fields.task import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calque.cli.render import Sheet
    from calque.evaluation.result import Result


@click.command("fields", cls=GroupedCommand)
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH, required=False)
@task_options(Fields)
@click.option("--explain-schema", is_flag=True, help="Print how each field is compared and why; do not evaluate.")
@click.option("--write-schema", type=WRITTEN, metavar="FILE", help="Write the schema, with all inferred settings, to a file.")
@click.option("--errors", is_flag=True, help="List wrong values next to the true ones instead of metrics.")
@click.option("--documents", type=WRITTEN, metavar="FILE", help="Write one line per document: its score and its errors.")
@interval_options
@jobs_option
@engine_options
@output_options
def command(
    truth: str,
    predictions: str | None,
    explain_schema: bool,
    write_schema: str | None,
    errors: bool,
    documents: str | None,
    **values: Any,
) -> int:
    """Evaluate extracted records: values, boxes and confidences by field.

    TRUTH and PREDICTIONS are JSON, JSON Lines, or folders of JSON files. A value is plain, or
    {"_value": …, "_confidence": …, "_bbox": …}. Without --schema, calque infers how to compare each field from TRUTH.

    \b
    calque fields truth.jsonl predictions.jsonl
    calque fields truth.jsonl --explain-schema
    calque fields truth.jsonl predictions.jsonl --schema invoice.json
    """
    if explain_schema or (write_schema is not None and predictions is None):
        _check_alone(values, errors=errors, documents=documents)
        return _explain(truth, write_schema, values, shown=explain_schema)
    if predictions is None:
        raise click.UsageError("Missing argument 'PREDICTIONS'.")
    if errors and values["brief"]:
        raise click.UsageError("--errors lists every wrong value; --brief is for numbers. Give one of them.")
    look = partial(_look, errors, documents, values["quiet"])
    if write_schema is None:
        return evaluate(Fields, truth, predictions, values, look=look)
    from calque.cli.inputs import taken_in

    truth, predictions = taken_in(truth, predictions)
    task = _settled(truth, write_schema, values)
    values["schema"] = task.schema

    def look_at_same_truth(result: Result) -> Sheet | None:
        for path in _files(truth):
            task.check_unchanged(path)
        return look(result)

    return evaluate(Fields, truth, predictions, values, look=look_at_same_truth)


def _check_alone(values: dict[str, Any], **others: Any) -> None:
    """Refuse what needs an evaluation where there is none."""
    given = [f"--{name}" for name, value in {**others, "save": values["save"], "report": values.get("report")}.items() if value]
    if given:
        raise click.UsageError(f"{given[0]} needs an evaluation; give PREDICTIONS, and leave --explain-schema out.")


def _look(errors: bool, documents: str | None, quiet: bool, result: Result) -> Sheet | None:
    """Write what is wanted beside the numbers; the sheet that is wanted in their place."""
    if documents is not None:
        from calque.cli.field_sheets import document_lines
        from calque.cli.outputs import put

        put(documents, document_lines(result, documents), quiet=quiet)
    if not errors:
        return None
    from calque.cli.field_sheets import error_sheet

    return error_sheet(result)


def _settled(truth: str, write_schema: str | None, values: dict[str, Any]) -> Fields:
    """The task with its schema, written to a file if that was asked for."""
    from calque.cli.outputs import put, settle
    from calque.fields.schemas.explained import editable

    settle()
    task = task_from(Fields, dict(values)).resolved_over(_files(truth))
    if write_schema is not None:
        put(write_schema, [editable(task.schema, task.accounting)], quiet=values["quiet"])
    return task


def _files(truth: str) -> Sequence[str]:
    """Return the files that a path or a pattern names."""
    from calque.readers.sources.shards import found

    return found(truth) or (truth,)


def _explain(truth: str, write_schema: str | None, values: dict[str, Any], *, shown: bool) -> int:
    """Show the schema, or only save it."""
    from calque.cli import exits
    from calque.cli.inputs import taken_in
    from calque.cli.render import check_wanted, formats_of, write_each

    kinds = formats_of(values["format"], values["output"])
    check_wanted(kinds.values(), brief=values["brief"], task=Fields)
    if {*FOR_SERVERS} & {*kinds.values()}:
        raise ConfigError(f"{' and '.join(FOR_SERVERS)} tell what gates say of numbers, and a schema has none")
    (truth,) = taken_in(truth)
    task = _settled(truth, write_schema, values)
    if shown:
        from calque.cli.field_sheets import schema_sheet

        write_each(kinds, *schema_sheet(task), quiet=values["quiet"])
    return exits.FINE
