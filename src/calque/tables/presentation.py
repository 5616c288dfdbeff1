"""Table numbers for people and for other tools: a sentence, tables, rows for spreadsheets, and the JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.base.wording import counted, laid_over, percent
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import (
    COUNT,
    MEASURE,
    NUMBER,
    SHARE,
    TEXT,
    Schema,
    list_of,
    map_of,
    object_of,
    result_of,
)
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView, slices_schema
from calque.tables.adjacency import THRESHOLDS_2019
from calque.tables.kinds import KINDS
from calque.tables.measures import ABOUT, KIND_WORDS
from calque.tables.numbers import BLOCKS, MEANS, WORST
from calque.tables.scoring import Status

TITLES = {
    "teds": "TEDS", "teds_struct": "TEDS-Struct", "grits_top": "GriTS-Top", "grits_con": "GriTS-Con",
    "grits_loc": "GriTS-Loc",
    "exact": "exact", "rows_right": "rows right", "columns_right": "columns right", "cells": "cells", "adjacency": "adjacency",
    "header": "header", "dar_con_original": "dar_con_original", "dar_con": "dar_con",
}  # fmt: skip
SET_ASIDE = {
    "missed": ", counted as 0",
    "spurious": ", not in the mean",
    "undefined": " without rows on either side, left out",
    "clamped": " with more differences than rows and cells, counted as 0",
    "invalid": " too large to be evaluated, left out",
}
"""Tables that the overview tells apart, where there are any, and what becomes of them."""
SCOPES = {
    "mean": "mean of tables", "with_spurious": "with spurious tables", "pages": "mean of pages",
    "micro": "all together (micro)", "simple": "tables without spans", "complex": "tables with spans",
}  # fmt: skip
COLUMNS = {
    "scope": "Which tables are counted, and how: each truth table alike, with spurious ones as 0, page by page, or all nodes "
    "and slots together.",
    "what": "Cells, relations between neighbours, or headers.",
    "both": "How many stand on both sides.",
    "truth": "How many the truth has; in lists of tables, the place of the table in its document.",
    "predicted": "How many were predicted; in lists of tables, the place of the table in its document.",
    "precision": "The share of what was predicted that stands on both sides.",
    "recall": "The share of the truth that stands on both sides.",
    "F1": "Precision and recall together.",
    "kind": "The kind of error that explains a unit of the distance.",
    "count": "How often.",
    "cost": "What it costs in rows, cells and texts.",
    "loss": "How much of the mean TEDS it takes; all losses add up to 1 minus the mean TEDS.",
    "document": "The document.",
    "found": "The place of the predicted table in its document; nothing where there is none.",
    "main kind": "The kind of error that costs most.",
    "tables": "How many truth tables.",
    "documents": "How many documents have this value of the metadata.",
    **{f"compat {name}": text for name, text in ABOUT.items()},
    **KIND_WORDS,
}
SAID = {
    "row_missed": "rows that are missing", "row_spurious": "rows that are not there", "row_merged": "rows that are merged",
    "row_split": "rows that are split", "column_missed": "columns that are missing",
    "column_spurious": "columns that are not there", "cell_missed": "cells that are missing",
    "cell_spurious": "cells that are not there", "cell_merged": "cells that are merged", "cell_split": "cells that are split",
    "shift": "shifted rows", "span": "wrong spans", "text": "misread texts", "table_missed": "tables that are missing",
}  # fmt: skip
"""What the kinds are called that TEDS loses something to."""
IN_WORDS = {
    **SAID, "table_spurious": "tables that are not there", "header_wrong": "headers taken for cells, or cells for headers",
    "apart": "values under the wrong headings",
}  # fmt: skip
"""What every kind of error is called where people read of it."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How well tables were read, and what costs most."""
    counts, means = numbers["counts"], numbers["mean"]
    if not counts["truth"]:
        predicted = f"{counted(counts['pred'], 'table')} {_were(counts['pred'])} predicted"
        return f"There is nothing to find: the truth has no tables, and {predicted}."
    name = next((each for each in ("teds", "grits_con", "grits_top") if isinstance(means.get(each), float)), None)
    found = _found(counts)
    if name is None:
        return f"{found}."
    if means[name] == 1:
        return f"{found}, without any difference ({TITLES[name]} 1)."
    return f"{found}, with a mean {TITLES[name]} of {means[name]:.4f}{_reason(_losses(numbers))}."


def _found(counts: Mapping[str, int]) -> str:
    """How many tables have a partner, and how many were predicted for nothing."""
    truth, paired, spurious = counts["truth"], counts["paired"], counts["spurious"]
    which = (
        "the only table" if truth == 1 else f"all {truth:,} tables" if paired == truth else f"{paired:,} of {truth:,} tables"
    )
    found = f"Finds {which}" if paired else f"Finds none of {truth:,} tables" if truth > 1 else "Does not find the only table"
    return f"{found}, and {counted(spurious, 'table')} that {_are(spurious)} not there" if spurious else found


