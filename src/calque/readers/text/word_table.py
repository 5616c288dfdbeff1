"""Tables of words: ``docid, wordid, word`` as TSV, CSV or Parquet."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from calque.base.columns import Strings
from calque.base.errors import IssueLog, Severity
from calque.corpus.boxes import UnitId, canonical
from calque.corpus.words import WordCorpus
from calque.readers.sources.json_tree import shown
from calque.readers.sources.parquet_files import parquet_rows

COLUMNS = ("docid", "wordid", "word")
LONGEST_LINE = 1 << 20
"""Bytes. A longer line is no row of a table, and reading on would fill the memory with it."""


def read(path: str, columns: Sequence[str] = (), document: str = "") -> WordCorpus:
    """The corpus of a table; `ContractError` with every issue when rows cannot be read or occur twice.

    ``columns`` names the columns of a table that has no head. Where no column is ``docid``, all rows are of one ``document``
    (else of the file's stem), and without ``wordid`` words stand in their order.
    """
    log = IssueLog(path)
    if path.lower().endswith(".parquet"):
        return _corpus(_parquet_rows(path, log), log, "row")
    return _corpus(_text_rows(path, log, columns, document or Path(path).stem), log, "line")


def looks_like(text: str, columns: Sequence[str]) -> bool:
    """Whether a text begins with the head of a table of words, or with a row of the columns that are given."""
    line = text[:LONGEST_LINE].split("\n", 1)[0].rstrip("\r")
    cells = line.split("\t")
    named = {cell.strip().lower() for cell in cells}
    return named.issuperset(COLUMNS) or (len(columns) > 1 and len(cells) >= len(columns))


def table_rows(path: str, log: IssueLog) -> Iterator[tuple[int, list[str]]]:
    """The rows of a TSV or CSV file with their line numbers, the head first; bounded in memory."""
    separated = csv.reader(_lines(path, log)) if path.lower().endswith(".csv") else None
    if separated is not None:
        try:
            for cells in separated:
                if cells:
                    yield separated.line_num, cells
        except csv.Error as error:
            log.add("not-csv", f"line {separated.line_num}", f"is not CSV: {error}")
        return
    for number, line in enumerate(_lines(path, log), start=1):
        text = line.rstrip("\r\n")
        if text:
            yield number, text.split("\t")


def _lines(path: str, log: IssueLog) -> Iterator[str]:
    offset = 0
    with Path(path).open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                log.add(
                    "long-line", f"byte {offset:,}", f"a line is longer than {LONGEST_LINE:,} bytes", help="is this a table?"
                )
                return
            try:
                yield line.decode("utf-8-sig" if offset == 0 else "utf-8")
            except UnicodeDecodeError as error:
                log.add("not-utf8", f"byte {offset + error.start:,}", "is not UTF-8 text", help="save it as UTF-8")
                return
            offset += len(line)


def _text_rows(path: str, log: IssueLog, columns: Sequence[str], document: str) -> Iterator[tuple[int, str, int, str]]:
    places = {name: columns.index(name) for name in COLUMNS if name in columns}
    row = -1
    for number, cells in table_rows(path, log):
        if row < 0:
            row = 0
            if _is_head(cells, columns):
                places = dict(zip(COLUMNS, column_places(cells, COLUMNS, log, number), strict=False))
                if not places:
                    return
                continue
        row += 1
        if len(cells) <= max(places.values()):
            log.add("wrong-row", f"line {number}", f"has {len(cells)} columns, too few for {', '.join(places)}")
            continue
        docid = cells[places["docid"]] if "docid" in places else document
        wordid = cells[places["wordid"]] if "wordid" in places else str(row - 1)
        word = cells[places["word"]]
        read = whole_number(wordid)
        if read is None:
            log.add(
                "wrong-wordid", f"line {number}", f"wordid {shown(wordid)} is not a whole number from 0 with up to 18 digits"
            )
            continue
        yield number, docid, read, word


def _is_head(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether the first row names columns: always, unless they are given and it does not repeat them."""
    return not columns or {cell.strip().lower() for cell in cells}.issuperset(COLUMNS)


def whole_number(text: str) -> int | None:
    """A whole number from 0 that a column of integers can hold.

    >>> whole_number(" 12"), whole_number("-1"), whole_number("9" * 19)
    (12, None, None)
    """
    digits = text.strip()
    return int(digits) if digits.isdecimal() and len(digits) <= 18 else None


def column_places(head: Sequence[str], names: Sequence[str], log: IssueLog, line: int) -> list[int]:
    """Where the columns of these names stand; an issue, and nothing, when one is missing."""
    known = [cell.strip().lower() for cell in head]
    missing = [name for name in names if name not in known]
    if missing:
        found = ", ".join(known[:12])
        log.add(
            "no-column",
            f"line {line}",
            f"has no column {', '.join(missing)} (found: {found})",
            help="the head names the columns; name those of a table without one with --columns",
        )
        return []
    return [known.index(name) for name in names]


def _parquet_rows(path: str, log: IssueLog) -> Iterator[tuple[int, str, int, str]]:
    """Yield the rows of a Parquet file by the rules of TSV; rows with another value are issues."""
    for number, row in enumerate(parquet_rows(path, COLUMNS, needed=COLUMNS), start=1):
        docid, word = (_text(row[name]) for name in ("docid", "word"))
        position = _position(row["wordid"])
        for name, text in (("docid", docid), ("word", word)):
            if text is None:
                log.add("wrong-type", f"row {number}", f"{name} must be text, got {shown(row[name])}")
        if position is None:
            wordid = shown(row["wordid"])
            log.add("wrong-wordid", f"row {number}", f"wordid {wordid} is not a whole number from 0 with up to 18 digits")
        if docid is not None and word is not None and position is not None:
            yield number, docid, position, word


def _text(value: Any) -> str | None:
    """Return text, or a whole number as text; nothing for other values, such as null."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _position(value: Any) -> int | None:
    """Return a word id; a float is one if it is a whole number, since frames with nulls turn integers into floats."""
    if isinstance(value, str):
        return whole_number(value)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) and 0 <= value < 10**18 else None


def _corpus(rows: Iterator[tuple[int, str, int, str]], log: IssueLog, place: str) -> WordCorpus:
    documents: dict[UnitId, list[tuple[int, int]]] = {}
    known: dict[str, int] = {}
    for line, docid, wordid, word in rows:
        words = documents.setdefault(docid, [])
        words.append((wordid, known.setdefault(word, len(known))))
        if len(words) > 1 and words[-2][0] == wordid:
            _add_duplicate(log, docid, wordid, f"{place} {line}")
    units = tuple(sorted(documents, key=canonical))
    for unit in units:
        _check_order(unit, documents[unit], log)
    log.raise_errors()
    flat = np.array([pair for unit in units for pair in documents[unit]], dtype=np.int64).reshape(-1, 2)
    return WordCorpus(
        documents=units,
        offsets=np.cumsum([0, *(len(documents[unit]) for unit in units)], dtype=np.int64),
        word=flat[:, 1].astype(np.int32),
        position=np.ascontiguousarray(flat[:, 0]),
        vocabulary=Strings.pack(known),
        source=log.file,
        model=os.path.basename(log.file),
        issues=tuple(log),
    )


def _add_duplicate(log: IssueLog, docid: Any, wordid: int, place: str) -> None:
    log.add(
        "duplicate-word", place, f"document {docid!r} has wordid {wordid} twice", help="each (docid, wordid) may stand once"
    )


def _check_order(unit: UnitId, words: list[tuple[int, int]], log: IssueLog) -> None:
    """Words in the order of their ids; an id that occurs twice is an error, a gap is worth a note."""
    ids = [wordid for wordid, _ in words]
    if ids != sorted(ids):
        neighbours = {b for a, b in pairwise(ids) if a == b}
        words.sort(key=lambda pair: pair[0])
        ids = [wordid for wordid, _ in words]
        for wordid in sorted({b for a, b in pairwise(ids) if a == b} - neighbours):
            _add_duplicate(log, unit, wordid, "")
    gaps = sum(b - a > 1 for a, b in pairwise(ids))
    if gaps:
        text = f"document {unit!r} has gaps between its word ids; words are aligned in order, naive recall goes by id"
        log.add("wordid-gap", "", text, severity=Severity.NOTE, count=gaps)
