"""The numbers of the detection contract once more, in plain Python: slow, obvious, and written without a look at calque.

Works on parsed snapshot files. Each threshold is matched by itself, each group is counted by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

RATIOS = ("precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity")


@dataclass(frozen=True)
class Object:
    """A box somewhere in the corpus."""

    document: str
    page: int
    position: int
    label: str
    box: tuple[float, ...]
    score: float | None
    ignored: bool

    @property
    def area(self) -> float:
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])


@dataclass(frozen=True)
class Options:
    """What a run of the tool can be asked for."""

    labels: tuple[str, ...] = ()
    min_area: float = 0.0
    min_score: float = 0.0
    missing: str = "penalize"
    class_weight: Mapping[str, float] | None = None


def shared_area(a: Object, b: Object) -> float:
    width = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    height = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    return width * height if width > 0 and height > 0 else 0.0


def iou(a: Object, b: Object) -> float:
    common = shared_area(a, b)
    return common / (a.area + b.area - common) if common else 0.0


def objects_of(tree: Mapping[str, Any], options: Options, documents: set[str]) -> list[Object]:
    """The objects that are asked for, in file order."""
    found = []
    for page in tree["predictions"]:
        for position, entry in enumerate(page["objects"]):
            if page["doc_id"] not in documents or (options.labels and entry["label"] not in options.labels):
                continue
            score = entry.get("score")
            if score is not None and score < options.min_score:
                continue
            thing = Object(
                page["doc_id"], page["page_index"], position, entry["label"], tuple(entry["bbox"]), score, ignored=False
            )
            found.append(thing if thing.area >= options.min_area else Object(**{**vars(thing), "ignored": True}))
    return found


def match(truths: Sequence[Object], found: Sequence[Object], threshold: float) -> list[tuple[Object, Object]]:
    """Greedy 1:1 matching of one page and class: again and again the best pair of what is left."""
    free_truths, free_found = list(truths), list(found)
    pairs = []
    while True:
        candidates = [
            (-iou(p, g), -(-1.0 if p.score is None else p.score), p.position, g.position, g, p)
            for g in free_truths
            for p in free_found
            if iou(p, g) >= threshold
        ]
        if not candidates:
            return pairs
        *_, g, p = min(candidates, key=lambda candidate: candidate[:4])
        pairs.append((g, p))
        free_truths.remove(g)
        free_found.remove(p)


@dataclass(frozen=True)
class Outcome:
    """What happened at one threshold."""

    pairs: list[tuple[Object, Object]]
    false_positives: list[Object]
    false_negatives: list[Object]

    def only(self, *, document: str | None = None, label: str | None = None) -> Outcome:
        def wanted(thing: Object) -> bool:
            return (document is None or thing.document == document) and (label is None or thing.label == label)

        return Outcome(
            [pair for pair in self.pairs if wanted(pair[0])],
            [p for p in self.false_positives if wanted(p)],
            [g for g in self.false_negatives if wanted(g)],
        )

    def numbers(self) -> dict[str, Any]:
        tp, fp, fn = len(self.pairs), len(self.false_positives), len(self.false_negatives)

        def mean(values: Iterable[float]) -> float | None:
            return fsum(values) / tp if tp else None

        return {
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "precision": tp / (tp + fp) if tp + fp else None,
            "recall": tp / (tp + fn) if tp + fn else None,
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
            "mean_iou": mean(iou(g, p) for g, p in self.pairs),
            "mean_coverage": mean(shared_area(g, p) / g.area for g, p in self.pairs),
            "mean_purity": mean(shared_area(g, p) / p.area for g, p in self.pairs),
        }


def outcome(truths: Sequence[Object], found: Sequence[Object], threshold: float) -> Outcome:
    """Every page and class matched by itself."""
    pairs: list[tuple[Object, Object]] = []
    false_positives: list[Object] = []
    false_negatives: list[Object] = []
    for place in dict.fromkeys((thing.document, thing.page, thing.label) for thing in [*truths, *found]):
        here = [g for g in truths if (g.document, g.page, g.label) == place]
        there = [p for p in found if (p.document, p.page, p.label) == place]
        matched = match([g for g in here if not g.ignored], there, threshold)
        pairs += matched
        taken_g, taken_p = {id(g) for g, _ in matched}, {id(p) for _, p in matched}
        false_negatives += [g for g in here if id(g) not in taken_g and not g.ignored]
        false_positives += [
            p
            for p in there
            if id(p) not in taken_p
            and not p.ignored
            and not any(shared_area(p, g) / p.area >= threshold for g in here if g.ignored)
        ]
    return Outcome(pairs, false_positives, false_negatives)


def weighted_mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    kept = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = fsum(weight for _, weight in kept)
    return fsum(value * weight for value, weight in kept) / total if total else None


def evaluate(
    truth: Mapping[str, Any],
    found: Mapping[str, Any],
    thresholds: Sequence[float] = (0.5, 0.75),
    options: Options | None = None,
) -> dict[str, Any]:
    """The ``metrics`` and ``documents`` of the JSON."""
    options = options or Options()
    known = [{entry["doc_id"] for entry in tree["documents"]} for tree in (truth, found)]
    documents = known[0] & known[1] if options.missing == "intersect" else known[0] | known[1]
    truths, predicted = (objects_of(tree, options, documents) for tree in (truth, found))
    labels = sorted(name for name in truth["label_map"].values() if not options.labels or name in options.labels)
    return {
        "metrics": {
            repr(threshold): _at(outcome(truths, predicted, threshold), truths, labels, sorted(documents), options)
            for threshold in thresholds
        },
        "documents": {"only_truth": sorted(known[0] - known[1]), "only_predictions": sorted(known[1] - known[0])},
    }


def _at(
    happened: Outcome, truths: Sequence[Object], labels: Sequence[str], documents: Sequence[str], options: Options
) -> dict[str, Any]:
    per_class = {label: happened.only(label=label).numbers() for label in labels}
    per_document = [happened.only(document=document).numbers() for document in documents]
    given = options.class_weight or {}
    weights = [given.get(label, 1.0) for label in labels]
    support = [weight * (block["tp"] + block["fn"]) for weight, block in zip(weights, per_class.values(), strict=True)]
    pages_with_truth = {(g.document, g.page) for g in truths}
    return {
        "micro": happened.numbers(),
        "per_class": per_class,
        "macro_classes": {name: weighted_mean([b[name] for b in per_class.values()], weights) for name in RATIOS},
        "weighted_classes": {name: weighted_mean([b[name] for b in per_class.values()], support) for name in RATIOS},
        "macro_documents": {name: weighted_mean([b[name] for b in per_document], [1] * len(documents)) for name in RATIOS},
        "fp_on_empty_pages": sum((p.document, p.page) not in pages_with_truth for p in happened.false_positives),
    }
