"""The numbers of layout: blocks found, categories right, and what was taken for what."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.core.columns import Array, Flags, Strings, Table
from calque.core.corpus import distinct_names
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Measure, Undefined, counts

SOURCE = "Layout Accuracy Evaluation"
UNMATCHED = "(unmatched)"
"""The column of the confusion for blocks that nothing was found for."""

MEASURES = (
    Measure("layout_total_blocks", "blocks", "All true blocks.", "|G|", SOURCE, "never"),
    Measure(
        "layout_matched_blocks",
        "matched",
        "True blocks whose best prediction overlaps enough.",
        "|{g: IoU ≥ t}|",
        SOURCE,
        "never",
    ),
    Measure(
        "layout_correct_blocks",
        "correct",
        "Matched blocks whose category is right.",
        "|{g matched, same category}|",
        SOURCE,
        "never",
    ),
    Measure(
        "layout_classification_accuracy",
        "accuracy",
        "The share of matched blocks whose category is right.",
        "correct / matched",
        SOURCE,
        "nothing is matched",
    ),
    Measure(
        "layout_accuracy_over_total",
        "over total",
        "The share of all true blocks that are matched and have the right category: the end-to-end number.",
        "correct / all",
        "calque",
        "no truths",
    ),
)
NAMES = tuple(measure.name for measure in MEASURES)
SIDES = ("truth", "found")


def measure(ledger: Ledger, threshold: float) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    truth = ledger.table("truth")
    labels = ledger.names["label"]
    valid, matched, right = verdicts(truth, threshold)
    everything = np.zeros(truth.height, dtype=np.int32)
    by_class = _blocks(truth.array("label"), len(labels), valid, matched, right)
    by_document = _blocks(truth.array(UNIT), len(ledger.units), valid, matched, right)
    known = ledger.table("documents")
    return {
        **_blocks(everything, 1, valid, matched, right)[0],
        "per_class": dict(zip(labels, by_class, strict=True)),
        "documents": dict(zip(distinct_names(ledger.units), by_document, strict=True)),
        "confusion": _confusion(truth, labels, valid, matched),
        "counts": {
            "documents": len(ledger.units),
            "pages": ledger.table("pages").height,
            "truths": truth.height,
            "predictions": ledger.table("found").height,
            "invalid": sum(int((~_counted(ledger.table(side)) & ~_dropped(ledger.table(side))).sum()) for side in SIDES),
            "dropped": sum(int(_dropped(ledger.table(side)).sum()) for side in SIDES),
        },
        "only_truth": _units(ledger, known.array("in_truth") & ~known.array("in_found")),
        "only_predictions": _units(ledger, known.array("in_found") & ~known.array("in_truth")),
    }


def _counted(rows: Table) -> Flags:
    return rows.array("valid")


def _dropped(rows: Table) -> Flags:
    """Which blocks a class map drops on purpose; states of before did not tell them from those that cannot be used."""
    return rows.array("dropped") if "dropped" in rows else np.zeros(rows.height, dtype=np.bool_)


def _units(ledger: Ledger, flags: Array) -> list[int | str]:
    return [ledger.units[position] for position in np.flatnonzero(flags)]


def verdicts(truth: Table, threshold: float) -> tuple[Flags, Flags, Flags]:
    """Which blocks count, which of them are matched, and which of those have the right category."""
    valid, iou = truth.array("valid"), truth.array("iou")
    matched = valid & (iou >= threshold) & (iou > 0)
    return valid, matched, matched & (truth.array("label") == truth.array("label_found"))


def _blocks(group: Array, size: int, valid: Flags, matched: Flags, right: Flags) -> list[dict[str, Any]]:
    columns = [counts(group[chosen], size).tolist() for chosen in (valid, matched, right)]
    return [
        dict(
            zip(
                NAMES,
                (
                    total,
                    found,
                    correct,
                    correct / found if found else Undefined("nothing is matched"),
                    correct / total if total else Undefined("no truths"),
                ),
                strict=True,
            )
        )
        for total, found, correct in zip(*columns, strict=True)
    ]


def _confusion(truth: Table, labels: tuple[str, ...], valid: Flags, matched: Flags) -> dict[str, dict[str, int]]:
    """Truth label → predicted label → count; the last column is for truths that nothing was found for."""
    size = len(labels) + 1
    given = np.where(matched, truth.array("label_found"), len(labels))
    cells = counts((truth.array("label").astype(np.int64) * size + given)[valid], len(labels) * size).reshape(-1, size)
    return {
        name: {column: int(count) for column, count in zip((*labels, UNMATCHED), row, strict=True) if count}
        for name, row in zip(labels, cells, strict=True)
    }


def outcomes(ledger: Ledger, threshold: float) -> Table:
    """One row for each true block: what it is, what it was taken for, and how much the two overlap."""
    truth = ledger.table("truth")
    valid, matched, right = verdicts(truth, threshold)
    labels = (*ledger.names["label"], "")
    documents = distinct_names(ledger.units)
    unit = truth.array(UNIT)
    conditions = [_dropped(truth), ~valid, right, matched]
    outcome = np.select(conditions, ["dropped", "invalid", "correct", "wrong"], "unmatched")
    given = np.where(matched, truth.array("label_found"), -1)
    pages = ledger.table("pages").array("page_index")
    return Table(
        {
            "document": Strings.pack([documents[position] for position in unit.tolist()]),
            "page": pages[ledger.absolute("pages", unit, truth.array("page"))],
            "label": Strings.pack([labels[code] for code in truth.array("label").tolist()]),
            "label_found": Strings.pack([labels[code] for code in given.tolist()]),
            "outcome": Strings.pack(outcome.tolist()),
            "iou": truth.array("iou"),
            **({"box": truth["box"]} if "box" in truth else {}),
        }
    )
