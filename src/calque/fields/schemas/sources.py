"""Where schemas come from: the plain form, JSON Schema, classes, files and import names."""

from __future__ import annotations

import dataclasses
import json
import os
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from calque.base.errors import ConfigError
from calque.base.user_code import SOURCE, code_named
from calque.fields.schemas.leaf_types import Accounting, check_accounting
from calque.fields.schemas.plain_form import canonical


def schema_text(source: Any, where: str = "schema", *, accounting: Accounting = "complete") -> str:
    """The canonical spelling of a schema, whatever form it comes in; empty for none.

    What a JSON Schema or a class does not say of a field its type and its name do; in paired accounting its type alone.
    """
    check_accounting(accounting)
    if source is None or source == "":
        return ""
    if isinstance(source, type) and hasattr(source, "to_config"):
        return canonical(source.to_config(accounting), source.__name__)
    if isinstance(source, type):
        return from_mapping(json_schema_of(source), source.__name__, accounting=accounting)
    if isinstance(source, Mapping):
        return from_mapping(source, where, accounting=accounting)
    if isinstance(source, str | os.PathLike):
        return _from_text(os.fspath(source), accounting)
    raise TypeError(f"a schema is a mapping, a class, or the path of a file, not {type(source).__name__}")


def from_mapping(source: Mapping[str, Any], where: str, *, accounting: Accounting = "complete") -> str:
    """The canonical spelling of the plain form (it has ``fields``) or of a JSON Schema (it has ``properties``)."""
    if "fields" not in source and ("properties" in source or "$ref" in source or "$defs" in source):
        from calque.fields.schemas.json_schema import to_plain

        return canonical(to_plain(source, where, by_name=accounting == "complete"), where)
    return canonical(source, where)


@lru_cache(maxsize=64)
def _from_spelled(text: str, accounting: Accounting) -> str:
    return from_mapping(_parsed(text, "schema"), "schema", accounting=accounting)


def _from_text(text: str, accounting: Accounting) -> str:
    if text.lstrip().startswith("{"):
        return _from_spelled(text, accounting)
    place, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and (place.endswith(SOURCE) or all(part.isidentifier() for part in place.split("."))):
        return schema_text(
            code_named(place, name, what="class", fits=lambda found: isinstance(found, type)), accounting=accounting
        )
    try:
        with open(text, encoding="utf-8-sig") as file:
            content = file.read()
    except OSError as error:
        raise ConfigError(f"{text}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{text}: is not UTF-8 text") from None
    return from_mapping(_parsed(content, text), text, accounting=accounting)


def _parsed(text: str, where: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: line {error.lineno} column {error.colno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{where}: is nested too deeply to be read") from None
    except ValueError as error:  # whole numbers of thousands of digits
        raise ConfigError(f"{where}: holds a number that cannot be read: {error}") from None
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{where}: a schema is an object with 'fields' or 'properties'")
    return tree


def json_schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a class whose instances are records.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Invoice:
    ...     total: float
    >>> json_schema_of(Invoice)["properties"]["total"]["type"]
    'number'
    """
    from pydantic import BaseModel, PydanticUserError, TypeAdapter

    name = getattr(kind, "__name__", repr(kind))
    if not (is_typed_dict(kind) or dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel)):
        raise ConfigError(f"{name}: is no schema; it can be a pydantic model, a dataclass or a TypedDict")
    try:
        adapter = TypeAdapter(_readable(kind))
        named, spelled = (adapter.json_schema(by_alias=by_alias, mode="validation") for by_alias in (False, True))
    except (PydanticUserError, NameError) as error:
        raise ConfigError(f"{name}: {str(error).splitlines()[0]}") from None
    _add_aliases(named, spelled)
    return named


def _add_aliases(named: Any, spelled: Any) -> None:
    """Say of each property what it is called in the JSON, given the same schema with those names."""
    if isinstance(named, dict) and isinstance(spelled, dict):
        ours, theirs = named.get("properties"), spelled.get("properties")
        if isinstance(ours, dict) and isinstance(theirs, dict):
            for (name, node), alias in zip(ours.items(), theirs, strict=True):
                if name != alias:
                    node["x-calque-alias"] = alias
        pairs = zip(named.values(), spelled.values(), strict=False)
    else:
        pairs = zip(named, spelled, strict=False) if isinstance(named, list) else zip((), (), strict=True)
    for pair in pairs:
        _add_aliases(*pair)


def _readable(annotation: Any, within: tuple[Any, ...] = ()) -> Any:
    """The annotation with models for typed dictionaries, which pydantic does not read from every version of Python."""
    if annotation in within:
        return dict  # it refers to itself: a tree
    if is_typed_dict(annotation) or _is_plain_dataclass(annotation):
        from pydantic import create_model

        hints = typing.get_type_hints(annotation, include_extras=True)
        fields: dict[str, Any] = {name: (_readable(hint, (*within, annotation)), None) for name, hint in hints.items()}
        return create_model(annotation.__name__, **fields)
    arguments = typing.get_args(annotation)
    return _of_parts(annotation, arguments, within) if arguments else annotation


def _of_parts(annotation: Any, arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Any:
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return annotation
    if origin in (typing.Required, typing.NotRequired) or getattr(origin, "__name__", "") == "ReadOnly":
        return _readable(arguments[0], within)
    if origin is typing.Annotated:
        return typing.Annotated[(_readable(arguments[0], within), *arguments[1:])]
    inner = tuple(each if each is Ellipsis else _readable(each, within) for each in arguments)
    if origin is types.UnionType or origin is typing.Union:
        return typing.Union[inner]  # noqa: UP007  # made of parts
    return annotation if inner == arguments or origin is None else origin[inner]


def is_typed_dict(annotation: Any) -> bool:
    """Whether it is a `TypedDict`, also one of ``typing_extensions``, which pydantic wants before Python 3.12."""
    return isinstance(annotation, type) and issubclass(annotation, dict) and hasattr(annotation, "__required_keys__")


def _is_plain_dataclass(annotation: Any) -> bool:
    """Whether it is one of the standard library, which says no more than its types."""
    return (
        isinstance(annotation, type) and dataclasses.is_dataclass(annotation) and not hasattr(annotation, "__pydantic_fields__")
    )
