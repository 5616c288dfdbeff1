"""What a report shows of several runs: laid over each other, every measure of each, and every object that changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Column, Ints, Table, concat, take
from calque.base.wording import brief, counted
from calque.evaluation.ledger import UNIT, Ledger, joint_names, recoded
from calque.evaluation.measures import MeasureName
from calque.evaluation.presentation.report_data import FN, FP, TP, WRONG, narrow, page_reach
from calque.evaluation.presentation.sections import Section, printable
from calque.evaluation.result import Result
from calque.statistics.changes import alarm_places
from calque.statistics.comparison import Compared, Comparison
from calque.statistics.presentation import headline, sections, title

FIXED, BROKEN, NEW, GONE = range(4)
"""What a change is, as the columns of changes have it."""
NAMED = 120
"""How long the name of a run is at most where the letters are told: everywhere else it is cut shorter."""


def compared(comparison: Comparison, said: Any) -> dict[str, Any]:
    """The head of a comparison: what is said of each pair of runs, and all measures."""
    results = list(comparison.results.values())
    return {
        "line": ["Comparison", counted(len(comparison.documents), "document"), *_roles(comparison)],
        "pairs": [_pair(comparison, run, said(headline(comparison, run), results)) for run in list(comparison.results)[1:]],
        "whole": sum(map(_is_whole, _ordered(comparison))),
        "measures": [_measure(comparison, one) for one in _ordered(comparison)],
        "confidence": comparison.resampling.confidence,
        "replicates": comparison.resampling.replicates,
    }


def plain(comparison: Comparison) -> list[Section]:
    """The comparison as tables, for those who run no scripts."""
    return sections(comparison)


def _roles(comparison: Comparison) -> list[str]:
    letters = (chr(ord("A") + place) for place in range(26))
    runs = zip(letters, comparison.results, strict=False)
    return [", ".join(f"{letter} is {printable(brief(run, NAMED))}" for letter, run in runs)]


def _pair(comparison: Comparison, run: str, sentence: list[Any]) -> dict[str, Any]:
    changes = comparison.changes.get(run)
    if changes is None:
        return {"run": run, "headline": sentence, "counts": [0, 0, 0, 0], "documents": [0, 0, 0]}
    counts = [changes.count("fixed"), changes.count("broken"), changes.new_alarms, changes.gone_alarms]
    told = changes.documents
    return {"run": run, "headline": sentence, "counts": counts, "documents": [told.better, told.equal, told.worse]}


def _ordered(comparison: Comparison) -> list[Compared]:
    """Numbers of everything first, those that are tested before all others; then those of classes and other scopes."""
    known = [one for one in comparison.measures.values() if any(value.value is not None for value in one.runs.values())]
    return sorted(known, key=lambda one: (not _is_whole(one), not one.primary))


def _is_whole(one: Compared) -> bool:
    """Whether a measure is of everything: neither of a class nor of another scope."""
    parsed = MeasureName.parse(one.name)
    return parsed.label is None and not parsed.scope


def _measure(comparison: Comparison, one: Compared) -> list[Any]:
    runs = [[value.value, value.low, value.high] for value in one.runs.values()]
    deltas = [
        [delta.value, delta.low, delta.high, delta.p_adjusted if one.primary else delta.p, delta.verdict or ""]
        for delta in one.deltas.values()
    ]
    counts = all(isinstance(value.value, int) for value in one.runs.values() if value.value is not None)
    flags = (one.lower_is_better, one.primary, counts)
    return [one.name, title(comparison, one.name), runs, deltas, *map(int, flags)]


def change_columns(comparison: Comparison, columns: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """For each run but the first what changed and where: a row of the truth, or of the predictions of one of the two."""
    sides = [(result, result.task.run_outcomes(result.ledger)) for result in comparison.results.values()]
    drawn: dict[str, Array] = {}
    base = sides[0]
    if base[1] is None:
        return drawn
    for place, other in enumerate(sides[1:], start=1):
        if other[1] is None:
            continue
        pair = (base[0], base[1]), (other[0], other[1])
        rows = [
            rows_of(result, standing.truths, mine)
            for (result, standing), mine in zip(pair, (columns[0], columns[place]), strict=True)
        ]
        alarms = [alarm_rows(result, mine) for (result, _), mine in zip(pair, (columns[0], columns[place]), strict=True)]
        listed = _truths(pair, rows)
        new, gone = alarm_places(*pair)
        listed += [(NEW, int(alarms[1][at]), 0) for at in new if at < len(alarms[1])]
        listed += [(GONE, int(alarms[0][at]), 0) for at in gone if at < len(alarms[0])]
        listed = [change for change in listed if change[1] >= 0]
        table = np.array(listed, dtype=np.int64).reshape(-1, 3)
        drawn |= {f"change.{place}.{name}": narrow(table[:, at]) for at, name in enumerate(("code", "row", "other"))}
    return drawn


def _truths(pair: tuple[Any, Any], rows: Sequence[Ints]) -> list[tuple[int, int, int]]:
    """Truths that were fixed or broken: their row in the base, and in the other run."""
    (base, old), (other, new) = pair
    after = {
        (other.ledger.units[unit], place): at
        for at, (unit, place) in enumerate(zip(new.truths.unit, new.truths.place, strict=True))
    }
    listed = []
    for at, (unit, place) in enumerate(zip(old.truths.unit, old.truths.place, strict=True)):
        there = after.get((base.ledger.units[unit], place))
        if there is not None and old.truths.right[at] != new.truths.right[there]:
            listed.append((FIXED if new.truths.right[there] else BROKEN, int(rows[0][at]), int(rows[1][there])))
    return sorted(listed, key=lambda change: (-change[0], change[1]))


def rows_of(result: Result, truths: Any, columns: Mapping[str, Array]) -> Ints:
    """The rows of a report's columns in which truths stand, in the order in which a run tells of them."""
    name = result.task.name
    if name == "words":
        return np.arange(len(truths.unit))
    if name == "checks":
        return np.asarray(truths.unit, dtype=np.int64)
    if name == "fields":
        return _drawn(result, lambda path, value, _found, _given: bool(path and value))
    if "case.outcome" in columns:
        return np.flatnonzero(np.isin(columns["case.outcome"], (TP, FN)))
    if "t.outcome.0" not in columns:
        return np.full(len(truths.unit), -1)  # truths of this task are not drawn
    return np.flatnonzero(np.isin(columns["t.outcome.0"], (TP, FN, WRONG)))


