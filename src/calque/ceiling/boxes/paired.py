"""Each system against the truth, exactly as ``detect`` and ``layout`` count: hits, what counts as found, what is excused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Bytes, Column, Flags, Floats
from calque.ceiling.boxes.joint import Joint
from calque.corpus.boxes import Flaw
from calque.detection.average_precision import AREA_RANGES
from calque.detection.scoring import INVALID, Status, ranked_roles, ranked_truths, roles_of, statuses
from calque.detection.task import Detection
from calque.detection.views.columns import Roles
from calque.evaluation.boxes.overlay import Layer, Overlay
from calque.evaluation.boxes.pairing import Pairing, ScorePairing, best, by_score, greedy
from calque.kernels.structs import LEFT_OUT, TAKES_PART

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

MOST_DETECTIONS = 100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Paired:
    """What all systems make of the truth. Columns of boxes are those of the joint layer."""

    truth_status: Bytes
    found_status: Bytes
    truth_roles: Bytes
    """Truths that count take part, and nothing else does."""
    found_roles: Bytes
    any_score: Bytes
    """The roles of boxes whatever their score."""
    absorbing: Bytes
    """The roles of truths where those that are ignored absorb."""
    hits: Array
    """For each truth and level the systems that have it right, as a mask."""
    met: Array
    """For each truth and level the systems that have a box for it, under whatever name."""
    counted: Flags
    """For each box and level whether it is right or wrong, and not excused."""
    found_hits: Flags
    """For each box and level whether it is right."""
    absorbed: Floats
    """For each box the largest share of it that lies on one truth that is ignored."""
    out_of_range: Bytes
    ranks: dict[str, Column]
    """Each system's own ranking, for AP."""
    ranked: bool
    """Whether every box has a score."""
    by_truth: bool = False
    """Whether blocks are counted by truth alone, as in layout."""

    @property
    def counts_truth(self) -> Flags:
        """Which truths count."""
        return np.asarray(self.truth_roles == TAKES_PART)

    @property
    def counts_found(self) -> Flags:
        """Which boxes take part."""
        return np.asarray(self.found_roles == TAKES_PART)


def detection_of(task: Ceiling) -> Detection:
    """How one system by itself is evaluated."""
    return Detection(iou=task.iou, labels=task.labels, min_score=task.min_score, errors="none", on=task.on)


def out_of_play(joint: Joint, overlay: Overlay, layer: Layer, status: Bytes) -> Bytes:
    """The status of objects, with those of documents that do not count left out."""
    gone = ~joint.in_play[overlay.page_document[layer.page]] & ~np.isin(status, INVALID)
    status[gone] = Status.ONE_SIDED
    return status


def boxes_of(task: Ceiling, joint: Joint, jobs: int) -> Paired:
    """Pairs by IoU, the best first; and by score, for AP."""
    detection, base = detection_of(task), joint.base
    levels = task.iou
    hits = np.zeros((len(base.truth), len(levels)), np.uint16)
    columns: dict[str, list[Array]] = {}
    for system, overlay in enumerate(joint.overlays):
        truth_status, found_status, any_score = (
            out_of_play(joint, overlay, layer, status)
            for layer, status in zip((overlay.truth, overlay.found, overlay.found), statuses(detection, overlay), strict=True)
        )
        roles = roles_of(truth_status, found_status, any_score)
        pairing = greedy(overlay, roles.truth, roles.found, threshold=levels[0], jobs=jobs)
        ranking = by_score(
            overlay,
            ranked_truths(truth_status),
            ranked_roles(overlay.found, any_score),
            area_ranges=np.array([AREA_RANGES[""]]),
            max_detections=MOST_DETECTIONS,
            jobs=jobs,
        )
        for level, threshold in enumerate(levels):
            hits[:, level] |= (pairing.iou >= threshold).astype(np.uint16) << system
        for name, column in _found_columns(levels, found_status, roles, pairing, ranking).items():
            columns.setdefault(name, []).append(column)
    laid = {name: joint.laid(parts) for name, parts in columns.items()}
    return Paired(
        truth_status=truth_status,
        found_status=laid["status"],
        truth_roles=np.where(truth_status == Status.COUNTED, np.uint8(TAKES_PART), np.uint8(LEFT_OUT)),
        found_roles=laid["roles"],
        any_score=laid["any_score"],
        absorbing=roles.truth,
        hits=hits,
        met=hits,
        counted=laid["counted"],
        found_hits=laid["right"],
        absorbed=laid["absorbed"],
        out_of_range=ranking.truth_ignored,
        ranks={name: laid[name] for name in ("rank", "matched", "ignored")},
        ranked=not np.isnan(joint.found.scores[laid["rank"] >= 0]).any(),
    )


