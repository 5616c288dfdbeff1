"""The numbers of error kinds: counts, shares of the area, and what repairing a kind would be worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from calque.base.columns import Array, Codes, Floats, Ints, Table, where_else
from calque.corpus.boxes import UnitId
from calque.detection.average_precision import ImagePlaces, image_order, without_score
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Measure, MeasureName, Undefined, counts, fraction_parts, joined_fractions, number
from calque.evaluation.storage.ranking import RankRange, Rows
from calque.geometry.forms import RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import Kind, Subtype, Verdicts

if TYPE_CHECKING:
    from calque.detection.task import Detection

FOUND_KINDS = (
    Kind.TP, Kind.CLS, Kind.MERGE, Kind.SPLIT, Kind.DUP, Kind.DUP_CLS,
    Kind.FRAGMENT, Kind.ENVELOPE, Kind.LOC, Kind.BOTH, Kind.BKG,
)  # fmt: skip
TRUTH_KINDS = (Kind.TP, Kind.CLS, Kind.MERGED, Kind.SPLIT, Kind.LOC, Kind.BOTH, Kind.MISS, Kind.PARTIAL)
Repair: TypeAlias = tuple[Kind, ...]
SIDES = ("truth", "found")
Grids: TypeAlias = Ints
"""Of truths, then of predictions, how many there are of each class and kind."""
REPAIRS: Mapping[Kind, Repair] = {
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

NO_OBJECTS = "no truths and no predictions"
NO_TRUTHS = "no truths"
SOURCE = "calque; see Error kinds in the documentation"


TIDE_SOURCE = "TIDE (Bolya et al. 2020); with --errors tide"


def _kind(kind: Kind, definition: str, rule: str) -> Measure:
    return Measure(kind.name, kind.name, definition, rule, SOURCE, "never")


def _tide_type(name: str, definition: str, rule: str) -> Measure:
    return Measure(name, name, definition, rule, TIDE_SOURCE, "never")


TIDE_MEASURES = (
    _tide_type(
        "Cls",
        "Predictions with a correct box and a wrong label.",
        "IoU >= T with a ground-truth object of another label, and not Loc",
    ),
    _tide_type(
        "Loc", "Predictions with a correct label and a poor box.", "tb <= IoU <= T with a ground-truth object of the same label"
    ),
    _tide_type("Both", "Predictions with a wrong label and a poor box.", "tb < IoU, and no other type"),
    _tide_type(
        "Dupe",
        "Predictions of a ground-truth object that a prediction with a higher score matches.",
        "IoU >= T with a matched ground-truth object of the same label",
    ),
    _tide_type("Bkg", "Predictions on the background.", "IoU <= tb with every ground-truth object"),
    _tide_type("Miss", "Ground-truth objects that are not matched.", "neither matched nor the cause of a Loc or Cls error"),
)
"""The metrics of TIDE's error types, for `calque explain`."""


