"""Frames in: rows of pandas, polars or Arrow as records. One JSON against another in one call."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError, ContractError
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.result import Result
from calque.fields.comparison.one_document import Wanted, compare_documents, compare_pair
from calque.fields.schemas.inference import infer_schema
from calque.fields.schemas.sources import schema_text
from calque.fields.task import Fields
from calque.readers.records import as_json, read_records

SIDES = ("expected", "predicted")
"""The columns of a frame that has both sides: JSON objects, or their text."""


@renamed_arguments(prediction="predictions")
def compare_json(truth: Any, predictions: Any, schema: Any = None, **settings: Any) -> dict[str, Any]:
    """Compare the JSON object of one document with its ground truth.

    Args:
        truth: The ground-truth object, or its JSON text.
        predictions: The predicted object, or its JSON text.
        schema: The schema: the plain form, a JSON Schema or a `StructuredModel` class. By default calque infers it from the
            ground truth.
        settings: Other settings of `Fields`, such as ``accounting="paired"``.

    Returns:
        A dict with ``field_scores``, ``overall_score``, ``field_comparisons`` and ``confusion_matrix``.

    Raises:
        TypeError: A side is not a JSON object.
        ConfigError: The schema or a setting is not valid.

    >>> comparison = compare_json({"total": "$1,500.00", "due": "2024-03-05"}, {"total": 1500, "due": "6 March 2024"})
    >>> comparison["field_scores"]
    {'total': 1.0, 'due': 0.0}
    """
    accounting = settings.get("accounting", "complete")
    sides = [as_json(side) for side in (truth, predictions)]
    for name, side in zip(("truth", "predictions"), sides, strict=True):
        if not isinstance(side, Mapping):
            raise TypeError(f"compare_json: {name} must be a JSON object, got {type(side).__name__}. Pass a dict or JSON text.")
    text = schema_text(
        infer_schema([read_records([sides[0]])], accounting) if schema is None else schema, accounting=accounting
    )
    pair = compare_pair(text, *sides, **settings)
    return compare_documents(pair, Wanted(True, True, True))


def evaluate_dataframe(truth: Any, predictions: Any = None, *, schema: Any = "", id: str = "", **settings: Any) -> Result:
    """Evaluate data frames of pandas, polars or Arrow.

    Pass two frames with one row per document and one column per field. Or pass one frame with the columns ``expected`` and
    ``predicted``, which contain JSON objects or their text, and optionally ``doc_id``.

    Args:
        truth: The frame of the ground truth, or the frame that has both sides.
        predictions: The frame of the predictions, unless ``truth`` has both sides.
        schema: The schema: the plain form, a JSON Schema or a `StructuredModel` class. By default calque infers it.
        id: The column that names the document of a row.
        settings: Other settings of `Fields`, such as ``accounting="paired"``.

    Returns:
        The result. `document_table`, `field_table`, `error_table` and ``result.outcomes()`` make tables of it, which
        ``to_pandas()`` and ``to_polars()`` turn into frames.

    Raises:
        TypeError: A side is not a frame.
        ConfigError: A column is missing or exists twice, or a setting is not valid.

    >>> import polars
    >>> truth = polars.DataFrame({"id": ["a", "b"], "total": [12.5, 8.0]})
    >>> predictions = polars.DataFrame({"id": ["a", "b"], "total": [12.5, 9.0]})
    >>> evaluate_dataframe(truth, predictions, id="id")["cm_accuracy"]
    0.5
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
