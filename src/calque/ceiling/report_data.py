"""What a report draws of a ceiling: every truth with who finds it, the ladder, who repairs whom, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes
from calque.base.wording import counted
from calque.ceiling.boxes.suspects import KINDS
from calque.ceiling.presentation import rungs, said_of
from calque.ceiling.units import Level, levels_of
from calque.corpus.boxes import distinct_names
from calque.detection.scoring import EXCLUDED, IGNORED, Status
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Breakdown, Number, Overview, Part, ReportData

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

OUTCOMES = {"tp": "found by some", "wrong": "lost to others", "fn": "found by nobody", "fp": "wrong"}
"""The one language of outcomes, as it is said of several systems."""
SHOWN = 200
"""How many annotations to look at are listed."""


def report_data(task: Ceiling, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:
    """The boxes of the truth and of all systems; nothing for records, and when boxes were let go of."""
    if task.kind == "fields" or "box" not in ledger.table("truth"):
        return None
    levels = list(levels_of(task, ledger))
    labels = list(ledger.names["label"])
    head = {
        "kind": "boxes",
        "labels": labels,
        "documents": list(distinct_names(ledger.units)),
        "outcomes": OUTCOMES,
        "kinds": ["", *KINDS],
        "numbers": {
            "thresholds": list(task.levels),
            "overviews": [_overview(task, numbers, level).to_dict() for level in levels],
            "classes": labels,
            "ceiling": [_ladder(numbers, level) for level in levels],
        },
    }
    return ReportData(head, {**columns.page_columns(ledger), **_boxes(ledger, levels)})


def _ladder(numbers: Mapping[str, Any], level: Level) -> dict[str, Any]:
    """The rungs, who repairs whom, and the list of suspects, with where each stands."""
    block = numbers["levels"][level.task.levels[level.level]]
    order = [row["system"] for row in block["order"]]
    rows = [
        [title, *(_number(values.get(key)) for key in ("recall", "precision", "f1")), _number(held_out), remark]
        for title, values, held_out, remark, _ in rungs(numbers, block)
    ]
    repairs = [[block["pairs"].get(one, {}).get(other, {}).get("repairs") for other in order] for one in order]
    added = [[row["gain"], row["matches"], block["without"][row["system"]]] for row in block["order"]]
    return {"rungs": rows, "systems": order, "repairs": repairs, "added": added, "suspects": _suspects(level, block)}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _suspects(level: Level, block: Mapping[str, Any]) -> list[list[Any]]:
    """Kind, systems, document, page, what is said of it, and the truth's row, or -1."""
    names = dict(zip(level.ledger.units, distinct_names(level.ledger.units), strict=True))
    rows = {}
    table = level.ledger.table("suspects")
    here = np.flatnonzero((table.array("level") == level.level) & (table.array("truth") >= 0))
    at = level.ledger.absolute("truth", table.array(UNIT)[here], table.array("truth")[here])
    for row, unit, box in zip(at.tolist(), table.array(UNIT)[here].tolist(), table.array("box")[here].tolist(), strict=True):
        rows[level.ledger.units[unit], tuple(box)] = row
    listed = []
    for each in block["suspects"]["listed"][:SHOWN]:
        row = rows.get((each["document"], tuple(each["box"])), -1)
        listed.append([each["kind"], each["systems"], names[each["document"]], each["page"], said_of(each), row])
    return listed


def _overview(task: Ceiling, numbers: Mapping[str, Any], level: Level) -> Overview:
    """The first view."""
    name = task.levels[level.level]
    block, at = numbers["levels"][name], f"@{name}"
    missed, select, best = block["missed"], block["select"], block["best"]
    sizes = [counted(numbers["documents"]["counted"], "document"), counted(block["truth"], "truth")]
    big = [Number("Best single", f"best.recall{at}", best["recall"], f"recall of {best['system']}")]
    if "f1" in best:
        big.append(Number("Best F1", f"best.f1{at}", best["f1"], f"of {best['system']}"))
        big.append(Number("Ceiling F1", f"f1{at}", select["f1"], "of the best selection"))
    big.append(Number("Ceiling", f"recall{at}", select["recall"], "recall of the best selection"))
    big.append(Number("Repairable", f"repairable{at}", block["repairable"], "of the misses, by others"))
    big.append(Number("Nobody finds", f"unfound{at}", missed["unfound"], "of the truths", "fn"))
    return Overview(
        line=["Ceiling", *sizes, ", ".join(numbers["systems"]), f"IoU {name}"],
        parts=[
            Part("tp", select["matches"], OUTCOMES["tp"]),
            Part("wrong", missed.get("contested", 0), OUTCOMES["wrong"]),
            Part("fn", missed["unfound"], OUTCOMES["fn"], f"unfound{at}"),
        ],
        numbers=big,
        breakdown=_classes(level),
    )


def _classes(level: Level) -> Breakdown:
    labels = level.ledger.names["label"]
    label = level.ledger.table("truth").array("label")[level.rows]
    outcome = outcome_codes(level)
    table = np.stack(
        [np.bincount(label[outcome == code], minlength=len(labels)) for code in (columns.TP, columns.WRONG, columns.FN)]
    )
    rows = [(name, table[:, code].tolist()) for code, name in enumerate(labels) if table[:, code].any()]
    titles = [(OUTCOMES[name], "", name) for name in ("tp", "wrong", "fn")]
    return Breakdown("By class", "class", titles, ((0, "tp"), (1, "wrong"), (2, "fn")), rows, table.sum(axis=1).tolist())


def outcome_codes(level: Level) -> Bytes:
    """What a selection of all systems makes of each unit that counts."""
    return np.select([level.selected, level.masks > 0], [columns.TP, columns.WRONG], columns.FN).astype(np.uint8)


def _boxes(ledger: Ledger, levels: list[Level]) -> dict[str, Array]:
    truth, found = ledger.table("truth"), ledger.table("found")
    drawn: dict[str, Array] = {
        **columns.box_columns(ledger, "truth", "t"),
        **columns.box_columns(ledger, "found", "p"),
        "t.match": columns.on_page(ledger, "truth", "found", truth.array("match")),
        "t.iou": truth.array("reached")[:, 0].astype(np.float32),
        "p.score": found.array("score").astype(np.float32),
        "t.kind": _kinds(ledger),
    }
    for level in levels:
        outcome = _left_out(truth.array("status"))
        outcome[level.rows] = outcome_codes(level)
        drawn[f"t.outcome.{level.level}"] = outcome
        wrong = _left_out(found.array("status"))
        counted_boxes = found.array("status") == Status.COUNTED
        wrong[counted_boxes] = np.where(found.array("hit")[counted_boxes, level.level], columns.TP, columns.FP)
        drawn[f"p.outcome.{level.level}"] = wrong
    return drawn


def _left_out(status: Bytes) -> Bytes:
    kinds = [np.isin(status, IGNORED), np.isin(status, EXCLUDED)]
    return np.select(kinds, [columns.IGNORED, columns.EXCLUDED], columns.INVALID).astype(np.uint8)


def _kinds(ledger: Ledger) -> Bytes:
    """Why a truth should be looked at, at the lowest level."""
    table = ledger.table("suspects")
    here = np.flatnonzero((table.array("level") == 0) & (table.array("truth") >= 0))
    kinds = np.zeros(ledger.table("truth").height, np.uint8)
    at = ledger.absolute("truth", table.array(UNIT)[here], table.array("truth")[here])
    kinds[at] = table.array("kind")[here] + 1
    return kinds
