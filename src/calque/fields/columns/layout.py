"""Which schemas can be compared by columns: values, objects of values and lists of such objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from calque.comparators.base import BUILT_IN, BaseComparator
from calque.fields.comparison.cells import METADATA, class_of
from calque.fields.schemas.plain_form import compile_plan
from calque.fields.schemas.plan import FieldPlan, Kind, Matching, RecordPlan

KNOWN = frozenset(("anls", "date", "exact", "fuzzy", "levenshtein", "normalized", "numeric", "phone"))
"""Comparators whose similarity depends on the two values alone: it is computed once for equal pairs."""
MOST_FIELDS = 1 << 10
"""Fields at the root of a schema: more have no place among all that is written of a batch (see `sheet.place`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The fields of a schema, in its order, each of them a column or a list of columns."""

    plan: RecordPlan
    fields: tuple[FieldPlan, ...]
    """The fields that are compared."""
    ignored: tuple[FieldPlan, ...]
    paired: bool
    """Whether boxes are counted as stickler does."""
    form: str
    """How a box is spelt."""


@lru_cache(maxsize=64)
def layout_of(schema: str, accounting: Literal["complete", "paired"], form: str) -> Layout | None:
    """The layout of a schema; nothing when it holds what columns cannot."""
    plan = compile_plan(schema, accounting)
    paired = accounting == "paired"
    if len(plan.fields) > MOST_FIELDS or not all(_fits(each, paired) for each in plan.fields):
        return None
    compared = tuple(each for each in plan.fields if not each.ignored)
    return Layout(plan, compared, tuple(each for each in plan.fields if each.ignored), paired, form)


def _fits(field: FieldPlan, paired: bool) -> bool:
    if field.default is not None or field.name != field.key or field.key in METADATA or not field.key:
        return False
    if field.ignored or field.kind is Kind.LEAF:
        return field.ignored or _is_known(field.comparator)
    if field.kind is Kind.VALUES or field.matching is not Matching.OPTIMAL or field.record is None:
        return False
    inside = f"{field.key}." if field.kind is Kind.OBJECT else f"{field.key}[0]."
    return all(
        each.kind is Kind.LEAF and not each.ignored and _fits(each, paired) and each.label == class_of(inside + each.key)
        for each in field.record.fields
    )


def _is_known(comparator: BaseComparator) -> bool:
    """Whether it is one of ours, and nobody's subclass of it."""
    kind = type(comparator)
    return comparator.name in KNOWN and (kind.__module__, kind.__qualname__) == _home(comparator.name)


def _home(name: str) -> tuple[str, str]:
    module, class_name = BUILT_IN[name]
    return f"calque.comparators.{module}", class_name
