"""What views need to know of boxes, as ledger columns: boxes may be let go of once a document is scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Bytes, Codes, Column, Flags, Table
from calque.corpus.boxes import BoxCorpus
from calque.evaluation.boxes.overlay import Overlay
from calque.evaluation.boxes.pairing import Pairing, greedy
from calque.kernels import kernels
from calque.kernels.structs import ABSORBS, CocoSettings, CocoTruths

if TYPE_CHECKING:
    from calque.detection.task import Detection

WRONG, RIGHT, NO_PART = 0, 1, 2
"""What a prediction is when predictions are paired by score: unpaired, paired, or excused or left out."""

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Roles:
    """Who takes part in what. Ignored truths absorb; small predictions may be paired."""

    truth: Bytes
    found: Bytes
    any_score: Bytes
    """The predictions again, whatever their score."""
    small: Flags
    """Predictions below the smallest area: unpaired they are ignored."""
    countable: Bytes
    """The predictions that count by themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Columns and tables that views add to a ledger."""

    truth: dict[str, Column]
    found: dict[str, Column]
    tables: dict[str, Table]
    met: Codes | None
    """For each truth the row of the prediction that it is paired with when labels are not looked at, or -1."""


def added(
    task: Detection, overlay: Overlay, sides: tuple[BoxCorpus, BoxCorpus], pairing: Pairing, roles: Roles, *, jobs: int
) -> Added:
    """Return the columns that the requested views need, and those that a report needs if outcomes are kept.

    Edge errors are always included, because they cost little.
    """
    columns = Added(
        truth={"edges": pairing.edges},
        found={},
        tables={},
        met=any_class_match(overlay, roles, task.iou[0], jobs=jobs) if task.confusion or task.keeps_outcomes else None,
    )
    if task.sweep or task.keeps_outcomes:
        columns.found["swept"] = swept(overlay, roles, task.iou[0], jobs=jobs)
    if task.page_view:
        from calque.detection.views.page_view import page_areas

        columns.tables["areas"] = page_areas(overlay, roles.truth, roles.countable, jobs=jobs)
    if task.beside != "none":
        from calque.detection.views import beside

        columns.tables.update(beside.tables(task, *sides, jobs=jobs))
    return columns


def any_class_match(overlay: Overlay, roles: Roles, threshold: float, *, jobs: int) -> Codes:
    """For each truth the row of the prediction that it is paired with when labels are not looked at, or -1."""
    return greedy(overlay.unlabelled(), roles.truth, roles.found, threshold=threshold, jobs=jobs).truth_match


def swept(overlay: Overlay, roles: Roles, threshold: float, *, jobs: int) -> Bytes:
    """Whether each prediction is right when predictions are paired by score: `WRONG`, `RIGHT` or `NO_PART`.

    The predictions of a page and label are taken from the highest score down, and each takes the free truth that it
    overlaps most. What a prediction gets depends on better ones only, so one pairing serves every score threshold.
    """
    truth, found = overlay.truth, overlay.found
    absorbs = (roles.truth == ABSORBS).astype(np.uint8)
    _, matched, ignored, _ = kernels().coco_match(
        truth.page_boxes(roles.truth),
        CocoTruths(truth.areas(), absorbs),
        found.page_boxes(roles.any_score),
        found.scores,
        CocoSettings(np.array([threshold]), np.array([[0.0, np.inf]]), NO_LIMIT),
        jobs,
    )
    right = (matched[:, 0] != 0) & (ignored[:, 0] == 0)
    outside = (roles.any_score != 0) | (ignored[:, 0] != 0) | (roles.small & ~right)
    return np.where(outside, np.uint8(NO_PART), np.where(right, np.uint8(RIGHT), np.uint8(WRONG)))
