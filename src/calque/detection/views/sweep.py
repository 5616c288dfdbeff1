"""The threshold sweep: precision, recall and F1 against the score below which predictions are dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Flags, Floats, Ints
from calque.core.ledger import Ledger
from calque.core.measures import Undefined, counts
from calque.core.presentation.result_schema import COUNT, NUMBER, SHARE, Schema, list_of, map_of, object_of, perhaps
from calque.core.presentation.sections import Section
from calque.detection.scoring import Status
from calque.detection.views.columns import NO_PART, RIGHT

if TYPE_CHECKING:
    from calque.detection.task import Detection

POINTS = 101
"""How many points of a curve are given, beside the best ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Precision, recall and F1 at every score that occurs, from the highest down."""

    scores: Floats
    tp: Ints
    fp: Ints
    truths: int
    """More than 0."""

    @classmethod
    def of(cls, scores: Floats, right: Flags, truths: int) -> Curve:
        """The curve of predictions, each right or wrong whatever comes after it."""
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        # Equal scores enter together: only the last of them is a point.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], np.ones(min(len(ranked), 1), dtype=np.bool_)))
        tp = np.cumsum(right[order])[last].astype(np.int64)
        return cls(ranked[last], tp, last + 1 - tp, truths)

    @property
    def precision(self) -> Floats:
        """TP / (TP + FP)."""
        return np.asarray(self.tp / (self.tp + self.fp))

    @property
    def recall(self) -> Floats:
        """TP / truths."""
        return np.asarray(self.tp / self.truths)

    @property
    def f1(self) -> Floats:
        """2·TP / (TP + FP + truths)."""
        return np.asarray(2 * self.tp / (self.tp + self.fp + self.truths))

    def point(self, place: int) -> dict[str, Any]:
        """Everything about one threshold."""
        tp, fp = int(self.tp[place]), int(self.fp[place])
        ratios = {name: float(getattr(self, name)[place]) for name in ("precision", "recall", "f1")}
        return {"score": float(self.scores[place]), "tp": tp, "fp": fp, "fn": self.truths - tp, **ratios}

    def best(self, among: Ints, *goals: Floats) -> int:
        """Of some points the one with the highest first goal, then the next, then the highest score."""
        # lexsort's last key weighs most; points stand from the highest score down, and sorting is stable.
        return int(among[np.lexsort([-goal[among] for goal in reversed(goals)])[0]])


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """The sweep at the lowest IoU threshold, over everything and for each class."""
    found, truth = ledger.table("found"), ledger.table("truth")
    labels = ledger.names["label"]
    kept = [(code, name) for code, name in enumerate(labels) if not task.labels or name in task.labels]
    head: dict[str, Any] = {
        "threshold": task.iou[0],
        "recall_floor": task.recall_floor or None,
        "precision_floor": task.precision_floor or None,
    }
    reason = _why_not(ledger)
    if reason is not None:
        return {**head, "overall": _nothing(task, reason), "per_class": {name: _nothing(task, reason) for _, name in kept}}
    part = np.flatnonzero(found.array("swept") != NO_PART)
    scores, label, right = found.array("score")[part], found.array("label")[part], found.array("swept")[part] == RIGHT
    counted = truth.array("label")[truth.array("status") == Status.COUNTED]
    truths = counts(counted, len(labels)).tolist()
    by_label = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[by_label], np.arange(len(labels) + 1))

    def of_class(code: int) -> dict[str, Any]:
        rows = by_label[bounds[code] : bounds[code + 1]]
        return _block(task, scores[rows], right[rows], truths[code])

    return {
        **head,
        "overall": _block(task, scores, right, len(counted)),
        "per_class": {name: of_class(code) for code, name in kept},
    }


def _why_not(ledger: Ledger) -> str | None:
    found = ledger.table("found")
    if "swept" not in found:
        return "some documents were scored without the sweep; evaluate them again with --sweep"
    unscored = int(np.isnan(found.array("score")[found.array("swept") != NO_PART]).sum())
    return f"{unscored:,} predictions have no score" if unscored else None


def _block(task: Detection, scores: Floats, right: Array, truths: int) -> dict[str, Any]:
    if not truths or not len(scores):
        return _nothing(task, "no predictions" if truths else "no truths")
    curve = Curve.of(scores, right, truths)
    best = curve.best(np.arange(len(curve.scores)), curve.f1)
    floor = _at_floor(task, curve)
    shown = sorted({*_spread(len(curve.scores)), best, best if floor is None else floor})
    return {
        "best_f1": curve.point(best),
        **_floor_point(task, curve, floor),
        "points": len(curve.scores),
        "curve": {name: getattr(curve, name)[shown].tolist() for name in ("scores", "precision", "recall", "f1")},
    }


def _nothing(task: Detection, reason: str) -> dict[str, Any]:
    floor = {"at_floor": Undefined(reason)} if task.recall_floor or task.precision_floor else {}
    curve: dict[str, Any] = {name: [] for name in ("scores", "precision", "recall", "f1")}
    return {"best_f1": Undefined(reason), **floor, "points": 0, "curve": curve}


def _at_floor(task: Detection, curve: Curve) -> int | None:
    """The best point that holds the floors: by precision over a recall floor, by recall over a precision floor, else by F1."""
    if not (task.recall_floor or task.precision_floor):
        return None
    among = np.flatnonzero((curve.recall >= task.recall_floor) & (curve.precision >= task.precision_floor))
    if not len(among):
        return None
    if task.recall_floor and task.precision_floor:
        return curve.best(among, curve.f1)
    first, second = (curve.precision, curve.recall) if task.recall_floor else (curve.recall, curve.precision)
    return curve.best(among, first, second)


def _floor_point(task: Detection, curve: Curve, place: int | None) -> dict[str, Any]:
    floors = {"recall": task.recall_floor, "precision": task.precision_floor}
    asked = {name: floor for name, floor in floors.items() if floor}
    if not asked:
        return {}
    if place is not None:
        return {"at_floor": curve.point(place)}
    wanted = " and ".join(f"{name} {floor!r}" for name, floor in asked.items())
    most = " and ".join(f"{name} {float(getattr(curve, name).max()):.4f}" for name in asked)
    return {"at_floor": Undefined(f"no score threshold has {wanted}; the most is {most}")}


def _spread(size: int) -> list[int]:
    """Places spread evenly over a curve, with both ends."""
    return list(range(size)) if size <= POINTS else [place * (size - 1) // (POINTS - 1) for place in range(POINTS)]


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The best thresholds."""
    keys = ("score", "precision", "recall", "f1", "tp", "fp", "fn")
    head = ("score", "precision", "recall", "F1", "TP", "FP", "FN")
    blocks = [*numbers["per_class"].items(), ("all", numbers["overall"])]
    titles = {
        "best_f1": f"Best score thresholds by F1 (IoU ≥ {numbers['threshold']!r}, paired by score)",
        "at_floor": _floor_title(numbers),
    }
    parts = []
    for kind, title in titles.items():
        if title:
            rows = [(name, *_cells(block[kind], keys)) for name, block in blocks]
            parts.append(Section(title=title, head=("class", *head), rows=rows, rule_before=len(rows) - 1))
    return parts


def _cells(point: Any, keys: Sequence[str]) -> list[Any]:
    """The numbers of a point, or of none the reason in the place of each."""
    return [point[key] for key in keys] if isinstance(point, Mapping) else [point] * len(keys)


def _floor_title(numbers: Mapping[str, Any]) -> str:
    floors = {"recall": numbers["recall_floor"], "precision": numbers["precision_floor"]}
    asked = [f"{name} ≥ {floor!r}" for name, floor in floors.items() if floor]
    return f"Best score thresholds with {' and '.join(asked)}" if asked else ""


def schema() -> Schema:
    """The JSON Schema of the view."""
    ratios = dict.fromkeys(("precision", "recall", "f1"), SHARE)
    point = perhaps(object_of({"score": NUMBER, **dict.fromkeys(("tp", "fp", "fn"), COUNT), **ratios}))
    curve = object_of(dict.fromkeys(("scores", *ratios), list_of(NUMBER)))
    block = object_of({"best_f1": point, "points": COUNT, "curve": curve}, {"at_floor": point})
    floors = dict.fromkeys(("recall_floor", "precision_floor"), SHARE)
    return object_of({"threshold": NUMBER, **floors, "overall": block, "per_class": map_of(block)})
