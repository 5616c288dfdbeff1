"""What a report draws of detection: every box with its outcome at each threshold, and the numbers that stand beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Table
from calque.base.errors import ConfigError
from calque.base.wording import counted
from calque.corpus.boxes import distinct_names
from calque.detection.kinds.numbers import KINDS, SUBTYPE_NAMES, VIEWS
from calque.detection.scoring import EXCLUDED, IGNORED, INVALID, Status
from calque.detection.views import view
from calque.detection.views.crops import LIMITS
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import FP, TP, Breakdown, Number, Overview, Part, ReportData

if TYPE_CHECKING:
    from calque.detection.task import Detection

SHOWN = ("crops", "confusion", "sweep")
"""Views that a report needs, whether or not they were asked for."""


def report_data(task: Detection, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData:
    """The boxes, their outcomes and the numbers of a ledger that kept its boxes."""
    _check_report_columns(ledger)
    kinds = VIEWS.get(task.errors, KINDS).names
    head = {
        "kind": "boxes",
        "labels": list(ledger.names["label"]),
        "documents": list(distinct_names(ledger.units)),
        "kinds": _by_code(kinds),
        "subtypes": _by_code(SUBTYPE_NAMES),
        "statuses": list(ledger.names["status"]),
        "cuts": [repr(limit) for limit in LIMITS],
        "numbers": _numbers(task, numbers),
    }
    return ReportData(head, {**columns.page_columns(ledger), **_truth(task, ledger), **_found(task, ledger)})


def _by_code(names: Mapping[Any, str]) -> list[str]:
    """Names in the order of their codes; codes that nothing has are called nothing."""
    return [names.get(code, "") for code in range(max(names) + 1)]


def _check_report_columns(ledger: Ledger) -> None:
    """Refuse a ledger that was scored without the columns that a report needs."""
    if "met" not in ledger.table("truth") or "swept" not in ledger.table("found"):
        raise ConfigError("this result has no outcomes for a report. Evaluate again with keep='outcomes'.")


def _truth(task: Detection, ledger: Ledger) -> dict[str, Array]:
    table = ledger.table("truth")
    edges = table.array("edges")
    cut = np.zeros(table.height, dtype=np.uint16)
    for place, limit in enumerate(LIMITS):
        for side in range(4):
            cut |= (edges[:, side] > limit).astype(np.uint16) << np.uint16(4 * place + side)
    return {
        **columns.box_columns(ledger, "truth", "t"),
        **_outcomes(task, table, "t"),
        "t.match": columns.on_page(ledger, "truth", "found", table.array("match")),
        "t.iou": table.array("iou").astype(np.float32),
        "t.coverage": columns.share_code(table.array("coverage")),
        "t.purity": columns.share_code(table.array("purity")),
        "t.cut": cut,
        "t.cell": _truth_cells(ledger),
        **_kinds(ledger, "truth", "t"),
    }


def _found(task: Detection, ledger: Ledger) -> dict[str, Array]:
    table = ledger.table("found")
    return {
        **columns.box_columns(ledger, "found", "p"),
        **_outcomes(task, table, "p"),
        "p.score": table.array("score").astype(np.float32),
        "p.made_up": _made_up(task, ledger).astype(np.uint8),
        **_kinds(ledger, "found", "p"),
    }


def _outcomes(task: Detection, table: Table, letter: str) -> dict[str, Array]:
    """A code for each threshold, as `outcomes` has it in words."""
    status = table.array("status")
    usual = np.full(table.height, columns.FN if letter == "t" else columns.FP, dtype=np.uint8)
    shown: dict[str, Array] = {f"{letter}.status": status}
    for place, threshold in enumerate(task.iou):
        code = usual.copy()
        if letter == "p":
            code[table.array("absorbed") >= threshold] = columns.IGNORED
        code[np.isin(status, IGNORED)] = columns.IGNORED
        code[np.isin(status, EXCLUDED)] = columns.EXCLUDED
        code[np.isin(status, INVALID)] = columns.INVALID
        code[table.array("iou") >= threshold] = columns.TP
        shown[f"{letter}.outcome.{place}"] = code
    return shown


def _kinds(ledger: Ledger, side: str, letter: str) -> dict[str, Array]:
    table = ledger.table(side)
    if "kind" not in table:
        return {}
    other = "found" if side == "truth" else "truth"
    shown = {
        f"{letter}.kind": table.array("kind"),
        f"{letter}.partner": columns.on_page(ledger, side, other, table.array("partner")),
    }
    return shown | ({f"{letter}.subtype": table.array("subtype")} if "subtype" in table else {})


def _truth_cells(ledger: Ledger) -> Codes:
    """For each truth its column of the confusion matrix; one more than all labels is the background, -1 none."""
    truth, found = ledger.table("truth"), ledger.table("found")
    met = truth.array("met")
    paired = met >= 0
    partner = ledger.absolute("found", truth.array(UNIT), met)
    cell = np.full(truth.height, -1, dtype=np.int32)
    cell[paired] = found.array("label")[partner[paired]]
    cell[~paired & (truth.array("status") == Status.COUNTED)] = len(ledger.names["label"])
    return np.asarray(columns.narrow(cell))


def _made_up(task: Detection, ledger: Ledger) -> Flags:
    """Which predictions stand in the background's row of the confusion matrix."""
    truth, found = ledger.table("truth"), ledger.table("found")
    met = truth.array("met")
    free = np.ones(found.height, dtype=np.bool_)
    free[ledger.absolute("found", truth.array(UNIT), met)[met >= 0]] = False
    counted: Flags = free & (found.array("status") == Status.COUNTED) & ~(found.array("absorbed") >= task.iou[0])
    return counted


