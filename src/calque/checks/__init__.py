"""Checks: boxes, polygons and points that an output must have, judged case by case; a gate for continuous integration."""

from calque.checks.evaluators import evaluator
from calque.checks.outcome import Outcome
from calque.checks.overlap import polygon_iou
from calque.checks.suite import Suite
from calque.checks.task import Checks

__all__ = ["Checks", "Outcome", "Suite", "evaluator", "polygon_iou"]
