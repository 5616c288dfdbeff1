"""What a schema becomes before any document is read: for each field all that the comparison needs, looked up once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
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


@dataclass(frozen=True, eq=False, slots=True)
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
    is_leaf: bool = field(init=False)
    python_type: Any = field(init=False)
    """What a leaf's value is in Python once it is what the schema says."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_leaf", self.kind is Kind.LEAF)
        object.__setattr__(self, "python_type", {"int": int, "float": float, "amount": float, "bool": bool}.get(self.type, str))

    @property
    def item_label(self) -> str:
        """The class of boxes that sit on whole items."""
        return f"{self.label}[]"


@dataclass(frozen=True, eq=False, slots=True)
class RecordPlan:
    """The fields of an object, in the order of the schema."""

    fields: tuple[FieldPlan, ...]
    keys: frozenset[str] = field(init=False)
    names: dict[str, str] = field(init=False)
    """For fields with an alias: their names, which serve where the alias is not there."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", frozenset(plan.key for plan in self.fields))
        aliased = {plan.name: plan.key for plan in self.fields if plan.name != plan.key and plan.name not in self.keys}
        object.__setattr__(self, "names", aliased)

    def walk(self) -> Iterator[FieldPlan]:
        """All fields below, parents before children."""
        for plan in self.fields:
            yield plan
            if plan.record is not None:
                yield from plan.record.walk()
