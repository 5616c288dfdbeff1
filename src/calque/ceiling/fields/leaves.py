"""The leaves of records: how many there are, which of the truth's a system has right, and which values agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from calque.fields.comparison.cells import Accepted, Cell, Record, Unfit
from calque.fields.comparison.records import Compared, Outcome
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan

Place = tuple[str | int, ...]
"""Where a leaf stands in its record: keys, and positions in lists."""


class Leaf(NamedTuple):
    """A value of a record that the schema declares."""

    place: Place
    plan: FieldPlan
    value: Any
    in_list: bool

    @property
    def path(self) -> str:
        """Its class: positions in lists do not count."""
        return self.plan.item_label if self.plan.kind is Kind.VALUES else self.plan.label


def leaves(plan: RecordPlan, record: Record) -> Iterator[Leaf]:
    """All that a record holds and that is not null."""
    for field, cell in zip(plan.fields, record.cells, strict=True):
        if not field.ignored:
            yield from of_cell(field, cell, (field.key,), in_list=False)


def of_cell(plan: FieldPlan, cell: Cell, place: Place, *, in_list: bool) -> Iterator[Leaf]:
    """The leaves at one place; something that the schema does not expect there counts as one."""
    value = _first(cell.value)
    if value is None:
        return
    if type(value) is Record and plan.record is not None:
        for field, part in zip(plan.record.fields, value.cells, strict=True):
            if not field.ignored:
                yield from of_cell(field, part, (*place, field.key), in_list=in_list)
    elif type(value) is list and all(isinstance(item, Cell) for item in value):  # else it is a value of any shape
        for index, item in enumerate(value):
            yield from of_cell(plan, item, (*place, index), in_list=True)
    else:
        yield Leaf(place, plan, value, in_list)


def _first(value: Any) -> Any:
    return value[0] if type(value) is Accepted else value


class Met(NamedTuple):
    """A leaf of the truth, or one that it lacks, that a system's record is aligned with."""

    place: Place
    plan: FieldPlan
    truth: Any
    found: Any
    right: bool


def met(fields: Sequence[Compared], above: Place = ()) -> Iterator[Met]:
    """The leaves of two records that were compared: of fields and objects by their place, of list items as they are aligned."""
    for each in fields:
        plan, place = each.plan, (*above, each.plan.key)
        if plan.ignored:
            continue
        if plan.is_leaf:
            yield Met(place, plan, _first(each.truth.value), _first(each.found.value), each.outcome is Outcome.TP)
        elif plan.kind is Kind.OBJECT:
            yield from met(each.parts, place) if each.parts is not None else _one_sided(plan, each, place)
        elif each.parts is not None:
            yield from _of_list(each, place)


def _one_sided(plan: FieldPlan, each: Compared, place: Place) -> Iterator[Met]:
    """An object that one side lacks: its leaves meet nothing there."""
    for cell, in_truth in ((each.truth, True), (each.found, False)):
        for leaf in of_cell(plan, cell, place, in_list=False):
            if not leaf.in_list and leaf.plan.is_leaf:
                truth, found = (leaf.value, None) if in_truth else (None, leaf.value)
                yield Met(leaf.place, leaf.plan, truth, found, False)


def _of_list(each: Compared, place: Place) -> Iterator[Met]:
    truths, founds = _first(each.truth.value), _first(each.found.value)
    for pair in each.parts.pairs:
        if not pair.matched:
            continue
        if each.plan.kind is Kind.VALUES:
            values = _first(truths[pair.truth].value), _first(founds[pair.found].value)
            yield Met((*place, pair.truth), each.plan, *values, True)
        else:
            yield from met(pair.fields, (*place, pair.truth))


def groups(plan: FieldPlan, values: Sequence[Any]) -> list[int]:
    """Which values are the same after the comparator's normalisation: equal ones have equal numbers, and nothing has 0.

    >>> from calque.fields.schemas.plain_form import compile_plan
    >>> name = '{"type": "str", "comparator": "levenshtein", "threshold": 0.9, "weight": 1.0}'
    >>> plan = compile_plan(f'{{"fields": {{"name": {name}}}}}', "complete").fields[0]
    >>> groups(plan, ["Acme  Ltd", None, "acme ltd", "Orbis"])
    [1, 0, 1, 2]
    """
    known: list[Any] = []
    numbers = []
    for value in values:
        if value is None:
            numbers.append(0)
            continue
        key = _normalized(plan, value)
        place = next((place for place, other in enumerate(known) if _same(key, other)), len(known))
        if place == len(known):
            known.append(key)
        numbers.append(place + 1)
    return numbers


def _normalized(plan: FieldPlan, value: Any) -> Any:
    """What the comparator sees of a value; what it sees nothing of is itself."""
    if type(value) is Unfit:
        return "unfit", repr(value.raw)
    prepared = plan.comparator.prepare(value)
    return ("raw", str(value)) if prepared is None else prepared


def _same(one: Any, other: Any) -> bool:
    return (type(one) is tuple is type(other) and one == other) or (
        type(one) is not tuple and type(other) is not tuple and bool(one == other)
    )
