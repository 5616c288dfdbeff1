"""GriTS and adjacency as table-transformer computes them: difflib's blocks, the hull of two boxes, texts as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Codes, Floats
from calque.base.errors import ContractError, MissingExtra
from calque.corpus.tables import CellTable
from calque.kernels import kernels
from calque.readers.sources import xml_tree
from calque.tables import adjacency
from calque.tables.comparing import Span, box_grids, span_grids, text_grids

if TYPE_CHECKING:
    from calque.tables.comparing import Pair

Relations = Counter[tuple[str, str, str, int]]


def as_it_reads(table: CellTable) -> CellTable | None:
    """A table as table-transformer reads its HTML; ``None`` where it fails: no XML, or slots without a cell."""
    if not table.markup:
        return table if bool((table.grid() >= 0).all()) else None
    try:
        root = xml_tree.parse(table.markup.encode("utf-8", "replace"), "")
        cells = _cells(root)
    except (ContractError, ValueError):
        return None
    except MissingExtra as error:
        raise MissingExtra("lxml", "xml", "compat table-transformer") from error
    made = CellTable.of(cells)
    return replace(made, page=table.page) if bool((made.grid() >= 0).all()) else None


def _cells(root: object) -> list[tuple[int, int, int, int, str, bool]]:
    """Cells in document order: each takes the first free column of its row, and spans are not cut."""
    taken: dict[int, set[int]] = {}
    row, cells = -1, []
    for node in root.iter():  # type: ignore[attr-defined]  # an element
        if node.tag == "tr":
            row += 1
        if node.tag not in ("td", "th"):
            continue
        down, across = (int(node.get(name, "1")) for name in ("rowspan", "colspan"))
        here = taken.setdefault(row, set())
        column = next(place for place in range(len(here) + 1) if place not in here)
        for each in range(row, row + down):
            taken.setdefault(each, set()).update(range(column, column + across))
        cells.append((row, column, down, across, " ".join(node.itertext()), node.tag == "th"))
    return cells


def grits(pairs: Sequence[Pair], jobs: int) -> dict[str, Array]:
    """What the tables of each pair share, and the bounds, by topology, content and location."""
    rows = [_shared(truth, found, jobs) for truth, found in pairs]
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in _NAMES}


_NAMES = tuple(f"{kind}{suffix}" for kind in ("top", "con", "loc") for suffix in ("", "_bound"))


def _shared(truth: CellTable, found: CellTable, jobs: int) -> dict[str, float]:
    layouts = truth.grid(), found.grid()
    known: dict[Span, int] = {}
    spans = [span_grids([table], [layout], known) for table, layout in zip((truth, found), layouts, strict=True)]
    boxes = np.array(list(known), dtype=np.float64).reshape(-1, 4)
    values = {"top": kernels().grid_given(spans[0], spans[1], by_hull(boxes, boxes), jobs)}
    values["con"] = _content((truth, found), layouts, jobs)
    if truth.boxes and found.boxes:
        ours, theirs = (box_grids([table], [layout]) for table, layout in zip((truth, found), layouts, strict=True))
        values["loc"] = kernels().grid_given(ours[0], theirs[0], by_hull(ours[1], theirs[1]), jobs)
    else:
        nothing = np.array([np.nan])
        values["loc"] = (nothing, nothing, nothing)
    shared = {kind: float(both[0]) for kind, (both, _, _) in values.items()}
    return shared | {f"{kind}_bound": float(min(rows[0], across[0])) for kind, (_, rows, across) in values.items()}


def _content(tables: Pair, layouts: tuple[Codes, Codes], jobs: int) -> tuple[Floats, Floats, Floats]:
    texts = [{text: number for number, text in enumerate(dict.fromkeys((*table.text, "")))} for table in tables]
    grids = [
        text_grids([table], [layout], known.__getitem__) for table, layout, known in zip(tables, layouts, texts, strict=True)
    ]
    shares = np.array([[blocks(one, other) for other in texts[1]] for one in texts[0]], dtype=np.float64)
    return kernels().grid_given(grids[0], grids[1], shares, jobs)


def blocks(truth: str, found: str) -> float:
    """How alike two texts are by difflib's matching blocks.

    >>> blocks("abcd", "bcde"), blocks("", "")
    (0.75, 1.0)
    """
    both = len(truth) + len(found)
    if not both:
        return 1.0
    return 2.0 * sum(block.size for block in SequenceMatcher(None, truth, found).get_matching_blocks()) / both


def by_hull(ours: Floats, theirs: Floats) -> Floats:
    """What boxes share by the area of the smallest box around both."""
    one, other = ours[:, None], theirs[None]
    with np.errstate(all="ignore"):
        shared = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
        hull = np.maximum(one[..., 2:], other[..., 2:]) - np.minimum(one[..., :2], other[..., :2])
        area = np.where((shared > 0).all(axis=-1), shared.prod(axis=-1), 0.0)
        return np.where(hull.prod(axis=-1) > 0, area / hull.prod(axis=-1), 0.0)


def relations(table: CellTable) -> tuple[Relations, Relations]:
    """Neighbours without blank cells, and with them; texts count as they are."""
    layout = table.grid()
    without = adjacency.neighbours(layout, [text != "" for text in table.text])
    with_blanks = adjacency.neighbours(layout, [True] * len(table))
    return (
        Counter((table.text[each.cell], table.text[each.other], each.direction, each.between) for each in without),
        Counter((table.text[each.cell], table.text[each.other], each.direction, each.between) for each in with_blanks),
    )
