"""Checks: boxes, polygons and points that an output must have, judged case by case; a gate for continuous integration.

Nothing is imported until a name is used: whoever only wants areas does not wait for suites.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.checks.evaluators import evaluator as evaluator
    from calque.checks.outcome import Outcome as Outcome
    from calque.checks.overlap import polygon_iou as polygon_iou
    from calque.checks.suite import Suite as Suite
    from calque.checks.task import Checks as Checks

_HOME = {
    "Checks": "calque.checks.task",
    "Outcome": "calque.checks.outcome",
    "Suite": "calque.checks.suite",
    "evaluator": "calque.checks.evaluators",
    "polygon_iou": "calque.checks.overlap",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  # the names are strings, in the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calque.checks' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
