"""Two tables compared, without files: every measure of the pair as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from calque.base.arguments import check_type, renamed_arguments
from calque.base.columns import Array
from calque.base.errors import ContractError, Severity
from calque.base.short_repr import one_line
from calque.corpus.tables import CellTable
from calque.evaluation.result import strict_json
from calque.readers.tables.files import one_table
from calque.tables.adjacency import THRESHOLDS_2019
from calque.tables.comparing import Pair
from calque.tables.kinds import KINDS
from calque.tables.pairing import MOST_STEPS, steps
from calque.tables.reading import plainly, with_texts
from calque.tables.scoring import Distances, measured_pair, teds_of, too_much_work
from calque.tables.task import TEDS_ALONE, Tables

Table = CellTable
TableSource: TypeAlias = CellTable | Mapping[str, Any] | Sequence[Any] | str
"""A table, a text that holds one, or an object with ``html``, ``markdown`` or ``cells``."""
NEAR = 1e-9
"""A value this close to its upper bound has reached it."""


@dataclass(frozen=True)
class Compared:
    """What two tables have in common."""

    numbers: Mapping[str, Any]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.numbers.items() if not isinstance(value, Mapping | list))
        return one_line(f"<Compared tables: {values}>")

    def __str__(self) -> str:
        return strict_json(self.numbers)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON shows them; what is undefined is ``None``."""
        return dict(self.numbers)


def parse(source: TableSource) -> CellTable:
    r"""Read one table.

    Args:
        source: HTML or Markdown text, or an object with ``html``, ``markdown`` or ``cells``.

    Returns:
        The table.

    Raises:
        ValueError: The source does not contain exactly one table.

    >>> parse("| a | b |\n|---|---|\n| 1 | 2 |")
    <Table: 2 × 2, 4 cells>
    """
    return with_texts(one_table(source), plainly(Tables()))


@renamed_arguments(pred="predictions")
def teds(truth: TableSource, predictions: TableSource, structure_only: bool = False, compat: str | None = None) -> float | None:
    """Compute the tree-edit-distance-based similarity (TEDS) of two tables.

    Args:
        truth: The ground-truth table: a `Table`, HTML, Markdown, or an object with ``html``, ``markdown`` or ``cells``.
        predictions: The predicted table, in any of the same forms.
        structure_only: Compare rows and cells and ignore their texts.
        compat: The tool whose variant of TEDS to compute, such as ``"pubtabnet"``.

    Returns:
        1 when the two tables are equal, ``None`` when neither has a row.

    Raises:
        ValueError: A side does not contain exactly one table.
        ConfigError: ``compat`` names no tool.

    >>> teds("<table><tr><td>a<td>b</table>", "<table><tr><td>a<td>x</table>")
    0.6666666666666667
    """
    check_type("teds", "structure_only", structure_only, bool, "True or False")
    task = Tables(compat=compat or "none", only=("teds",))
    pair = _pair(task, truth, predictions)
    return _defined(float(teds_of(task, [pair], structure=structure_only)[0]))


@renamed_arguments(pred="predictions")
def compare(
    truth: TableSource, predictions: TableSource, compat: str | None = None, adjacency: str = "2013", **settings: Any
) -> Compared:
    """Compare two tables and compute every metric of the pair.

    Args:
        truth: The ground-truth table: a `Table`, HTML, Markdown, or an object with ``html``, ``markdown`` or ``cells``.
        predictions: The predicted table, in any of the same forms.
        compat: The tool whose rules to follow, such as ``"pubtabnet"``.
        adjacency: The edition of the adjacency relations: ``"2013"`` or ``"2019"``.
        settings: Other settings of `Tables`, such as ``ignore_case=True``.

    Returns:
        The metrics of the pair. Index it by name, or call ``to_dict()``.

    Raises:
        ValueError: A side does not contain exactly one table.
        ConfigError: A setting has a value that is not allowed.

    >>> comparison = compare("<table><tr><td>a<td>b</table>", "<table><tr><td>a</table>")
    >>> comparison["teds"], comparison["errors"]
    (0.6666666666666667, {'cell_missed': {'count': 1, 'cost': 1.0, 'loss': 0.3333333333333333}})
    """
    task = Tables(compat=compat or "none", adjacency=adjacency, **settings)  # type: ignore[arg-type]  # checked by the task
    sides = _pair(task, truth, predictions)
    columns, issues = measured_pair(task, sides, Distances(task, 1))
    numbers = _numbers(task, {name: column[0] for name, column in columns.items()}, sides)
    noticed = [
        {"code": code, "side": side, "count": count}
        for side, table in zip(("truth", "prediction"), sides, strict=True)
        for code, count in sorted(table.repairs.items())
    ]
    noticed += [{"code": issue.code, "side": "both", "count": issue.count} for issue in issues]
    return Compared({**numbers, "issues": noticed})


