"""Frames in: rows of pandas, polars or Arrow as records. One JSON against another in one call."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from calque.core.errors import ConfigError, ContractError
from calque.core.evaluator import Evaluator
from calque.core.result import Result
from calque.fields.comparison.one_document import Wanted, compare_documents, compare_pair
from calque.fields.schemas.inference import infer_schema
from calque.fields.schemas.sources import schema_text
from calque.fields.task import Fields
from calque.readers.records import as_json, read_records

SIDES = ("expected", "predicted")
"""The columns of a frame that has both sides: JSON objects, or their text."""


def compare_json(truth: Any, prediction: Any, schema: Any = None, **settings: Any) -> dict[str, Any]:
    """Compare one JSON object with another: ``field_scores``, ``overall_score``, ``field_comparisons``, ``confusion_matrix``.

    Without a schema (the plain form, a JSON Schema or a class) the truth decides how its fields are compared.

    >>> found = compare_json({"total": "$1,500.00", "due": "2024-03-05"}, {"total": 1500, "due": "6 March 2024"})
    >>> found["field_scores"]
    {'total': 1.0, 'due': 0.0}
    """
    accounting = settings.get("accounting", "complete")
    sides = [as_json(side) for side in (truth, prediction)]
    for name, side in zip(("truth", "prediction"), sides, strict=True):
        if not isinstance(side, Mapping):
            raise TypeError(f"the {name} must be a JSON object, not {type(side).__name__}")
    text = schema_text(
        infer_schema([read_records([sides[0]])], accounting) if schema is None else schema, accounting=accounting
    )
    pair = compare_pair(text, *sides, **settings)
    return compare_documents(pair, Wanted(True, True, True))


def evaluate_dataframe(truth: Any, predictions: Any = None, *, schema: Any = "", id: str = "", **settings: Any) -> Result:
    """Evaluate frames: two with a row for each document and a column for each field, or one with both sides.

    One frame has the columns ``expected`` and ``predicted``, JSON objects or their text, and perhaps ``doc_id``. The result's
    tables become frames again: ``result.outcomes().to_pandas()``, and `document_table`, `field_table` and `error_table`.
    """
    key = id
    if predictions is None:
        rows, key = records_of(truth, "the frame"), id or "doc_id"
        sides = [[_side(row, name, key, place) for place, row in enumerate(rows)] for name in SIDES]
        key = key if rows and key in rows[0] else ""
    else:
        sides = [records_of(truth, "the truth"), records_of(predictions, "the predictions")]
    return Evaluator(Fields(schema=schema, id=key, **settings)).update(*sides).compute()


def _side(row: Mapping[str, Any], name: str, key: str, place: int) -> dict[str, Any]:
    if name not in row:
        raise ConfigError(f"the frame has no column {name!r}; it has {', '.join(map(repr, row))}")
    record = from_text(row[name], f"row {place}: {name}")
    return {**record, key: row[key]} if key in row else dict(record)


def from_text(given: Any, where: str) -> Mapping[str, Any]:
    """A JSON object, given as such or as its text."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise ContractError.single("broken-record", f"is not JSON: {error}", pointer=where) from None
    if not isinstance(given, Mapping):
        raise ContractError.single("broken-record", f"holds {type(given).__name__}, not an object", pointer=where)
    return given


def records_of(frame: Any, what: str) -> list[dict[str, Any]]:
    """The rows of a frame of pandas, polars or Arrow as JSON objects; NaN is nothing."""
    columns = list(map(str, getattr(frame, "column_names", getattr(frame, "columns", ()))))
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{what}: the column {twice!r} is there twice; which of them is meant?")
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    elif hasattr(frame, "to_pylist"):
        rows = frame.to_pylist()
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        rows = frame.to_dict("records")
    else:
        raise TypeError(f"{what} must be a frame of pandas, polars or Arrow, not {type(frame).__name__}")
    return [{str(name): _json_value(value) for name, value in row.items()} for row in rows]


def _json_value(value: Any) -> Any:
    if hasattr(value, "tolist") and not isinstance(value, Mapping):
        value = value.tolist()  # numbers and lists of numpy
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_json_value(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, date | time):
        return value.isoformat() if value == value else None  # noqa: PLR0124  # pandas' NaT is not equal to itself
    return value if isinstance(value, str | int | bool | None) else str(value) if str(value) not in ("NaT", "<NA>") else None
