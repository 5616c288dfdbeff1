"""Errors of the Python API name the argument, never an internal: every public name is called with what does not fit."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import calque
from calque import CalqueError

HOMES = (
    "calque",
    "calque.checks",
    "calque.fields",
    "calque.words",
    "calque.tables",
    "calque.order",
    "calque.ceiling",
    "calque.layout",
    "calque.detection",
    "calque.comparators",
)
ODD: list[Any] = [
    None, 5, -1, 1.5, "x", "", b"x", [], {}, [1], {"a": 1}, object(), True, float("nan"), int, len, [None], (1, 2, 3),
    [[1, 2, 3, 4]], {"x": None},
]  # fmt: skip
INTERNAL = (
    "object has no", "object is not", "not supported between", "unhashable", "unpack", "positional argument", "has no len",
    "first arg must", "argument must be a string", "could not convert", "cannot convert", "expected str, bytes",
)  # fmt: skip
"""What Python says of its own: whoever reads it has to look into calque to know what to do."""


def _public() -> Iterator[Any]:
    seen = []
    for home in HOMES:
        module = importlib.import_module(home)
        for name in module.__all__:
            value = getattr(module, name)
            exception = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not exception and not inspect.isabstract(value) and value not in seen:
                seen.append(value)
                yield pytest.param(value, id=f"{home}.{name}")
    yield pytest.param(importlib.import_module("calque.coco").COCOeval, id="calque.coco.COCOeval")


def _calls(target: Callable[..., Any], odd: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """All that is needed given so, then each other argument alone."""
    parameters = [each for each in inspect.signature(target).parameters.values() if each.kind.name != "VAR_KEYWORD"]
    needed = [each for each in parameters if each.default is each.empty and each.kind.name == "POSITIONAL_OR_KEYWORD"]
    if needed:
        yield [odd] * len(needed), {}
    for each in parameters:
        if each.default is not each.empty and each.kind.name in ("POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"):
            yield [{} for _ in needed], {each.name: odd}


@pytest.mark.parametrize("target", [*_public()])
def test_what_does_not_fit_is_told_by_its_name(target: Callable[..., Any]) -> None:
    for odd in ODD:
        for given, named in _calls(target, odd):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    target(*given, **named)
                except (CalqueError, OSError) as error:
                    assert not any(words in str(error) for words in INTERNAL), (named or given, str(error))
                except (TypeError, ValueError) as error:
                    told = str(error)
                    assert not any(words in told for words in INTERNAL), (named or given, told)


def test_an_evaluator_says_what_it_cannot_read() -> None:
    evaluator = calque.Evaluator(calque.Detection())
    for odd in ODD:
        with pytest.raises((CalqueError, TypeError, ValueError)) as raised:
            evaluator.update(odd, odd)
        assert not any(words in str(raised.value) for words in INTERNAL), (odd, str(raised.value))
    with pytest.raises(TypeError, match="Evaluator"):
        evaluator.merge(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="data"):
        calque.Evaluator.from_state("x")  # type: ignore[arg-type]
