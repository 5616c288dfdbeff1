"""Tables of documents: a file, a folder of files, or Python values; the format is found out for each file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calque.base.errors import ContractError, Issue, IssueLog, Severity
from calque.corpus.boxes import Corpus, UnitId
from calque.corpus.tables import MOST_SLOTS, CellTable, TableCorpus
from calque.readers.sources import compression, json_tree
from calque.readers.sources.json_tree import pointer
from calque.readers.sources.source import Source
from calque.readers.tables import cells, docling, html, icdar, markdown, omnidocbench, placing, pubtabnet
from calque.readers.text.text_files import LARGEST, decoded

HTML = (".html", ".htm", ".xhtml")
MARKDOWN = (".md", ".markdown", ".mmd", ".txt", ".text")
JSON, LINES, XML = ".json", (".jsonl", ".ndjson"), ".xml"
EXTENSIONS = (*HTML, *MARKDOWN, JSON, *LINES, XML)
DOCUMENT_KEYS = ("document", "doc_id", "filename", "file_name", "image")
"""Where an object that holds tables says which document they are in."""
Tables = list[CellTable]
Found = Iterable[tuple[UnitId, Tables]]


def read_tables(source: Any, *, lenient: bool = False) -> TableCorpus:
    """The tables in a file, in a folder (one document a file, named by its stem), or in Python values by document."""
    if isinstance(source, TableCorpus):
        return source
    if isinstance(source, Corpus):
        raise TypeError(f"tables are compared with tables, not with a {type(source).__name__}")
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if os.path.isdir(path):
            return _from_folder(path, lenient)
        if _suffix(path) in LINES and os.path.isfile(path) and not os.path.getsize(path):
            json_tree.read_bytes(path)  # refuses it, as for every other task: a shard without rows has no documents
        return _from_file(path, lenient)
    log = IssueLog("")
    if isinstance(source, Mapping) and not _is_table(source):
        found: Found = ((unit, _tables_in(value, pointer(unit), log, lenient)) for unit, value in source.items())
    elif isinstance(source, CellTable | Mapping | list | tuple):
        found = [("document", _tables_in(source, "", log, lenient))]
    else:
        raise TypeError(f"cannot read tables from a {type(source).__name__}: give a path, a mapping by document or a corpus")
    return _corpus(found, log, "")


def is_single(source: Any) -> bool:
    """Whether a source is one file that holds one document, so that its name need not match the other side's."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source)


def names_documents(source: str | os.PathLike[str], corpus: TableCorpus) -> bool:
    """Whether a file has rows that name their documents, so that the name of the file is not used."""
    name = os.path.basename(os.fspath(source))
    return _suffix(name) in LINES and all(str(unit) != _stem(name) for unit in corpus.tables)


def one_table(source: Any) -> CellTable:
    """The only table of a text, an object or a list of tables; `ValueError` when there are none or several."""
    if isinstance(source, CellTable):
        return _evaluable(source)
    if not isinstance(source, str | Mapping | list | tuple):
        raise TypeError(f"a table must be a Table, a text, or an object with html, markdown or cells, not {source!r}")
    log = IssueLog("")
    found = _tables_in(source, "", log, False)
    log.raise_errors()
    if len(found) != 1:
        raise ValueError(f"there should be exactly one table, and there {'are ' + str(len(found)) if found else 'is none'}")
    return _evaluable(found[0])


def _evaluable(table: CellTable) -> CellTable:
    if table.slots > MOST_SLOTS:
        raise ContractError.single("too-many-slots", _beyond(table))
    return table


def _beyond(table: CellTable) -> str:
    return f"has {table.rows:,} rows and {table.columns:,} columns; at most {MOST_SLOTS:,} slots can be evaluated"


