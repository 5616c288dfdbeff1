"""Slices: the numbers of the documents that share a value, such as a language, and their mean over all values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Strings
from calque.detection import numbers
from calque.detection.views.columns import slice_column
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import Undefined, weighted_mean
from calque.evaluation.presentation.result_schema import COUNT, SHARE, Schema, map_of, object_of, perhaps
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.detection.task import Detection

AVERAGES = ("AP", "AP50", "AP75")
NO_VALUE = "no slice has a value"


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """For each column asked for what `by_column` says."""
    return {column: by_column(task, ledger, column) for column in task.by}


def by_column(task: Detection, ledger: Ledger, column: str) -> dict[str, Any] | Undefined:
    """The numbers of each value, the mean over the values, and the documents that have none, which the mean leaves out.

    A slice has the numbers that evaluating its documents alone would give.
    """
    texts = [""] * len(ledger.units)
    for piece in ledger.pieces():
        values = piece.ledger.table("documents").get(slice_column(column))
        if not isinstance(values, Strings):
            return Undefined(f"some documents were scored without slices; evaluate them again with --by {column}")
        for place, text in zip(piece.places.tolist(), values, strict=True):
            texts[place] = sys.intern(text)
    known = sorted({*texts} - {""})
    code = {value: position for position, value in enumerate([*known, ""])}
    parts = ledger.split(np.array([code[text] for text in texts], dtype=np.int64), len(code))
    without = parts.pop()
    plain = replace(task, errors="none")  # a slice shows no kinds of errors
    blocks = {value: _block(plain, part) for value, part in zip(known, parts, strict=True)}
    return {
        "values": blocks,
        "macro_slices": _mean(task, list(blocks.values())),
        "without_value": _block(plain, without) if without.units else None,
    }


def _block(task: Detection, ledger: Ledger) -> dict[str, Any]:
    tree = numbers.measure(task, ledger)
    scopes = ("micro", "macro_classes", "per_class")
    return {
        "documents": len(ledger.units),
        "metrics": {text: {scope: block[scope] for scope in scopes} for text, block in tree["metrics"].items()},
        "coco": {name: tree["coco"][name] for name in AVERAGES},
    }


def _mean(task: Detection, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every slice weighs the same, however many documents it has; one without a value does not count."""
    ones = [1.0] * len(blocks)
    return {
        "metrics": {
            repr(threshold): {
                ratio.name: weighted_mean(
                    [block["metrics"][repr(threshold)]["micro"][ratio.name] for block in blocks], ones, NO_VALUE
                )
                for ratio in numbers.RATIOS
            }
            for threshold in task.iou
        },
        "coco": {name: weighted_mean([block["coco"][name] for block in blocks], ones, NO_VALUE) for name in AVERAGES},
    }


def sections(slices: Mapping[str, Any]) -> list[Section]:
    """One table for each column, at the lowest threshold."""
    return [_section(column, tree) for column, tree in slices.items() if isinstance(tree, Mapping)]


def _section(column: str, tree: Mapping[str, Any]) -> Section:
    text = next(iter(tree["macro_slices"]["metrics"]))
    rows = [
        _row(value, block["documents"], block["metrics"][text]["micro"], block["coco"])
        for value, block in tree["values"].items()
    ]
    means = tree["macro_slices"]
    rows.append(_row("mean of slices", "", means["metrics"][text], means["coco"]))
    rest = tree["without_value"]
    if rest is not None:
        rows.append(_row("(no value)", rest["documents"], rest["metrics"][text]["micro"], rest["coco"]))
    head = (column, "documents", *(ratio.title for ratio in numbers.RATIOS), *AVERAGES)
    notes = ["the JSON has each class and threshold"]
    return Section(title=f"By {column} (IoU ≥ {text})", head=head, rows=rows, notes=notes, rule_before=len(tree["values"]))


def _row(name: str, documents: Any, ratios: Mapping[str, Any], averages: Mapping[str, Any]) -> Sequence[Any]:
    return (name, documents, *(ratios[ratio.name] for ratio in numbers.RATIOS), *(averages[key] for key in AVERAGES))


def schema() -> Schema:
    """The JSON Schema of the view."""
    ratios = {ratio.name: SHARE for ratio in numbers.RATIOS}
    counted = object_of({**dict.fromkeys(("tp", "fp", "fn"), COUNT), **ratios})
    at_threshold = object_of({"micro": counted, "macro_classes": object_of(ratios), "per_class": map_of(counted)})
    averages = object_of(dict.fromkeys(AVERAGES, SHARE))
    block = object_of({"documents": COUNT, "metrics": map_of(at_threshold), "coco": averages})
    means = object_of({"metrics": map_of(object_of(ratios)), "coco": averages})
    column = object_of({"values": map_of(block), "macro_slices": means, "without_value": perhaps(block)})
    return map_of(perhaps(column))
