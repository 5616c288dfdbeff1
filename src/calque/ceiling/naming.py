"""The names of a ceiling's measures, and where each stands in the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calque.ceiling.numbers import EDGES
from calque.core.measures import MeasureName

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

ALONE: Mapping[str, tuple[str, ...]] = {
    "repairable": (),
    "unfound": ("missed",),
    "contested": ("missed",),
    "pool_precision": ("select",),
}
"""Measures without a scope, and the block of a level in which each stands."""
SUMS = ("recall", "f1", "unfound", *(f"{edge}.{key}" for edge in EDGES for key in ("recall", "mean_iou")))
"""What is a sum over documents and does not depend on which systems there are: the rungs above the best single one."""


def address(task: Ceiling, name: MeasureName) -> tuple[str, ...]:
    """Where a measure stands: ``f1@0.5`` (of the selection), ``route_class.f1@0.5``, ``single.recall@0.5/a``, ``AP/a``."""
    if name.name == "AP":
        bound = {"select": "select_bound"}.get(name.scope, name.scope)
        return ("ap", bound) if name.label is None else ("ap", "single", name.label)
    level = task.levels[0] if name.threshold is None else repr(name.threshold)
    inside = ALONE[name.name] if name.name in ALONE and not name.scope else _block(task, name)
    return "levels", level, *inside, name.name


def _block(task: Ceiling, name: MeasureName) -> tuple[str, ...]:
    """The block of a level in which a rung stands; without a scope it is the selection."""
    scope = name.scope or "select"
    if scope == "single":
        return "single", name.label or ""
    if scope == "votes":
        return "votes", "majority" if task.kind == "fields" else str(len(task.systems) // 2 + 1)
    if scope.startswith("route_"):
        cells = scope.removeprefix("route_")
        return "route", cells if cells != "by" else f"by:{name.label}"
    return (scope,)


def names(numbers: Mapping[str, Any]) -> list[str]:
    """Every measure of a result."""
    listed: list[str] = []
    for level, block in numbers["levels"].items():
        at = "" if level == "value" else f"@{level}"
        listed += [f"best.{key}{at}" for key in ("recall", "precision", "f1", "held_out") if key in block["best"]]
        for cells, route in block["route"].items():
            scope, label = ("route_by", f"/{cells[3:]}") if cells.startswith("by:") else (f"route_{cells}", "")
            found = route if isinstance(route, Mapping) else {}
            listed += [f"{scope}.{key}{at}{label}" for key in ("recall", "precision", "f1", "held_out") if key in found]
        listed += [f"{key}{at}" for key in ("recall", "precision", "f1") if key in block["select"]]
        listed += [f"{edge}.{key}{at}" for edge in EDGES if edge in block for key in ("recall", "mean_iou")]
        listed += [f"votes.{key}{at}" for key in ("recall", "precision", "f1") if "votes" in block]
        listed += [f"{key}{at}" for key, inside in ALONE.items() if key in _inside(block, inside)]
        listed += [
            f"single.{key}{at}/{system}"
            for system, single in block["single"].items()
            for key in ("recall", "precision", "f1")
            if key in single
        ]
    if isinstance(numbers["ap"], Mapping):
        listed += ["route_class.AP", "select.AP", *(f"AP/{system}" for system in numbers["ap"]["single"])]
    return listed


def _inside(block: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    for step in path:
        block = block[step]
    return block


def compared(numbers: Mapping[str, Any]) -> list[str]:
    """The rungs above the best single system."""
    return [name for name in names(numbers) if name.partition("@")[0] in SUMS]
