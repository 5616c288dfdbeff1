"""``calque fields``: extracted records."""

from __future__ import annotations

from typing import Any

import click

from calque.cli.options import jobs_option, output_options, task_from, task_options
from calque.fields.task import Fields


@click.command("fields")
@click.argument("truth", type=click.Path())
@click.argument("predictions", type=click.Path())
@click.option(
    "--schema", metavar="SCHEMA", help="A schema file (plain form or JSON Schema), or module:Class. Default: made from TRUTH."
)
@click.option("--id", "id_key", metavar="KEY", help="The key of a record's id. Default: doc_id, then id, else the line number.")
@task_options(Fields)
@jobs_option
@output_options
def command(truth: str, predictions: str, schema: str | None, id_key: str | None, **values: Any) -> int:
    """Evaluate PREDICTIONS against TRUTH: which fields are right, where they are, and what confidences are worth.

    Both are JSON, JSON Lines, or folders of JSON files. Values may be plain or {"_value": …, "_confidence": …, "_bbox": …}.

    \b
    calque fields truth.jsonl predictions.jsonl --schema invoice.json
    calque fields truth/ predictions/ --schema invoice.json --format json -o result.json
    """
    import dataclasses

    from calque.cli.progress import working
    from calque.cli.render import check_writable, deliver, format_of
    from calque.core.evaluator import Evaluator, Keep
    from calque.engines import kept
    from calque.fields.schemas.sources import infer_schema, schema_text
    from calque.readers.records import read_record_pair, read_records

    settings = task_from(Fields, values)
    assert isinstance(settings, Fields)  # noqa: S101  # it makes what it is given
    kind = format_of(values["format"], values["output"])
    check_writable(values["output"], values["save"])
    keep: Keep = "outcomes" if kind == "jsonl" or values["save"] is not None else "numbers"
    jobs = values.pop("jobs")
    with working(f"looking at {truth}", quiet=values["quiet"]):
        text = schema_text(infer_schema(read_records(truth, id_key=id_key)) if schema is None else schema)
    task = dataclasses.replace(settings, schema=text, keep_outcomes=keep == "outcomes")
    evaluator = Evaluator(task, keep=keep, jobs=jobs)
    with kept(jobs), working(f"evaluating {predictions}", quiet=values["quiet"], done=lambda: evaluator.done):
        declared = frozenset(task.plan().keys)
        evaluator.update(*read_record_pair(truth, predictions, declared=declared, id_key=id_key, strict=task.strict, jobs=jobs))
    return deliver(evaluator, **values)
