"""ICDAR 2013 and 2019 (cTDaR): XML with the cells of each table, their places and their boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.errors import ContractError, IssueLog
from calque.corpus.tables import Box, CellTable
from calque.readers.sources import xml_tree
from calque.readers.sources.xml_tree import children, descendants, line, name
from calque.readers.tables.cells import GatheredCells, spelt

if TYPE_CHECKING:
    from lxml.etree import _Element

SUFFIXES = ("-str-result", "-reg-result", "-str", "-reg", "_str", "_reg")
"""What the competition adds to the name of a document."""


def document_of(stem: str) -> str:
    """The document that a file is about.

    >>> document_of("us-001-str-result"), document_of("cTDaR_t10001")
    ('us-001', 'cTDaR_t10001')
    """
    return next((stem.removesuffix(suffix) for suffix in SUFFIXES if stem.endswith(suffix)), stem)


def tables_of(data: bytes, file: str, log: IssueLog, *, lenient: bool) -> list[CellTable]:
    """The tables of a document; a table that goes on in a further region has its cells there too."""
    root = xml_tree.parse(data, file)
    if name(root) != "document":
        raise ContractError.single(
            "unknown-format", f"has the root element <{name(root)}>; tables of ICDAR are in <document>", file=file
        )
    return [_table(element, log, lenient=lenient) for element in children(root, "table")]


def _table(element: _Element, log: IssueLog, *, lenient: bool) -> CellTable:
    gathering = GatheredCells(log, lenient=lenient)
    regions = list(children(element, "region")) or [element]
    for region in regions:
        shifts = [_shift(region, key) for key in ("row-increment", "col-increment")]
        for cell in descendants(region, "cell"):
            _take(cell, shifts, gathering)
    page = xml_tree.number(regions[0].get("page"))
    box = None if regions[0] is not element else _box(element, gathering)
    return gathering.table(page=int(page) if page is not None and page >= 0 else None, box=box)


def _shift(region: _Element, key: str) -> int:
    value = xml_tree.number(region.get(key))
    return int(value) if value is not None and 0 <= value < 1e9 else 0


def _take(cell: _Element, shifts: list[int], gathering: GatheredCells) -> None:
    where = line(cell)
    starts, ends = [], []
    for axis, shift in zip(("row", "col"), shifts, strict=True):
        written = cell.get(f"start-{axis}")
        start = gathering.whole(written, where, f"start-{axis}", 0)
        end = gathering.whole(cell.get(f"end-{axis}", written), where, f"end-{axis}", 0)
        starts.append(None if start is None else start + shift)
        ends.append(None if start is None or end is None else gathering.whole(end - start + 1, where, f"end-{axis}", 1))
    content = next(children(cell, "content"), None)
    text = "" if content is None else "".join(str(part) for part in content.itertext())
    gathering.add([*starts, *ends], spelt(text), False, _box(cell, gathering), where)


def _box(element: _Element, gathering: GatheredCells) -> Box | None:
    """The box of an element: two corners, or what encloses its points."""
    bounding, points = next(children(element, "bounding-box"), None), next(children(element, "Coords"), None)
    if bounding is not None:
        corners = [xml_tree.number(bounding.get(key)) for key in ("x1", "y1", "x2", "y2")]
        known = [value for value in corners if value is not None]
        if len(known) == 4:
            known = [min(known[0], known[2]), min(known[1], known[3]), max(known[0], known[2]), max(known[1], known[3])]
        return gathering.box(known, line(bounding))
    if points is None:
        return None
    read = [xml_tree.number(part) for pair in (points.get("points") or "").split() for part in pair.split(",")]
    values = [value for value in read if value is not None]
    if len(values) < len(read) or len(values) < 4 or len(values) % 2:
        return gathering.box(None, line(points))
    return gathering.box([min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])], line(points))
