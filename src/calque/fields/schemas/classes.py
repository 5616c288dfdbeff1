"""Classes of other people as schemas: pydantic models, dataclasses and typed dictionaries, through their JSON Schema."""

from __future__ import annotations

import dataclasses
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
        return TypeAdapter(kind).json_schema(by_alias=True, mode="validation")
    except (PydanticUserError, NameError) as error:
        raise ConfigError(f"{name}: {str(error).splitlines()[0]}") from None
