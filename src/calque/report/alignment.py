"""Ledgers of several runs on one set of documents, pages and labels, so that a report can lay them over each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calque.core.columns import Codes, Column, Ints, Table, concat, take
from calque.core.ledger import UNIT, Ledger, joint_names, recoded


def aligned(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """The same ledgers with the documents, pages and labels of all of them; rows of objects keep their order.

    Documents and pages that a run does not know have no objects there. Runs share their truth, whose rows are the same in each.
    """
    first, *others = ledgers
    if all(_same(first, other) for other in others):
        return list(ledgers)
    units = tuple(sorted({unit for ledger in ledgers for unit in ledger.units}, key=lambda unit: (isinstance(unit, str), unit)))
    names = joint_names([ledger.names for ledger in ledgers])
    place = {unit: code for code, unit in enumerate(units)}
    codes = [np.array([place[unit] for unit in ledger.units], dtype=np.int64) for ledger in ledgers]
    pages, rows = _joint_pages(ledgers, codes)
    return [_on(ledger, units, names, code, pages, row) for ledger, code, row in zip(ledgers, codes, rows, strict=True)]


def _same(one: Ledger, other: Ledger) -> bool:
    mine, theirs = one.table("pages"), other.table("pages")
    return (
        one.units == other.units
        and one.names["label"] == other.names["label"]
        and mine.height == theirs.height
        and bool((mine.array(UNIT) == theirs.array(UNIT)).all())
        and bool((mine.array("page_index") == theirs.array("page_index")).all())
    )


def _joint_pages(ledgers: Sequence[Ledger], codes: Sequence[Ints]) -> tuple[Table, list[Ints]]:
    """The pages of all, each as the first ledger has it that knows it, and for each ledger where its pages are there."""
    tables = [ledger.table("pages") for ledger in ledgers]
    keys = [
        list(zip(code[table.array(UNIT)].tolist(), table.array("page_index").tolist(), strict=True))
        for table, code in zip(tables, codes, strict=True)
    ]
    order = sorted({key for listed in keys for key in listed})
    place = {key: row for row, key in enumerate(order)}
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    whole = {name: concat([table[name] for table in tables]) for name in shared}
    every = [key for listed in keys for key in listed]
    first = {key: row for row, key in reversed(list(enumerate(every)))}
    chosen = np.array([first[key] for key in order], dtype=np.int64)
    columns: dict[str, Column] = {name: take(column, chosen) for name, column in whole.items()}
    columns[UNIT] = np.array([unit for unit, _ in order], dtype=np.int32)
    return Table(columns), [np.array([place[key] for key in listed], dtype=np.int64) for listed in keys]


def _on(
    ledger: Ledger, units: tuple[int | str, ...], names: dict[str, tuple[str, ...]], code: Ints, pages: Table, rows: Ints
) -> Ledger:
    tables = {**ledger.tables, "pages": pages, "documents": _documents(ledger, len(units), code)}
    starts = np.searchsorted(pages.array(UNIT), np.arange(len(units)))
    for side in ("truth", "found"):
        table = ledger.table(side)
        unit = code[table.array(UNIT)].astype(np.int32)
        page = rows[ledger.absolute("pages", table.array(UNIT), table.array("page"))]
        relative: Codes = (page - starts[unit]).astype(np.int32)
        columns = {name: recoded(name, ledger.names, column, names) for name, column in table.columns.items()}
        tables[side] = Table({**columns, UNIT: unit, "page": relative})
    return Ledger(units=units, tables=tables, names=names, details=ledger.details)


def _documents(ledger: Ledger, count: int, code: Ints) -> Table:
    known = ledger.table("documents")
    columns: dict[str, Column] = {UNIT: np.arange(count, dtype=np.int32)}
    for name in ("in_truth", "in_found"):
        flags = np.zeros(count, dtype=np.bool_)
        flags[code[known.array(UNIT)]] = known.array(name)
        columns[name] = flags
    return Table(columns)
