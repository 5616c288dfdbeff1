"""Checks: boxes, polygons and points that an output must have, judged case by case; a gate for continuous integration.

Nothing is imported until a name is used: whoever only wants areas does not wait for suites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily

if TYPE_CHECKING:
    from calque.checks.evaluators.outcome import Outcome as Outcome
    from calque.checks.evaluators.registry import evaluator as evaluator
    from calque.checks.shapes.overlap import polygon_iou as polygon_iou
    from calque.checks.suites.suite import Suite as Suite
    from calque.checks.task import Checks as Checks

_HOME = {
    "Checks": "calque.checks.task",
    "Outcome": "calque.checks.evaluators.outcome",
    "Suite": "calque.checks.suites.suite",
    "evaluator": "calque.checks.evaluators.registry",
    "polygon_iou": "calque.checks.shapes.overlap",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME)
