"""Votes on records: each leaf gets the value that most systems give; a list is that of the best system, leaf by leaf."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array
from calque.ceiling.fields.leaves import groups, met, of_cell
from calque.fields.comparison.cells import ABSENT, Cell, Record
from calque.fields.comparison.lists import pair_items
from calque.fields.comparison.records import compare_cells
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan

if TYPE_CHECKING:
    from calque.ceiling.units import Level

Ranking = Sequence[int]


class Unranked(Exception):
    """A vote is even between groups without the best system: only the ranking of all documents decides it."""


class ListVotes:
    """Votes on the lists of one document."""

    def __init__(self, plan: RecordPlan, truth: Record, systems: Sequence[Record], ranking: Ranking | None) -> None:
        self._plan, self._truth, self._systems = plan, truth, systems
        self._ranking = ranking
        """The systems, the best first; nothing while nobody knows it."""

    def counted(self, base: int) -> tuple[int, int]:
        """What is right and what is found in the lists of one system, when the others vote on their leaves."""
        right = found = 0
        for plan, truth, lists in _lists(self._plan, self._truth, self._systems):
            voted = self._voted(plan, dict(enumerate(lists)), base)
            found += sum(1 for _ in of_cell(plan, voted, (), in_list=True))
            right += sum(each.right and each.truth is not None for each in met([compare_cells(plan, truth, voted)]))
        return right, found

    def _voted(self, plan: FieldPlan, lists: dict[int, Cell], base: int) -> Cell:
        """The list of one system; its items' leaves are voted by it and by the systems whose items align with them.

        Lists in its items are lists of whose items' leaves the same is true.
        """
        own = lists[base]
        if plan.kind is not Kind.ITEMS or type(own.value) is not list or not own.value:
            return own
        partners: list[dict[int, Cell]] = [{base: item} for item in own.value]
        for system, other in lists.items():
            if system != base and type(other.value) is list and other.value:
                for pair in pair_items(plan, own.value, other.value).pairs:
                    if pair.matched:
                        partners[pair.truth][system] = other.value[pair.found]
        return Cell([self._item(plan, voters, base) for voters in partners])

    def _item(self, plan: FieldPlan, voters: dict[int, Cell], base: int) -> Cell:
        own = voters[base]
        if type(own.value) is not Record or plan.record is None:
            return own
        records = {system: cell.value for system, cell in voters.items() if type(cell.value) is Record}
        return Cell(self._record(plan.record, records, base))

    def _record(self, plan: RecordPlan, voters: dict[int, Record], base: int) -> Record:
        cells = []
        for place, field in enumerate(plan.fields):
            parts = {system: record.cells[place] for system, record in voters.items()}
            if field.is_leaf and not field.ignored:
                cells.append(parts[self._winner(field, parts, base)])
            elif field.kind is Kind.OBJECT and field.record is not None and not field.ignored:
                inner = field.record  # who has no such object has none of its values, and votes so
                cells.append(Cell(self._record(inner, {system: _inside(inner, cell) for system, cell in parts.items()}, base)))
            else:
                cells.append(parts[base] if field.ignored else self._voted(field, parts, base))
        return Record(cells, 0)

    def _winner(self, plan: FieldPlan, parts: dict[int, Cell], base: int) -> int:
        """The best-ranked system of the largest group of equal values."""
        systems = list(parts)
        numbers = groups(plan, [parts[system].value for system in systems])
        size = {system: numbers.count(number) for system, number in zip(systems, numbers, strict=True)}
        most = max(size.values())
        if size[base] == most:
            return base
        leading = [system for system in systems if size[system] == most]
        if self._ranking is not None:
            return min(leading, key=self._ranking.index)
        if len(leading) > most:  # more than one group
            raise Unranked
        return leading[0]


def _lists(plan: RecordPlan, truth: Record, systems: Sequence[Record]) -> Iterator[tuple[FieldPlan, Cell, list[Cell]]]:
    """Every list of a record that stands in no other list: the truth's and the systems'."""
    for place, field in enumerate(plan.fields):
        if field.ignored or field.is_leaf:
            continue
        own, others = truth.cells[place], [record.cells[place] for record in systems]
        if field.kind is Kind.OBJECT and field.record is not None:
            inner = [_inside(field.record, cell) for cell in (own, *others)]
            yield from _lists(field.record, inner[0], inner[1:])
        else:
            yield field, own, others


def _inside(plan: RecordPlan, cell: Cell) -> Record:
    return cell.value if type(cell.value) is Record else Record([ABSENT] * len(plan.fields), 0)


def votes(level: Level, ranking: Ranking) -> dict[str, Any]:
    """What the majority finds, and how often so many systems that agree are right."""
    from calque.ceiling.numbers import counts_with_ratios

    base = ranking[0]
    right, said, votes_for = _leaf_votes(level, ranking)
    lists = level.ledger.table("lists")
    tied_right, tied_found = _tied(level, ranking)
    whole = (
        int(right.sum()) + int(lists.array("right")[:, base].sum()) + tied_right,
        int(said.sum()) + int(lists.array("found")[:, base].sum()) + tied_found,
    )
    return {
        "votes": {"majority": counts_with_ratios(*whole, level.truths)},
        "agreement": {
            str(wanted): {
                "n": int(np.count_nonzero(said & (votes_for == wanted))),
                "right": int(np.count_nonzero(right & (votes_for == wanted))),
            }
            for wanted in range(1, level.systems + 1)
        },
    }


def _leaf_votes(level: Level, ranking: Ranking) -> tuple[Array, Array, Array]:
    """Of each leaf outside of lists whether the voted value is right, whether there is one, and how many voted for it."""
    leaves = level.ledger.table("leaves")
    numbers, hits = leaves.array("groups"), leaves.array("hits")
    size = (numbers[:, :, None] == numbers[:, None, :]).sum(axis=2)
    most = size.max(axis=1, initial=0)
    order = np.array(ranking)
    winner = order[np.argmax(size[:, order] == most[:, None], axis=1)] if len(size) else np.zeros(0, np.int64)
    said = numbers[np.arange(len(size)), winner] > 0
    return said & ((hits >> winner & 1) > 0), said, most


def _tied(level: Level, ranking: Ranking) -> tuple[int, int]:
    """The lists whose votes only the ranking decides."""
    from calque.ceiling.fields.scoring import side_of

    table = level.ledger.table("tied")
    plan = level.task.fields().plan()
    right = found = 0
    for base, text in zip(table.array("base").tolist(), table["records"], strict=True):
        if base == ranking[0]:
            sides = [side_of(plan, record) for record in json.loads(text)]
            more = ListVotes(plan, sides[0], sides[1:], ranking).counted(base)
            right, found = right + more[0], found + more[1]
    return right, found
