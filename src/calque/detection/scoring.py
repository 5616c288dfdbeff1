"""From two corpora to the ledger: which boxes take part, how they pair, and one row for each of them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from calque.core.columns import Bytes, Codes, Column, Flags, Ints, Table
from calque.core.corpus import BoxCorpus
from calque.core.ledger import UNIT, Ledger
from calque.core.overlay import Layer, Overlay
from calque.core.pairing import ABSORBS, LEFT_OUT, TAKES_PART, Pairing, greedy

if TYPE_CHECKING:
    from calque.detection.task import Detection


class Status(IntEnum):
    """Whether an object counts, and if not, why."""

    COUNTED = 0
    SMALL = 1
    """Below the smallest area: ignored."""
    LOW_SCORE = 2
    OTHER_LABEL = 3
    ONE_SIDED = 4
    """In a document that only one side knows, and those are left out."""


STATUS_NAMES = tuple(status.name.lower() for status in Status)

DETAILS = frozenset((table, column) for table in ("truth", "found") for column in ("box", "id"))


def score(task: Detection, truth: BoxCorpus, found: BoxCorpus, *, jobs: int) -> Ledger:
    """The ledger of two corpora: tables ``documents``, ``pages``, ``truth`` and ``found``."""
    overlay = Overlay.of(truth, found)
    truth_status = _status(task, overlay, overlay.truth)
    found_status = _status(task, overlay, overlay.found)
    found_status[(found_status <= Status.SMALL) & (overlay.found.scores < task.min_score)] = Status.LOW_SCORE
    truth_roles = _roles(truth_status, small=ABSORBS)
    # A small prediction may still be the one that finds a truth that counts; only unpaired is it ignored.
    found_roles = _roles(found_status, small=TAKES_PART)
    pairing = greedy(overlay, truth_roles, found_roles, threshold=task.iou[0], jobs=jobs)
    return Ledger(
        units=overlay.documents,
        names={"label": overlay.labels, "status": STATUS_NAMES},
        details=DETAILS,
        tables={
            "documents": _documents(overlay),
            "pages": Table({UNIT: overlay.page_document, "page_index": overlay.page_index}),
            "truth": _truth_rows(overlay, truth_status, pairing),
            "found": _found_rows(overlay, found_status, pairing),
        },
    )


def _status(task: Detection, overlay: Overlay, layer: Layer) -> Bytes:
    status = np.full(len(layer), Status.COUNTED, dtype=np.uint8)
    if task.min_area > 0:
        status[layer.areas() < task.min_area] = Status.SMALL
    if task.labels:
        kept = np.array([name in task.labels for name in overlay.labels], dtype=np.bool_)
        status[~kept[layer.label]] = Status.OTHER_LABEL
    if task.missing == "intersect":
        both: Flags = overlay.in_truth & overlay.in_found
        status[~both[overlay.page_document[layer.page]]] = Status.ONE_SIDED
    return status


def _roles(status: Bytes, *, small: int) -> Bytes:
    role_of = np.full(len(Status), LEFT_OUT, dtype=np.uint8)
    role_of[Status.COUNTED] = TAKES_PART
    role_of[Status.SMALL] = small
    return role_of[status]


def _documents(overlay: Overlay) -> Table:
    units = np.arange(len(overlay.documents), dtype=np.int32)
    return Table({UNIT: units, "in_truth": overlay.in_truth, "in_found": overlay.in_found})


def _truth_rows(overlay: Overlay, status: Bytes, pairing: Pairing) -> Table:
    columns: dict[str, Column] = {
        "match": _within_document(overlay, overlay.found, pairing.truth_match),
        "iou": pairing.iou,
        "coverage": pairing.coverage,
        "purity": pairing.purity,
    }
    return _rows(overlay, overlay.truth, status, columns)


def _found_rows(overlay: Overlay, status: Bytes, pairing: Pairing) -> Table:
    columns: dict[str, Column] = {
        "score": overlay.found.scores,
        "match": _within_document(overlay, overlay.truth, pairing.found_match),
        "iou": pairing.found_iou(),
        "absorbed": pairing.absorbed,
    }
    return _rows(overlay, overlay.found, status, columns)


def _rows(overlay: Overlay, layer: Layer, status: Bytes, columns: dict[str, Column]) -> Table:
    """The columns that both sides share, then the side's own."""
    unit = overlay.page_document[layer.page]
    first_page = _first(overlay.page_document, len(overlay.documents))
    rows: dict[str, Column] = {
        UNIT: unit,
        "page": (layer.page - first_page[unit]).astype(np.int32),
        "label": layer.label,
        "status": status,
        **columns,
        "box": layer.boxes,
    }
    return Table(rows if layer.ids is None else {**rows, "id": layer.ids})


def _first(sorted_units: Codes, size: int) -> Ints:
    return np.searchsorted(sorted_units, np.arange(size)).astype(np.int64)


def _within_document(overlay: Overlay, other: Layer, match: Codes) -> Codes:
    """Rows of the other side, counted from the first of their document; -1 stays."""
    first_row = _first(overlay.page_document[other.page], len(overlay.documents))
    relative = match.copy()
    paired = match >= 0
    units = overlay.page_document[other.page[match[paired]]]
    relative[paired] = match[paired] - first_row[units]
    return relative
