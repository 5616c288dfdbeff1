"""Reading order for people: the headline, findings, tables in the terminal, and what the report draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes, Column, Floats, Ints, Table
from calque.base.wording import counted, laid_over, percent
from calque.corpus.boxes import distinct_names
from calque.evaluation.boxes.overlay import NORMALIZED
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.headlines import rated
from calque.evaluation.presentation.report_data import Finding, Number, Overview, Part, Phrase, ReportData, Sentence
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView
from calque.order.metrics import FOUR_NAMES, PROFILES
from calque.order.page_orders import BREAKS
from calque.order.scoring import Status

if TYPE_CHECKING:
    from calque.order.task import Order


STRONG = 0.95
"""The fraction of an order that is good news."""
WORDS = {"column_jump": "column jump"}
SET_ASIDE = {
    "unplaced": ("in predicted blocks without an order", "block"),
    "unordered": ("without a place in the truth", "block"),
    "pairs_merged": ("in one predicted block, and not judged", "pair"),
}
"""What the overview tells apart, where there is any."""
SCOPES = {"micro": "all pages together (micro)", "macro": "mean of pages", "macro_documents": "mean of documents"}
COLUMNS = {
    "scope": "All pages together (micro), the mean over pages (macro), or the mean over documents (macro_documents).",
    "kind": "Where the prediction leaves the path: at furniture, between interleaved columns, by a jump to another column, or "
    "within a column by a skip or a step back.",
    "count": "How often.",
    "document": "The document.",
    "blocks": "How many true blocks have an order.",
    "placed": "How many of them are in a predicted block that has an order.",
    "furniture": "A step to or from a header, footer or page number that is out of order.",
    "interleaved": "A step to another column, one of several in a row.",
    "column jump": "A single step to another column.",
    "skip": "A step within a column that leaves something out.",
    "back": "A step back within a column.",
    "tool": "The tool whose number this is.",
    "value": "The number.",
}
NOUNS = {
    "furniture": ("at a header or footer", "at headers and footers"), "interleaved": ("between interleaved columns",) * 2,
    "column_jump": ("column jump", "column jumps"), "skip": ("skip", "skips"), "back": ("step back", "steps back"),
}  # fmt: skip
"""Breaks of each kind, one and several."""
LISTED = 10
"""How many documents the table shows; the JSON has them all."""
NAMED = 3
"""How many of the worst pages are named; the JSON has some more."""
ONE_AND_MANY = {
    "furniture": ("at a header or footer", "at headers and footers"), "skip": ("a skip", "skips"),
    "back": ("a step back", "steps back"),
    "interleaved": ("between interleaved columns", "between interleaved columns"),
    "column_jump": ("a jump to another column", "jumps to another column"),
}  # fmt: skip
"""What one break and several breaks of a kind are."""
MOST = 5
"""How many things there are to look at."""
SAID = {
    "furniture": "at headers and footers",
    "interleaved": "between interleaved columns",
    "column_jump": "to another column",
    "skip": "over something that is left out",
    "back": "back within a column",
}
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
TITLES = {
    "pairs": ("Pairs", "read in the right order"),
    "successors": ("Successors", "steps that are right"),
    "footrule": ("Footrule", "distance from the right place"),
    "edit": ("Edit", "everything, missing blocks too"),
}


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """Return how much of the order is right, and where it breaks."""
    counts, micro = numbers["counts"], numbers["micro"]
    if not counts["truth"]:
        return ["There is nothing to judge: the truth gives no block a place."]
    missing = counts["missing"] + counts["unplaced"]
    lost = (
        f"; {counted(missing, 'block')} of {counts['truth']:,} {'has' if missing == 1 else 'have'} no place" if missing else ""
    )
    if micro["pairs"] is None:
        return [f"No two blocks can be held against each other{lost}."]
    if micro["pairs"] == 1 and not sum(numbers["breaks"].values()):
        return ["Reads ", _rated("pairs", 1.0, f"all {counts['placed']:,} blocks"), f" in their order{lost}."]
    steps: list[str | Phrase] = []
    if micro["successors"] is not None:
        steps = [", and ", _rated("successors", micro["successors"]), " of the steps"]
    where = _where(numbers["breaks"])
    return ["Reads ", _rated("pairs", micro["pairs"]), " of the pairs of blocks in their order", *steps, f"{where}{lost}."]


def _rated(metric: str, fraction: float, text: str = "") -> Phrase:
    return rated(metric, fraction, text, strong=STRONG)


def _where(breaks: Mapping[str, int]) -> str:
    """Where most breaks are, if one kind has more than half of them."""
    kind, most = max(breaks.items(), key=lambda item: item[1])
    every = sum(breaks.values())
    if 2 * most <= every:
        return ""
    one, several = ONE_AND_MANY[kind]
    if every == 1:
        return f"; the only break is {one}"
    return f"; {'all' if most == every else 'most of the'} {every:,} breaks are {several}"


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Where the path is left, most often first; blocks without a place; and the document that is read worst."""
    counts, breaks = numbers["counts"], numbers["breaks"]
    lines = [
        Finding("wrong", f"{counted(count, 'step')} {SAID[kind]}", {"kind": WORDS.get(kind, kind)}, count)
        for kind, count in sorted(breaks.items(), key=lambda item: -item[1])
        if count
    ][: MOST - 2]
    if lost := counts["missing"] + counts["unplaced"]:
        lines.append(
            Finding(
                "fn",
                f"{lost:,} of {counted(counts['truth'], 'block')} {'has' if lost == 1 else 'have'} no place",
                {"outcome": "fn"},
                lost,
            )
        )
    judged = {name: block["pairs"] for name, block in numbers["documents"].items() if isinstance(block["pairs"], float)}
    if len(judged) > 1:
        worst = min(judged, key=lambda name: (judged[name], str(name)))
        text = f"Read worst: {worst}, {percent(judged[worst])} of its pairs in order"
        lines.append(Finding("class", text, {"view": "pages", "doc": str(worst)}))
    return lines[:MOST]


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """The four numbers."""
    return [replace(_totals(numbers), title=laid_over("Reading order", numbers))]


