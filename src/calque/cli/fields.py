"""``calque fields``: extracted records, and how they are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calque.cli.evaluate import evaluate
from calque.cli.gates import FOR_SERVERS
from calque.cli.options import PATH, WRITTEN, interval_options, jobs_option, output_options, task_from, task_options
from calque.core.errors import ConfigError
from calque.fields.task import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command("fields")
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH, required=False)
@task_options(Fields)
@click.option("--explain-schema", is_flag=True, help="Show how each field is compared and why, in place of evaluating.")
@click.option("--write-schema", type=WRITTEN, metavar="FILE", help="Save the schema with all that was decided, for editing.")
@interval_options
@jobs_option
@output_options
def command(truth: str, predictions: str | None, explain_schema: bool, write_schema: str | None, **values: Any) -> int:
    """Evaluate PREDICTIONS against TRUTH: which fields are right, where they are, and what confidences are worth.

    Both are JSON, JSON Lines, or folders of JSON files. Values may be plain or {"_value": …, "_confidence": …, "_bbox": …}.
    Without --schema, types, names and the shape of the true values decide how fields are compared.

    \b
    calque fields truth.jsonl predictions.jsonl
    calque fields truth.jsonl --explain-schema
    calque fields truth.jsonl --write-schema invoice.json
    calque fields truth/ predictions/ --schema invoice.json --format json -o result.json
    """
    if explain_schema or (write_schema is not None and predictions is None):
        return _explain(truth, write_schema, values, shown=explain_schema)
    if predictions is None:
        raise click.UsageError("Missing argument 'PREDICTIONS'.")
    if write_schema is not None:
        from calque.cli.inputs import taken_in

        truth, predictions = taken_in(truth, predictions)
        values["schema"] = _settled(truth, write_schema, values).schema
    return evaluate(Fields, truth, predictions, values)


def _settled(truth: str, write_schema: str | None, values: dict[str, Any]) -> Fields:
    """The task with its schema, written to a file if that was asked for."""
    from calque.cli.outputs import put, settle
    from calque.fields.schemas.explained import editable

    settle()
    task = task_from(Fields, dict(values)).settled(truth)
    if write_schema is not None:
        put(write_schema, [editable(task.schema, task.accounting)], quiet=values["quiet"])
    return task


def _explain(truth: str, write_schema: str | None, values: dict[str, Any], *, shown: bool) -> int:
    """Show the schema, or only save it."""
    from calque.cli import exits
    from calque.cli.inputs import taken_in
    from calque.cli.render import formats_of, write_each
    from calque.cli.sheets import check_wanted

    kinds = formats_of(values["format"], values["output"])
    check_wanted(kinds.values(), brief=values["brief"], task=Fields)
    if {*FOR_SERVERS} & {*kinds.values()}:
        raise ConfigError(f"{' and '.join(FOR_SERVERS)} tell what gates say of numbers, and a schema has none")
    (truth,) = taken_in(truth)
    task = _settled(truth, write_schema, values)
    if shown:
        from calque.fields.schemas.explained import as_sections

        write_each(
            kinds, lambda: as_sections(task.schema, task.accounting), lambda kind: _rendered(task, kind), quiet=values["quiet"]
        )
    return exits.FINE


def _rendered(task: Fields, kind: str) -> Iterator[str]:
    """The explanation as text, in pieces that end with a line."""
    from calque.cli.render import as_csv
    from calque.cli.sheets import laid_out
    from calque.core.presentation.sections import printable_json
    from calque.core.result import strict_json
    from calque.fields.schemas.explained import as_sections

    if kind == "json":
        yield printable_json(strict_json({"accounting": task.accounting, "fields": task.explain()})) + "\n"
    elif kind == "jsonl":
        for row in task.explain():
            yield printable_json(json.dumps(row, ensure_ascii=False)) + "\n"
    elif kind == "csv":
        yield as_csv(task.explain())
    else:
        yield laid_out(as_sections(task.schema, task.accounting), kind)
