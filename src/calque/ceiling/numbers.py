"""The numbers of a ceiling, and their names: a ladder from the best system to all of them, what they share, what nobody has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Ints, distinct
from calque.ceiling.outcomes import suspects
from calque.ceiling.routing import Goal, Halves, Table, Totals, held_out
from calque.ceiling.units import EDGES, Level, in_play, levels_of
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import MeasureName, Undefined, fraction_mean
from calque.evaluation.slices import document_values

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

NO_TRUTHS, NOTHING_FOUND, NOTHING = "no truths", "nothing is found", "no truths and nothing found"
NO_HALVES = "there are no two halves with documents"


def measure(task: Ceiling, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    from calque.ceiling.boxes.precision import averages

    documents = in_play(ledger)
    halves = Halves(ledger.units, documents, task.splits, task.seed)
    return {
        "kind": task.kind,
        "systems": list(task.systems),
        "levels": {
            name: _level(level, halves, documents) for name, level in zip(task.levels, levels_of(task, ledger), strict=True)
        },
        "ap": averages(task, ledger, jobs),
        "documents": _documents(task, ledger, documents),
    }


def _documents(task: Ceiling, ledger: Ledger, documents: Ints) -> dict[str, Any]:
    """How many count, and which the truth or a system lacks."""
    table = ledger.table("documents")
    known, in_truth = table.array("known"), table.array("in_truth")
    lists: dict[str, dict[str, list[int | str]]] = {"only_truth": {}, "only_predictions": {}}
    for place, name in enumerate(task.systems):
        own = (known >> place & 1).astype(np.bool_)
        lists["only_truth"][name] = [ledger.units[row] for row in np.flatnonzero(in_truth & ~own).tolist()]
        lists["only_predictions"][name] = [ledger.units[row] for row in np.flatnonzero(own & ~in_truth).tolist()]
    return {"counted": len(documents), **lists}


def _level(level: Level, halves: Halves, documents: Ints) -> dict[str, Any]:
    task, names = level.task, level.task.systems
    goal = Goal(task.kind == "layout")
    right, found = level.right.sum(axis=0).tolist(), level.found.sum(axis=0).tolist()
    best = goal.best(right, found, level.truths)
    every = level.matches([level.everyone])[0]
    singles = {name: _single(level, right[place], found[place]) for place, name in enumerate(names)}
    numbers: dict[str, Any] = {
        "truth": level.truths,
        "single": singles,
        "best": _best(names[best], singles[names[best]], level, halves, goal),
        "route": _routes(level, halves, goal, best, documents),
        "select": _select(level, every, sum(found)),
    }
    if task.kind != "fields":
        numbers |= _edges(level)
    if task.kind != "layout":
        numbers |= _votes(level, goal.ranking(right, found, level.truths))
    return numbers | {
        "repairable": _repairable(every, max(right), level.truths),
        "pairs": _pairs(level),
        "order": _order(level, right),
        "without": _without(level, every),
        "missed": _missed(level, every),
        "suspects": suspects(level),
    }


def share(part: int, whole: int, reason: str) -> float | Undefined:
    """A quotient, or why there is none."""
    return part / whole if whole else Undefined(reason)


def _ratios(totals: Totals) -> dict[str, float | Undefined]:
    exact = totals.f1()
    return {
        "recall": share(totals.right, totals.truths, NO_TRUTHS),
        "precision": share(totals.right, totals.found, NOTHING_FOUND),
        "f1": Undefined(NOTHING) if exact is None else float(exact),
    }


def counts_with_ratios(right: int, found: int, truths: int) -> dict[str, Any]:
    """What is right and found, with recall, precision and F1."""
    return {"tp": right, "found": found, **_ratios(Totals(right, found, truths))}


def _single(level: Level, right: int, found: int) -> dict[str, Any]:
    if level.task.kind == "layout":
        return {"matched": found, "correct": right, "recall": share(right, level.truths, NO_TRUTHS)}
    return counts_with_ratios(right, found, level.truths)


def _best(name: str, single: Mapping[str, Any], level: Level, halves: Halves, goal: Goal) -> dict[str, Any]:
    size = len(level.ledger.units)
    truths = np.bincount(level.cell_document, level.cell_truths, size).astype(np.int64)
    table = Table(np.arange(size), np.zeros(size, np.int64), 1, truths, *level.sums(level.cell_document, size))
    ratios = {key: single[key] for key in ("recall", "precision", "f1") if key in single}
    return {"system": name, **ratios, "held_out": _held_out(table, halves, goal, single=True)}


def _held_out(table: Table, halves: Halves, goal: Goal, *, single: bool = False) -> float | Undefined:
    value = held_out(table, halves, goal, single=single)
    return Undefined(NO_HALVES) if value is None else value


def _table(level: Level, cell: Array, size: int) -> Table:
    return Table(level.cell_document, cell, size, level.cell_truths, level.right, level.found)


def _routes(level: Level, halves: Halves, goal: Goal, best: int, documents: Ints) -> dict[str, Any]:
    """The best choice by class, by document, and by each column of metadata."""
    ledger, names = level.ledger, level.task.systems
    routes: dict[str, Any] = {}
    if level.task.kind != "layout":
        labels = ledger.names["label"]
        there = (level.cell_truths > 0) | level.found.any(axis=1)  # a class of which all is excused at this level is no cell
        used = range(len(labels)) if level.task.kind == "fields" else distinct(level.cell_class[there])[0].tolist()
        table = _table(level, level.cell_class, len(labels))
        block, chosen = _route(level, table, goal, best)
        block["choice"] = {labels[code]: names[chosen[code]] for code in used}
        routes["class"] = {**block, "held_out": _held_out(table, halves, goal)}
    block, chosen = _route(level, _table(level, level.cell_document, len(ledger.units)), goal, best)
    counts = np.bincount(chosen[documents], minlength=len(names)).tolist()
    routes["document"] = {**block, "choice": dict(zip(names, counts, strict=True))}
    for column in level.task.by:
        routes[f"by:{column}"] = _by_column(level, column, halves, goal, best, documents)
    return routes


def _by_column(level: Level, column: str, halves: Halves, goal: Goal, best: int, documents: Ints) -> Any:
    listed = document_values(level.ledger, column)
    if listed is None:
        return Undefined("some documents were scored without this column; evaluate them again with --by")
    cells = sorted({listed[row] for row in documents.tolist()})
    code = {value: place for place, value in enumerate(cells)}
    of_document = np.array([code.get(value, 0) for value in listed], dtype=np.int64)
    table = _table(level, of_document[level.cell_document], len(cells))
    block, chosen = _route(level, table, goal, best)
    block["choice"] = {value: level.task.systems[chosen[place]] for value, place in code.items()}
    return {**block, "held_out": _held_out(table, halves, goal)}


def _route(level: Level, table: Table, goal: Goal, best: int) -> tuple[dict[str, Any], Ints]:
    right, found = table.sums()
    chosen = goal.choice(right, found, level.truths, best)
    rows = np.arange(table.size)
    most = int(right.max(axis=1, initial=0).sum())
    block: dict[str, Any] = {"recall": share(most, level.truths, NO_TRUTHS)}
    if not goal.recall_only:
        reached = Totals(int(right[rows, chosen].sum()), int(found[rows, chosen].sum()), level.truths)
        ratios = _ratios(reached)
        block |= {"precision": ratios["precision"], "f1": ratios["f1"]}
    return block, chosen


def _selected(matches: int, truths: int) -> dict[str, float | Undefined]:
    return _ratios(Totals(matches, matches, truths)) if truths else {
        "recall": Undefined(NO_TRUTHS), "precision": Undefined(NOTHING_FOUND), "f1": Undefined(NO_TRUTHS),
    }  # fmt: skip


def _select(level: Level, matches: int, found: int) -> dict[str, Any]:
    """What any selection of boxes could reach, and what keeping all of them costs."""
    ratios = _selected(matches, level.truths)
    if level.task.kind == "layout":
        return {"matches": matches, "recall": ratios["recall"]}
    pool = found
    if level.task.kind == "boxes":
        pool = int(level.ledger.table("tallies").array("pool")[:, level.level].sum())
    return {"matches": matches, **ratios, "pool": pool, "pool_precision": share(matches, pool, NOTHING_FOUND)}


def _edges(level: Level) -> dict[str, Any]:
    """The best box, the best edges, and the best mean of the systems' boxes, truth by truth."""
    reached = level.ledger.table("truth").array("reached")[level.rows]
    if not level.truths:
        return {name: {"recall": Undefined(NO_TRUTHS), "mean_iou": Undefined(NO_TRUTHS)} for name in EDGES}
    threshold = level.task.iou[level.level]
    return {
        name: {
            "recall": int(np.count_nonzero(reached[:, place] >= threshold)) / level.truths,
            "mean_iou": fraction_mean(reached[:, place]),
        }
        for place, name in enumerate(EDGES)
    }


