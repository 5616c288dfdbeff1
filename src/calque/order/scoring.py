"""From two corpora of orders to the ledger: one row for each page, for each block of either side, and for each break.

`outcomes` reads it again, for what can be looked at beside the numbers.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from calque.core.columns import Column, Floats, Strings, Table
from calque.core.corpora.orders import Group, OrderCorpus, OrderPage
from calque.core.corpus import UnitId, canonical, distinct_names
from calque.core.ledger import UNIT, Ledger
from calque.order.one_page import BREAKS, COUNTS, Judged, judged

if TYPE_CHECKING:
    from calque.order.task import Order

NO_PAGE = OrderPage((), Group(()))


class Status(IntEnum):
    """What became of a true block."""

    PLACED = 0
    UNPLACED = 1
    """It is in a predicted block that has no order."""
    MISSING = 2
    UNORDERED = 3
    """The truth gives it no place."""


STATUS_NAMES = tuple(status.name.lower() for status in Status)
_BLOCK = (UNIT, "page", "status", "rank", "position", "found", "discordant")
_STEP = (UNIT, "page", "kind", "before", "after")
_DRAWN = frozenset((table, name) for table in ("blocks", "found") for name in ("id", "label", "box")) | frozenset(
    ("pages", name) for name in ("width", "height", "image_name")
)
"""What viewers alone need."""


def score(task: Order, truth: OrderCorpus, found: OrderCorpus) -> Ledger:
    """The ledger: ``documents``, ``pages`` with counts, ``blocks`` of the truth, ``found`` ones, and ``breaks``."""
    units = tuple(sorted({*truth.units(), *found.units()}, key=canonical))
    gathered = _Gathered()
    for row, unit in enumerate(units):
        ours, theirs = truth.pages.get(unit, {}), found.pages.get(unit, {})
        for number in sorted({*ours, *theirs}):
            page = ours.get(number, NO_PAGE)
            other = theirs.get(number, NO_PAGE)
            made = judged(page, other, pair=task.pair, iou=task.iou, furniture=task.furniture)
            gathered.add(row, number, page, other, made, in_truth=number in ours)
    return Ledger(
        units=units,
        names={"status": STATUS_NAMES, "kind": BREAKS},
        details=frozenset(("blocks", name) for name in ("found_id", *_BLOCK[3:]))
        | {("breaks", name) for name in ("before", "after")}
        | _DRAWN,
        tables={
            "documents": _documents(units, truth, found),
            "pages": gathered.pages(),
            "blocks": gathered.blocks(),
            "found": gathered.found(),
            "breaks": gathered.breaks(),
        },
    )


def _documents(units: tuple[UnitId, ...], truth: OrderCorpus, found: OrderCorpus) -> Table:
    return Table({
        UNIT: np.arange(len(units), dtype=np.int32),
        "in_truth": np.array([unit in truth.pages for unit in units], dtype=np.bool_),
        "in_found": np.array([unit in found.pages for unit in units], dtype=np.bool_),
    })  # fmt: skip


class _Gathered:
    """The rows of the tables while pages are judged one by one."""

    def __init__(self) -> None:
        self._pages: list[tuple[int, ...]] = []
        self._sizes: list[tuple[float, float]] = []
        self._images: list[str] = []
        self._blocks: list[tuple[int, ...]] = []
        self._sides = [_Side(), _Side()]
        self._found_ids: list[str] = []
        self._breaks: list[tuple[int, ...]] = []

    def add(self, unit: int, number: int, page: OrderPage, other: OrderPage, made: Judged, *, in_truth: bool) -> None:
        """A page with its blocks and breaks."""
        self._pages.append((unit, number, in_truth, *(made.counts[name] for name in COUNTS)))
        rank = {block: place for place, block in enumerate(made.line)}
        position = {block: place for place, block in enumerate(made.read)}
        self._sizes.append(page.size or other.size or (np.nan, np.nan))
        self._images.append(page.image or other.image)
        for side, of in zip(self._sides, (page, other), strict=True):
            side.add(unit, number, of)
        for block in range(len(page.ids)):
            there = made.places.get(block, -1)
            status = (
                Status.UNORDERED if block not in rank
                else Status.PLACED if block in position
                else Status.MISSING if there < 0 else Status.UNPLACED
            )  # fmt: skip
            places = rank.get(block, -1), position.get(block, -1), there, made.discordant.get(block, 0)
            self._blocks.append((unit, number, status, *places))
            self._found_ids.append("" if there < 0 else str(other.ids[there]))
        self._breaks += [(unit, number, BREAKS.index(each.kind), each.before, each.after) for each in made.breaks]

    def pages(self) -> Table:
        """One row for each page of either side."""
        columns = _columns((UNIT, "page", "in_truth", *COUNTS), self._pages)
        sizes = np.array(self._sizes, dtype=np.float64).reshape(-1, 2)
        drawn = {"width": np.ascontiguousarray(sizes[:, 0]), "height": np.ascontiguousarray(sizes[:, 1])}
        named = {"image_name": Strings.pack(self._images)}
        return Table(columns | {"in_truth": np.asarray(columns["in_truth"]).astype(np.bool_)} | drawn | named)

    def blocks(self) -> Table:
        """One row for each block of the truth."""
        columns = _columns(_BLOCK, self._blocks)
        return Table(columns | self._sides[0].columns() | {"found_id": Strings.pack(self._found_ids)})

    def found(self) -> Table:
        """One row for each block of the prediction."""
        side = self._sides[1]
        return Table(_columns((UNIT, "page"), side.rows) | side.columns())

    def breaks(self) -> Table:
        """One row for each step that leaves the path."""
        return Table(_columns(_STEP, self._breaks))


class _Side:
    """What is drawn of the blocks of one side."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self._ids: list[str] = []
        self._labels: list[str] = []
        self._boxes: list[Floats] = []

    def add(self, unit: int, number: int, page: OrderPage) -> None:
        """The blocks of a page."""
        count = len(page.ids)
        self.rows += [(unit, number)] * count
        self._ids += [str(name) for name in page.ids]
        self._labels += page.labels or [""] * count
        self._boxes.append(np.full((count, 4), np.nan) if page.boxes is None else page.boxes)

    def columns(self) -> dict[str, Column]:
        """Ids, labels and boxes; NaN where a block has none."""
        boxes = np.concatenate([np.zeros((0, 4)), *self._boxes])
        return {"id": Strings.pack(self._ids), "label": Strings.pack(self._labels), "box": boxes}


