"""One row for each compared field: where it is on both sides, what they say, and why it is right or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.core.columns import Column, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.fields.accounting.rows import REASONS


def outcomes(ledger: Ledger) -> Table:
    """The outcome list; empty when outcomes were not kept."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return Table({})
    truth_path, found_path = _texts(rows["truth_path"]), _texts(rows["found_path"])
    columns: dict[str, Column] = {
        "document": Strings.pack(str(ledger.units[unit]) for unit in rows.array(UNIT).tolist()),
        "path": Strings.pack(truth or found for truth, found in zip(truth_path, found_path, strict=True)),
        "found_path": rows["found_path"],
        "truth": rows["truth_value"],
        "prediction": rows["found_value"],
        "match": rows.array("match"),
        "score": rows.array("score"),
        "threshold": rows.array("threshold"),
        "reason": Strings.pack(REASONS[code] for code in rows.array("reason").tolist()),
        "confidence": rows.array("confidence"),
        "iou": rows.array("iou"),
        "truth_box": np.asarray(rows.array("truth_box")),
        "found_box": np.asarray(rows.array("found_box")),
    }
    return Table(columns)


def _texts(column: Any) -> list[str]:
    return list(column)
