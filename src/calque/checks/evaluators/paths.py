"""Paths into nested data, such as ``pages[0].blocks[*].bbox``: compiled once, followed for every case; and equal values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

_TOKEN = re.compile(
    r"""\.?(?P<name>[^.\[\]"'\s](?:[^.\[\]"']*[^.\[\]"'\s])?)"""
    r"""|\[(?P<index>-?[0-9]+)\]"""
    r"""|\[(?P<all>\*)\]"""
    r"""|\["(?P<double>(?:[^"\\]|\\.)*)"\]"""
    r"""|\['(?P<single>(?:[^'\\]|\\.)*)'\]"""
)
_ESCAPED = re.compile(r"\\(.)")


class Every:
    """The step ``[*]``: every item of a list."""

    def __repr__(self) -> str:
        return "[*]"


EVERY = Every()
Step: TypeAlias = str | int | Every


@dataclass(frozen=True, slots=True)
class Missing:
    """What a path leads to when it leads nowhere."""

    path: str
    step: str
    """The step that could not be taken."""

    def __str__(self) -> str:
        return f"{self.path} is missing" if self.step == self.path else f"{self.path} is missing (no {self.step})"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a path with ``[*]`` leads to: one value, or `Missing`, for every item."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path.

    >>> Path.compile("pages[-1].boxes[*]").find({"pages": [{}, {"boxes": [1, 2]}]})
    Gathered(items=(1, 2))
    >>> print(Path.compile('["a.b"].c').find({"a.b": {}}))
    ["a.b"].c is missing (no c)
    """

    text: str
    steps: tuple[Step, ...]

    @classmethod
    def compile(cls, text: str) -> Path:
        """The path that the text spells; `ValueError` when it spells none."""
        body = text.strip()
        position = 1 if body.startswith("$") else 0
        if not body:
            raise ValueError("the path is empty")
        steps: list[Step] = []
        while position < len(body):
            match = _TOKEN.match(body, position)
            if match is None or (match["name"] is not None and bool(position) != match[0].startswith(".")):
                raise ValueError(
                    f'{text!r} is not a path: cannot read {body[position:]!r}; write a.b[0].c, [-1], [*] or ["a.b"]'
                )
            steps.append(_step(match))
            position = match.end()
        return cls(body, tuple(steps))

    def find(self, data: Any) -> Any:
        """The value at the end of the path: any value, `Missing`, or `Gathered` when the path has ``[*]``."""
        value = data
        for step in self.steps:  # most paths are names alone
            if type(step) is not str or type(value) is not dict or step not in value:
                return self._find(data, self.steps)
            value = value[step]
        return value

    def _find(self, value: Any, steps: tuple[Step, ...]) -> Any:
        if not any(step is EVERY for step in steps):
            return self._follow(value, steps)
        here = steps.index(EVERY)
        base = self._follow(value, steps[:here])
        if isinstance(base, Missing):
            return base
        if not isinstance(base, list | tuple):
            return Missing(self.text, "list to take [*] of")
        found = [self._find(item, steps[here + 1 :]) for item in base]
        return Gathered(tuple(item for one in found for item in (one.items if isinstance(one, Gathered) else (one,))))

    def _follow(self, value: Any, steps: tuple[Step, ...]) -> Any:
        for step in steps:
            value = _taken(value, step)
            if value is _NOWHERE:
                return Missing(self.text, step if isinstance(step, str) else f"[{step}]")
        return value


_NOWHERE = object()


def _taken(value: Any, step: Step) -> Any:
    """The value one step on."""
    if isinstance(step, str):
        return value[step] if isinstance(value, Mapping) and step in value else _NOWHERE
    assert isinstance(step, int)  # noqa: S101  # [*] is taken elsewhere
    return value[step] if isinstance(value, list | tuple) and -len(value) <= step < len(value) else _NOWHERE


def _step(match: re.Match[str]) -> Step:
    if match["name"] is not None:
        return match["name"]
    if match["index"] is not None:
        return int(match["index"])
    if match["all"] is not None:
        return EVERY
    quoted = match["double"] if match["double"] is not None else match["single"]
    return _ESCAPED.sub(r"\1", quoted)


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and a truth value is no number.

    >>> same([1, {"a": True}], [1.0, {"a": True}]), same(1, True), same("1", 1)
    (True, False, False)
    """
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def equality_key(value: Any) -> Any:
    """A hashable value that is equal for two JSON values exactly where `same` says that they are equal.

    >>> equality_key([1, {"a": True}]) == equality_key([1.0, {"a": True}]), equality_key(1) == equality_key(True)
    (True, False)
    """
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, Mapping):
        return (dict, frozenset((key, equality_key(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return (list, *map(equality_key, value))
    if isinstance(value, float) and math.isnan(value):  # equal to nothing, not even to itself
        return object()
    try:
        hash(value)
    except TypeError:
        return (type(value), repr(value))  # not a JSON value
    return value
