"""What the counts of fields count: values, and whole items and objects, so that a count can lead to exactly those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes, Ints, Strings, Table, concat
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.fields.accounting.rows import OUTCOME_NAMES, OUTCOMES
from calque.fields.comparison.records import Outcome
from calque.fields.occurrences import Occurrences, Paths, bare

if TYPE_CHECKING:
    from calque.fields.task import Fields

OF_FIELD, OF_ALL = 2, 4
"""Whether the counts of its field have a row, and whether those of the whole set have it."""
OUTSIDE = "(not in the schema)"
"""What stands for a predicted key without a field."""
DRAWN = np.array([columns.TP, columns.FP, columns.WRONG, columns.FN, columns.TP], dtype=np.uint8)
"""Outcomes of fields in the one language of outcomes: what is rightly absent is right."""


def counted(task: Fields, ledger: Ledger, paths: Paths) -> tuple[Bytes, Table]:
    """For each drawn row which counts have it, and what they have beside the rows.

    A list counts its items and an object itself; of values each row is one. Whatever the accounting, all of it together is
    what the counts say, document by document. What counts beside the rows are items and objects, each with its document, its
    field with list marks, its outcome and its path, and keys that no field is for.
    """
    names = list(ledger.names["field"])
    roots = np.isin(names, [plan.path for plan in task.plan().fields])
    place = {name: code for code, name in enumerate(names)}
    fields = np.array([place.get(bare(label), -1) for label in paths.labels], dtype=np.int64)
    rows = ledger.table("rows")
    drawn = np.flatnonzero(rows.array("counted"))
    path, outcome = paths.own[drawn], rows.array("outcome")[drawn].astype(np.int64)
    field = fields[path]
    keys, tallies = _tallied(ledger, len(names))
    key = np.where(field < 0, -1, (rows.array(UNIT)[drawn] * len(names) + field) * OUTCOMES + outcome)
    # Of a list the items count, not the row that the list itself may have for its box.
    items = np.array([label.endswith("[]") for label in paths.labels], dtype=np.bool_)[path]
    taken = _first(key, ~items, keys, tallies) & (outcome != Outcome.TN)
    flags = np.where(taken, OF_FIELD, 0) | np.where(taken & roots[field], OF_ALL, 0)
    left = tallies - np.bincount(np.searchsorted(keys, key[taken]), minlength=len(keys))[: len(keys)]
    wanted = np.flatnonzero(left > 0)
    wholes = Occurrences(rows, paths, fields).found(keys[wanted], left[wanted], names)
    return flags.astype(np.uint8), _with_outside(ledger, wholes, roots)


def whole_columns(wholes: Table, units: int, place: Mapping[str, int]) -> dict[str, Array]:
    """What counts beside the values, by document; nothing where values are all there is."""
    if not wholes.height:
        return {}
    ordered = wholes.take(np.argsort(wholes.array(UNIT), kind="stable"))
    return {
        "whole.start": np.searchsorted(ordered.array(UNIT), np.arange(units + 1)).astype(np.uint32),
        "whole.field": columns.narrow(np.array([place[label] for label in ordered["field"]])),
        "whole.outcome": DRAWN[ordered.array("outcome")],
        "whole.counted": np.where(ordered.array("of_all"), OF_FIELD | OF_ALL, OF_FIELD).astype(np.uint8),
        **columns.text_columns("whole.path", ordered["path"]),
    }


def _tallied(ledger: Ledger, fields: int) -> tuple[Ints, Ints]:
    """How often each outcome of each field was counted in each document, by key."""
    keys, tallies = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for table in ledger.chunks("counts"):
        unit, field = (table.array(name).astype(np.int64) for name in (UNIT, "field"))
        for outcome, name in enumerate(OUTCOME_NAMES):
            if outcome != Outcome.TN:
                there = np.flatnonzero(table.array(name))
                keys.append((unit[there] * fields + field[there]) * OUTCOMES + outcome)
                tallies.append(table.array(name)[there].astype(np.int64))
    joined = np.concatenate(keys)
    order = np.argsort(joined)
    return joined[order], np.concatenate(tallies)[order]


def _first(key: Ints, later: Any, keys: Ints, tallies: Ints) -> Any:
    """Of rows with equal keys as many as were counted."""
    order = np.lexsort((later, key))
    ranked = key[order]
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = np.arange(len(key)) - np.searchsorted(ranked, ranked)
    at = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
    return (rank < tallies[at]) & (keys[at] == key) if len(keys) else np.zeros(len(key), dtype=np.bool_)


def _with_outside(ledger: Ledger, wholes: Table, roots: Array) -> Table:
    """Items and objects, and predicted keys that the schema does not know, where those count."""
    about = ledger.table("documents")
    unknown = np.repeat(about.array(UNIT), about.array("unknown")).astype(np.int64)
    told = Strings.pack([OUTSIDE] * len(unknown))
    return Table({
        UNIT: np.concatenate([wholes.array(UNIT), unknown]),
        "field": concat([wholes["field"], told]),
        "outcome": np.concatenate([wholes.array("outcome"), np.full(len(unknown), Outcome.FA)]),
        "path": concat([wholes["path"], told]),
        "of_all": np.concatenate([roots[wholes.array("code")], np.ones(len(unknown), dtype=np.bool_)]),
    })  # fmt: skip
