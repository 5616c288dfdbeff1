"""Layout numbers for people, and for other tools: blocks by class, what was taken for what, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.wording import counted, percent, some
from calque.evaluation.ledger import Ledger
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import COUNT, SHARE, UNIT_ID, Schema, list_of, map_of, object_of, result_of
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView, used_labels
from calque.evaluation.task import Task
from calque.layout.numbers import MEASURES, NAMES, UNMATCHED

MOST_COLUMNS = 12
"""From this many labels on, the confusion is listed instead of drawn as a matrix."""
MOST_CONFUSIONS = 20


HEAD = ("class", *(measure.title for measure in MEASURES))
COLUMNS = {
    "class": "The category of the true blocks; all of them together below the line.",
    "truth": "The category of the true blocks; the columns are what they were taken for.",
    "(unmatched)": "True blocks that no prediction overlaps enough.",
    "truth → taken for": "The category of true blocks, and of the predictions that they were paired with.",
}
SIZES = ("document", "page", "truth", "prediction")
LEFT_OUT = {"invalid": "invalid", "dropped": "dropped by a class map or on pages that are not annotated"}
"""What blocks of either side that do not count are called."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How many blocks are found, and how many of those have the right name."""
    blocks, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
    predictions = counted(numbers["counts"]["predictions"], "prediction")
    if not blocks:
        return f"There is nothing to find: no true blocks count, against {predictions}."
    if not matched:
        return f"Finds {'nothing of the only block' if blocks == 1 else f'none of {blocks:,} blocks'}, with {predictions}."
    everything = "the only block" if blocks == 1 else f"all {blocks:,} blocks"
    found = everything if matched == blocks else f"{percent(matched / blocks)} of {blocks:,} blocks"
    some_of = "none of those with" if not correct else f"{percent(correct / matched)} of those with"
    named = ("all with" if matched > 1 else "with") if correct == matched else some_of
    return f"Finds {found}, {named} the right name."


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """All classes together."""
    return [Section(title="", head=HEAD, rows=[("all", *(numbers[key] for key in NAMES))])]


class LayoutSlices(SliceView):
    """The metrics of all blocks, and of the classes that occur in a slice."""

    def measure(self, task: Task, ledger: Ledger) -> Mapping[str, Any]:
        """Return the numbers of the documents of a slice."""
        numbers, used = task.measure(ledger), used_labels(ledger)
        return {**numbers, "per_class": {label: block for label, block in numbers["per_class"].items() if label in used}}


SLICES = LayoutSlices(
    (*NAMES, "per_class"),
    titles={metric.name: metric.title for metric in MEASURES if not metric.name.endswith("_blocks")},
    counts={"layout_total_blocks": "blocks"},
)
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
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
        Section(title="Layout", notes=[", ".join([*(counted(sizes[f"{noun}s"], noun) for noun in SIZES), *left_out])]),
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


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each class, and one for all, with the JSON's own names; then what was taken for what."""
    rows = [("", numbers), *numbers["per_class"].items()]
    sizes = {**numbers["counts"], **{key: len(numbers[key]) for key in ("only_truth", "only_predictions")}}
    taken = [
        {"class": name, "taken_for": column, "blocks": count}
        for name, row in numbers["confusion"].items()
        for column, count in row.items()
    ]
    return [{"class": name, **{key: block[key] for key in NAMES}, **({} if name else sizes)} for name, block in rows] + [
        *taken,
        *SLICES.flat(numbers),
    ]


def result_schema() -> Schema:
    """The schema of what ``calque layout --format json`` prints."""
    block = {name: COUNT if name.endswith("_blocks") else SHARE for name in NAMES}
    sizes = object_of(dict.fromkeys(("documents", "pages", "truths", "predictions", "invalid", "dropped"), COUNT))
    numbers = {
        **block,
        "per_class": map_of(object_of(block)),
        "documents": map_of(object_of(block)),
        "confusion": map_of(map_of(COUNT)),
        "counts": sizes,
        "only_truth": list_of(UNIT_ID),
        "only_predictions": list_of(UNIT_ID),
    }
    return result_of("layout", numbers, SLICES.schema(numbers))


STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many blocks are found, and how many of those have the right name."""
    blocks, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
    whole = Phrase("layout_total_blocks", f"{blocks:,}")
    if not blocks:
        return ["There is nothing to find: ", whole, " true blocks count."]
    share, noun = matched / blocks, " block" if blocks == 1 else " blocks"
    found = Phrase("layout_matched_blocks", f"{matched:,}", _tone(share))
    if not matched:
        return ["Finds ", found, " of ", whole, f"{noun}."]
    accuracy = Phrase("layout_classification_accuracy", percent(correct / matched), _tone(correct / matched))
    joint = ", and names " if correct / matched >= STRONG else ", but names only "
    return ["Finds ", found, " of ", whole, noun, joint, accuracy, " of them right."]


def _tone(share: float) -> str:
    return "good" if share >= STRONG else "bad" if share < WEAK else ""


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """What is not found, what has another name, what nothing took, and the class that fares worst."""
    blocks, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
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
    rates = {name: block["layout_accuracy_over_total"] for name, block in numbers["per_class"].items()}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    worst = min(known, key=lambda label: known[label], default="")
    if len(known) > 1 and known[worst] < 1:
        lines.append(
            Finding("class", f"Weakest class: {worst}, {percent(known[worst])} found and named right", {"class": worst})
        )
    return lines
