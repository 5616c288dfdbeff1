"""The names of all measures of a detection result, in the order of its tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calque.core.measures import MeasureName
from calque.core.task import is_number
from calque.detection.kinds.numbers import address

COUNTS = ("tp", "fp", "fn")


def names(numbers: Mapping[str, Any]) -> list[str]:
    """Every measure that the numbers have."""
    return [*_by_threshold(numbers), *_averages(numbers["coco"]), *_errors(numbers.get("errors", {}))]


def compared(numbers: Mapping[str, Any]) -> list[str]:
    """Ratios and averages."""
    shown = (*_by_threshold(numbers), *_averages(numbers["coco"]))
    return [name for name in shown if name.partition("@")[0] not in COUNTS and not name.startswith("empty_pages.")]


def _by_threshold(numbers: Mapping[str, Any]) -> Iterator[str]:
    for threshold, scopes in numbers["metrics"].items():
        for scope, block in scopes.items():
            if scope == "per_class":
                yield from (f"{name}@{threshold}/{label}" for label, own in block.items() for name in own)
            else:
                yield from (f"{'' if scope == 'micro' else scope + '.'}{name}@{threshold}" for name in block)


def _averages(coco: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name, value in coco.items() if is_number(value))
    yield from (f"{name}/{label}" for label, own in coco["per_class"].items() for name in own)


def _errors(errors: Mapping[str, Any]) -> Iterator[str]:
    sides = [side for side in ("predictions", "truth") if side in errors]
    kinds = list(dict.fromkeys(kind for side in sides for kind in errors[side] if address(MeasureName(kind)) is not None))
    yield from kinds
    yield from (f"{kind}/{label}" for label in errors.get("per_class", {}) for kind in kinds)
    yield from (f"{name}/{kind}" for kind, worth in errors.get("impact", {}).items() for name in worth)
