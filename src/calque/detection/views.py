"""The views: sections that a result has when they are asked for, each a measure of the ledger and a way to show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calque.core.ledger import Ledger
from calque.core.presentation import Section
from calque.core.result_schema import Schema
from calque.detection import confusion, crops, page_view, slices, sweep

if TYPE_CHECKING:
    from calque.detection.task import Detection


@dataclass(frozen=True, slots=True)
class View:
    """One section of the JSON, its tables, and its JSON Schema."""

    asked_for: Callable[[Detection], bool]
    measure: Callable[[Detection, Ledger], Any]
    """A tree of numbers, or `Undefined`."""
    sections: Callable[[Mapping[str, Any]], list[Section]]
    schema: Callable[[], Schema]


VIEWS = {
    "crops": View(lambda task: task.crops, crops.measure, crops.sections, crops.schema),
    "confusion": View(lambda task: task.confusion, confusion.measure, confusion.sections, confusion.schema),
    "sweep": View(lambda task: task.sweep, sweep.measure, sweep.sections, sweep.schema),
    "page_view": View(lambda task: task.page_view, page_view.measure, page_view.sections, page_view.schema),
    "slices": View(lambda task: bool(task.by), slices.measure, slices.sections, slices.schema),
}
"""The views by their key in the JSON, in the order in which they are shown."""


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """The numbers of the views that the task asks for."""
    return {name: view.measure(task, ledger) for name, view in VIEWS.items() if view.asked_for(task)}


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The tables of the views that a result has."""
    return [section for name, view in VIEWS.items() if numbers.get(name) for section in view.sections(numbers[name])]