def _from_folder(path: str, lenient: bool) -> TableCorpus:
    folder = Source(path)
    issues = folder.not_read(_holds_tables)
    errors: list[Issue] = []
    owner: dict[UnitId, str] = {}
    tables: dict[UnitId, Sequence[CellTable]] = {}
    for name in filter(_holds_tables, (file.name for file in folder.files())):
        try:
            corpus = _from_file(os.path.join(path, name), lenient)
        except ContractError as error:
            errors += error.issues
            owner.setdefault(_stem(name), name)
            continue
        issues += corpus.issues
        for unit, found in corpus.tables.items():
            if unit in owner:
                help = "a document is a file and is named by its stem"
                errors.append(Issue("same-document", f"{owner[unit]} and {name} are both document {unit!r}", path, "", help))
            owner[unit] = name
            tables[unit] = found
    if not owner and not errors:
        help = f"it should have files that end in {', '.join(EXTENSIONS)}"
        raise ContractError.single("no-documents", "the folder has no documents", file=path, help=help)
    if errors:
        raise ContractError(errors)
    return TableCorpus(tables=tables, source=path, model=os.path.basename(os.path.abspath(path)), issues=tuple(issues))


def _holds_tables(name: str) -> bool:
    return _suffix(name) in EXTENSIONS and not name.endswith("/")


def _suffix(name: str) -> str:
    return Path(compression.plain_name(name)).suffix.lower()


def _stem(name: str) -> str:
    return Path(compression.plain_name(name)).stem


def _from_file(path: str, lenient: bool) -> TableCorpus:
    log = IssueLog(path)
    data = _bytes(path)
    suffix, stem = _suffix(path), _stem(path)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    found: Found
    if not head:
        found = [(stem, [])]
    elif suffix == XML and b"<html" not in head.lower():
        found = [(icdar.document_of(stem), icdar.tables_of(data, path, log, lenient=lenient))]
    elif suffix in LINES:
        found = _from_lines(data, stem, log, lenient)
    elif suffix == JSON or (suffix not in EXTENSIONS and head[:1] in (b"{", b"[")):
        found = _from_json(data, stem, log, lenient)
    else:
        text = decoded(data, path)
        written = suffix in (*HTML, XML) or (suffix not in MARKDOWN and head[:1] == b"<")
        found = [(stem, html.tables_of(text) if written else markdown.tables_of(text))]
    return _corpus(found, log, path)


def _bytes(path: str) -> bytes:
    """The content of a file; an empty one is a document without tables."""
    with json_tree.readable(path):
        size = os.path.getsize(path)
    if size > LARGEST:
        message = f"has {size:,} bytes; one file may have {LARGEST:,}"
        raise ContractError.single("too-large", message, file=path, help="split it into documents")
    try:
        data = json_tree.read_bytes(path)
    except ContractError as error:
        if error.issues[0].code == "empty-file":
            return b""
        raise
    if (binary := compression.strange(data)) is not None:  # a PDF would be a document without tables
        raise ContractError.single("not-text", binary[0], file=path, help=binary[1])
    return data


def _corpus(found: Found, log: IssueLog, path: str) -> TableCorpus:
    """The tables by document; what was mended in them is noted once for the file."""
    tables: dict[UnitId, Tables] = {}
    for unit, listed in found:
        tables.setdefault(unit, []).extend(listed)
    log.raise_errors()
    repairs: Counter[str] = Counter()
    for unit, listed in tables.items():
        for place, table in enumerate(listed):
            repairs.update({code: count for code, count in table.repairs.items() if not table.boxes or code != "bad-box"})
            if table.slots > MOST_SLOTS:
                log.add("too-many-slots", f"{unit}, table {place}", _beyond(table), severity=Severity.LOSS)
    logged = {issue.code for issue in log}
    mended = Counter({code: count for code, count in repairs.items() if code not in logged})
    issues = (*log, *placing.repairs_as_issues(mended, path))
    return TableCorpus(tables=tables, source=path, model=os.path.basename(path), issues=issues)


