"""PubTabNet and FinTabNet: structure tokens with the tokens of the cells beside them, one table a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from calque.base.errors import IssueLog
from calque.corpus.tables import CellTable
from calque.readers.sources.json_tree import numbers, pointer, shown
from calque.readers.tables import html
from calque.readers.tables.cells import GatheredCells


def looks_like(entry: Any) -> bool:
    """Whether an object is a table of PubTabNet's lines."""
    written = entry.get("html") if isinstance(entry, Mapping) else None
    return isinstance(written, Mapping) and isinstance(written.get("structure"), Mapping)


def tables_of(entry: Mapping[str, Any], where: str, log: IssueLog, *, lenient: bool) -> list[CellTable]:
    """The table of a line; boxes come from its cells."""
    written = entry["html"]
    tokens, cells = written["structure"].get("tokens"), written.get("cells", [])
    if not _are_texts(tokens) or not isinstance(cells, list):
        log.add("wrong-type", where + pointer("html"), f"expected structure tokens and cells, not {shown(written)}")
        return []
    markup = "".join(_markup(tokens, [_content(cell) for cell in cells]))
    made = html.tables_of(f"<table>{markup}</table>" if "<table" not in markup else markup)
    gathering = GatheredCells(log, lenient=lenient)
    boxes = [
        None if not isinstance(cell, Mapping) or cell.get("bbox") is None else gathering.box(numbers(cell["bbox"]), where)
        for cell in cells
    ]
    if len(made) == 1 and len(made[0]) == len(boxes) and any(boxes):
        return [replace(made[0], boxes=tuple(boxes))]
    return made


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def _content(cell: Any) -> str:
    tokens: Any = cell.get("tokens") if isinstance(cell, Mapping) else None
    return "".join(tokens) if _are_texts(tokens) else ""


def _markup(tokens: Sequence[str], contents: Sequence[str]) -> Iterator[str]:
    """The structure with the content of a cell before each of its end tags."""
    left = iter(contents)
    for token in tokens:
        if token in ("</td>", "</th>"):
            yield next(left, "")
        yield token
