"""The numbers of tables: means over truth tables, totals over everything, and where the loss went."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Flags, Floats
from calque.evaluation.document_sums import share
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Measure, Undefined
from calque.tables.adjacency import THRESHOLDS_2019
from calque.tables.kinds import KINDS
from calque.tables.measures import MEASURES
from calque.tables.scoring import Status

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.tables.task import Tables

MEANS = ("teds", "teds_struct", "grits_top", "grits_con", "grits_loc", "exact", "rows_right", "columns_right")
GRITS = ("grits_top", "grits_con", "grits_loc")
BLOCKS = ("cells", "header", "dar_con_original", "dar_con")
WORST = 10
"""How many tables are listed, the worst first."""
APART = 0.1
"""From how much on TEDS is above GriTS-Con for a table to be listed: values stand under the wrong headings."""
NO_TABLES, NO_VALUE, NO_BOXES = "the truth has no tables", "no table has a value", "no pair of tables has boxes of cells"


class Rows:
    """The rows of a ledger's tables, with the value of each measure for each of them."""

    def __init__(self, ledger: Ledger) -> None:
        self.table: Table = ledger.table("tables")
        self.units = ledger.units
        self.status: Array = self.table.array("status")
        self.unit: Array = self.table.array(UNIT)
        self.paired: Flags = self.status == Status.PAIRED
        self.true: Flags = self.paired | (self.status == Status.MISSED)
        self.spurious: Flags = self.status == Status.SPURIOUS
        self.values = self._values()

    def has(self, name: str) -> bool:
        """Whether the ledger has a column."""
        return name in self.table

    def _values(self) -> dict[str, Floats]:
        made: dict[str, Floats] = {name: self.table.array(name) for name in ("teds", "teds_struct") if self.has(name)}
        for name in GRITS:
            if self.has(kind := name.removeprefix("grits_")):
                both = self.table.array("slots_truth") + self.table.array("slots_found")
                shared = 2 * self.table.array(kind)
                made[name] = np.divide(shared, both, out=np.full(len(both), np.nan), where=both > 0)
        if self.has("teds") and self.has("rows_truth"):
            made["exact"] = (self.paired & (self.table.array("distance") == 0)).astype(np.float64)
        if self.has("rows_truth") and not self.has("dar_con"):
            for side in ("rows", "columns"):
                same = self.table.array(f"{side}_truth") == self.table.array(f"{side}_found")
                made[f"{side}_right"] = (self.paired & same).astype(np.float64)
        return {name: made[name] for name in MEANS if name in made}

    def score(self) -> tuple[str, Floats]:
        """Return the title and the values of the metric that stands for a table as a whole: the first that was computed."""
        for name, title in (("teds", "TEDS"), ("grits_con", "GriTS-Con"), ("grits_top", "GriTS-Top")):
            if name in self.values:
                return title, self.values[name]
        for name in ("cells", "adjacency", *BLOCKS[1:]):
            if self.has(name):  # of adjacency 2019 the lowest IoU comes first
                both, ours, theirs = self.table.array(name).reshape(len(self.unit), -1)[:, :3].T
                return f"{name} F1", share(2 * both, ours + theirs)
        if self.has("kind_cost"):
            return "1 − loss", 1 - share(self.table.array("kind_cost").sum(axis=1), self.nodes()).clip(max=1.0)
        return "TEDS", np.full(len(self.unit), np.nan)

    def nodes(self) -> Floats:
        """The larger number of nodes of each row."""
        return np.asarray(np.fmax(self.table.array("nodes_truth"), self.table.array("nodes_found")), dtype=np.float64)


def measure(task: Tables, ledger: Ledger) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    rows = Rows(ledger)
    tree: dict[str, Any] = {
        "counts": _counts(task, rows),
        "mean": _means(rows, rows.true),
        "with_spurious": _with_spurious(rows),
        "pages": _pages(rows),
        "micro": _micro(task, rows),
        "simple": _part(rows, ~rows.table.array("complex")),
        "complex": _part(rows, rows.table.array("complex")),
    }
    if rows.has("kind_count"):
        tree["errors"] = _errors(rows)
    tree |= {"worst": _worst(rows), "apart": _apart(rows), "documents": _documents(rows)}
    return tree


