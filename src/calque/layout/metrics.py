"""The metrics of layout: matched blocks and right categories, over everything, by class and by document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calque.evaluation.ledger import Ledger
from calque.evaluation.metrics import (
    Count,
    CsvRows,
    Each,
    Metric,
    MetricTable,
    PlainSums,
    Tally,
    block_of,
    one_sided_documents,
)
from calque.evaluation.presentation.result_schema import COUNT, UNIT_ID, list_of, map_of, object_of
from calque.layout.scoring import dropped, verdicts

if TYPE_CHECKING:
    from calque.layout.task import Layout

SOURCE = "Layout Accuracy Evaluation"
UNMATCHED = "(unmatched)"
"""The column of the confusion matrix for blocks without a matching prediction."""
SIZES = ("pages", "truths", "predictions", "invalid", "dropped")
"""The sizes of the corpus, besides the number of documents."""

# 1. Metrics: each is a formula over counts of ground-truth blocks.

TOTAL, MATCHED, CORRECT = Count("total"), Count("matched"), Count("correct")

METRICS = (
    Metric(
        "layout_total_blocks",
        "blocks",
        "All true blocks.",
        "|G|",
        SOURCE,
        "never",
        value=TOTAL,
        support=TOTAL,
        better="neither",
    ),
    Metric(
        "layout_matched_blocks",
        "matched",
        "True blocks whose best prediction overlaps enough.",
        "|{g: IoU ≥ t}|",
        SOURCE,
        "never",
        value=MATCHED,
        support=TOTAL,
    ),
    Metric(
        "layout_correct_blocks",
        "correct",
        "Matched blocks whose category is right.",
        "|{g matched, same category}|",
        SOURCE,
        "never",
        value=CORRECT,
        support=TOTAL,
    ),
    Metric(
        "layout_classification_accuracy",
        "accuracy",
        "The share of matched blocks whose category is right.",
        "correct / matched",
        SOURCE,
        "nothing is matched",
        value=CORRECT / MATCHED,
    ),
    Metric(
        "layout_accuracy_over_total",
        "accuracy over all",
        "The share of all true blocks that are matched and have the right category: the end-to-end number.",
        "correct / all",
        "calque",
        "no truths",
        value=CORRECT / TOTAL,
    ),
)
NAMES = tuple(metric.name for metric in METRICS)


# 2. Rows: the blocks that add to each count, and the sizes of the corpus.


def count_rows(task: Layout, ledger: Ledger) -> Tally:
    """Tell which rows of a ledger add to which count."""
    tally = Tally(ledger)
    truth, predictions = ledger.table("truth"), ledger.table("found")
    valid, matched, correct = verdicts(truth, task.iou)
    tally.count("total", truth, valid, by="label")
    tally.count("matched", truth, matched, by="label")
    tally.count("correct", truth, correct, by="label")
    labels = len(ledger.names["label"])
    taken_for = np.where(matched, truth.array("label_found"), labels)
    cells = truth.array("label").astype(np.int64) * (labels + 1) + taken_for
    tally.count("confusion", truth, valid, by=cells, size=labels * (labels + 1))
    tally.count("pages", ledger.table("pages"))
    for name, side in (("truths", truth), ("predictions", predictions)):
        tally.count(name, side)
        tally.count("invalid", side, ~side.array("valid") & ~dropped(side))
        tally.count("dropped", side, dropped(side))
    return tally


# 3. The result: the same metrics three times, and values without a name.


def other_values(_task: Layout, ledger: Ledger, sums: PlainSums) -> dict[str, Any]:
    """Return the values of the result that are not metrics."""
    labels = ledger.names["label"]
    cells = sums.by_class("confusion").reshape(len(labels), len(labels) + 1).tolist()
    return {
        "confusion": {
            label: {name: count for name, count in zip((*labels, UNMATCHED), row, strict=True) if count}
            for label, row in zip(labels, cells, strict=True)
        },
        "counts": {"documents": len(ledger.units), **{name: sums.whole(name) for name in SIZES}},
        **one_sided_documents(ledger),
    }


TABLE = MetricTable(
    "layout",
    METRICS,
    rows=count_rows,
    supplied=other_values,
    result=block_of(
        METRICS,
        {
            "per_class": Each(block_of(METRICS), by="label", over="label"),
            "documents": Each(block_of(METRICS), over="document"),
            "confusion": map_of(map_of(COUNT)),
            "counts": object_of(dict.fromkeys(("documents", *SIZES), COUNT)),
            "only_truth": list_of(UNIT_ID),
            "only_predictions": list_of(UNIT_ID),
        },
        scopes={"all": "over all blocks of all documents; also for each class and document"},
    ),
    csv=(
        CsvRows("", {"class": ""}, only=NAMES, joined=("counts", "only_truth", "only_predictions")),
        CsvRows("per_class", keys=("class",)),
        CsvRows("confusion", keys=("class", "taken_for"), value="blocks"),
    ),
)
