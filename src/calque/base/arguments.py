"""Wrong arguments, told by their names: what goes wrong inside because of one becomes an error that says which, and what fits.

Nothing is checked while all goes well. When a public function stumbles, its arguments are held against their annotations.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import islice
from numbers import Integral, Real
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Public = TypeVar("Public", bound=Callable[..., Any])

LOOKED_AT = 100
"""How many entries of a long argument are looked at."""
WORDS: Mapping[Any, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "a text", bytes: "bytes", NoneType: "None",
}  # fmt: skip


def names_arguments(target: Public) -> Public:
    """A public function, or a class and its constructor, whose errors name the argument that is wrong.

    >>> @names_arguments
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("x")
    Traceback (most recent call last):
    TypeError: half: number must be a number, not 'x'
    """
    if isinstance(target, type):
        target.__init__ = _watched(target.__init__, target.__name__)  # type: ignore[misc]  # every class has one
        return target
    watched: Public = _watched(target, target.__name__)
    return watched


def _watched(function: Any, name: str) -> Any:
    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            if _is_told(error):
                raise
            problem = _problem(function, name, given, named)
            if problem is None:
                raise
            raise TypeError(problem) from error

    return call


def renamed_arguments(**new_names: str) -> Callable[[Public], Public]:
    """Return a decorator that accepts the former keywords of a public function, with a `DeprecationWarning`.

    The signature of the function shows the new names only. Put it above every other decorator, so that the warning points
    at the line of the caller.

    Args:
        new_names: The new name of each former keyword, such as ``found="predictions"``.

    Returns:
        The decorator.

    >>> @renamed_arguments(found="predictions")
    ... def count(predictions: list[str]) -> int:
    ...     return len(predictions)
    >>> count(found=["a"], predictions=["b"])
    Traceback (most recent call last):
    TypeError: count: 'found' is the former name of 'predictions', got both. Keep 'predictions'.
    """

    def decorate(function: Public) -> Public:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            former = [name for name in named if name in new_names] if named else ()
            if former:
                for name in former:
                    _rename(function.__name__, named, name, new_names[name])
                pairs = ", ".join(f"{name!r} is now {new_names[name]!r}" for name in former)
                warnings.warn(f"{function.__name__}: {pairs}. Use the new name.", DeprecationWarning, stacklevel=2)
            return function(*given, **named)

        return cast("Public", call)

    return decorate


def _rename(function: str, named: dict[str, Any], former: str, new: str) -> None:
    if new in named:
        raise TypeError(f"{function}: {former!r} is the former name of {new!r}, got both. Keep {new!r}.")
    named[new] = named.pop(former)


def names_fields(kind: type) -> None:
    """Let what goes wrong in a dataclass's ``__post_init__`` name the field; for ``__init_subclass__`` of its base."""
    checks = kind.__dict__.get("__post_init__")
    if checks is None:
        return

    @wraps(checks)
    def check(self: Any) -> None:
        try:
            checks(self)
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            if _is_told(error):
                raise
            problem = _wrong_field(self)
            if problem is None:
                raise
            raise TypeError(problem) from error

    kind.__post_init__ = check  # type: ignore[attr-defined]  # it has one


def _wrong_field(made: Any) -> str | None:
    """The field whose value does not fit its annotation, or with which alone it goes wrong as well."""
    given = {field.name: getattr(made, field.name) for field in dataclasses.fields(made) if field.init}
    usual = {field.name: field.default for field in dataclasses.fields(made)}
    chosen = {name: value for name, value in given.items() if value is not usual[name]}
    kind = type(made)
    for name, value in chosen.items():
        hint = _field_hint(kind, name)
        if not fits(value, hint):
            return f"{kind.__name__}: {name} must be {described(hint)}, not {_shown(value)}"
    for name, value in chosen.items():
        if len(chosen) == 1 or _fails(kind, {name: value}):
            return f"{kind.__name__}: {name} cannot be {_shown(value)}"
    return None


def _fails(kind: type, alone: dict[str, Any]) -> bool:
    try:
        kind(**alone)
    except Exception:  # whatever it is, it comes of this field
        return True
    return False