def _votes(level: Level, ranking: list[int]) -> dict[str, Any]:
    if level.task.kind == "fields":
        from calque.ceiling.fields.votes import votes

        return votes(level, ranking)
    tallies, count = level.ledger.table("tallies"), level.systems
    block = slice(level.level * count, (level.level + 1) * count)
    sums = {
        name: tallies.array(name)[:, block].sum(axis=0).tolist()
        for name in ("votes_right", "votes_found", "agreed_right", "agreed_found")
    }
    return {
        "votes": {
            str(place + 1): counts_with_ratios(sums["votes_right"][place], sums["votes_found"][place], level.truths)
            for place in range(count)
        },
        "majority": count // 2 + 1,
        "agreement": {
            str(place + 1): {"n": sums["agreed_found"][place], "right": sums["agreed_right"][place]} for place in range(count)
        },
    }


def _repairable(matches: int, hits: int, truths: int) -> float | Undefined:
    """The share of the best system's misses that others make good."""
    if not truths:
        return Undefined(NO_TRUTHS)
    if hits == truths:
        return Undefined("nothing is missed")
    reached, single = matches / truths, hits / truths
    return (reached - single) / (1 - single)


def _pairs(level: Level) -> dict[str, Any]:
    """What two systems share: both, one alone, neither."""
    names = level.task.systems
    has = [(level.hits >> place & 1).astype(np.bool_) for place in range(len(names))]
    return {
        name: {other: _pair(has[first], has[second], level.truths) for second, other in enumerate(names) if second != first}
        for first, name in enumerate(names)
    }


