"""Numbers of reading order for people and for other tools: a sentence, tables, rows for spreadsheets, the JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from calque.base.wording import counted, laid_over, percent
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import COUNT, SHARE, UNIT_ID, Schema, list_of, map_of, object_of, result_of
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView
from calque.order.numbers import SHOWN
from calque.order.page_orders import BREAKS

FOUR = ("pairs", "successors", "footrule", "edit")
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
WORDS = {"column_jump": "column jump"}
NOUNS = {
    "furniture": ("at a header or footer", "at headers and footers"), "interleaved": ("between interleaved columns",) * 2,
    "column_jump": ("column jump", "column jumps"), "skip": ("skip", "skips"), "back": ("step back", "steps back"),
}  # fmt: skip
"""Breaks of each kind, one and several."""
LISTED = 10
"""How many documents the table shows; the JSON has them all."""
NAMED = 3
"""How many of the worst pages are named; the JSON has some more."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How much of the order is right, and where the path is left."""
    counts, micro = numbers["counts"], numbers["micro"]
    if not counts["truth"]:
        return "There is nothing to judge: the truth gives no block a place."
    missing = counts["missing"] + counts["unplaced"]
    lost = (
        f"; {counted(missing, 'block')} of {counts['truth']:,} {'has' if missing == 1 else 'have'} no place" if missing else ""
    )
    if micro["pairs"] is None:
        return f"No two blocks can be held against each other{lost}."
    if micro["pairs"] == 1 and not sum(numbers["breaks"].values()):
        return f"Reads all {counts['placed']:,} blocks in their order{lost}."
    where = _where(numbers["breaks"])
    right = percent(micro["pairs"])
    steps = "" if micro["successors"] is None else f", and {percent(micro['successors'])} of the steps"
    return f"Reads {right} of the pairs of blocks in their order{steps}{where}{lost}."


ONE_AND_MANY = {
    "furniture": ("at a header or footer", "at headers and footers"), "skip": ("a skip", "skips"),
    "back": ("a step back", "steps back"),
    "interleaved": ("between interleaved columns", "between interleaved columns"),
    "column_jump": ("a jump to another column", "jumps to another column"),
}  # fmt: skip
"""What one break and several breaks of a kind are."""


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


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """The four numbers."""
    return [replace(_totals(numbers), title=laid_over("Reading order", numbers))]


SLICES = SliceView(("micro", "macro", "macro_pages", "macro_documents", "counts"), ("micro",), {name: name for name in FOUR})
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
    rows = [(label, *(numbers[scope][name] for name in FOUR)) for scope, label in SCOPES.items()]
    return Section(title="", head=("scope", *FOUR), rows=rows)


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
        (str(unit), block["truth"], block["placed"], *(block[name] for name in FOUR), block["moves"])
        for unit, block in listed[:LISTED]
    ]
    more = len(listed) - LISTED
    notes = [f"and {counted(more, 'more document')}"] if more > 0 else []
    head = ("document", "blocks", "placed", *FOUR, "moves")
    return Section(title="Documents, lowest pairs first", head=head, rows=rows, notes=notes)


def _profiles(numbers: Mapping[str, Any]) -> Section:
    titles = {"docling_ard": "docling ARD", "omnidocbench_edit": "OmniDocBench edit"}
    rows = [(titles[name], value) for name, value in numbers["profiles"].items()]
    return Section(title="As other tools count", head=("tool", "value"), rows=rows)


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each total and each document, with the JSON's own names; then breaks and what other tools say."""
    rows: list[dict[str, Any]] = [{"scope": scope, "document": "", **numbers[scope]} for scope in SCOPES]
    rows[0] |= numbers["counts"]
    rows += [{"scope": "document", "document": unit, **block} for unit, block in numbers["documents"].items()]
    rows += [{"scope": "break", "document": "", "part": kind, "count": count} for kind, count in numbers["breaks"].items()]
    rows += [{"scope": "profile", "document": "", "part": name, "value": value} for name, value in numbers["profiles"].items()]
    return rows


def result_schema() -> Schema:
    """The schema of what ``calque order --format json`` prints."""
    four = object_of(dict.fromkeys(FOUR, SHARE))
    document = {**dict.fromkeys(FOUR, SHARE), **dict.fromkeys(("truth", "placed", "moves"), COUNT)}
    page = {"document": UNIT_ID, "page": COUNT, "successors": SHARE, "breaks": map_of(COUNT)}
    numbers = {
        "micro": four,
        "macro": four,
        "macro_pages": four,
        "macro_documents": four,
        "counts": object_of(dict.fromkeys(("pages", "pages_judged", *SHOWN), COUNT)),
        "breaks": object_of(dict.fromkeys(BREAKS, COUNT)),
        "profiles": object_of(dict.fromkeys(("docling_ard", "omnidocbench_edit"), SHARE)),
        "worst_pages": list_of(object_of(page)),
        "documents": map_of(object_of(document)),
    }
    return result_of("order", numbers, SLICES.schema(numbers))


STRONG, WEAK = 0.95, 0.8
"""From where on a share is a strength, and below which it is a weakness."""
MOST = 5
"""How many things there are to look at."""
SAID = {
    "furniture": "at headers and footers",
    "interleaved": "between interleaved columns",
    "column_jump": "to another column",
    "skip": "over something that is left out",
    "back": "back within a column",
}


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much of the order is right, with the measures in the sentence."""
    told: list[str | Phrase] = [sentence(numbers)]
    for name in ("pairs", "successors"):
        value = numbers["micro"][name]
        spelt = percent(value) if isinstance(value, float) else ""
        rest = told.pop()
        if spelt and isinstance(rest, str) and spelt in rest:
            before, _, after = rest.partition(spelt)
            told += [before, Phrase(name, spelt, "good" if value >= STRONG else "bad" if value < WEAK else ""), after]
        else:
            told.append(rest)
    if len(told) == 1 and numbers["micro"]["pairs"] == 1:
        before, mark, after = sentence(numbers).partition("in their order")
        return [f"{before}{mark} (", Phrase("pairs", percent(1.0), "good"), f" of the pairs){after}"]
    return told


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