def _counts(task: Tables, rows: Rows) -> dict[str, int]:
    counted = {
        "documents": len(rows.units),
        "truth": int((rows.table.array("truth") >= 0).sum()),
        "pred": int((rows.table.array("found") >= 0).sum()),
        **{status.name.lower(): int((rows.status == status).sum()) for status in Status},
        "undefined": 0,
        "clamped": 0,
    }
    if rows.has("teds"):
        counted["undefined"] = int(np.isnan(rows.values["teds"][rows.true]).sum())
        if task.compat == "none":
            counted["clamped"] = int((rows.table.array("distance") > rows.nodes())[rows.paired].sum())
    return counted


def mean(name: str, values: Floats, rows: Flags) -> float | Undefined:
    """The mean of the rows that have a value."""
    listed = values[rows]
    known = listed[~np.isnan(listed)]
    return math.fsum(known.tolist()) / len(known) if len(known) else _nothing(name, len(listed))


def _nothing(name: str, tables: int) -> Undefined:
    return Undefined(NO_TABLES if not tables else NO_BOXES if name == "grits_loc" else NO_VALUE)


def _means(rows: Rows, chosen: Flags) -> dict[str, Any]:
    return {name: mean(name, values, chosen) for name, values in rows.values.items()}


def _with_spurious(rows: Rows) -> dict[str, Any]:
    """With each spurious table as one more 0, as far as it could have a value."""
    return {
        name: mean(name, np.where(rows.spurious & ~np.isnan(values), 0.0, values), rows.true | rows.spurious)
        for name, values in rows.values.items()
    }


def _part(rows: Rows, chosen: Flags) -> dict[str, Any]:
    there = rows.true & chosen
    return {"tables": int(there.sum()), **_means(rows, there)}


def _pages(rows: Rows) -> dict[str, Any]:
    """The mean of the means of pages that have true tables; where there are no pages, a document is one."""
    places = np.stack([rows.unit.astype(np.int64), rows.table.array("page")], axis=1)[rows.true]
    groups = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    made: dict[str, Any] = {}
    for name, values in rows.values.items():
        listed = values[rows.true]
        known = ~np.isnan(listed)
        pages: dict[int, list[float]] = {}
        for group, value in zip(groups[known].tolist(), listed[known].tolist(), strict=True):
            pages.setdefault(group, []).append(value)
        means = [math.fsum(page) / len(page) for page in pages.values()]
        made[name] = math.fsum(means) / len(means) if means else _nothing(name, len(listed))
    return made


def _micro(task: Tables, rows: Rows) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, column in (("teds", "distance"), ("teds_struct", "struct_distance")):
        if rows.has(column):
            made[name] = _micro_teds(rows, column, clamped=task.compat == "none")
    for name in GRITS:
        if name in rows.values:
            known = ~np.isnan(rows.values[name])
            slots = sum(int(rows.table.array(f"slots_{side}")[known].sum()) for side in ("truth", "found"))
            shared = math.fsum(rows.table.array(name.removeprefix("grits_"))[known].tolist())
            made[name] = 2 * shared / slots if slots else _nothing(name, len(known))
    for name in BLOCKS:
        if rows.has(name):
            made[name] = _ratios(rows.table.array(name))
    if rows.has("adjacency"):
        made["adjacency"] = _adjacency(task, rows.table.array("adjacency"))
    return made


def _micro_teds(rows: Rows, column: str, *, clamped: bool) -> float | Undefined:
    chosen = rows.true & ~np.isnan(rows.table.array(column))
    nodes = math.fsum(rows.nodes()[chosen].tolist())
    if not nodes:
        return Undefined(NO_VALUE)
    value = 1 - math.fsum(rows.table.array(column)[chosen].tolist()) / nodes
    return max(0.0, value) if clamped else value


