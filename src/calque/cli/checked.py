"""What ``calque check`` prints and writes: one suite or several, for people, programs and servers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calque.base.wording import counted
from calque.checks.suites.cases import Selection
from calque.checks.suites.gate import Gate
from calque.checks.suites.runner import Row
from calque.checks.suites.suite import Suite
from calque.cli.render import as_csv, json_line, laid_out
from calque.evaluation.presentation.ci_servers import CiTestCase
from calque.evaluation.presentation.sections import Section, printable_json
from calque.evaluation.verdict import PASSED

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.result import Result

STREAMED = ("jsonl", "github")
"""What is printed while cases are judged."""


@dataclass
class CheckedSuite:
    """A suite with its results."""

    suite: Suite
    rows: list[Row]
    selection: Selection | None
    slices: Mapping[str, Any] = field(default_factory=dict)
    """The settings ``by`` and ``metadata``."""
    result: Result = field(init=False)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The evaluator that has taken in all results."""
        return self.suite.evaluator(self.rows, self.selection, **self.slices)

    def with_rows(self, rows: list[Row]) -> CheckedSuite:
        """The same numbers, with other results listed."""
        made = CheckedSuite(self.suite, rows, self.selection)
        made.result = self.result
        return made

    def only_failed(self) -> CheckedSuite:
        """The same numbers, with only those results listed that failed."""
        return self.with_rows([row for row in self.rows if row.failed])

    def without_gate(self) -> CheckedSuite:
        """The same for a run that judges nothing, so that nothing can fail."""
        return CheckedSuite(replace(self.suite, gate=Gate()), self.rows, self.selection)

    @property
    def verdict(self) -> str:
        """What the gate says: ``passed``, ``failed``, or ``undecided`` when some cases could not be judged."""
        if self.result.failures:
            return "failed"
        return "undecided" if self.result.incomplete else "passed"

    @property
    def reasons(self) -> list[str]:
        """Why the gate does not hold, or cannot be decided."""
        lost = self.result.numbers["summary"]["error"]
        return self.result.failures or ([f"{counted(lost, 'case')} could not be judged"] if lost else [])


def with_names(rows: list[Row], names: Mapping[str, str]) -> list[Row]:
    """The same results, in which files have other names: a temporary copy of a stream is no name for it."""

    def told(text: str) -> str:
        for file, name in names.items():
            text = text.replace(file, name)
        return text

    def renamed(row: Row) -> Row:
        said = row.outcome
        return replace(row, outcome=replace(said, reasoning=told(said.reasoning), misses=[*map(told, said.misses)]))

    return [renamed(row) if row.case.trouble else row for row in rows]


def outcome_line(row: Row, suite: str = "") -> str:
    """A result as a line; where there are several suites, with the name of its own."""
    named = {"suite": suite} if suite else {}
    return json_line(named | row.to_dict())


def shown(judged: Sequence[CheckedSuite], *, brief: bool) -> list[Section]:
    """What people read: the gate's verdict stands before the signature."""
    if len(judged) == 1:
        return _shown(judged[0], brief=brief)
    return [
        section
        for one in judged
        for section in (Section(title=f"Suite {one.suite.name}", notes=[one.suite.file]), *_shown(one, brief=brief))
    ]


def _shown(one: CheckedSuite, *, brief: bool) -> list[Section]:
    result = one.result
    *parts, signature = result.brief() if brief else result.sections()
    if result.verdict.failures or (result.verdict and one.verdict == "passed"):
        return [*parts, signature]  # it is said already: first when it does not hold
    parts = [part for part in parts if part.title != PASSED]
    return [*parts, Section(title=f"Gate: {one.verdict}", notes=one.reasons), signature]


def rendered(kind: str, judged: Sequence[CheckedSuite], *, brief: bool) -> str:
    """All suites in one format."""
    several = len(judged) > 1
    if kind == "json":
        trees = [one.result.to_dict() | {"results": [row.to_dict() for row in one.rows]} for one in judged]
        named = [{"suite": one.suite.name, "file": one.suite.file} | tree for one, tree in zip(judged, trees, strict=True)]
        tree: Any = {"task": "checks", "suites": named} if several else trees[0]
        return printable_json(json.dumps(tree, indent=2, ensure_ascii=False)) + "\n"
    if kind == "jsonl":
        return "".join(outcome_line(row, one.suite.name if several else "") for one in judged for row in one.rows)
    if kind == "junit":
        return _junit(judged)
    if kind == "github":
        return _annotations(judged)
    if kind == "csv":
        return _csv(judged)
    return laid_out(shown(judged, brief=brief), kind)


def _junit(judged: Sequence[CheckedSuite]) -> str:
    """One test for each result, and one for the gate of each suite that has one."""
    from calque.checks.presentation import tests
    from calque.evaluation.presentation.ci_servers import to_junit

    every: list[CiTestCase] = []
    for one in judged:
        every += [*one.result.gate_tests(), *_gate(one)]
        every += tests([row.to_dict() for row in one.rows], one.suite.name)
    verdicts = {f"gate{f' of {one.suite.name}' if len(judged) > 1 else ''}": one.verdict for one in judged}
    return to_junit(every, judged[0].suite.name if len(judged) == 1 else "calque check", verdicts)


def _gate(one: CheckedSuite) -> list[CiTestCase]:
    if not one.suite.gate.given:
        return []
    group, name = f"{one.suite.name}.gate", "gate"
    own = one.result.task.view().failures(one.result.numbers)
    if own:
        return [CiTestCase(group, name, "failure", own[0], own[1:])]
    lost = one.result.numbers["summary"]["error"]
    return [
        CiTestCase(group, name, "error", f"{counted(lost, 'case')} could not be judged") if lost else CiTestCase(group, name)
    ]


def _annotations(judged: Sequence[CheckedSuite]) -> str:
    from calque.checks.presentation import annotated
    from calque.cli.gates import workflow_commands

    lines = [line for one in judged for line in workflow_commands(one.result.gate_tests())]
    lines += [line for one in judged for line in annotated(one.rows, one.suite.data or one.suite.file)]
    return "".join(f"{line}\n" for line in lines)


def _csv(judged: Sequence[CheckedSuite]) -> str:
    return as_csv([
        {**({"suite": one.suite.name} if len(judged) > 1 else {}), **row, **_verdict(one, row)}
        for one in judged
        for row in one.result.spreadsheet()
    ])  # fmt: skip


def _verdict(one: CheckedSuite, row: dict[str, Any]) -> dict[str, str]:
    return {"gate": one.verdict} if row.get("evaluator") == "all" else {}
