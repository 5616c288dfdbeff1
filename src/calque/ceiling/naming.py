"""The names of a ceiling's measures, and where each stands in the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calque.core.measures import MeasureName

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

ALONE = {"repairable": (), "unfound": ("missed",), "contested": ("missed",), "pool_precision": ("select",)}
"""Measures without a scope, and the block of a level in which each stands."""
SUMS = ("select", "any", "recombine", "average")


def address(task: Ceiling, name: MeasureName) -> tuple[str, ...]:
    """Where a measure stands: ``select.f1@0.5``, ``route_class.f1@0.5``, ``single.recall@0.5/finder``, ``AP/finder``."""
    if name.name == "AP":
        if name.label is not None:
            return "ap", "single", name.label
        return "ap", {"select": "select_bound"}.get(name.scope, name.scope)
    level = task.levels[0] if name.threshold is None else repr(name.threshold)
    if name.name in ALONE and not name.scope:
        return "levels", level, *ALONE[name.name], name.name
    scope = name.scope or "select"
    if scope == "single":
        return "levels", level, "single", name.label or "", name.name
    if scope == "votes":
        votes = "majority" if task.kind == "fields" else str(len(task.systems) // 2 + 1)
        return "levels", level, "votes", votes, name.name
    if scope.startswith("route_"):
        cells = scope.removeprefix("route_")
        return "levels", level, "route", cells if cells != "by" else f"by:{name.label}", name.name
    return "levels", level, scope, name.name


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
        listed += [f"select.{key}{at}" for key in ("recall", "precision", "f1") if key in block["select"]]
        listed += [f"{edge}.{key}{at}" for edge in SUMS[1:] if edge in block for key in ("recall", "mean_iou")]
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
    """What is a sum over documents and does not depend on which systems there are: the rungs above the best single one."""
    return [
        name
        for name in names(numbers)
        if name.partition(".")[0] in SUMS and not name.partition("@")[0].endswith(("precision", ".AP"))
    ]
