"""What a task must tell of itself to be tried by every law: how its documents look and how to change them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from calque import Corpus, Evaluator, Result, Task
from calque.base.columns import Strings
from calque.corpus.boxes import UnitId


@dataclass(frozen=True)
class Document:
    """One document: what is true of it and what was found in it. Items are whatever the task's corpora are made of."""

    unit: UnitId
    expected: tuple[Any, ...]
    found: tuple[Any, ...]

    def renamed(self, unit: UnitId) -> Document:
        return replace(self, unit=unit)


@dataclass(frozen=True)
class Subject:
    """A row of the table: a task, and how to make and change its documents. ``None``: the law has no meaning for it."""

    name: str
    task: Task
    documents: st.SearchStrategy[list[Document]]
    """At least one document, units distinct."""
    corpora: Callable[[Sequence[Document]], tuple[Corpus, Corpus]]
    perfect: Callable[[Document], Document] | None = None
    """The document with what is true found exactly."""
    ones: tuple[str, ...] = ()
    """Measures that are 1 for a perfect prediction, wherever they are defined."""
    stray: Callable[[Document], Document] | None = None
    """The document with one more found item, which overlaps nothing that is true."""
    precision: tuple[str, ...] = ()
    """Measures that a stray item never raises."""
    recall: tuple[str, ...] = ()
    """Measures that removing a found item never raises."""
    shufflable: Callable[[Document], bool] | None = None
    """Whether no rule for ties looks at the order of the document's items."""
    scaled: Callable[[Document, float], Document] | None = None
    """The document in other units."""
    in_units: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """(table, column) pairs of the ledger that follow the units, such as boxes and what is small."""
    unitless: Callable[[Mapping[str, Any]], Any] = dict
    """The numbers that no unit changes."""
    at: Callable[[tuple[float, ...]], Task] | None = None
    """The task at other thresholds; one that has a single threshold takes the first."""
    numbers_at: Callable[[Result, float], Any] = lambda result, threshold: result.numbers["metrics"][repr(threshold)]
    """The numbers of a result at one of its thresholds."""

    by_name: frozenset[str] = field(default_factory=frozenset)
    """Keys of numbers that depend on what documents are called."""
    rungs: Callable[[Result], list[list[float | None]]] | None = None
    """Chains of numbers of which none is above the next."""
    of_these: Callable[[Subject, Sequence[Document], Sequence[int]], Result] | None = None
    """The result of some of several systems, in an order."""
    ceilings: Callable[[Result], Mapping[str, float | None]] = lambda result: {}
    """What a further system never lowers."""

    def evaluator(self, documents: Sequence[Document], task: Task | None = None) -> Evaluator:
        """An evaluator that has seen these documents in one update."""
        return Evaluator(task or self.task).update(*self.corpora(documents))

    def result(self, documents: Sequence[Document], task: Task | None = None) -> Result:
        """The result of these documents in one pass."""
        return self.evaluator(documents, task).compute()


def bits(result: Result, *, units: bool = True, but: frozenset[str] = frozenset()) -> Hashable:
    """Everything that a result is made of, so that equal means equal to the last bit; numbers under some keys left out."""
    ledger = result.ledger
    numbers = repr(result.numbers), repr(dict(result.undefined))
    if not units:
        place = {name: f"document {number}" for number, unit in enumerate(ledger.units) for name in (unit, str(unit))}
        reasons = sorted(why for path, why in result.undefined.items() if path.rpartition(".")[2] not in but)
        numbers = repr(_renamed(result.numbers, place, but)), repr(reasons)
    return (ledger.units if units else len(ledger.units)), tuple(sorted(ledger.names.items())), ledger_bits(result), numbers


def _renamed(tree: Any, names: Mapping[UnitId, str], but: frozenset[str]) -> Any:
    """The tree with documents called by their place wherever numbers are given for each of them."""
    if isinstance(tree, list):
        return [_renamed(item, names, but) for item in tree]
    if not isinstance(tree, Mapping):
        return tree
    return {
        names.get(key, key): names[value]
        if key == "document" and not isinstance(value, Mapping)
        else _renamed(value, names, but)
        for key, value in tree.items()
        if key not in but
    }


def ledger_bits(result: Result, *, but: frozenset[tuple[str, str]] = frozenset()) -> Hashable:
    """The columns of a result's ledger to the last bit, some left out."""
    return tuple(
        (name, key, _column_bits(column))
        for name, table in sorted(result.ledger.tables.items())
        for key, column in sorted(table.columns.items())
        if (name, key) not in but
    )


def _column_bits(column: Any) -> Hashable:
    if isinstance(column, Strings):
        return tuple(column)
    return column.dtype.str, column.shape, column.tobytes()
