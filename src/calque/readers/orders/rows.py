"""Page rows (NDJSON, Parquet, JSON): boxes, labels and ids in lists, and ``order`` as nested lists of ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from calque.base.columns import Floats
from calque.base.errors import IssueLog
from calque.corpus.boxes import UnitId
from calque.corpus.orders import OrderPage
from calque.readers.orders.building import Blocks, Ordering, listed, of_names
from calque.readers.sources.json_tree import ODD, identity, index, missing, numbers, parse_line, pointer, quickly, shown
from calque.readers.sources.parquet_files import parquet_rows

Pages = Iterator[tuple[UnitId, int, OrderPage]]
COLUMNS = ("doc_id", "page_index", "width", "height", "boxes", "labels", "ids", "order")
"""What is read of a table; there may be more."""


def of_lines(data: bytes, file: str, log: IssueLog) -> Pages:
    """A page a line."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            row = quickly(line)
            yield from _page(parse_line(line, file, number) if row is ODD else row, f"line {number}", log)


def of_rows(rows: Iterable[Any], log: IssueLog) -> Pages:
    """A page an entry."""
    for place, row in enumerate(rows):
        yield from _page(row, pointer(place), log)


def of_parquet(path: str, log: IssueLog) -> Pages:
    """A page a row; an order is a list of ids, or the JSON of a nested one."""
    for place, row in enumerate(parquet_rows(path, COLUMNS)):
        order = row.get("order")
        told = {key: value for key, value in row.items() if value is not None}
        if isinstance(order, str):
            try:
                told["order"] = json.loads(order)
            except (ValueError, RecursionError):
                log.add("order-shape", f"row {place}", "the order is no JSON")
                continue
        yield from _page(told, f"row {place}", log)


def _page(row: Any, where: str, log: IssueLog) -> Pages:
    if not isinstance(row, Mapping):
        log.add("wrong-type", where, f"expected an object for each page, not {shown(row)}")
        return
    document = identity(row.get("doc_id"))
    page = index(row.get("page_index", 0))
    if document is None or page is None:
        key = "doc_id" if document is None else "page_index"
        missing(row, key, where, "a name" if key == "doc_id" else "a page counted from 0", log)
        return
    order, inside = row.get("order"), f"{where}/order"
    if row.get("boxes") is None and row.get("ids") is None and order is not None:
        names, made = of_names(order, inside, log)
        blocks: Blocks | None = Blocks(ids=list(names))
    elif (blocks := _blocks(row, where, log)) is not None:
        ordering = Ordering(blocks.ids, log, where)
        made = listed(len(blocks.ids)) if order is None else ordering.group(order, inside, log.file)
    if blocks is not None:
        blocks.sized(row.get("width"), row.get("height"))
        yield document, page, blocks.page(made)


def _edges(boxes: Any) -> Floats | None:
    """All boxes of a page at once; nothing where there are none, or one has to be looked at by itself."""
    if not boxes or set(map(type, boxes)) != {list} or set(map(len, boxes)) != {4}:
        return None
    if not set(map(type, chain.from_iterable(boxes))) <= {int, float}:
        return None
    try:
        return np.array(boxes, dtype=np.float64)
    except OverflowError:  # a whole number that is too large for a float
        return None


def _blocks(row: Mapping[str, Any], where: str, log: IssueLog) -> Blocks | None:
    boxes, labels, ids = (row.get(key) for key in ("boxes", "labels", "ids"))
    blocks = Blocks()
    given = boxes if boxes is not None else ids
    count = len(given) if isinstance(given, list) else 0
    for key, values in (("boxes", boxes), ("labels", labels), ("ids", ids)):
        if values is not None and (not isinstance(values, list) or len(values) != count):
            log.add("wrong-length", f"{where}/{key}", f"expected a list with one entry for each of {count} blocks")
            return None
    if (edges := _edges(boxes)) is not None and (ids is None or (set(map(type, ids)) <= {str} and "" not in ids)):
        names = list(range(count)) if ids is None else ids
        return Blocks(ids=names, labels=[""] * count if labels is None else [*map(str, labels)], edges=edges)
    for place in range(count):
        box = None if boxes is None else numbers(boxes[place])
        if boxes is not None and (box is None or len(box) != 4):
            log.add("box-shape", f"{where}/boxes/{place}", f"expected four numbers, not {shown(boxes[place])}")
            return None
        name = place if ids is None else identity(ids[place])
        blocks.add(place if name is None else name, box, str(labels[place]) if labels is not None else "")
    return blocks