def _from_json(data: bytes, stem: str, log: IssueLog, lenient: bool) -> Found:
    tree = json_tree.parse(data, log.file)
    if omnidocbench.looks_like(tree):
        return omnidocbench.documents_of(tree, log, lenient=lenient)
    if docling.looks_like(tree):
        return [(stem, docling.tables_of(tree, "", log, lenient=lenient))]
    if isinstance(tree, list) and not cells.looks_like_cells(tree):
        return _from_objects(((pointer(place), entry) for place, entry in enumerate(tree)), stem, log, lenient)
    if isinstance(tree, Mapping) and not _is_table(tree):
        return [(unit, _tables_in(value, pointer(unit), log, lenient)) for unit, value in tree.items()]
    return _from_objects([("", tree)], stem, log, lenient)


def _from_lines(data: bytes, stem: str, log: IssueLog, lenient: bool) -> Found:
    def lines() -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield f"line {number}: ", json_tree.parse_line(line, log.file, number)

    return _from_objects(lines(), stem, log, lenient)


def _from_objects(listed: Iterable[tuple[str, Any]], stem: str, log: IssueLog, lenient: bool) -> Found:
    """Objects one after the other: each says its document, or is in the one that the file is named after."""
    any_found = False
    for where, entry in listed:
        any_found = True
        yield _document(entry, stem), _tables_in(entry, where, log, lenient)
    if not any_found:
        yield stem, []


def _document(entry: Any, stem: str) -> UnitId:
    if not isinstance(entry, Mapping):
        return stem
    keys = DOCUMENT_KEYS if "cells" in entry else (*DOCUMENT_KEYS, "id")
    return next((name for key in keys if (name := json_tree.identity(entry.get(key))) is not None), stem)


def _is_table(value: Any) -> bool:
    """Whether an object says of itself that it holds tables, so that its keys are no documents."""
    return isinstance(value, Mapping) and any(
        isinstance(value.get(key), kind)
        for key, kind in (("cells", list), ("html", str | Mapping), ("markdown", str), ("tables", list))
    )


def _tables_in(value: Any, where: str, log: IssueLog, lenient: bool) -> Tables:
    """The tables of a text, an object or a list; what is none of them goes to the log."""
    if isinstance(value, CellTable):
        return [value]
    if isinstance(value, str):
        return html.tables_of(value) if value.lstrip()[:1] == "<" else markdown.tables_of(value)
    if cells.looks_like_cells(value):
        return [cells.table_of({"cells": value}, where, log, lenient=lenient)]
    if isinstance(value, list | tuple):
        return [table for place, each in enumerate(value) for table in _tables_in(each, where + pointer(place), log, lenient)]
    if isinstance(value, Mapping):
        return _tables_of_object(value, where, log, lenient)
    plain = value is None or isinstance(value, bool | int | float)
    told = f"{json_tree.kind(value)} {json_tree.shown(value)}" if plain else f"a {type(value).__name__}"
    log.add("wrong-tables", where, f"expected tables, not {told}", help=EXPECTED)
    return []


EXPECTED = "give HTML or Markdown as a text, or an object with html, markdown, cells or tables"


def _tables_of_object(value: Mapping[str, Any], where: str, log: IssueLog, lenient: bool) -> Tables:
    if docling.looks_like(value):
        return docling.tables_of(value, where, log, lenient=lenient)
    if pubtabnet.looks_like(value):
        return pubtabnet.tables_of(value, where, log, lenient=lenient)
    if isinstance(value.get("tables"), list):
        return _tables_in(value["tables"], where + pointer("tables"), log, lenient)
    if "cells" in value:
        return [cells.table_of(value, where, log, lenient=lenient)]
    texts: dict[str, Callable[[str], Tables]] = {"html": html.tables_of, "markdown": markdown.tables_of}
    for key, tables_of in texts.items():
        if isinstance(value.get(key), str):
            more = cells.about(value, where, cells.GatheredCells(log, lenient=lenient))
            found = tables_of(value[key])
            # An id names the document where nothing else does, and where it has several tables it is none of theirs.
            named = len(found) == 1 and any(key in value for key in DOCUMENT_KEYS)
            return [replace(table, **{**more, "id": more["id"] if named else ""}) for table in found]
    log.add("wrong-tables", where, f"an object with {', '.join(map(repr, value)) or 'no keys'} holds no tables", help=EXPECTED)
    return []
