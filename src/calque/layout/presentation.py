"""Layout for people: the headline, findings, tables in the terminal, and what the report draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array
from calque.base.wording import counted, percent, some
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.headlines import rated, weakest
from calque.evaluation.presentation.report_data import (
    Breakdown,
    Finding,
    Number,
    Overview,
    Part,
    Phrase,
    ReportData,
    Sentence,
)
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView
from calque.layout.metrics import METRICS, NAMES, UNMATCHED
from calque.layout.scoring import dropped, verdicts

if TYPE_CHECKING:
    from calque.layout.task import Layout

TOTAL, MATCHED, CORRECT, ACCURACY, OVER_ALL = NAMES

MOST_COLUMNS = 12
"""The number of labels up to which the confusion is a matrix; beyond, it is a list."""
MOST_CONFUSIONS = 20
HEAD = ("class", *(metric.title for metric in METRICS))
COLUMNS = {
    "class": "The category of the true blocks; all of them together below the line.",
    "truth": "The category of the true blocks; the columns are what they were taken for.",
    "(unmatched)": "True blocks that no prediction overlaps enough.",
    "truth → taken for": "The category of true blocks, and of the predictions that they were paired with.",
}
NOUNS = ("document", "page", "truth", "prediction")
LEFT_OUT = {"invalid": "invalid", "dropped": "dropped by a class map or on pages that are not annotated"}
"""How the overview calls blocks of either side that do not count."""
OUTCOMES = {"tp": "named right", "wrong": "under another name", "fn": "not found", "fp": "unused"}
"""How the report calls the outcomes of blocks."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """Return how many blocks are found, and how many of those have the right name."""
    total, matched, correct = (numbers[name] for name in (TOTAL, MATCHED, CORRECT))
    predictions = counted(numbers["counts"]["predictions"], "prediction")
    if not total:
        none = Phrase(TOTAL, "no")
        return ["There is nothing to find: ", none, f" true blocks count, against {predictions}."]
    everything = "the only block" if total == 1 else f"all {total:,} blocks"
    if not matched:
        nothing = rated(MATCHED, 0.0, "nothing" if total == 1 else "none")
        return ["Finds ", nothing, f" of {everything.removeprefix('all ')}, with {predictions}."]
    found: list[str | Phrase] = [rated(MATCHED, 1.0, everything)]
    if matched < total:
        found = [rated(MATCHED, matched / total), " of ", Phrase(TOTAL, f"{total:,}"), " blocks"]
    named: list[str | Phrase] = [rated(ACCURACY, 1.0, "with" if matched == 1 else "all with")]
    if correct < matched:
        named = [rated(ACCURACY, correct / matched, "" if correct else "none"), " of those with"]
    return ["Finds ", *found, ", ", *named, " the right name."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Return which blocks are not found or have another name, the most frequent confusion, and the weakest class."""
    blocks, matched, correct = (numbers[name] for name in (TOTAL, MATCHED, CORRECT))
    lines = []
    if matched < blocks:
        missed = blocks - matched
        told = f"{missed:,} of {counted(blocks, 'block')} {'is' if missed == 1 else 'are'} not found"
        lines.append(Finding("fn", told, {"outcome": "fn"}, missed))
    if correct < matched:
        other = matched - correct
        lines.append(Finding("wrong", f"{counted(other, 'block')} found under another name", {"outcome": "wrong"}, other))
    labels = list(numbers["confusion"])
    swapped = [
        (count, name, column)
        for name, row in numbers["confusion"].items()
        for column, count in row.items()
        if column not in (name, UNMATCHED)
    ]
    if swapped:
        count, name, column = max(swapped, key=lambda entry: entry[0])
        told = f"{name} is taken for {column} {'once' if count == 1 else f'{count:,} times'}"
        lines.append(Finding("class", told, {"cell": f"{labels.index(name)}>{labels.index(column)}"}, count))
    if worst := weakest(numbers["per_class"], OVER_ALL):
        rate = percent(numbers["per_class"][worst][OVER_ALL])
        lines.append(Finding("class", f"Weakest class: {worst}, {rate} found and named right", {"class": worst}))
    return lines


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """Return the metrics of all classes together."""
    return [Section(title="", head=HEAD, rows=[("all", *(numbers[key] for key in NAMES))])]


SLICES = SliceView(
    (*NAMES, "per_class"),
    titles={metric.name: metric.title for metric in METRICS if not metric.name.endswith("_blocks")},
    counts={"layout_total_blocks": "blocks"},
)
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """Return the sizes of the corpus, the metrics by class, and the confusion."""
    sizes = numbers["counts"]
    rows = [(name, *(block[key] for key in NAMES)) for name, block in numbers["per_class"].items()]
    rows.append(("all", *(numbers[key] for key in NAMES)))
    left_out = [f"{sizes[kind]:,} {why}" for kind, why in LEFT_OUT.items() if sizes.get(kind)]
    notes = [
        f"{counted(len(units), 'document')} only in the {side}: {some(units)}"
        for side, units in (("truth", numbers["only_truth"]), ("predictions", numbers["only_predictions"]))
        if units
    ]
    return [
        Section(title="Layout", notes=[", ".join([*(counted(sizes[f"{noun}s"], noun) for noun in NOUNS), *left_out])]),
        Section(title="", head=HEAD, rows=rows, rule_before=len(rows) - 1, notes=notes),
        _confusion(numbers["confusion"]),
        *SLICES.sections(numbers),
    ]


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Section:
    there = {name for row in confusion.values() for name in row}
    columns = [name for name in (*confusion, UNMATCHED) if name in there]
    if len(columns) <= MOST_COLUMNS:
        rows = [(name, *(row.get(column, 0) for column in columns)) for name, row in confusion.items() if row]
        return Section(title="truth → taken for", head=("truth", *columns), rows=rows)
    cells = [(name, column, count) for name, row in confusion.items() for column, count in row.items()]
    wrong = [(f"{name} → {column}", count) for name, column, count in cells if name != column]
    most = sorted(wrong, key=lambda entry: -entry[1])[:MOST_CONFUSIONS]
    return Section(title="most frequent confusions", head=("truth → taken for", "blocks"), rows=most)


