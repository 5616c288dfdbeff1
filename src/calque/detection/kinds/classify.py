"""Why a prediction or a truth is wrong: exactly one kind for each, found in eight steps that no order of objects can change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calque.base.columns import Bytes, Codes, Flags, where_else
from calque.detection.kinds import Limits
from calque.evaluation.boxes.overlay import Layer, Overlay
from calque.evaluation.boxes.pairing import Pairing
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, Kind, KindLimits, Subtype


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kinds:
    """For each row of an overlay's two layers its kind, and the row of the other side that explains it (or -1)."""

    truth: Bytes
    truth_partner: Codes
    found: Bytes
    found_partner: Codes
    subtype: Bytes
    """For each prediction a `Subtype`."""


def classify(
    overlay: Overlay, pairing: Pairing, truth_counts: Flags, found_counts: Flags, limits: Limits, *, jobs: int = 1
) -> Kinds:
    """The kind of every row that counts. ``pairing`` is the greedy one, at ``limits.match`` or below it."""
    below, above = overlay.truth, overlay.found
    truth, truth_partner, found, found_partner, subtype = kernels().error_kinds(
        below.page_boxes(roles(truth_counts)),
        above.page_boxes(roles(found_counts)),
        above.scores,
        where_else(pairing.iou >= limits.match, pairing.truth_match, -1),
        KindLimits(limits.match, limits.background, limits.part, limits.most),
        jobs,
    )
    return Kinds(truth=truth, truth_partner=truth_partner, found=found, found_partner=found_partner, subtype=subtype)


def roles(counts: Flags) -> Bytes:
    """The kernels' roles of rows that count or are left out."""
    return np.take(np.array([LEFT_OUT, TAKES_PART], dtype=np.uint8), counts)


def mark_empty_pages(kinds: Kinds, found: Layer, page_is_empty: Flags) -> None:
    """Say which predictions in the background stand on pages without any truth."""
    if page_is_empty.any():
        kinds.subtype[(kinds.found == Kind.BKG) & page_is_empty[found.page]] = Subtype.EMPTY_PAGE
