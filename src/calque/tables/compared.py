"""What comparisons of tables rest on: what became of each table of either side, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Flags, Floats, Strings
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes, TruthOutcomes
from calque.evaluation.ledger import Ledger
from calque.tables.adjacency import THRESHOLDS_2019
from calque.tables.numbers import BLOCKS, GRITS, Rows

if TYPE_CHECKING:
    from calque.tables.task import Tables


def run_outcomes(_task: Tables, ledger: Ledger) -> RunOutcomes:
    """A true table is right when nothing differs; a document goes as well as its tables do on average."""
    rows = Rows(ledger)
    _, measured = rows.score()
    places = np.flatnonzero(rows.true)
    right = (rows.paired & (measured == 1))[places]
    kinds = np.select([right, rows.paired[places]], ["exact", "different"], "missed")
    number = rows.table.array("truth")[places].tolist()
    ids = rows.table.get("id")
    names = (
        [ids[row] or str(number[place]) for place, row in enumerate(places.tolist())] if isinstance(ids, Strings) else number
    )
    page = [None if each < 0 else each for each in rows.table.array("page")[places].tolist()]
    truths = TruthOutcomes(
        rows.unit[places].tolist(), number, page, names, ["table"] * len(places), kinds.tolist(), right.tolist()
    )
    alone = np.flatnonzero(rows.spurious)
    pages = [max(each, 0) for each in rows.table.array("page")[alone].tolist()]
    alarms = FalsePositives(rows.unit[alone].tolist(), pages, ["table"] * len(alone))
    known = rows.true & ~np.isnan(measured)
    sums = np.bincount(rows.unit[known], weights=measured[known], minlength=len(rows.units))
    return RunOutcomes(truths, alarms, share(sums, np.bincount(rows.unit[known], minlength=len(rows.units))))


PARTS = ("precision", "recall", "f1")


class _Quotients:
    """Numbers that are one sum over documents by another, or what is left to 1."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._sheet = DocumentTallies()
        self._counted: dict[str, Support] = {}
        self._least: dict[str, float] = {}
        """The lowest value that a number of what is left to 1 may take."""

    def add(self, name: str, above: Floats, below: Array, chosen: Flags, *, rest: float | None = None) -> None:
        """The sum of one column by that of another, over the rows that are chosen; ``rest``: 1 minus that, and no less."""
        places = np.flatnonzero(chosen)
        unit, together = self._rows.unit[places], np.zeros(len(places), np.int64)
        largest = float(np.abs(above[places]).max(initial=1.0))
        self._sheet.fractions(f"above {name}", above[places], unit, together, 1, 2.0 ** -int(np.ceil(np.log2(largest))))
        most = float(np.abs(below[places]).max(initial=1.0))
        scale = 2.0 ** -int(np.ceil(np.log2(most)))
        self._sheet.fractions(f"below {name}", below[places].astype(np.float64), unit, together, 1, scale)
        flags = np.zeros(len(self._rows.units), np.bool_)
        flags[unit[below[places] > 0]] = True
        self._counted[name] = Support(flags)
        if rest is not None:
            self._least[name] = rest

    def tallies(self) -> WeightedMetrics:
        """All of them, from one product of weights and sums."""
        return TalliedMetrics(self._sheet, self._counted, self._numbers)

    def _numbers(self, sums: Mapping[str, Array]) -> Replicates:
        found: Replicates = {}
        for name in self._counted:
            values = share(sums[f"above {name}"][0], sums[f"below {name}"][0])
            found[name] = np.maximum(1 - values, self._least[name]) if name in self._least else values
        return found


def resampled(task: Tables, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """Sums over tables by document: of values, distances, shared slots and counts."""
    rows = Rows(ledger)
    made = _Quotients(rows)
    complex_ones: Flags = rows.table.array("complex")
    for name, values in rows.values.items():
        _add_means(made, rows, name, values, complex_ones)
    least = 0.0 if task.compat == "none" else -np.inf
    for name, column in (("teds", "distance"), ("teds_struct", "struct_distance")):
        if rows.has(column):
            distances = rows.table.array(column)
            made.add(f"micro.{name}", np.nan_to_num(distances), rows.nodes(), rows.true & ~np.isnan(distances), rest=least)
    for name in GRITS:
        if name in rows.values:
            slots = rows.table.array("slots_truth") + rows.table.array("slots_found")
            shared = 2 * np.nan_to_num(rows.table.array(name.removeprefix("grits_")))
            made.add(f"micro.{name}", shared, slots, ~np.isnan(rows.values[name]))
    for name in BLOCKS:
        if rows.has(name):
            _add_counts(made, name, "", rows.table.array(name))
    if rows.has("adjacency"):
        counts = rows.table.array("adjacency")
        suffixes = [""] if counts.shape[1] == 1 else [f"@{each!r}" for each in THRESHOLDS_2019]
        for place, suffix in enumerate(suffixes):
            _add_counts(made, "adjacency", suffix, counts[:, place])
    return (made.tallies(),)


def _add_means(made: _Quotients, rows: Rows, name: str, values: Floats, complex_ones: Flags) -> None:
    """Means are what is left of the mean loss to 1: values may be negative in compat modes, losses never."""
    known, loss = ~np.isnan(values), np.nan_to_num(1 - values)
    ones = np.ones(len(values))
    true = rows.true & known
    made.add(name, loss, ones, true, rest=-np.inf)
    made.add(
        f"with_spurious.{name}", np.where(rows.spurious, 1.0, loss), ones, known & (rows.true | rows.spurious), rest=-np.inf
    )
    made.add(f"simple.{name}", loss, ones, true & ~complex_ones, rest=-np.inf)
    made.add(f"complex.{name}", loss, ones, true & complex_ones, rest=-np.inf)
    places = np.stack([rows.unit.astype(np.int64), rows.table.array("page")], axis=1)
    _, first, groups = np.unique(places[true], axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(groups.reshape(-1), weights=loss[true], minlength=len(first))
    sizes = np.bincount(groups.reshape(-1), minlength=len(first))
    pages, chosen = np.zeros(len(values)), np.zeros(len(values), np.bool_)
    at = np.flatnonzero(true)[first]
    pages[at], chosen[at] = share(sums, sizes), True
    made.add(f"pages.{name}", pages, ones, chosen, rest=-np.inf)


def _add_counts(made: _Quotients, name: str, suffix: str, counts: Array) -> None:
    """Precision, recall and F1 of what both sides have and what each has."""
    both, ours, theirs = (counts[:, place].astype(np.float64) for place in range(3))
    every = np.ones(len(counts), np.bool_)
    for part, above, below in zip(PARTS, (both, both, 2 * both), (theirs, ours, ours + theirs), strict=True):
        made.add(f"{name}_{part}{suffix}", above, below, every)
