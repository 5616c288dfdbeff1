"""Classes of other people as schemas: pydantic models, dataclasses and typed dictionaries, through their JSON Schema."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from calque.core.errors import ConfigError


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
    if not (typing.is_typeddict(kind) or dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel)):
        raise ConfigError(f"{name}: is no schema; it can be a pydantic model, a dataclass or a TypedDict")
    try:
        return TypeAdapter(_readable(kind)).json_schema(by_alias=True, mode="validation")
    except (PydanticUserError, NameError) as error:
        raise ConfigError(f"{name}: {str(error).splitlines()[0]}") from None


def _readable(annotation: Any) -> Any:
    """The annotation with models for typed dictionaries, which pydantic does not read from every version of Python."""
    if typing.is_typeddict(annotation):
        from pydantic import create_model

        hints = typing.get_type_hints(annotation, include_extras=True)
        fields: dict[str, Any] = {name: (_readable(hint), None) for name, hint in hints.items()}
        return create_model(annotation.__name__, **fields)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Required, typing.NotRequired):
        return _readable(arguments[0])
    if origin is types.UnionType or origin is typing.Union:
        return typing.Union[tuple(map(_readable, arguments))]  # noqa: UP007  # made of parts
    return list[_readable(arguments[0])] if origin is list else annotation  # type: ignore[misc]  # made of parts