def _pair(task: Tables, truth: TableSource, pred: TableSource) -> Pair:
    """The two tables; `ContractError` where comparing them would take hours."""
    plain = plainly(task)
    pair = with_texts(one_table(truth), plain), with_texts(one_table(pred), plain)
    if steps([pair]) > MOST_STEPS:
        raise ContractError([replace(too_much_work("", ""), severity=Severity.ERROR)])
    return pair


def _numbers(task: Tables, row: Mapping[str, Any], sides: Pair) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if "teds" in row:
        made = {name: _defined(row[name]) for name in ("teds", "teds_struct", "distance")}
        made["nodes"] = [int(_zero(row["nodes_truth"])), int(_zero(row["nodes_found"]))]
    made["rows"] = [table.rows for table in sides]
    made["columns"] = [table.columns for table in sides]
    if "teds" in row and task.compat not in TEDS_ALONE:
        made["exact"] = bool(row["distance"] == 0)
    for kind in ("top", "con", "loc"):
        if kind in row:
            made[f"grits_{kind}"] = _grits(row, kind)
    for name in ("cells", "header", "dar_con_original", "dar_con"):
        if name in row:
            made[name] = ratios(row[name], ones=name.startswith("dar"))
    if "adjacency" in row:
        made["adjacency"] = adjacency_block(row["adjacency"], task.adjacency)
    if "kind_count" in row:
        made["errors"] = _errors(row)
        if "header" in made:
            made["header"]["wrong"] = int(row["kind_count"][KINDS.index("header_wrong")])
    return made


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _zero(value: float) -> float:
    return 0.0 if np.isnan(value) else value


def _grits(row: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    shared, bound = float(row[kind]), float(row[f"{kind}_bound"])
    if np.isnan(shared):
        return None
    ours, theirs = int(row["slots_truth"]), int(row["slots_found"])
    return {
        "f1": _share(2 * shared, ours + theirs),
        "precision": _share(shared, theirs),
        "recall": _share(shared, ours),
        "upper_bound": _share(2 * bound, ours + theirs),
        "exact": abs(bound - shared) <= NEAR,
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def ratios(counts: Array, *, ones: bool = False) -> dict[str, Any]:
    """What both sides have, and the ratios; ``ones``: of nothing at all everything is found, as table-transformer says."""
    both, ours, theirs = (int(count) for count in counts)
    precision, recall = _share(both, theirs), _share(both, ours)
    if ones:
        precision, recall = (1.0 if value is None else value for value in (precision, recall))
        f1: float | None = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    else:
        f1 = _share(2 * both, ours + theirs)
    return {"tp": both, "n_truth": ours, "n_pred": theirs, "precision": precision, "recall": recall, "f1": f1}


def adjacency_block(counts: Array, rule: str) -> dict[str, Any]:
    """The relations of 2013, or those of 2019 at each threshold with their weighted mean."""
    if rule == "2013":
        return ratios(counts[0])
    made: dict[str, Any] = {repr(each): ratios(row) for each, row in zip(THRESHOLDS_2019, counts, strict=True)}
    known = [made[repr(each)]["f1"] for each in THRESHOLDS_2019]
    weighted = None if None in known else sum(t * f1 for t, f1 in zip(THRESHOLDS_2019, known, strict=True))
    made["weighted_f1"] = None if weighted is None else weighted / sum(THRESHOLDS_2019)
    return made


def _errors(row: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds that cost something; headers that are wrong cost nothing, and stand in ``header``."""
    most = max(float(row["distance"]), float(row["nodes_truth"]), float(row["nodes_found"]))
    return {
        kind: {"count": int(count), "cost": float(cost), "loss": float(cost) / most}
        for kind, count, cost in zip(KINDS, row["kind_count"], row["kind_cost"], strict=True)
        if cost > 0
    }
