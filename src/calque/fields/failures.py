"""Which fields fail and how, which documents are worst, how many are wholly right: numbers and tables made of wrong values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Column, Strings, Table, grouped_rows, take
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined
from calque.fields.comparison.records import Outcome
from calque.fields.task import FAILURES

if TYPE_CHECKING:
    from calque.evaluation.result import Result

WORST = 10
"""How many of the worst documents a result lists."""
PAIRS = 5
"""How many of the most frequent wrong pairs of a field a result lists."""


def kind_of(outcome: int, close: bool) -> str:
    """How a wrong value fails."""
    if outcome == Outcome.FN:
        return "missing"
    return "invented" if outcome == Outcome.FA else "close" if close else "wrong"


_KIND = np.array([[FAILURES.index(kind_of(outcome, close)) for close in (False, True)] for outcome in Outcome])
"""The same by number."""


def failures(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """For each field that fails: how often in which way, and the most frequent wrong pairs as text."""
    names = ledger.names["field"]
    kinds = np.zeros((len(names), len(FAILURES)), dtype=np.int64)
    pairs = [Counter[tuple[str, str]]() for _ in names]
    for rows in ledger.chunks("wrong"):
        field, outcome, close = (rows.array(name) for name in ("field", "outcome", "close"))
        np.add.at(kinds, (field, _KIND[outcome.astype(np.int64), close.astype(np.int64)]), 1)
        differs = np.flatnonzero(outcome == Outcome.FD)
        told = list(zip(*(take(rows[name], differs) for name in ("truth", "found")), strict=True))
        for code, here in grouped_rows(field[differs], len(names)):
            pairs[code].update(map(told.__getitem__, here.tolist()))
    return {
        name: {**dict(zip(FAILURES, kinds[code].tolist(), strict=True)), "pairs": _frequent(pairs[code])}
        for code, name in enumerate(names)
        if kinds[code].any()
    }


def _frequent(pairs: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    counts = nlargest(PAIRS, pairs.values())
    # Most pairs occur once; only those that may be listed are put in order.
    frequent = [pair for pair, count in pairs.items() if count > counts[-1]] if counts else []
    as_often = (pair for pair, count in pairs.items() if count == counts[-1])
    listed = [*sorted(frequent, key=lambda pair: (-pairs[pair], pair)), *nsmallest(PAIRS - len(frequent), as_often)]
    return [{"truth": truth, "prediction": found, "count": pairs[truth, found]} for truth, found in listed]


def wholly_right(ledger: Ledger) -> dict[str, Any]:
    """How many documents have no wrong value, and their share."""
    right = counted = 0
    for rows in ledger.chunks("documents"):
        counts = rows.array("counted")
        counted += int(counts.sum())
        right += int((counts & (rows.array("wrong") == 0)).sum())
    return {"documents": right, "share": right / counted if counted else Undefined("no documents")}


def worst_documents(ledger: Ledger) -> list[dict[str, Any]]:
    """The documents with the lowest scores that have wrong values, each with the fields that are wrong."""
    entries: list[tuple[float, int, int]] = []
    for rows in ledger.chunks("documents"):
        kept = np.flatnonzero(rows.array("counted") & (rows.array("wrong") > 0))
        columns = (rows.array(name)[kept].tolist() for name in ("score", "wrong", UNIT))
        entries += [(score, -wrong, unit) for score, wrong, unit in zip(*columns, strict=True)]
        entries = sorted(entries)[:WORST]
    wrong_fields = fields_of(ledger, {unit for _, _, unit in entries})
    return [
        {"document": ledger.units[unit], "score": score, "wrong": -wrong, "fields": wrong_fields.get(unit, [])}
        for score, wrong, unit in entries
    ]


def fields_of(ledger: Ledger, units: set[int] | None = None) -> dict[int, list[str]]:
    """For each of some documents, or all, the fields with wrong values, in the order of the schema."""
    names = ledger.names["field"]
    found: dict[int, set[int]] = {}
    wanted = np.full(len(ledger.units), units is None)
    wanted[list(units or ())] = True
    for rows in ledger.chunks("wrong"):
        here = wanted[rows.array(UNIT)]
        for unit, field in zip(rows.array(UNIT)[here].tolist(), rows.array("field")[here].tolist(), strict=True):
            found.setdefault(unit, set()).add(field)
    return {unit: [names[code] for code in sorted(codes)] for unit, codes in found.items()}


def documents(ledger: Ledger) -> Table:
    """One row for each document: its score, how many values are wrong, and in which fields."""
    wrong_fields = fields_of(ledger)
    parts = list(ledger.chunks("documents"))
    order = np.argsort(np.concatenate([part.array(UNIT) for part in parts]), kind="stable")

    def column(name: str) -> Any:
        return np.concatenate([part.array(name) for part in parts])[order]

    units, counted = column(UNIT), column("counted")
    columns: dict[str, Column] = {
        "document": Strings.pack(str(ledger.units[unit]) for unit in units.tolist()),
        "score": np.where(counted, column("score"), np.nan),
        "wrong": column("wrong"),
        "wholly_right": counted & (column("wrong") == 0),
        "wrong_fields": Strings.pack(", ".join(wrong_fields.get(unit, ())) for unit in units.tolist()),
        "in_truth": column("in_truth"),
        "in_prediction": column("in_found"),
    }
    return Table(columns)


def errors(ledger: Ledger) -> Table:
    """One row for each wrong value, side by side with the true one, by document."""
    parts = list(ledger.chunks("wrong"))
    whole = Table({name: _joined([part[name] for part in parts]) for name in parts[0]})
    whole = whole.take(np.argsort(whole.array(UNIT), kind="stable"))
    names = ledger.names["field"]
    kinds = zip(whole.array("outcome").tolist(), whole.array("close").tolist(), strict=True)
    columns: dict[str, Column] = {
        "document": Strings.pack(str(ledger.units[unit]) for unit in whole.array(UNIT).tolist()),
        "field": Strings.pack(names[code] for code in whole.array("field").tolist()),
        "kind": Strings.pack(kind_of(outcome, close) for outcome, close in kinds),
        "truth_path": whole["truth_path"],
        "found_path": whole["found_path"],
        "truth": whole["truth"],
        "prediction": whole["found"],
    }
    return Table(columns)


def _joined(columns: list[Any]) -> Any:
    if isinstance(columns[0], Strings):
        return Strings.pack(text for column in columns for text in column)
    return np.concatenate(columns)


def fields(numbers: Mapping[str, Any]) -> Table:
    """One row for each field: its counts and ratios, and how it fails."""
    entries = numbers["fields"]
    none = dict.fromkeys(FAILURES, 0)
    counts = ("tp", "fa", "fd", "fn", "tn")
    ratios = ("cm_precision", "cm_recall", "cm_f1", "cm_accuracy", "mean_score")
    columns: dict[str, Column] = {"field": Strings.pack(entries)}
    columns |= {name: np.array([entry[name] for entry in entries.values()], dtype=np.int64) for name in counts}
    columns |= {name: np.array([entry.get(name, np.nan) for entry in entries.values()], dtype=np.float64) for name in ratios}
    columns |= {
        kind: np.array([numbers["failures"].get(name, none)[kind] for name in entries], dtype=np.int64) for kind in FAILURES
    }
    return Table(columns)


def document_table(result: Result) -> Table:
    """Return one row per document, with its score, the number of wrong values and their fields.

    Args:
        result: A result of `Fields`.

    Returns:
        The table. ``to_pandas()`` and ``to_polars()`` make a frame of it.

    Raises:
        TypeError: ``result`` is not a result of `Fields`.

    >>> from calque import Evaluator, Fields
    >>> truth = [{"id": "a", "total": 5}, {"id": "b", "total": 7}]
    >>> result = Evaluator(Fields()).update(truth, [{"id": "a", "total": 5}, {"id": "b", "total": 8}]).compute()
    >>> [(row["document"], row["wrong"], row["wrong_fields"]) for row in document_table(result).rows()]
    [('a', 0, ''), ('b', 1, 'total')]
    """
    return documents(_checked(result).ledger)


def error_table(result: Result) -> Table:
    """Return one row per wrong value, with the ground truth and the prediction.

    Args:
        result: A result of `Fields`.

    Returns:
        The table. ``to_pandas()`` and ``to_polars()`` make a frame of it.

    Raises:
        TypeError: ``result`` is not a result of `Fields`.

    >>> from calque import Evaluator, Fields
    >>> result = Evaluator(Fields()).update([{"id": "a", "total": 5}], [{"id": "a", "total": 8}]).compute()
    >>> [(row["document"], row["field"], row["truth"], row["prediction"]) for row in error_table(result).rows()]
    [('a', 'total', '5', '8')]
    """
    return errors(_checked(result).ledger)


def field_table(result: Result) -> Table:
    """Return one row per field, with its counts, its metrics and its error types.

    Args:
        result: A result of `Fields`.

    Returns:
        The table. ``to_pandas()`` and ``to_polars()`` make a frame of it.

    Raises:
        TypeError: ``result`` is not a result of `Fields`.

    >>> from calque import Evaluator, Fields
    >>> result = Evaluator(Fields()).update([{"id": "a", "total": 5}], [{"id": "a", "total": 8}]).compute()
    >>> [(row["field"], row["tp"], row["fd"]) for row in field_table(result).rows()]
    [('total', 0, 1)]
    """
    return fields(_checked(result).numbers)


def _checked(result: Result) -> Result:
    from calque.evaluation.result import Result
    from calque.fields.task import Fields

    if not isinstance(result, Result) or not isinstance(result.task, Fields):
        given = f"one of {result.task.name}" if isinstance(result, Result) else repr(result)[:60]
        raise TypeError(f"result must be a result of fields, not {given}")
    return result
