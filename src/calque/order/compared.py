"""What comparisons of reading orders rest on: what became of each true block, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Flags, Floats, Strings
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, RunOutcomes, TruthOutcomes
from calque.evaluation.ledger import UNIT, Ledger
from calque.order.numbers import LOST, Pages
from calque.order.scoring import Status

if TYPE_CHECKING:
    from calque.order.task import Order


def run_outcomes(_task: Order, ledger: Ledger) -> RunOutcomes:
    """A block is right when it is placed and no pair with it is reversed; a document goes as well as its pairs do."""
    blocks, pages = ledger.table("blocks"), Pages(ledger)
    rows = np.flatnonzero(blocks.array("status") != Status.UNORDERED)
    status = blocks.array("status")[rows]
    reversed_pairs = blocks.array("discordant")[rows] if "discordant" in blocks else np.zeros(len(rows), np.int64)
    right = (status == Status.PLACED) & (reversed_pairs == 0)
    kinds = np.select(
        [right, status == Status.PLACED, status == Status.UNPLACED], ["in_order", "out_of_order", "unplaced"], "missing"
    )
    ids, labels = blocks.get("id"), blocks.get("label")
    page = blocks.array("page")[rows].tolist()
    names = [ids[row] for row in rows.tolist()] if isinstance(ids, Strings) else [str(row) for row in rows.tolist()]
    told = [labels[row] for row in rows.tolist()] if isinstance(labels, Strings) else [""] * len(rows)
    truths = TruthOutcomes(
        blocks.array(UNIT)[rows].tolist(),
        list(zip(page, names, strict=True)),
        page,
        names,
        told,
        kinds.tolist(),
        right.tolist(),
    )
    return RunOutcomes(truths, NO_FALSE_POSITIVES, pages.document_values("pairs", len(ledger.units)))


def resampled(_task: Order, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """The parts of each number, and the numbers of each page, added up by document."""
    pages, sheet = Pages(ledger), DocumentTallies()
    together = np.zeros(len(pages.unit), np.int64)
    counted: dict[str, Support] = {}
    for name, (above, below) in pages.parts.items():
        sheet.count(f"above {name}", pages.unit, together, 1, above)
        sheet.count(f"below {name}", pages.unit, together, 1, below)
        counted[name] = Support(_documents(ledger, pages, below > 0))
        for scope in ("macro", "macro_pages"):  # two names of one scope
            _add_mean(sheet, f"{scope}.{name}", pages.unit, pages.values(name))
        documents = pages.document_values(name, len(ledger.units))
        _add_mean(sheet, f"macro_documents.{name}", np.arange(len(documents), dtype=np.int64), documents)
        counted |= {f"{scope}.{name}": counted[name] for scope in ("macro", "macro_pages", "macro_documents")}
    for name in ("docling_ard", "omnidocbench_edit"):
        values = pages.profile(name)
        _add_mean(sheet, name, pages.unit, values)
        counted[name] = Support(_documents(ledger, pages, ~np.isnan(values)))
    sheet.count("moves", pages.unit, together, 1, pages.counts["moves"])
    counted["moves"] = Support(_documents(ledger, pages, pages.counts["truth"] > 0))
    return (TalliedMetrics(sheet, counted, lambda sums: _numbers(sums, counted)),)


def _documents(ledger: Ledger, pages: Pages, rows: Flags) -> Flags:
    flags = np.zeros(len(ledger.units), np.bool_)
    flags[pages.unit[rows]] = True
    return flags


def _add_mean(sheet: DocumentTallies, name: str, document: Array, values: Floats) -> None:
    known = ~np.isnan(values)
    together = np.zeros(int(known.sum()), np.int64)
    sheet.fractions(f"sum {name}", values[known], document[known], together, 1, 2.0**-4)
    sheet.count(f"number {name}", document[known], together, 1)


def _numbers(sums: Mapping[str, Array], counted: Mapping[str, Support]) -> Replicates:
    found: Replicates = {"moves": sums["moves"][0].astype(np.float64)}
    for name in counted:
        if f"above {name}" in sums:
            quotient = share(sums[f"above {name}"][0], sums[f"below {name}"][0])
            found[name] = 1 - quotient if name in LOST else quotient
        elif f"sum {name}" in sums:
            found[name] = share(sums[f"sum {name}"][0], sums[f"number {name}"][0])
    return found
