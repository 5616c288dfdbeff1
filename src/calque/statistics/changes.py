"""What is different between two runs, item by item: truths that were fixed or broken, false alarms, documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats
from calque.base.short_repr import short_repr
from calque.corpus.boxes import Corpus, UnitId, canonical
from calque.evaluation.boxes.overlay import Overlay
from calque.evaluation.boxes.pairing import greedy
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes
from calque.evaluation.result import Result

SAME_PLACE = 0.5
"""From which IoU on two false alarms of one page and label are the same."""
EQUAL = 1e-12
"""Scores of a document as near as this are equal."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A truth that one run treats otherwise than the first."""

    run: str
    document: UnitId
    page: int | None
    id: Any
    label: str
    change: str
    """``fixed``, ``broken``, or ``changed`` where only the kind of error is another."""
    before: str
    after: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        names = ("run", "document", "page", "id", "label", "change")
        return {**{name: getattr(self, name) for name in names}, "from": self.before, "to": self.after}


@dataclass(frozen=True, slots=True)
class Documents:
    """How many documents went better, equally well and worse than in the first run, and which."""

    better: int
    equal: int
    worse: int
    listed: tuple[dict[str, Any], ...]
    """Those that are not equal, from the largest difference on."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"better": self.better, "equal": self.equal, "worse": self.worse, "listed": list(self.listed)}


@dataclass(frozen=True, slots=True)
class Changes:
    """What one run does otherwise than the first."""

    changed: tuple[Changed, ...]
    new_alarms: int
    gone_alarms: int
    documents: Documents

    __repr__ = short_repr

    def count(self, change: str) -> int:
        """How many truths changed so."""
        return sum(one.change == change for one in self.changed)


def changes(run: str, base: tuple[Result, RunOutcomes], other: tuple[Result, RunOutcomes]) -> Changes:
    """What the other run does otherwise than the base."""
    new, gone = _alarms(base, other)
    return Changes(tuple(_changed(run, base, other)), new, gone, _documents(base, other))


def _changed(run: str, base: tuple[Result, RunOutcomes], other: tuple[Result, RunOutcomes]) -> Iterator[Changed]:
    before, after = (
        {(result.ledger.units[unit], place): row for row, (unit, place) in enumerate(zip(told.unit, told.place, strict=True))}
        for result, told in ((result, standing.truths) for result, standing in (base, other))
    )
    old, new = base[1].truths, other[1].truths
    for (document, place), row in before.items():
        at = after.get((document, place))
        if at is None or (old.kind[row] == new.kind[at] and old.right[row] == new.right[at]):
            continue
        change = "fixed" if new.right[at] > old.right[row] else "broken" if new.right[at] < old.right[row] else "changed"
        yield Changed(run, document, old.page[row], old.id[row], old.label[row], change, old.kind[row], new.kind[at])


def _alarms(base: tuple[Result, RunOutcomes], other: tuple[Result, RunOutcomes]) -> tuple[int, int]:
    """How many false alarms are new, and how many are gone."""
    new, gone = alarm_places(base, other)
    return len(new), len(gone)


def alarm_places(base: tuple[Result, RunOutcomes], other: tuple[Result, RunOutcomes]) -> tuple[list[int], list[int]]:
    """Which false alarms of the other run are new, and which of the base are gone: places among each one's alarms."""
    old, new = ((result.ledger.units, standing.alarms) for result, standing in (base, other))
    if old[1].boxes is None or new[1].boxes is None:
        keys = [[(units[unit], label) for unit, label in zip(told.unit, told.label, strict=True)] for units, told in (old, new)]
        return _beyond(keys[1], Counter(keys[0])), _beyond(keys[0], Counter(keys[1]))
    overlay = Overlay.of(_corpus(*old), _corpus(*new))
    nothing = [np.zeros(len(layer), dtype=np.uint8) for layer in (overlay.truth, overlay.found)]
    pairing = greedy(overlay, *nothing, threshold=SAME_PLACE)
    free = np.ones(len(overlay.found), dtype=np.bool_)
    free[pairing.truth_match[pairing.truth_match >= 0]] = False
    return np.flatnonzero(free).tolist(), np.flatnonzero(pairing.truth_match < 0).tolist()


def _beyond(keys: list[tuple[UnitId, str]], known: Counter[tuple[UnitId, str]]) -> list[int]:
    """Places of keys that occur more often here than there, each occurrence beyond that."""
    left, places = Counter(known), []
    for place, key in enumerate(keys):
        left[key] -= 1
        if left[key] < 0:
            places.append(place)
    return places


def _corpus(units: tuple[UnitId, ...], alarms: FalsePositives) -> Any:
    documents = [units[unit] for unit in alarms.unit]
    boxes = alarms.boxes if alarms.boxes is not None else np.zeros((0, 4))
    return Corpus.from_arrays(boxes, list(alarms.label), documents=documents, pages=list(alarms.page))


def _documents(base: tuple[Result, RunOutcomes], other: tuple[Result, RunOutcomes]) -> Documents:
    """A document in which there was nothing to do, and nothing was done, went as well as can be."""
    scores = [_by_document(*side) for side in (base, other)]
    units = sorted({*scores[0], *scores[1]}, key=canonical)
    before, after = (np.array([one.get(unit, np.nan) for unit in units], dtype=np.float64) for one in scores)
    difference: Floats = np.nan_to_num(after, nan=1.0) - np.nan_to_num(before, nan=1.0)
    better: Flags = difference > EQUAL
    worse: Flags = difference < -EQUAL
    order = np.argsort(-np.abs(difference), kind="stable")
    listed = [
        {
            "document": units[at],
            "change": "better" if better[at] else "worse",
            "from": _number(before[at]),
            "to": _number(after[at]),
        }
        for at in order.tolist()
        if better[at] or worse[at]
    ]
    counts = int(better.sum()), int(worse.sum())
    return Documents(counts[0], len(units) - sum(counts), counts[1], tuple(listed))


def _by_document(result: Result, standing: RunOutcomes) -> dict[UnitId, float]:
    return dict(zip(result.ledger.units, standing.scores.tolist(), strict=True))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
