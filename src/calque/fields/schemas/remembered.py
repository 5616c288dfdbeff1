"""The JSON of a model: what it was made from, brought up to date with what it holds now, boxes and confidences kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from calque.fields.comparison.cells import is_wrapper


def plain_json(value: Any) -> Any:
    """A value of a model as JSON; models inside give theirs."""
    if hasattr(value, "raw_json"):
        return rewrapped(getattr(value, "_wrapper", None), value.raw_json())
    if isinstance(value, list | tuple | set):
        return [plain_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    return to_jsonable_python(value, by_alias=True)


def rewrapped(wrapper: Any, value: Any) -> Any:
    """A value in the wrapper that it came in: its box and confidence stay."""
    if not is_wrapper(wrapper):
        return value
    return {**wrapper, "_value": rewrapped(wrapper.get("_value"), value)}


def bare(raw: Any) -> Any:
    """JSON without the wrappers around it."""
    while is_wrapper(raw):
        raw = raw.get("_value")
    return raw


def updated(raw: Any, made: Any, now: Any) -> Any:
    """The JSON of a field, given what it was, the value that was made of it, and the value that it has now."""
    if hasattr(now, "raw_json"):
        new = rewrapped(raw, now.raw_json())
    elif isinstance(now, list) and isinstance(bare(raw), list):
        new = rewrapped(raw, _items(bare(raw), made, now))
    elif now is made or (type(now) is type(made) and now == made):
        return raw
    else:
        new = rewrapped(raw, plain_json(now))
    return raw if new == raw else new


def _items(raw: list[Any], made: Any, now: list[Any]) -> list[Any]:
    before = made if isinstance(made, list) else []
    new = []
    for index, item in enumerate(now):
        known = index < len(raw) and index < len(before)
        if hasattr(item, "raw_json"):
            new.append(plain_json(item))
        elif known and type(item) is type(before[index]) and item == before[index]:
            new.append(raw[index])
        else:
            new.append(rewrapped(raw[index] if known and len(now) == len(before) else None, plain_json(item)))
    return new