def _found_columns(
    levels: Sequence[float], status: Bytes, roles: Roles, pairing: Pairing, ranking: ScorePairing
) -> dict[str, Array]:
    """What became of the boxes of one system, a row for each."""
    right = np.stack([pairing.found_iou >= level for level in levels], axis=1)
    excused = np.stack([pairing.absorbed >= level for level in levels], axis=1)
    return {
        "status": status, "roles": roles.found, "any_score": roles.any_score, "right": right,
        "counted": right | ((status == Status.COUNTED)[:, None] & ~excused), "absorbed": pairing.absorbed,
        "rank": ranking.rank, "matched": ranking.matched, "ignored": ranking.ignored,
    }  # fmt: skip


def blocks_of(task: Ceiling, joint: Joint, jobs: int) -> Paired:
    """Each block takes the box that it overlaps most, whatever its name; many may share one."""
    base, levels = joint.base, task.iou
    kept = np.array([*(not task.labels or name in task.labels for name in base.labels), False])
    hits, met = (np.zeros((len(base.truth), len(levels)), np.uint16) for _ in range(2))
    founds = []
    for system, overlay in enumerate(joint.overlays):
        truth_status, found_status = (_block_status(joint, overlay, layer, kept) for layer in (overlay.truth, overlay.found))
        truth_roles, found_roles = (_block_roles(status) for status in (truth_status, found_status))
        founds.append(found_status)
        pairing = best(overlay, truth_roles, found_roles, jobs=jobs)
        there = pairing.match >= 0
        same = np.zeros(len(base.truth), np.bool_)
        same[there] = overlay.found.label[pairing.match[there]] == overlay.truth.label[there]
        for level, threshold in enumerate(levels):
            matched = there & (pairing.iou >= threshold)
            met[:, level] |= matched.astype(np.uint16) << system
            hits[:, level] |= (matched & same).astype(np.uint16) << system
    found_status = joint.laid(founds)
    rows = len(joint.found)
    nothing = np.zeros((rows, len(levels)), np.bool_)
    return Paired(
        truth_status=truth_status,
        found_status=found_status,
        truth_roles=truth_roles,
        found_roles=_block_roles(found_status),
        any_score=_block_roles(found_status),
        absorbing=truth_roles,
        hits=hits,
        met=met,
        counted=nothing | (found_status == Status.COUNTED)[:, None],
        found_hits=nothing,
        absorbed=np.zeros(rows),
        out_of_range=np.zeros((len(base.truth), 1), np.uint8),
        ranks={},
        ranked=False,
        by_truth=True,
    )


def _block_status(joint: Joint, overlay: Overlay, layer: Layer, kept: Flags) -> Bytes:
    status = np.where(kept[layer.label], np.uint8(Status.COUNTED), np.uint8(Status.OTHER_LABEL))
    if layer.flaws is not None:
        status[layer.flaws == Flaw.DROPPED] = Status.OTHER_LABEL
        status[layer.flaws == Flaw.NOT_ANNOTATED] = Status.NOT_ANNOTATED
        status[layer.flaws == Flaw.UNKNOWN_LABEL] = Status.UNKNOWN_LABEL
        status[layer.flaws == Flaw.BAD_BOX] = Status.BAD_BOX
    return out_of_play(joint, overlay, layer, status)


def _block_roles(status: Bytes) -> Bytes:
    return np.where(status == Status.COUNTED, np.uint8(TAKES_PART), np.uint8(LEFT_OUT))
