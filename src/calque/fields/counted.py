"""What the counts of fields count: values, and whole items and objects, so that a count can lead to exactly those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Bytes, Ints, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.presentation import pictured as columns
from calque.core.start_up import Frozen
from calque.fields.accounting.rows import OUTCOME_NAMES, OUTCOMES
from calque.fields.comparison.cells import class_of
from calque.fields.comparison.records import Outcome

if TYPE_CHECKING:
    from calque.fields.task import Fields

OF_FIELD, OF_ALL = 2, 4
"""Whether the counts of its field have a row, and whether those of the whole set have it."""
OUTSIDE = "(not in the schema)"
"""What stands for a predicted key without a field."""
DRAWN = np.array([columns.TP, columns.FP, columns.WRONG, columns.FN, columns.TP], dtype=np.uint8)
"""Outcomes of fields in the one language of outcomes: what is rightly absent is right."""


class Whole(Frozen):
    """An item or an object that counts as one, or a key that no field is for."""

    unit: int
    field: str
    """Its path, with list marks."""
    outcome: int
    path: str
    of_all: bool


def counted(task: Fields, ledger: Ledger, rows: Table, labels: Sequence[str]) -> tuple[Bytes, list[Whole]]:
    """For each drawn row which counts have it, and what they have beside the rows.

    A list counts its items and an object itself; of values each row is one. Whatever the accounting, all of it together is
    what the counts say, document by document.
    """
    names = list(ledger.names["field"])
    roots = np.isin(names, [plan.path for plan in task.plan().fields])
    place = {name: code for code, name in enumerate(names)}
    field = np.array([place.get(bare(label), -1) for label in labels], dtype=np.int64)
    keys, tallies = _tallied(ledger, len(names))
    key = _key(rows.array(UNIT).astype(np.int64), field, rows.array("outcome").astype(np.int64), len(names))
    # Of a list the items count, not the row that the list itself may have for its box.
    items = np.array([label.endswith("[]") for label in labels], dtype=np.bool_)
    taken = _first(key, ~items, keys, tallies) & (rows.array("outcome") != Outcome.TN)
    flags = np.where(taken, OF_FIELD, 0) | np.where(taken & roots[field], OF_ALL, 0)
    left = tallies - np.bincount(np.searchsorted(keys, key[taken]), minlength=len(keys))[: len(keys)]
    wholes = _wholes(ledger, names, roots, keys, left)
    return flags.astype(np.uint8), [*wholes, *_outside(ledger)]


def whole_columns(wholes: Sequence[Whole], units: int, place: Mapping[str, int]) -> dict[str, Array]:
    """What counts beside the values, by document; nothing where values are all there is."""
    if not wholes:
        return {}
    ordered = sorted(wholes, key=lambda whole: whole.unit)
    unit = np.array([whole.unit for whole in ordered])
    return {
        "whole.start": np.searchsorted(unit, np.arange(units + 1)).astype(np.uint32),
        "whole.field": columns.narrow(np.array([place[whole.field] for whole in ordered])),
        "whole.outcome": DRAWN[[whole.outcome for whole in ordered]],
        "whole.counted": np.array([OF_FIELD | (OF_ALL if whole.of_all else 0) for whole in ordered], dtype=np.uint8),
        **columns.text_columns("whole.path", Strings.pack(whole.path for whole in ordered)),
    }


def bare(path: str) -> str:
    """A path without list marks, as the schema has it."""
    return path.replace("[]", "")


def _key(unit: Ints, field: Ints, outcome: Ints, fields: int) -> Ints:
    key = (unit * fields + field) * OUTCOMES + outcome
    return np.where(field < 0, -1, key)


def _tallied(ledger: Ledger, fields: int) -> tuple[Ints, Ints]:
    """How often each outcome of each field was counted in each document, by key."""
    keys, tallies = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for table in ledger.chunks("counts"):
        unit, field = (table.array(name).astype(np.int64) for name in (UNIT, "field"))
        for outcome, name in enumerate(OUTCOME_NAMES):
            if outcome != Outcome.TN:
                there = np.flatnonzero(table.array(name))
                keys.append((unit[there] * fields + field[there]) * OUTCOMES + outcome)
                tallies.append(table.array(name)[there].astype(np.int64))
    joined = np.concatenate(keys)
    order = np.argsort(joined)
    return joined[order], np.concatenate(tallies)[order]


def _first(key: Ints, later: Any, keys: Ints, tallies: Ints) -> Any:
    """Of rows with equal keys as many as were counted."""
    order = np.lexsort((later, key))
    ranked = key[order]
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = np.arange(len(key)) - np.searchsorted(ranked, ranked)
    at = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
    return (rank < tallies[at]) & (keys[at] == key) if len(keys) else np.zeros(len(key), dtype=np.bool_)


def _wholes(ledger: Ledger, names: Sequence[str], roots: Any, keys: Ints, left: Ints) -> Iterable[Whole]:
    """Items and objects that have no row of their own, as far as possible with their paths."""
    wanted: dict[int, dict[int, dict[int, int]]] = {}
    for key, count in zip(keys[left > 0].tolist(), left[left > 0].tolist(), strict=True):
        rest, outcome = divmod(key, OUTCOMES)
        unit, field = divmod(rest, len(names))
        wanted.setdefault(unit, {}).setdefault(field, {})[outcome] = count
    rows = ledger.table("rows")
    starts = ledger.offsets("rows")
    for unit, fields in wanted.items():
        occurrences = _Occurrences(rows.cut(int(starts[unit]), int(starts[unit + 1])))
        for field, counts in fields.items():
            for outcome, label, path in occurrences.of(names[field], counts):
                yield Whole(unit, label, outcome, path, bool(roots[field]))


class _Occurrences:
    """The items and objects of one document, as the paths of its values tell of them."""

    def __init__(self, rows: Table) -> None:
        self._partner: dict[str, str] = {}
        self._scores: dict[str, list[float]] = {}
        self._alone: dict[str, None] = {}
        self._told: set[str] = set()
        told = (~rows.array("counted")).tolist(), rows.array("score").tolist()
        for truth, found, whole, score in zip(rows["truth_path"], rows["found_path"], *told, strict=True):
            mine, other = _around(truth), _around(found)
            if whole:  # a pair of items that are not the same has a row for people
                self._told.add(truth)
                mine, other = [*mine, truth], [*other, found]
            for path in mine:
                self._scores.setdefault(path, []).append(score)
            self._partner |= dict(zip(mine, other, strict=False))
            self._alone |= dict.fromkeys(other)
        for path in self._partner.values():
            self._alone.pop(path, None)

    def of(self, name: str, counts: Mapping[int, int]) -> Iterable[tuple[int, str, str]]:
        """So many outcomes of a field, each with its label and its path."""
        mine = [path for path in self._scores if bare(class_of(path)) == name]
        pairs = [path for path in mine if path in self._partner]
        # Which of several pairs are the same is decided by how alike they are: the best are.
        pairs.sort(key=lambda path: (path in self._told, -sum(self._scores[path]) / len(self._scores[path])))
        same = counts.get(Outcome.TP, 0)
        pools = {
            Outcome.TP: pairs[:same],
            Outcome.FD: pairs[same:],
            Outcome.FN: [path for path in mine if path not in self._partner],
            Outcome.FA: [path for path in self._alone if bare(class_of(path)) == name],
        }
        for outcome, count in counts.items():
            paths = pools[Outcome(outcome)][:count]
            for path in paths:
                yield outcome, class_of(path), path
            for _ in range(count - len(paths)):
                yield outcome, name, name


def _around(path: str) -> list[str]:
    """The items and objects around a value, the outermost first.

    >>> _around("items[0].box.left")
    ['items[0]', 'items[0].box']
    """
    return [path[:place] for place, character in enumerate(path) if character == "."]


def _outside(ledger: Ledger) -> Iterable[Whole]:
    """Predicted keys that the schema does not know, where those count."""
    for table in ledger.chunks("documents"):
        for unit, count in zip(table.array(UNIT).tolist(), table.array("unknown").tolist(), strict=True):
            yield from [Whole(unit, OUTSIDE, Outcome.FA, OUTSIDE, of_all=True)] * count
