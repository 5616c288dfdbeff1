"""What comparisons of fields rest on: what became of each field of the truth, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Flags, Floats
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, FalsePositives, RunOutcomes, TruthOutcomes, numbered
from calque.evaluation.ledger import UNIT, Ledger
from calque.fields.accounting.rows import OUTCOME_NAMES
from calque.fields.comparison.cells import class_of

if TYPE_CHECKING:
    from calque.fields.task import Fields


def run_outcomes(task: Fields, ledger: Ledger) -> RunOutcomes:
    """Fields by their paths; without kept outcomes only the documents."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return RunOutcomes(TruthOutcomes((), (), (), (), (), (), ()), NO_FALSE_POSITIVES, _scores(task, ledger))
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
    truths = TruthOutcomes(
        units, numbered(units, paths), [None] * len(true), paths, [class_of(path) for path in paths], kinds,
        [kind == "tp" for kind in kinds],
    )  # fmt: skip
    alarms = FalsePositives([unit for unit, _ in made_up], [0] * len(made_up), [path for _, path in made_up])
    return RunOutcomes(truths, alarms, _scores(task, ledger))


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


RATIOS = ("cm_precision", "cm_recall", "cm_f1", "cm_accuracy")


def resampled(task: Fields, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """Counts and scores, boxes, and what confidences are worth; the share of errors that a review finds has no quick way."""
    from calque.fields.confidence.resampled import auroc, averages, calibration

    return FieldTallies(task, ledger).part(), averages(task, ledger), calibration(ledger), auroc(ledger)


class FieldTallies:
    """What each document adds to the outcomes of fields."""

    def __init__(self, task: Fields, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names = ledger.names["field"]
        self._with_fd = task.recall_with_fd
        counts = ledger.table("counts")
        occurs = set(counts.array("field").tolist())
        self._shown = [code for code in range(len(self._names)) if code in occurs]
        paths = {each.path for each in task.plan().fields}
        self._roots = [code for code in self._shown if self._names[code] in paths]

    def part(self) -> TalliedMetrics:
        """The tallies, and the numbers that are made of them."""
        sheet, size = DocumentTallies(), len(self._names)
        counts, documents = self._ledger.table("counts"), self._ledger.table("documents")
        unit, field = counts.array(UNIT), counts.array("field")
        sheet.count("rows", unit, field, size)
        for name in (*OUTCOME_NAMES, "scored"):
            sheet.count(name, unit, field, size, counts.array(name))
        largest = float(counts.array("score").max(initial=1.0))
        sheet.fractions("score", counts.array("score"), unit, field, size, 2.0 ** -int(np.ceil(np.log2(largest))))
        together = np.zeros(documents.height, np.int64)
        sheet.count("unknown", documents.array(UNIT), together, 1, documents.array("unknown"))
        sheet.count("counted", documents.array(UNIT), together, 1, documents.array("counted"))
        kept = np.flatnonzero(documents.array("counted"))
        sheet.fractions("document score", documents.array("score")[kept], documents.array(UNIT)[kept], together[kept], 1)
        return TalliedMetrics(sheet, self._counted(), self._numbers)

    def _counted(self) -> dict[str, Support]:
        units, size = len(self._ledger.units), len(self._names)
        counts, documents = self._ledger.table("counts"), self._ledger.table("documents")
        tables = {name: np.zeros((units, size), np.int64) for name in (*OUTCOME_NAMES, "scored")}
        for name, table in tables.items():
            np.add.at(table, (counts.array(UNIT), counts.array("field")), counts.array(name))
        found: dict[str, Support] = {}
        for code in self._shown:
            own = {name: table[:, code] for name, table in tables.items()}
            found |= _block_counted(own, f"/{self._names[code]}", with_fd=self._with_fd)
            found[f"mean_score/{self._names[code]}"] = Support(own["scored"] > 0)
        roots = {name: tables[name][:, self._roots].sum(axis=1) for name in OUTCOME_NAMES}
        roots["fa"][documents.array(UNIT)] += documents.array("unknown")
        known = np.zeros(units, np.bool_)
        known[documents.array(UNIT)] = documents.array("counted")
        return {**found, **_block_counted(roots, "", with_fd=self._with_fd), "weighted_overall_score": Support(known)}

    def _numbers(self, sums: Mapping[str, Array]) -> Replicates:
        found: Replicates = {}
        for code in self._shown:
            label = f"/{self._names[code]}"
            own = block({name: sums[name][code] for name in OUTCOME_NAMES}, with_fd=self._with_fd)
            # A field of which a replicate knows nothing is not in its result.
            there = sums["rows"][code] > 0
            found |= {f"{name}{label}": np.where(there, value, np.nan) for name, value in own.items()}
            found[f"mean_score{label}"] = share(sums["score"][code], sums["scored"][code])
        roots = {name: sums[name][self._roots].sum(axis=0) for name in OUTCOME_NAMES}
        roots["fa"] = roots["fa"] + sums["unknown"][0]
        scores = share(sums["document score"][0], sums["counted"][0])
        return {**found, **block(roots, with_fd=self._with_fd), "weighted_overall_score": scores}


def block(outcomes: Mapping[str, Array], *, with_fd: bool) -> Replicates:
    """As `with_ratios`, for many replicates at once; what divides 0 by 0 has no value here."""
    tp, fa, fd, fn, tn = (outcomes[name] for name in ("tp", "fa", "fd", "fn", "tn"))
    fp, truths = fa + fd, tp + fn + (fd if with_fd else 0)
    shares = share(tp, tp + fp), share(tp, truths)
    precision, recall = (np.nan_to_num(one, nan=0.0) for one in shares)
    f1 = np.nan_to_num(share(2 * (precision * recall), precision + recall), nan=0.0)
    counts = {"tp": tp, "fa": fa, "fd": fd, "fp": fp, "tn": tn, "fn": fn}
    ratios = *shares, np.where(tp + fp + truths > 0, f1, np.nan), share(tp + tn, tp + tn + fp + fn)
    return {**{name: value.astype(np.float64) for name, value in counts.items()}, **dict(zip(RATIOS, ratios, strict=True))}


def _block_counted(outcomes: Mapping[str, Array], label: str, *, with_fd: bool) -> dict[str, Support]:
    tp, fa, fd, fn, tn = (outcomes[name] for name in ("tp", "fa", "fd", "fn", "tn"))
    truths, predictions = tp + fn + (fd if with_fd else 0), tp + fa + fd
    everything = Support(np.ones(len(tp), np.bool_))
    below = predictions, truths, truths + predictions, truths + predictions + fd + tn
    flags: list[Flags] = [np.asarray(column > 0) for column in below]
    return {
        **{f"{name}{label}": everything for name in ("tp", "fa", "fd", "fp", "tn", "fn")},
        **{f"{name}{label}": Support(documents) for name, documents in zip(RATIOS, flags, strict=True)},
    }
