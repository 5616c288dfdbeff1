"""A pytest plugin: every ``*.check.yaml`` is a test module, and every result of its cases a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from calque.checks.evaluators.registry import Check
    from calque.checks.suites.cases import Case

ENDING = ".check.yaml"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Take the files that are suites."""
    if not file_path.name.endswith(ENDING):
        return None
    return SuiteFile.from_parent(parent, path=file_path)


class SuiteFile(pytest.File):
    """A suite. Evaluators of one's own come from installed packages only: a test run takes no other code from a file."""

    def collect(self) -> Iterator[CheckItem]:
        """One test for each case and evaluator."""
        from calque.checks.suites.suite import Suite
        from calque.core.errors import CalqueError

        try:
            suite = Suite.load(self.path)
            for case in suite.cases():
                for check in suite.bench.checks_for(case):
                    yield CheckItem.from_parent(self, name=f"{case.id}[{check.name}]", case=case, check=check)
        except CalqueError as error:
            raise pytest.Collector.CollectError(str(error)) from None


class CheckItem(pytest.Item):
    """One case under one evaluator."""

    def __init__(self, *, case: Case, check: Check, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case
        self.check = check
        self.extra_keyword_matches.update(case.tags)  # so that -k TAG chooses

    def runtest(self) -> None:
        """Judge the case. A partial result is no failure, as on the command line."""
        outcome = self.check.evaluate(self.case.output, self.case.expected)
        if outcome.failed:
            raise CheckFailed(outcome.reasoning, outcome.misses)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Why it failed, without a traceback of calque's own code."""
        if isinstance(excinfo.value, CheckFailed):
            return "\n".join([excinfo.value.reasoning, *(f"  - {miss}" for miss in excinfo.value.misses)])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case stands in its file."""
        words = self.case.place.split()
        line = int(words[1]) - 1 if len(words) > 1 else None
        return self.path, line, self.name


class CheckFailed(Exception):
    """A case failed, or could not be judged."""

    def __init__(self, reasoning: str, misses: Any) -> None:
        super().__init__(reasoning)
        self.reasoning = reasoning
        self.misses = tuple(misses)