def report_data(task: Layout, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData:
    """Return the blocks of both sides with their outcomes, and the numbers."""
    labels = list(ledger.names["label"])
    drawn = {**columns.page_columns(ledger), **_blocks(task, ledger)}
    head = {
        "kind": "boxes",
        "labels": labels,
        "documents": list(distinct_names(ledger.units)),
        "outcomes": OUTCOMES,
        "numbers": {
            "thresholds": [repr(task.iou)],
            "overviews": [_overview(task, numbers, int((drawn["p.outcome.0"] == columns.FP).sum())).to_dict()],
            "classes": labels,
            "confusion": _matrix(labels, numbers["confusion"]),
        },
    }
    return ReportData(head, drawn)


def _overview(task: Layout, numbers: Mapping[str, Any], unused: int) -> Overview:
    """Return the first view of the report."""
    counts = numbers["counts"]
    total, matched, correct = (numbers[name] for name in (TOTAL, MATCHED, CORRECT))
    sizes = [counted(counts[f"{noun}s"], noun) for noun in NOUNS]
    outcomes = ("tp,wrong,fn", "tp,wrong", "tp", "", "")
    return Overview(
        line=["Layout", *sizes, f"a block counts as found from IoU {task.iou!r} on"],
        parts=[
            Part("tp", correct, "named right", CORRECT),
            Part("wrong", matched - correct, "under another name"),
            Part("fn", total - matched, "not found"),
            Part("fp", unused, "unused prediction" if unused == 1 else "unused predictions"),
        ],
        numbers=[
            Number("Accuracy", ACCURACY, numbers[ACCURACY], "of what is found is named right"),
            Number("Over all blocks", OVER_ALL, numbers[OVER_ALL], "found and named right"),
            Number("Blocks", TOTAL, total, "in the truth", outcomes[0]),
            Number("Matched", MATCHED, matched, "a prediction overlaps enough", outcomes[1]),
            Number("Correct", CORRECT, correct, "and has the right name", "tp"),
        ],
        breakdown=Breakdown(
            title="By class",
            of="class",
            columns=[
                *((metric.title, metric.name, outcome) for metric, outcome in zip(METRICS, outcomes, strict=True)),
                ("other name", "", "wrong"),
                ("not found", "", "fn"),
            ],
            marks=((2, "tp"), (5, "wrong"), (6, "fn")),
            rows=[(label, _row(block)) for label, block in numbers["per_class"].items()],
            total=_row(numbers),
        ),
    )


def _row(block: Mapping[str, Any]) -> list[Any]:
    total, matched, correct = (block[name] for name in (TOTAL, MATCHED, CORRECT))
    return [*(block[name] for name in NAMES), matched - correct, total - matched]


def _matrix(labels: list[str], confusion: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    every = [*labels, UNMATCHED]
    rows = [[confusion.get(label, {}).get(name, 0) for name in every] for label in labels]
    return {"labels": every, "matrix": [*rows, [0] * len(every)]}


def _blocks(task: Layout, ledger: Ledger) -> dict[str, Array]:
    truth, found = ledger.table("truth"), ledger.table("found")
    valid, matched, right = verdicts(truth, task.iou)
    match = np.where(matched, truth.array("match"), -1)
    partner = ledger.absolute("found", truth.array(UNIT), match)
    outcome = np.select(
        [dropped(truth), ~valid, right, matched],
        [columns.EXCLUDED, columns.INVALID, columns.TP, columns.WRONG],
        columns.FN,
    ).astype(np.uint8)
    # A prediction that several blocks take is right if it is right for one of them.
    used = np.full(found.height, columns.FP, dtype=np.uint8)
    used[~found.array("valid")] = columns.INVALID
    used[dropped(found)] = columns.EXCLUDED
    used[partner[matched & ~right]] = columns.WRONG
    used[partner[right]] = columns.TP
    cell = np.where(matched, truth.array("label_found"), np.where(valid, len(ledger.names["label"]), -1))
    return {
        **columns.box_columns(ledger, "truth", "t"),
        **columns.box_columns(ledger, "found", "p"),
        "t.outcome.0": outcome,
        "p.outcome.0": used,
        "t.match": columns.on_page(ledger, "truth", "found", match),
        "t.iou": truth.array("iou").astype(np.float32),
        "t.cell": columns.narrow(cell),
    }
