"""Comparators by name, as schemas write them."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from calque.comparators.base import BaseComparator, FunctionComparator
from calque.core.errors import ConfigError, did_you_mean

BUILT_IN = {
    "anls": ("anls", "ANLSComparator"),
    "anls_star": ("anls", "ANLSStarComparator"),
    "bbox_iou": ("box", "BBoxIoUComparator"),
    "date": ("date", "DateComparator"),
    "exact": ("text", "ExactComparator"),
    "fuzzy": ("text", "FuzzyComparator"),
    "ignore": ("choice", "IgnoreComparator"),
    "levenshtein": ("text", "LevenshteinComparator"),
    "normalized": ("text", "NormalizedComparator"),
    "numeric": ("numeric", "NumericComparator"),
    "one_of": ("choice", "OneOfComparator"),
    "phone": ("phone", "PhoneComparator"),
}
"""The comparators that come with calque: their module here, and their class."""

_REGISTERED: dict[str, Callable[..., BaseComparator]] = {}

Registered = TypeVar("Registered", bound=Callable[..., Any])


def register_comparator(name: str, comparator: Registered) -> Registered:
    """Make a comparator class, or a plain function of two values, known to schemas under a name.

    >>> _ = register_comparator("same_length", lambda truth, found: float(len(truth) == len(found)))
    >>> comparator("same_length").compare("abc", "xyz")
    1.0
    """
    if name in BUILT_IN:
        raise ConfigError(f"the comparator {name!r} comes with calque and cannot be replaced; choose another name")
    if isinstance(comparator, type) and issubclass(comparator, BaseComparator):
        _REGISTERED[name] = comparator
    elif callable(comparator):
        function: Any = comparator
        _REGISTERED[name] = partial(FunctionComparator, function=function, label=name)
    else:
        raise TypeError(f"{name}: a comparator is a class derived from BaseComparator or a function of two values")
    return comparator


def names() -> list[str]:
    """All comparators that schemas can name."""
    return sorted({*BUILT_IN, *_REGISTERED})


def named_in(schema: str) -> dict[str, Callable[..., BaseComparator]]:
    """The registered comparators that a schema may name, for a process that does not know them yet."""
    return {name: made for name, made in _REGISTERED.items() if json.dumps(name, ensure_ascii=False) in schema}


def adopt(comparators: Mapping[str, Callable[..., BaseComparator]]) -> None:
    """Know what was registered in another process."""
    _REGISTERED.update(comparators)


def comparator(name: str, params: Mapping[str, Any] | None = None, threshold: float | None = None) -> BaseComparator:
    """The comparator of a name, with options. Class names work as well.

    >>> comparator("numeric", {"absolute_tolerance": 0.01})
    NumericComparator(threshold=None, relative_tolerance=0.0, absolute_tolerance=0.01, decimal_comma=False, tolerance=None)
    """
    make = _maker(name)
    options = dict(params or {})
    known = {field.name: str(field.type) for field in dataclasses.fields(make)} if isinstance(make, type) else {"threshold": ""}
    for key, value in options.items():
        if key not in known:
            raise ConfigError(
                f"comparator {name!r} has no option {key!r}; {did_you_mean(key, known) or 'it has ' + ', '.join(known)}"
            )
        _check_option(f"comparator {name!r}: {key}", value, known[key])
    if "inner" in options and not isinstance(options["inner"], BaseComparator):
        options["inner"] = _described(options["inner"], f"comparator {name!r}: inner")
    options.setdefault("threshold", threshold)
    return make(**options)


_EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "float": ((int, float), "a number"),
    "str": ((str,), "text"),
}
"""What an option may be, by its annotation. Others are for the comparator itself to check."""


def _check_option(where: str, value: Any, annotation: str) -> None:
    kind, _, optional = annotation.partition(" | ")
    if kind not in _EXPECTED or (optional == "None" and value is None):
        return
    types, told = _EXPECTED[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise ConfigError(f"{where}: {told} is expected here, not {value!r}")


def _maker(name: str) -> Callable[..., BaseComparator]:
    short = next((key for key, (_, class_name) in BUILT_IN.items() if class_name == name), name)
    if short in BUILT_IN:
        module, class_name = BUILT_IN[short]
        made: type[BaseComparator] = getattr(importlib.import_module(f"calque.comparators.{module}"), class_name)
        return made
    if short not in _REGISTERED:
        raise ConfigError(
            f"no comparator is named {name!r}; {did_you_mean(name, names()) or 'there are ' + ', '.join(names())}"
        )
    return _REGISTERED[short]


def describe(made: BaseComparator) -> dict[str, Any]:
    """The name and options that `comparator` makes this one from."""
    name = made.label if isinstance(made, FunctionComparator) else _name_of(type(made))
    params = made.params()
    return {"comparator": name, "params": params} if params else {"comparator": name}


def _name_of(kind: type[BaseComparator]) -> str:
    known = [name for name, made in _REGISTERED.items() if made is kind]
    if known:
        return known[0]
    if kind.name in BUILT_IN and _maker(kind.name) is kind:
        return kind.name
    # Known from here on in this process; a state that names it asks others to register it first.
    name = f"{kind.__module__}:{kind.__qualname__}"
    _REGISTERED[name] = kind
    return name


def _described(description: Any, where: str) -> BaseComparator:
    if isinstance(description, str):
        return comparator(description)
    if not isinstance(description, Mapping) or not isinstance(description.get("comparator"), str):
        raise ConfigError(f'{where}: a name, or {{"comparator": name, "params": {{…}}}}, is expected here, not {description!r}')
    return comparator(description["comparator"], description.get("params"))