MEASURES = (
    _kind(
        Kind.CLS, "The right place under another label.", "IoU >= T with a truth of another label, 1:1, when neither is paired"
    ),
    _kind(Kind.MERGE, "A prediction that holds several truths.", "coverage >= ρ of two or more truths"),
    _kind(
        Kind.MERGED,
        "A truth inside a prediction that holds several.",
        "covered >= ρ by a MERGE, or by a prediction of another truth",
    ),
    _kind(
        Kind.SPLIT,
        "A truth found in pieces, and the pieces.",
        "two or more of purity >= ρ and coverage < κ that cover >= ρ together",
    ),
    _kind(Kind.DUP, "One more prediction of a truth that is found.", "IoU >= T with a TP or CLS truth of the same label"),
    _kind(
        Kind.DUP_CLS,
        "One more prediction of a truth that is found, under another label.",
        "IoU >= T with a TP or CLS truth of another label",
    ),
    _kind(Kind.FRAGMENT, "A piece of a truth that is found.", "purity >= κ in a TP or CLS truth"),
    _kind(Kind.ENVELOPE, "A large box around a truth that is found.", "coverage >= κ of a TP or CLS truth"),
    _kind(
        Kind.LOC,
        "The right label in a poor place: too tight, too loose, or shifted.",
        "tb <= IoU < T with a truth of the same label",
    ),
    _kind(Kind.BOTH, "Another label and a poor place.", "tb <= IoU < T with a truth of another label"),
    _kind(Kind.BKG, "A prediction where nothing is.", "every other prediction"),
    _kind(Kind.MISS, "A truth where nothing was predicted.", "all predictions together cover < tb of it"),
    _kind(Kind.PARTIAL, "A truth that predictions touch, and none of them explains.", "every other truth"),
    Measure(
        "delta_f1",
        "ΔF1",
        "What F1 would gain if an oracle repaired one kind of error; written delta_f1/KIND.",
        "F1 after the repair − F1",
        SOURCE,
        NO_TRUTHS,
    ),
    Measure(
        "delta_ap",
        "ΔAP",
        "What average precision at T would gain if an oracle repaired one kind of error; written delta_ap/KIND. "
        "A repaired prediction keeps its score; among equal scores it stands where its document, page and position put it.",
        "AP after the repair − AP",
        SOURCE,
        "scores are missing or all the same, no predictions, or no truths",
    ),
    *TIDE_MEASURES,
)
"""What `calque explain` knows of error kinds."""


NO_AREA = "no area"


@dataclass(frozen=True, slots=True)
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

    def measures(self) -> dict[str, tuple[str, Kind]]:
        """Return the name of each error type with the side on which it is counted; predictions come first."""
        sides = (("truth", self.truth), ("found", self.found))
        return {name: (side, kind) for side, kinds in sides for kind, name in kinds.items()}


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

_SIDES = {name: side for view in VIEWS.values() for name, (side, _) in view.measures().items()}
"""The side on which each error type is counted."""


def address(name: MeasureName) -> tuple[str, ...] | None:
    """Return where the JSON has the count or the gain of an error type; ``None`` for other names."""
    if name.threshold is not None or name.scope:
        return None
    if name.name in ("delta_f1", "delta_ap"):
        return "errors", "impact", name.label or "", name.name
    side = _SIDES.get(name.name)
    if side is None:
        return None
    side = "predictions" if side == "found" else side
    return ("errors", side, name.name) if name.label is None else ("errors", "per_class", name.label, side, name.name)


class Tallies:
    """What pieces of a ledger add up to: kinds by class, subtypes, the worst documents, and what ranking has to know."""

    def __init__(self, errors: str, piece: Piece) -> None:
        truth, found = piece.ledger.table("truth"), piece.ledger.table("found")
        classes = len(piece.ledger.names["label"])
        self.grids: Grids = np.stack([_grid(table, "label", classes) for table in (truth, found)])
        kinds = errors == "kinds"
        self.subtypes = counts(found.array("subtype"), len(Subtype)) if kinds else np.zeros(len(Subtype), np.int64)
        self.largest = [
            float(table.array("area").max(where=table.array("kind") != Kind.NONE, initial=0.0)) for table in (truth, found)
        ]
        self.worst = Worst(piece)
        counting = found.array("kind") != Kind.NONE
        scores = found.array("score") if counting.all() else found.array("score")[counting]
        self._rows, self._unscored = len(scores), int(np.isnan(scores).sum())
        self._lowest, self._highest = float(scores.min(initial=math.inf)), float(scores.max(initial=-math.inf))

    def join(self, other: Tallies) -> Tallies:
        """Of both together."""
        self.grids += other.grids
        self.subtypes += other.subtypes
        self.largest = [max(pair) for pair in zip(self.largest, other.largest, strict=True)]
        self.worst = self.worst.join(other.worst)
        self._rows, self._unscored = self._rows + other._rows, self._unscored + other._unscored
        self._lowest, self._highest = min(self._lowest, other._lowest), max(self._highest, other._highest)
        return self

    def why_not(self) -> str:
        """Why repairs have no worth in AP; nothing where they have."""
        if self._unscored:
            return without_score(self._unscored)
        if not self._rows:
            return "no predictions"
        return "all predictions have the same score" if self._lowest == self._highest else ""