SLICES = SliceView(
    ("micro", "macro", "macro_pages", "macro_documents", "counts"), ("micro",), {name: name for name in FOUR_NAMES}
)
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [
        _overview(numbers),
        _totals(numbers),
        _breaks(numbers),
        _documents(numbers),
        _profiles(numbers),
        *SLICES.sections(numbers),
    ]
    return [section for section in shown if section.rows or section.notes]


def _overview(numbers: Mapping[str, Any]) -> Section:
    counts = numbers["counts"]
    notes = [
        f"{counted(counts['pages'], 'page')}, {counted(counts['truth'], 'block')} in order, {counts['placed']:,} placed, "
        f"{counts['missing']:,} missing"
    ]
    notes += [f"{where}: {counted(counts[kind], noun)}" for kind, (where, noun) in SET_ASIDE.items() if counts[kind]]
    return Section(title=laid_over("Reading order", numbers), notes=notes)


def _totals(numbers: Mapping[str, Any]) -> Section:
    rows = [(label, *(numbers[scope][name] for name in FOUR_NAMES)) for scope, label in SCOPES.items()]
    return Section(title="", head=("scope", *FOUR_NAMES), rows=rows)


def _breaks(numbers: Mapping[str, Any]) -> Section:
    kinds = sorted(numbers["breaks"].items(), key=lambda item: -item[1])
    told = ", ".join(counted(count, *NOUNS[kind]) for kind, count in kinds if count)
    parts = [f"{counted(sum(numbers['breaks'].values()), 'break')}: {told}"] if told else []
    if moves := numbers["counts"]["moves"]:
        parts.append(f"{counted(moves, 'block')} would have to move")
    notes = ["; ".join(parts)] if parts else []
    if numbers["counts"]["pages"] > 1 and (worst := numbers["worst_pages"]):
        notes.append("worst pages: " + "; ".join(map(_page, worst[:NAMED])))
    return Section(title="Where the path is left", notes=notes)


def _page(page: Mapping[str, Any]) -> str:
    breaks = (f"{count:,} {WORDS.get(kind, kind)}" for kind, count in page["breaks"].items())
    return f"{page['document']} page {page['page']}, successors {page['successors']:.2f}, {', '.join(breaks)}"


def _documents(numbers: Mapping[str, Any]) -> Section:
    def worst(item: tuple[Any, Mapping[str, Any]]) -> tuple[bool, float, str]:
        value = item[1]["pairs"]
        return (False, value, str(item[0])) if isinstance(value, int | float) else (True, 0.0, str(item[0]))

    listed = sorted(numbers["documents"].items(), key=worst)
    rows = [
        (str(unit), block["truth"], block["placed"], *(block[name] for name in FOUR_NAMES), block["moves"])
        for unit, block in listed[:LISTED]
    ]
    more = len(listed) - LISTED
    notes = [f"and {counted(more, 'more document')}"] if more > 0 else []
    head = ("document", "blocks", "placed", *FOUR_NAMES, "moves")
    return Section(title="Documents, lowest pairs first", head=head, rows=rows, notes=notes)


def _profiles(numbers: Mapping[str, Any]) -> Section:
    rows = [(metric.title, numbers["profiles"][metric.name]) for metric in PROFILES]
    return Section(title="As other tools count", head=("tool", "value"), rows=rows)


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
            "overviews": [overview(numbers).to_dict()],
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


def overview(numbers: Mapping[str, Any]) -> Overview:
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
