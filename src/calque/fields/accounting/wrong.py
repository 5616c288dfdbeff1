"""The values of a document that are not right: missing, invented or wrong, each with its partner; for both accountings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from calque.fields.accounting.rows import told_value
from calque.fields.comparison.cells import ABSENT, Cell, Record
from calque.fields.comparison.records import RIGHT, Compared, Outcome, Pair
from calque.fields.schemas.plan import FieldPlan, Kind

CLOSE = 0.75
"""From which similarity of its text on a wrong value is close: a slip, and not another value."""
LONGEST = 200
"""So many characters of a value are kept to be shown."""


class Wrong(NamedTuple):
    """One value that is not right."""

    field: int
    """The number of its field in the plan."""
    outcome: Outcome
    close: bool
    truth_path: str
    found_path: str
    truth: str
    """The value as people read it; empty when it is missing."""
    found: str


def wrong_values(fields: Sequence[Compared]) -> list[Wrong]:
    """All of them, in the order of the schema."""
    listed: list[Wrong] = []
    _fields(listed, fields, "", "")
    return listed


def _fields(listed: list[Wrong], fields: Sequence[Compared], truth_prefix: str, found_prefix: str) -> None:
    for each in fields:
        plan = each.plan
        if plan.ignored or (each.outcome in RIGHT and (plan.is_leaf or each.parts is None)):
            continue
        paths = truth_prefix + plan.step, found_prefix + plan.step
        if plan.is_leaf:
            listed.append(_wrong(plan, each.outcome, *paths, each.truth, each.found))
        elif each.parts is None:
            before = len(listed)
            _alone(listed, plan, each.truth, paths[0], missed=True)
            _alone(listed, plan, each.found, paths[1], missed=False)
            if len(listed) == before or each.outcome is Outcome.FD:
                listed.append(_wrong(plan, each.outcome, *paths, each.truth, each.found))
        elif plan.kind is Kind.OBJECT:
            _fields(listed, each.parts, paths[0] + ".", paths[1] + ".")
        else:
            _items(listed, each, *paths)


def _items(listed: list[Wrong], each: Compared, truth_path: str, found_path: str) -> None:
    plan, truths, founds = each.plan, each.truth.value, each.found.value
    for pair in each.parts.pairs:
        if not (pair.matched and _all_right(pair)):
            at = f"{truth_path}[{pair.truth}]", f"{found_path}[{pair.found}]"
            before = len(listed)
            _fields(listed, pair.fields, at[0] + ".", at[1] + ".")
            if len(listed) == before and not pair.matched:
                listed.append(_wrong(plan, Outcome.FD, *at, truths[pair.truth], founds[pair.found]))
    for index in each.parts.only_truth:
        _item(listed, plan, truths[index], f"{truth_path}[{index}]", missed=True)
    for index in each.parts.only_found:
        _item(listed, plan, founds[index], f"{found_path}[{index}]", missed=False)


def _all_right(pair: Pair) -> bool:
    return all(each.outcome in RIGHT and each.parts is None for each in pair.fields)


def _alone(listed: list[Wrong], plan: FieldPlan, cell: Cell, path: str, *, missed: bool) -> None:
    """What an object or a list without partner holds."""
    if type(cell.value) is list:
        for index, item in enumerate(cell.value):
            _item(listed, plan, item, f"{path}[{index}]", missed=missed)
    elif type(cell.value) is Record:
        _values(listed, plan, cell.value, path, missed=missed)


def _item(listed: list[Wrong], plan: FieldPlan, item: Cell, path: str, *, missed: bool) -> None:
    before = len(listed)
    if type(item.value) is Record:
        _values(listed, plan, item.value, path, missed=missed)
    if len(listed) == before:
        listed.append(_one_side(plan, item, path, missed=missed))


def _values(listed: list[Wrong], plan: FieldPlan, record: Record, path: str, *, missed: bool) -> None:
    for field, part in zip(plan.record.fields if plan.record is not None else (), record.cells, strict=True):
        if part.value is None or field.ignored:
            continue
        below = f"{path}.{field.step}"
        if field.is_leaf:
            listed.append(_one_side(field, part, below, missed=missed))
        else:
            _alone(listed, field, part, below, missed=missed)


def _one_side(plan: FieldPlan, cell: Cell, path: str, *, missed: bool) -> Wrong:
    if missed:
        return _wrong(plan, Outcome.FN, path, "", cell, ABSENT)
    return _wrong(plan, Outcome.FA, "", path, ABSENT, cell)


def _wrong(plan: FieldPlan, outcome: Outcome, truth_path: str, found_path: str, truth: Cell, found: Cell) -> Wrong:
    texts = shown(truth), shown(found)
    close = outcome is Outcome.FD and _similarity(*texts) >= CLOSE
    return Wrong(plan.code, outcome, close, truth_path, found_path, texts[0][:LONGEST], texts[1][:LONGEST])


def _similarity(truth: str, found: str) -> float:
    if CLOSE * max(len(truth), len(found)) > min(len(truth), len(found)):
        return 0.0
    from rapidfuzz.distance.Levenshtein import normalized_similarity

    return normalized_similarity(truth[:LONGEST].casefold(), found[:LONGEST].casefold())


def shown(cell: Cell) -> str:
    """A cell's value as people read it: texts as they are, anything else as JSON."""
    value = cell.value
    if value is None or type(value) is str:
        return value or ""
    if type(value) in (int, float):
        return repr(value)
    value = told_value(cell)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
