"""The numbers of layout: blocks found, categories right, and what was taken for what."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.base.columns import Array, Column, Flags, Ints, Strings, Table
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Measure, Undefined, counts

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
        "accuracy over all",
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
    labels = ledger.names["label"]
    everything, by_class, by_document = _Tally(1), _Tally(len(labels)), _Tally(len(ledger.units))
    cells = np.zeros((len(labels), len(labels) + 1), np.int64)
    sizes = dict.fromkeys(("pages", "truths", "predictions", "invalid", "dropped"), 0)
    only_truth, only_found = [], []
    for piece in ledger.pieces():
        truth, documents = piece.ledger.table("truth"), piece.ledger.table("documents")
        judged = verdicts(truth, threshold)
        everything.add(np.zeros(truth.height, dtype=np.int32), judged)
        by_class.add(truth.array("label"), judged)
        by_document.add(piece.places[truth.array(UNIT)], judged)
        cells += _confusion(truth, len(labels), *judged[:2])
        for name, count in _sizes(piece.ledger).items():
            sizes[name] += count
        in_truth, in_found = documents.array("in_truth"), documents.array("in_found")
        only_truth += piece.places[np.flatnonzero(in_truth & ~in_found)].tolist()
        only_found += piece.places[np.flatnonzero(in_found & ~in_truth)].tolist()
    return {
        **everything.blocks()[0],
        "per_class": dict(zip(labels, by_class.blocks(), strict=True)),
        "documents": dict(zip(distinct_names(ledger.units), by_document.blocks(), strict=True)),
        "confusion": {
            name: {column: int(count) for column, count in zip((*labels, UNMATCHED), row, strict=True) if count}
            for name, row in zip(labels, cells, strict=True)
        },
        "counts": {"documents": len(ledger.units), **sizes},
        "only_truth": [ledger.units[place] for place in sorted(only_truth)],
        "only_predictions": [ledger.units[place] for place in sorted(only_found)],
    }


def _sizes(ledger: Ledger) -> dict[str, int]:
    sides = [ledger.table(side) for side in SIDES]
    return {
        "pages": ledger.table("pages").height,
        "truths": sides[0].height,
        "predictions": sides[1].height,
        "invalid": sum(int((~_counted(side) & ~dropped(side)).sum()) for side in sides),
        "dropped": sum(int(dropped(side).sum()) for side in sides),
    }


def _counted(rows: Table) -> Flags:
    return rows.array("valid")


def dropped(rows: Table) -> Flags:
    """Which blocks a class map drops on purpose; states of before did not tell them from those that cannot be used."""
    return rows.array("dropped") if "dropped" in rows else np.zeros(rows.height, dtype=np.bool_)


def verdicts(truth: Table, threshold: float) -> tuple[Flags, Flags, Flags]:
    """Which blocks count, which of them are matched, and which of those have the right category."""
    valid, iou = truth.array("valid"), truth.array("iou")
    matched = valid & (iou >= threshold) & (iou > 0)
    return valid, matched, matched & (truth.array("label") == truth.array("label_found"))


class _Tally:
    """How many blocks count, are matched and are right, for each group."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._counts = np.zeros((3, size), np.int64)

    def add(self, group: Array, judged: tuple[Flags, Flags, Flags]) -> None:
        """Add some blocks, each of a group."""
        self._counts += [counts(group[chosen], self._size) for chosen in judged]

    def blocks(self) -> list[dict[str, Any]]:
        """The numbers of each group."""
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
            for total, found, correct in zip(*self._counts.tolist(), strict=True)
        ]


def _confusion(truth: Table, labels: int, valid: Flags, matched: Flags) -> Ints:
    """How often each label was taken for which; the last column is for truths that nothing was found for."""
    size = labels + 1
    given = np.where(matched, truth.array("label_found"), labels)
    return counts((truth.array("label").astype(np.int64) * size + given)[valid], labels * size).reshape(-1, size)


def used_by(ledger: Ledger, matched: Flags) -> Flags:
    """For each prediction whether one of these truths takes it."""
    truth, used = ledger.table("truth"), np.zeros(ledger.table("found").height, dtype=np.bool_)
    used[ledger.absolute("found", truth.array(UNIT), truth.array("match"))[matched]] = True
    return used


def outcomes(ledger: Ledger, threshold: float) -> Table:
    """One row for each true block: what it was taken for, how much the two overlap; then predictions that no block takes."""
    truth = ledger.table("truth")
    valid, matched, right = verdicts(truth, threshold)
    conditions = [dropped(truth), ~valid, right, matched]
    of_truths = np.select(conditions, ["dropped", "invalid", "correct", "wrong"], "unmatched")
    listed = [_listed(ledger, truth, "truth", of_truths)]
    listed[0]["label_found"] = _names(ledger, np.where(matched, truth.array("label_found"), -1))
    listed[0]["iou"] = truth.array("iou").tolist()
    if "match" in truth:
        free = np.flatnonzero(~used_by(ledger, matched))
        found = ledger.table("found").take(free)
        of_found = np.select([dropped(found), ~_counted(found)], ["dropped", "invalid"], "unused")
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
