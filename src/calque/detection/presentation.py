"""Detection numbers for people and for other tools: tables, rows for spreadsheets, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.presentation.result_schema import (
    COUNT,
    NUMBER,
    SHARE,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    perhaps,
    result_of,
)
from calque.core.presentation.sections import Section, cell
from calque.detection import views
from calque.detection.average_precision import NAMES
from calque.detection.numbers import RATIOS, SCOPES
from calque.detection.views import ASKED_FOR, view

SPATIAL = RATIOS[3:]
TITLES = {ratio.name: ratio.title for ratio in RATIOS}
HEAD = ("TP", "FP", "FN", *(ratio.title for ratio in RATIOS))
TOTALS = {"micro": "all (micro)", "macro_classes": "mean of classes", "macro_documents": "mean of documents"}
SPOKEN = {**TOTALS, "weighted_classes": "weighted mean of classes"}
TITLES = {ratio.name: ratio.title for ratio in RATIOS}
WORTH = {"delta_f1": "ΔF1", "delta_ap": "ΔAP"}
LISTED = 5
"""How many names a note lists before it only counts."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [_overview(numbers)]
    shown += [_threshold(text, block) for text, block in numbers["metrics"].items()]
    shown.append(_coco(numbers["coco"]))
    if "errors" in numbers:
        shown.append(_errors(numbers["errors"]))
    shown += views.sections(numbers)
    notes = [*_empty_pages(numbers), *_one_sided(numbers["documents"]), *_undefined(numbers["undefined"])]
    return [*shown, Section(title="", notes=notes)] if notes else shown


def _overview(numbers: Mapping[str, Any]) -> Section:
    sizes = numbers["counts"]
    parts = [_plural(sizes[name], name) for name in ("documents", "pages", "truths", "predictions")]
    notes = [
        f"not counted, {side}: " + ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left.items())
        for side, left in (("truths", sizes["truths_not_counted"]), ("predictions", sizes["predictions_not_counted"]))
        if left
    ]
    return Section(title=_heading(numbers["sources"]), notes=[", ".join(parts), *notes])


def _heading(sources: Mapping[str, Any]) -> str:
    found, truth = models(sources["predictions"]), models(sources["truth"])
    return f"Detection: {found} against {truth}" if found and truth else "Detection"


def models(entries: Sequence[Mapping[str, str]]) -> str:
    """The names of the models behind one side, or of their files."""
    return ", ".join(sorted({entry["model"] or entry["file"] for entry in entries} - {""}))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun[:-1] if count == 1 else noun}"


def _threshold(text: str, block: Mapping[str, Any]) -> Section:
    per_class = block["per_class"]
    rows = [_row(name, numbers) for name, numbers in per_class.items()]
    rows += [_row(title, block[scope]) for scope, title in TOTALS.items()]
    return Section(title=f"IoU ≥ {text}", head=("class", *HEAD), rows=rows, rule_before=len(per_class))


def _row(name: str, numbers: Mapping[str, Any]) -> Sequence[Any]:
    counted = [numbers.get(key, "") for key in ("tp", "fp", "fn")]
    return (name, *counted, *(numbers[ratio.name] for ratio in RATIOS))


def _coco(numbers: Mapping[str, Any]) -> Section:
    """AP for each class, and the averages of COCO's summary in two rows that read across."""
    rows = [
        (name, *(values[key] for key in ("AP", "AP50", "AP75")), "", "", "") for name, values in numbers["per_class"].items()
    ]
    rows.append(("mean of classes", *(numbers[name] for name in ("AP", "AP50", "AP75", "APs", "APm", "APl"))))
    recalls = {name: value for name, value in numbers.items() if name.startswith("AR")}
    notes = ["average recall  " + "  ".join(f"{name} {cell(value)}" for name, value in recalls.items())]
    head = ("class", "AP", "AP50", "AP75", "small", "medium", "large")
    return Section(title="COCO average precision", head=head, rows=rows, notes=notes, rule_before=len(numbers["per_class"]))