def _is_told(error: Exception) -> bool:
    """Whether the error was raised on purpose: by one of calque's own lines that raise."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not step.tb_frame.f_globals.get("__name__", "").startswith("calque."):
        return False
    import linecache

    line = linecache.getline(step.tb_frame.f_code.co_filename, step.tb_lineno).strip()
    return line.startswith(("raise ", "return fail", "fail"))


def _problem(function: Any, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> str | None:
    """The first argument that does not fit its annotation; otherwise those that were given, as far as that helps."""
    try:
        bound = inspect.signature(function).bind(*given, **named).arguments
    except TypeError:
        return None  # too many or too few: Python says which
    arguments = {key: value for key, value in bound.items() if key not in ("self", "cls")}
    for key, value in arguments.items():
        hint = _hint(function, key)
        if not fits(value, hint):
            return f"{name}: {key} must be {described(hint)}, not {_shown(value)}"
    told = ", ".join(f"{key}={_shown(value)}" for key, value in arguments.items())
    return f"{name}: cannot take {told}" if told else None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _field_hint(kind: type, name: str) -> Any:
    """What the annotation of a field stands for, in the module of the class that has it."""
    homes = ((inspect.get_annotations(base), vars(sys.modules.get(base.__module__, sys))) for base in kind.__mro__)
    return next(_meant(annotations[name], names) for annotations, names in homes if name in annotations)


def _hint(function: Any, key: str) -> Any:
    """What the annotation of an argument stands for."""
    return _meant(getattr(function, "__annotations__", {}).get(key, Any), getattr(function, "__globals__", {}))


def _meant(annotation: Any, names: dict[str, Any]) -> Any:
    """What an annotation stands for; anything at all where it names what only type checkers know."""
    try:
        return get_type_hints(SimpleNamespace(__annotations__={"it": annotation}), names)["it"]
    except (NameError, TypeError, AttributeError):
        return Any


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says, as far as it can be told without using it up.

    >>> fits(3, float), fits(True, float), fits("ab", list[str]), fits(["a"], list[str]), fits(None, int | None)
    (True, False, False, True, True)
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin in (int, float):
        return isinstance(value, Integral if origin is int else Real) and not isinstance(value, bool)
    if getattr(origin, "__name__", "") == "ndarray":
        return _is_numeric(value)
    if origin in _CONTAINERS:
        return _holds(value, origin, inner)
    return origin is Any or not isinstance(origin, type) or isinstance(value, origin)


def _holds(value: Any, origin: type, inner: tuple[Any, ...]) -> bool:
    """Whether a value is a container of this kind, with such entries."""
    maps = issubclass(origin, Mapping)
    if not isinstance(value, Mapping if maps else Iterable) or isinstance(value, str | bytes):
        return False
    if isinstance(value, Iterator) or not inner:
        return True
    entries = islice(value.values() if isinstance(value, Mapping) and maps else value, LOOKED_AT)
    return all(fits(entry, inner[-1] if maps else inner[0]) for entry in entries)


def _containers() -> frozenset[type]:
    import collections.abc as kinds

    return frozenset({
        list, tuple, set, frozenset, dict, kinds.Iterable, kinds.Collection, kinds.Sequence, kinds.Set, kinds.Mapping,
    })  # fmt: skip


_CONTAINERS = _containers()


def _is_numeric(value: Any) -> bool:
    import numpy as np

    try:
        return not isinstance(value, str | bytes) and bool(np.asarray(value, dtype=np.float64).size >= 0)
    except (TypeError, ValueError):
        return False


def described(hint: Any) -> str:
    """An annotation in words.

    >>> described(float | None), described(list[str]), described(Literal["a", "b"])
    ('a number or None', 'a list of texts', "'a' or 'b'")
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType, Literal):
        return " or ".join(repr(one) if origin is Literal else described(one) for one in inner)
    if origin in _CONTAINERS and not issubclass(origin, Mapping):
        if inner and inner[0] in (int, float, str):
            return f"a list of {WORDS[inner[0]].removeprefix('a ')}s"
        return f"a list of {inner[0].__name__} objects" if inner and _is_ours(inner[0]) else "a list"
    return WORDS.get(origin) or _named(getattr(origin, "__name__", str(origin)))


def _is_ours(hint: Any) -> bool:
    return isinstance(hint, type) and hint.__module__.startswith("calque.")


def _named(name: str) -> str:
    known = {"ndarray": "an array of numbers", "Mapping": "a mapping", "dict": "a mapping", "Callable": "a function"}
    return known.get(name) or f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"
