"""From two corpora of orders to the ledger, one row per page, block and break, and from there to the outcome of each block."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Column, Ints, Strings, Table
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import UnitId, canonical, distinct_names
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, RunOutcomes, TruthOutcomes
from calque.evaluation.ledger import UNIT, Ledger
from calque.order.judging import Judged, OrderSide, judged
from calque.order.metrics import FOUR, count_rows
from calque.order.page_orders import BREAKS, ORDER_COUNTS

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


PAIRS = FOUR[0]
STATUS_NAMES = tuple(status.name.lower() for status in Status)
_BLOCK = ("rank", "position", "found", "discordant")
_DRAWN = frozenset((table, name) for table in ("blocks", "found") for name in ("id", "label", "box")) | frozenset(
    ("pages", name) for name in ("width", "height", "image_name")
)
"""What viewers alone need."""


def score(task: Order, truth: OrderCorpus, found: OrderCorpus, jobs: int = 1) -> Ledger:
    """The ledger: ``documents``, ``pages`` with counts, ``blocks`` of the truth, ``found`` ones, and ``breaks``."""
    units = tuple(sorted({*truth.units(), *found.units()}, key=canonical))
    there = [
        (row, number)
        for row, unit in enumerate(units)
        for number in sorted({*truth.pages.get(unit, ()), *found.pages.get(unit, ())})
    ]
    ours, theirs = ([side.pages.get(units[row], {}).get(number, NO_PAGE) for row, number in there] for side in (truth, found))
    made = judged(ours, theirs, pair=task.pair, iou=task.iou, furniture=task.furniture, jobs=jobs)
    places = np.array(there, dtype=np.int64).reshape(-1, 2)
    return Ledger(
        units=units,
        names={"status": STATUS_NAMES, "kind": BREAKS},
        details=frozenset(("blocks", name) for name in ("found_id", *_BLOCK))
        | {("breaks", name) for name in ("before", "after")}
        | _DRAWN,
        tables={
            "documents": _documents(units, truth, found),
            "pages": _pages(places, made),
            "blocks": _blocks(places, made),
            "found": _side(places, made.found),
            "breaks": _breaks(places, made),
        },
    )


def _documents(units: tuple[UnitId, ...], truth: OrderCorpus, found: OrderCorpus) -> Table:
    return Table({
        UNIT: np.arange(len(units), dtype=np.int32),
        "in_truth": np.array([unit in truth.pages for unit in units], dtype=np.bool_),
        "in_found": np.array([unit in found.pages for unit in units], dtype=np.bool_),
    })  # fmt: skip


def _pages(places: Ints, made: Judged) -> Table:
    """One row for each page of either side."""
    ours, theirs = made.truth.pages, made.found.pages
    sizes = [page.size or other.size or (np.nan, np.nan) for page, other in zip(ours, theirs, strict=True)]
    counts: dict[str, Column] = {name: np.ascontiguousarray(made.counts[:, at]) for at, name in enumerate(ORDER_COUNTS)}
    return Table({
        **_located(places),
        **counts,
        "in_truth": np.array([page is not NO_PAGE for page in ours], dtype=np.bool_),
        "width": np.array([width for width, _ in sizes], dtype=np.float64),
        "height": np.array([height for _, height in sizes], dtype=np.float64),
        "image_name": Strings.pack(page.image or other.image for page, other in zip(ours, theirs, strict=True)),
    })  # fmt: skip


def _blocks(places: Ints, made: Judged) -> Table:
    """One row for each block of the truth."""
    status = np.select(
        [made.rank < 0, made.position >= 0, made.places >= 0],
        [Status.UNORDERED, Status.PLACED, Status.UNPLACED],
        Status.MISSING,
    )
    columns = {"rank": made.rank, "position": made.position, "found": made.places, "discordant": made.discordant}
    return Table({
        **_side(places, made.truth).columns,
        "status": status.astype(np.uint8),
        **{name: column.astype(np.int64) for name, column in columns.items()},
        "found_id": Strings.pack(_found_ids(made)),
    })  # fmt: skip


def _found_ids(made: Judged) -> Iterator[str]:
    bounds = pairwise(made.truth.orders.blocks.tolist())
    places = made.places.tolist()
    for page, (first, last) in zip(made.found.pages, bounds, strict=True):
        ids = page.ids
        yield from ["" if there < 0 else str(ids[there]) for there in places[first:last]]


def _side(places: Ints, side: OrderSide) -> Table:
    """One row for each block of a side: what is drawn of it; NaN where it has no box."""
    return Table({
        **_located(np.repeat(places, np.diff(side.orders.blocks), axis=0)),
        "id": Strings.pack(str(name) for page in side.pages for name in page.ids),
        "label": Strings.pack(side.labels()),
        "box": side.boxes,
    })  # fmt: skip


def _breaks(places: Ints, made: Judged) -> Table:
    """One row for each step that leaves the path."""
    return Table({
        **_located(np.repeat(places, np.diff(made.break_offsets), axis=0)),
        "kind": made.kind,
        "before": made.before.astype(np.int64),
        "after": made.after.astype(np.int64),
    })  # fmt: skip


def _located(places: Ints) -> dict[str, Column]:
    return {UNIT: places[:, 0].astype(np.int32), "page": np.ascontiguousarray(places[:, 1])}


def remarks(ledger: Ledger) -> tuple[Issue, ...]:
    """A note where no true block of any page that both sides have is in a predicted one."""
    pages = ledger.table("pages")
    both = (pages.array("truth") > 0) & (pages.array("pred") > 0)
    if not both.any() or (pages.array("truth") > pages.array("missing")).any():
        return ()
    help = 'check that ids are alike (1 and "1" are two), or that boxes are in the same units'
    text = "no block of the truth is any block of the prediction"
    return (Issue("nothing-placed", text, help=help, severity=Severity.NOTE),)


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


def run_outcomes(task: Order, ledger: Ledger) -> RunOutcomes:
    """Return the outcome of each block, for comparisons: right if it is placed and no pair with it is reversed.

    The score of a document is its `pairs`.
    """
    blocks = ledger.table("blocks")
    rows = np.flatnonzero(blocks.array("status") != Status.UNORDERED)
    status = blocks.array("status")[rows]
    reversed_pairs = blocks.array("discordant")[rows] if "discordant" in blocks else np.zeros(len(rows), np.int64)
    right = (status == Status.PLACED) & (reversed_pairs == 0)
    kinds = np.select(
        [right, status == Status.PLACED, status == Status.UNPLACED], ["in_order", "out_of_order", "unplaced"], "missing"
    )
    ids, labels = blocks.get("id"), blocks.get("label")
    page = blocks.array("page")[rows].tolist()
    names = [ids[row] for row in rows.tolist()] if isinstance(ids, Strings) else [str(row) for row in rows.tolist()]
    label = [labels[row] for row in rows.tolist()] if isinstance(labels, Strings) else [""] * len(rows)
    truths = TruthOutcomes(
        blocks.array(UNIT)[rows].tolist(),
        list(zip(page, names, strict=True)),
        page,
        names,
        label,
        kinds.tolist(),
        right.tolist(),
    )
    return RunOutcomes(truths, NO_FALSE_POSITIVES, count_rows(task, ledger).document_values(PAIRS))
