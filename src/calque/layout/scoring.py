"""From two corpora to the ledger of layout: one row for each block of either side."""

from __future__ import annotations

import numpy as np

from calque.base.columns import Bytes, Column, Flags, Table
from calque.corpus.boxes import BoxCorpus, Flaw
from calque.evaluation.boxes.overlay import PAGE_DETAILS, Layer, Overlay
from calque.evaluation.boxes.pairing import best
from calque.evaluation.ledger import Ledger
from calque.kernels.structs import LEFT_OUT, TAKES_PART

DETAILS = frozenset((table, column) for table in ("truth", "found") for column in ("box", "id", "match")) | PAGE_DETAILS


def counted(truth: Table) -> Flags:
    """Which blocks count."""
    return truth.array("valid")


def score(truth: BoxCorpus, found: BoxCorpus, on: str = "boxes", *, jobs: int = 1) -> Ledger:
    """The ledger of two corpora: tables ``documents``, ``pages``, ``truth`` and ``found``."""
    overlay = Overlay.of(truth, found, on, jobs=jobs)
    truth_roles, found_roles = _roles(overlay.truth), _roles(overlay.found)
    pairing = best(overlay, truth_roles, found_roles, jobs=jobs)
    paired = pairing.match >= 0
    given = np.full(len(overlay.truth), -1, dtype=np.int32)
    given[paired] = overlay.found.label[pairing.match[paired]]
    uses = np.bincount(pairing.match[paired], minlength=len(overlay.found)).astype(np.int32)
    match = overlay.within_document(overlay.truth, overlay.found, pairing.match)
    return Ledger(
        units=overlay.documents,
        names={"label": overlay.labels, "label_found": overlay.labels},
        details=DETAILS,
        tables={
            "documents": overlay.document_table(),
            "pages": Table({**overlay.page_columns(), **overlay.page_details()}),
            "truth": _rows(overlay, overlay.truth, truth_roles, {"label_found": given, "iou": pairing.iou, "match": match}),
            "found": _rows(overlay, overlay.found, found_roles, {"uses": uses}),
        },
    )


def _roles(layer: Layer) -> Bytes:
    roles = np.full(len(layer), TAKES_PART, dtype=np.uint8)
    if layer.flaws is not None:
        roles[np.isin(layer.flaws, [Flaw.UNKNOWN_LABEL, Flaw.BAD_BOX, Flaw.DROPPED, Flaw.NOT_ANNOTATED])] = LEFT_OUT
    return roles


def _rows(overlay: Overlay, layer: Layer, roles: Bytes, columns: dict[str, Column]) -> Table:
    flaws = np.zeros(len(layer), dtype=np.uint8) if layer.flaws is None else layer.flaws
    dropped = np.isin(flaws, [Flaw.DROPPED, Flaw.NOT_ANNOTATED])
    flags = {"valid": roles == TAKES_PART, "dropped": dropped}
    return Table({**overlay.row_columns(layer), **flags, **columns, **layer.detail_columns()})
