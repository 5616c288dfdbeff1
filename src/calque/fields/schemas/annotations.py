"""What the annotation of a field says of its type: Python's types in the words of the plain form."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel

from calque.base.errors import ConfigError
from calque.fields.schemas.sources import is_typed_dict


class Spoken(NamedTuple):
    """A type of the plain form, the class of the objects inside if there is one, and why it is that type."""

    type: str
    inner: Any = None
    evidence: str = ""


_BY_CLASS: tuple[tuple[Any, str], ...] = (
    (bool, "bool"), (int, "int"), (float, "float"), (Decimal, "amount"), (datetime, "datetime"), (date, "date"),
    (time, "time"), (UUID, "code"), (PurePath, "code"),
)  # fmt: skip
"""In this order: a truth value is a number in Python, and a moment is a day."""
_TOLD = {
    "amount": "a decimal number",
    "datetime": "a date with a time",
    "date": "a date",
    "time": "a time",
    "code": "an identifier",
}
NUMBER_OR_TEXT = "a number or text"
_NUMBERS = frozenset(("int", "float", "amount"))
_ADDRESSES = ("EmailStr", "NameEmail", "AnyUrl", "HttpUrl", "AnyHttpUrl", "FileUrl", "IPvAnyAddress", "PaymentCardNumber")


def spoken(annotation: Any, where: str) -> Spoken:
    """The plain type of an annotation."""
    annotation = _bare(annotation)
    options = _options(annotation)
    if len(options) > 1:
        return _of_several([spoken(each, where) for each in options])
    annotation = _bare(options[0]) if options else Any
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if _is_record(annotation):
        return Spoken("object", annotation)
    if annotation in (list, tuple, set, frozenset) or origin in (list, tuple, set, frozenset, Sequence):
        item = spoken(arguments[0] if arguments else Any, where)
        if item.inner is not None and item.type == "object":
            return Spoken("list[object]", item.inner)
        return Spoken(f"list[{item.type}]" if "[" not in item.type else "list[any]", None, item.evidence)
    return _leaf(annotation, origin, where)


def _choices(annotation: Any, origin: Any) -> list[Any] | None:
    """What a field can be, if the annotation lists it."""
    if origin is typing.Literal:
        return [each.value if isinstance(each, Enum) else each for each in typing.get_args(annotation)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [each.value for each in annotation]
    return None


def _leaf(annotation: Any, origin: Any, where: str) -> Spoken:
    choices = _choices(annotation, origin)
    if choices is not None:
        return _of_choices(choices)
    if annotation is Any or annotation is dict or origin in (dict, Mapping):
        return Spoken("any")
    if isinstance(annotation, type):
        if annotation.__name__ in _ADDRESSES:
            return Spoken("code", None, annotation.__name__)
        for kind, name in _BY_CLASS:
            if issubclass(annotation, kind):
                return Spoken(name, None, _TOLD.get(name, ""))
        if issubclass(annotation, str | bytes):
            return Spoken("str")
    raise ConfigError(f"{where}: {annotation!r} is not a type that can be compared; use str, int, float, bool, lists or models")


def _bare(annotation: Any) -> Any:
    """The annotation without what is only annotated."""
    while typing.get_origin(annotation) is typing.Annotated or isinstance(annotation, typing.TypeVar):
        annotation = typing.get_args(annotation)[0] if not isinstance(annotation, typing.TypeVar) else Any
    return annotation


def _options(annotation: Any) -> list[Any]:
    """The types of a union that say something: neither nothing nor anything; for others the type itself."""
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return [annotation]
    return [each for each in typing.get_args(annotation) if each is not type(None) and each is not Any]


def _is_record(annotation: Any) -> bool:
    if is_typed_dict(annotation):
        return True
    return isinstance(annotation, type) and (issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation))


def _of_several(options: Sequence[Spoken]) -> Spoken:
    kinds = {each.type for each in options}
    if len(kinds) == 1 and all(each.inner is options[0].inner for each in options):
        return options[0]
    if kinds == {"int", "float"}:
        return Spoken("float")
    if kinds <= _NUMBERS | {"str"} and kinds & _NUMBERS:
        return Spoken("amount", None, NUMBER_OR_TEXT)
    dated = kinds - {"str"}
    return (
        Spoken(dated.pop(), None, "a date or text")
        if len(dated) == 1 and dated <= {"date", "datetime", "time"}
        else Spoken("any")
    )


def _of_choices(choices: Sequence[Any]) -> Spoken:
    kinds = {type(each) for each in choices if each is not None}
    if kinds == {bool}:
        return Spoken("bool")
    return Spoken("int") if kinds == {int} else Spoken("code", None, "one of an enumeration")


HISTORIC = {"code": "str", "date": "str", "datetime": "str", "time": "str", "amount": "float", "text": "str"}
"""The types of stickler, which paired accounting takes where the class does not say how a field is compared."""
