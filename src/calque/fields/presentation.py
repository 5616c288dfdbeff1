"""The numbers of fields for people and for other tools: tables, rows for spreadsheets, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.base.wording import counted, joined, percent, some
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import (
    COUNT,
    MEASURE,
    NUMBER,
    SHARE,
    TEXT,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    perhaps,
    result_of,
)
from calque.evaluation.presentation.sections import Missing, Section
from calque.evaluation.slices import SliceView
from calque.fields.task import FAILURES

FIELD_HEAD = ("field", "TP", "FA", "FD", "FN", "TN", "precision", "recall", "F1", "accuracy", "score")
COLUMNS = {
    "field": "The field of the schema, a dotted path; all of them together below the line.",
    "TP": "Values that are right.",
    "FA": "False alarms: values that were predicted where there is nothing.",
    "FD": "False discoveries: values that were predicted and are wrong.",
    "FN": "Values that are there and were not predicted.",
    "TN": "Fields that are empty, and were left empty.",
    "class": "The field whose boxes these are; all of them together below the line.",
    "truths": "How many true boxes there are.",
    "boxes": "How many boxes were predicted.",
    "AP": "Average precision of the boxes, over IoU thresholds and recall points.",
    "AP50": "Average precision of the boxes at IoU 0.5.",
    "AP75": "Average precision of the boxes at IoU 0.75.",
    "mean IoU": "How well predicted boxes coincide with the true ones of their field, averaged.",
    "missing": "Values that are there and were not predicted.",
    "made up": "Values that were predicted where there is nothing.",
    "wrong": "Values that are another; of a document: all that is missing, made up or wrong.",
    "close": "Values that are wrong by a few letters.",
    "most frequent wrong pair": "The true value and what was read in its place most often.",
    "document": "A document.",
    "fields": "The fields of a document that are wrong, or how many fields are reviewed.",
    "least sure": "Which share of the fields is reviewed, those with the lowest confidences first; of equal ones those of the "
    "field that occurs first, then by document and row.",
    "errors found": "How many wrong values are among them.",
    "share": "Which share of all wrong values that is.",
    "at random": "Which share a review of as many fields finds that are not chosen by confidence.",
    "accept from": "The lowest confidence from which on a field can be accepted unseen.",
    "accepted": "Which share of its values that is.",
    "measure": "A number about confidences.",
    "value": "Its value.",
    "Brier score": "The mean squared difference between confidence and outcome.",
    "calibration error": "How far confidences are from accuracy, over ten equal bins (ECE).",
    "error capture gain": "How many more errors are found by looking at the least sure fields first than by looking at any.",
}
SHOWN_WORST = 5
"""How many of the worst documents a table shows; the JSON has more."""
MOST_OUTSIDE = 12
"""How many fields that the schema does not know are named in a table; the JSON has all."""
BOX_HEAD = ("class", "truths", "boxes", "AP", "AP50", "AP75", "mean IoU")


def sentence(numbers: Mapping[str, Any]) -> str:
    """How many of the true values were read, what became of the others, and where the schema comes from if nobody gave one."""
    inferred = numbers["schema"]["inferred_from"]
    made = f" No schema was given: it was made from {inferred}; --explain-schema shows how each field is compared."
    return _read(numbers) + (made if inferred else "")


def _read(numbers: Mapping[str, Any]) -> str:
    overall, documents = numbers["overall"], counted(numbers["document_count"], "document")
    right, wrong, missing, made_up = (overall[name] for name in ("tp", "fd", "fn", "fa"))
    values = right + wrong + missing
    if not values:
        extra = f"{counted(made_up, 'value')} made up" if made_up else "nothing is made up"
        return f"There is nothing to read in {documents}: no field has a true value, and {extra}."
    told = {"wrong": wrong, "missing": missing, "made up": made_up}
    rest = joined([f"{count:,} {name}" for name, count in told.items() if count])
    share = f"all {values:,} values" if right == values else f"{percent(right / values)} of {values:,} values"
    read = share if values > 1 else "the only value"
    if not right:
        read = f"none of {values:,} values" if values > 1 else "not even the only value"
    return f"Reads {read} in {documents} right" + (f": {rest}." if rest else ", and makes nothing up.")


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """All fields together, and their boxes where there are some."""
    boxes = numbers["bbox_map_metrics"]
    shown = [Section(title="", head=FIELD_HEAD, rows=[_total_row(numbers)])]
    if boxes["fields"]:
        row = ("all", boxes["mean_ap"], boxes["map_50"], boxes["map_75"])
        shown.append(Section(title="", head=("class", "AP", "AP50", "AP75"), rows=[row]))
    return shown


SLICES = SliceView(
    ("overall", "fields"),
    ("overall",),
    {
        "cm_precision": "precision",
        "cm_recall": "recall",
        "cm_f1": "F1",
        "cm_accuracy": "accuracy",
        "weighted_overall_score": "score",
    },
)
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [
        _fields(numbers),
        _failures(numbers["failures"]),
        _worst(numbers),
        _boxes(numbers["bbox_map_metrics"]),
        _confidences(numbers),
        *_reviews(numbers),
        *SLICES.sections(numbers),
    ]
    return [section for section in shown if section.rows or section.notes]


def _failures(failures: Mapping[str, Any]) -> Section:
    """Which fields fail and how, the most frequent first, with the pair that is wrong most often."""
    ordered = sorted(failures.items(), key=lambda each: -sum(each[1][kind] for kind in FAILURES))
    rows = [(name, *(entry[kind] for kind in FAILURES), _pair(entry["pairs"])) for name, entry in ordered]
    head = ("field", *(kind.replace("invented", "made up") for kind in FAILURES), "most frequent wrong pair")
    return Section(title="How fields fail", head=head, rows=rows, left=(0, len(head) - 1))


def _pair(pairs: Sequence[Mapping[str, Any]]) -> str:
    if not pairs:
        return ""
    first = pairs[0]
    times = f" ({first['count']:,} times)" if first["count"] > 1 else ""
    return " → ".join(_short(first["truth"], first["prediction"])) + times


def _short(truth: str, found: str, most: int = 24) -> list[str]:
    """Two texts, those that are long with no more than the part in which they begin to differ.

    >>> _short("to be paid within thirty days", "to be paid within sixty days")
    ['…e paid within thirty d…', '…e paid within sixty da…']
    """
    same = next((place for place, (one, other) in enumerate(zip(truth, found, strict=False)) if one != other), len(truth))
    start = max(same - most // 2 - 3, 0) if max(len(truth), len(found)) > most else 0
    shown = []
    for text in (truth, found):
        rest = "…" + text[start + 1 :] if start else text
        shown.append(rest if len(rest) <= most else rest[: most - 1] + "…")
    return shown


def _worst(numbers: Mapping[str, Any]) -> Section:
    rows = [
        (str(each["document"]), each["score"], each["wrong"], some(each["fields"], 3))
        for each in numbers["worst_documents"][:SHOWN_WORST]
    ]
    return Section(title="Worst documents", head=("document", "score", "wrong", "fields"), rows=rows, left=(0, 3))


def _wholly_right(numbers: Mapping[str, Any]) -> list[str]:
    """How many documents have no wrong value."""
    right, total = numbers["wholly_right"]["documents"], numbers["document_count"]
    share = f"{right:,} of {counted(total, 'document')} ({percent(right / total)})" if total else ""
    return [f"{share} {'is' if total == 1 else 'are'} wholly right"] if total else []


def _reviews(numbers: Mapping[str, Any]) -> list[Section]:
    """What reviewing the least sure fields would catch, and from where on each field can be accepted unseen."""
    captured = numbers["confidence_metrics"]["overall"]["error_capture_at_budget"]["budgets"]
    rows = [
        (
            f"{100 * float(budget):.0f} %",
            entry["fields_reviewed"],
            entry["errors_found"],
            entry["pct_errors_caught"],
            entry["pct_errors_random"],
        )
        for budget, entry in captured.items()
    ]
    told = "reviewing the fields with the lowest confidences: how many errors that finds, beside a review of any fields"
    review = Section(
        title="Review",
        head=("least sure", "fields", "errors found", "share", "at random"),
        rows=rows,
        notes=[told] if rows else [],
    )
    accepted = [
        (name, *(entry["operating_point"][key] for key in ("confidence", "precision", "accepted")))
        for name, entry in numbers["acceptance"]["fields"].items()
    ]
    target = f"from which confidence on a field keeps a precision of {numbers['acceptance']['target_precision']:g}"
    head = ("field", "accept from", "precision", "accepted")
    return [review, Section(title="Acceptance", head=head, rows=accepted, notes=[target] if accepted else [])]


def _fields(numbers: Mapping[str, Any]) -> Section:
    rows = [_field_row(name, entry) for name, entry in numbers["fields"].items()]
    rows.append(_total_row(numbers))
    documents = numbers["documents"]
    boxes = counted(numbers["unaccounted_boxes"], "box", "boxes")
    notes = [f"{counted(numbers['document_count'], 'document')}, {boxes} unaccounted for"]
    notes += _wholly_right(numbers)
    notes += _outside(numbers["not_in_schema"])
    notes += [
        f"{counted(len(names), 'document')} only in the {side}: {some(names)}"
        for side, names in (("truth", documents["only_truth"]), ("predictions", documents["only_predictions"]))
        if names
    ]
    return Section(title="Fields", head=FIELD_HEAD, rows=rows, notes=notes, rule_before=len(rows) - 1)


def _outside(names: Mapping[str, int]) -> list[str]:
    """One line for the fields that the schema does not know: they are in no number."""
    if not names:
        return []
    shown = ", ".join(f"{name} ({count:,})" for name, count in list(names.items())[:MOST_OUTSIDE])
    more = f" and {counted(len(names) - MOST_OUTSIDE, 'other')}" if len(names) > MOST_OUTSIDE else ""
    return [f"not in the schema: {shown}{more}"]


def _total_row(numbers: Mapping[str, Any]) -> Sequence[Any]:
    return _field_row("all", {**numbers["overall"], "mean_score": numbers["overall"]["weighted_overall_score"]})


def _field_row(name: str, entry: Mapping[str, Any]) -> Sequence[Any]:
    tp, fa, fd, fn, tn = (entry[key] for key in ("tp", "fa", "fd", "fn", "tn"))
    # The JSON says 0.0 for 0/0, as its readers expect; people see that there is no number.
    precision = entry["cm_precision"] if tp + fa + fd else Missing("nothing predicted")
    recall = entry["cm_recall"] if tp + fn + fd else Missing("nothing to find")
    f1 = entry["cm_f1"] if tp + fa + fd + fn else Missing("nothing to find and nothing predicted")
    accuracy = entry["cm_accuracy"] if tp + fa + fd + fn + tn else Missing("no values")
    score = entry.get("mean_score", Missing("nothing was compared"))
    return name, tp, fa, fd, fn, tn, precision, recall, f1, accuracy, score


def _boxes(boxes: Mapping[str, Any]) -> Section:
    if not boxes["fields"]:
        return Section(title="")
    rows: list[Sequence[Any]] = [
        (name, entry["num_gt"], entry["num_detections"], entry["ap"], entry["ap_50"], entry["ap_75"], entry["mean_iou"])
        for name, entry in boxes["fields"].items()
    ]
    truths, found = (sum(entry[key] for entry in boxes["fields"].values()) for key in ("num_gt", "num_detections"))
    if not truths:
        return Section(title="Boxes", notes=[f"the truth has no boxes to compare the {found:,} predicted ones with"])
    rows.append(("mean", truths, found, boxes["mean_ap"], boxes["map_50"], boxes["map_75"], ""))
    coverage = boxes["coverage"]
    note = f"{coverage['fields_with_bbox']:,} of {coverage['fields_total']:,} compared fields have a truth box"
    return Section(title="Boxes", head=BOX_HEAD, rows=rows, notes=[note], rule_before=len(rows) - 1)


def _confidences(numbers: Mapping[str, Any]) -> Section:
    metrics = numbers["confidence_metrics"]
    if not metrics["coverage"]["fields_with_confidence"]:
        return Section(title="")
    overall = metrics["overall"]
    rows = [
        ("AUROC", overall["auroc"]["value"]),
        ("Brier score", overall["brier_score"]["value"]),
        ("calibration error", overall["ece"]["value"]),
        ("error capture gain", overall["error_capture_at_budget"]["value"]),
    ]
    note = f"all fields together: {numbers['acceptance']['meaning']}"
    return Section(title="Confidences", head=("measure", "value"), rows=rows, notes=[note])


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each field, and one for all, with the JSON's own names; then boxes and confidences."""
    names = ("tp", "fa", "fd", "fp", "tn", "fn", "cm_precision", "cm_recall", "cm_f1", "cm_accuracy")
    boxes = numbers["bbox_map_metrics"]
    rows = [
        {"field": field, **{name: entry[name] for name in names}, "mean_score": entry.get("mean_score")}
        | _flat_boxes(boxes["fields"].get(field))
        for field, entry in numbers["fields"].items()
    ]
    located = {
        {"mean_ap": "ap", "map_50": "ap_50", "map_75": "ap_75"}[name]: boxes[name] for name in ("mean_ap", "map_50", "map_75")
    }
    sizes = {"documents": numbers["document_count"], "unaccounted_boxes": numbers["unaccounted_boxes"]}
    sizes["wholly_right"] = numbers["wholly_right"]["documents"]
    sizes |= {key: len(names) for key, names in numbers["documents"].items()}
    calibrated = {name: block["value"] for name, block in numbers["confidence_metrics"]["overall"].items()}
    overall = {name: numbers["overall"][name] for name in names}
    score = numbers["overall"]["weighted_overall_score"]
    known = set(numbers["fields"])
    return [
        *rows,
        *({"field": name} | _flat_boxes(entry) for name, entry in boxes["fields"].items() if name not in known),
        {"field": "", **overall, "mean_score": score, **located, **sizes, **calibrated},
        *_flat_reviews(numbers),
    ]


