"""What is known of documents beside their boxes: columns of a CSV file, keyed by document."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

from calque.base.errors import ConfigError, ContractError, Issue, did_you_mean
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
