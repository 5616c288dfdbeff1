"""An audit as people read it: the main thing in a sentence, tables of findings or of agreement, and rows for spreadsheets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calque.base.columns import Table
from calque.base.wording import counted, percent
from calque.detection.auditing import AuditRules, agreement
from calque.detection.auditing.audit import KINDS, listed
from calque.evaluation.presentation.sections import Section, with_reasons

SHOWN = 10
"""How many findings of a kind the table lists."""
COLUMNS = {
    "document": "document", "page": "page", "label": "class", "id": "id", "other_label": "other class", "other_id": "other id",
    "value": "value",
}  # fmt: skip
"""What is listed of a finding, and how people read it."""


class Findings:
    """What is suspicious in ground truth, ready to be shown."""

    def __init__(self, numbers: Mapping[str, Any], findings: Table, contents: str) -> None:
        self._numbers = numbers
        self._findings = findings
        self._contents = contents

    def sentence(self) -> str:
        """How much is suspicious, and of what kinds."""
        objects, counts = self._numbers["objects"], self._numbers["counts"]
        among = counted(objects, "object")
        if not objects:
            return "There is nothing to audit: the file has no objects."
        if not sum(counts.values()):
            return f"Nothing is suspicious in {among}."
        kinds = [f"{count:,} {_words(kind)}" for kind, count in counts.items() if count]
        return f"{counted(sum(counts.values()), 'finding')} in {among}: {', '.join(kinds)}."

    def headline(self) -> list[Section]:
        """How often each kind was found."""
        rows = [(f"{_words(kind)}: {KINDS[kind]}", count) for kind, count in self._numbers["counts"].items()]
        return [Section(title="Findings", head=("finding", "count"), rows=rows)]

    def sections(self) -> list[Section]:
        """The kinds, then some of each."""
        counts = self._numbers["counts"]
        shown = [self._some(kind, count) for kind, count in counts.items() if count]
        return [Section(title=f"Audit of {self._numbers['audit']}", notes=[self._contents]), *self.headline(), *shown]

    def _some(self, kind: str, count: int) -> Section:
        rows = [tuple(finding[name] for name in COLUMNS) for finding in listed(self._findings, kind, SHOWN)]
        notes = [f"… and {count - len(rows):,} more; --format json lists them all"] if count > len(rows) else []
        return Section(title=_words(kind), head=tuple(COLUMNS.values()), rows=rows, notes=notes)

    def flat(self) -> list[dict[str, Any]]:
        """How often each kind was found, then every finding."""
        counts = [{"finding": kind, "count": count} for kind, count in self._numbers["counts"].items()]
        return [*counts, *self.listed()]

    def listed(self) -> Iterator[dict[str, Any]]:
        """Every finding."""
        for row in self._findings.rows():
            yield {"finding": row["kind"], **{name: value for name, value in row.items() if name != "kind"}}


def _words(kind: str) -> str:
    return kind.replace("_", " ")


class Agreement:
    """How far two annotators agree, ready to be shown."""

    def __init__(self, numbers: Mapping[str, Any]) -> None:
        self._numbers = numbers

    def sentence(self) -> str:
        """How many boxes both drew, and how many of those have one class."""
        text, block = next(iter(self._numbers["agreement"].items()))
        overall, labels = block["overall"], self._numbers["labels"]
        drawn = overall["pairs"] + overall["only_first"] + overall["only_second"]
        if not drawn:
            return "There is nothing to compare: neither annotator drew a box."
        many = drawn != 1
        boxes = f"{drawn:,} boxes" if many else "the only box"
        if not overall["pairs"]:
            return f"The two annotators {'agree on none of' if many else 'do not agree on'} {boxes} at IoU {text}."
        share = f"{percent(overall['pairs'] / drawn)} of " if overall["pairs"] < drawn else "all " if many else ""
        same = labels["same"]
        named = "" if same is None else f"; boxes that both drew have the same class in {percent(same)}"
        return f"The two annotators agree on {share}{boxes} at IoU {text}{named}."

    def headline(self) -> list[Section]:
        """The first threshold, all classes together."""
        first = agreement.sections(with_reasons(self._numbers))[0]
        return [Section(title=first.title, head=first.head, rows=first.rows[-1:], notes=first.notes)]

    def sections(self) -> list[Section]:
        """Each threshold, then the classes; a dash is explained where it stands."""
        title = f"{self._numbers['first']} and {self._numbers['second']}"
        return [Section(title=title), *agreement.sections(with_reasons(self._numbers))]

    def flat(self) -> list[dict[str, Any]]:
        """One row for each threshold and class, then the classes."""
        tree = with_reasons(self._numbers)
        rows = [
            {"iou": text, "class": name, **values}
            for text, block in tree["agreement"].items()
            for name, values in (("", block["overall"]), *block["per_class"].items())
        ]
        return [*rows, {"iou": repr(tree["labels"]["threshold"]), **tree["labels"]}]

    def listed(self) -> Iterator[dict[str, Any]]:
        """The same rows, with null where a number does not exist."""
        for row in self.flat():
            yield {name: value if isinstance(value, str | int | float) else None for name, value in row.items()}


def signature(version: str, rules: AuditRules | None, iou: Sequence[str], reading: Mapping[str, str]) -> str:
    """Every setting that can change what is found, in one line.

    >>> signature("1.0", None, ["0.5", "0.75"], {})
    'calque 1.0 | audit | agreement | iou:0.5,0.75'
    """
    settings = {"iou": ",".join(iou)} if rules is None else dataclasses.asdict(rules)
    told = [f"{name.replace('_', '-')}:{value}" for name, value in {**settings, **reading}.items()]
    return " | ".join([f"calque {version}", "audit", *(["agreement"] if rules is None else []), *told])
