"""A schema explained: how each field is compared and why, for people, and as a file to be edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calque.comparators.base import describe
from calque.evaluation.presentation.sections import Section
from calque.fields.schemas.leaf_types import COMPLETE, Accounting, leaf_of, manner
from calque.fields.schemas.plain_form import DEFAULT_MATCH_THRESHOLD, compared_by

HEAD = ("field", "type", "comparator", "threshold", "weight", "evidence")
COLUMNS = {
    "type": "What the field holds.",
    "comparator": "How two values are compared, with the options that differ from the usual.",
    "threshold": "From which similarity on two values are the same; for items of a list, from where on two items are.",
    "weight": "Its weight in the score of the record.",
    "evidence": "Why it is compared so.",
}


OPTIONS = {
    "same_words": "same_words: texts as alike as the threshold says are the same if their words are, but for slips of a letter",
    "ungrouped": "ungrouped: how groups of characters are parted does not count; DE89 3704 is DE893704",
    "same_numbers": "same_numbers: texts with other numbers or negations are not the same, however alike they are",
}
"""What options mean that are chosen for people, as a note below the table."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One field: how it is compared, and why."""

    field: str
    type: str
    comparator: str
    params: Mapping[str, Any]
    threshold: float
    weight: float
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            name: getattr(self, name) for name in ("field", "type", "comparator", "params", "threshold", "weight", "evidence")
        }


def explained(text: str, accounting: Accounting) -> list[Explained]:
    """All fields of a schema in its canonical spelling, parents before children."""
    return list(_fields(json.loads(text)["fields"], "", accounting))


def _fields(fields: Mapping[str, Any], path: str, accounting: Accounting) -> Iterator[Explained]:
    for name, given in fields.items():
        yield _explained(path + name, given, accounting)
        yield from _fields(given.get("fields", {}), f"{path}{name}.", accounting)


def _explained(path: str, given: Mapping[str, Any], accounting: Accounting) -> Explained:
    kind, weight = given["type"], given["weight"]
    if kind == "list[object]":
        why = given.get("evidence", "a list of objects: its items are paired as well as possible")
        threshold = given.get("match_threshold", DEFAULT_MATCH_THRESHOLD)
        return Explained(path, kind, given.get("matching", "optimal"), {}, threshold, weight, why)
    made, threshold = compared_by(given, accounting)
    if kind == "object":
        return Explained(path, kind, "by its fields", {}, threshold, weight, given.get("evidence", "an object"))
    described = describe(made)
    evidence = given.get("evidence") or _usual(given, described["comparator"], accounting)
    return Explained(path, kind, described["comparator"], described.get("params", {}), threshold, weight, evidence)


def _usual(given: Mapping[str, Any], comparator: str, accounting: Accounting) -> str:
    """Why a field without evidence of its own is compared as it is."""
    own = manner(leaf_of(given["type"]), accounting)
    told = [name for name, is_given in (
        ("the comparator", comparator != own.comparator or "params" in given),
        ("the threshold", "threshold" in given),
    ) if is_given]  # fmt: skip
    rest = f"the type is {given['type']}"
    return f"the schema gives {' and '.join(told)}; {rest}" if told else rest


def as_sections(text: str, accounting: Accounting) -> list[Section]:
    """The fields as two tables, which fit a terminal where one would not: how each is compared, and why."""
    fields = explained(text, accounting)
    rows = [
        (each.field, each.type, each.comparator + _options(each.params), f"{each.threshold:g}", f"{each.weight:g}")
        for each in fields
    ]
    why = [(each.field, each.evidence) for each in fields]
    told = [meaning for option, meaning in OPTIONS.items() if any(each.params.get(option) for each in fields)]
    return [
        Section(title="How fields are compared", head=HEAD[:-1], rows=rows, notes=told, left=(0, 1, 2)),
        Section(title="And why", head=(HEAD[0], HEAD[-1]), rows=why, notes=origin_notes(text), left=(0, 1)),
    ]


def _options(params: Mapping[str, Any]) -> str:
    told = (key if value is True else f"{key}={json.dumps(value)}" for key, value in params.items())
    return f" ({', '.join(told)})" if params else ""


def origin_notes(text: str) -> list[str]:
    """Where a schema comes from, if it was made from examples, and what was passed over in it."""
    whole = json.loads(text)
    inferred = [f"made from {whole['inferred']}: --write-schema FILE saves it for editing"] if "inferred" in whole else []
    return [*inferred, *(f"without meaning here: {each}" for each in whole.get("passed_over", ()))]


def editable(text: str, accounting: Accounting) -> str:
    """The schema as JSON with everything spelt out, one line for each field: the same comparison when it is read again."""
    return json.dumps({"fields": _editable(json.loads(text)["fields"], accounting)}, indent=2, ensure_ascii=False) + "\n"


def _editable(fields: Mapping[str, Any], accounting: Accounting) -> dict[str, Any]:
    return {name: _spelt_out(given, accounting) for name, given in fields.items()}


def _spelt_out(given: Mapping[str, Any], accounting: Accounting) -> dict[str, Any]:
    rest = {key: value for key, value in given.items() if key not in ("type", "comparator", "params", "threshold", "fields")}
    if "fields" in given:
        judged = {} if given["type"] == "list[object]" or "whole" in given else {"threshold": given["threshold"]}
        return {"type": given["type"], **judged, **rest, "fields": _editable(given["fields"], accounting)}
    made, threshold = compared_by(given, accounting)
    usual = COMPLETE[leaf_of(given["type"])]
    # Options that the type may set are there to be turned, even where they are what the comparator does by itself.
    turned = {key: getattr(made, key) for key in usual.params} if made.name == usual.comparator else {}
    params = {**turned, **made.params()}
    params.pop("utc", None)  # paired accounting sees to that itself
    options = {"params": params} if params else {}
    judged = {} if made.name == "ignore" else {"threshold": threshold}
    return {"type": given["type"], "comparator": describe(made)["comparator"], **options, **judged, **rest}