def _flat_reviews(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What reviewing the least sure fields would catch, and from where on each field can be accepted."""
    captured = numbers["confidence_metrics"]["overall"]["error_capture_at_budget"]["budgets"]
    reviews = [{"field": "", "reviewed_share": float(budget), **entry} for budget, entry in captured.items()]
    accepted = [
        {"field": name, **{f"accept_{key}": value for key, value in entry["operating_point"].items()}}
        for name, entry in numbers["acceptance"]["fields"].items()
    ]
    return [*reviews, *accepted]


def _flat_boxes(entry: Mapping[str, Any] | None) -> dict[str, Any]:
    names = ("num_gt", "num_detections", "ap", "ap_50", "ap_75", "mean_iou")
    return {} if entry is None else {key: entry[key] for key in names}


_COUNTED = {
    **dict.fromkeys(("tp", "fa", "fd", "fp", "tn", "fn"), COUNT),
    **dict.fromkeys(("cm_precision", "cm_recall", "cm_f1", "cm_accuracy"), SHARE),
}


def result_schema() -> Schema:
    """The schema of what ``calque fields --format json`` prints."""
    joint = {"correct": COUNT, **dict.fromkeys(("precision", "recall", "f1"), SHARE)}
    numbers = {
        "schema": object_of({"inferred_from": perhaps(TEXT)}),
        "overall": object_of({**_COUNTED, "weighted_overall_score": NUMBER}),
        "fields": map_of(object_of(_COUNTED, {"mean_score": NUMBER})),
        "bbox_map_metrics": _boxes_schema(),
        "joint": map_of(object_of(joint)),
        "confidence_metrics": _confidences_schema(),
        "acceptance": _acceptance(),
        "calibration": _calibration(),
        "failures": map_of(_failing()),
        "wholly_right": object_of({"documents": COUNT, "share": SHARE}),
        "worst_documents": list_of(object_of({"document": UNIT_ID, "score": NUMBER, "wrong": COUNT, "fields": list_of(TEXT)})),
        "not_in_schema": map_of(COUNT),
        "document_count": COUNT,
        "unaccounted_boxes": COUNT,
        "boxes": object_of(dict.fromkeys(("truth", "predicted", "ignored"), COUNT)),
        "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
    }
    return result_of("fields", numbers, SLICES.schema(numbers))


def _failing() -> Schema:
    """How a field fails."""
    pair = object_of({"truth": TEXT, "prediction": TEXT, "count": COUNT})
    return object_of({**dict.fromkeys(FAILURES, COUNT), "pairs": list_of(pair)})


def _coverage(part: str) -> Schema:
    return object_of({part: COUNT, "fields_total": COUNT, "ratio": SHARE})


def _boxes_schema() -> Schema:
    """Average precision of boxes."""
    ratios = dict.fromkeys(("ap", "ap_50", "ap_75", "mean_iou"), SHARE)
    return object_of({
        **dict.fromkeys(("mean_ap", "map_50", "map_75"), SHARE),
        "iou_thresholds": list_of(NUMBER),
        "fields": map_of(object_of({**ratios, "num_gt": COUNT, "num_detections": COUNT})),
        "coverage": _coverage("fields_with_bbox"),
    })  # fmt: skip


def _confidences_schema() -> Schema:
    """Calibration, over everything and for each key."""
    calibration_bin = {"range": list_of(NUMBER), "count": COUNT, "accuracy": SHARE, "mean_confidence": SHARE}
    budget = {
        "fields_reviewed": COUNT,
        "errors_found": COUNT,
        "pct_errors_caught": SHARE,
        "pct_errors_random": SHARE,
        "gain": NUMBER,
    }
    block = object_of({
        "auroc": object_of({"value": SHARE}),
        "brier_score": object_of({"value": SHARE}),
        "ece": object_of({"value": SHARE, "bins": list_of(object_of(calibration_bin))}),
        "error_capture_at_budget": {
            "description": "from the lowest confidence on; of equal ones by the field that occurs first, document and row",
            **object_of({"value": MEASURE, "budgets": map_of(object_of(budget))}),
        },
    })  # fmt: skip
    return object_of({"overall": block, "fields": map_of(block), "coverage": _coverage("fields_with_confidence")})


def _calibration() -> Schema:
    """Calibration taken apart."""
    part = {"range": list_of(NUMBER), "count": COUNT, "accuracy": SHARE, "mean_confidence": SHARE}
    brier = {**dict.fromkeys(("value", "reliability", "resolution", "uncertainty"), SHARE), "within_bins": MEASURE}
    point = object_of(dict.fromkeys(("confidence", "coverage", "risk"), SHARE))
    block = object_of({
        "brier": object_of(brier),
        "equal_mass": object_of({"value": SHARE, "bins": list_of(object_of(part))}),
        "risk_coverage": object_of({"area": SHARE, "points": list_of(point)}),
    })  # fmt: skip
    return object_of({"overall": block, "fields": map_of(block)})


def _acceptance() -> Schema:
    point = object_of(dict.fromkeys(("confidence", "precision", "recall", "accepted"), SHARE))
    block: dict[str, Schema] = {"operating_point": point, "meaning": TEXT, "sweep": list_of(point)}
    return object_of({"target_precision": SHARE, **block, "fields": map_of(object_of(block))})


STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much of what is there is found, how much of what was read is right, and the weakest field."""
    overall = numbers["overall"]
    if not overall["tp"] + overall["fd"] + overall["fn"]:
        return ["There is nothing to read: ", Phrase("fa", f"{overall['fa']:,}"), " values are made up."]
    opening: list[str | Phrase] = ["Finds ", _phrase("cm_recall", overall), " of the values, and "]
    opening += [_phrase("cm_precision", overall), " of what it reads is right"]
    worst = _weakest_field(numbers)
    if worst is None or numbers["fields"][worst]["cm_f1"] >= STRONG:
        return [*opening, "."]
    f1 = Phrase(f"cm_f1/{worst}", f"{numbers['fields'][worst]['cm_f1']:.3f}", "bad")
    return [*opening, f"; worst is {worst}, F1 ", f1, "."]


def _phrase(name: str, overall: Mapping[str, Any]) -> Phrase:
    share = overall[name]
    return Phrase(name, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def _weakest_field(numbers: Mapping[str, Any]) -> str | None:
    known = {name: entry["cm_f1"] for name, entry in numbers["fields"].items() if entry["tp"] + entry["fp"] + entry["fn"]}
    return min(known, key=lambda name: known[name]) if len(known) > 1 else None


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Values that are wrong, missing or made up, and the weakest field."""
    overall = numbers["overall"]
    told = (
        ("wrong", overall["fd"], "read wrong", "wrong"),
        ("fn", overall["fn"], "missing", "fn"),
        ("fp", overall["fa"], "made up", "fp"),
    )
    lines = [
        Finding(mark, f"{counted(count, 'value')} {text}", {"outcome": outcome, "kind": "counted"}, count)
        for mark, count, text, outcome in told
        if count
    ]
    worst = _weakest_field(numbers)
    if worst is not None:
        lines.append(Finding("class", f"Weakest field: {worst}, F1 {numbers['fields'][worst]['cm_f1']:.3f}", {"class": worst}))
    return lines
