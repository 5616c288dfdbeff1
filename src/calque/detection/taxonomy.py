"""Why a prediction or a truth is wrong: exactly one kind for each, found in eight steps that no order of objects can change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from calque.core.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.core.geometry import corners, share
from calque.core.overlay import Layer, Overlay
from calque.core.pairing import LEFT_OUT, TAKES_PART, Pairing, greedy
from calque.detection.limits import Limits
from calque.kernels import kernels


class Kind(IntEnum):
    """What an object is, as a prediction, as a truth, or as both."""

    NONE = 0
    """It does not count."""
    TP = 1
    CLS = 2
    """The right place under another label."""
    MERGE = 3
    """A prediction that holds several truths."""
    MERGED = 4
    """A truth inside a prediction that holds several."""
    SPLIT = 5
    """A truth found in pieces, and the pieces."""
    DUP = 6
    """A second prediction of a truth that is found, as the next three."""
    DUP_CLS = 7
    FRAGMENT = 8
    ENVELOPE = 9
    LOC = 10
    """The right label in a poor place."""
    BOTH = 11
    """Another label and a poor place."""
    BKG = 12
    """A prediction where nothing is."""
    MISS = 13
    """A truth where nothing was predicted."""
    PARTIAL = 14
    """A truth that predictions touch, and none of them explains."""


class Subtype(IntEnum):
    """What more there is to say about a prediction of some kinds."""

    NONE = 0
    TIGHT = 1
    """Of LOC, as the next two: cuts parts off."""
    LOOSE = 2
    SHIFT = 3
    SWALLOWS = 4
    """Of TP and CLS: it covers a further truth that nothing else finds."""
    EMPTY_PAGE = 5
    """Of BKG: the page has no truth at all."""


FITS = 0.9
"""Coverage or purity from which a poor box is called loose or tight and not shifted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Kinds:
    """For each row of an overlay's two layers its kind, and the row of the other side that explains it (or -1)."""

    truth: Bytes
    truth_partner: Codes
    found: Bytes
    found_partner: Codes
    subtype: Bytes
    """For each prediction a `Subtype`."""

    @classmethod
    def blank(cls, truths: int, founds: int) -> Kinds:
        """Nothing is known yet."""
        return cls(
            truth=np.zeros(truths, np.uint8),
            truth_partner=np.full(truths, -1, np.int32),
            found=np.zeros(founds, np.uint8),
            found_partner=np.full(founds, -1, np.int32),
            subtype=np.zeros(founds, np.uint8),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Contacts:
    """Every truth and prediction of one page that count and share some area, whatever their labels."""

    truth: Ints
    found: Ints
    iou: Floats
    coverage: Floats
    purity: Floats
    same: Flags
    """Whether the two have the same label."""

    @classmethod
    def of(cls, overlay: Overlay, truth_counts: Flags, found_counts: Flags, jobs: int = 1) -> Contacts:
        """The contacts between the rows that count."""
        below, above = overlay.truth, overlay.found
        truth, found, shared = kernels().overlapping_pairs(
            below.boxes, below.offsets, roles(truth_counts),
            above.boxes, above.offsets, roles(found_counts),
            below.form == "xywh", jobs,
        )  # fmt: skip
        truth_area, found_area = below.areas()[truth], above.areas()[found]
        return cls(
            truth=truth.astype(np.int64),
            found=found.astype(np.int64),
            # Boxes that share area have area.
            iou=shared / (found_area + truth_area - shared),
            coverage=shared / truth_area,
            purity=shared / found_area,
            same=below.label[truth] == above.label[found],
        )

    def where(self, holds: Flags) -> Contacts:
        """Only the contacts for which this holds."""
        return self.take(np.flatnonzero(holds))

    def take(self, chosen: Ints) -> Contacts:
        """Only the contacts at these positions."""
        return Contacts(**{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})


def roles(counts: Flags) -> Bytes:
    """The kernels' roles of rows that count or are left out."""
    return np.where(counts, TAKES_PART, LEFT_OUT).astype(np.uint8)


def classify(
    overlay: Overlay, pairing: Pairing, truth_counts: Flags, found_counts: Flags, limits: Limits, *, jobs: int = 1
) -> Kinds:
    """The kind of every row that counts. ``pairing`` is the greedy one, at ``limits.match`` or below it.

    Each step looks at the kinds as they stand when it begins, and then gives its own all at once.
    """
    kinds = Kinds.blank(len(overlay.truth), len(overlay.found))
    contacts = Contacts.of(overlay, truth_counts, found_counts, jobs)
    _pair(kinds, pairing.truth_match, pairing.iou, limits.match, Kind.TP)
    _wrong_label(kinds, contacts, overlay, limits, jobs)
    _merges(kinds, contacts, limits)
    _splits(kinds, contacts, overlay, limits, jobs)
    # What is left to explain needs only the contacts of predictions without a kind.
    open_contacts = contacts.where(kinds.found[contacts.found] == Kind.NONE)
    _duplicates(kinds, open_contacts, limits)
    _misplaced(kinds, open_contacts.where(kinds.found[open_contacts.found] == Kind.NONE), limits)
    kinds.found[found_counts & (kinds.found == Kind.NONE)] = Kind.BKG
    _missed(kinds, contacts, overlay, truth_counts, limits, jobs)
    return kinds


def mark_empty_pages(kinds: Kinds, found: Layer, page_is_empty: Flags) -> None:
    """Say which predictions in the background stand on pages without any truth."""
    kinds.subtype[(kinds.found == Kind.BKG) & page_is_empty[found.page]] = Subtype.EMPTY_PAGE


def _pair(kinds: Kinds, truth_match: Codes, iou: Floats, threshold: float, kind: Kind) -> None:
    truths = np.flatnonzero(iou >= threshold)
    founds = truth_match[truths]
    kinds.truth[truths], kinds.truth_partner[truths] = kind, founds
    kinds.found[founds], kinds.found_partner[founds] = kind, truths


def _wrong_label(kinds: Kinds, contacts: Contacts, overlay: Overlay, limits: Limits, jobs: int) -> None:
    """Step 2: the same pairing once more with what is left, as if there were one label.

    Two boxes of one label that could pair have paired before, at least one of them: only other labels are left to meet.
    """
    near = contacts.where(contacts.iou >= limits.match)
    near = near.where((kinds.truth[near.truth] == Kind.NONE) & (kinds.found[near.found] == Kind.NONE))
    truth_roles = np.full(len(kinds.truth), LEFT_OUT, np.uint8)
    found_roles = np.full(len(kinds.found), LEFT_OUT, np.uint8)
    truth_roles[near.truth] = found_roles[near.found] = TAKES_PART
    pairing = greedy(overlay.unlabelled(), truth_roles, found_roles, threshold=limits.match, jobs=jobs)
    _pair(kinds, pairing.truth_match, pairing.iou, limits.match, Kind.CLS)


def _is_found(kind: Bytes) -> Flags:
    return np.asarray((kind == Kind.TP) | (kind == Kind.CLS))


def _merges(kinds: Kinds, contacts: Contacts, limits: Limits) -> None:
    """Step 3: predictions that hold several truths, and the truths that nothing else finds."""
    held = contacts.where(contacts.coverage >= limits.part)
    several = np.bincount(held.found, minlength=len(kinds.found)) >= 2
    merging = several & (kinds.found == Kind.NONE)
    found_before = _is_found(kinds.found)
    lost = held.where((kinds.truth[held.truth] == Kind.NONE) & (merging | found_before)[held.found])
    merged = lost.take(best(lost.truth, lost.iou, lost.found))
    held = held.where(merging[held.found])
    held = held.take(best(held.found, held.iou, held.truth))
    kinds.truth[merged.truth], kinds.truth_partner[merged.truth] = Kind.MERGED, merged.found
    kinds.found[held.found], kinds.found_partner[held.found] = Kind.MERGE, held.truth
    kinds.subtype[lost.found[found_before[lost.found]]] = Subtype.SWALLOWS


def _splits(kinds: Kinds, contacts: Contacts, overlay: Overlay, limits: Limits, jobs: int) -> None:
    """Step 4: truths that two or more predictions cover together, each of them a piece."""
    free = (kinds.truth[contacts.truth] == Kind.NONE) & (kinds.found[contacts.found] == Kind.NONE)
    pieces = contacts.where(free & (contacts.purity >= limits.part) & (contacts.coverage < limits.most))
    pieces = pieces.where(np.bincount(pieces.truth, minlength=len(kinds.truth))[pieces.truth] >= 2)
    truths, covered = _covered(pieces, overlay, jobs)
    split = np.zeros(len(kinds.truth), np.bool_)
    split[truths[covered >= limits.part]] = True
    pieces = pieces.where(split[pieces.truth])
    main = pieces.take(best(pieces.truth, pieces.iou, pieces.found))
    owned = pieces.take(best(pieces.found, pieces.purity, pieces.truth))
    kinds.truth[main.truth], kinds.truth_partner[main.truth] = Kind.SPLIT, main.found
    kinds.found[owned.found], kinds.found_partner[owned.found] = Kind.SPLIT, owned.truth


def _duplicates(kinds: Kinds, contacts: Contacts, limits: Limits) -> None:
    """Step 5: predictions on a truth that another prediction has found."""
    known = contacts.where(_is_found(kinds.truth[contacts.truth]))
    known = known.take(best(known.found, known.iou, ~known.same, known.truth))
    again = known.iou >= limits.match
    kind = np.select(
        [again & known.same, again, known.purity >= limits.most, known.coverage >= limits.most],
        [Kind.DUP, Kind.DUP_CLS, Kind.FRAGMENT, Kind.ENVELOPE],
        Kind.NONE,
    )
    rows = known.found[kind != Kind.NONE]
    kinds.found[rows], kinds.found_partner[rows] = kind[kind != Kind.NONE], known.truth[kind != Kind.NONE]


def _misplaced(kinds: Kinds, contacts: Contacts, limits: Limits) -> None:
    """Step 6: predictions that overlap a truth too little."""
    poor = contacts.take(best(contacts.found, contacts.iou, ~contacts.same, contacts.truth))
    poor = poor.where((poor.iou >= limits.background) & (poor.iou < limits.match))
    lost = poor.where(kinds.truth[poor.truth] == Kind.NONE)
    lost = lost.take(best(lost.truth, lost.iou, ~lost.same, lost.found))
    kinds.found[poor.found], kinds.found_partner[poor.found] = _poor_kind(poor.same), poor.truth
    kinds.truth[lost.truth], kinds.truth_partner[lost.truth] = _poor_kind(lost.same), lost.found
    local = poor.where(poor.same)
    pure, whole = local.purity >= FITS, local.coverage >= FITS
    kinds.subtype[local.found] = np.select([pure & ~whole, whole & ~pure], [Subtype.TIGHT, Subtype.LOOSE], Subtype.SHIFT)


def _poor_kind(same: Flags) -> Bytes:
    return np.where(same, Kind.LOC, Kind.BOTH).astype(np.uint8)


def _missed(kinds: Kinds, contacts: Contacts, overlay: Overlay, truth_counts: Flags, limits: Limits, jobs: int) -> None:
    """Step 8: truths that all predictions together leave alone, and those that they touch."""
    lost = truth_counts & (kinds.truth == Kind.NONE)
    kinds.truth[lost] = Kind.MISS
    touching = contacts.where(lost[contacts.truth])
    truths, covered = _covered(touching, overlay, jobs)
    kinds.truth[truths[covered >= limits.background]] = Kind.PARTIAL


def _covered(contacts: Contacts, overlay: Overlay, jobs: int) -> tuple[Ints, Floats]:
    """The truths in contact, in order, and the share of each that its contacts cover together."""
    order = np.argsort(contacts.truth, kind="stable")
    truth, found = contacts.truth[order], contacts.found[order]
    truths, starts = np.unique(truth, return_index=True)
    frame = corners(overlay.truth.boxes[truth], overlay.truth.form)
    inside = corners(overlay.found.boxes[found], overlay.found.form)
    clipped = np.concatenate([np.maximum(inside[:, :2], frame[:, :2]), np.minimum(inside[:, 2:], frame[:, 2:])], axis=1)
    areas = kernels().union_areas(clipped, np.append(starts, len(truth)).astype(np.int64), jobs)
    return truths, share(areas, overlay.truth.areas()[truths])


def best(group: Ints, value: Floats, *ties: Array) -> Ints:
    """For each group the position of its highest value; among equals the lowest of the ties, one after the other.

    >>> best(np.array([4, 4, 7]), np.array([0.2, 0.9, 0.1])).tolist()
    [1, 2]
    """
    if not len(group):
        return np.zeros(0, np.int64)
    highest = np.full(int(group.max()) + 1, -np.inf)
    np.maximum.at(highest, group, value)
    top = np.flatnonzero(value == highest[group])
    tied = np.bincount(group[top])[group[top]] > 1
    contested = top[tied]
    order = contested[np.lexsort((*(tie[contested] for tie in reversed(ties)), group[contested]))]
    first = np.ones(len(order), np.bool_)
    first[1:] = group[order][1:] != group[order][:-1]
    return np.sort(np.concatenate([top[~tied], order[first]]))
