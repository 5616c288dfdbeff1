"""DoclingDocument: the tables of a document, as cells with their places, spans and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.errors import IssueLog
from calque.corpus.tables import Box, CellTable
from calque.readers.sources.json_tree import entries, index, number, pointer, whole
from calque.readers.tables.cells import GatheredCells, spelt

SCHEMA = "DoclingDocument"


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is a DoclingDocument."""
    return isinstance(tree, Mapping) and (tree.get("schema_name") == SCHEMA or {"body", "texts", "tables"} <= tree.keys())


def tables_of(tree: Mapping[str, Any], where: str, log: IssueLog, *, lenient: bool) -> list[CellTable]:
    """The tables of a document in the order of the file."""
    heights = _heights(tree.get("pages"), where, log)
    return [
        _table(item, place, heights, log, lenient=lenient)
        for place, item in entries(tree.get("tables", []), where + pointer("tables"), log)
    ]


def _heights(pages: Any, where: str, log: IssueLog) -> dict[int, float]:
    heights = {}
    for key, page in pages.items() if isinstance(pages, Mapping) else ():
        size = page.get("size") if isinstance(page, Mapping) else None
        height = number(size.get("height")) if isinstance(size, Mapping) else None
        known = index(whole(key))
        if not known:
            log.add("wrong-type", where + pointer("pages", key), "expected a page number from 1")
        elif height is not None:
            heights[known] = height
    return heights


def _table(item: Mapping[str, Any], where: str, heights: Mapping[int, float], log: IssueLog, *, lenient: bool) -> CellTable:
    gathering = GatheredCells(log, lenient=lenient)
    provs = item.get("prov")
    prov = provs[0] if isinstance(provs, list) and provs and isinstance(provs[0], Mapping) else {}
    page = index(prov.get("page_no"))
    height = heights.get(page, 0.0) if page is not None else 0.0
    data = item.get("data")
    if not isinstance(data, Mapping):
        log.add("missing-key", where, "the key 'data' is missing: the table has no cells")
        data = {}
    inside = where + pointer("data")
    for place, cell in entries(data.get("table_cells", []), inside + pointer("table_cells"), log):
        _take(cell, place, height, gathering)
    sizes = [data.get(key) for key in ("num_rows", "num_cols")]
    rows, columns = (0 if size is None else gathering.whole(size, inside, "a size", 0) or 0 for size in sizes)
    return gathering.table(
        rows=rows, columns=columns, page=page, box=_box(prov.get("bbox"), height, where + pointer("prov"), gathering)
    )


def _take(cell: Mapping[str, Any], where: str, height: float, gathering: GatheredCells) -> None:
    starts, ends = (
        [
            gathering.whole(cell.get(f"{side}_{axis}_offset_idx"), where, f"{side}_{axis}_offset_idx", 0)
            for axis in ("row", "col")
        ]
        for side in ("start", "end")
    )
    spans = [
        None if start is None or end is None else gathering.whole(end - start, where, "end - start", 1)
        for start, end in zip(starts, ends, strict=True)
    ]
    header = any(cell.get(key) is True for key in ("column_header", "row_header"))
    box = _box(cell.get("bbox"), height, where + pointer("bbox"), gathering)
    gathering.add([*starts, *spans], spelt(cell.get("text", "")), header, box, where)


def _box(value: Any, height: float, where: str, gathering: GatheredCells) -> Box | None:
    if not isinstance(value, Mapping):
        return None
    left, top, right, bottom = (number(value.get(side)) for side in "ltrb")
    if left is None or top is None or right is None or bottom is None:
        return gathering.box(None, where)
    if value.get("coord_origin") == "BOTTOMLEFT":
        top, bottom = height - top, height - bottom
    return gathering.box([left, top, right, bottom], where)
