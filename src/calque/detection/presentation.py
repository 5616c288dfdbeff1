"""Detection numbers for people and for other tools: tables, rows for spreadsheets, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.base.wording import counted, joined, percent, plural_of, short_names, some
from calque.detection import views
from calque.detection.average_precision import NAMES
from calque.detection.numbers import RATIOS, SCOPES
from calque.detection.views import ASKED_FOR, view
from calque.detection.views.slices import DetectionSlices
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import (
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
from calque.evaluation.presentation.sections import Section

SPATIAL = RATIOS[3:]
HEAD = ("TP", "FP", "FN", *(ratio.title for ratio in RATIOS))
TOTALS = {"micro": "all (micro)", "macro_classes": "mean of classes", "macro_documents": "mean of documents"}
SPOKEN = {**TOTALS, "weighted_classes": "weighted mean of classes"}
COLUMNS = {
    "class": "The label of the boxes; below the line all of them together, as sums or means.",
    "threshold": "The IoU that a pair must reach.",
    "kind": "What became of a prediction or a truth: TP, or the kind of error; calque explain KIND says what each means.",
    "predictions": "How many predictions are of this kind.",
    "truths": "How many truths are of this kind.",
    "area": "The share of the area of all predictions, or of all truths, that is of this kind.",
    "documents": "How many documents have this value of the metadata.",
    "class: side": "A class, and the side of the truth's box at which crops lose something; any is the worst of the four.",
    **{
        f"cut > {limit}%": f"The share of pairs whose crop loses more than {limit} % of the truth there."
        for limit in (2, 5, 10)
    },
    "edge p5": "The 5th percentile of how far the crop's edge is inside the truth's, relative to its size; negative is excess.",
    "median": "The median of how far the crop's edge is inside the truth's, relative to its size.",
    **{f"p{rank}": f"The {rank}th percentile over all pairs." for rank in (5, 25, 50, 75, 95)},
    "document": "The document.",
    "page": "The page of the document, counted from 0.",
    **{
        side: f"How much of the truth is cut off at its {side} side; negative is excess."
        for side in ("left", "top", "right", "bottom")
    },
    "truth": "The class of the truth; the columns are the classes of predictions.",
    "score": "The score from which on predictions are kept.",
    "truth area": "The area that truths cover, in input units².",
    "found area": "The area that predictions cover, in input units².",
    "missing": "The truth's area that no prediction covers; as a share of the truth's area, or on a page as an area.",
    "overlap": "Predicted area that is covered more than once; as a share of the predicted area, or on a page as an area.",
    "trespass": "Predicted area on truths of another class; as a share of the predicted area, or on a page as an area.",
    "excess": "Predicted area where there is no truth; as a share of the predicted area, or on a page as an area.",
    "wrong": "All wrong area of a page, relative to the area of its truths and predictions.",
}
REMARKS = {"empty page": ("on an empty page", "on empty pages")}
"""Subtypes and flags that do not follow a count as they are called: after one, and after more."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How much is found, how much of what was predicted is right, and how well it fits, at the lowest threshold."""
    text, block = next(iter(numbers["metrics"].items()))
    found = block["micro"]
    truths, predictions = found["tp"] + found["fn"], found["tp"] + found["fp"]
    if not truths:
        return _nothing_to_find(predictions)
    if not predictions:
        return f"Finds {_none_of(truths)}: there are no predictions."
    if not found["tp"]:
        wrong = "its only prediction is wrong" if predictions == 1 else f"all {predictions:,} predictions are wrong"
        return f"Finds {_none_of(truths)} at IoU {text}; {wrong}."
    return f"{_found(found, truths, predictions, text)}{_fit(numbers, found)}."


def _none_of(truths: int) -> str:
    return "nothing of the only object" if truths == 1 else f"none of {truths:,} objects"


def _nothing_to_find(predictions: int) -> str:
    if not predictions:
        return "There is nothing to evaluate: no truths and no predictions count."
    wrong = "the only prediction is wrong" if predictions == 1 else f"all {predictions:,} predictions are wrong"
    return f"There is nothing to find: no truths count, and {wrong}."


