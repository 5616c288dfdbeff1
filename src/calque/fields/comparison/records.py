"""The comparison of two records: every field once, as a tree of outcomes that values, boxes and confidences share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from calque.fields.comparison.cells import Accepted, Cell, Record, Unfit
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan


class Outcome(IntEnum):
    """What happened to a field or an item."""

    TP = 0
    FA = 1
    """A false alarm: only the prediction has it."""
    FD = 2
    """A false discovery: both have it, and they differ."""
    FN = 3
    TN = 4


SLACK = 1e-10
"""By how much the elements of value lists may miss their threshold."""
FAINT = 0.01
"""A pair of list items that scores less counts nothing in the score of the list."""
RIGHT = (Outcome.TP, Outcome.TN)
"""What a value that is right, or rightly absent, comes to."""


class Compared:
    """The outcome of one field in one pair of records."""

    __slots__ = ("applied", "found", "outcome", "parts", "plain", "plan", "raw", "truth")

    def __init__(
        self,
        plan: FieldPlan,
        truth: Cell,
        found: Cell,
        outcome: Outcome,
        raw: float,
        applied: float,
        plain: float,
        parts: Any = None,
    ) -> None:
        self.plan = plan
        self.truth = truth
        self.found = found
        self.outcome = outcome
        self.raw = raw
        """The similarity before any threshold."""
        self.applied = applied
        """The score that counts: the similarity, or 0 where the threshold clips it."""
        self.plain = plain
        """What it adds to the similarity of the record around it."""
        self.parts = parts
        """The fields of an object, or `Pairs` of a list, when both sides have one."""


class Pair:
    """Two items of two lists that were paired."""

    __slots__ = ("fields", "found", "matched", "score", "similarity", "truth")

    def __init__(self, truth: int, found: int, similarity: float, matched: bool, score: float, fields: list[Compared]) -> None:
        self.truth = truth
        self.found = found
        self.similarity = similarity
        self.matched = matched
        """Whether they count as the same item."""
        self.score = score
        self.fields = fields
        """For objects: their fields."""


class Pairs:
    """The items of two lists: pairs, and what is left on either side."""

    __slots__ = ("only_found", "only_truth", "pairs", "shortfall")

    def __init__(self, pairs: list[Pair], truths: int, founds: int, shortfall: float = 0.0) -> None:
        self.pairs = pairs
        self.shortfall = shortfall
        """By how much the total similarity of the pairs may be below the best possible; 0 when they are the best."""
        taken_truths, taken_founds = {pair.truth for pair in pairs}, {pair.found for pair in pairs}
        self.only_truth = [index for index in range(truths) if index not in taken_truths] if len(pairs) < truths else []
        self.only_found = [index for index in range(founds) if index not in taken_founds] if len(pairs) < founds else []


def compare_records(plan: RecordPlan, truth: Record, found: Record) -> list[Compared]:
    """The outcome of every field of two records that belong together."""
    return [_COMPARE[field.kind](field, a, b) for field, a, b in zip(plan.fields, truth.cells, found.cells, strict=True)]


def overall_score(fields: Sequence[Compared]) -> float:
    """The weighted mean of the scores that count."""
    total = weight = 0.0
    for each in fields:
        if not each.plan.ignored:
            total += each.applied * each.plan.weight
            weight += each.plan.weight
    return total / weight if weight > 0 else 0.0


def similarity(fields: Sequence[Compared]) -> float:
    """How alike two records are before any threshold: the weighted mean over fields that are not absent on both sides."""
    total = weight = 0.0
    compared = False
    for each in fields:
        if each.outcome is not Outcome.TN and not each.plan.ignored:
            compared = True
            total += each.plain * each.plan.weight
            weight += each.plan.weight
    if weight > 0:
        return total / weight
    return 0.0 if compared else 1.0


def one_sided(plan: FieldPlan, truth: Cell, found: Cell) -> Compared | None:
    """The outcome of a field that one side or both do not have, or that cannot be compared."""
    if truth.value is None:
        if found.value is None:
            return Compared(plan, truth, found, Outcome.TN, 1.0, 1.0, 1.0)
        return Compared(plan, truth, found, Outcome.FA, 0.0, 0.0, 0.0)
    if found.value is None:
        return Compared(plan, truth, found, Outcome.FN, 0.0, 0.0, 0.0)
    if type(truth.value) is Unfit or type(found.value) is Unfit:
        return Compared(plan, truth, found, Outcome.FD, 0.0, 0.0, 0.0)
    return None


def compare_leaf(plan: FieldPlan, truth: Cell, found: Cell) -> Compared:
    """The outcome of a leaf."""
    done = one_sided(plan, truth, found)
    return judged_leaf(plan, truth, found, leaf_similarity(plan, truth.value, found.value)) if done is None else done


def leaf_similarity(plan: FieldPlan, truth: Any, found: Any) -> float:
    """How alike two values are; the best of them where several are accepted."""
    if type(truth) is Accepted:
        return max(leaf_similarity(plan, value, found) for value in truth)
    if type(found) is Accepted:  # alternatives are the truth's to give: a prediction is its first value
        found = found[0]
    return plan.comparator.compare(truth, found)


def judged_leaf(plan: FieldPlan, truth: Cell, found: Cell, raw: float) -> Compared:
    """The outcome of a leaf whose similarity is known."""
    if raw >= plan.threshold:
        return Compared(plan, truth, found, Outcome.TP, raw, raw, raw)
    return Compared(plan, truth, found, Outcome.FD, raw, 0.0 if plan.clip else raw, raw)


def compare_object(plan: FieldPlan, truth: Cell, found: Cell) -> Compared:
    """The outcome of an object, by its similarity, and of its fields."""
    done = one_sided(plan, truth, found)
    if done is not None or plan.record is None:
        return done or compare_leaf(plan, truth, found)
    fields = compare_records(plan.record, _first(truth.value), _first(found.value))
    raw = similarity(fields)
    same = all_right(fields) if plan.whole else raw >= plan.threshold
    applied = raw if same or not plan.clip else 0.0
    return Compared(plan, truth, found, Outcome.TP if same else Outcome.FD, raw, applied, overall_score(fields), fields)


def all_right(fields: Sequence[Compared]) -> bool:
    """Whether every value in some fields is right, or rightly absent."""
    return all(each.plan.ignored or (each.outcome in RIGHT and _parts_right(each.parts)) for each in fields)


def _parts_right(parts: Any) -> bool:
    if not isinstance(parts, Pairs):
        return parts is None or all_right(parts)
    whole = not parts.only_truth and not parts.only_found
    return whole and all(pair.matched and all_right(pair.fields) for pair in parts.pairs)


def _first(value: Any) -> Any:
    # Alternatives are for leaves; of whole objects and lists the first counts.
    return value[0] if type(value) is Accepted else value


def compare_items(plan: FieldPlan, truth: Cell, found: Cell) -> Compared:
    """The outcome of a list of objects."""
    done = one_sided(plan, truth, found)
    if done is not None:
        return done
    from calque.fields.comparison.lists import pair_items

    truths, founds = _first(truth.value), _first(found.value)
    paired = pair_items(plan, truths, founds)
    pairs = paired.pairs
    total = sum(pair.score for pair in pairs if pair.score >= FAINT or abs(pair.score - FAINT) < SLACK)
    score = _list_score(total, len(pairs), truths, founds)
    return Compared(plan, truth, found, Outcome.TP, score, score, score, paired)


def compare_values(plan: FieldPlan, truth: Cell, found: Cell) -> Compared:
    """The outcome of a list of leaves."""
    done = one_sided(plan, truth, found)
    if done is not None:
        return done
    from calque.fields.comparison.lists import pair_values

    truths, founds = _first(truth.value), _first(found.value)
    paired = pair_values(plan, truths, founds)
    pairs = paired.pairs
    applied = _list_score(sum(pair.score for pair in pairs), len(pairs), truths, founds)
    plain = _list_score(sum(pair.similarity for pair in pairs), len(pairs), truths, founds)
    return Compared(plan, truth, found, Outcome.TP, applied, applied, plain, paired)


def _list_score(total: float, pairs: int, truths: Sequence[Any], founds: Sequence[Any]) -> float:
    return total / pairs * (pairs / max(len(truths), len(founds))) if pairs else 0.0


_COMPARE: dict[Kind, Callable[[FieldPlan, Cell, Cell], Compared]] = {
    Kind.LEAF: compare_leaf,
    Kind.OBJECT: compare_object,
    Kind.ITEMS: compare_items,
    Kind.VALUES: compare_values,
}


def compare_cells(plan: FieldPlan, truth: Cell, found: Cell) -> Compared:
    """The outcome of one field of any kind."""
    return _COMPARE[plan.kind](plan, truth, found)
