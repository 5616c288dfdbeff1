"""What a report draws of fields: every compared value with both sides, by document and field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Strings, distinct, take
from calque.base.wording import counted as how_many
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Breakdown, Number, Overview, Part, ReportData
from calque.fields.counted import DRAWN, counted, whole_columns
from calque.fields.occurrences import Paths, bare
from calque.fields.paged import box_columns, with_pages

if TYPE_CHECKING:
    from calque.fields.task import Fields

__all__ = ("report_data", "with_pages")


def report_data(task: Fields, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:
    """The values of both sides and the numbers; nothing when the values were let go of."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return None
    paths = Paths(rows)
    flags, wholes = counted(task, ledger, paths)
    # Pairs of whole items are told in lists; here their values are drawn.
    drawn = np.flatnonzero(rows.array("counted"))
    path = paths.own[drawn]
    values = _in_order([paths.labels[code] for code in distinct(path)[0].tolist()], list(numbers["fields"]))
    fields = list(dict.fromkeys([*values, *wholes["field"]]))
    place = {name: code for code, name in enumerate(fields)}
    shown = Strings.pack("" if text == label else text for text, label in zip(paths.texts, paths.labels, strict=True))
    head = {
        "kind": "fields",
        "documents": list(distinct_names(ledger.units)),
        "fields": fields,
        "reasons_of": list(ledger.names["reason"]),
        "numbers": {
            "overviews": [_overview(numbers, len(values)).to_dict()],
            "classes": list(numbers["fields"]),
            "calibration": _calibration(numbers),
        },
    }
    row: dict[str, Array] = {
        "start": np.searchsorted(rows.array(UNIT)[drawn], np.arange(len(ledger.units) + 1)).astype(np.uint32),
        "field": columns.narrow(np.array([place.get(label, 0) for label in paths.labels], dtype=np.int64)[path]),
        "outcome": DRAWN[rows.array("outcome")[drawn]],
        "counted": flags,
        "reason": rows.array("reason")[drawn],
        **{name: rows.array(name)[drawn].astype(np.float32) for name in ("score", "threshold", "confidence", "iou")},
        # A path is kept where it says more than its field does.
        **columns.text_columns("path", shown.take(path)),
        **columns.text_columns("truth", take(rows["truth_value"], drawn)),
        **columns.text_columns("found", take(rows["found_value"], drawn)),
    }
    return ReportData(
        head,
        {
            **{f"row.{name}": column for name, column in row.items()},
            **box_columns(ledger, drawn),
            **whole_columns(wholes, len(ledger.units), place),
        },
    )


def _calibration(numbers: Mapping[str, Any]) -> list[list[float]]:
    """For each part of confidences its ends, how many values it has, their mean confidence and the share that is right."""
    told = numbers["confidence_metrics"].get("overall", {}).get("ece")
    bins = told.get("bins", []) if isinstance(told, Mapping) else []
    return [[*one["range"], one["count"], one["mean_confidence"], one["accuracy"]] for one in bins if one["count"]]


def _in_order(labels: list[str], schema: list[str]) -> list[str]:
    """The fields that have values, in the order of the schema, which knows no list marks."""
    place = {name: code for code, name in enumerate(schema)}
    return sorted(dict.fromkeys(labels), key=lambda label: (place.get(bare(label), len(place)), label))


COUNTED = "counted"
"""Where counts lead: a list counts its items, an object counts itself, and what is rightly absent does not count."""
COLUMNS = (
    ("right", "tp", "tp"), ("wrong", "fd", "wrong"), ("missing", "fn", "fn"), ("made up", "fa", "fp"),
    ("precision", "cm_precision", ""), ("recall", "cm_recall", ""), ("F1", "cm_f1", ""),
)  # fmt: skip
MARKS = tuple((place, mark) for place, (_, _, mark) in enumerate(COLUMNS[:4]))


def _overview(numbers: Mapping[str, Any], fields: int) -> Overview:
    """The first view."""
    overall = numbers["overall"]
    titles = {
        "cm_recall": ("Recall", "of what is there was found"),
        "cm_precision": ("Precision", "of what was read is right"),
        "cm_f1": ("F1", "of recall and precision"),
        "cm_accuracy": ("Accuracy", "rightly empty ones included"),
        "weighted_overall_score": ("Score", "mean of documents"),
    }
    shown = [Number(title, name, overall[name], note) for name, (title, note) in titles.items()]
    by_name = sorted(numbers["fields"].items(), key=lambda entry: entry[1]["cm_f1"])
    return Overview(
        line=["Fields", how_many(numbers["document_count"], "document"), how_many(fields, "field")],
        at={"kind": COUNTED},
        parts=[Part(mark, overall[name], title, name) for title, name, mark in COLUMNS[:4]],
        numbers=[*shown, *_extra(numbers)][:6],
        breakdown=Breakdown(
            title="By field",
            of="field",
            note="worst first; a number leads to its values",
            columns=COLUMNS,
            marks=MARKS,
            rows=[(name, [entry[column] for _, column, _ in COLUMNS]) for name, entry in by_name],
            total=[overall[column] for _, column, _ in COLUMNS],
        ),
    )


def _extra(numbers: Mapping[str, Any]) -> list[Number]:
    """Where values stand, and what confidences are worth, where there are boxes or confidences."""
    boxes, confidences = numbers["bbox_map_metrics"], numbers["confidence_metrics"].get("overall", {})
    shown = [Number("mAP of boxes", "mean_ap", boxes["mean_ap"], "where values stand")] if boxes["fields"] else []
    auroc = confidences.get("auroc")
    if isinstance(auroc, Mapping) and auroc.get("value") is not None:
        shown.append(Number("AUROC", "auroc", auroc["value"], "confidences, right over wrong"))
    return shown
