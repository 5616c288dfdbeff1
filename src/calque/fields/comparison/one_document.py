"""One document: a single pair of records compared, its confusion matrix as a tree, and the list of what does not match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import settle
from calque.fields.accounting.rows import OUTCOME_NAMES, Row, blank_is_absent, outcome_of, plain
from calque.fields.comparison.cells import METADATA, Cell, bare, is_wrapper
from calque.fields.comparison.records import Compared, Outcome
from calque.fields.numbers import measure, with_ratios
from calque.fields.schemas.plan import FieldPlan, Kind
from calque.fields.scoring import Scorer
from calque.fields.task import Fields


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """What a single comparison found."""

    task: Fields
    fields: list[Compared]
    score: float
    unknown: int
    """Predicted keys that the schema does not know."""
    rows: list[Row]
    ledger: Ledger

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """The numbers of this one document, as a result shows them."""
        return settle(measure(self.task, self.ledger))[0]

    def comparisons(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        return [
            {
                "expected_key": row.truth_path,
                "expected_value": _value(row.truth),
                "actual_key": row.found_path,
                "actual_value": _value(row.found),
                "match": row.match,
                "score": row.score,
                "weighted_score": row.score * row.weight,
                "threshold": row.threshold,
                "reason": row.reason,
                "class": row.label,
                "confidence_key": row.key,
                "confidence": row.found.confidence,
                "expected_bbox": None if row.truth.box is None else list(row.truth.box[:4]),
                "actual_bbox": None if row.found.box is None else list(row.found.box[:4]),
                "iou": row.iou,
                "outcome": OUTCOME_NAMES[outcome_of(row)],
                "expected_extras": _extras(row.truth),
                "actual_extras": _extras(row.found),
                "counted": row.counted,
            }
            for row in self.rows
        ]


def _value(cell: Cell) -> Any:
    return bare(cell) if cell.raw is not None else plain(cell.value)


def _extras(cell: Cell) -> dict[str, Any]:
    """What a value carries along beside value, confidence, box, page and alternatives."""
    return {key: value for key, value in cell.raw.items() if key not in METADATA} if is_wrapper(cell.raw) else {}


def compare_pair(schema: str, truth: Any, found: Any, **settings: Any) -> ComparedPair:
    """Compare one truth with one prediction."""
    task = Fields(schema=schema, **settings)
    scorer = Scorer(task)
    fields, score = scorer.document(0, truth, found)
    unknown = int(scorer.book.documents[-1][6])
    return ComparedPair(task, fields, score, unknown, [row for _, row in scorer.book.rows], scorer.ledger((0,)))


def compare_documents(pair: ComparedPair, wanted: Wanted) -> dict[str, Any]:
    """What ``compare_with`` returns: scores always, the rest as it is wanted."""
    result: dict[str, Any] = {
        "field_scores": {each.plan.name: each.applied for each in pair.fields},
        "overall_score": pair.score,
    }
    if wanted.include_confusion_matrix:
        result["confusion_matrix"] = matrix = _matrix(pair)
        matrix["overall"]["similarity_score"] = pair.score  # beside the counts, where stickler has it
    if wanted.document_non_matches:
        result["non_matches"] = non_matches(pair.rows)
    if wanted.document_field_comparisons or wanted.add_bbox_metrics or wanted.add_confidence_metrics:
        result["field_comparisons"] = pair.comparisons()
    if wanted.add_confidence_metrics:
        result["confidence_metrics"] = pair.numbers["confidence_metrics"]
    if wanted.add_bbox_metrics:
        result["bbox_metrics"] = pair.numbers["bbox_map_metrics"]
    return result


def _matrix(pair: ComparedPair) -> dict[str, Any]:
    """The confusion matrix as the accounting counts: complete has the fields of all items, paired those of pairs that match."""
    fd = pair.task.recall_with_fd
    if pair.task.accounting == "paired":
        return confusion_matrix(pair.fields, pair.unknown, recall_with_fd=fd, of_item_leaf=blank_is_absent)
    counts = pair.numbers["fields"]
    children = {each.plan.name: _counted(each.plan, counts, fd, each) for each in pair.fields if not each.plan.ignored}
    return {
        "overall": _complete(_sum(child["overall"] for child in children.values()), fd),
        "fields": children,
        "aggregate": _complete(_sum(child["aggregate"] for child in children.values()), fd),
    }


def _counted(
    plan: FieldPlan, counts: Mapping[str, Mapping[str, Any]], fd: bool, only: Compared | None = None
) -> dict[str, Any]:
    """One field with what was counted of it, and the fields below it that occur."""
    known = counts.get(plan.path, {})
    overall = {name: known.get(name, 0) for name in OUTCOME_NAMES}
    below = [field for field in (plan.record.fields if plan.record is not None else ()) if field.path in counts]
    children = {field.name: _counted(field, counts, fd) for field in below}
    aggregate = _sum(child["aggregate"] for child in children.values()) if children else overall
    node: dict[str, Any] = {"overall": _complete(overall, fd), "aggregate": _complete(aggregate, fd)}
    if plan.kind is not Kind.LEAF:
        node["fields"] = children
    if only is not None:
        node |= {"raw_similarity_score": only.raw, "threshold_applied_score": only.applied, "weight": plan.weight}
    return node


class Wanted(NamedTuple):
    """What a single comparison is to tell beside the scores."""

    include_confusion_matrix: bool = False
    document_non_matches: bool = False
    document_field_comparisons: bool = False
    add_confidence_metrics: bool = False
    add_bbox_metrics: bool = False


Counts = dict[str, int]
RATIOS = ("cm_precision", "cm_recall", "cm_f1", "cm_accuracy")


OutcomeOf = Callable[[Compared], Outcome]


def own_outcome(each: Compared) -> Outcome:
    """The outcome that the comparison gave."""
    return each.outcome


def confusion_matrix(
    fields: Sequence[Compared], unknown: int, *, recall_with_fd: bool, of_item_leaf: OutcomeOf = own_outcome
) -> dict[str, Any]:
    """``overall`` counts the direct fields (a list its items), ``aggregate`` the leaves below.

    ``of_item_leaf`` says what counts for a leaf of a list item.
    """
    tree = _Tree(recall_with_fd, of_item_leaf)
    children = {each.plan.name: tree.node([each], own_outcome) for each in fields if not each.plan.ignored}
    overall = _sum(child["overall"] for child in children.values())
    overall["fa"] += unknown
    return {
        "overall": _complete(overall, recall_with_fd),
        "fields": children,
        "aggregate": _complete(_sum(child["aggregate"] for child in children.values()), recall_with_fd),
    }


@dataclass(frozen=True)
class _Tree:
    """The settings of one confusion matrix."""

    recall_with_fd: bool
    of_item_leaf: OutcomeOf

    def node(self, occurrences: Sequence[Compared], of_leaf: OutcomeOf) -> dict[str, Any]:
        """One field, over all its occurrences in one document."""
        plan = occurrences[0].plan
        overall = _sum(_counts(each, of_leaf) for each in occurrences)
        below: dict[str, list[Compared]] = {}
        for each in occurrences:
            for part in _parts(each):
                if not part.plan.ignored:
                    below.setdefault(part.plan.name, []).append(part)
        inner = self.of_item_leaf if plan.kind is Kind.ITEMS else own_outcome
        children = {name: self.node(parts, inner) for name, parts in below.items()}
        aggregate = _sum(child["aggregate"] for child in children.values()) if children else overall
        node: dict[str, Any] = {
            "overall": _complete(overall, self.recall_with_fd),
            "aggregate": _complete(aggregate, self.recall_with_fd),
        }
        if plan.kind is not Kind.LEAF:
            node["fields"] = children
        if len(occurrences) == 1:
            only = occurrences[0]
            node |= {"raw_similarity_score": only.raw, "threshold_applied_score": only.applied, "weight": plan.weight}
        return node


def _parts(each: Compared) -> Iterable[Compared]:
    if each.parts is None:
        return ()
    if each.plan.kind is Kind.OBJECT:
        parts: list[Compared] = each.parts
        return parts
    return [field for pair in each.parts.pairs if pair.matched for field in pair.fields]


def _counts(each: Compared, of_leaf: OutcomeOf) -> Counts:
    counts = dict.fromkeys(OUTCOME_NAMES, 0)
    if each.parts is None or each.plan.kind is Kind.OBJECT:
        values = each.truth.value if each.outcome is Outcome.FN else each.found.value
        outcome = of_leaf(each) if each.plan.is_leaf else each.outcome
        counts[OUTCOME_NAMES[outcome]] = len(values) if isinstance(values, list) else 1
        return counts
    matched = sum(pair.matched for pair in each.parts.pairs)
    return {
        **counts,
        "tp": matched,
        "fd": len(each.parts.pairs) - matched,
        "fn": len(each.parts.only_truth),
        "fa": len(each.parts.only_found),
    }


def _sum(parts: Iterable[Counts]) -> Counts:
    total = dict.fromkeys(OUTCOME_NAMES, 0)
    for part in parts:
        for name in OUTCOME_NAMES:
            total[name] += part[name]
    return total


def _complete(counts: Counts, recall_with_fd: bool) -> dict[str, Any]:
    whole = with_ratios(counts, recall_with_fd=recall_with_fd)
    return {**{key: value for key, value in whole.items() if key not in RATIOS}, "derived": {key: whole[key] for key in RATIOS}}


def non_matches(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What is wrong, one entry for each field or item; a list that one side lacks has one for each item."""
    entries = []
    for row in rows:
        if not (row.match or _is_empty(row)):
            entries += [
                {
                    "field_path": path,
                    "non_match_type": _kind(row),
                    "ground_truth_value": truth,
                    "prediction_value": found,
                    "similarity_score": row.score,
                    "reason": row.reason,
                }
                for path, truth, found in _expanded(row)
            ]
    return entries


def _is_empty(row: Row) -> bool:
    """Whether both sides have the field, and neither a value: one of them null, the other empty text."""
    return row.truth.value is None and row.found.value is None and row.truth_path is not None and row.found_path is not None


def _kind(row: Row) -> str:
    if row.truth.value is None:
        return "false_alarm"
    return "false_negative" if row.found.value is None else "false_discovery"


def _expanded(row: Row) -> list[tuple[str, Any, Any]]:
    path = row.truth_path or row.found_path or ""
    truth, found = _value(row.truth), _value(row.found)
    if isinstance(row.truth.value, list) and row.found.value is None:
        return [(f"{path}[{index}]", item, None) for index, item in enumerate(truth)]
    if isinstance(row.found.value, list) and row.truth.value is None:
        return [(f"{path}[{index}]", None, item) for index, item in enumerate(found)]
    return [(path, truth, found)]
