"""Checks: boxes, polygons and points that an output must have, judged case by case; a gate for continuous integration.

Nothing is imported until a name is used: whoever only wants areas does not wait for suites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.core.lazy import lazily

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

__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
