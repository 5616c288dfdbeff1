"""What ``calque fields`` shows in place of the numbers, or writes beside them: the schema, wrong values, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calque.cli.render import Sheet, as_csv, in_format, json_line
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.evaluation.result import Result
    from calque.fields.task import Fields


def schema_sheet(task: Fields) -> Sheet:
    """How each field is compared and why."""
    from calque.fields.schemas.explained import as_sections

    sections = as_sections(task.schema, task.accounting)
    fields = task.explain()
    return _sheet(sections, fields, {"accounting": task.accounting, "fields": fields})


def error_sheet(result: Result) -> Sheet:
    """Wrong values side by side with the true ones."""
    from calque.fields.failures import error_table

    rows = list(error_table(result).rows())
    shown = [
        (row["document"], row["truth_path"] or row["found_path"], row["kind"], row["truth"], row["prediction"]) for row in rows
    ]
    note = f"{len(rows):,} wrong value{'' if len(rows) == 1 else 's'}" if rows else "no value is wrong"
    sections = [
        *result.warning(),
        Section(
            title="Wrong values",
            head=("document", "path", "kind", "truth", "prediction"),
            rows=shown,
            notes=[note],
            left=range(5),
        ),
        Section(title="", notes=[str(result.signature)]),
    ]
    tree = {"task": "fields", "signature": str(result.signature), "errors": rows}
    return _sheet(sections, rows, tree)


def _sheet(sections: list[Section], rows: Sequence[Mapping[str, Any]], tree: Mapping[str, Any]) -> Sheet:
    return (lambda: sections), lambda kind: in_format(kind, lambda: tree, lambda: rows, lambda: rows, lambda: sections)


def document_lines(result: Result, path: str) -> Iterator[str]:
    """One line for each document: CSV where the name of the file says so, else an object a line."""
    from calque.fields.failures import document_table

    rows = list(document_table(result).rows())
    if path.lower().endswith(".csv"):
        yield as_csv(rows)
    else:
        for row in rows:
            yield json_line({**row, "wrong_fields": row["wrong_fields"].split(", ") if row["wrong_fields"] else []})
