"""From two corpora to the ledger of layout, one row per block, and from the ledger to the outcome of each block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes, Column, Flags, Strings, Table
from calque.corpus.boxes import BoxCorpus, Flaw, distinct_names
from calque.evaluation.boxes.overlay import PAGE_DETAILS, Layer, Overlay
from calque.evaluation.boxes.pairing import best
from calque.evaluation.document_sums import share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, FalsePositives, RunOutcomes, TruthOutcomes, positions
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.report_data import corners_of, page_rows
from calque.kernels.structs import LEFT_OUT, TAKES_PART

if TYPE_CHECKING:
    from calque.layout.task import Layout

DETAILS = frozenset((table, column) for table in ("truth", "found") for column in ("box", "id", "match")) | PAGE_DETAILS


def score(truth: BoxCorpus, predictions: BoxCorpus, on: str = "boxes", *, jobs: int = 1) -> Ledger:
    """Match two corpora: tables ``documents``, ``pages``, ``truth`` and ``found``, which has the predictions."""
    overlay = Overlay.of(truth, predictions, on, jobs=jobs)
    truth_roles, prediction_roles = _roles(overlay.truth), _roles(overlay.found)
    pairing = best(overlay, truth_roles, prediction_roles, jobs=jobs)
    paired = pairing.match >= 0
    label_found = np.full(len(overlay.truth), -1, dtype=np.int32)
    label_found[paired] = overlay.found.label[pairing.match[paired]]
    uses = np.bincount(pairing.match[paired], minlength=len(overlay.found)).astype(np.int32)
    match = overlay.within_document(overlay.truth, overlay.found, pairing.match)
    matches: dict[str, Column] = {"label_found": label_found, "iou": pairing.iou, "match": match}
    return Ledger(
        units=overlay.documents,
        names={"label": overlay.labels, "label_found": overlay.labels},
        details=DETAILS,
        tables={
            "documents": overlay.document_table(),
            "pages": Table({**overlay.page_columns(), **overlay.page_details()}),
            "truth": _rows(overlay, overlay.truth, truth_roles, matches),
            "found": _rows(overlay, overlay.found, prediction_roles, {"uses": uses}),
        },
    )


def _roles(layer: Layer) -> Bytes:
    roles = np.full(len(layer), TAKES_PART, dtype=np.uint8)
    if layer.flaws is not None:
        roles[np.isin(layer.flaws, [Flaw.UNKNOWN_LABEL, Flaw.BAD_BOX, Flaw.DROPPED, Flaw.NOT_ANNOTATED])] = LEFT_OUT
    return roles


def _rows(overlay: Overlay, layer: Layer, roles: Bytes, columns: dict[str, Column]) -> Table:
    flaws = np.zeros(len(layer), dtype=np.uint8) if layer.flaws is None else layer.flaws
    flags = {"valid": roles == TAKES_PART, "dropped": np.isin(flaws, [Flaw.DROPPED, Flaw.NOT_ANNOTATED])}
    return Table({**overlay.row_columns(layer), **flags, **columns, **layer.detail_columns()})


# Outcomes.


def counted(rows: Table) -> Flags:
    """Return which blocks count."""
    return rows.array("valid")


def dropped(rows: Table) -> Flags:
    """Return which blocks a class map drops; old states do not tell them from invalid blocks."""
    return rows.array("dropped") if "dropped" in rows else np.zeros(rows.height, dtype=np.bool_)


def verdicts(truth: Table, threshold: float) -> tuple[Flags, Flags, Flags]:
    """Return which ground-truth blocks count, which of them are matched, and which of those have the right category."""
    valid, iou = truth.array("valid"), truth.array("iou")
    matched = valid & (iou >= threshold) & (iou > 0)
    return valid, matched, matched & (truth.array("label") == truth.array("label_found"))


def _used(ledger: Ledger, matched: Flags) -> Flags:
    """Return for each prediction whether a matched ground-truth block takes it."""
    truth, used = ledger.table("truth"), np.zeros(ledger.table("found").height, dtype=np.bool_)
    used[ledger.absolute("found", truth.array(UNIT), truth.array("match"))[matched]] = True
    return used


def outcomes(ledger: Ledger, threshold: float) -> Table:
    """Return one row per ground-truth block, and one per prediction that no block takes."""
    truth = ledger.table("truth")
    valid, matched, right = verdicts(truth, threshold)
    of_truth = np.select([dropped(truth), ~valid, right, matched], ["dropped", "invalid", "correct", "wrong"], "unmatched")
    listed = [_listed(ledger, truth, "truth", of_truth)]
    listed[0]["label_found"] = _names(ledger, np.where(matched, truth.array("label_found"), -1))
    listed[0]["iou"] = truth.array("iou").tolist()
    if "match" in truth:
        free = np.flatnonzero(~_used(ledger, matched))
        predictions = ledger.table("found").take(free)
        of_predictions = np.select([dropped(predictions), ~counted(predictions)], ["dropped", "invalid"], "unused")
        rows = _listed(ledger, predictions, "prediction", of_predictions)
        listed.append({**rows, "label_found": rows["label"], "label": [""] * len(free), "iou": [np.nan] * len(free)})
    texts = ("document", "side", "label", "label_found", "outcome")
    columns: dict[str, Column] = {name: Strings.pack(text for rows in listed for text in rows[name]) for name in texts}
    columns["page"] = np.array([page for rows in listed for page in rows["page"]], dtype=np.int64)
    columns["iou"] = np.array([iou for rows in listed for iou in rows["iou"]], dtype=np.float64)
    order = ("document", "page", "side", "label", "label_found", "outcome", "iou")
    boxes = {"box": np.concatenate([rows["box"] for rows in listed])} if all("box" in rows for rows in listed) else {}
    return Table({**{name: columns[name] for name in order}, **boxes})


def _names(ledger: Ledger, codes: Array) -> list[str]:
    labels = (*ledger.names["label"], "")
    return [labels[code] for code in codes.tolist()]


def _listed(ledger: Ledger, table: Table, side: str, outcome: Array) -> dict[str, Any]:
    """Return the columns that rows of both sides have."""
    documents, unit = distinct_names(ledger.units), table.array(UNIT)
    pages = ledger.table("pages").array("page_index")
    return {
        "document": [documents[position] for position in unit.tolist()],
        "page": pages[ledger.absolute("pages", unit, table.array("page"))].tolist(),
        "side": [side] * table.height,
        "label": _names(ledger, table.array("label")),
        "outcome": outcome.tolist(),
        **({"box": table.array("box")} if "box" in table else {}),
    }


def run_outcomes(task: Layout, ledger: Ledger) -> RunOutcomes:
    """Return the outcome of each block that counts, for comparisons; a prediction that no block takes is a false positive."""
    truth = ledger.table("truth")
    valid, matched, right = verdicts(truth, task.iou)
    rows = np.flatnonzero(valid)
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    kinds = np.select([right, matched], ["correct", "wrong"], "unmatched")
    at = ledger.absolute("pages", unit[rows], truth.array("page")[rows])
    ids = truth.get("id")
    chosen = rows.tolist()
    truths = TruthOutcomes(
        unit[rows].tolist(),
        [place[row] for row in chosen],
        ledger.table("pages").array("page_index")[at].tolist(),
        [place[row] if ids is None else ids[row] if isinstance(ids, Strings) else int(ids[row]) for row in chosen],
        _names(ledger, truth.array("label")[rows]),
        kinds[rows].tolist(),
        right[rows].tolist(),
    )
    total, correct = (np.bincount(unit[flags], minlength=len(ledger.units)) for flags in (valid, right))
    return RunOutcomes(truths, _false_positives(ledger, matched), share(correct, total))


def _false_positives(ledger: Ledger, matched: Flags) -> FalsePositives:
    """Return the predictions that no matched block takes; none if the ledger does not keep which block takes which."""
    predictions = ledger.table("found")
    if "match" not in ledger.table("truth") or "box" not in predictions:
        return NO_FALSE_POSITIVES
    rows = np.flatnonzero(counted(predictions) & ~_used(ledger, matched))
    page = page_rows(ledger, "found")
    return FalsePositives(
        predictions.array(UNIT)[rows].tolist(),
        ledger.table("pages").array("page_index")[page[rows]].tolist(),
        _names(ledger, predictions.array("label")[rows]),
        corners_of(ledger, "found", page)[rows],
    )
