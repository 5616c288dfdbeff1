"""Where schemas come from: the plain form, JSON Schema, model classes, files and import names."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from calque.core.errors import ConfigError
from calque.fields.schema import canonical


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
        from calque.fields.json_schema import to_plain

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
