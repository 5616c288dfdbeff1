"""Compat modes: the columns of a ledger as other tools would fill them, and how each differs from calque's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from calque.base.columns import Array, Column, Floats
from calque.base.errors import Issue, Severity
from calque.corpus.tables import CellTable
from calque.readers.tables.tags import tags
from calque.readers.text.html import VOID
from calque.tables import comparing
from calque.tables.comparing import EMPTY, Pair
from calque.tables.other_tools import table_transformer
from calque.tables.other_tools.trees import trees_apart
from calque.tables.task import TEDS_ALONE, Tables

Known = Callable[[Sequence[Pair]], tuple[Floats, Floats, Floats]]


def compat_columns(task: Tables, pairs: Sequence[Pair], known: Known, jobs: int) -> tuple[dict[str, Column], tuple[Issue, ...]]:
    """The columns of all rows, and where the tool itself would have failed."""
    if task.compat in TEDS_ALONE:
        return _teds_columns(task, pairs, known, jobs)
    read = [tuple(_or_ours(table) for table in pair) for pair in pairs]
    failed = sum(own for pair in read for _, own in pair)
    tables = [(truth, found) for (truth, _), (found, _) in read]
    columns: dict[str, Column] = dict(_sizes(tables))
    if task.wants("grits"):
        columns |= table_transformer.grits(tables, jobs)
    if task.wants("adjacency"):
        columns |= _relations(tables)
    text = "table-transformer fails here (markup that is no XML, or slots without a cell); calque's own reading is scored"
    return columns, _note("compat-own-reading", text, failed)


def _sizes(pairs: Sequence[Pair]) -> dict[str, Array]:
    sides = ("truth", "found")
    return {
        f"{name}_{side}": np.array([getattr(pair[place], name) for pair in pairs], dtype=np.int64)
        for name in ("rows", "columns", "slots")
        for place, side in enumerate(sides)
    }


def _or_ours(table: CellTable) -> tuple[CellTable, bool]:
    """A table as the tool reads it, or as calque does where it fails; and whether it failed."""
    if table is EMPTY:
        return table, False
    read = table_transformer.as_it_reads(table)
    return (table, True) if read is None else (replace(read, boxes=table.boxes) if len(read) == len(table) else read, False)


def _relations(pairs: Sequence[Pair]) -> dict[str, Array]:
    names = ("dar_con_original", "dar_con")
    rows: dict[str, list[tuple[int, int, int]]] = {name: [] for name in names}
    for pair in pairs:
        sides = [table_transformer.relations(table) for table in pair]
        for place, name in enumerate(names):
            ours, theirs = sides[0][place], sides[1][place]
            rows[name].append(((ours & theirs).total(), ours.total(), theirs.total()))
    return {name: np.array(values, dtype=np.int64).reshape(-1, 3) for name, values in rows.items()}


def _teds_columns(task: Tables, pairs: Sequence[Pair], known: Known, jobs: int) -> tuple[dict[str, Column], tuple[Issue, ...]]:
    distances, ours, theirs = known(pairs)
    apart, _, _ = trees_apart(task.compat, pairs, structure=True, jobs=jobs)
    columns: dict[str, Column] = {
        "distance": distances,
        "struct_distance": apart,
        "nodes_truth": ours,
        "nodes_found": theirs,
        "teds": comparing.teds(distances, ours, theirs, clamped=False),
        "teds_struct": comparing.teds(apart, ours, theirs, clamped=False),
    }
    issues: tuple[Issue, ...] = ()
    refused = int(np.isnan(distances).sum())
    issues += _note("compat-undefined", f"{task.compat} gives no number here: it cannot read a span", refused)
    if task.compat.startswith("omnidocbench"):
        seen = {id(table): table for pair in pairs for table in pair}.values()
        text = "tags are left open; OmniDocBench may close them elsewhere and give another number"
        issues += _note("compat-unclosed", text, sum(not all_closed(table.markup) for table in seen))
    return columns, issues


def _note(code: str, text: str, count: int) -> tuple[Issue, ...]:
    return (Issue(code, text, severity=Severity.NOTE, count=count),) if count else ()


def all_closed(markup: str) -> bool:
    """Whether every tag is closed, in order.

    >>> all_closed("<tr><td>a<br></td></tr>"), all_closed("<tr><td>a")
    (True, False)
    """
    opened: list[str] = []
    for tag in tags(markup):
        if tag.name in VOID or not tag.name:
            continue
        if not tag.closing:
            opened += [] if tag.attributes.endswith("/") else [tag.name]
        elif not opened or opened.pop() != tag.name:
            return False
    return not opened
