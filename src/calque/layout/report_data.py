"""What a report draws of layout: every block with what became of it, and what it was taken for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array
from calque.base.wording import counted
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Breakdown, Number, Overview, Part, ReportData
from calque.layout.numbers import MEASURES, NAMES, UNMATCHED, dropped, verdicts

if TYPE_CHECKING:
    from calque.layout.task import Layout


OUTCOMES = {"tp": "named right", "wrong": "under another name", "fn": "not found", "fp": "unused"}
"""The one language of outcomes, as it is said of blocks."""


def report_data(task: Layout, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData:
    """The blocks of both sides, their outcomes and the numbers."""
    labels = list(ledger.names["label"])
    drawn = {**columns.page_columns(ledger), **_blocks(task, ledger)}
    head = {
        "kind": "boxes",
        "labels": labels,
        "documents": list(distinct_names(ledger.units)),
        "outcomes": OUTCOMES,
        "numbers": {
            "thresholds": [repr(task.iou)],
            "overviews": [_overview(task, numbers, int((drawn["p.outcome.0"] == columns.FP).sum())).to_dict()],
            "classes": labels,
            "confusion": _matrix(labels, numbers["confusion"]),
        },
    }
    return ReportData(head, drawn)


def _overview(task: Layout, numbers: Mapping[str, Any], unused: int) -> Overview:
    """The first view."""
    counts = numbers["counts"]
    total, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
    sizes = [counted(counts[f"{noun}s"], noun) for noun in ("document", "page", "truth", "prediction")]
    outcomes = ("tp,wrong,fn", "tp,wrong", "tp", "", "")
    return Overview(
        line=["Layout", *sizes, f"a block counts as found from IoU {task.iou!r} on"],
        parts=[
            Part("tp", correct, "named right", "layout_correct_blocks"),
            Part("wrong", matched - correct, "under another name"),
            Part("fn", total - matched, "not found"),
            Part("fp", unused, "unused prediction" if unused == 1 else "unused predictions"),
        ],
        numbers=[
            Number("Accuracy", NAMES[3], numbers[NAMES[3]], "of what is found is named right"),
            Number("Over all blocks", NAMES[4], numbers[NAMES[4]], "found and named right"),
            Number("Blocks", NAMES[0], total, "in the truth", outcomes[0]),
            Number("Matched", NAMES[1], matched, "a prediction overlaps enough", outcomes[1]),
            Number("Correct", NAMES[2], correct, "and has the right name", "tp"),
        ],
        breakdown=Breakdown(
            title="By class",
            of="class",
            columns=[
                *((measure.title, measure.name, outcome) for measure, outcome in zip(MEASURES, outcomes, strict=True)),
                ("other name", "", "wrong"),
                ("not found", "", "fn"),
            ],
            marks=((2, "tp"), (5, "wrong"), (6, "fn")),
            rows=[(label, _row(block)) for label, block in numbers["per_class"].items()],
            total=_row(numbers),
        ),
    )


def _row(block: Mapping[str, Any]) -> list[Any]:
    total, matched, correct = (block[name] for name in NAMES[:3])
    return [*(block[name] for name in NAMES), matched - correct, total - matched]


def _matrix(labels: list[str], confusion: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    every = [*labels, UNMATCHED]
    rows = [[confusion.get(label, {}).get(name, 0) for name in every] for label in labels]
    return {"labels": every, "matrix": [*rows, [0] * len(every)]}


def _blocks(task: Layout, ledger: Ledger) -> dict[str, Array]:
    truth, found = ledger.table("truth"), ledger.table("found")
    valid, matched, right = verdicts(truth, task.iou)
    match = np.where(matched, truth.array("match"), -1)
    partner = ledger.absolute("found", truth.array(UNIT), match)
    outcome = np.select(
        [dropped(truth), ~valid, right, matched],
        [columns.EXCLUDED, columns.INVALID, columns.TP, columns.WRONG],
        columns.FN,
    ).astype(np.uint8)
    # A prediction that several truths take is right when it is right for one of them.
    used = np.full(found.height, columns.FP, dtype=np.uint8)
    used[~found.array("valid")] = columns.INVALID
    used[dropped(found)] = columns.EXCLUDED
    used[partner[matched & ~right]] = columns.WRONG
    used[partner[right]] = columns.TP
    cell = np.where(matched, truth.array("label_found"), np.where(valid, len(ledger.names["label"]), -1))
    return {
        **columns.box_columns(ledger, "truth", "t"),
        **columns.box_columns(ledger, "found", "p"),
        "t.outcome.0": outcome,
        "p.outcome.0": used,
        "t.match": columns.on_page(ledger, "truth", "found", match),
        "t.iou": truth.array("iou").astype(np.float32),
        "t.cell": columns.narrow(cell),
    }
