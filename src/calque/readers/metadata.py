"""What is known of documents beside their boxes: columns of a CSV file, keyed by document."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable
from pathlib import Path

from calque.core.corpus import BoxCorpus, Corpus, UnitId
from calque.core.errors import ConfigError, ContractError, Issue, Severity, did_you_mean

KEY = "doc_id"


def read_metadata(path: str) -> dict[str, dict[str, str]]:
    """The values of a CSV file by column and document; an empty cell is no value."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError.single(
            "not-utf8", f"byte {error.start} is not UTF-8", file=path, help="save it as UTF-8"
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""))
    rows = [(reader.line_num, row) for row in reader if row]
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


def with_metadata(truth: Corpus, found: Corpus, path: str) -> tuple[Corpus, Corpus]:
    """The two sides with the columns of a CSV file; its columns go before those of the same name in the data."""
    if not isinstance(truth, BoxCorpus):
        return truth, found
    table = read_metadata(path)
    unit_of: dict[str, UnitId] = {str(unit): unit for unit in (*found.units(), *truth.units())}
    columns = {
        column: {unit_of[document]: value for document, value in values.items() if document in unit_of}
        for column, values in table.items()
    }
    unknown = sorted({document for values in table.values() for document in values} - unit_of.keys())
    notes = _note_unknown(unknown, path)
    return dataclasses.replace(truth, metadata={**truth.metadata, **columns}, issues=(*truth.issues, *notes)), found


def _note_unknown(unknown: list[str], path: str) -> list[Issue]:
    if not unknown:
        return []
    text = f"{len(unknown):,} document{'s' if len(unknown) > 1 else ''} that neither side has, such as {unknown[0]!r}"
    return [Issue("metadata-unknown", text, path, severity=Severity.NOTE)]


def check_columns(wanted: Iterable[str], *sides: Corpus) -> None:
    """Refuse a column that no side has: every document would be without a value."""
    known = {column for side in sides if isinstance(side, BoxCorpus) for column in side.metadata}
    for column in wanted:
        if column not in known:
            listed = (
                f"the columns are {', '.join(sorted(known))}" if known else "there is no metadata: give --metadata FILE.csv"
            )
            raise ConfigError(f"no document has {column!r}; {did_you_mean(column, known) or listed}")
