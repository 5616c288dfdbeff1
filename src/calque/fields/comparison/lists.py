"""Which item of one list goes with which of the other: similarities in bulk, one optimal assignment."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats, Ints
from calque.fields.comparison.cells import Accepted, Cell, Record, Unfit
from calque.fields.comparison.distinct_values import DistinctValues, distinct_fields, hold_what_fits, item_scores
from calque.fields.comparison.item_similarities import Column, ItemSide, similarities
from calque.fields.comparison.long_lists import LongLists, Paired, pair_long
from calque.fields.comparison.records import (
    SLACK,
    Compared,
    Pair,
    Pairs,
    compare_cells,
    compare_records,
    judged_leaf,
    leaf_similarity,
    one_sided,
    overall_score,
    similarity,
)
from calque.fields.schemas.plan import MOST_CELLS, FieldPlan, Matching, RecordPlan
from calque.geometry.rectangles import Rectangle, centre
from calque.kernels import kernels
from calque.kernels.assignment import SMALL

GRID = 1490.0 * 720_720
"""Similarities closer than one part in a billion count as equal, so that rounding does not decide and boxes may.

Shares of up to 16 equal parts are whole steps: two thirds and nothing are worth what a third and a third are.
"""

NEARNESS = 4096
"""The steps in which the nearness of boxes is told."""
MOST_ITEMS = 512
"""Longer lists are assigned one by one."""

MOST_HELD = 9_000_000
"""So many similarities (3,000 × 3,000) are held at once, where they are computed by and by."""
MOST_WORK = 40_000_000
"""So many similarities are computed, beside those of every row once, to pair a long list optimally: some seconds."""
MOST_LOOKED_UP = 400_000_000
"""The same where values are few and their similarities are known: they only have to be looked up."""

PairOf = tuple[int, int]


def pair_items(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Pairs:
    """The pairs of two lists of objects, by truth; every item of the shorter list has a partner."""
    record = plan.record
    assert record is not None  # noqa: S101  # a list of objects has a plan for them
    sizes = len(truths), len(founds)
    if plan.matching is Matching.OPTIMAL and len(truths) * len(founds) <= MOST_CELLS and _all_records(truths, founds):
        if len(truths) == len(founds) == 1:
            return Pairs([_pair(plan, 0, 0, compare_records(record, truths[0].value, founds[0].value))], *sizes)
        inside = [cell.value for cell in truths], [cell.value for cell in founds]
        return Pairs(_pair_in_bulk(plan, record, *inside, truths, founds), *sizes)
    chosen = _chosen(plan, truths, founds)
    pairs = [_pair(plan, i, j, _fields(record, truths[i].value, founds[j].value)) for i, j in chosen.pairs]
    return Pairs(pairs, *sizes, chosen.shortfall)


def _all_records(truths: Iterable[Cell], founds: Iterable[Cell]) -> bool:
    return all(type(cell.value) is Record for cell in truths) and all(type(cell.value) is Record for cell in founds)


def _pair(plan: FieldPlan, truth: int, found: int, fields: list[Compared] | None) -> Pair:
    if fields is None:
        return Pair(truth, found, 0.0, plan.match_threshold <= 0, 0.0, [])
    alike = similarity(fields)
    return Pair(truth, found, alike, alike >= plan.match_threshold, overall_score(fields), fields)


def _fields(record: RecordPlan, truth: Any, found: Any) -> list[Compared] | None:
    return compare_records(record, truth, found) if type(truth) is Record and type(found) is Record else None


def _chosen(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Paired:
    """Pairs by key, by position, or, where something is no object or the lists are long, as well as possible."""
    if plan.matching is Matching.KEY:
        return Paired(_by_key(plan, truths, founds), 0.0)
    if plan.matching is Matching.ORDERED:
        return Paired([(index, index) for index in range(min(len(truths), len(founds)))], 0.0)
    if _all_records(truths, founds):
        return _long_items(plan, truths, founds)
    fit_truths = [index for index, cell in enumerate(truths) if type(cell.value) is not Unfit]
    fit_founds = [index for index, cell in enumerate(founds) if type(cell.value) is not Unfit]
    inner = pair_items(plan, [truths[index] for index in fit_truths], [founds[index] for index in fit_founds])
    pairs = [(fit_truths[pair.truth], fit_founds[pair.found]) for pair in inner.pairs]
    return Paired(sorted(_complete(pairs, len(truths), len(founds))), inner.shortfall)


def _long_items(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Paired:
    record = plan.record
    assert record is not None  # noqa: S101  # a list of objects has a plan for them
    whole = ItemSide([cell.value for cell in truths]), ItemSide([cell.value for cell in founds])
    distinct = distinct_fields(record, *whole)
    if distinct is not None:
        known = all(values.is_held for _, values in distinct)
        return _long(plan, truths, founds, item_scores(distinct), work=MOST_LOOKED_UP if known else MOST_WORK)

    def scores(rows: Ints, columns: Ints) -> Floats:
        # A whole side comes in its order; it is compared again and again, and prepared once.
        a, b = (
            side if len(places) == len(side.items) else ItemSide([side.items[place] for place in places.tolist()])
            for side, places in zip(whole, (rows, columns), strict=True)
        )
        return similarities(record, a, b, {})

    return _long(plan, truths, founds, scores, work=MOST_WORK)


def _long_values(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Paired:
    if all(side.is_full and side.is_plain for side in (Column(truths), Column(founds))):
        distinct = DistinctValues(plan, truths, founds)
        hold_what_fits([distinct])
        work = MOST_LOOKED_UP if distinct.is_held else MOST_WORK
        return _long(plan, truths, founds, lambda rows, columns: distinct.scores(rows, columns)[0], work=work)

    def scores(rows: Ints, columns: Ints) -> Floats:
        return _value_matrix(plan, [truths[row] for row in rows.tolist()], [founds[column] for column in columns.tolist()])

    return _long(plan, truths, founds, scores, work=MOST_WORK)


def _long(
    plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell], scores: Callable[[Ints, Ints], Floats], *, work: int
) -> Paired:
    """Pairs of lists that are too long to be compared at once: all similarities by and by, or only those that matter."""
    if len(truths) * len(founds) <= MOST_HELD:
        size, every = max(1, MOST_CELLS // len(founds)), np.arange(len(founds))
        parts = [scores(np.arange(len(truths))[start : start + size], every) for start in range(0, len(truths), size)]
        rows, columns = assignment(np.concatenate(parts), truths, founds, plan.nearest)
        return Paired(list(zip(rows.tolist(), columns.tolist(), strict=True)), 0.0)

    def words() -> tuple[list[list[Hashable]], list[list[Hashable]]]:
        return [_words(plan, cell.value) for cell in truths], [_words(plan, cell.value) for cell in founds]

    same = _equal_first(plan, truths, founds)
    return pair_long(LongLists(len(truths), len(founds), scores, same, words, MOST_CELLS, work))


def _words(plan: FieldPlan, value: Any) -> list[Hashable]:
    """The values and the words of an item, each with the number of its field."""
    fields = plan.record.fields if plan.record is not None else (plan,)
    cells = value.cells if type(value) is Record else [Cell(value)]
    found: list[Hashable] = []
    for index, (field, cell) in enumerate(zip(fields, cells, strict=True)):
        if cell.value is not None:
            text = _spelled(field, cell.value).lower()
            found += [(index, text), *((index, word) for word in text.strip("'\"").split())]
    return found


def _complete(pairs: list[PairOf], truths: int, founds: int) -> list[PairOf]:
    """The pairs, and what is left on both sides in order."""
    taken_truths, taken_founds = {i for i, _ in pairs}, {j for _, j in pairs}
    rest_truths = (index for index in range(truths) if index not in taken_truths)
    rest_founds = (index for index in range(founds) if index not in taken_founds)
    return [*pairs, *zip(rest_truths, rest_founds, strict=False)]


def _equal_first(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> list[PairOf]:
    """Items that are equal for their comparators, first come first served."""
    waiting: dict[str, list[int]] = {}
    for index in range(len(founds) - 1, -1, -1):
        waiting.setdefault(_spelled(plan, founds[index].value), []).append(index)
    pairs = []
    for index, cell in enumerate(truths):
        same = waiting.get(_spelled(plan, cell.value))
        if same:
            pairs.append((index, same.pop()))
    return pairs


def _spelled(plan: FieldPlan, value: Any) -> str:
    """A text that is the same for values that are the same for their comparators."""
    if type(value) is Record and plan.record is not None:
        fields = zip(plan.record.fields, value.cells, strict=True)
        return "\x1f".join(_spelled(field, cell.value) for field, cell in fields)
    if type(value) is list:
        return "\x1e".join(_spelled(plan, cell.value) for cell in value)
    if value is None or type(value) in (Unfit, Accepted):
        return json.dumps(value.raw, sort_keys=True, default=str) if type(value) is Unfit else repr(value)
    return repr(plan.comparator.prepare(value))


def _by_key(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> list[PairOf]:
    waiting: dict[Any, list[int]] = {}
    for index in range(len(founds) - 1, -1, -1):
        waiting.setdefault(_key(plan, founds[index]), []).append(index)
    pairs = []
    for index, cell in enumerate(truths):
        key = _key(plan, cell)
        if key is not None and waiting.get(key):
            pairs.append((index, waiting[key].pop()))
    return pairs


def _key(plan: FieldPlan, cell: Cell) -> Any:
    if type(cell.value) is not Record or plan.record is None:
        return None
    field = plan.record.fields[plan.match_key]
    value = cell.value.cells[plan.match_key].value
    value = value[0] if type(value) is Accepted else value
    if value is None or isinstance(value, Unfit | Record | list | dict):
        return None
    prepared = field.comparator.prepare(value)
    return prepared if prepared.__hash__ is not None else repr(prepared)


def _pair_in_bulk(
    plan: FieldPlan,
    record: RecordPlan,
    truths: Sequence[Record],
    founds: Sequence[Record],
    truth_cells: Sequence[Cell],
    found_cells: Sequence[Cell],
) -> list[Pair]:
    leaves: dict[int, Floats] = {}
    alike = similarities(record, ItemSide(truths), ItemSide(founds), leaves)
    rows, columns = assignment(alike, truth_cells, found_cells, plan.nearest)
    chosen, partners = rows.tolist(), columns.tolist()
    by_field = []
    for index, field in enumerate(record.fields):
        a, b = [truths[i].cells[index] for i in chosen], [founds[j].cells[index] for j in partners]
        if index in leaves:
            # Leaves take the similarity that the matrix already has.
            by_field.append(_judged(field, a, b, leaves[index][rows, columns].tolist()))
        else:
            by_field.append([compare_cells(field, *cells) for cells in zip(a, b, strict=True)])
    pairs = []
    for i, j, score, *fields in zip(chosen, partners, alike[rows, columns].tolist(), *by_field, strict=True):
        pairs.append(Pair(i, j, score, score >= plan.match_threshold, overall_score(fields), fields))
    return pairs


def _judged(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell], scores: Sequence[float]) -> list[Compared]:
    return [
        one_sided(plan, truth, found) or judged_leaf(plan, truth, found, score)
        for truth, found, score in zip(truths, founds, scores, strict=True)
    ]


def pair_values(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Pairs:
    """The pairs of two lists of leaves, by truth."""
    sizes = len(truths), len(founds)
    if plan.matching is Matching.ORDERED:
        chosen = Paired([(index, index) for index in range(min(sizes))], 0.0)
    elif len(truths) * len(founds) > MOST_CELLS:
        chosen = _long_values(plan, truths, founds)
    else:
        scores = _value_matrix(plan, truths, founds)
        rows, columns = assignment(scores, truths, founds, plan.nearest)
        found = scores[rows, columns].tolist()
        return Pairs([_value_pair(plan, *pair) for pair in zip(rows.tolist(), columns.tolist(), found, strict=True)], *sizes)
    pairs = [_value_pair(plan, i, j, _value_similarity(plan, truths[i].value, founds[j].value)) for i, j in chosen.pairs]
    return Pairs(pairs, *sizes, chosen.shortfall)


def _value_similarity(plan: FieldPlan, truth: Any, found: Any) -> float:
    return 0.0 if type(truth) is Unfit or type(found) is Unfit else leaf_similarity(plan, truth, found)


def _value_pair(plan: FieldPlan, truth: int, found: int, score: float) -> Pair:
    same = score >= plan.threshold or abs(score - plan.threshold) < SLACK
    return Pair(truth, found, score, same, score if same or not plan.clip else 0.0, [])


def _value_matrix(plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> Floats:
    a, b = [cell.value for cell in truths], [cell.value for cell in founds]
    if any(value is None or type(value) in (Unfit, Accepted) for values in (a, b) for value in values):
        return np.array([[_value_similarity(plan, truth, found) for found in b] for truth in a], dtype=np.float64)
    return plan.comparator.matrix(plan.comparator.prepare_all(a), plan.comparator.prepare_all(b))


def assignment(scores: Floats, truths: Sequence[Cell], founds: Sequence[Cell], nearest: bool) -> tuple[Ints, Ints]:
    """The best pairs, by truth; of equally good ones those with the nearest box centres (if asked), then the lowest indices."""
    if not scores.size:  # all that one of the lists holds is no object
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if scores.shape[0] > scores.shape[1]:
        rows, columns = _pairs_of(scores.T, lambda: _closeness_turned(truths, founds, nearest))
        order = np.argsort(columns)
        return columns[order], rows[order]
    return _pairs_of(scores, lambda: closeness(truths, founds) if nearest else None)


def _closeness_turned(truths: Sequence[Cell], founds: Sequence[Cell], nearest: bool) -> Ints | None:
    near = closeness(truths, founds) if nearest else None
    return None if near is None else near.T


def _pairs_of(scores: Floats, closeness_of: Callable[[], Ints | None]) -> tuple[Ints, Ints]:
    """The best pairs of a matrix with at least as many columns as rows.

    Most rows have one plain best column that no other row wants. Only the others, the contested, are assigned; that is
    optimal for all as soon as giving up its best column would cost each plain row more than the contested lose.
    """
    levels = levels_of(scores)
    rows = np.arange(len(levels))
    columns: Ints = levels.argmax(axis=1).astype(np.int64)
    best = levels[rows, columns]
    gap = best - np.partition(levels, -2, axis=1)[:, -2] if levels.shape[1] > 1 else best + 1
    contested: Flags = (np.bincount(columns, minlength=levels.shape[1])[columns] > 1) | (gap == 0)
    near = closeness_of() if contested.any() else None
    while contested.any():
        free = np.flatnonzero(np.bincount(columns[~contested], minlength=levels.shape[1]) == 0)
        inside = np.ix_(contested, free)
        columns[contested] = free[_assigned(worth_of(levels[inside], None if near is None else near[inside]))]
        lost = int((best - levels[rows, columns])[contested].sum())
        tempted = ~contested & (gap <= lost)
        if not tempted.any():
            break
        contested |= tempted
        columns[contested] = levels[contested].argmax(axis=1)
    return rows, columns


def _assigned(worth: Ints) -> Ints:
    """Return the best column of each row."""
    sizes = (np.array([size], dtype=np.int64) for size in worth.shape)
    return kernels().best_partners(worth.ravel(), *sizes).astype(np.int64)


def is_short(height: int, width: int) -> bool:
    """Return whether a list is assigned together with others, in one call of the kernel."""
    return min(height, width) * height * width <= SMALL and max(height, width) <= MOST_ITEMS


def levels_of(scores: Floats) -> Ints:
    """Similarities as whole numbers: the steps of the grid."""
    if not np.isfinite(scores).all():
        raise ValueError("an assignment needs finite scores")
    return np.asarray(np.rint(np.clip(scores, 0.0, 1.0) * GRID).astype(np.int64))


def worth_of(levels: Ints, near: Ints | None) -> Ints:
    """What pairs are worth: similarity first. Nearness of all pairs together does not make up for one step of it."""
    if near is None:
        return levels
    return np.asarray(levels * (2 * NEARNESS * max(min(levels.shape), 1)) + near)


def closeness(truths: Sequence[Cell], founds: Sequence[Cell]) -> Ints | None:
    """How near the boxes of every pair are, from 0 (far, or unknown) to ``NEARNESS``; ``None`` without boxes to compare."""
    a, b = [middle(cell) for cell in truths], [middle(cell) for cell in founds]
    known_a, known_b = [place is not None for place in a], [place is not None for place in b]
    if not any(known_a) or not any(known_b):
        return None
    first = np.array([place or (math.nan, math.nan) for place in a])
    second = np.array([place or (math.nan, math.nan) for place in b])
    distance = np.hypot(*(first[:, None, :] - second[None, :, :]).transpose(2, 0, 1))
    farthest = float(np.nanmax(distance))
    if not math.isfinite(farthest):
        return None
    near = 1 - distance / farthest if farthest > 0 else np.ones_like(distance)
    return np.asarray(np.rint(np.nan_to_num(near, nan=0.0) * NEARNESS).astype(np.int64))


def middle(cell: Cell) -> tuple[float, float] | None:
    """The middle of an item: of its own box, or of the boxes of its fields."""
    boxes = [cell.box] if cell.box is not None else _boxes_in(cell.value)
    places = [centre(box) for box in boxes if not math.isnan(box[0])]
    if not places:
        return None
    return sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)


def _boxes_in(value: Any) -> list[Rectangle]:
    if type(value) is not Record:
        return []
    return [cell.box for cell in value.cells if cell.box is not None]
