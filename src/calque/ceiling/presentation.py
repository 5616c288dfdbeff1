"""Ceilings for people, and for other tools: the ladder as a table, rows for spreadsheets, the JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calque.base.wording import counted, joined, percent
from calque.ceiling.units import EDGES
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
    result_of,
)
from calque.evaluation.presentation.sections import Missing, Section

COLUMNS = {
    "rung": "A step of the ladder: a single system, votes, a routing, a selection, recombined edges.",
    "held out": "What a choice is worth on documents that it was not made on; F1, or recall for layout.",
    "": "What there is to remark.",
    "system": "The system that misses something, in rows; the others, in columns, find that share of its misses.",
    "adds": "How many truths a system adds to those before it.",
    "matches": "How many truths they have together.",
    "lost without": "How many truths are lost when the system is dropped.",
    "kind": "Why an annotation should be looked at: another label, a box that systems agree on, nobody finds it.",
    "systems": "How many systems agree.",
    "document": "The document.",
    "place": "The page and the box, or the path of a field.",
    "what": "The label, and what systems say.",
}
FEW = 50
"""Below so many documents, what is held out is pessimistic: half of them choose."""
RATIOS = ("recall", "precision", "f1")
TITLES = {"recall": "recall", "precision": "precision", "f1": "F1"}
NOUNS = {"boxes": "boxes", "layout": "blocks", "fields": "values"}


def sentence(numbers: Mapping[str, Any]) -> str:
    """What the best has, what all could have, and what nobody finds."""
    level, block = next(iter(numbers["levels"].items()))
    if not block["truth"]:
        return "There is nothing to find: no truths count."
    names, kind = numbers["systems"], numbers["kind"]
    best, matches, truths = block["best"]["system"], block["select"]["matches"], block["truth"]
    hits = _hits(block["single"][best])
    missed = block["missed"]["unfound"]
    at = "" if level == "value" else f" at IoU {level}"
    nobody = "none is missed by all" if not missed else f"{percent(missed / truths)} is found by nobody"
    if len(names) == 1:
        chosen = f"the best choice of its {NOUNS[kind]} finds {percent(matches / truths)}"
        return f"{best} finds {percent(hits / truths)}{at}; {chosen}."
    together = "both" if len(names) == 2 else f"all {len(names)}"
    return (
        f"{best}, the best, finds {percent(hits / truths)}{at}; the best choice of {NOUNS[kind]} of {together} finds "
        f"{percent(matches / truths)}; {nobody}."
    )


def _hits(single: Mapping[str, Any]) -> int:
    return int(single["tp"] if "tp" in single else single["correct"])


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """The best single system, what a majority has, the best routing, and the ceiling."""
    return [_ladder(numbers, level, block, brief=True) for level, block in numbers["levels"].items()]


def sections(numbers: Mapping[str, Any], listed: int = 0) -> list[Section]:
    """The sections of a result's JSON form, with so many annotations to look at."""
    shown: list[Section] = []
    for level, block in numbers["levels"].items():
        shown.append(_ladder(numbers, level, block))
    first = next(iter(numbers["levels"].values()))
    shown += [*_shared(numbers, first), *_precision(numbers), *_documents(numbers), *_suspects(first, listed)]
    return shown


def _ladder(numbers: Mapping[str, Any], level: str, block: Mapping[str, Any], *, brief: bool = False) -> Section:
    names = numbers["systems"]
    measures = [key for key in RATIOS if key in block["best"]]
    head = ("", *(TITLES[key] for key in measures), "held out", "")
    rows = []
    for title, numbers_of, held_out, remark, main in rungs(numbers, block):
        if main or not brief:
            rows.append((title, *(numbers_of.get(key, "") for key in measures), held_out, remark))
    at = "" if level == "value" else f", IoU ≥ {level}"
    count = numbers["documents"]["counted"]
    title = f"Ceiling of {', '.join(names)}: {counted(block['truth'], 'truth')}, {counted(count, 'document')}{at}"
    notes = [_nobody(numbers, block)]
    if count < FEW and not brief:
        notes.append(f"held out is pessimistic with {counted(count, 'document')}: a choice is made on half of them")
    return Section(title=title, head=head, rows=rows, notes=notes, left=(0, len(head) - 1), remarked=True)


Rung = tuple[str, Mapping[str, Any], Any, str, bool]
"""A title, its numbers, what it is worth held out, a remark, and whether it is one of the few that stand out."""