def _pair(one: Array, two: Array, truths: int) -> dict[str, Any]:
    both, first, second = (int(np.count_nonzero(flags)) for flags in (one & two, one & ~two, ~one & two))
    neither = truths - both - first - second
    alike, apart = both * neither, first * second
    return {
        "both": both,
        "first": first,
        "second": second,
        "neither": neither,
        "q": share(alike - apart, alike + apart, "one of the two never differs"),
        "disagreement": share(first + second, truths, NO_TRUTHS),
        "repairs": share(second, second + neither, "the first misses nothing"),
    }


def _order(level: Level, hits: list[int]) -> list[dict[str, Any]]:
    """The systems by what each adds to those before it; ties: more hits of its own, then in the order given."""
    rows: list[dict[str, Any]] = []
    taken, reached = 0, 0
    left = list(range(level.systems))
    while left:
        found = level.matches([taken | 1 << system for system in left])
        best = max(range(len(left)), key=lambda place: (found[place], hits[left[place]], -left[place]))
        ratios = _selected(found[best], level.truths)
        shown = {key: _plain(ratios[key]) for key in (("recall",) if level.task.kind == "layout" else ("recall", "f1"))}
        name = level.task.systems[left[best]]
        rows.append({"system": name, "matches": found[best], "gain": found[best] - reached, **shown})
        taken, reached = taken | 1 << left[best], found[best]
        left.pop(best)
    return rows


def _plain(value: float | Undefined) -> float | None:
    """Lists have no place for reasons."""
    return None if isinstance(value, Undefined) else value


def _without(level: Level, matches: int) -> dict[str, int]:
    """What is lost when a system is dropped."""
    rest = level.matches([level.everyone & ~(1 << place) for place in range(level.systems)])
    return {name: matches - left for name, left in zip(level.task.systems, rest, strict=True)}


def _missed(level: Level, matches: int) -> dict[str, int]:
    unfound = int(np.count_nonzero(level.masks == 0))
    if level.task.kind == "fields":
        return {"unfound": unfound}
    return {"unfound": unfound, "contested": level.truths - unfound - matches}


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