def _errors(numbers: Mapping[str, Any]) -> Section:
    """One row for each kind that occurs, with what repairing it would be worth."""
    found, truth, impact = numbers["predictions"], numbers["truth"], numbers["impact"]
    shares = numbers["area_share"]
    rows = []
    for kind in dict.fromkeys([*found, *truth]):
        if found.get(kind) or truth.get(kind):
            worth = impact.get(kind, {"delta_f1": "", "delta_ap": ""})
            sides = [
                value
                for counted, share in ((found, shares["predictions"]), (truth, shares["truth"]))
                for value in ((counted[kind], share[kind]) if kind in counted else ("", ""))
            ]
            rows.append((kind, *sides, worth["delta_f1"], worth["delta_ap"]))
    remarks = {**numbers.get("subtypes", {}), **numbers.get("flags", {})}
    said = ", ".join(f"{count:,} {name.lower().replace('_', ' ')}" for name, count in remarks.items() if count)
    head = ("kind", "predictions", "area", "truths", "area", "ΔF1", "ΔAP")
    title = "Error kinds" if "subtypes" in numbers else "Error kinds (TIDE)"
    return Section(title=title, head=head, rows=rows, notes=[f"among them: {said}"] if said else [])


def _empty_pages(numbers: Mapping[str, Any]) -> list[str]:
    text, block = next(iter(numbers["metrics"].items()))
    empty = block["empty_pages"]
    if not empty["pages"]:
        return []
    return [
        f"{_plural(empty['pages'], 'pages')} without ground truth: {_plural(empty['fp'], 'false positives')} "
        f"on {empty['pages_with_fp']:,} of them at IoU {text}"
    ]


def _one_sided(documents: Mapping[str, Sequence[int | str]]) -> list[str]:
    return [
        f"{_plural(len(names), 'documents')} only in the {side}: {_some(names)}"
        for side, names in (("truth", documents["only_truth"]), ("predictions", documents["only_predictions"]))
        if names
    ]


def _some(names: Sequence[int | str]) -> str:
    listed = ", ".join(str(name) for name in names[:LISTED])
    return listed if len(names) <= LISTED else f"{listed} and {len(names) - LISTED:,} more"


def _undefined(reasons: Mapping[str, str]) -> list[str]:
    """What the dashes mean: one line for each reason and the measures that it takes away, with whom it concerns."""
    measures: dict[tuple[str, str], list[str]] = {}
    for path, reason in reasons.items():
        if path.startswith(("crops.", "slices.")):  # too many; their own sections say it shortly
            continue
        scope, name = _spoken(path)
        if name not in measures.setdefault((scope, reason), []):
            measures[scope, reason].append(name)
    scopes: dict[tuple[str, str], list[str]] = {}
    for (scope, reason), names in measures.items():
        if scope != SPOKEN["weighted_classes"]:  # not in the table
            scopes.setdefault((", ".join(names), reason), []).append(scope)
    return [
        f"– {names}: {reason}" + (f" ({_some(concerned)})" if any(concerned) else "")
        for (names, reason), concerned in scopes.items()
    ]


def _spoken(path: str) -> tuple[str, str]:
    """The scope and the measure in ``metrics.0.5.per_class.Table.precision``, in words."""
    head, _, name = path.rpartition(".")
    if head.startswith("errors."):
        return "", WORTH.get(name, "area share")
    for marker in ("per_class.", *SPOKEN):
        _, found, after = head.partition(marker)
        if found:
            return (after if marker == "per_class." else SPOKEN[marker]), TITLES.get(name, name)
    return "", name


