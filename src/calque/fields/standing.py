"""How a fields run stands: what became of each field of the truth, fields that are made up, F1 of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Floats
from calque.core.ledger import UNIT, Ledger
from calque.core.standing import NO_ALARMS, Alarms, Standing, Truths, numbered
from calque.fields.accounting.rows import OUTCOME_NAMES
from calque.fields.comparison.cells import class_of
from calque.fields.resampled import block

if TYPE_CHECKING:
    from calque.fields.task import Fields


def standing(task: Fields, ledger: Ledger) -> Standing:
    """Fields by their paths; without kept outcomes only the documents."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return Standing(Truths((), (), (), (), (), (), ()), NO_ALARMS, _scores(task, ledger))
    entries = list(zip(
        rows.array(UNIT).tolist(), _texts(rows["truth_path"]), _texts(rows["found_path"]), _texts(rows["truth_value"]),
        _texts(rows["found_value"]), rows.array("match").tolist(), strict=True,
    ))  # fmt: skip
    true = [entry for entry in entries if entry[1] and entry[3]]
    made_up = [
        (unit, found) for unit, path, found, value, predicted, _ in entries if not (path and value) and found and predicted
    ]
    paths = [entry[1] for entry in true]
    kinds = ["tp" if match else "fd" if predicted else "fn" for *_, predicted, match in true]
    units = [entry[0] for entry in true]
    truths = Truths(
        units, numbered(units, paths), [None] * len(true), paths, [class_of(path) for path in paths], kinds,
        [kind == "tp" for kind in kinds],
    )  # fmt: skip
    alarms = Alarms([unit for unit, _ in made_up], [0] * len(made_up), [path for _, path in made_up])
    return Standing(truths, alarms, _scores(task, ledger))


def _texts(column: Any) -> list[str]:
    return list(column)


def _scores(task: Fields, ledger: Ledger) -> Floats:
    """F1 of each document, over the fields at the root as in the whole."""
    counts, documents = ledger.table("counts"), ledger.table("documents")
    roots = {each.path for each in task.plan().fields}
    at_root = np.array([name in roots for name in ledger.names["field"]], dtype=np.bool_)
    kept = at_root[counts.array("field")]
    sums = {
        name: np.bincount(counts.array(UNIT)[kept], counts.array(name)[kept], len(ledger.units)).astype(np.int64)
        for name in OUTCOME_NAMES
    }
    sums["fa"][documents.array(UNIT)] += documents.array("unknown")
    return block(sums, with_fd=task.recall_with_fd)["cm_f1"]
