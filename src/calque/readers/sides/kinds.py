"""Recognize what a file or folder contains, and which commands read it."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.core.errors import CalqueError, ContractError, Issue
from calque.readers.boxes import formats
from calque.readers.page_rows.files import LISTS, NDJSON, PARQUET
from calque.readers.sources import compression, json_tree
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import root_name

BOXES = ("detect", "layout", "ceiling", "audit", "convert")
"""The commands that read boxes."""
EVALUATING = (*BOXES, "fields", "words", "tables", "order")
"""The commands that read annotations."""
WITH_MORE = {
    "page": ("words", "order"), "alto": ("words",), "docling": ("order", "tables"), "omnidocbench": ("order", "tables"),
    PARQUET: ("words", "order"), NDJSON: ("order",), "plain": ("order",), "coco-results": ("order",),
}  # fmt: skip
"""Box formats that other commands read, too."""
TITLES = {
    "snapshot": "a snapshot file (schema 1.3)", "docling": "a DoclingDocument", "omnidocbench": "OmniDocBench pages",
    "label-studio": "a Label Studio export", "labelme": "LabelMe annotations", "coco-results": "COCO results",
    "voc": "Pascal VOC annotations", "page": "PAGE XML", "alto": "ALTO XML", "cvat": "CVAT annotations",
    "dota": "DOTA labels", "yolo": "YOLO labels", "plain": "a list of boxes", NDJSON: "pages with boxes, one per line",
    PARQUET: "a Parquet table",
}  # fmt: skip
TEXTS = (".txt", ".text", ".hocr", ".seq")
MARKUP = (".html", ".htm", ".xhtml", ".md", ".markdown", ".mmd")
IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".webp", ".bmp", ".svg", ".pdf")
NO_ANNOTATIONS = "give the file with the annotations or the text"
KEYS_SHOWN = 4
LOOKED_AT = 20
"""How many files of a folder are looked at."""


@dataclass(frozen=True)
class Kind:
    """What a file contains, and the commands that read it; the likeliest comes first."""

    what: str
    commands: tuple[str, ...] = ()
    help: str = ""
    """What to do about a file that no command reads."""

    @property
    def command(self) -> str | None:
        """The likeliest command."""
        return self.commands[0] if self.commands else None


def kind_of(path: str) -> Kind | None:
    """Return what a file or folder contains; ``None`` when it does not exist, cannot be read, or cannot be told."""
    source = Source(path)
    if not source.is_folder and not (os.path.isfile(path) and source.head):  # looking into a pipe would use it up
        return None
    try:
        return _of_folder(source) if source.is_folder else _of_file(source)
    except (CalqueError, OSError):
        return None


def reworded(error: ContractError, command: str) -> ContractError:
    """Return the same error with one line for each file that another command reads: what it contains, and that command."""
    if command not in EVALUATING:
        return error
    files = dict.fromkeys(issue.file for issue in error.issues if issue.file)
    wrong: dict[str, Issue] = {}
    for file in files:
        kind = kind_of(file)
        if kind is not None and _is_for_others(kind, command):
            wrong[file] = Issue("unknown-format", f"contains {kind.what}", file, help=kind.help or f"use {_commands(kind)}")
    if not wrong:
        return error
    kept = [issue for issue in error.issues if issue.file not in wrong]
    return ContractError([*wrong.values(), *kept], hints=error.hints if kept else ())


def _is_for_others(kind: Kind, command: str) -> bool:
    readers = {*kind.commands, *(BOXES if kind.command == "detect" else ()), *(["ceiling"] if kind.command == "fields" else [])}
    return command not in readers and bool(kind.commands or kind.help)


def _commands(kind: Kind) -> str:
    return " or ".join(f"calque {name}" for name in kind.commands[:2])


def _of_folder(folder: Source) -> Kind | None:
    try:
        return _of_boxes(formats.recognised(folder), folder)
    except CalqueError:
        pass
    files = folder.files()
    if not files:
        return Kind("no files", help="check the path")
    listed = ", ".join(file.name for file in files[:3]) + (", …" if len(files) > 3 else "")
    suffixes = Counter(file.suffix for file in files if file.suffix not in IMAGES)
    if not suffixes:
        return Kind(f"images or PDFs ({listed}), not annotations", help=NO_ANNOTATIONS)
    common = suffixes.most_common(1)[0][0]
    return _of_files([file for file in files if file.suffix == common][:LOOKED_AT], common, listed)


def _of_files(files: Sequence[Source], suffix: str, listed: str) -> Kind:
    """What the most common files of a folder contain; ``listed`` names some of its files."""
    if suffix in TEXTS:
        return Kind(f"text files ({listed})", ("words",))
    if suffix in MARKUP:
        tables = any(map(_has_table, files))
        return Kind(f"{'tables' if tables else 'text'} ({listed})", ("tables", "words") if tables else ("words",))
    inside = next((kind for file in files if (kind := kind_of(file.path)) is not None and kind.commands), None)
    return Kind(f"{inside.what} ({listed})", inside.commands) if inside is not None else Kind(f"unknown files ({listed})")


def _of_file(source: Source) -> Kind | None:
    head = source.head
    if head.startswith(b"calque state "):
        return Kind("a saved state", ("merge", "compare", "report", "bless"))
    binary = compression.strange(head)
    if binary is not None and not head.startswith(b"PAR1"):
        if not binary[0].startswith("is a"):
            return None  # an encoding or a compression, which the readers report
        return Kind(f"{binary[0].removeprefix('is ')}, not annotations", help=binary[1])
    suffix = os.path.splitext(compression.plain_name(source.path).lower())[1]
    if suffix in (*TEXTS, *MARKUP) and not source.is_json:
        tables = suffix in MARKUP and _has_table(source)
        return Kind("tables" if tables else "text", ("tables", "words") if tables else ("words",))
    return _of_rows(head, suffix) or _of_markup_or_json(source, suffix)


def _of_rows(head: bytes, suffix: str) -> Kind | None:
    """Suites of checks, and tables with columns."""
    if suffix in (".yaml", ".yml") and re.search(rb"^(evaluators|cases|data|actual):", head, re.MULTILINE):
        return Kind("a suite of checks", ("check",))
    if suffix in (".tsv", ".csv") or head.startswith(b"level\tpage_num"):
        is_table = re.match(rb"level\tpage_num|.*\bdocid\b", head.partition(b"\n")[0], re.IGNORECASE)
        return Kind("a table of words", ("words",)) if is_table else Kind("a table without the columns docid, wordid and word")
    return None


def _of_markup_or_json(source: Source, suffix: str) -> Kind | None:
    if _is_html(source.head):
        tables = _has_table(source)
        return Kind("tables" if tables else "HTML without tables", ("tables", "words") if tables else ("words",))
    try:
        format = formats.recognised(source)
    except CalqueError:
        format = None
    if format is not None:
        return _of_lines(source.head) if format.name == NDJSON else _of_boxes(format, source)
    if source.is_xml:
        root = root_name(source) or "nothing"
        if root == "document":
            return Kind("tables in the XML of ICDAR", ("tables",))
        help = NO_ANNOTATIONS if root == "svg" else ""
        return Kind("an SVG image, not annotations" if root == "svg" else f"XML with the root element <{root}>", help=help)
    is_json = source.is_json or suffix.startswith((".json", ".ndjson"))
    return _of_tree(source.tree) if is_json else Kind("text that is not JSON", ("words",))


def _is_html(head: bytes) -> bool:
    return re.match(rb"\s*(<!doctype html|<html|<table|<p\b)", head, re.IGNORECASE) is not None


def _has_table(file: Source) -> bool:
    return b"<table" in file.head.lower() or re.search(rb"^\s*\|?[ :]*-{3,}[-| :]*\|", file.head, re.MULTILINE) is not None


def _of_boxes(format: formats.Format, source: Source) -> Kind | None:
    what = TITLES.get(format.name, "")
    if format.name == "coco-results" and not source.tree:
        return None  # an empty list can be anything
    if format.name == "coco":
        keys = [key for key in ("images", "annotations", "categories") if key in source.tree]
        what = f"COCO annotations ({', '.join(keys)})"
    return Kind(what or f"boxes ({format.name})", ("detect", *WITH_MORE.get(format.name, ())))


def _of_lines(head: bytes) -> Kind | None:
    """Pages with boxes, orders, tables or records, one per line; unknown when the first line is broken."""
    row = _first_row(head)
    if not isinstance(row, Mapping):
        return None
    if any(column in row for column in LISTS[:2]):
        return Kind(TITLES[NDJSON], ("detect", "order"))
    if "order" in row:
        return Kind("reading orders, one page per line", ("order",))
    if _has_cells(row) or isinstance(row.get("html"), str | Mapping):
        return Kind("tables, one per line", ("tables",))
    return Kind(f"records, one per line ({_keys(row)})", ("fields",))


def _first_row(head: bytes) -> Any:
    try:
        return json.loads(head.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None


def _keys(row: Mapping[str, Any]) -> str:
    return ", ".join(list(map(str, row))[:KEYS_SHOWN]) + (", …" if len(row) > KEYS_SHOWN else "")


def _of_tree(tree: Any) -> Kind:
    first = tree[0] if isinstance(tree, list) and tree else tree
    if isinstance(tree, list) and isinstance(first, Mapping) and {"label_map", "images"} & first.keys():
        return Kind(f"a list with an object with {_keys(first)} in it", help="give the object without the list")
    if _has_cells(first):
        return Kind("tables with cells", ("tables",))
    if isinstance(first, Mapping) and "order" in first and "boxes" not in first:
        return Kind("reading orders", ("order",))
    if isinstance(tree, Mapping) and tree:
        return _of_mapping(tree)
    if isinstance(tree, list) and tree and all(isinstance(entry, Mapping) for entry in tree):
        return Kind(f"records ({_keys(tree[0])})", ("fields",))
    return Kind(f"{json_tree.a_kind(tree)}, not annotations" if not isinstance(tree, list) else "a list without objects")


def _of_mapping(tree: Mapping[str, Any]) -> Kind:
    texts = all(isinstance(value, str) for value in tree.values())
    if texts and all(value.lstrip().lower().startswith("<table") for value in tree.values()):
        return Kind("tables in HTML by document", ("tables",))
    lists = all(isinstance(value, Sequence) and all(isinstance(word, str) for word in value) for value in tree.values())
    # A record of texts would be one document per field: an id marks it as a record.
    if (texts or lists) and not {"id", "doc_id"} & tree.keys():
        return Kind("texts by document", ("words", "fields"))
    if all(isinstance(value, Mapping) for value in tree.values()):
        return Kind(f"records by document ({_keys(tree)})", ("fields",))
    return Kind(f"a record ({_keys(tree)})", ("fields",))


def _has_cells(tree: Any) -> bool:
    """Whether an object is a table, as calque, table-transformer or PubTabNet writes it."""
    if not isinstance(tree, Mapping):
        return False
    cells, html = tree.get("cells"), tree.get("html")
    listed = isinstance(cells, list) and all(isinstance(cell, Mapping) and {"row", "row_nums"} & cell.keys() for cell in cells)
    return "row_nums" in tree or listed or (isinstance(html, Mapping) and "structure" in html)
