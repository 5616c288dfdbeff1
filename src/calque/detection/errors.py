"""The numbers of error kinds: counts, shares of the area, and what repairing a kind would be worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Fractions, Undefined, counts, number
from calque.detection.coco import RECALL_POINTS, image_order
from calque.detection.taxonomy import Kind, Subtype
from calque.kernels import kernels

if TYPE_CHECKING:
    from calque.detection.task import Detection

FOUND_KINDS = (
    Kind.TP, Kind.CLS, Kind.MERGE, Kind.SPLIT, Kind.DUP, Kind.DUP_CLS,
    Kind.FRAGMENT, Kind.ENVELOPE, Kind.LOC, Kind.BOTH, Kind.BKG,
)  # fmt: skip
TRUTH_KINDS = (Kind.TP, Kind.CLS, Kind.MERGED, Kind.SPLIT, Kind.LOC, Kind.BOTH, Kind.MISS, Kind.PARTIAL)
REPAIRS: Mapping[Kind, tuple[Kind, ...]] = {
    **{kind: (kind,) for kind in FOUND_KINDS if kind is not Kind.TP},
    Kind.MERGE: (Kind.MERGE, Kind.MERGED),
    Kind.MISS: (Kind.MISS,),
    Kind.PARTIAL: (Kind.PARTIAL,),
}
"""What is repaired together, by the name under which its worth is listed."""

MOVED = (Kind.CLS, Kind.LOC, Kind.BOTH)
"""Kinds whose prediction an oracle puts in its place; other predictions it takes away."""

SUBTYPES = {Subtype.TIGHT: "TIGHT", Subtype.LOOSE: "LOOSE", Subtype.SHIFT: "SHIFT"}
FLAGS = {Subtype.SWALLOWS: "swallows", Subtype.EMPTY_PAGE: "empty_page"}
SUBTYPE_NAMES = {Subtype.NONE: "", **SUBTYPES, **FLAGS}
WORST = 10
"""How many documents are listed."""

NO_AREA = "no area"
NO_OBJECTS = "no truths and no predictions"


@dataclass(frozen=True)
class View:
    """Which kinds there are, and what they are called."""

    found: Mapping[Kind, str]
    """The kinds of predictions."""
    truth: Mapping[Kind, str]
    repairs: Mapping[Kind, str]
    """What can be repaired."""

    @property
    def names(self) -> dict[Kind, str]:
        """All kinds of both sides."""
        return {Kind.NONE: "", **self.found, **self.truth}


KINDS = View(
    found={kind: kind.name for kind in FOUND_KINDS},
    truth={kind: kind.name for kind in TRUTH_KINDS},
    repairs={kind: kind.name for kind in REPAIRS},
)
TIDE = View(
    found={Kind.TP: "TP", Kind.CLS: "Cls", Kind.LOC: "Loc", Kind.BOTH: "Both", Kind.DUP: "Dupe", Kind.BKG: "Bkg"},
    truth={Kind.TP: "TP", Kind.CLS: "Cls", Kind.LOC: "Loc", Kind.MISS: "Miss"},
    repairs={
        Kind.CLS: "Cls", Kind.LOC: "Loc", Kind.BOTH: "Both", Kind.DUP: "Dupe", Kind.BKG: "Bkg", Kind.MISS: "Miss",
    },
)  # fmt: skip
VIEWS = {"kinds": KINDS, "tide": TIDE}


def measure(task: Detection, ledger: Ledger, jobs: int = 1) -> dict[str, Any]:
    """What stands under ``errors`` in the JSON."""
    view = VIEWS[task.errors]
    truth, found = ledger.table("truth"), ledger.table("found")
    subtypes = counts(found.array("subtype"), len(Subtype)).tolist()
    numbers: dict[str, Any] = {
        "predictions": _by_kind(found.array("kind"), view.found),
        "truth": _by_kind(truth.array("kind"), view.truth),
    }
    if task.errors == "kinds":
        numbers["subtypes"] = {name: subtypes[code] for code, name in SUBTYPES.items()}
        numbers["flags"] = {name: subtypes[code] for code, name in FLAGS.items()}
    numbers["area_share"] = {"predictions": _area_share(found, view.found), "truth": _area_share(truth, view.truth)}
    numbers["impact"] = _impact(view, ledger, jobs)
    numbers["per_class"] = _per_class(task, ledger, view)
    numbers["worst_documents"] = _worst_documents(ledger, view)
    return numbers


def _by_kind(kinds: Array, names: Mapping[Kind, str]) -> dict[str, int]:
    per_kind = counts(kinds, len(Kind)).tolist()
    return {name: per_kind[kind] for kind, name in names.items()}


def _area_share(table: Table, names: Mapping[Kind, str]) -> dict[str, float | Undefined]:
    """The area of each kind over the area of all that counts, the same for any order of documents."""
    area = np.where(table.array("kind") == Kind.NONE, 0.0, table.array("area"))
    largest = float(area.max(initial=0.0))
    if largest <= 0:
        return dict.fromkeys(names.values(), Undefined(NO_AREA))
    # A power of two brings areas to [0, 1] without touching their digits.
    sums = Fractions.of(np.ldexp(area, -int(np.frexp(largest)[1]))).sums(table.array("kind"), len(Kind))
    total = float(sums[1:].sum())
    return {name: float(sums[kind]) / total for kind, name in names.items()}


def _impact(view: View, ledger: Ledger, jobs: int) -> dict[str, dict[str, float | Undefined]]:
    truth, found = ledger.table("truth").array("kind"), ledger.table("found").array("kind")
    per_truth, per_found = counts(truth, len(Kind)), counts(found, len(Kind))
    deltas = _delta_ap(view, ledger, jobs)
    return {
        name: {"delta_f1": delta_f1(per_truth, per_found, REPAIRS[kind]), "delta_ap": deltas[kind]}
        for kind, name in view.repairs.items()
    }


def delta_f1(per_truth: Ints, per_found: Ints, repaired: tuple[Kind, ...]) -> float | Undefined:
    """F1 once these kinds are repaired, less F1 as it is.

    An oracle finds every truth of the kind (TP + 1, FN − 1) and takes every prediction of the kind from the false
    positives: it becomes the one that finds its truth, or goes.

    >>> tally = np.bincount([Kind.TP, Kind.LOC], minlength=len(Kind))
    >>> delta_f1(tally, tally, (Kind.LOC,))
    0.5
    """
    tp = int(per_truth[Kind.TP])
    wrong, missed = int(per_found[1:].sum()) - tp, int(per_truth[1:].sum()) - tp
    won, gone = int(per_truth[list(repaired)].sum()), int(per_found[list(repaired)].sum())
    if not tp + wrong + missed:
        return Undefined(NO_OBJECTS)
    return _f1(tp + won, wrong - gone, missed - won) - _f1(tp, wrong, missed)


def _f1(tp: int, wrong: int, missed: int) -> float:
    return 2 * tp / (2 * tp + wrong + missed) if tp + wrong + missed else 1.0


@dataclass(frozen=True, eq=False)
class _Curve:
    """What average precision at one threshold needs: predictions with label and score, which are right, and the truths."""

    label: Codes
    """-1 where a prediction is not there."""
    score: Floats
    right: Flags
    truths: Ints
    """How many of each label there are to find."""

    def average(self, jobs: int) -> float:
        classes = len(self.truths)
        order, offsets = kernels().score_order(self.label, self.score, classes, jobs)
        nothing = np.zeros(len(self.label), np.uint16)
        precision, _, _ = kernels().coco_accumulate(
            order, offsets, self.score, np.zeros(len(self.label), np.int32),
            self.right.astype(np.uint16), nothing, self.truths, 1, RECALL_POINTS, 1, jobs,
        )  # fmt: skip
        defined = precision[precision > -1]
        return float(defined.mean()) if defined.size else float("nan")


def _delta_ap(view: View, ledger: Ledger, jobs: int) -> dict[Kind, float | Undefined]:
    """AP at the limit of a match once a kind is repaired, less AP as it is; the pairs are those of the kinds."""
    truth, found = ledger.table("truth"), ledger.table("found")
    kind = found.array("kind")
    scores = found.array("score")[kind != Kind.NONE]
    if np.isnan(scores).any():
        return dict.fromkeys(view.repairs, Undefined(f"{int(np.isnan(scores).sum()):,} predictions have no score"))
    if not len(scores) or scores.min() == scores.max():
        return dict.fromkeys(view.repairs, Undefined("all predictions have the same score"))
    moved_to, kept_place = _moves(ledger)
    order = image_order(ledger)
    classes = len(ledger.names["label"])
    truth_kind, truth_label = truth.array("kind"), truth.array("label")
    as_is = _Curve(
        label=np.where(kind == Kind.NONE, np.int32(-1), found.array("label")),
        score=found.array("score"),
        right=kind == Kind.TP,
        truths=counts(truth_label[truth_kind != Kind.NONE], classes),
    )

    def average(curve: _Curve) -> float:
        if order is not None:
            curve = replace(curve, label=curve.label[order], score=curve.score[order], right=curve.right[order])
        return curve.average(jobs)

    def repaired(kinds: tuple[Kind, ...]) -> _Curve:
        touched = np.isin(kind, kinds)
        moved = touched & (moved_to >= 0)
        unscored = np.isin(truth_kind, kinds) & ~kept_place
        return replace(
            as_is,
            label=np.where(moved, moved_to, np.where(touched, np.int32(-1), as_is.label)).astype(np.int32),
            right=as_is.right | moved,
            # What the oracle adds has no score: those truths need no longer be found.
            truths=as_is.truths - counts(truth_label[unscored], classes),
        )

    before = average(as_is)
    there = counts(kind, len(Kind)) + counts(truth_kind, len(Kind))
    return {
        one: number(
            average(repaired(REPAIRS[one])) - before if there[list(REPAIRS[one])].any() else before - before, "no truths"
        )
        for one in view.repairs
    }


def _moves(ledger: Ledger) -> tuple[Codes, Flags]:
    """For each prediction the label under which an oracle would make it right, or -1; for each truth whether one is."""
    truth, found = ledger.table("truth"), ledger.table("found")
    fixable = np.isin(truth.array("kind"), MOVED)
    rows = np.flatnonzero(fixable)
    partner = ledger.absolute("found", truth.array(UNIT)[rows], truth.array("partner")[rows])
    moved_to = np.full(found.height, -1, np.int32)
    moved_to[partner] = truth.array("label")[rows]
    return moved_to, fixable


def _per_class(task: Detection, ledger: Ledger, view: View) -> dict[str, Any]:
    labels = ledger.names["label"]
    found, truth = _grid(ledger.table("found"), "label", len(labels)), _grid(ledger.table("truth"), "label", len(labels))
    return {
        label: {
            "predictions": {name: int(found[code, kind]) for kind, name in view.found.items()},
            "truth": {name: int(truth[code, kind]) for kind, name in view.truth.items()},
        }
        for code, label in enumerate(labels)
        if not task.labels or label in task.labels
    }


def _grid(table: Table, column: str, size: int) -> Ints:
    """How many rows there are of each value of a column and each kind; what does not count is left out."""
    kind = table.array("kind")
    rows = kind != Kind.NONE
    cells = table.array(column)[rows].astype(np.int64) * len(Kind) + kind[rows]
    return counts(cells, size * len(Kind)).reshape(size, len(Kind))


def by_document(ledger: Ledger, view: View = KINDS) -> Table:
    """One row for each document: how many predictions and truths of each kind it has."""
    units = len(ledger.units)
    found, truth = _grid(ledger.table("found"), UNIT, units), _grid(ledger.table("truth"), UNIT, units)
    return Table({
        "document": Strings.pack(str(unit) for unit in ledger.units),
        **{f"predictions_{name}": found[:, kind] for kind, name in view.found.items()},
        **{f"truth_{name}": truth[:, kind] for kind, name in view.truth.items()},
    })  # fmt: skip


def _worst_documents(ledger: Ledger, view: View) -> list[dict[str, Any]]:
    """The documents with most errors, and which."""
    units = len(ledger.units)
    found, truth = _grid(ledger.table("found"), UNIT, units), _grid(ledger.table("truth"), UNIT, units)
    wrong = found[:, Kind.TP + 1 :].sum(axis=1) + truth[:, Kind.TP + 1 :].sum(axis=1)
    worst = np.argsort(-wrong, kind="stable")[:WORST]
    return [
        {
            "document": ledger.units[unit],
            "errors": int(wrong[unit]),
            "predictions": {name: int(found[unit, kind]) for kind, name in view.found.items() if found[unit, kind]},
            "truth": {name: int(truth[unit, kind]) for kind, name in view.truth.items() if truth[unit, kind]},
        }
        for unit in worst.tolist()
        if wrong[unit]
    ]
