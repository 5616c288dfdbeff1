"""What is known of documents beside their boxes: columns of a CSV file, keyed by document."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from calque.base.errors import ConfigError, ContractError, Issue, Severity, did_you_mean
from calque.corpus.boxes import BoxCorpus, Corpus, UnitId
from calque.corpus.tables import TableCorpus
from calque.readers.sources.json_tree import readable

KEY = "doc_id"


def read_metadata(path: str) -> dict[str, dict[str, str]]:
    """The values of a CSV file by column and document; an empty cell is no value."""
    try:
        with readable(path):
            text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError.single(
            "not-utf8", f"byte {error.start} is not UTF-8", file=path, help="save it as UTF-8"
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        place = f"line {reader.line_num}"
        raise ContractError.single("not-csv", f"is not CSV: {error}", file=path, pointer=place, help="quote cells") from None
    head = rows[0][1] if rows else []
    if KEY not in head:
        help = did_you_mean(KEY, head) or f"its columns are {', '.join(head) or 'none'}"
        raise ContractError.single("metadata-key", f"there is no column {KEY!r}", file=path, pointer="line 1", help=help)
    table: dict[str, dict[str, str]] = {column: {} for column in head if column != KEY}
    seen: set[str] = set()
    issues = []
    for line, row in rows[1:]:
        document = row[head.index(KEY)] if len(row) == len(head) else None
        if document is None:
            text = f"expected {len(head)} cells, not {len(row)}"
            issues.append(Issue("metadata-row", text, path, f"line {line}", "quote cells that hold commas"))
        elif document in seen:
            issues.append(Issue("metadata-twice", f"the document {document!r} has more than one row", path, f"line {line}"))
        else:
            seen.add(document)
            for column, cell in zip(head, row, strict=True):
                if column != KEY and cell:
                    table[column][document] = cell
    if issues:
        raise ContractError(issues)
    return table


def metadata_text(given: str | os.PathLike[str]) -> str:
    """The columns of a CSV file as JSON text, which is what a task keeps of it; such text is itself, and so is nothing."""
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"metadata must be the path of a CSV file, not {given!r}")
    path = os.fspath(given)
    if not path or path.startswith("{"):
        return path
    return json.dumps({"file": path, "columns": read_metadata(path)}, ensure_ascii=False, sort_keys=True)


class Joining:
    """Joins columns, as `metadata_text` has them, to documents, some documents at a time, and remembers what met.

    These columns go before those of the same name in the data.
    """

    def __init__(self, text: str = "") -> None:
        known: dict[str, Any] = json.loads(text) if text else {"file": "", "columns": {}}
        self._path: str = known["file"]
        self._table: dict[str, dict[str, str]] = known["columns"]
        self._unknown = {document for values in self._table.values() for document in values}
        self._columns = set(self._table)

    def joined(self, truth: Corpus, found: Corpus) -> tuple[Corpus, Corpus]:
        """The two sides with what the file knows of their documents."""
        self._columns.update(*(side.metadata for side in (truth, found) if isinstance(side, BoxCorpus | TableCorpus)))
        if not isinstance(truth, BoxCorpus | TableCorpus) or not self._table:
            return truth, found
        unit_of: dict[str, UnitId] = {str(unit): unit for unit in (*found.units(), *truth.units())}
        self._unknown -= unit_of.keys()
        columns = {
            column: {unit: values[document] for document, unit in unit_of.items() if document in values}
            for column, values in self._table.items()
        }
        return dataclasses.replace(truth, metadata={**truth.metadata, **columns}), found

    def told_of(self, unit: UnitId, own: Mapping[str, Any]) -> dict[str, Any]:
        """What is known of one document whose own data says this."""
        name = str(unit)
        self._columns.update(own)
        self._unknown.discard(name)
        return {**own, **{column: values[name] for column, values in self._table.items() if name in values}}

    def check(self, wanted: Iterable[str]) -> None:
        """Refuse a column that nothing seen so far has: every document would be without a value."""
        known = self._columns
        for column in wanted:
            if column not in known:
                listed = (
                    f"the columns are {', '.join(sorted(known))}" if known else "there is no metadata: give --metadata FILE.csv"
                )
                raise ConfigError(f"no document has {column!r}; {did_you_mean(column, known) or listed}")

    def notes(self) -> tuple[Issue, ...]:
        """What there is to say when all documents have been seen."""
        if not self._unknown:
            return ()
        count, first = len(self._unknown), min(self._unknown)
        text = f"{count:,} document{'s' if count > 1 else ''} that neither side has, such as {first!r}"
        return (Issue("metadata-unknown", text, self._path, severity=Severity.NOTE),)
