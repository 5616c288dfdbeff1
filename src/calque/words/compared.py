"""What comparisons of words rest on: what became of each word of either side, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Floats, Table
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes, TruthOutcomes, positions
from calque.evaluation.ledger import UNIT, Ledger
from calque.words.numbers import RATIOS, Tally
from calque.words.scoring import Status

if TYPE_CHECKING:
    from calque.words.task import Words


def run_outcomes(_task: Words, ledger: Ledger) -> RunOutcomes:
    """Words by their places in the truth; without the words themselves their labels are empty."""
    truth, found = ledger.table("truth"), ledger.table("found")
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    right = truth.array("found").tolist()
    kinds = ["tp" if one else "fn" for one in right]
    truths = TruthOutcomes(unit.tolist(), place, truth.array("page").tolist(), place, _words(ledger, truth), kinds, right)
    documents = ledger.table("documents")
    held = documents.array("status") == Status.HELD_OUT
    scores = np.where(held, share(documents.array("matches"), documents.array("n_ref")), np.nan)
    if "match" not in found:
        return RunOutcomes(truths, FalsePositives((), (), ()), scores)
    alone = np.flatnonzero(found.array("match") < 0)
    words = _words(ledger, found)
    alarms = FalsePositives(found.array(UNIT)[alone].tolist(), [0] * len(alone), [words[row] for row in alone.tolist()])
    return RunOutcomes(truths, alarms, scores)


def _words(ledger: Ledger, table: Table) -> list[str]:
    if "word" not in table:
        return [""] * table.height
    vocabulary = ledger.names["word"]
    return [vocabulary[code] for code in table.array("word").tolist()]


COLUMNS = tuple(Tally.__dataclass_fields__)


def resampled(task: Words, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """The counts of each document of the test, its own ratios, and what its lattice could have."""
    columns = ledger.table("documents").columns
    held = np.flatnonzero(np.asarray(columns["status"]) == Status.HELD_OUT)
    tally = Tally.of(columns, np.asarray(columns["status"]) == Status.HELD_OUT)
    sheet, together = DocumentTallies(), np.zeros(len(held), np.int64)
    for name in COLUMNS:
        sheet.count(name, held, together, 1, getattr(tally, name))
    counted: dict[str, Support] = {}
    for ratio in RATIOS:
        values = ratio.values(tally)
        defined = ~np.isnan(values)
        _add_values(sheet, f"document {ratio.name}", values[defined], held[defined])
        flags = np.zeros(len(ledger.units), np.bool_)
        flags[held[defined]] = True
        counted |= {ratio.name: Support(flags), f"macro_documents.{ratio.name}": Support(flags)}
    if task.lattice != "none":
        _add_oracle(sheet, ledger)
        counted |= dict.fromkeys(("oracle_recall", "repairable"), counted["recall"])
    return (TalliedMetrics(sheet, counted, lambda sums: _numbers(sums, oracle=task.lattice != "none")),)


def _add_values(sheet: DocumentTallies, name: str, values: Floats, documents: Array) -> None:
    """Numbers of documents that may be larger than 1, as error rates are."""
    largest = float(values.max(initial=1.0))
    sheet.fractions(name, values, documents, np.zeros(len(values), np.int64), 1, 2.0 ** -int(np.ceil(np.log2(largest))))
    sheet.count(f"{name}: how many", documents, np.zeros(len(values), np.int64), 1)


def _add_oracle(sheet: DocumentTallies, ledger: Ledger) -> None:
    oracle, sources = ledger.table("oracle"), ledger.table("sources")
    sheet.count("oracle", oracle.array(UNIT), np.zeros(oracle.height, np.int64), 1, oracle.array("matches"))
    names = ledger.names["source"]
    sheet.count("sources", sources.array(UNIT), sources.array("source"), len(names), sources.array("matches"))


def _numbers(sums: Mapping[str, Array], *, oracle: bool) -> Replicates:
    total = Tally(**{name: sums[name][0] for name in COLUMNS})
    found: Replicates = {}
    for ratio in RATIOS:
        found[ratio.name] = ratio.values(total)
        means = sums[f"document {ratio.name}"][0], sums[f"document {ratio.name}: how many"][0]
        found[f"macro_documents.{ratio.name}"] = share(*means)
    if oracle:
        recall = share(sums["oracle"][0], total.n_ref)
        best = share(sums["sources"].max(axis=0), total.n_ref) if len(sums["sources"]) else found["recall"]
        with np.errstate(invalid="ignore"):
            found |= {"oracle_recall": recall, "repairable": share(recall - best, np.where(best >= 1, 0.0, 1 - best))}
    return found
