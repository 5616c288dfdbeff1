"""What a report draws of reading order: every block on its page, its place on both paths, and steps that leave the true one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes, Column, Floats, Ints, Table
from calque.base.wording import counted
from calque.corpus.boxes import distinct_names
from calque.evaluation.boxes.overlay import NORMALIZED
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Number, Overview, Part, ReportData
from calque.order.page_orders import BREAKS
from calque.order.presentation import WORDS
from calque.order.scoring import Status

if TYPE_CHECKING:
    from calque.order.task import Order

KINDS = ("", *(WORDS.get(kind, kind) for kind in BREAKS))
"""What leads to a block: nothing odd, or a step of a kind that leaves the path."""
LEFT, RIGHT, TOP, BOTTOM = 0.3, 0.7, 0.04, 0.96
"""Where blocks stand that have no boxes: one below the other, in the true order."""
OUTCOMES = {
    "tp": "reached by a right step",
    "wrong": "reached by a wrong step",
    "fn": "not placed",
    "ignored": "without a place",
}
"""The one language of outcomes, as it is said of blocks in an order."""


def with_pages(ledger: Ledger) -> Ledger:
    """The same as tables that a viewer of pages takes: ``documents``, ``pages``, ``truth`` and ``found``."""
    if not {"blocks", "found"} <= ledger.tables.keys() or "box" not in ledger.table("blocks"):
        return ledger
    pages, blocks, found = (ledger.table(name) for name in ("pages", "blocks", "found"))
    row = {"blocks": _page_rows(pages, blocks), "found": _page_rows(pages, found)}
    first = np.searchsorted(pages.array(UNIT), np.arange(len(ledger.units)))
    names = tuple(sorted({*blocks["label"], *found["label"]}))
    bare = _without_boxes(pages.height, row["blocks"], blocks.array("box"))
    drawn = Table({
        UNIT: pages.array(UNIT),
        "page_index": pages.array("page"),
        "in_truth": pages.array("in_truth"),
        "width": pages.array("width"),
        "height": pages.array("height"),
        "image_name": pages["image_name"],
        "spelling": np.where(_in_shares(pages, row, ledger) | bare, NORMALIZED, 0).astype(np.uint8),
        "bare": bare,
    })  # fmt: skip
    sides = {}
    for side, name in (("truth", "blocks"), ("found", "found")):
        table = ledger.table(name)
        place = {label: code for code, label in enumerate(names)}
        kept: dict[str, Column] = {key: table[key] for key in table if key not in ("page", "label", "found_id")}
        kept["page"] = (row[name] - first[table.array(UNIT)]).astype(np.int32)
        kept["label"] = np.array([place[label] for label in table["label"]], dtype=np.int32)
        if side == "found":  # where the truth has no boxes, those of the prediction have nothing to lie over
            kept["box"] = np.where(bare[row[name]][:, None], np.nan, table.array("box"))
        sides[side] = Table(kept)
    sides["truth"] = _with_steps(ledger, sides["truth"], row, bare)
    tables = {"documents": ledger.table("documents"), "pages": drawn, **sides}
    return Ledger(units=ledger.units, tables=tables, names={"label": names})


def _page_rows(pages: Table, table: Table) -> Ints:
    """For each block the row of its page."""
    known = {place: row for row, place in enumerate(zip(pages.array(UNIT).tolist(), pages.array("page").tolist(), strict=True))}
    places = zip(table.array(UNIT).tolist(), table.array("page").tolist(), strict=True)
    return np.array([known[place] for place in places], dtype=np.int64)


def _without_boxes(count: int, page: Ints, boxes: Floats) -> Array:
    """Which pages have true blocks of which only names are known."""
    bare = np.zeros(count, dtype=np.bool_)
    bare[page[np.isnan(boxes).any(axis=1)]] = True
    return bare


def _in_shares(pages: Table, row: Mapping[str, Ints], ledger: Ledger) -> Array:
    """Which pages of unknown size have boxes that can only be shares of the page: none is beyond 1."""
    reach = np.zeros(pages.height)
    for name, at in row.items():
        np.maximum.at(reach, at, np.nan_to_num(ledger.table(name).array("box")).max(axis=1, initial=0))
    return np.isnan(pages.array("width")) & (reach > 0) & (reach <= 1)


def _with_steps(ledger: Ledger, truth: Table, row: Mapping[str, Ints], bare: Array) -> Table:
    """The true blocks with the kind of step that leads to each, where each is found, and boxes for those without."""
    blocks, breaks = ledger.table("blocks"), ledger.table("breaks")
    kind = np.zeros(blocks.height, dtype=np.uint8)
    starts = np.searchsorted(row["blocks"], np.arange(len(bare) + 1))
    at = _page_rows(ledger.table("pages"), breaks)
    kind[starts[at] + breaks.array("after")] = breaks.array("kind") + 1
    there = blocks.array("found")
    first = np.searchsorted(row["found"], np.arange(len(bare)))[row["blocks"]]
    match = np.where(there >= 0, first + there - ledger.offsets("found")[blocks.array(UNIT)], -1).astype(np.int64)
    boxes = np.array(blocks.array("box"))
    for page in np.flatnonzero(bare).tolist():
        part = slice(starts[page], starts[page + 1])
        boxes[part] = _strips(blocks.array("rank")[part])
    return Table({**truth.columns, "kind": kind, "match": match, "box": boxes})


def _strips(rank: Ints) -> Floats:
    """Boxes one below the other in the order of ranks; blocks without a rank come last."""
    line = np.empty(len(rank), dtype=np.int64)
    line[np.argsort(np.where(rank < 0, len(rank), rank), kind="stable")] = np.arange(len(rank))
    step = (BOTTOM - TOP) / max(1, len(rank))
    top = TOP + step * line
    return np.column_stack([np.full(len(rank), LEFT), top + 0.12 * step, np.full(len(rank), RIGHT), top + 0.88 * step])


def report_data(task: Order, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:  # noqa: ARG001  # as all tasks
    """The blocks of both sides with their places; nothing when the blocks were let go of."""
    drawn = with_pages(ledger)
    if "truth" not in drawn.tables:
        return None
    truth, found = drawn.table("truth"), drawn.table("found")
    outcome = _outcomes(truth)
    head = {
        "kind": "boxes",
        "labels": list(drawn.names["label"]),
        "documents": list(distinct_names(drawn.units)),
        "kinds": list(KINDS),
        "outcomes": OUTCOMES,
        "numbers": {
            "thresholds": [""],
            "overviews": [_overview(numbers).to_dict()],
            "classes": list(drawn.names["label"]),
            "breaks": [[WORDS.get(kind, kind), count] for kind, count in numbers["breaks"].items()],
        },
    }
    return ReportData(
        head,
        {
            **columns.page_columns(drawn),
            "page.bare": drawn.table("pages").array("bare").astype(np.uint8),
            **columns.box_columns(drawn, "truth", "t"),
            **columns.box_columns(drawn, "found", "p"),
            "t.outcome.0": outcome,
            "p.outcome.0": _outcomes_of_found(drawn, outcome, found.height),
            "t.kind": truth.array("kind"),
            "t.match": columns.on_page(drawn, "truth", "found", truth.array("match")),
            "t.rank": columns.narrow(truth.array("rank")),
            "t.place": columns.narrow(truth.array("position")),
            "t.reversed": columns.narrow(truth.array("discordant")),
        },
    )


def _outcomes(truth: Table) -> Bytes:
    status = truth.array("status")
    placed = np.where(truth.array("kind") > 0, columns.WRONG, columns.TP)
    return np.select(
        [status == Status.PLACED, status == Status.UNORDERED], [placed, np.full(len(status), columns.IGNORED)], columns.FN
    ).astype(np.uint8)


def _outcomes_of_found(drawn: Ledger, outcome: Bytes, count: int) -> Bytes:
    """A predicted block is as right as the worst block that it holds; one that holds none matters nothing."""
    truth = drawn.table("truth")
    held = drawn.absolute("found", truth.array(UNIT), truth.array("match"))
    of_found = np.full(count, columns.IGNORED, dtype=np.uint8)
    for code in (columns.TP, columns.WRONG):
        of_found[held[(outcome == code) & (truth.array("match") >= 0)]] = code
    return of_found


TITLES = {
    "pairs": ("Pairs", "read in the right order"),
    "successors": ("Successors", "steps that are right"),
    "footrule": ("Footrule", "distance from the right place"),
    "edit": ("Edit", "everything, missing blocks too"),
}


def _overview(numbers: Mapping[str, Any]) -> Overview:
    """The first view."""
    counts, micro, breaks = numbers["counts"], numbers["micro"], sum(numbers["breaks"].values())
    sizes = [counted(len(numbers["documents"]), "document"), counted(counts["pages"], "page")]
    return Overview(
        line=["Reading order", *sizes, f"{counted(counts['truth'], 'block')} in order"],
        parts=[
            Part("tp", counts["placed"] - breaks, OUTCOMES["tp"]),
            Part("wrong", breaks, OUTCOMES["wrong"]),
            Part("fn", counts["missing"] + counts["unplaced"], OUTCOMES["fn"]),
        ],
        numbers=[
            *(Number(title, name, micro[name], note) for name, (title, note) in TITLES.items()),
            Number("Moves", "moves", counts["moves"], "to put every block in its place", "-"),
            Number("docling ARD", "docling_ard", numbers["profiles"]["docling_ard"], "for comparison"),
        ],
    )
