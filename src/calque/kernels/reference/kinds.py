"""Why a prediction or a truth is wrong: exactly one kind for each, found in eight steps that no order of objects can change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calque.base.columns import Bytes, Codes, Flags, Floats, Ints
from calque.geometry.boxes import corners
from calque.kernels.contacts import Contacts, best
from calque.kernels.reference.areas import states_of
from calque.kernels.reference.boxes import box_edges, shared_area, take_best_first
from calque.kernels.reference.overlaps import overlapping_pairs, union_areas
from calque.kernels.reference.slabs import OWN, covered_area
from calque.kernels.structs import TAKES_PART, Kind, KindLimits, PageBoxes, Subtype

FITS = 0.9
"""Coverage or purity from which a poor box is called loose or tight and not shifted."""


def error_kinds(
    truth: PageBoxes, found: PageBoxes, scores: Floats, truth_match: Codes, limits: KindLimits, jobs: int = 1
) -> tuple[Bytes, Codes, Bytes, Codes, Bytes]:
    """The kind of every row that counts, and the row of the other side that explains it.

    ``truth_match`` holds the row of the prediction that finds a truth, or -1.

    Returns the kinds of the truths, the rows that explain them (or -1), both for the found boxes, and their subtypes.

    >>> from calque.geometry.forms import BoxForm
    >>> one, two, counts, label = np.array([0, 1]), np.array([0, 2]), np.zeros(2, np.uint8), np.zeros(2, np.int32)
    >>> truth = PageBoxes(np.array([[0.0, 0, 4, 4]]), BoxForm.XYXY, label[:1], one, counts[:1])
    >>> found = PageBoxes(np.array([[0.0, 0, 4, 4], [0.0, 0, 4, 3]]), BoxForm.XYXY, label, two, counts)
    >>> limits = KindLimits(match=0.5, background=0.1, part=0.5, most=0.7)
    >>> kinds = error_kinds(truth, found, np.array([0.9, 0.1]), np.array([0], np.int32), limits)
    >>> [Kind(kind).name for kind in kinds[2]]
    ['TP', 'DUP']
    """
    del jobs  # the native kernel has threads
    truth_areas, found_areas = box_edges(truth).area, box_edges(found).area
    explained = _Explanation(
        contacts=Contacts.of(overlapping_pairs(truth, found), (truth_areas, found_areas), (truth.labels, found.labels)),
        truth_boxes=corners(truth.boxes, truth.form),
        truth_areas=truth_areas,
        found_boxes=corners(found.boxes, found.form),
        truth=np.zeros(len(truth.boxes), np.uint8),
        truth_partner=np.full(len(truth.boxes), -1, np.int32),
        found=np.zeros(len(found.boxes), np.uint8),
        found_partner=np.full(len(found.boxes), -1, np.int32),
        subtype=np.zeros(len(found.boxes), np.uint8),
        limits=limits,
        sides=None if found.shared is None else (truth, found),
    )
    explained.pair(np.flatnonzero(truth_match >= 0), truth_match[truth_match >= 0], Kind.TP)
    explained.wrong_labels(scores)
    explained.merges()
    explained.splits()
    explained.duplicates()
    explained.misplacements()
    explained.found[(found.roles == TAKES_PART) & (explained.found == Kind.NONE)] = Kind.BKG
    explained.misses((truth.roles == TAKES_PART) & (explained.truth == Kind.NONE))
    return explained.truth, explained.truth_partner, explained.found, explained.found_partner, explained.subtype


@dataclass(frozen=True, kw_only=True, eq=False)
class _Explanation:
    """The kinds as they are known so far; each step looks at them as they stand when it begins, then gives its own at once."""

    contacts: Contacts
    truth_boxes: Floats
    truth_areas: Floats
    found_boxes: Floats
    truth: Bytes
    truth_partner: Codes
    found: Bytes
    found_partner: Codes
    subtype: Bytes
    limits: KindLimits
    sides: tuple[PageBoxes, PageBoxes] | None
    """Both sides, where rows are more than boxes."""

    def _give_truths(self, contacts: Contacts, kind: Kind | Bytes) -> None:
        self.truth[contacts.truth], self.truth_partner[contacts.truth] = kind, contacts.found

    def _give_found(self, contacts: Contacts, kind: Kind | Bytes) -> None:
        self.found[contacts.found], self.found_partner[contacts.found] = kind, contacts.truth

    def pair(self, truths: Ints | Codes, founds: Ints | Codes, kind: Kind) -> None:
        """Steps 1 and 2 end here: each of a pair explains the other."""
        self.truth[truths], self.truth_partner[truths] = kind, founds
        self.found[founds], self.found_partner[founds] = kind, truths

    def wrong_labels(self, scores: Floats) -> None:
        """Step 2: the same pairing once more with what is left, whatever the labels.

        Two boxes of one label that could pair have paired before, at least one of them: only other labels are left to meet.
        """
        free = (self.truth[self.contacts.truth] == Kind.NONE) & (self.found[self.contacts.found] == Kind.NONE)
        near = self.contacts.where(free & (self.contacts.iou >= self.limits.match))
        truth_match, _ = take_best_first([(near.iou, near.truth, near.found)], scores, len(self.truth))
        self.pair(np.flatnonzero(truth_match >= 0), truth_match[truth_match >= 0], Kind.CLS)

    def merges(self) -> None:
        """Step 3: predictions that hold several truths, and the truths that nothing else finds."""
        held = self.contacts.where(self.contacts.coverage >= self.limits.part)
        several = np.bincount(held.found, minlength=len(self.found)) >= 2
        merging = several & (self.found == Kind.NONE)
        known = _is_known(self.found)
        lost = held.where((self.truth[held.truth] == Kind.NONE) & (merging | known)[held.found])
        held = held.where(merging[held.found])
        self._give_truths(lost.take(best(lost.truth, lost.iou, lost.found)), Kind.MERGED)
        self._give_found(held.take(best(held.found, held.iou, held.truth)), Kind.MERGE)
        self.subtype[lost.found[known[lost.found]]] = Subtype.SWALLOWS

    def splits(self) -> None:
        """Step 4: truths that two or more predictions cover together, each of them a piece."""
        contacts = self.contacts
        free = (self.truth[contacts.truth] == Kind.NONE) & (self.found[contacts.found] == Kind.NONE)
        pieces = contacts.where(free & (contacts.purity >= self.limits.part) & (contacts.coverage < self.limits.most))
        pieces = pieces.where(np.bincount(pieces.truth, minlength=len(self.truth))[pieces.truth] >= 2)
        truths, covered = self._covered(pieces)
        split = np.zeros(len(self.truth), np.bool_)
        split[truths[covered >= self.limits.part]] = True
        pieces = pieces.where(split[pieces.truth])
        self._give_truths(pieces.take(best(pieces.truth, pieces.iou, pieces.found)), Kind.SPLIT)
        self._give_found(pieces.take(best(pieces.found, pieces.purity, pieces.truth)), Kind.SPLIT)

    def duplicates(self) -> None:
        """Step 5: predictions on a truth that another prediction has found."""
        known = self._unexplained()
        known = known.where(_is_known(self.truth[known.truth]))
        known = known.take(best(known.found, known.iou, ~known.same, known.truth))
        again = known.iou >= self.limits.match
        kind = np.select(
            [again & known.same, again, known.purity >= self.limits.most, known.coverage >= self.limits.most],
            [Kind.DUP, Kind.DUP_CLS, Kind.FRAGMENT, Kind.ENVELOPE],
            Kind.NONE,
        ).astype(np.uint8)
        self._give_found(known.where(kind != Kind.NONE), kind[kind != Kind.NONE])

    def misplacements(self) -> None:
        """Step 6: predictions that overlap a truth too little."""
        poor = self._unexplained()
        poor = poor.take(best(poor.found, poor.iou, ~poor.same, poor.truth))
        poor = poor.where((poor.iou >= self.limits.background) & (poor.iou < self.limits.match))
        lost = poor.where(self.truth[poor.truth] == Kind.NONE)
        lost = lost.take(best(lost.truth, lost.iou, ~lost.same, lost.found))
        self._give_found(poor, _poor_kind(poor.same))
        self._give_truths(lost, _poor_kind(lost.same))
        local = poor.where(poor.same)
        pure, whole = local.purity >= FITS, local.coverage >= FITS
        self.subtype[local.found] = np.select([pure & ~whole, whole & ~pure], [Subtype.TIGHT, Subtype.LOOSE], Subtype.SHIFT)

    def misses(self, lost: Flags) -> None:
        """Step 8: truths that all predictions together leave alone, and those that they touch."""
        self.truth[lost] = Kind.MISS
        truths, covered = self._covered(self.contacts.where(lost[self.contacts.truth]))
        self.truth[truths[covered >= self.limits.background]] = Kind.PARTIAL

    def _unexplained(self) -> Contacts:
        return self.contacts.where(self.found[self.contacts.found] == Kind.NONE)

    def _covered(self, contacts: Contacts) -> tuple[Ints, Floats]:
        """The truths in contact, in order, and the share of each that its contacts cover together."""
        order = np.argsort(contacts.truth, kind="stable")
        truth, found = contacts.truth[order], contacts.found[order]
        truths, starts = np.unique(truth, return_index=True)
        if self.sides is not None:
            founds = np.split(found, starts[1:])
            shared = [_covered_by(*self.sides, *pair) for pair in zip(truths.tolist(), founds, strict=False)]
            return truths, np.array(shared, np.float64) / self.truth_areas[truths]
        frame, inside = self.truth_boxes[truth], self.found_boxes[found]
        clipped = np.concatenate([np.maximum(inside[:, :2], frame[:, :2]), np.minimum(inside[:, 2:], frame[:, 2:])], axis=1)
        covered = union_areas(clipped, np.append(starts, len(truth)).astype(np.int64))
        return truths, covered / self.truth_areas[truths]


def _covered_by(truth: PageBoxes, found: PageBoxes, row: int, founds: Ints) -> float:
    """The area of a truth that rows, which are more than boxes, cover together."""
    if len(founds) == 1:
        one = np.array([row])
        return float(shared_area(found, box_edges(truth).take(one), box_edges(found).take(founds), one, founds)[0])
    return covered_area(states_of(truth, found, [(row, OWN)], founds.tolist()))


def _is_known(kind: Bytes) -> Flags:
    return np.asarray((kind == Kind.TP) | (kind == Kind.CLS))


def _poor_kind(same: Flags) -> Bytes:
    return np.where(same, Kind.LOC, Kind.BOTH).astype(np.uint8)
