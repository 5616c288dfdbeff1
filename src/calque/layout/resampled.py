"""The numbers of layout for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calque.core.columns import Array, Flags
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import Counted, Replicates, Resampled, Sheet, Tallies, share
from calque.layout.numbers import NAMES, verdicts


def resampled(ledger: Ledger, threshold: float) -> tuple[Resampled, ...]:
    """Blocks, matched blocks and right ones of each document, by class."""
    truth, labels = ledger.table("truth"), ledger.names["label"]
    sheet, tables = Sheet(), []
    for name, flags in zip(("total", "matched", "correct"), verdicts(truth, threshold), strict=True):
        rows = np.flatnonzero(flags)
        unit, label = truth.array(UNIT)[rows], truth.array("label")[rows]
        sheet.count(name, unit, label, len(labels))
        table = np.zeros((len(ledger.units), len(labels)), np.bool_)
        table[unit, label] = True
        tables.append(table)
    return (Tallies(sheet, _counted(labels, tables[0], tables[1]), lambda sums: _numbers(labels, sums)),)


def _counted(labels: tuple[str, ...], total: Flags, matched: Flags) -> dict[str, Counted]:
    """Accuracy is about documents with matched blocks, all else about those with blocks."""
    counted: dict[str, Counted] = {}
    for label, codes in (("", slice(None)), *((f"/{name}", slice(code, code + 1)) for code, name in enumerate(labels))):
        there, found = (Counted(np.asarray(table[:, codes].any(axis=1))) for table in (total, matched))
        counted |= {f"{name}{label}": found if name == "layout_classification_accuracy" else there for name in NAMES}
    return counted


def _numbers(labels: tuple[str, ...], sums: Mapping[str, Array]) -> Replicates:
    found: Replicates = {}
    for label, codes in (("", slice(None)), *((f"/{name}", slice(code, code + 1)) for code, name in enumerate(labels))):
        total, matched, correct = (sums[name][codes].sum(axis=0) for name in ("total", "matched", "correct"))
        values = total, matched, correct, share(correct, matched), share(correct, total)
        found |= {f"{name}{label}": value.astype(np.float64) for name, value in zip(NAMES, values, strict=True)}
    return found
