"""Crops: what is lost when figures and tables are cut out of pages along the predicted boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Floats, Ints, Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined
from calque.evaluation.presentation.result_schema import (
    COUNT,
    MEASURE,
    NUMBER,
    SHARE,
    TEXT,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
)
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.detection.task import Detection

SIDES = ("left", "top", "right", "bottom")
LIMITS = (0.02, 0.05, 0.1)
PERCENTS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
WORST = 10
"""How many crops are listed."""
NO_PAIRS = "no pairs"


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """Cut shares and quantiles over the pairs at the lowest IoU threshold, in all and for each class, and the worst crops.

    Of all pairs of a long ledger, one column at a time is in memory.
    """
    names, threshold = ledger.names["label"], task.iou[0]
    labels = _of_pairs(ledger, threshold, lambda truth: truth.array("label"))
    by_label = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[by_label], np.arange(len(names) + 1))
    groups = [by_label[bounds[code] : bounds[code + 1]] for code in range(len(names))]
    blocks = [_empty_block(len(labels)), *(_empty_block(len(rows)) for rows in groups)]
    for key, values in _values(ledger, threshold):
        for block, chosen in zip(blocks, (values, *(values[rows] for rows in groups)), strict=True):
            _fill(block, key, chosen)
    return {
        "threshold": threshold,
        "overall": blocks[0],
        "per_class": {
            name: block for name, block in zip(names, blocks[1:], strict=True) if not task.labels or name in task.labels
        },
        "worst": _worst(ledger, threshold),
    }


def _of_pairs(ledger: Ledger, threshold: float, column: Callable[[Table], Array]) -> Array:
    """What a column says of the pairs, in the order of the pieces."""
    parts = []
    for piece in ledger.pieces():
        truth = piece.ledger.table("truth")
        parts.append(column(truth)[np.flatnonzero(truth.array("iou") >= threshold)])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _values(ledger: Ledger, threshold: float) -> Iterator[tuple[str, Floats]]:
    """Everything that is told of pairs, one after the other."""
    for place, side in enumerate(SIDES):
        yield side, _of_pairs(ledger, threshold, lambda truth, place=place: truth.array("edges")[:, place])  # type: ignore[misc]  # bound at once
    yield "any", _of_pairs(ledger, threshold, lambda truth: truth.array("edges").max(axis=1, initial=-np.inf))
    for name in ("coverage", "purity"):
        yield name, _of_pairs(ledger, threshold, lambda truth, name=name: truth.array(name))  # type: ignore[misc]  # likewise


def _empty_block(pairs: int) -> dict[str, Any]:
    return {"pairs": pairs, "cut": {}, "edges": {}, "coverage": {}, "purity": {}}


def _fill(block: dict[str, Any], key: str, values: Floats) -> None:
    """Write down what the values of one kind say."""
    if key in ("coverage", "purity"):
        block[key] = _quantiles(values)
        return
    block["cut"][key] = _cut_shares(values)
    if key in SIDES:
        block["edges"][key] = _quantiles(values)


def _cut_shares(errors: Floats) -> dict[str, float | Undefined]:
    """The share of crops that lose more than each limit."""
    if not len(errors):
        return {repr(limit): Undefined(NO_PAIRS) for limit in LIMITS}
    return {repr(limit): int((errors > limit).sum()) / len(errors) for limit in LIMITS}


def _quantiles(values: Floats) -> dict[str, float | Undefined]:
    """Values that occur: ``p5`` is the smallest that at least 5 % of all values do not exceed."""
    ordered = np.sort(values)
    return {f"p{percent}": quantile(ordered, percent) for percent in PERCENTS}


def quantile(ordered: Floats, percent: int) -> float | Undefined:
    """The smallest of the values that at least so many percent of them do not exceed; no two are ever mixed.

    >>> quantile(np.array([1.0, 2.0, 3.0, 4.0]), 50), quantile(np.array([1.0, 2.0, 3.0, 4.0]), 51)
    (2.0, 3.0)
    """
    if not len(ordered):
        return Undefined(NO_PAIRS)
    # In integers: 0.1 * 30 is a bit more than 3, which would move the place by one.
    return float(ordered[max(-(-percent * len(ordered) // 100), 1) - 1])


def _worst(ledger: Ledger, threshold: float) -> list[dict[str, Any]]:
    """The crops that hold least of their object; equal ones by purity, then in the order of the ledger."""
    worst: list[tuple[float, float, int, dict[str, Any]]] = []
    for piece in ledger.pieces():
        truth = piece.ledger.table("truth")
        pairs = np.flatnonzero(truth.array("iou") >= threshold)
        coverage, purity = truth.array("coverage")[pairs], truth.array("purity")[pairs]
        rows = pairs[np.lexsort((purity, coverage))[:WORST]]
        places = piece.places[truth.array(UNIT)[rows]].tolist()
        listed = zip(places, _crops(piece.ledger, rows), strict=True)
        worst += ((crop["coverage"], crop["purity"], place, crop) for place, crop in listed)
        worst = sorted(worst, key=lambda entry: entry[:3])[:WORST]
    return [crop for *_, crop in worst]


def _crops(ledger: Ledger, rows: Ints) -> list[dict[str, Any]]:
    """The truths of these rows, with what was cut out for them."""
    truth, found = ledger.table("truth"), ledger.table("found")
    units = truth.array(UNIT)[rows]
    partner = ledger.absolute("found", units, truth.array("match")[rows])
    pages = ledger.absolute("pages", units, truth.array("page")[rows])
    columns: dict[str, Sequence[Any]] = {
        "document": [ledger.units[unit] for unit in units],
        "page": ledger.table("pages").array("page_index")[pages].tolist(),
        "label": [ledger.names["label"][code] for code in truth.array("label")[rows]],
        "truth": _place_on_page(ledger, "truth", rows),
        "prediction": _place_on_page(ledger, "found", partner),
        "score": [None if np.isnan(score) else float(score) for score in found.array("score")[partner]],
        **{name: truth.array(name)[rows].tolist() for name in ("iou", "coverage", "purity")},
        **{side: truth.array("edges")[rows, place].tolist() for place, side in enumerate(SIDES)},
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _place_on_page(ledger: Ledger, side: str, rows: Ints) -> list[int]:
    """How many objects of the side stand before each on its page."""
    table = ledger.table(side)
    pages: Array = ledger.absolute("pages", table.array(UNIT), table.array("page"))
    return list((rows - np.searchsorted(pages, pages[rows])).tolist())


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """How much crops lose on each side, how much of the object they hold, and the worst of them."""
    blocks = [*numbers["per_class"].items(), ("all", numbers["overall"])]
    cut = [
        (f"{name}: {side}", *shares.values(), *(block["edges"].get(side, {}).get(key, "") for key in ("p5", "p50", "p95")))
        for name, block in blocks
        for side, shares in block["cut"].items()
    ]
    head = ("class: side", *(f"cut > {limit:.0%}" for limit in LIMITS), "edge p5", "median", "p95")
    shown = ("p5", "p25", "p50", "p75", "p95")
    held = [
        (f"{name}: {what}", *(block[what][key] for key in shown)) for name, block in blocks for what in ("coverage", "purity")
    ]
    rule = len(cut) - len(SIDES) - 1
    notes = ["share of pairs that lose more; edges are relative to the truth's size: positive is cut off, negative is excess"]
    parts = [
        Section(title=f"Crops (pairs at IoU ≥ {numbers['threshold']!r})", head=head, rows=cut, notes=notes, rule_before=rule),
        Section(title="What crops hold", head=("class", *shown), rows=held, rule_before=len(held) - 2),
    ]
    if numbers["worst"]:
        names = ("coverage", "purity", *SIDES)
        worst = [
            (f"{crop['document']}", crop["page"], crop["label"], *(crop[name] for name in names)) for crop in numbers["worst"]
        ]
        parts.append(Section(title="Worst crops", head=("document", "page", "class", *names), rows=worst))
    return parts


def schema() -> Schema:
    """The JSON Schema of the view."""
    shares = object_of({repr(limit): SHARE for limit in LIMITS})
    quantiles = object_of({f"p{percent}": MEASURE for percent in PERCENTS})
    block = object_of({
        "pairs": COUNT,
        "cut": object_of(dict.fromkeys((*SIDES, "any"), shares)),
        "edges": object_of(dict.fromkeys(SIDES, quantiles)),
        "coverage": quantiles,
        "purity": quantiles,
    })  # fmt: skip
    crop = object_of({
        "document": UNIT_ID,
        "page": COUNT,
        "label": TEXT,
        "truth": COUNT,
        "prediction": COUNT,
        **dict.fromkeys(("score", "iou", "coverage", "purity"), MEASURE),
        **dict.fromkeys(SIDES, NUMBER),
    })  # fmt: skip
    return object_of({"threshold": NUMBER, "overall": block, "per_class": map_of(block), "worst": list_of(crop)})