def alarm_rows(result: Result, columns: Mapping[str, Array]) -> Ints:
    """The rows of false alarms, in the order in which a run tells of them."""
    name = result.task.name
    if name == "words":
        return np.flatnonzero(columns["p.matched"] == 0)
    if name == "fields":
        return _drawn(result, lambda path, value, found, given: bool(not (path and value) and found and given))
    drawn = next((columns[key] for key in ("case.outcome", "p.outcome.0") if key in columns), np.zeros(0))
    return np.flatnonzero(drawn == FP)


def _drawn(result: Result, wanted: Callable[[str, str, str, str], bool]) -> Ints:
    """Where values of fields stand in the report, which draws only those that count; -1 for the others."""
    rows = result.ledger.table("rows")
    counted = rows.array("counted") if "counted" in rows else np.ones(rows.height, dtype=np.bool_)
    place = np.where(counted, np.cumsum(counted) - 1, -1)
    parts = zip(*(rows[key] for key in ("truth_path", "truth_value", "found_path", "found_value")), strict=True)
    return np.asarray(place[np.flatnonzero([wanted(*texts) for texts in parts])], dtype=np.int64)


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


def on_one_scale(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """The same ledgers, in which a page of unknown size holds the boxes of all: else a truth would move between runs."""
    reach = np.maximum.reduce([page_reach(ledger) for ledger in ledgers])
    columns = {"reach_x": reach[:, 0], "reach_y": reach[:, 1]}
    return [
        Ledger(
            units=ledger.units,
            tables={**ledger.tables, "pages": Table({**ledger.table("pages").columns, **columns})},
            names=ledger.names,
            details=ledger.details,
        )
        for ledger in ledgers
    ]


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
