"""The names of all measures of a fields result, in the order of its tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calque.core.task import is_number

COUNTS = ("tp", "fa", "fd", "fp", "tn", "fn", "num_gt", "num_detections")
SLOW = ("error_capture_at_budget",)
"""What depends on how equal confidences are ordered, and is measured anew for every replicate."""


def names(numbers: Mapping[str, Any]) -> list[str]:
    """Every measure that the numbers have."""
    return list(_names(numbers))


def compared(numbers: Mapping[str, Any]) -> list[str]:
    """Ratios, scores and averages."""
    return [name for name in _names(numbers) if name.partition("/")[0] not in (*COUNTS, *SLOW)]


def _names(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield from _scope(numbers["overall"], numbers["fields"])
    boxes = numbers["bbox_map_metrics"]
    yield from _scope({name: value for name, value in boxes.items() if is_number(value)}, boxes["fields"])
    rated = numbers["confidence_metrics"]
    yield from _scope(rated["overall"], rated["fields"])


def _scope(everything: Mapping[str, Any], each: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from everything
    yield from (f"{name}/{label}" for label, block in each.items() for name in block)
