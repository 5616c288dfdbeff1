"""Agreement of two annotators: each is evaluated against the other, and neither is the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from calque.corpus.boxes import BoxCorpus
from calque.detection.task import Detection
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.measures import Undefined
from calque.evaluation.presentation.sections import Section

SHARED = ("f1", "mean_iou")
"""Numbers that do not depend on who is called the truth, but for exact ties."""


def agreement(
    first: BoxCorpus,
    second: BoxCorpus,
    *,
    iou: Sequence[float] = (0.5, 0.75),
    on: Literal["shapes", "boxes", "masks"] = "shapes",
    jobs: int = 1,
) -> dict[str, Any]:
    """F1 and mean IoU of the two, at each threshold, and how far they agree on the classes of boxes that both drew.

    Both directions are evaluated and averaged: ties go by the order of predictions, which one direction alone would favour.

    >>> from calque import Corpus
    >>> a = Corpus.from_arrays([[0, 0, 10, 10], [20, 0, 30, 10]], ["Table", "Figure"])
    >>> b = Corpus.from_arrays([[0, 0, 10, 10]], ["Table"])
    >>> agreement(a, b, iou=[0.5])["agreement"]["0.5"]["overall"]["f1"]
    0.6666666666666666
    """
    task = Detection(iou=tuple(iou), on=on, confusion=True, errors="none", allow_missing_scores=True)
    both = (first, second), (second, first)
    there, back = (Evaluator(task, keep="numbers", jobs=jobs).update(*sides).compute().numbers for sides in both)
    return {
        "thresholds": list(task.iou),
        "agreement": {text: _at(there["metrics"][text], back["metrics"][text]) for text in there["metrics"]},
        "labels": _label_agreement(task, there["confusion"], back["confusion"]),
    }


def _at(there: Mapping[str, Any], back: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "overall": _block(there["micro"], back["micro"]),
        "per_class": {name: _block(block, back["per_class"][name]) for name, block in there["per_class"].items()},
    }


def _block(there: Mapping[str, Any], back: Mapping[str, Any]) -> dict[str, Any]:
    reasons = {"f1": "neither drew a box", "mean_iou": "no pairs"}
    return {
        "pairs": _half(there["tp"] + back["tp"]),
        "only_first": _half(there["fn"] + back["fp"]),
        "only_second": _half(there["fp"] + back["fn"]),
        **{name: _mean(there[name], back[name], reasons[name]) for name in SHARED},
    }


def _half(count: int) -> float:
    """Half of a count; a whole number unless ties make the two directions differ."""
    return count / 2 if count % 2 else count // 2


def _mean(one: float | None, two: float | None, reason: str) -> float | Undefined:
    return Undefined(reason) if one is None or two is None else (one + two) / 2


def _label_agreement(task: Detection, there: Mapping[str, Any], back: Mapping[str, Any]) -> dict[str, Any]:
    """Cohen's kappa over the boxes that both drew, paired without looking at classes; the background does not count."""
    one = [row[:-1] for row in there["matrix"][:-1]]
    two = [row[:-1] for row in back["matrix"][:-1]]
    matrix = [[cell + two[column][row] for column, cell in enumerate(cells)] for row, cells in enumerate(one)]
    total = sum(map(sum, matrix))
    head = {"threshold": task.iou[0], "pairs": _half(total)}
    if not total:
        return {**head, "same": Undefined("no pairs"), "kappa": Undefined("no pairs")}
    same = sum(cells[place] for place, cells in enumerate(matrix)) / total
    columns = [sum(column) for column in zip(*matrix, strict=True)]
    chance = math.fsum(sum(cells) * column for cells, column in zip(matrix, columns, strict=True)) / total**2
    kappa = (
        Undefined("both use one class only: agreeing by chance is certain") if chance == 1 else (same - chance) / (1 - chance)
    )
    return {**head, "same": same, "kappa": kappa}


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """One table for each threshold, then the classes."""
    keys = ("pairs", "only_first", "only_second", *SHARED)
    head = ("class", "pairs", "only first", "only second", "F1", "mean IoU")
    parts = []
    for text, block in numbers["agreement"].items():
        blocks = [*block["per_class"].items(), ("all", block["overall"])]
        rows = [(name, *(values[key] for key in keys)) for name, values in blocks]
        parts.append(Section(title=f"Agreement at IoU ≥ {text}", head=head, rows=rows, rule_before=len(rows) - 1))
    labels = numbers["labels"]
    row = ("of both", labels["pairs"], labels["same"], labels["kappa"])
    title = f"Classes (boxes of any class paired at IoU ≥ {labels['threshold']!r})"
    return [*parts, Section(title=title, head=("boxes", "pairs", "same class", "kappa"), rows=[row])]


COLUMNS = {
    "pairs": "Boxes that both annotators drew.",
    "only first": "Boxes that only the first annotator drew.",
    "only second": "Boxes that only the second annotator drew.",
    "boxes": "The boxes that both drew, whatever their class.",
    "same class": "The share of those that have the same class on both sides.",
    "kappa": "Cohen's kappa: how far classes agree beyond chance; 1 is always, 0 is as often as by chance.",
    "class": "The label of the boxes.",
    "finding": "What is suspicious.",
    "count": "How often it was found.",
    "document": "The document.",
    "page": "The page of the document, counted from 0.",
    "id": "The annotation's id in its file.",
    "other class": "The label of the other box.",
    "other id": "The other box's id in its file.",
    "value": "How much: an IoU, a share, an area or a score, as the finding says.",
}
"""What stands in the columns of an audit's tables, where they are no measures."""
