"""OmniDocBench: the tables among the annotated blocks of each page; a page is a document, named as its image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from calque.base.errors import IssueLog, Severity
from calque.corpus.tables import CellTable
from calque.readers.boxes import page_names
from calque.readers.sources.json_tree import entries, index, missing, numbers, pointer, text
from calque.readers.tables import html
from calque.readers.tables.cells import GatheredCells


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is OmniDocBench's annotations."""
    return isinstance(tree, list) and bool(tree) and isinstance(tree[0], Mapping) and "layout_dets" in tree[0]


def documents_of(tree: Any, log: IssueLog, *, lenient: bool) -> Iterator[tuple[str, list[CellTable]]]:
    """Each page with its tables."""
    for where, sample in entries(tree, "", log):
        info = sample.get("page_info")
        if not isinstance(info, Mapping) or text(info.get("image_path")) is None:
            missing(info if isinstance(info, Mapping) else {}, "image_path", where + pointer("page_info"), "a file name", log)
            continue
        tables: list[CellTable] = []
        for place, block in entries(sample.get("layout_dets"), where + pointer("layout_dets"), log):
            if block.get("category_type") == "table":
                tables += _tables(block, place, index(info.get("page_no")), log, lenient=lenient)
        yield page_names.bare(info["image_path"]), tables


def _tables(block: Mapping[str, Any], where: str, page: int | None, log: IssueLog, *, lenient: bool) -> list[CellTable]:
    if block.get("ignore") is True:
        log.add("ignored-table", where, "the annotation says that this table is not to be counted", severity=Severity.NOTE)
        return []
    written = block.get("html")
    made = html.tables_of(written) if isinstance(written, str) else []
    if not made:
        log.add(
            "no-html", where, "the table has no HTML, and is left out", help="only tables with html", severity=Severity.LOSS
        )
    points = numbers(block.get("poly"))
    box = None
    if points and len(points) >= 4 and len(points) % 2 == 0:
        xs, ys = points[::2], points[1::2]
        box = GatheredCells(log, lenient=lenient).box([min(xs), min(ys), max(xs), max(ys)], where + pointer("poly"))
    return [replace(table, page=page, box=box) for table in made]
