"""What a schema becomes before any document is read: for each field all that the comparison needs, looked up once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from calque.comparators.base import BaseComparator

MOST_CELLS = 4_000_000
"""Up to this many similarities (2,000 × 2,000) are in memory at once; longer lists are compared block by block."""


class Kind(StrEnum):
    """The shapes that a field can have."""

    LEAF = "leaf"
    OBJECT = "object"
    ITEMS = "items"
    """A list of objects."""
    VALUES = "values"
    """A list of leaves."""


class Matching(StrEnum):
    """How the items of two lists are paired."""

    OPTIMAL = "optimal"
    ORDERED = "ordered"
    KEY = "key"


def spelled(name: str) -> str:
    """Return a name as it is written in paths: an empty one in quotes."""
    return name or '""'


@dataclass(frozen=True, eq=False)
class FieldPlan:
    """One field: where it is, what it holds and how it is compared."""

    name: str
    key: str
    """Its name in the JSON."""
    path: str
    """Where its counts are reported: ``line_items.amount``."""
    label: str
    """The class of its boxes: ``line_items[].amount``."""
    code: int
    """Its number among all fields of the schema."""
    kind: Kind
    type: str
    """What a leaf holds, or the leaves of a list: one of the leaf types."""
    comparator: BaseComparator
    threshold: float
    weight: float
    clip: bool
    """Whether a score below the threshold counts 0."""
    ignored: bool = False
    match_threshold: float = 0.7
    matching: Matching = Matching.OPTIMAL
    match_key: int = -1
    """The field of an item that identifies it, when items are paired by key."""
    nearest: bool = True
    """Whether boxes decide between equally good pairings of list items."""
    record: RecordPlan | None = None
    """The fields of an object, or of each item of a list."""
    default: Any = None
    """What stands for a field that is not there: JSON."""
    whole: bool = False
    """Whether an object is right only when all of it is."""

    @property
    def step(self) -> str:
        """Its name in the JSON, as paths write it."""
        return spelled(self.key)

    @cached_property
    def is_leaf(self) -> bool:
        """Whether it holds one value."""
        return self.kind is Kind.LEAF

    @cached_property
    def python_type(self) -> Any:
        """What a leaf's value is in Python once it is what the schema says."""
        return {"int": int, "float": float, "amount": float, "bool": bool}.get(self.type, str)

    @property
    def item_label(self) -> str:
        """The class of boxes that sit on whole items."""
        return f"{self.label}[]"


@dataclass(frozen=True, eq=False)
class RecordPlan:
    """The fields of an object, in the order of the schema."""

    fields: tuple[FieldPlan, ...]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Their names in the JSON."""
        return frozenset(plan.key for plan in self.fields)

    @cached_property
    def names(self) -> dict[str, str]:
        """For fields with an alias: their names, which serve where the alias is not there."""
        return {plan.name: plan.key for plan in self.fields if plan.name != plan.key and plan.name not in self.keys}

    def walk(self) -> Iterator[FieldPlan]:
        """All fields below, parents before children."""
        for plan in self.fields:
            yield plan
            if plan.record is not None:
                yield from plan.record.walk()
