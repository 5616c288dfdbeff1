"""The views: sections that a result has when they are asked for.

A view is a module of this package, named as its key in the JSON, with ``measure`` (the ledger's numbers, or `Undefined`),
``sections`` (its tables) and ``schema`` (its JSON Schema). It is imported when somebody asks for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from calque.evaluation.ledger import Ledger
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.detection.task import Detection

ASKED_FOR: Mapping[str, Callable[[Detection], bool]] = {
    "crops": lambda task: task.crops,
    "confusion": lambda task: task.confusion,
    "sweep": lambda task: task.sweep,
    "page_view": lambda task: task.page_view,
    "beside": lambda task: task.beside != "none",
}
"""For each view whether a task asks for it, in the order in which they are shown."""


def view(name: str) -> Any:
    """The module of a view."""
    return importlib.import_module(f"{__name__}.{name}")


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """The numbers of the views that the task asks for."""
    return {name: view(name).measure(task, ledger) for name, asked_for in ASKED_FOR.items() if asked_for(task)}


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The tables of the views that a result has."""
    there = [name for name in ASKED_FOR if isinstance(numbers.get(name), Mapping)]
    return [section for name in there for section in view(name).sections(numbers[name])]
