"""The threshold sweep: precision, recall and F1 against the score below which predictions are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from calque.base.columns import Floats, Ints, where_else
from calque.detection.average_precision import without_score
from calque.detection.scoring import Status
from calque.detection.views.columns import NO_PART, RIGHT
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Undefined, counts
from calque.evaluation.presentation.result_schema import COUNT, NUMBER, SHARE, Schema, list_of, map_of, object_of, perhaps
from calque.evaluation.presentation.sections import Section
from calque.evaluation.storage.ranking import Ranking, Rows

if TYPE_CHECKING:
    from calque.detection.task import Detection

POINTS = 101
"""How many points of a curve are given, beside the best ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Precision, recall and F1 at scores that occur, from the highest down."""

    scores: Floats
    tp: Ints
    fp: Ints
    truths: int
    """More than 0."""
    first: int = 0
    """How many points of the whole curve come before these."""

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


Drawing: TypeAlias = "Callable[[], Iterator[Curve]]"
"""Draws a curve from its beginning, some points at a time."""


class Predictions:
    """The predictions that take part, by class and score, or all classes as one."""

    def __init__(self, ledger: Ledger, classes: int) -> None:
        self._ranking = Ranking((_rows(piece, classes) for piece in ledger.pieces()), classes)

    def points(self, code: int, truths: int) -> Iterator[Curve]:
        """The curve of a class, each prediction being right or wrong whatever comes after it.

        Equal scores enter together: only the last of them is a point, wherever ranges end.
        """
        first = tp = seen = 0
        waiting: tuple[float, int, int] | None = None
        for ranked in self._ranking.ranges(code):
            start, stop = ranked.order.class_offsets[code : code + 2].tolist()
            if start == stop:
                continue
            scores, right = ranked.scores[start:stop], ranked.columns[0][start:stop]
            last = np.flatnonzero(scores[1:] != scores[:-1])
            hits = tp + np.cumsum(right)
            begun = [waiting] if waiting is not None and waiting[0] != scores[0] else []
            column = [np.array([point[place] for point in begun]) for place in range(3)]
            tps = np.concatenate([column[1], hits[last]]).astype(np.int64)
            alls = np.concatenate([column[2], seen + last + 1]).astype(np.int64)
            if len(tps):
                yield Curve(np.concatenate([column[0], scores[last]]), tps, alls - tps, truths, first)
            first += len(tps)
            tp, seen = int(hits[-1]), seen + stop - start
            waiting = float(scores[-1]), tp, seen
        if waiting is not None:
            score, tp, seen = waiting
            yield Curve(np.array([score]), np.array([tp]), np.array([seen - tp]), truths, first)


def _rows(piece: Piece, classes: int) -> Rows:
    found = piece.ledger.table("found")
    swept = found.array("swept")
    label = found.array("label") if classes > 1 else np.zeros(len(swept), np.int32)
    labels = where_else(swept != NO_PART, label, -1)
    return Rows(labels, found.array("score"), (swept == RIGHT,), partial(_documents, piece))


def _documents(piece: Piece) -> Ints:
    return np.asarray(piece.places[piece.ledger.table("found").array(UNIT)], dtype=np.int64)


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """The sweep at the lowest IoU threshold, over everything and for each class."""
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
    truths = np.zeros(len(labels), np.int64)
    for piece in ledger.pieces():
        truth = piece.ledger.table("truth")
        truths += counts(truth.array("label")[truth.array("status") == Status.COUNTED], len(labels))
    everything, by_class = Predictions(ledger, 1), Predictions(ledger, max(len(labels), 2))

    def block(of: Predictions, code: int, there: int) -> dict[str, Any]:
        return _block(task, partial(of.points, code, there), there)

    return {
        **head,
        "overall": block(everything, 0, int(truths.sum())),
        "per_class": {name: block(by_class, code, int(truths[code])) for code, name in kept},
    }


def _why_not(ledger: Ledger) -> str | None:
    unscored = 0
    for piece in ledger.pieces():
        found = piece.ledger.table("found")
        if "swept" not in found:
            return "some documents were scored without the sweep; evaluate them again with --sweep"
        unscored += int(np.isnan(found.array("score")[found.array("swept") != NO_PART]).sum())
    return without_score(unscored) if unscored else None


class Search:
    """What a curve is asked for: its best point, the best that holds the floors, the highest precision and recall."""

    def __init__(self, task: Detection) -> None:
        self._task = task
        self.best: Found | None = None
        self.at_floor: Found | None = None
        self.most = {"precision": 0.0, "recall": 0.0}
        self.points = 0

    def add(self, curve: Curve) -> None:
        """Look at some points."""
        self.points += len(curve.scores)
        self.best = _better(self.best, curve, np.arange(len(curve.scores)), curve.f1)
        self.most = {name: max(most, float(getattr(curve, name).max())) for name, most in self.most.items()}
        task = self._task
        if not (task.recall_floor or task.precision_floor):
            return
        among = np.flatnonzero((curve.recall >= task.recall_floor) & (curve.precision >= task.precision_floor))
        if task.recall_floor and task.precision_floor:
            self.at_floor = _better(self.at_floor, curve, among, curve.f1)
            return
        first, second = (curve.precision, curve.recall) if task.recall_floor else (curve.recall, curve.precision)
        self.at_floor = _better(self.at_floor, curve, among, first, second)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A point of a curve."""

    goals: tuple[float, ...]
    place: int
    point: Mapping[str, Any]