def report_sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The source document's reporting template: detection metrics at each threshold, then spatial metrics."""
    metrics = numbers["metrics"]
    parts = [Section(title=f"Model: {models(numbers['sources']['predictions']) or 'unnamed'}", level=2)]
    for position, (text, block) in enumerate(metrics.items()):
        title = f"{'Optional ' if position else ''}Detection Metrics (T={text})"
        rows = [(name, values["precision"], values["recall"]) for name, values in block["per_class"].items()]
        rows.append(("all (micro)", block["micro"]["precision"], block["micro"]["recall"]))
        parts.append(Section(title=title, head=("Class", "Precision", "Recall"), rows=rows))
    lowest = next(iter(metrics.values()))
    spatial = [(name, *(values[ratio.name] for ratio in SPATIAL)) for name, values in lowest["per_class"].items()]
    head = ("Class", "Mean IoU", "Mean Coverage", "Mean Purity")
    notes = [*_one_sided(numbers["documents"]), *_undefined(numbers["undefined"])]
    parts.append(Section(title="Spatial Metrics", head=head, rows=spatial, notes=[*notes, numbers["signature"]]))
    return parts


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each threshold and class or mean, with the JSON's own names."""
    names = ("tp", "fp", "fn", *(ratio.name for ratio in RATIOS))
    return [
        {"threshold": float(text), "scope": scope, "class": label, **{name: values.get(name) for name in names}}
        for text, block in numbers["metrics"].items()
        for scope, label, values in (
            *(("class", label, values) for label, values in block["per_class"].items()),
            *((scope, "", block[scope]) for scope in SPOKEN),
        )
    ]


def result_schema() -> Schema:
    """The schema of what ``calque detect --format json`` prints."""
    ratios = {ratio.name: SHARE for ratio in RATIOS}
    counted = object_of({"tp": COUNT, "fp": COUNT, "fn": COUNT, **ratios})
    scopes = {scope: counted if scope == "micro" else object_of(ratios) for scope in SCOPES}
    empty_pages = object_of({"pages": COUNT, "pages_with_fp": COUNT, "fp": COUNT})
    sizes = dict.fromkeys(("documents", "pages", "truths", "predictions"), COUNT)
    not_counted = dict.fromkeys(("truths_not_counted", "predictions_not_counted"), map_of(COUNT))
    return result_of(
        "detection",
        {
            "thresholds": {**list_of(NUMBER), "minItems": 1},
            "metrics": map_of(object_of({**scopes, "per_class": map_of(counted), "empty_pages": empty_pages})),
            "coco": _coco_schema(),
            "counts": object_of({**sizes, **not_counted}),
            "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
        },
        # --errors none leaves errors out; a view is there when it was asked for, and null when it cannot be computed.
        {"errors": _errors_schema(), **{name: perhaps(view(name).schema()) for name in ASKED_FOR}},
    )


def _coco_schema() -> Schema:
    averages = {name: SHARE for name in NAMES if not name.startswith("AR1")}
    per_class = map_of(object_of(dict.fromkeys(("AP", "AP50", "AP75"), SHARE)))
    curves = object_of({}, {"recall": list_of(NUMBER), "precision": map_of(map_of(list_of(NUMBER)))})
    # AR1, AR10 and AR100 carry the limits that were asked for in their names.
    return {
        **object_of({**averages, "per_class": per_class, "curves": curves}),
        "patternProperties": {"^AR[0-9]+$": SHARE},
    }


def _errors_schema() -> Schema:
    counted, shares = map_of(COUNT), map_of(SHARE)
    change = {"type": ["number", "null"], "minimum": -1, "maximum": 1}
    return object_of(
        {
            "predictions": counted,
            "truth": counted,
            "area_share": object_of({"predictions": shares, "truth": shares}),
            "impact": map_of(object_of({"delta_f1": change, "delta_ap": change})),
            "per_class": map_of(object_of({"predictions": counted, "truth": counted})),
            "worst_documents": list_of(
                object_of({"document": UNIT_ID, "errors": COUNT, "predictions": counted, "truth": counted})
            ),
        },
        # Only calque's own kinds have subtypes and flags.
        {"subtypes": counted, "flags": counted},
    )