def _reason(losses: Mapping[str, float]) -> str:
    total = sum(losses.values())
    if not total:
        return ""
    kind, most = max(losses.items(), key=lambda item: item[1])
    return f"; {'all' if most == total else percent(most / total)} of the loss is {SAID[kind]}"


def _losses(numbers: Mapping[str, Any]) -> dict[str, float]:
    return {kind: block["loss"] for kind, block in numbers.get("errors", {}).items() if kind in SAID}


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """The means over tables."""
    names = list(numbers["mean"])
    rows = [(SCOPES["mean"], *(numbers["mean"][name] for name in names))]
    return [Section(title=laid_over("Tables", numbers), head=("scope", *(TITLES[name] for name in names)), rows=rows)]


class TableSlices(SliceView):
    """The means over tables, and the counts of all tables together."""

    def block(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the number of ground-truth tables, the means and the counts."""
        return {"tables": numbers["counts"]["truth"], "mean": numbers["mean"], "micro": numbers["micro"]}


SLICES = TableSlices(averaged=("mean",), titles=TITLES, counts={"tables": "tables"})


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [_overview(numbers), _totals(numbers), _blocks(numbers), _errors(numbers), _worst(numbers), _apart(numbers)]
    shown += SLICES.sections(numbers)
    return [section for section in shown if section.rows or section.notes]


def _overview(numbers: Mapping[str, Any]) -> Section:
    counts = numbers["counts"]
    notes = [
        f"{counted(counts['documents'], 'document')}, {counted(counts['truth'], 'true table')}, {counts['pred']:,} predicted, "
        f"{counts['paired']:,} paired"
    ]
    notes += [f"{kind}: {counted(counts[kind], 'table')}{why}" for kind, why in SET_ASIDE.items() if counts[kind]]
    return Section(title=laid_over("Tables", numbers), notes=notes)


def _totals(numbers: Mapping[str, Any]) -> Section:
    names = list(numbers["mean"])
    rows = []
    for scope, label in SCOPES.items():
        block = numbers[scope]
        if block.get("tables") in (0, numbers["counts"]["truth"]):
            continue  # all tables, or none, are of this kind
        size = f" ({block['tables']:,})" if "tables" in block else ""
        rows.append((label + size, *(block.get(name, "") for name in names)))
    return Section(title="", head=("scope", *(TITLES[name] for name in names)), rows=rows)


def _blocks(numbers: Mapping[str, Any]) -> Section:
    rows = []
    for name in ("cells", "adjacency", "header", "dar_con_original", "dar_con"):
        block = numbers["micro"].get(name)
        if block is None or (name == "header" and not block["n_truth"] + block["n_pred"]):
            continue
        parts = (
            {name: block}
            if "tp" in block
            else {f"{name} at IoU {t}": each for t, each in block.items() if isinstance(each, Mapping)}
        )
        rows += [
            (TITLES.get(label, label), *(each[key] for key in ("tp", "n_truth", "n_pred", "precision", "recall", "f1")))
            for label, each in parts.items()
        ]
    head = ("what", "both", "truth", "predicted", "precision", "recall", "F1")
    return Section(title="Over all tables", head=head, rows=rows)


def _errors(numbers: Mapping[str, Any]) -> Section:
    errors = sorted(numbers.get("errors", {}).items(), key=lambda item: (-item[1]["loss"], item[0]))
    rows = [(kind, block["count"], block["cost"], block["loss"]) for kind, block in errors]
    return Section(title="Where the loss went", head=("kind", "count", "cost", "loss"), rows=rows)


def _worst(numbers: Mapping[str, Any]) -> Section:
    listed = numbers["worst"]
    more = numbers["counts"]["paired"] + numbers["counts"]["missed"] - len(listed)
    notes = (
        [f"and {more:,} more, none of them worse; --show DOCUMENT prints both grids"]
        if more > 0 and len(listed) == WORST
        else []
    )
    return _list("Tables, worst first", listed, notes)


def _apart(numbers: Mapping[str, Any]) -> Section:
    listed = numbers["apart"]
    return _list("TEDS far above GriTS-Con: values stand under the wrong headings", listed[:WORST], [])


def _list(title: str, listed: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Section:
    names = [name for name in ("teds", "grits_con") if listed and name in listed[0]]
    rows = [
        (
            str(entry["document"]),
            entry["truth"],
            "" if entry["found"] < 0 else entry["found"],
            *(entry[name] for name in names),
            entry.get("kind", ""),
        )
        for entry in listed
    ]
    head = ("document", "truth", "found", *(TITLES[name] for name in names), "main kind")
    return Section(title=title, head=head, rows=rows, notes=notes)


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each scope, block of counts, kind, document and value of a slice, with the JSON's own names."""
    names = list(numbers["mean"])
    rows: list[dict[str, Any]] = [
        {"scope": scope, "part": "", **{name: numbers[scope].get(name, "") for name in names}} for scope in SCOPES
    ]
    rows[0] |= numbers["counts"]
    for name, block in numbers["micro"].items():
        if isinstance(block, Mapping):
            parts = {"": block} if "tp" in block else {key: each for key, each in block.items() if isinstance(each, Mapping)}
            rows += [{"scope": name, "part": part, **each} for part, each in parts.items()]
    rows += [{"scope": "error", "part": kind, **block} for kind, block in numbers.get("errors", {}).items()]
    rows += [
        {"scope": "table", "part": f"{unit}#{place}", "teds": value}
        for unit, block in numbers["documents"].items()
        for place, value in enumerate(block.get("teds", ()))
    ]
    for scope in ("worst", "apart"):
        rows += [{"scope": scope, "part": str(entry["document"]), **entry} for entry in numbers[scope]]
    return rows


def result_schema() -> Schema:
    """The schema of what ``calque tables --format json`` prints."""
    means = object_of({}, {name: MEASURE if name.startswith("teds") else SHARE for name in MEANS})
    part = object_of({"tables": COUNT}, means["properties"])
    ratios = object_of({
        **dict.fromkeys(("tp", "n_truth", "n_pred"), COUNT), **dict.fromkeys(("precision", "recall", "f1"), SHARE),
    })  # fmt: skip
    micro = object_of({}, {
        **means["properties"], **dict.fromkeys(BLOCKS, ratios),
        "adjacency": object_of({}, {
            **ratios["properties"], **{repr(each): ratios for each in THRESHOLDS_2019}, "weighted_f1": SHARE,
        }),
    })  # fmt: skip
    counts = object_of(dict.fromkeys(
        ("documents", "truth", "pred", "undefined", "clamped", *(status.name.lower() for status in Status)), COUNT
    ))  # fmt: skip
    listed = object_of(
        {"document": {"type": ["string", "integer"]}, "truth": {"type": "integer"}, "found": {"type": "integer"}},
        {"teds": MEASURE, "grits_con": MEASURE, "kind": TEXT},
    )
    kind = object_of({"count": COUNT, "cost": NUMBER, "loss": NUMBER})
    document = object_of({"pairs": list_of(list_of(COUNT))}, {"teds": list_of(MEASURE)})
    slices = slices_schema({"tables": COUNT, "mean": means, "micro": micro}, means)
    return result_of(
        "tables",
        {
            "counts": counts, "mean": means, "with_spurious": means, "pages": means, "micro": micro, "simple": part,
            "complex": part, "worst": list_of(listed), "apart": list_of(listed), "documents": map_of(document),
        },
        {"errors": object_of({}, dict.fromkeys(KINDS, kind)), **slices},
    )  # fmt: skip


STRONG, WEAK = 0.9, 0.7
"""From where on a mean is a strength, and below which it is a weakness."""
MOST = 5
"""How many things there are to look at."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many tables were found and how well they were read, with the measure in the sentence."""
    told = sentence(numbers)
    for name in ("teds", "grits_con", "grits_top"):
        value = numbers["mean"].get(name)
        spelt = f"{TITLES[name]} of {value:.4f}" if isinstance(value, float) else ""
        if spelt and spelt in told:
            before, _, after = told.partition(spelt)
            tone = "good" if value >= STRONG else "bad" if value < WEAK else ""
            return [before + f"{TITLES[name]} of ", Phrase(name, f"{value:.3f}", tone), after]
        if value == 1 and (whole := f"({TITLES[name]} 1)") in told:
            return [told.partition(whole)[0] + f"({TITLES[name]} ", Phrase(name, "1.000", "good"), ")."]
    return [told]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Missed and spurious tables, the kinds that cost most, tables that TEDS flatters, and the worst table."""
    counts = numbers["counts"]
    lines = []
    if counts["missed"]:
        text = f"{counts['missed']:,} of {counted(counts['truth'], 'table')} {_are(counts['missed'])} missed"
        lines.append(Finding("fn", text, {"outcome": "fn"}, counts["missed"]))
    if counts["spurious"]:
        text = f"{counted(counts['spurious'], 'predicted table')} for nothing"
        lines.append(Finding("fp", text, {"outcome": "fp"}, counts["spurious"]))
    losses = {
        kind: block["loss"] for kind, block in numbers.get("errors", {}).items() if kind in SAID and kind != "table_missed"
    }
    for kind, loss in sorted(losses.items(), key=lambda item: -item[1])[:2]:
        if loss > 0:
            lines.append(Finding("wrong", f"{percent(loss)} of TEDS is lost to {SAID[kind]}", {"kind": kind}))
    if numbers["apart"]:
        text = f"{counted(len(numbers['apart']), 'table')}: values stand under the wrong headings"
        lines.append(Finding("note", text, {"kind": "apart"}, len(numbers["apart"])))
    if numbers["worst"]:
        worst = numbers["worst"][0]
        lines.append(Finding("class", f"Worst table: {worst['document']}", {"doc": str(worst["document"])}))
    return lines[:MOST]