def rungs(numbers: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Rung]:
    """The ladder from single systems to all of them together."""
    best, names = block["best"], numbers["systems"]
    for name in sorted(names, key=lambda name: name != best["system"]):
        is_best = name == best["system"]
        remark = "best single" if is_best and len(names) > 1 else ""
        yield name, block["single"][name], best["held_out"] if is_best else "", remark, is_best
    if "votes" in block and len(names) > 1:
        yield from _voted(numbers, block)
    for cells, route in block["route"].items():
        if not isinstance(route, Mapping) or len(names) == 1:
            continue
        title = f"route by {cells.removeprefix('by:')}" + (", perfect" if cells == "document" else "")
        yield title, route, route.get("held_out", ""), _worth(route, best), cells != "document"
    yield from _selected(numbers, block)
    if "recombine" in block:
        yield "recombine edges", {"recall": block["recombine"]["recall"]}, "", "", False
        yield "average edges", {"recall": block["average"]["recall"]}, "", "", False


def _voted(numbers: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Rung]:
    count = len(numbers["systems"])
    agreement = {int(wanted): found for wanted, found in block["agreement"].items()}
    remark = _right(agreement, count)
    if numbers["kind"] == "fields":
        yield "votes: majority", block["votes"]["majority"], "", remark, True
        return
    for wanted in range(count, 0, -1):
        majority = wanted == block["majority"]
        of = "both" if wanted == count == 2 else f"all {count}" if wanted == count else f"{wanted} of {count}"
        title = f"votes: {'any' if wanted == 1 else of}{' (majority)' if majority else ''}"
        yield title, block["votes"][str(wanted)], "", remark if majority else "", majority


def _right(agreement: Mapping[int, Mapping[str, int]], count: int) -> str:
    """How often systems that agree are right, and how often one alone is."""
    most = next((wanted for wanted in range(count, 0, -1) if agreement[wanted]["n"]), 0)
    parts = [
        f"{said} {agreement[wanted]['right'] / agreement[wanted]['n']:.2f}"
        for wanted, said in ((most, "both agree" if most == 2 == count else f"{most} agree"), (1, "alone"))
        if wanted and agreement[wanted]["n"] and (wanted > 1 or said == "alone")
    ]
    return f"right when {', '.join(parts)}" if parts else ""


