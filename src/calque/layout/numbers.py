"""The numbers of layout: blocks found, categories right, and what was taken for what."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.core.columns import Array, Column, Flags, Strings, Table
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


def used_by(ledger: Ledger, matched: Flags) -> Flags:
    """For each prediction whether one of these truths takes it."""
    truth, used = ledger.table("truth"), np.zeros(ledger.table("found").height, dtype=np.bool_)
    used[ledger.absolute("found", truth.array(UNIT), truth.array("match"))[matched]] = True
    return used


def outcomes(ledger: Ledger, threshold: float) -> Table:
    """One row for each true block: what it was taken for, how much the two overlap; then predictions that no block takes."""
    truth = ledger.table("truth")
    valid, matched, right = verdicts(truth, threshold)
    conditions = [_dropped(truth), ~valid, right, matched]
    of_truths = np.select(conditions, ["dropped", "invalid", "correct", "wrong"], "unmatched")
    listed = [_listed(ledger, truth, "truth", of_truths)]
    listed[0]["label_found"] = _names(ledger, np.where(matched, truth.array("label_found"), -1))
    listed[0]["iou"] = truth.array("iou").tolist()
    if "match" in truth:
        free = np.flatnonzero(~used_by(ledger, matched))
        found = ledger.table("found").take(free)
        of_found = np.select([_dropped(found), ~_counted(found)], ["dropped", "invalid"], "unused")
        rows = _listed(ledger, found, "prediction", of_found)
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
    """What rows of either side have in common."""
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