def report_numbers(task: Detection, ledger: Ledger, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers with the views of a report, whether or not they were asked for."""
    from calque.evaluation.measures import settle

    made = {"score_calibration": calibration(_found_outcomes(task, ledger), ledger.table("found").array("score"))}
    lacking = [name for name in SHOWN if not isinstance(numbers.get(name), Mapping)]
    if not lacking:
        return {**numbers, **made}
    views, _ = settle({name: view(name).measure(task, ledger) for name in lacking})
    return {**numbers, **views, **made}


def _found_outcomes(task: Detection, ledger: Ledger) -> list[Array]:
    """For each threshold what became of every prediction."""
    shown = _outcomes(task, ledger.table("found"), "p")
    return [shown[f"p.outcome.{place}"] for place in range(len(task.iou))]


COLUMNS = (
    ("found", "tp", "tp"), ("missed", "fn", "fn"), ("false", "fp", "fp"), ("recall", "recall", ""),
    ("precision", "precision", ""), ("F1", "f1", ""), ("coverage", "mean_coverage", ""),
)  # fmt: skip
MARKS = ((0, "tp"), (1, "fn"), (2, "fp"))


def _overview(numbers: Mapping[str, Any], text: str, block: Mapping[str, Any]) -> Overview:
    """The first view at one threshold."""
    found, counts, coco = block["micro"], numbers["counts"], numbers["coco"]
    alarms = "false alarm" if found["fp"] == 1 else "false alarms"
    sizes = [counted(counts[f"{noun}s"], noun) for noun in ("document", "page", "truth", "prediction")]
    ap50 = "" if coco["AP50"] is None else f"AP50 {coco['AP50']:.3f}"
    notes = {
        "recall": ("Recall", f"{found['tp']:,} of {found['tp'] + found['fn']:,} found"),
        "precision": ("Precision", counted(found["fp"], "false alarm")),
        "f1": ("F1", "of recall and precision"),
        "mean_coverage": ("Coverage", "of a truth is in its crop"),
        "mean_purity": ("Purity", "of a crop is the truth"),
    }
    return Overview(
        line=["Detection", *sizes, f"a box counts as found from IoU {text} on"],
        parts=[
            Part(name, found[name], word, f"{name}@{text}")
            for name, word in (("tp", "found"), ("fn", "missed"), ("fp", alarms))
        ],
        numbers=[
            *(Number(title, f"{name}@{text}", found[name], note) for name, (title, note) in notes.items()),
            Number("AP (COCO)", "AP", coco["AP"], ap50),
        ],
        breakdown=Breakdown(
            title="By class",
            of="class",
            columns=[(title, f"{name}@{text}", outcome) for title, name, outcome in COLUMNS] + [("AP", "AP", "")],
            marks=MARKS,
            rows=[
                (label, [*(values[name] for _, name, _ in COLUMNS), coco["per_class"].get(label, {}).get("AP")])
                for label, values in block["per_class"].items()
            ],
            total=[*(found[name] for _, name, _ in COLUMNS), coco["AP"]],
        ),
    )  # fmt: skip


def _numbers(task: Detection, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows, each number once: by threshold, then by class where there are classes."""
    classes = list(numbers["metrics"][repr(task.iou[0])]["per_class"])
    return {
        "thresholds": [repr(threshold) for threshold in task.iou],
        "overviews": [_overview(numbers, text, block).to_dict() for text, block in numbers["metrics"].items()],
        "classes": classes,
        "curves": _curves(numbers["coco"], classes),
        "errors": _errors(numbers.get("errors")),
        "crops": _crops(numbers["crops"]),
        "confusion": numbers["confusion"],
        "sweep": _sweep(numbers["sweep"]["overall"]),
        "calibration": numbers["score_calibration"],
    }


MOST_CURVES = 200
"""How many classes have a curve of their own in the page."""


def _curves(coco: Mapping[str, Any], classes: Sequence[str]) -> list[list[int] | None]:
    """For each class precision at recall 0, 0.02, 0.04 … in thousandths, at IoU 0.5."""
    precision = coco["curves"].get("precision", {}).get("0.5", {})
    return [
        [round(value * 1000) for value in precision[name][::2]] if name in precision else None for name in classes[:MOST_CURVES]
    ]


def _errors(errors: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if errors is None:
        return []
    return [
        {
            "kind": kind,
            "predictions": errors["predictions"].get(kind),
            "truths": errors["truth"].get(kind),
            "delta_f1": errors["impact"].get(kind, {}).get("delta_f1"),
            "delta_ap": errors["impact"].get(kind, {}).get("delta_ap"),
            "worth": kind in errors["impact"],
        }
        for kind in dict.fromkeys([*errors["predictions"], *errors["truth"]])
        if errors["predictions"].get(kind) or errors["truth"].get(kind)
    ]


def _crops(crops: Mapping[str, Any]) -> dict[str, Any]:
    overall = crops["overall"]
    medians = {side: values["p50"] for side, values in overall["edges"].items()}
    return {"pairs": overall["pairs"], "cut": overall["cut"], "medians": medians, "threshold": crops["threshold"]}


def _sweep(overall: Mapping[str, Any]) -> dict[str, Any]:
    curve = {name: [round(value, 4) for value in values] for name, values in overall["curve"].items()}
    return {"best_f1": overall["best_f1"], "curve": curve}


BINS = 10
"""How many parts scores from 0 to 1 are cut into."""


def calibration(outcomes: Sequence[Array], scores: Array) -> list[list[list[float]]]:
    """For each threshold, and each tenth of scores that has predictions: its ends, how many, their mean score, the share right.

    Scores are cut on 32 bits, as a report cuts them. Those that are no shares have no calibration.

    >>> calibration([np.array([TP, FP, TP])], np.array([0.95, 0.45, 0.91]))
    [[[0.4, 0.5, 1, 0.45, 0.0], [0.9, 1.0, 2, 0.9299999999999999, 1.0]]]
    """
    known = scores[~np.isnan(scores)]
    if not len(known) or known.min() < 0 or known.max() > 1:
        return [[] for _ in outcomes]
    edges = np.linspace(0, 1, BINS + 1).astype(np.float32)
    tenth = np.searchsorted(edges[1:-1], scores.astype(np.float32), side="right")
    without = np.isnan(scores)
    return [_tenths(np.where(without, np.int64(-1), outcome), scores, tenth) for outcome in outcomes]


def _tenths(outcome: Array, scores: Array, tenth: Array) -> list[list[float]]:
    judged = np.isin(outcome, (TP, FP))
    count = np.bincount(tenth[judged], minlength=BINS)
    right = np.bincount(tenth[outcome == TP], minlength=BINS)
    sums = np.bincount(tenth[judged], weights=scores[judged], minlength=BINS)
    return [
        [at / BINS, (at + 1) / BINS, int(count[at]), float(sums[at] / count[at]), float(right[at] / count[at])]
        for at in np.flatnonzero(count).tolist()
    ]