def _columns(names: tuple[str, ...], rows: list[tuple[int, ...]]) -> dict[str, Column]:
    numbers = np.array(rows, dtype=np.int64).reshape(-1, len(names))
    types = {UNIT: np.int32, "status": np.uint8, "kind": np.uint8}
    return {name: numbers[:, place].astype(types.get(name, np.int64)) for place, name in enumerate(names)}


def outcomes(ledger: Ledger) -> Table:
    """True blocks with their rank, where they are read and in which block; then breaks, from one block to the next."""
    blocks, breaks = ledger.table("blocks"), ledger.table("breaks")
    if "id" not in blocks:
        raise ValueError('the blocks were let go of (keep="numbers"): evaluate again and keep outcomes')
    names = distinct_names(ledger.units)
    ids, labels, found_ids = (blocks.columns[name] for name in ("id", "label", "found_id"))
    first = {
        place: row
        for row, place in reversed(
            list(enumerate(zip(blocks.array(UNIT).tolist(), blocks.array("page").tolist(), strict=True)))
        )
    }
    steps = [
        (first[unit, page] + before, first[unit, page] + after)
        for unit, page, before, after in zip(
            *(breaks.array(name).tolist() for name in (UNIT, "page", "before", "after")), strict=True
        )
    ]
    nowhere = np.full(breaks.height, -1, dtype=np.int64)
    units = [*blocks.array(UNIT).tolist(), *breaks.array(UNIT).tolist()]
    return Table({
        "document": Strings.pack(names[unit] for unit in units),
        "page": np.concatenate([blocks.array("page"), breaks.array("page")]),
        "what": Strings.pack(["block"] * blocks.height + ["break"] * breaks.height),
        "id": Strings.pack([*ids, *(ids[before] for before, _ in steps)]),
        "to": Strings.pack([*[""] * blocks.height, *(ids[after] for _, after in steps)]),
        "label": Strings.pack([*labels, *(labels[before] for before, _ in steps)]),
        "outcome": Strings.pack([
            *(STATUS_NAMES[code] for code in blocks.array("status").tolist()),
            *(BREAKS[code] for code in breaks.array("kind").tolist()),
        ]),
        **{name: np.concatenate([blocks.array(name), nowhere]) for name in ("rank", "position")},
        "found": Strings.pack([*found_ids, *[""] * breaks.height]),
        "discordant": np.concatenate([blocks.array("discordant"), np.zeros(breaks.height, dtype=np.int64)]),
    })  # fmt: skip
