"""The outcomes that are read from a ledger of fields, one by one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from calque.base.columns import Column, Strings, Table, numbered
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.fields.accounting.rows import OUTCOME_NAMES, REASONS


def outcomes(ledger: Ledger) -> Table:
    """The outcome list; empty when outcomes were not kept."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return Table({})
    truth_path, found_path = _texts(rows["truth_path"]), _texts(rows["found_path"])
    names = distinct_names(ledger.units)
    columns: dict[str, Column] = {
        "document": Strings.pack(names[unit] for unit in rows.array(UNIT).tolist()),
        "path": Strings.pack(truth or found for truth, found in zip(truth_path, found_path, strict=True)),
        "truth_path": rows["truth_path"],
        "found_path": rows["found_path"],
        "truth": _values(rows["truth_value"]),
        "prediction": _values(rows["found_value"]),
        "outcome": Strings.pack(OUTCOME_NAMES[code] for code in rows.array("outcome").tolist()),
        "match": rows.array("match"),
        "score": rows.array("score"),
        "threshold": rows.array("threshold"),
        "reason": Strings.pack(REASONS[code] for code in rows.array("reason").tolist()),
        "confidence": rows.array("confidence"),
        "iou": rows.array("iou"),
        "truth_box": np.asarray(rows.array("truth_box")),
        "found_box": np.asarray(rows.array("found_box")),
        **{name: rows[name] for name in ("truth_page", "found_page") if name in rows},
    }
    return Table(columns)


def _texts(column: Any) -> list[str]:
    return list(column)


def _values(column: Any) -> Any:
    """What texts of JSON stand for; nothing where there is no text. Equal texts are read once, but for lists and objects."""
    texts, (codes,) = numbered(column)
    known = np.empty(len(texts), dtype=object)
    nested = np.zeros(len(texts), dtype=np.bool_)
    for code, text in enumerate(texts):
        nested[code] = text[:1] in ("[", "{")
        known[code] = None if nested[code] or not text else _decode(text)
    values = known[codes]
    for row in np.flatnonzero(nested[codes]).tolist():  # whoever changes one must not change another
        values[row] = _decode(texts[codes[row]])
    return values


_decode = json.JSONDecoder(parse_constant=str).decode
