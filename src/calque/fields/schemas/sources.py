"""Where schemas come from: the plain form, JSON Schema, model classes, files and import names, or the examples themselves."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from calque.core.errors import ConfigError
from calque.core.record_corpus import RecordCorpus
from calque.fields.comparison.cells import is_wrapper
from calque.fields.schemas.plain_form import DEEPEST, canonical

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


def schema_text(source: Any, where: str = "schema") -> str:
    """The canonical spelling of a schema, whatever form it comes in; empty for none."""
    if source is None or source == "":
        return ""
    if isinstance(source, type) and hasattr(source, "to_config"):
        return canonical(source.to_config(), source.__name__)
    if isinstance(source, Mapping):
        return from_mapping(source, where)
    if isinstance(source, str | os.PathLike):
        return _from_text(os.fspath(source))
    raise TypeError(f"a schema is a mapping, a StructuredModel class, or the path of a file, not {type(source).__name__}")


def from_mapping(source: Mapping[str, Any], where: str) -> str:
    """The canonical spelling of the plain form (it has ``fields``) or of a JSON Schema (it has ``properties``)."""
    if "fields" not in source and ("properties" in source or "$ref" in source or "$defs" in source):
        from calque.fields.schemas.json_schema import to_plain

        return canonical(to_plain(source, where), where)
    return canonical(source, where)


@lru_cache(maxsize=64)
def _from_spelled(text: str) -> str:
    return from_mapping(_parsed(text, "schema"), "schema")


def _from_text(text: str) -> str:
    if text.lstrip().startswith("{"):
        return _from_spelled(text)
    module, colon, name = text.partition(":")
    if colon and name.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        return _from_class(text, module, name)
    try:
        content = Path(text).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{text}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{text}: is not UTF-8 text") from None
    return from_mapping(_parsed(content, text), text)


def _parsed(text: str, where: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: line {error.lineno} column {error.colno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{where}: is nested too deeply to be read") from None
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{where}: a schema is an object with 'fields' or 'properties'")
    return tree


def _from_class(text: str, module: str, name: str) -> str:
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{text}: cannot be imported: {error}") from None
    if not (isinstance(found, type) and hasattr(found, "to_config")):
        raise ConfigError(f"{text}: is not a StructuredModel class")
    return schema_text(found)
