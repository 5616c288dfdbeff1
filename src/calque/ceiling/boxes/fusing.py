"""Votes: the boxes of all systems fused, and what is found by those that some, most or all systems agree on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Column, Flags
from calque.ceiling.boxes.joint import Joint, systems_in
from calque.ceiling.boxes.paired import Paired
from calque.evaluation.boxes.overlay import Layer, Overlay
from calque.evaluation.boxes.pairing import greedy
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling


def fused_columns(task: Ceiling, joint: Joint, paired: Paired, jobs: int) -> dict[str, Column]:
    """For each document, level and number of votes: what fused boxes find, and how often boxes with so many votes are right."""
    overlay, votes = _fused(task, joint, paired, jobs)
    size = len(joint.known)
    documents = overlay.page_document[overlay.found.page]
    columns: dict[str, list[Array]] = {name: [] for name in ("votes_right", "votes_found", "agreed_right", "agreed_found")}
    verdicts = [_verdicts(task, overlay, paired, votes >= wanted, jobs) for wanted in range(1, len(joint.overlays) + 1)]
    for level in range(len(task.iou)):
        for wanted, (right, counted) in enumerate(verdicts, start=1):
            exactly = votes == wanted
            chosen = {
                "votes_right": right[:, level], "votes_found": counted[:, level],
                "agreed_right": verdicts[0][0][:, level] & exactly, "agreed_found": verdicts[0][1][:, level] & exactly,
            }  # fmt: skip
            for name, flags in chosen.items():
                columns[name].append(np.bincount(documents[flags], minlength=size))
    return {name: np.stack(parts, axis=1).astype(np.int32) for name, parts in columns.items()}


def _fused(task: Ceiling, joint: Joint, paired: Paired, jobs: int) -> tuple[Overlay, Array]:
    """The fused boxes over the truth, and how many systems each is of."""
    scores = np.where(np.isnan(joint.found.scores), 1.0, joint.found.scores)
    page, label, boxes, score, systems = kernels().fuse_boxes(
        joint.found.page_boxes(paired.found_roles), scores, joint.system, task.fuse_iou, jobs
    )
    pages = len(joint.base.page_index)
    layer = Layer(
        page=page,
        label=label,
        boxes=boxes,
        form=BoxForm.XYXY,
        scores=score,
        offsets=np.concatenate([[0], np.cumsum(np.bincount(page, minlength=pages))]).astype(np.int64),
    )
    overlay = replace(joint.base, found=layer)
    if joint.base.truth.measured is not None:
        overlay = overlay.measured_again(task.on, jobs)
    return overlay, systems_in(systems)


def _verdicts(task: Ceiling, overlay: Overlay, paired: Paired, kept: Flags, jobs: int) -> tuple[Flags, Flags]:
    """For each fused box and level whether it is right, and whether it is right or wrong."""
    roles = np.where(kept, np.uint8(TAKES_PART), np.uint8(LEFT_OUT))
    pairing = greedy(overlay, paired.absorbing, roles, threshold=task.iou[0], jobs=jobs)
    right = np.stack([pairing.found_iou >= level for level in task.iou], axis=1)
    excused = np.stack([pairing.absorbed >= level for level in task.iou], axis=1)
    return right, right | (kept[:, None] & ~excused)