def measure(task: Detection, ledger: Ledger, jobs: int = 1) -> dict[str, Any]:
    """What stands under ``errors`` in the JSON."""
    view = VIEWS[task.errors]
    tallies = ledger.fold(partial(Tallies, task.errors))
    grids, subtypes = tallies.grids, tallies.subtypes
    numbers: dict[str, Any] = {"predictions": _by_kind(grids[1], view.found), "truth": _by_kind(grids[0], view.truth)}
    if task.errors == "kinds":
        numbers["subtypes"] = {name: int(subtypes[code]) for code, name in SUBTYPES.items()}
        numbers["flags"] = {name: int(subtypes[code]) for code, name in FLAGS.items()}
    areas = ledger.fold(partial(Areas, tallies.largest))
    numbers["area_share"] = {"predictions": areas.shares(1, view.found), "truth": areas.shares(0, view.truth)}
    numbers["impact"] = _impact(view, ledger, tallies, jobs)
    numbers["per_class"] = _per_class(task, ledger, view, grids)
    numbers["worst_documents"] = tallies.worst.listed(view)
    return numbers


def _by_kind(grid: Ints, names: Mapping[Kind, str]) -> dict[str, int]:
    per_kind = grid.sum(axis=0).tolist()
    return {name: per_kind[kind] for kind, name in names.items()}


class Areas:
    """The area of each kind, of truths and of predictions, as whole numbers that no order changes."""

    def __init__(self, largest: Sequence[float], piece: Piece) -> None:
        self._sums = [self._of(piece.ledger.table(side), most) for side, most in zip(SIDES, largest, strict=True)]

    @staticmethod
    def _of(table: Table, largest: float) -> Ints:
        if largest <= 0:
            return np.zeros((2, len(Kind) - 1), np.int64)
        # A power of two brings areas to [0, 1] without touching their digits; what does not count goes to group -1.
        scale = 2.0 ** min(-int(np.frexp(largest)[1]), 1023)
        return fraction_parts(table.array("area"), table.array("kind").astype(np.int32) - 1, len(Kind) - 1, scale)

    def join(self, other: Areas) -> Areas:
        """Of both together."""
        self._sums = [one + two for one, two in zip(self._sums, other._sums, strict=True)]
        return self

    def shares(self, side: int, names: Mapping[Kind, str]) -> dict[str, float | Undefined]:
        """The area of each kind over the area of all that counts."""
        sums = joined_fractions(self._sums[side])
        total = float(sums.sum())
        if total <= 0:
            return dict.fromkeys(names.values(), Undefined(NO_AREA))
        return {name: float(sums[kind - 1]) / total for kind, name in names.items()}


def _impact(view: View, ledger: Ledger, tallies: Tallies, jobs: int) -> dict[str, dict[str, float | Undefined]]:
    per_truth, per_found = (grid.sum(axis=0) for grid in tallies.grids)
    deltas = _delta_ap(view, ledger, tallies, jobs)
    return {
        name: {"delta_f1": delta_f1(per_truth, per_found, REPAIRS[kind]), "delta_ap": deltas[kind]}
        for kind, name in view.repairs.items()
    }


def delta_f1(per_truth: Ints, per_found: Ints, repaired: Repair) -> float | Undefined:
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
    if not tp + missed:
        # Without a truth there is nothing that a repair could bring F1 to.
        return Undefined(NO_TRUTHS)
    return _f1(tp + won, wrong - gone, missed - won) - _f1(tp, wrong, missed)


def _f1(tp: int, wrong: int, missed: int) -> float:
    return 2 * tp / (2 * tp + wrong + missed) if tp + wrong + missed else 1.0


