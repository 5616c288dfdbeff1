"""Slices: the metrics of the documents that share a value, such as a language, for every task (``--by``, ``--metadata``).

While documents are scored, `with_slice_values` stores the value of each document in a table of the ledger. `measure_slices`
splits the ledger by these values and measures each part as its task measures any ledger. The `SliceView` of a task declares
which numbers a slice has, and which of them its table shows.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calque.base.errors import ConfigError, Issue, Severity, did_you_mean
from calque.corpus.records import RecordCorpus
from calque.evaluation.presentation.result_schema import COUNT, MEASURE, Schema, map_of, object_of, perhaps
from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.corpus.boxes import Corpus, UnitId
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.task import Task

TABLE = "slices"
"""The table of a ledger with the values of its documents, and the key of slices in the JSON."""
NO_VALUE = "no slice has a value"


class SeenMetadata:
    """The columns of ``--by`` and the documents of the metadata file that an update has seen."""

    def __init__(self, task: Task) -> None:
        self._by = task.by
        self._path, file = _metadata(task.metadata if task.by else "")
        self._unseen = {document for values in file.values() for document in values}
        self._columns = set(file)

    def observe(self, *sides: Corpus) -> None:
        """Remember the documents and the columns of some corpora."""
        for side in _single_corpora(sides) if self._by else ():
            self._observe_documents(side.units())
            self._columns.update(_own_columns(side))

    def observe_ledger(self, ledger: Ledger) -> None:
        """Remember the documents of a ledger. One that has values was checked when it got them."""
        if TABLE in ledger.tables:
            self._columns.update(self._by)
            self._unseen.clear()
        self._observe_documents(ledger.units)

    def _observe_documents(self, documents: Iterable[UnitId]) -> None:
        if self._unseen:
            self._unseen.difference_update(map(str, documents))

    def finish(self) -> tuple[Issue, ...]:
        """Return a note about documents that only the metadata file has.

        Raises:
            ConfigError: No document has one of the columns.
        """
        known = sorted(self._columns)
        for column in self._by:
            if column not in self._columns:
                listed = f"the columns are {', '.join(known)}" if known else "there is no metadata: give --metadata FILE.csv"
                where = f"{self._path}: " if self._path else ""
                raise ConfigError(f"{where}no document has {column!r}; {did_you_mean(column, known) or listed}")
        if not self._unseen:
            return ()
        count, first = len(self._unseen), min(self._unseen)
        text = f"{count:,} document{'s' if count > 1 else ''} that neither side has, such as {first!r}"
        return (Issue("metadata-unknown", text, self._path, severity=Severity.NOTE),)


def with_slice_values(task: Task, ledger: Ledger, *sides: Corpus) -> Ledger:
    """Return the ledger with the value of each document in each column of ``--by``; a ledger that has values stays as it is.

    A column of the metadata file replaces a column of that name in the data. In the data, a value of the ground truth goes
    before that of the predictions.
    """
    if not task.by or TABLE in ledger.tables:
        return ledger
    import numpy as np

    from calque.base.columns import Column, Strings, Table
    from calque.evaluation.ledger import UNIT

    _, file = _metadata(task.metadata)
    columns: dict[str, Column] = {UNIT: np.arange(len(ledger.units), dtype=np.int32)}
    for column in task.by:
        if column in file:
            values = file[column]
            columns[_column(column)] = Strings.pack(values.get(str(unit), "") for unit in ledger.units)
            continue
        own: dict[UnitId, Any] = {}
        for side in reversed([*_single_corpora(sides)]):
            own.update(_own_values(side, column))
        columns[_column(column)] = Strings.pack(value_text(own.get(unit)) for unit in ledger.units)
    return replace(ledger, tables={**ledger.tables, TABLE: Table(columns)})


@functools.lru_cache(maxsize=2)  # each batch of documents needs the same file
def _metadata(text: str) -> tuple[str, Mapping[str, Mapping[str, str]]]:
    """Return the name and the columns of a metadata file, from the text that a task keeps of it."""
    content: dict[str, Any] = json.loads(text) if text else {"file": "", "columns": {}}
    return content["file"], content["columns"]


def _single_corpora(sides: Iterable[Corpus]) -> Iterator[Corpus]:
    """Yield the ground truth and the predictions, of which there may be several systems."""
    for side in sides:
        yield from getattr(side, "parts", (side,))


def _own_columns(side: Corpus) -> Iterable[str]:
    """Return the columns of metadata in a corpus; those of records are their keys."""
    if not isinstance(side, RecordCorpus):
        return getattr(side, "metadata", {})
    return {str(key) for _, record in _records(side) for key in record}


def _own_values(side: Corpus, column: str) -> Mapping[UnitId, Any]:
    """Return the values of a column in a corpus; those of records are plain values under a key."""
    if not isinstance(side, RecordCorpus):
        found: Mapping[UnitId, Any] = getattr(side, "metadata", {}).get(column, {})
        return found
    return {unit: value for unit, record in _records(side) if isinstance(value := record.get(column), str | int | float)}


def _records(side: RecordCorpus) -> Iterator[tuple[UnitId, dict[str, Any]]]:
    for position, unit in enumerate(side.documents):
        record = side.record(position)
        if isinstance(record, dict):
            yield unit, record


def _column(column: str) -> str:
    return f"by.{column}"


def value_text(value: Any) -> str:
    """Return a value as the name of a slice; empty if there is no value.

    >>> value_text("news"), value_text(2020.0), value_text(True), value_text(None)
    ('news', '2020', 'true', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def document_values(ledger: Ledger, column: str) -> list[str] | None:
    """Return the value of each document; ``None`` if some documents were scored without this column."""
    from calque.base.columns import Strings

    texts = [""] * len(ledger.units)
    for piece in ledger.pieces():
        table = piece.ledger.tables.get(TABLE)
        values = None if table is None else table.get(_column(column))
        if not isinstance(values, Strings):
            return None
        for place, text in zip(piece.places.tolist(), values, strict=True):
            texts[place] = sys.intern(text)
    return texts


class SliceView:
    """Which numbers of a task a slice has, and which metrics its table shows and averages.

    Args:
        keys: The parts of the numbers that each slice has. By default all metrics at the top.
        averaged: The keys that lead to the metrics of the table.
        titles: The titles of the metrics of the table by their names; metrics that a result does not have are left out.
        counts: The titles of counts of each slice by their names.
    """

    notes: Sequence[str] = ()
    """What to print below the table."""

    def __init__(
        self,
        keys: Sequence[str] = (),
        averaged: Sequence[str] = (),
        titles: Mapping[str, str] | None = None,
        counts: Mapping[str, str] | None = None,
    ) -> None:
        self.keys = keys
        self._averaged = averaged
        self._titles = titles or {}
        self._counts = {"documents": "documents", **(counts or {})}

    def measure(self, task: Task, ledger: Ledger) -> Mapping[str, Any]:
        """Return the numbers of the documents of a slice."""
        return task.measure(ledger)

    def block(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of the numbers that a slice has."""
        if self.keys:
            return {key: numbers[key] for key in self.keys if key in numbers}
        return {key: value for key, value in numbers.items() if not isinstance(value, Mapping | list)}

    def averaged(self, block: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the metrics of a slice that are shown and averaged, perhaps as a tree."""
        for key in self._averaged:
            block = block[key]
        shown = self._titles or block.keys() - self._counts.keys()
        return {name: value for name, value in block.items() if name in shown}

    def cells(self, averaged: Mapping[str, Any]) -> Sequence[Any]:
        """Return the cells of the table for metrics that `averaged` returned, or for their means."""
        return list(averaged.values())

    def head(self, averaged: Mapping[str, Any]) -> Sequence[str]:
        """Return the titles of the cells."""
        return [self._titles.get(name, name) for name in averaged]

    def title(self, column: str, averaged: Mapping[str, Any]) -> str:  # noqa: ARG002  # some name a threshold
        """Return the title of the table."""
        return f"By {column}"

    def by_column(self, task: Task, ledger: Ledger, texts: Sequence[str]) -> dict[str, Any]:
        """Return the numbers of each value, their mean over the values, and those of documents without a value."""
        import numpy as np

        known = sorted({*texts} - {""})
        code = {value: position for position, value in enumerate([*known, ""])}
        parts = ledger.split(np.array([code[text] for text in texts], dtype=np.int64), len(code))
        blocks = [self._block(task, part) for part in parts]
        without = blocks.pop()
        return {
            "values": dict(zip(known, blocks, strict=True)),
            "macro_slices": _means([self.averaged(block) for block in blocks], self.averaged(without)),
            "without_value": without if without["documents"] else None,
        }

    def _block(self, task: Task, ledger: Ledger) -> dict[str, Any]:
        return {"documents": len(ledger.units), **self.block(self.measure(task, ledger))}

    def sections(self, numbers: Mapping[str, Any]) -> list[Section]:
        """Return one table for each column."""
        return [self._section(column, tree) for column, tree in _columns_of(numbers)]

    def _section(self, column: str, tree: Mapping[str, Any]) -> Section:
        means, rest = tree["macro_slices"], tree["without_value"]
        rows = [self._row(value, block) for value, block in tree["values"].items()]
        rows.append(("mean of slices", *("" for _ in self._counts), *self.cells(means)))
        if rest is not None:
            rows.append(self._row("(no value)", rest))
        return Section(
            title=self.title(column, means),
            head=(column, *self._counts.values(), *self.head(means)),
            rows=rows,
            notes=self.notes,
            rule_before=len(tree["values"]),
        )

    def _row(self, name: str, block: Mapping[str, Any]) -> Sequence[Any]:
        return (name, *(block[count] for count in self._counts), *self.cells(self.averaged(block)))

    def rows(self, numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one row of a spreadsheet for each value of each column."""
        return [
            {"scope": column, "part": value, **self.averaged(block)}
            for column, tree in _columns_of(numbers)
            for value, block in tree["values"].items()
        ]

    def added_to(self, schema: Schema) -> Schema:
        """Return the JSON Schema of a result with slices."""
        properties = schema["properties"]
        return {**schema, "properties": {**properties, **self.schema(properties)}}

    def schema(self, numbers: Mapping[str, Schema]) -> dict[str, Schema]:
        """Return the JSON Schema of slices under their key, from that of the numbers of the task."""
        return slices_schema({key: numbers[key] for key in self.keys}, map_of(MEASURE))


def slices_schema(block: Mapping[str, Schema], means: Schema) -> dict[str, Schema]:
    """Return the JSON Schema of slices under their key."""
    one = object_of({"documents": COUNT, **block})
    column = object_of({"values": map_of(one), "macro_slices": means, "without_value": perhaps(one)})
    return {TABLE: map_of(perhaps(column))}


def _columns_of(numbers: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(column, tree) for column, tree in (numbers.get(TABLE) or {}).items() if isinstance(tree, Mapping)]


def _means(trees: Sequence[Mapping[str, Any]], like: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mean of each number over slices. Every slice weighs the same; one without a value does not count."""
    from calque.evaluation.measures import weighted_mean

    ones = [1.0] * len(trees)
    return {
        key: _means([tree[key] for tree in trees], value)
        if isinstance(value, Mapping)
        else weighted_mean([tree[key] for tree in trees], ones, NO_VALUE)
        for key, value in (trees[0] if trees else like).items()
    }


def measure_slices(task: Task, ledger: Ledger) -> dict[str, Any]:
    """Return the numbers of the slices of each column of ``--by``, under their key.

    A slice has the numbers that an evaluation of its documents alone has, and lists all classes of the result.
    """
    from calque.evaluation.measures import Undefined

    view = task.view().slices
    if not task.by or view is None:
        return {}
    plain = replace(task, by=(), metadata="")
    found: dict[str, Any] = {}
    for column in task.by:
        texts = document_values(ledger, column)
        found[column] = (
            Undefined(f"some documents were scored without slices; evaluate them again with --by {column}")
            if texts is None
            else view.by_column(plain, ledger, texts)
        )
    return {TABLE: found}
