"""Records whose shape hides their values: an envelope around the record, wrappers around values, other field names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.errors import Issue, Severity
from calque.core.ledger import UNIT
from calque.fields.comparison.cells import is_wrapper

if TYPE_CHECKING:
    from calque.core.corpora.records import RecordCorpus
    from calque.core.ledger import Ledger

CODES = ("predictions-in-envelope", "values-in-wrapper", "truth-in-envelope", "no-common-field")
"""The shapes, the likeliest cause first."""
LEAST_VALUES = 20
"""Fewer values on a side can all be wrong by chance."""
VALUE_KEYS = ("value", "text", "content", "answer", "raw", "val")
"""The keys under which other tools put a value next to its confidence."""
DEEPEST = 3
"""How many levels of envelopes are searched."""


def hints(truth: RecordCorpus, found: RecordCorpus, ledger: Ledger) -> list[Issue]:
    """Return a note for each document without a right value whose shape explains it. Its count is that of predicted values."""
    at_truth, at_found = ({unit: place for place, unit in enumerate(side.documents)} for side in (truth, found))
    counts = ledger.table("counts")
    right = np.bincount(counts.array(UNIT), counts.array("tp"), len(ledger.units))
    issues = []
    for unit, score in zip(ledger.units, right.tolist(), strict=True):
        if not score and unit in at_truth and unit in at_found:
            issue = _hint(truth.record(at_truth[unit]), found.record(at_found[unit]))
            if issue is not None:
                file = truth.source if issue.code == "truth-in-envelope" else found.source
                issues.append(replace(issue, file=file, pointer=f"document {unit}"))
    return issues


def weighed(issues: Sequence[Issue], numbers: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return the issues. Where nothing is right, the likeliest of these shapes becomes a loss, and the others go."""
    shapes = sorted((issue for issue in issues if issue.code in CODES), key=lambda each: (-each.count, CODES.index(each.code)))
    there = sum(each["tp"] + each["fd"] + each["fn"] for each in numbers["fields"].values())
    values = sum(issue.count for issue in shapes)
    if not shapes or numbers["overall"]["tp"] or min(there, values) < LEAST_VALUES:
        return tuple(issues)
    first = shapes[0]
    alike = [issue for issue in shapes if issue.code == first.code]
    file = first.file if all(issue.file == first.file for issue in alike) else ""
    text = f"no value is right, although both sides have many: {first.message}"
    cause = replace(first, message=text, file=file, severity=Severity.LOSS, count=1)
    return (cause, *(issue for issue in issues if issue.code not in CODES))


def _hint(truth: Any, found: Any) -> Issue | None:
    if not (isinstance(truth, Mapping) and isinstance(found, Mapping) and truth and found):
        return None
    issue = _envelope(truth, found) or _value_wrapper(truth, found) or _other_names(truth, found)
    values = sum(1 for _ in _leaves(found, 0)) if issue is not None else 0
    return replace(issue, severity=Severity.NOTE, count=values) if issue is not None and values else None


def _envelope(truth: Mapping[str, Any], found: Mapping[str, Any]) -> Issue | None:
    shared = len(truth.keys() & found.keys())
    key = _better(found, truth, shared)
    if key:
        text = f"the predicted record seems to be under the key {key!r}"
        return Issue("predictions-in-envelope", text, help=f"write what is under {key!r} as the record")
    key = _better(truth, found, shared)
    if key:
        text = f"the ground-truth record seems to be under the key {key!r}"
        return Issue("truth-in-envelope", text, help=f"write what is under {key!r} as the record")
    return None


def _better(record: Mapping[str, Any], other: Mapping[str, Any], shared: int) -> str:
    """The path of the object in a record that has the most keys of the other record, if it has more than the record itself."""
    best = max(_inner(record, "", 1), key=lambda each: len(each[1].keys() & other.keys()), default=None)
    return best[0] if best is not None and len(best[1].keys() & other.keys()) > shared else ""


def _inner(record: Mapping[str, Any], path: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects in a record, each with its path."""
    for key, value in record.items():
        inside = value[0] if isinstance(value, list) and value else value
        if isinstance(inside, Mapping) and not is_wrapper(inside):
            place = f"{path}{key}" + ("[]" if isinstance(value, list) else "")
            yield place, inside
            if depth < DEEPEST:
                yield from _inner(inside, f"{place}.", depth + 1)


def _value_wrapper(truth: Mapping[str, Any], found: Mapping[str, Any]) -> Issue | None:
    shared = [key for key in truth if key in found and found[key] is not None]
    for name in VALUE_KEYS:
        around = [
            key
            for key in shared
            if isinstance(found[key], Mapping)
            and name in found[key]
            and not (isinstance(truth[key], Mapping) and name in truth[key])
        ]
        if around and 2 * len(around) >= len(shared):
            text = f"predicted values seem to be under the key {name!r}, as in {around[0]!r}"
            help = 'write a value as it is, or as {"_value": …, "_confidence": …, "_bbox": …}'
            return Issue("values-in-wrapper", text, help=help)
    return None


def _other_names(truth: Mapping[str, Any], found: Mapping[str, Any]) -> Issue | None:
    if truth.keys() & found.keys():
        return None
    text = f"the two sides have no field name in common: ground truth has {_some(truth)}; predictions have {_some(found)}"
    return Issue("no-common-field", text, help="name the fields alike on both sides, or give an alias in the schema")


def _some(record: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, list(record)[:3]))


def _leaves(tree: Any, depth: int) -> Iterator[Any]:
    """The values in a tree that are not null, to a depth at which they are enough to count."""
    if isinstance(tree, Mapping | list) and depth < 10:
        for value in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _leaves(value, depth + 1)
    elif tree not in (None, "", [], {}):
        yield tree
