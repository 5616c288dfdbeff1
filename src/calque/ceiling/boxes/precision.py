"""Average precision: of each system, of the best for each class, and of the best that any selection could have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Table
from calque.ceiling.boxes.paired import MOST_DETECTIONS
from calque.detection.average_precision import NO_TRUTHS, precision_of, without_score
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined, counts
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

RANKED = (UNIT, "page", "label", "score", "rank", "matched", "ignored")
"""What a ranking is made of; the rest of a box stays where it is."""


def averages(task: Ceiling, ledger: Ledger, jobs: int) -> Any:
    """The three, or why there are none."""
    if task.kind != "boxes":
        return Undefined("AP is of boxes with scores")
    found = ledger.table("found")
    unscored = int(np.count_nonzero(np.isnan(found.array("score")) & (found.array("rank") >= 0)))
    if unscored:
        return Undefined(without_score(unscored))
    curves = [_curves(ledger, system, jobs) for system in range(len(task.systems))]
    classes = np.flatnonzero(_truths(ledger) > 0)
    if not len(classes):
        return Undefined(NO_TRUTHS)
    best = [max(float(np.mean(own[:, :, code])) for own in curves) for code in classes.tolist()]
    return {
        "single": {name: float(np.mean(own[own > -1])) for name, own in zip(task.systems, curves, strict=True)},
        "route_class": math.fsum(best) / len(best),
        "select_bound": _bound(ledger, classes),
    }


def _curves(ledger: Ledger, system: int, jobs: int) -> Array:
    """The precision of one system by threshold, recall point and class; -1 for classes without truths."""
    found = ledger.table("found")
    rows = np.flatnonzero(found.array("system") == system)
    needed = Table({name: found[name] for name in RANKED if name in found})
    tables = {**ledger.tables, "found": needed.take(rows)}
    own = Ledger(units=ledger.units, names=ledger.names, tables=tables)
    return precision_of(own, MOST_DETECTIONS, jobs)


def _truths(ledger: Ledger) -> Array:
    truth = ledger.table("truth")
    return counts(truth.array("label")[truth.array("out_of_range")[:, 0] == 0], len(ledger.names["label"]))


def _bound(ledger: Ledger, classes: Array) -> float:
    """A ranking that finds M of |G| truths first and without a mistake: one for each threshold, so that this is a bound."""
    cells = ledger.table("cells")
    size = len(ledger.names["label"])
    label = cells.array("label")
    truths = np.bincount(label, cells.array("truths"), size).astype(np.int64)
    points = np.array(RECALL_POINTS)
    values = []
    for bit in range(len(COCO_THRESHOLDS)):
        matches = np.bincount(label, cells.array("reachable")[:, bit], size).astype(np.int64)
        values += [
            int(np.count_nonzero(points <= matches[code] / truths[code])) / len(points) if matches[code] else 0.0
            for code in classes.tolist()
        ]
    return math.fsum(values) / len(values)