def _worth(route: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Whether the gain of a routing is there on other documents."""
    key = "f1" if "f1" in best else "recall"
    ours, theirs = route.get("held_out"), best["held_out"]
    if not all(isinstance(value, float) for value in (ours, theirs, route[key], best[key])) or route[key] <= best[key]:
        return ""
    points = f"{100 * (ours - theirs):.1f}"
    if ours <= theirs:
        return "the gain does not hold"
    return "hardly any gain held out" if points == "0.0" else f"{points} points better held out"


def _selected(numbers: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Rung]:
    names, kind, select = numbers["systems"], numbers["kind"], block["select"]
    first = block["order"][0]
    if len(names) > 1:
        one = {"recall": first["recall"], "f1": first.get("f1"), "precision": 1.0 if first["matches"] else None}
        # Nobody comes before the first: where it has no value, all together have none, and for the same reason.
        one = {name: select.get(name) if value is None else value for name, value in one.items()}
        yield f"select {NOUNS[kind]} of {first['system']}", one, "", "", False
    together = names[0] if len(names) == 1 else "both" if len(names) == 2 else f"all {len(names)}"
    hits = max(map(_hits, block["single"].values()))
    more, share = select["matches"] - hits, block["repairable"]
    remarks = []
    if more > 0 and isinstance(share, float):
        remarks.append(f"+ {counted(more, 'truth')}, {100 * share:.1f} % of the misses")
    if "pool" in select:
        remarks.append(f"{select['matches']:,} of {counted(select['pool'], *_noun(kind))} kept")
    yield f"select {NOUNS[kind]} of {together}", select, "", "; ".join(remarks), True


def _noun(kind: str) -> tuple[str, str]:
    return {"boxes": ("box", "boxes"), "layout": ("block", "blocks"), "fields": ("value", "values")}[kind]


def _nobody(numbers: Mapping[str, Any], block: Mapping[str, Any]) -> str:
    """What nobody finds, and what is to be looked at."""
    missed, suspects, truths = block["missed"], block["suspects"], block["truth"]
    if not truths:
        return "there is nothing to find"
    text = f"nobody finds {missed['unfound']:,} ({100 * missed['unfound'] / truths:.1f} %)"
    if missed["unfound"]:
        other, rest = suspects["value" if numbers["kind"] == "fields" else "label"], suspects["unfound"]
        what = "a value that systems agree on" if numbers["kind"] == "fields" else "a box of another label"
        text += f": {joined([f'{other:,} {_has(other)} {what}', f'{rest:,} none'])}"
    if missed.get("contested"):
        shares = "shares" if missed["contested"] == 1 else "share"
        text += f"; {missed['contested']:,} {shares} a box with another truth, which has it"
    if suspects["agreed"]:
        what = counted(suspects["agreed"], *_noun(numbers["kind"]))
        text += f"; {what} agreed on {'is' if suspects['agreed'] == 1 else 'are'} not in the truth"
    return f"{text} (--suspects {max(20, _number_of_suspects(block))} lists them)" if suspects["listed"] else text


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _shared(numbers: Mapping[str, Any], block: Mapping[str, Any]) -> list[Section]:
    """The systems in the order in which they add most, and who finds what others miss."""
    names = numbers["systems"]
    if len(names) == 1:
        return []
    order = [row["system"] for row in block["order"]]
    rows = [
        (
            row["system"], row["gain"], row["matches"], block["without"][row["system"]],
            *("" if other == row["system"] else block["pairs"][row["system"]][other]["repairs"] for other in order),
        )
        for row in block["order"]
    ]  # fmt: skip
    head = ("system", "adds", "matches", "lost without", *(f"repaired by {name}" for name in order))
    return [Section(title="What each adds to those before it", head=head, rows=rows)]


def _precision(numbers: Mapping[str, Any]) -> list[Section]:
    ap = numbers["ap"]
    if not isinstance(ap, Mapping):
        return []
    rows = [*ap["single"].items(), ("route by class", ap["route_class"]), ("select, at most", ap["select_bound"])]
    return [Section(title="Average precision (COCO)", head=("rung", "AP"), rows=rows)]


def _documents(numbers: Mapping[str, Any]) -> list[Section]:
    notes = [
        f"{name}: {counted(len(units), 'document')} {said}"
        for key, said in (("only_truth", "of the truth missing"), ("only_predictions", "that the truth lacks"))
        for name, units in numbers["documents"][key].items()
        if units
    ]
    return [Section(title="", notes=notes)] if notes else []


def _number_of_suspects(block: Mapping[str, Any]) -> int:
    return sum(count for kind, count in block["suspects"].items() if kind != "listed")


def _suspects(block: Mapping[str, Any], wanted: int) -> list[Section]:
    listed = block["suspects"]["listed"][:wanted]
    if not listed:
        return []
    rows = [(each["kind"], each["systems"], str(each["document"]), _place(each), said_of(each)) for each in listed]
    head = ("kind", "systems", "document", "place", "what")
    every = _number_of_suspects(block)
    notes = [f"and {every - len(listed):,} more (--suspects {every} lists them)"] if every > len(listed) else []
    return [Section(title="Annotations to look at", head=head, rows=rows, notes=notes, left=(0, 2, 3, 4))]


def _place(each: Mapping[str, Any]) -> str:
    if "path" in each:
        return str(each["path"])
    return f"page {each['page']}, {', '.join(f'{edge:g}' for edge in each['box'])}"


def said_of(each: Mapping[str, Any]) -> str:
    """What there is to say of an annotation to look at."""
    if "path" in each:
        return ""
    if each["kind"] == "label":
        return f"{each['label']}, found as {each['other']}"
    if each["kind"] == "agreed":
        covers = each["covers"]
        return f"{each['label']}, " + ("not annotated" if not covers else f"covers {counted(covers, 'truth')}")
    return f"{each['label']}, best IoU {each['best_iou']:.2f}"


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each rung at each level, with the JSON's own names; then pairs of systems."""
    rows: list[dict[str, Any]] = []
    for level, block in numbers["levels"].items():
        at = {"level": level}
        rows += [{**at, "rung": "single", "system": name, **single} for name, single in block["single"].items()]
        rows.append({**at, "rung": "best", **_numbers(block["best"])})
        rows += [{**at, "rung": f"route:{cells}", **_numbers(route)} for cells, route in block["route"].items()]
        rows.append({**at, "rung": "select", **_numbers(block["select"]), "repairable": block["repairable"], **block["missed"]})
        rows += [{**at, "rung": name, **_numbers(block[name])} for name in EDGES if name in block]
        rows += [{**at, "rung": f"votes:{wanted}", **voted} for wanted, voted in block.get("votes", {}).items()]
        rows += [{**at, "rung": "order", **row} for row in block["order"]]
        rows += [
            {**at, "rung": "pair", "system": name, "other": other, **pair}
            for name, others in block["pairs"].items()
            for other, pair in others.items()
        ]
    ap = numbers["ap"]
    if isinstance(ap, Mapping):
        rows += [{"rung": "single", "system": name, "ap": value} for name, value in ap["single"].items()]
        rows += [{"rung": "route:class", "ap": ap["route_class"]}, {"rung": "select", "ap": ap["select_bound"]}]
    return rows


def _numbers(block: Any) -> dict[str, Any]:
    if not isinstance(block, Mapping):
        return {}
    return {key: value for key, value in block.items() if isinstance(value, int | float | str | Missing) or value is None}


def result_schema() -> Schema:
    """The schema of what ``calque ceiling --format json`` prints."""
    lists = map_of(list_of(UNIT_ID))
    return result_of(
        "ceiling",
        {
            "kind": {"enum": list(NOUNS)},
            "systems": list_of(TEXT),
            "levels": map_of(_level_schema()),
            "ap": _or_null(object_of({"single": map_of(SHARE), "route_class": SHARE, "select_bound": SHARE})),
            "documents": object_of({"counted": COUNT, "only_truth": lists, "only_predictions": lists}),
        },
    )


def _level_schema() -> Schema:
    """What is said at one IoU threshold, or of values."""
    ratios = dict.fromkeys(RATIOS, SHARE)
    counts = {"tp": COUNT, "found": COUNT}
    edges = object_of({"recall": SHARE, "mean_iou": SHARE})
    pair = object_of({
        **dict.fromkeys(("both", "first", "second", "neither"), COUNT), "q": MEASURE, "disagreement": SHARE, "repairs": SHARE,
    })  # fmt: skip
    return object_of(
        {
            "truth": COUNT,
            "single": map_of(object_of({"recall": SHARE}, {**counts, **ratios, "matched": COUNT, "correct": COUNT})),
            "best": object_of({"system": TEXT, "held_out": SHARE, "recall": SHARE}, ratios),
            "route": _route_schema(),
            "select": object_of({"matches": COUNT, "recall": SHARE}, {**ratios, "pool": COUNT, "pool_precision": SHARE}),
            "repairable": SHARE,
            "pairs": map_of(map_of(pair)),
            "order": list_of(object_of({"system": TEXT, "matches": COUNT, "gain": COUNT, "recall": SHARE}, {"f1": SHARE})),
            "without": map_of(COUNT),
            "missed": object_of({"unfound": COUNT}, {"contested": COUNT}),
            "suspects": _suspects_schema(),
        },
        {
            **dict.fromkeys(EDGES, edges),
            "votes": map_of(object_of({**counts, **ratios})),
            "majority": COUNT,
            "agreement": map_of(object_of({"n": COUNT, "right": COUNT})),
        },
    )


def _suspects_schema() -> Schema:
    where = {
        "page": COUNT,
        "label": TEXT,
        "other": TEXT,
        "covers": COUNT,
        "best_iou": NUMBER,
        "box": list_of(NUMBER),
        "path": TEXT,
    }
    suspect = object_of({"document": UNIT_ID, "kind": TEXT, "systems": COUNT}, where)
    return object_of({"agreed": COUNT, "unfound": COUNT, "listed": list_of(suspect)}, {"label": COUNT, "value": COUNT})


def _route_schema() -> Schema:
    """Cells have the system that was chosen; documents, of which there are many, have how many each system was chosen for."""
    numbers = {**dict.fromkeys(RATIOS, SHARE), "held_out": SHARE}
    routes = {
        chosen["type"]: object_of({"recall": SHARE, "choice": map_of(chosen)}, numbers) for chosen in (TEXT, COUNT)
    }  # fmt: skip
    schema = object_of({"document": routes["integer"]}, {"class": routes["string"]})
    return {**schema, "patternProperties": {"^by:": _or_null(routes["string"])}}


def _or_null(schema: Schema) -> Schema:
    """An object, or null where it is undefined."""
    return {**schema, "type": ["object", "null"]}


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """What the best system has, and what the best choice of all of them could have."""
    level, block = next(iter(numbers["levels"].items()))
    at = "" if level == "value" else f"@{level}"
    if not block["truth"]:
        return ["There is nothing to find: no truths count."]
    best = Phrase(f"best.recall{at}", percent(block["best"]["recall"]))
    reached = Phrase(f"recall{at}", percent(block["select"]["recall"]), "good" if block["select"]["recall"] >= 0.9 else "")
    names = numbers["systems"]
    if len(names) == 1:
        return [f"{names[0]} finds ", best, f"; the best choice of its own {NOUNS[numbers['kind']]} finds ", reached, "."]
    together = "both" if len(names) == 2 else f"all {len(names)}"
    return [f"{block['best']['system']}, the best, finds ", best, f"; {together} together could find ", reached, "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """What nobody finds, and what shares its boxes with others."""
    block = next(iter(numbers["levels"].values()))
    missed, suspects = block["missed"], block["suspects"]
    lines = []
    if missed["unfound"]:
        text = f"{counted(missed['unfound'], 'truth')} that nobody finds"
        lines.append(Finding("fn", text, {"outcome": "fn"}, missed["unfound"]))
    if suspects.get("label"):
        text = f"{counted(suspects['label'], 'truth')} that systems have under another label"
        lines.append(Finding("class", text, {"outcome": "fn", "kind": "label"}, suspects["label"]))
    if missed.get("contested"):
        text = f"{counted(missed['contested'], 'truth')} whose boxes serve others"
        lines.append(Finding("wrong", text, {"outcome": "wrong"}, missed["contested"]))
    return lines
