"""How a task shows its results: the typed list of functions that tables, files and reports call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from calque.evaluation.presentation.report_data import Finding, ReportData, Sentence, spoken
from calque.evaluation.presentation.result_schema import Schema, result_of
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView
from calque.evaluation.task import HEAD

if TYPE_CHECKING:
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.presentation.ci_servers import CiTestCase

Numbers: TypeAlias = Mapping[str, Any]
"""The numbers of a result, as the tree in its JSON."""


def no_list(_: Any) -> list[Any]:
    """Return an empty list, for a task that shows nothing here."""
    return []


def no_additions(_: Ledger) -> dict[str, Any]:
    """Return no lists to show after the numbers."""
    return {}


def same_ledger(ledger: Ledger) -> Ledger:
    """Return the ledger, for a task that is not drawn on pages or has a table of pages already."""
    return ledger


def same_numbers(_: Ledger, numbers: Numbers) -> Numbers:
    """Return the numbers, for a task without optional views."""
    return numbers


def no_report_data(_ledger: Ledger, _numbers: Numbers) -> ReportData | None:
    """Return nothing, for a task whose report shows tables alone."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """The functions that show results of one task. `Task.view` returns it.

    Undefined numbers are ``None`` in the trees that these functions get.
    """

    columns: Mapping[str, str]
    """What the columns of the task's tables hold, except for metrics."""
    schema: Callable[[], Schema]
    """The JSON Schema of a result."""
    sections: Callable[[Numbers], list[Section]]
    """All tables."""
    brief: Callable[[Numbers], list[Section]]
    """The tables of ``--brief``."""
    rows: Callable[[Numbers], list[dict[str, Any]]]
    """The numbers as rows for a spreadsheet. Rows may have different columns."""
    headline: Callable[[Numbers], Sentence]
    """The main message of the numbers in one sentence, with the metrics in it."""
    sentence: Callable[[Numbers], str] | None = None
    """The main message as the terminal prints it, if it is not the headline."""
    findings: Callable[[Numbers], list[Finding]] = no_list
    """Up to five things to look at, each with the filter of the report that selects those objects."""
    template: Callable[[Numbers], list[Section]] | None = None
    """The reporting template of the task's source document, filled in; ``None`` if it has none."""
    report_numbers: Callable[[Ledger, Numbers], Numbers] = same_numbers
    """The numbers with every view that a report shows."""
    report_data: Callable[[Ledger, Numbers], ReportData | None] = no_report_data
    """What a report draws beside the tables."""
    with_pages: Callable[[Ledger], Ledger] = same_ledger
    """The ledger with a table of pages, so that a report can draw them."""
    outcome_rows: Callable[[Ledger], Iterator[dict[str, Any]]] | None = None
    """The outcomes as JSON Lines prints them, if they are not the rows of `Task.outcomes`."""
    additions: Callable[[Ledger], dict[str, Any]] = no_additions
    """Lists that the JSON of a result shows after the numbers."""
    failures: Callable[[Numbers], list[str]] = no_list
    """The task's own conditions that do not hold, one line each."""
    slices: SliceView | None = None
    """The numbers of a slice and the columns of its table; ``None`` if the task has no slices."""
    test_cases: Callable[[Ledger], list[CiTestCase]] = no_list
    """The items that were judged one by one, as CI servers show them."""

    def message(self, numbers: Numbers) -> str:
        """Return the main message as text."""
        return spoken(self.headline(numbers)) if self.sentence is None else self.sentence(numbers)


def plain_view(task: str) -> TaskView:
    """Return a view for a task that defines none: one table with its numbers.

    >>> plain_view("exact").rows({"task": "exact", "share": 0.5, "per_class": {}})
    [{'measure': 'share', 'value': 0.5}]
    """

    def leaves(numbers: Numbers) -> list[tuple[str, Any]]:
        return [(key, value) for key, value in numbers.items() if key not in HEAD and not isinstance(value, Mapping | list)]

    def sections(numbers: Numbers) -> list[Section]:
        return [Section(title=task, head=("measure", "value"), rows=leaves(numbers))]

    return TaskView(
        columns={"measure": "The name of a number.", "value": "The number."},
        schema=lambda: result_of(task, {}),
        sentence=lambda _: "",
        sections=sections,
        brief=sections,
        rows=lambda numbers: [{"measure": key, "value": value} for key, value in leaves(numbers)],
        headline=lambda _: [f"{task.capitalize()}."],
        slices=SliceView(),
    )
