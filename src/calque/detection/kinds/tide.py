"""TIDE's six kinds of error (Cls, Loc, Both, Dupe, Bkg, Miss), for people who know them."""

from __future__ import annotations

import numpy as np

from calque.base.columns import Flags, Floats
from calque.detection.kinds import Limits
from calque.detection.kinds.classify import Kinds, roles
from calque.evaluation.boxes.overlay import Overlay
from calque.kernels import kernels
from calque.kernels.contacts import Contacts, best
from calque.kernels.structs import Kind


def classify_as_tide(
    overlay: Overlay, truth_counts: Flags, takes_part: Flags, excused: Flags, limits: Limits, *, jobs: int = 1
) -> Kinds:
    """The kind of every row that counts, as TIDE would have it; a prediction that is ``excused`` counts only in a pair.

    Predictions pair by score: the best takes the truth of its label that it overlaps most. The first that holds of an
    unpaired one: Loc (some truth of its label, neither far nor near enough), Cls (near a truth of another label), Dupe
    (near a truth of its label that is taken), Bkg (near nothing); else Both. A truth that is not found has the kind of
    the best-scored prediction that is Loc or Cls because of it; else it is a Miss.
    """
    kinds = _nothing_known(len(overlay.truth), len(overlay.found))
    contacts = _contacts(overlay, truth_counts, takes_part, jobs)
    scores = overlay.found.scores
    _pair_by_score(kinds, contacts.where(contacts.same & (contacts.iou >= limits.match)), scores)
    unpaired = takes_part & ~excused & (kinds.found == Kind.NONE)
    left = contacts.where(unpaired[contacts.found])
    alike, unlike = left.where(left.same), left.where(~left.same)
    poor = alike.take(best(alike.found, alike.iou, alike.truth))
    poor = poor.where((poor.iou >= limits.background) & (poor.iou <= limits.match))
    wrong = unlike.take(best(unlike.found, unlike.iou, unlike.truth))
    wrong = wrong.where(wrong.iou >= limits.match)
    again = alike.where((alike.iou >= limits.match) & (kinds.truth[alike.truth] == Kind.TP))
    again = again.take(best(again.found, again.iou, again.truth))
    near = left.found[left.iou > limits.background]

    kinds.found[unpaired] = Kind.BKG
    kinds.found[near] = Kind.BOTH
    # The first rule that holds is written last.
    for chosen, kind in ((again, Kind.DUP), (wrong, Kind.CLS), (poor, Kind.LOC)):
        kinds.found[chosen.found], kinds.found_partner[chosen.found] = kind, chosen.truth
    _give_truths(kinds, truth_counts, scores)
    return kinds


def _nothing_known(truths: int, founds: int) -> Kinds:
    return Kinds(
        truth=np.zeros(truths, np.uint8),
        truth_partner=np.full(truths, -1, np.int32),
        found=np.zeros(founds, np.uint8),
        found_partner=np.full(founds, -1, np.int32),
        subtype=np.zeros(founds, np.uint8),
    )


def _contacts(overlay: Overlay, truth_counts: Flags, takes_part: Flags, jobs: int) -> Contacts:
    truth, found = overlay.truth, overlay.found
    overlapping = kernels().overlapping_pairs(truth.page_boxes(roles(truth_counts)), found.page_boxes(roles(takes_part)), jobs)
    return Contacts.of(overlapping, (truth.areas(), found.areas()), (truth.label, found.label))


def _pair_by_score(kinds: Kinds, candidates: Contacts, scores: Floats) -> None:
    """Let predictions, best score first, take the free truth that they overlap most."""
    of_truth = np.bincount(candidates.truth, minlength=len(kinds.truth))[candidates.truth]
    of_found = np.bincount(candidates.found, minlength=len(kinds.found))[candidates.found]
    # Most have no rival, and need no turn.
    alone = (of_truth == 1) & (of_found == 1)
    contested = candidates.where(~alone)
    order = np.lexsort((contested.truth, -contested.iou, contested.found, -scores[contested.found]))
    taken_truth, taken_found = bytearray(len(kinds.truth)), bytearray(len(kinds.found))
    pairs = np.flatnonzero(alone).tolist()
    positions = np.flatnonzero(~alone)[order].tolist()
    for position, truth, found in zip(positions, contested.truth[order].tolist(), contested.found[order].tolist(), strict=True):
        if not taken_truth[truth] and not taken_found[found]:
            taken_truth[truth] = taken_found[found] = 1
            pairs.append(position)
    chosen = candidates.take(np.array(pairs, dtype=np.int64))
    kinds.truth[chosen.truth], kinds.truth_partner[chosen.truth] = Kind.TP, chosen.found
    kinds.found[chosen.found], kinds.found_partner[chosen.found] = Kind.TP, chosen.truth


def _give_truths(kinds: Kinds, truth_counts: Flags, scores: Floats) -> None:
    """Truths that are not found take the kind of the best-scored prediction that is wrong because of them."""
    rows = np.flatnonzero(np.isin(kinds.found, (Kind.LOC, Kind.CLS)))
    rows = rows[kinds.truth[kinds.found_partner[rows]] == Kind.NONE]
    truths = kinds.found_partner[rows].astype(np.int64)
    chosen = best(truths, np.nan_to_num(scores[rows], nan=-np.inf), rows)
    kinds.truth[truth_counts & (kinds.truth == Kind.NONE)] = Kind.MISS
    kinds.truth[truths[chosen]], kinds.truth_partner[truths[chosen]] = kinds.found[rows[chosen]], rows[chosen]