def _averages(ledger: Ledger, repairs: Sequence[Repair], truths: Ints, jobs: int) -> list[float]:
    """AP after each repair, when so many truths (by repair and class) are to be found; NaN without truths.

    A prediction that an oracle can put right stands here twice: as it is, and right after that as it would be, so that ties
    in score go by document, page and position, before and after the repair.
    """
    drawing = Drawing(repairs, truths, jobs)
    rows = ledger.ranked(partial(_as_is_and_would_be, ImagePlaces(ledger)), len(ledger.names["label"]), jobs)
    curves = rows.fold(drawing.count, drawing).precision
    return [float(curve[curve > -1].mean()) if (curve > -1).any() else math.nan for curve in curves]


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Computes the curves after each repair, of ranges of a ranking."""

    repairs: Sequence[Repair]
    truths: Ints
    jobs: int = 1

    def count(self, ranked: RankRange) -> Ints:
        """True and false positives."""
        return _hits(ranked, _masks(self.repairs), len(self.repairs))

    def __call__(self, ranked: RankRange, before: Ints | None) -> Envelope:
        """The curves of a range."""
        (place,) = ranked.columns
        right, absent = (np.take(mask, place) for mask in _masks(self.repairs))
        verdicts = Verdicts(np.zeros(len(place), np.int32), right, absent)
        precision, _, _ = kernels().coco_accumulate(
            ranked.order, ranked.scores, verdicts, self.truths, np.array(RECALL_POINTS), 1, self.jobs, before
        )
        return Envelope(precision)


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Precision by repair, recall point and class."""

    precision: Floats

    def join(self, other: Envelope) -> Envelope:
        """The higher of both."""
        return Envelope(np.maximum(self.precision, other.precision))


def _as_is_and_would_be(images: ImagePlaces, piece: Piece) -> Rows:
    """The predictions of a piece as `_averages` ranks them: the kind of each, and whether it is as it would be."""
    found = piece.ledger.table("found")
    kind = found.array("kind")
    columns: list[Array] = [kind, where_else(kind != Kind.NONE, found.array("label"), -1), found.array("score")]
    movable, moved_to = _moves(piece.ledger)
    as_would_be: list[Array] = [kind[movable] + np.uint8(len(Kind)), moved_to, found.array("score")[movable]]
    by_image, at = image_order(piece.ledger), movable
    if by_image is not None:
        columns = [column[by_image] for column in columns]
        at = np.argsort(by_image)[movable]
    place, label, score = (np.insert(there, at + 1, moved) for there, moved in zip(columns, as_would_be, strict=True))

    def ties() -> Ints:
        own = images.ties(piece, by_image)
        return np.insert(own, at + 1, own[at])

    return Rows(label, score, (place,), ties)


def _hits(ranked: RankRange, masks: tuple[Array, Array], repairs: int) -> Ints:
    """How many rows of a range are true positives, and how many are false ones, by repair and class."""
    (place,) = ranked.columns
    right, absent = masks
    classes = len(ranked.order.class_offsets) - 1
    grid = counts(ranked.classes().astype(np.int64) * len(right) + place, classes * len(right)).reshape(classes, -1)
    bits = np.arange(repairs)[:, None]
    there = (absent[None, :] >> bits & 1) == 0
    correct = (right[None, :] >> bits & 1) == 1
    return np.stack([(there & correct) @ grid.T, (there & ~correct) @ grid.T]).astype(np.int64)


def _masks(repairs: Sequence[Repair]) -> tuple[Array, Array]:
    """For each kind of prediction as it is, then as it would be, which repairs find it right and which find it absent.

    One bit for each repair: a repaired prediction is there as it would be, all others are there as they are.
    """
    every = np.uint16((1 << len(repairs)) - 1)
    right, absent = np.zeros((2, len(Kind)), np.uint16), np.zeros((2, len(Kind)), np.uint16)
    right[0, Kind.TP] = right[1] = absent[1] = every
    for bit, repaired in enumerate(repairs):
        absent[:, list(repaired)] ^= np.uint16(1 << bit)
    return right.reshape(-1), absent.reshape(-1)


