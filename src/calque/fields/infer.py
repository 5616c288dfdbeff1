"""A schema made from examples: each field as general as the values that occur."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.errors import ConfigError
from calque.core.records import RecordCorpus
from calque.fields.rich import is_wrapper
from calque.fields.schema import DEEPEST

MOST_EXAMPLES = 1_000
"""How many documents are looked at."""


def infer_schema(corpus: RecordCorpus) -> dict[str, Any]:
    """The plain form of a schema that fits the first documents of a corpus.

    >>> from calque.readers.records import read_records
    >>> infer_schema(read_records([{"total": 1, "lines": [{"text": "a"}]}, {"total": 2.5, "lines": []}]))
    {'fields': {'total': {'type': 'float'}, 'lines': {'type': 'list[object]', 'fields': {'text': {'type': 'str'}}}}}
    """
    records = [corpus.record(position) for position in range(min(len(corpus), MOST_EXAMPLES))]
    fields = _fields([record for record in records if isinstance(record, Mapping)], 1)
    if not fields:
        raise ConfigError("no schema can be made from the truth: its documents have no values; give one with --schema")
    return {"fields": fields}


def _fields(records: list[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for record in records:
        for key, raw in record.items():
            values.setdefault(str(key), []).append(_bare(raw))
    return {
        key: _field([value for value in examples if value not in (None, "", [], {})], depth) for key, examples in values.items()
    }


def _bare(raw: Any) -> Any:
    while is_wrapper(raw):
        raw = raw.get("_value")
    return raw


def _field(examples: list[Any], depth: int) -> dict[str, Any]:
    if depth < DEEPEST and examples:
        if all(isinstance(value, Mapping) for value in examples):
            return _nested("object", _fields(examples, depth + 1))
        if all(isinstance(value, list) for value in examples):
            items = [item for value in examples for raw in value if (item := _bare(raw)) is not None]
            if items and all(isinstance(item, Mapping) for item in items):
                return _nested("list[object]", _fields(items, depth + 1))
            return {"type": f"list[{_leaf(items)}]"}
    return {"type": _leaf(examples)}


def _nested(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "fields": fields} if fields else {"type": "any" if kind == "object" else "list[any]"}


def _leaf(examples: list[Any]) -> str:
    kinds = {type(value) for value in examples}
    if not kinds <= {str, int, float, bool}:
        return "any"
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int"
    return "float" if kinds and kinds <= {int, float} else "str"
