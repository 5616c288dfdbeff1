"""The confusion matrix: which class is taken for which, and what is missed or made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Ints
from calque.detection.scoring import Status
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined, counts
from calque.evaluation.presentation.result_schema import COUNT, NUMBER, TEXT, Schema, list_of, object_of
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.detection.task import Detection

BACKGROUND = "(background)"


def measure(task: Detection, ledger: Ledger) -> dict[str, Any] | Undefined:
    """Rows are classes of the truth, columns classes of the predictions; the last of each is the background.

    Boxes of a page are paired greedily by IoU at the lowest threshold, whatever their labels; ties as everywhere. A truth
    without a partner stands in the last column, a prediction without one in the last row.
    """
    size = len(ledger.names["label"])
    background = size
    matrix = np.zeros((size + 1, size + 1), np.int64)
    for piece in ledger.pieces():
        if "met" not in piece.ledger.table("truth"):
            return Undefined("some documents were scored without the confusion matrix; evaluate them again with --confusion")
        matrix += _cells(piece.ledger, task.iou[0], size)
    kept = [code for code, name in enumerate(ledger.names["label"]) if not task.labels or name in task.labels]
    names = [ledger.names["label"][code] for code in kept]
    return {
        "threshold": task.iou[0],
        "labels": [*names, BACKGROUND],
        "matrix": matrix[np.ix_([*kept, background], [*kept, background])].tolist(),
    }


def _cells(ledger: Ledger, threshold: float, background: int) -> Ints:
    """How many pairs there are of each class of the truth and of the predictions."""
    truth, found = ledger.table("truth"), ledger.table("found")
    met = truth.array("met")
    paired = np.flatnonzero(met >= 0)
    partner = ledger.absolute("found", truth.array(UNIT)[paired], met[paired])
    missed = np.flatnonzero((met < 0) & (truth.array("status") == Status.COUNTED))
    free = np.ones(found.height, dtype=np.bool_)
    free[partner] = False
    excused = found.array("absorbed") >= threshold
    made_up = np.flatnonzero(free & (found.array("status") == Status.COUNTED) & ~excused)
    rows = np.concatenate([truth.array("label")[paired], truth.array("label")[missed], np.full(len(made_up), background)])
    columns = np.concatenate([found.array("label")[partner], np.full(len(missed), background), found.array("label")[made_up]])
    size = background + 1
    return counts(rows.astype(np.int64) * size + columns, size**2).reshape(size, size)


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The matrix: truths down, predictions across."""
    labels = numbers["labels"]
    rows = [(name, *row) for name, row in zip(labels, numbers["matrix"], strict=True)]
    notes = ["rows: the truth's class; columns: the prediction's; paired by IoU alone"]
    title = f"Confusion (pairs of any class at IoU ≥ {numbers['threshold']!r})"
    return [Section(title=title, head=("truth", *labels), rows=rows, notes=notes, rule_before=len(rows) - 1)]


def schema() -> Schema:
    """The JSON Schema of the view."""
    return object_of({"threshold": NUMBER, "labels": list_of(TEXT), "matrix": list_of(list_of(COUNT))})