def _delta_ap(view: View, ledger: Ledger, tallies: Tallies, jobs: int) -> dict[Kind, float | Undefined]:
    """AP at the limit of a match once a kind is repaired, less AP as it is; the pairs are those of the kinds."""
    truths = tallies.grids[0]
    if tallies.why_not():
        return dict.fromkeys(view.repairs, Undefined(tallies.why_not()))
    # What an oracle adds has no score: those truths need no longer be found.
    to_find = [truths.sum(axis=1) - truths[:, _added(kind)].sum(axis=1) for kind in view.repairs]
    repairs = [(), *(REPAIRS[kind] for kind in view.repairs)]
    before, *after = _averages(ledger, repairs, np.stack([truths.sum(axis=1), *to_find]), jobs)
    return {kind: number(value - before, NO_TRUTHS) for kind, value in zip(view.repairs, after, strict=True)}


def _added(kind: Kind) -> list[Kind]:
    """The kinds of truths for which a repair brings a prediction that was not there."""
    return [one for one in REPAIRS[kind] if one not in MOVED]


def _moves(ledger: Ledger) -> tuple[Ints, Codes]:
    """The predictions that an oracle can put right, and the labels that they would have then."""
    truth = ledger.table("truth")
    rows = np.flatnonzero(np.isin(truth.array("kind"), MOVED))
    partner = ledger.absolute("found", truth.array(UNIT)[rows], truth.array("partner")[rows])
    return partner, truth.array("label")[rows]


def _per_class(task: Detection, ledger: Ledger, view: View, grids: Grids) -> dict[str, Any]:
    truth, found = grids
    return {
        label: {
            "predictions": {name: int(found[code, kind]) for kind, name in view.found.items()},
            "truth": {name: int(truth[code, kind]) for kind, name in view.truth.items()},
        }
        for code, label in enumerate(ledger.names["label"])
        if not task.labels or label in task.labels
    }


def _grid(table: Table, column: str, size: int) -> Ints:
    """How many rows there are of each value of a column and each kind; what does not count is left out."""
    kind, group = table.array("kind"), table.array(column)
    counting = kind != Kind.NONE
    if not counting.all():
        kind, group = kind[counting], group[counting]
    cells = np.multiply(group, len(Kind), dtype=np.int64)
    cells += kind
    return counts(cells, size * len(Kind)).reshape(size, len(Kind))


class Worst:
    """The documents with most errors, and which."""

    def __init__(self, piece: Piece) -> None:
        units = len(piece.ledger.units)
        found, truth = (_grid(piece.ledger.table(side), UNIT, units) for side in ("found", "truth"))
        wrong = found[:, Kind.TP + 1 :].sum(axis=1) + truth[:, Kind.TP + 1 :].sum(axis=1)
        worst = np.argsort(-wrong, kind="stable")[:WORST]
        self._listed: list[tuple[int, int, UnitId, Ints, Ints]] = [
            (-int(wrong[unit]), int(piece.places[unit]), piece.ledger.units[unit], found[unit], truth[unit])
            for unit in worst.tolist()
            if wrong[unit]
        ]

    def join(self, other: Worst) -> Worst:
        """The worst of both."""
        self._listed = sorted([*self._listed, *other._listed], key=lambda entry: entry[:2])[:WORST]
        return self

    def listed(self, view: View) -> list[dict[str, Any]]:
        """The worst first; those with as many errors in the order of documents."""
        return [
            {
                "document": unit,
                "errors": -wrong,
                "predictions": {name: int(found[kind]) for kind, name in view.found.items() if found[kind]},
                "truth": {name: int(truth[kind]) for kind, name in view.truth.items() if truth[kind]},
            }
            for wrong, _, unit, found, truth in self._listed
        ]