def _better(before: Found | None, curve: Curve, among: Ints, *goals: Floats) -> Found | None:
    """The best of some points, unless one with a higher score is as good: by the first goal, then the next."""
    if not len(among):
        return before
    place = curve.best(among, *goals)
    reached = tuple(float(goal[place]) for goal in goals)
    return before if before is not None and reached <= before.goals else Found(reached, curve.first + place, curve.point(place))


def _block(task: Detection, draw: Drawing, truths: int) -> dict[str, Any]:
    if not truths:
        return _nothing(task, "no truths")
    search = Search(task)
    for curve in draw():
        search.add(curve)
    if search.best is None:
        return _nothing(task, "no predictions")
    places = {*_spread(search.points), search.best.place}
    if search.at_floor is not None:
        places.add(search.at_floor.place)
    return {
        "best_f1": search.best.point,
        **_floor_point(task, search),
        "points": search.points,
        "curve": _shown(draw, sorted(places)),
    }


def _shown(draw: Drawing, places: Sequence[int]) -> dict[str, list[float]]:
    """The points of a curve at these places."""
    shown: dict[str, list[float]] = {name: [] for name in ("scores", "precision", "recall", "f1")}
    for curve in draw():
        here = [place - curve.first for place in places if 0 <= place - curve.first < len(curve.scores)]
        for name in shown:
            shown[name] += getattr(curve, name)[here].tolist()
    return shown


def _nothing(task: Detection, reason: str) -> dict[str, Any]:
    floor = {"at_floor": Undefined(reason)} if task.recall_floor or task.precision_floor else {}
    curve: dict[str, Any] = {name: [] for name in ("scores", "precision", "recall", "f1")}
    return {"best_f1": Undefined(reason), **floor, "points": 0, "curve": curve}


def _floor_point(task: Detection, search: Search) -> dict[str, Any]:
    floors = {"recall": task.recall_floor, "precision": task.precision_floor}
    asked = {name: floor for name, floor in floors.items() if floor}
    if not asked:
        return {}
    if search.at_floor is not None:
        return {"at_floor": search.at_floor.point}
    wanted = " and ".join(f"{name} {floor!r}" for name, floor in asked.items())
    most = " and ".join(f"{name} {search.most[name]:.4f}" for name in asked)
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
