"""Two kinds of objects side by side: the main numbers of the same files on boxes and on masks, say, in one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calque.base.columns import Table
from calque.corpus.boxes import BoxCorpus
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import Undefined
from calque.evaluation.presentation.result_schema import MEASURE, TEXT, Schema, list_of, map_of, object_of
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.detection.task import Detection

SIDES = ("truth", "found")
DETAILS = frozenset({"box", "form", "id"})
"""Columns that are in the ledger already."""
SHOWN = ("precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity")


def _other(task: Detection) -> Detection:
    """The task on the other kind, with nothing beside its numbers."""
    plain = {"errors": "none", "crops": False, "confusion": False, "sweep": False, "page_view": False, "by": ()}
    other = replace(task, on=task.beside, beside="none", recall_floor=0.0, precision_floor=0.0, **plain)  # type: ignore[arg-type]  # each of its own type
    return other.numbers_only()


def tables(task: Detection, truth: BoxCorpus, found: BoxCorpus, *, jobs: int) -> dict[str, Table]:
    """What a ledger keeps of the same objects taken for the other kind."""
    from calque.detection.scoring import score  # which asks for the views' tables itself

    ledger = score(_other(task), truth, found, jobs=jobs)
    return {
        f"beside_{side}": Table({name: column for name, column in ledger.table(side).items() if name not in DETAILS})
        for side in SIDES
    }


def measure(task: Detection, ledger: Ledger) -> dict[str, Any] | Undefined:
    """Each measure on both kinds."""
    from calque.detection import numbers

    if "beside_truth" not in ledger.tables:
        return Undefined("some documents were scored without the other kind; evaluate them again with --beside")
    trees = {
        task.on: numbers.measure(replace(task, errors="none"), ledger),
        task.beside: numbers.measure(_other(task), ledger.called({side: f"beside_{side}" for side in SIDES})),
    }
    flat = {kind: _flat(tree) for kind, tree in trees.items()}
    names = flat[task.on]
    return {"on": list(trees), "measures": {name: {kind: flat[kind][name] for kind in trees} for name in names}}


def _flat(tree: Mapping[str, Any]) -> dict[str, Any]:
    averages = {name: value for name, value in tree["coco"].items() if name.startswith("A")}
    return averages | {
        f"{name}@{threshold}": block["micro"][name] for threshold, block in tree["metrics"].items() for name in SHOWN
    }


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """One table, a column for each kind."""
    rows = [(name, *(values[kind] for kind in numbers["on"])) for name, values in numbers["measures"].items()]
    return [Section(title="Side by side", head=("measure", *(f"on {kind}" for kind in numbers["on"])), rows=rows)]


def schema() -> Schema:
    """The JSON Schema of the view."""
    return object_of({"on": list_of(TEXT), "measures": map_of(map_of(MEASURE))})