def _ratios(counts: Array) -> dict[str, Any]:
    both, ours, theirs = (int(count) for count in counts.reshape(-1, 3).sum(axis=0))
    return {
        "tp": both,
        "n_truth": ours,
        "n_pred": theirs,
        "precision": both / theirs if theirs else Undefined("the prediction has none"),
        "recall": both / ours if ours else Undefined("the truth has none"),
        "f1": 2 * both / (ours + theirs) if ours + theirs else Undefined("neither side has any"),
    }


def _adjacency(task: Tables, counts: Array) -> dict[str, Any]:
    if task.adjacency == "2013":
        return _ratios(counts[:, 0])
    made: dict[str, Any] = {repr(each): _ratios(counts[:, place]) for place, each in enumerate(THRESHOLDS_2019)}
    known = [made[repr(each)]["f1"] for each in THRESHOLDS_2019]
    if any(isinstance(value, Undefined) for value in known):
        made["weighted_f1"] = Undefined("neither side has any")
    else:
        weighted = math.fsum(each * value for each, value in zip(THRESHOLDS_2019, known, strict=True))
        made["weighted_f1"] = weighted / sum(THRESHOLDS_2019)
    return made


def _errors(rows: Rows) -> dict[str, Any]:
    """Every kind that occurs; the losses add up to what the mean TEDS lacks."""
    nodes = rows.nodes()
    defined = rows.true & (nodes > 0)
    tables = int(defined.sum())
    costs, counts = rows.table.array("kind_cost"), rows.table.array("kind_count")
    most = np.maximum(nodes, costs.sum(axis=1))
    shares = np.divide(costs, most[:, None], out=np.zeros_like(costs), where=most[:, None] > 0)[defined]
    made = {}
    for place, kind in enumerate(KINDS):
        count = int(counts[:, place].sum())
        if count or kind not in ("table_spurious", "header_wrong"):
            loss = math.fsum(shares[:, place].tolist()) / tables if tables else 0.0
            made[kind] = {"count": count, "cost": math.fsum(costs[:, place].tolist()), "loss": loss}
    return {kind: block for kind, block in made.items() if block["count"] or block["cost"]}


def _worst(rows: Rows) -> list[dict[str, Any]]:
    """The tables of the truth with the lowest TEDS (GriTS-Con where there is none), the worst first."""
    name = next((each for each in ("teds", "grits_con") if each in rows.values), None)
    if name is None:
        return []
    places = np.flatnonzero(rows.true & (rows.values[name] < 1))
    order = places[np.argsort(rows.values[name][places], kind="stable")][:WORST]
    return [_listed(rows, place) for place in order.tolist()]


def _listed(rows: Rows, place: int) -> dict[str, Any]:
    made: dict[str, Any] = {"document": rows.units[rows.unit[place]]}
    made |= {side: int(rows.table.array(side)[place]) for side in ("truth", "found")}
    made |= {name: float(rows.values[name][place]) for name in ("teds", "grits_con") if name in rows.values}
    if rows.has("kind_cost"):
        costs = rows.table.array("kind_cost")[place]
        made["kind"] = KINDS[int(costs.argmax())] if costs.max() > 0 else ""
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in made.items()}


def _apart(rows: Rows) -> list[dict[str, Any]]:
    """Tables whose TEDS is far above GriTS-Con: their values stand under the wrong headings."""
    if not {"teds", "grits_con"} <= rows.values.keys():
        return []
    apart = rows.values["teds"] - rows.values["grits_con"]
    return [_listed(rows, place) for place in np.flatnonzero(rows.true & (apart > APART)).tolist()]


def _documents(rows: Rows) -> dict[Any, Any]:
    truth, found = (rows.table.array(side).tolist() for side in ("truth", "found"))
    values = rows.values.get("teds")
    made: dict[Any, Any] = {unit: {"pairs": [], "teds": []} for unit in rows.units}
    if values is None:
        made = {unit: {"pairs": []} for unit in rows.units}
    for place, unit in enumerate(rows.unit.tolist()):
        block = made[rows.units[unit]]
        if truth[place] >= 0 and found[place] >= 0:
            block["pairs"].append([truth[place], found[place]])
        if values is not None and truth[place] >= 0:
            block["teds"].append(None if math.isnan(values[place]) else float(values[place]))
    return made


__all__ = ["MEASURES", "Measure", "measure"]