def _found(found: Mapping[str, Any], truths: int, predictions: int, text: str) -> str:
    share = "all" if not found["fp"] else percent(found["precision"])
    right = f"{share} of its predictions are right"
    if truths == 1:
        return f"Finds the only object at IoU {text}, and {right if predictions > 1 else 'predicts nothing else'}"
    part = f"all {truths:,}" if not found["fn"] else f"{percent(found['recall'])} of {truths:,}"
    return f"Finds {part} objects at IoU {text}, and {right}"


def _fit(numbers: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """How much of each object the boxes hold, and what a stricter threshold leaves."""
    held = f"; its boxes hold {percent(found['mean_coverage'])} of each found object"
    (_, *others) = numbers["metrics"].items()
    if not others:
        return held
    text, strictest = others[-1]
    recall = strictest["micro"]["recall"]
    left = "as many" if strictest["micro"]["tp"] == found["tp"] else "none" if not recall else percent(recall)
    return f"{held}, and at IoU {text} it finds {left}"


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """All classes together at each threshold, and COCO's averages."""
    rows = [_row(f"IoU ≥ {text}", block["micro"]) for text, block in numbers["metrics"].items()]
    means = numbers["coco"]
    averages = [(TOTALS["macro_classes"], *(means[name] for name in ("AP", "AP50", "AP75")))]
    return [
        Section(title=_heading(numbers["sources"]), head=("threshold", *HEAD), rows=rows),
        Section(title="", head=("class", "AP", "AP50", "AP75"), rows=averages),
    ]


SLICES = DetectionSlices()


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [_overview(numbers)]
    shown += [_threshold(text, block) for text, block in numbers["metrics"].items()]
    shown += _coco(numbers["coco"])
    if "errors" in numbers:
        shown.append(_errors(numbers["errors"]))
    shown += [*views.sections(numbers), *SLICES.sections(numbers)]
    notes = [*_empty_pages(numbers), *one_sided(numbers["documents"])]
    return [*shown, Section(title="", notes=notes)] if notes else shown


def _overview(numbers: Mapping[str, Any]) -> Section:
    sizes = numbers["counts"]
    parts = [counted(sizes[f"{noun}s"], noun) for noun in ("document", "page", "truth", "prediction")]
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
    short = short_names([entry["file"] for entry in entries])
    return some(sorted({entry["model"] or short[entry["file"]] for entry in entries} - {""}))


def _threshold(text: str, block: Mapping[str, Any]) -> Section:
    per_class = block["per_class"]
    rows = [_row(name, numbers) for name, numbers in per_class.items()]
    rows += [_row(title, block[scope]) for scope, title in TOTALS.items()]
    return Section(title=f"IoU ≥ {text}", head=("class", *HEAD), rows=rows, rule_before=len(per_class))


def _row(name: str, numbers: Mapping[str, Any]) -> Sequence[Any]:
    counted = [numbers.get(key, "") for key in ("tp", "fp", "fn")]
    return (name, *counted, *(numbers[ratio.name] for ratio in RATIOS))


def _coco(numbers: Mapping[str, Any]) -> list[Section]:
    """AP for each class, then the averages of COCO's summary."""
    precisions = ("AP", "AP50", "AP75", "APs", "APm", "APl")
    # Sizes are told over all classes only.
    rows: list[Sequence[Any]] = [
        (name, *(values[key] for key in precisions[:3]), "", "", "") for name, values in numbers["per_class"].items()
    ]
    rows.append((TOTALS["macro_classes"], *(numbers[name] for name in precisions)))
    recalls = {name: value for name, value in numbers.items() if name.startswith("AR")}
    return [
        Section(title="COCO average precision", head=("class", *precisions), rows=rows, rule_before=len(rows) - 1),
        Section(title="COCO average recall", head=("class", *recalls), rows=[(TOTALS["macro_classes"], *recalls.values())]),
    ]


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
    said = ", ".join(_remark(name, count) for name, count in remarks.items() if count)
    head = ("kind", "predictions", "area", "truths", "area", "ΔF1", "ΔAP")
    title = "Error kinds" if "subtypes" in numbers else "Error kinds (TIDE)"
    return Section(title=title, head=head, rows=rows, notes=[f"among them: {said}"] if said else [])


def _remark(name: str, count: int) -> str:
    """A subtype or flag with its count, in the form that goes with it."""
    noun = name.lower().replace("_", " ")
    return counted(count, *REMARKS.get(noun, (noun, noun)))


def _empty_pages(numbers: Mapping[str, Any]) -> list[str]:
    text, block = next(iter(numbers["metrics"].items()))
    empty = block["empty_pages"]
    if not empty["pages"]:
        return []
    return [
        f"{counted(empty['pages'], 'page')} without ground truth: {counted(empty['fp'], 'false positive')} "
        f"on {empty['pages_with_fp']:,} of them at IoU {text}"
    ]


def one_sided(documents: Mapping[str, Sequence[int | str]]) -> list[str]:
    """Documents that one side does not have."""
    return [
        f"{counted(len(names), 'document')} only in the {side}: {some(names)}"
        for side, names in (("truth", documents["only_truth"]), ("predictions", documents["only_predictions"]))
        if names
    ]


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
    notes = [*one_sided(numbers["documents"]), numbers["signature"]]
    parts.append(Section(title="Spatial Metrics", head=head, rows=spatial, notes=notes))
    return parts


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each threshold and class or mean, with the JSON's own names; then COCO's averages, kinds and sizes."""
    names = ("tp", "fp", "fn", *(ratio.name for ratio in RATIOS))
    ratios = [
        {"threshold": float(text), "scope": scope, "class": label, **{name: values.get(name, "") for name in names}}
        for text, block in numbers["metrics"].items()
        for scope, label, values in (
            *(("class", label, values) for label, values in block["per_class"].items()),
            *((scope, "", block[scope]) for scope in SPOKEN),
        )
    ]
    coco = numbers["coco"]
    averages = {name: value for name, value in coco.items() if name.startswith("A")}
    return [
        *ratios,
        *({"threshold": "", "scope": "coco", "class": label, **values} for label, values in coco["per_class"].items()),
        {"threshold": "", "scope": "coco", "class": "", **averages},
        *_flat_kinds(numbers.get("errors")),
        *_flat_views(numbers),
        {"threshold": "", "scope": "counts", "class": "", **_flat_sizes(numbers)},
    ]


def _flat_kinds(errors: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if errors is None:
        return []
    return [
        {
            "threshold": "",
            "scope": "kind",
            "class": kind,
            "predictions": errors["predictions"].get(kind, ""),
            "predictions_area": errors["area_share"]["predictions"].get(kind, ""),
            "truths": errors["truth"].get(kind, ""),
            "truths_area": errors["area_share"]["truth"].get(kind, ""),
            **errors["impact"].get(kind, {}),
        }
        for kind in dict.fromkeys([*errors["predictions"], *errors["truth"]])
    ]


def _flat_views(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the views as their tables show them: the title is the scope."""
    return [
        {"threshold": "", "scope": section.title, "class": row[0], **dict(zip(section.head[1:], row[1:], strict=True))}
        for section in views.sections(numbers)
        for row in section.rows
    ]


def _flat_sizes(numbers: Mapping[str, Any]) -> dict[str, int]:
    sizes = {key: value for key, value in numbers["counts"].items() if not isinstance(value, Mapping)}
    left = {f"{side}_not_counted": sum(numbers["counts"][f"{side}_not_counted"].values()) for side in ("truths", "predictions")}
    return {**sizes, **left, **{key: len(names) for key, names in numbers["documents"].items()}}


def result_schema() -> Schema:
    """The schema of what ``calque detect --format json`` prints."""
    ratios = {ratio.name: SHARE for ratio in RATIOS}
    with_counts = object_of({"tp": COUNT, "fp": COUNT, "fn": COUNT, **ratios})
    scopes = {scope: with_counts if scope == "micro" else object_of(ratios) for scope in SCOPES}
    empty_pages = object_of({"pages": COUNT, "pages_with_fp": COUNT, "fp": COUNT})
    sizes = dict.fromkeys(("documents", "pages", "truths", "predictions"), COUNT)
    not_counted = dict.fromkeys(("truths_not_counted", "predictions_not_counted"), map_of(COUNT))
    return result_of(
        "detection",
        {
            "thresholds": {**list_of(NUMBER), "minItems": 1},
            "metrics": map_of(object_of({**scopes, "per_class": map_of(with_counts), "empty_pages": empty_pages})),
            "coco": _coco_schema(),
            "counts": object_of({**sizes, **not_counted}),
            "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
        },
        # --errors none leaves errors out; a view is there when it was asked for, and null when it cannot be computed.
        {"errors": _errors_schema(), **{name: perhaps(view(name).schema()) for name in ASKED_FOR}, **_slices_schema()},
    )


def _slices_schema() -> dict[str, Schema]:
    return {key: perhaps(schema) for key, schema in SLICES.schema({}).items()}


def _coco_schema() -> Schema:
    averages = {name: SHARE for name in NAMES if not name.startswith("AR1")}
    per_class = map_of(object_of(dict.fromkeys(("AP", "AP50", "AP75"), SHARE)))
    curves = object_of({}, {"recall": list_of(NUMBER), "precision": map_of(map_of(list_of(NUMBER)))})
    # AR1, AR10 and AR100 carry the limits that were asked for in their names.
    return {
        **object_of({**averages, "per_class": per_class, "curves": curves}),
        "patternProperties": {"^AR([0-9]+|inf)$": SHARE},
    }


def _errors_schema() -> Schema:
    tallies, shares = map_of(COUNT), map_of(SHARE)
    change = {"type": ["number", "null"], "minimum": -1, "maximum": 1}
    return object_of(
        {
            "predictions": tallies,
            "truth": tallies,
            "area_share": object_of({"predictions": shares, "truth": shares}),
            "impact": map_of(object_of({"delta_f1": change, "delta_ap": change})),
            "per_class": map_of(object_of({"predictions": tallies, "truth": tallies})),
            "worst_documents": list_of(
                object_of({"document": UNIT_ID, "errors": COUNT, "predictions": tallies, "truth": tallies})
            ),
        },
        # Only calque's own kinds have subtypes and flags.
        {"subtypes": tallies, "flags": tallies},
    )


STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""
FEW = 3
"""So many classes are named; more are objects."""
GAIN = 0.005
"""What another score threshold must add to F1 to be worth a line."""
CUT = 0.1
"""The share of crops that must lose something at one side to be worth a line."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much is found, then the worst of what is wrong: false alarms, loose or tight crops, or a stricter threshold."""
    text, block = next(iter(numbers["metrics"].items()))
    found = block["micro"]
    truths, predictions = found["tp"] + found["fn"], found["tp"] + found["fp"]
    if not truths or not predictions:
        return _nothing(text, truths, predictions)
    things = nouns(block)
    recall = _phrase(f"recall@{text}", found["recall"])
    if not found["tp"]:
        wrong = Phrase(f"fp@{text}", f"{predictions:,}", "bad")
        if predictions == 1:
            return ["Finds ", recall, f" of {things}, and makes ", wrong, " prediction, which is wrong."]
        return ["Finds ", recall, f" of {things}: all ", wrong, " predictions are wrong."]
    return ["Finds ", recall, f" of {things}", *_weakness(text, found)]


def _nothing(text: str, truths: int, predictions: int) -> Sentence:
    missed, wrong = Phrase(f"fn@{text}", f"{truths:,}"), Phrase(f"fp@{text}", f"{predictions:,}")
    if truths:
        return ["Finds none of ", missed, f" object{'' if truths == 1 else 's'}: there are no predictions."]
    if not predictions:
        return ["There is nothing to evaluate: ", missed, " truths and ", wrong, " predictions count."]
    return ["There is nothing to find, and ", wrong, f" prediction{' is' if predictions == 1 else 's are'} wrong."]


def nouns(block: Mapping[str, Any]) -> str:
    """What is looked for: the classes that have truths where they are few, else objects.

    >>> nouns({"per_class": {"Figure": {"tp": 1, "fn": 0}, "Table": {"tp": 0, "fn": 1}}})
    'figures and tables'
    """
    there = [name for name, values in block["per_class"].items() if values["tp"] + values["fn"]]
    plain = all(name.isalpha() and name.isascii() for name in there)
    return joined([plural_of(name.lower()) for name in there]) if 0 < len(there) <= FEW and plain else "objects"


def _phrase(measure: str, share: float) -> Phrase:
    return Phrase(measure, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def _weakness(text: str, found: Mapping[str, Any]) -> Sentence:
    """The worst of precision, coverage and purity, when it is below what counts as strong."""
    told = {
        "precision": lambda phrase: ["only ", phrase, " of its predictions are right"],
        "mean_coverage": lambda phrase: ["its crops hold only ", phrase, " of each"],
        "mean_purity": lambda phrase: ["only ", phrase, " of its crops is theirs"],
    }
    worst = min(told, key=lambda name: found[name])
    if found[worst] >= STRONG:
        phrase = _phrase(f"precision@{text}", found["precision"])
        return [", and ", phrase, " of its predictions are right."]
    joint = ", but " if found["recall"] >= found[worst] else ", and "
    return [joint, *told[worst](_phrase(f"{worst}@{text}", found[worst])), "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Up to five things to look at, each with the filters that show them."""
    block = next(iter(numbers["metrics"].values()))
    found = block["micro"]
    lines = [*_missed(block), *_false_alarms(block), *_cut(numbers.get("crops")), *_scores(numbers.get("sweep"), found)]
    return [*lines, *_weakest(block)][:5]


def _missed(block: Mapping[str, Any]) -> list[Finding]:
    found = block["micro"]
    if not found["fn"]:
        return []
    told = f"{found['fn']:,} of {found['tp'] + found['fn']:,} {nouns(block)} {'is' if found['fn'] == 1 else 'are'} missed"
    return [Finding("fn", told, {"outcome": "fn"}, found["fn"])]


def _false_alarms(block: Mapping[str, Any]) -> list[Finding]:
    found, empty = block["micro"], block["empty_pages"]
    count = found["fp"]
    if not count:
        return []
    told = (
        f"{count:,} of {counted(found['tp'] + count, 'prediction')} {'is a false alarm' if count == 1 else 'are false alarms'}"
    )
    if empty["fp"]:
        share = "all of them" if empty["fp"] == count else f"{empty['fp']:,} of them"
        told += ", on a page that has none" if count == 1 else f", {share} on pages that have none"
    return [Finding("fp", told, {"outcome": "fp"}, count)]


def _cut(crops: Mapping[str, Any] | None) -> list[Finding]:
    if not crops or not crops["overall"]["pairs"]:
        return []
    cut = crops["overall"]["cut"]
    side = max(("left", "top", "right", "bottom"), key=lambda name: cut[name]["0.1"])
    if cut[side]["0.1"] < CUT:
        return []
    lost = round(cut[side]["0.1"] * crops["overall"]["pairs"])
    return [Finding("cut", f"{percent(cut[side]['0.1'])} of crops lose more than a tenth at the {side}", {"cut": side}, lost)]


def _scores(sweep: Mapping[str, Any] | None, found: Mapping[str, Any]) -> list[Finding]:
    best = sweep["overall"]["best_f1"] if sweep else None
    if not isinstance(best, Mapping) or best["f1"] - (found["f1"] or 0.0) < GAIN:
        return []
    told = f"Keeping only scores from {best['score']:.3g} on would lift F1 from {found['f1']:.3f} to {best['f1']:.3f}"
    return [Finding("score", told, {"score": f"<{best['score']!r}"})]


def _weakest(block: Mapping[str, Any]) -> list[Finding]:
    known = {name: values["f1"] for name, values in block["per_class"].items() if values["f1"] is not None}
    name = min(known, key=lambda label: known[label], default="")
    if len(known) < 2 or known[name] == 1:
        return []
    return [Finding("class", f"Weakest class: {name}, F1 {known[name]:.3f}", {"class": name})]
