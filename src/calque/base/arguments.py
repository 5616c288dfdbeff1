"""Checks of the arguments of public functions, whose errors name the argument, and former names of arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from functools import wraps
from numbers import Real
from types import UnionType
from typing import Any, TypeVar, cast

Public = TypeVar("Public", bound=Callable[..., Any])


def wrong_argument(where: str, name: str, value: Any, fits: str) -> TypeError:
    """Return the error of an argument that does not fit.

    >>> wrong_argument("half", "number", "x", "a number")
    TypeError("half: number must be a number, not 'x'")
    """
    shown = repr(value)
    return TypeError(f"{where}: {name} must be {fits}, not {shown if len(shown) <= 80 else shown[:77] + '...'}")


def check_type(where: str, name: str, value: Any, kinds: type | UnionType, fits: str) -> None:
    """Refuse an argument that is not an instance of one of these classes."""
    if not isinstance(value, kinds):
        raise wrong_argument(where, name, value, fits)


def check_number(where: str, name: str, value: Any) -> None:
    """Refuse an argument that is not a number. A truth value is not one."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise wrong_argument(where, name, value, "a number")


def check_words(where: str, **arguments: Any) -> None:
    """Refuse arguments that are not lists of words."""
    for name, words in arguments.items():
        if isinstance(words, str):
            hint = "give a list of words, not one string: text.split(), or calque.words.clean(text)"
            raise TypeError(f"{where}: {name}: {hint}")
        listed = isinstance(words, Collection) and not isinstance(words, Mapping | Set)
        if not listed or not all(isinstance(word, str) for word in words):
            raise wrong_argument(where, name, words, "a list of words")


def checked_list(where: str, name: str, values: Any, kinds: type | UnionType, fits: str) -> list[Any]:
    """Return the entries of an argument that must be a list of instances of these classes."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise wrong_argument(where, name, values, fits)
    entries = list(values)
    if not all(isinstance(entry, kinds) for entry in entries):
        raise wrong_argument(where, name, values, fits)
    return entries


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
