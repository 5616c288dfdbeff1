"""Layout numbers for people, and for other tools: blocks by class, what was taken for what, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.result_schema import COUNT, SHARE, UNIT_ID, Schema, list_of, map_of, object_of, result_of
from calque.core.presentation.sections import Section
from calque.layout.numbers import MEASURES, NAMES, UNMATCHED

MOST_COLUMNS = 12
"""From this many labels on, the confusion is listed instead of drawn as a matrix."""
MOST_CONFUSIONS = 20


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    sizes = numbers["counts"]
    title = f"Layout: {sizes['documents']:,} documents, {sizes['pages']:,} pages, {sizes['predictions']:,} predictions"
    rows = [(name, *(block[key] for key in NAMES)) for name, block in numbers["per_class"].items()]
    head = ("class", *(measure.title for measure in MEASURES))
    rows.append(("all", *(numbers[key] for key in NAMES)))
    notes = [
        f"{len(units):,} documents only in the {side}"
        for side, units in (("truth", numbers["only_truth"]), ("predictions", numbers["only_predictions"]))
        if units
    ]
    if numbers["undefined"]:
        notes.append("– accuracy: nothing is matched; over total: no truths")
    return [
        Section(title=title, head=head, rows=rows, rule_before=len(rows) - 1, notes=notes),
        _confusion(numbers["confusion"]),
    ]


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Section:
    there = {name for row in confusion.values() for name in row}
    columns = [name for name in (*confusion, UNMATCHED) if name in there]
    if len(columns) <= MOST_COLUMNS:
        rows = [(name, *(row.get(column, 0) for column in columns)) for name, row in confusion.items() if row]
        return Section(title="truth → taken for", head=("truth", *columns), rows=rows)
    cells = [(name, column, count) for name, row in confusion.items() for column, count in row.items()]
    wrong = [(f"{name} → {column}", count) for name, column, count in cells if name != column]
    most = sorted(wrong, key=lambda entry: -entry[1])[:MOST_CONFUSIONS]
    return Section(title="most frequent confusions", head=("truth → taken for", "blocks"), rows=most)


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each class, and one for all, with the JSON's own names."""
    rows = [("", numbers), *numbers["per_class"].items()]
    return [{"class": name, **{key: block[key] for key in NAMES}} for name, block in rows]


def result_schema() -> Schema:
    """The schema of what ``calque layout --format json`` prints."""
    block = {name: COUNT if name.endswith("_blocks") else SHARE for name in NAMES}
    sizes = object_of(dict.fromkeys(("documents", "pages", "truths", "predictions", "invalid"), COUNT))
    return result_of(
        "layout",
        {
            **block,
            "per_class": map_of(object_of(block)),
            "documents": map_of(object_of(block)),
            "confusion": map_of(map_of(COUNT)),
            "counts": sizes,
            "only_truth": list_of(UNIT_ID),
            "only_predictions": list_of(UNIT_ID),
        },
    )
