"""A pytest plugin: ``*.check.yaml`` and ``*.check.yml`` files are tests, and tests can hold results to gates."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from calque.checks.evaluators.registry import Check
    from calque.checks.suites.cases import Case
    from calque.checks.suites.suite import Suite
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.result import Result

ENDINGS = (".check.yaml", ".check.yml")


@pytest.fixture
def calque_gate() -> Callable[..., Result]:
    """``calque_gate(result, fail_under={"recall@0.5": 0.9})`` fails the test when the result does not keep what it must.

    It takes a result, an evaluator or the file of a state, and the keywords of `calque.gated`. A result of which something
    could not be evaluated fails, too. What it returns is the result.
    """
    return _hold


def _hold(source: Result | Evaluator | str | os.PathLike[str], **gates: Any) -> Result:
    __tracebackhide__ = True
    from calque.base.errors import Severity
    from calque.evaluation.evaluator import Evaluator
    from calque.statistics.gates import gated

    evaluator = Evaluator.load(source) if isinstance(source, str | os.PathLike) else source
    result = gated(evaluator.compute() if isinstance(evaluator, Evaluator) else evaluator, **gates)
    losses = [str(issue) for issue in result.issues if issue.severity is Severity.LOSS]
    if losses or result.failures:
        pytest.fail("\n".join([*losses, *result.failures]), pytrace=False)
    return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Programs that suites name are run only where somebody says so."""
    group = parser.getgroup("calque")
    group.addoption("--allow-commands", action="store_true", help="run the programs that suites of calque name")
    group.addoption("--command-cache", metavar="FOLDER", help="keep what those programs answer")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Take the files that are suites."""
    if not file_path.name.endswith(ENDINGS):
        return None
    return SuiteFile.from_parent(parent, path=file_path)


class SuiteFile(pytest.File):
    """A suite, held to its gate as ``calque check`` holds it.

    Evaluators of one's own come from installed packages, and from ``[tool.calque.evaluators]`` in the pyproject.toml of the
    folder that pytest calls its root: a suite by itself brings no code.
    """

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each case and evaluator; where the suite has a gate, the gate is one more, and alone decides."""
        from calque.base.errors import CalqueError
        from calque.checks.evaluators.custom import named_evaluators
        from calque.checks.suites.suite import NoCases, Suite

        try:
            suite = Suite.load(
                self.path,
                evaluators=named_evaluators(self.config.rootpath),
                allow_commands=self.config.getoption("allow_commands"),
                cache=self.config.getoption("command_cache"),
            )
            self._register({tag for case in suite.cases() for tag in case.tags})
            if next(suite.cases(), None) is None:
                raise NoCases(f"{suite.data or suite.file}: there are no cases")
            for case in suite.cases():
                for check in suite.bench.checks_of(case):
                    yield CheckItem.from_parent(self, name=f"{case.id}[{check.name}]", case=case, check=check, suite=suite)
        except CalqueError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        if suite.gate.given:
            yield GateItem.from_parent(self, name="gate", suite=suite)

    def _register(self, tags: set[str]) -> None:
        """Tags are marks; they are declared here, so that nobody has to."""
        for tag in sorted(tags):
            self.config.addinivalue_line("markers", f"{tag}: a tag of cases in suites of calque")


class CheckItem(pytest.Item):
    """One case under one evaluator."""

    def __init__(self, *, case: Case, check: Check, suite: Suite, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case
        self.check = check
        self.suite = suite
        self.extra_keyword_matches.update(case.tags)  # so that -k TAG chooses
        for tag in case.tags:
            self.add_marker(tag)  # and -m TAG

    def runtest(self) -> None:
        """Judge the case. A partial result is a failure where a threshold was given, as on the command line."""
        from calque.checks.evaluators.outcome import Status

        row = self.suite.bench.row(self.suite.bench.prepared(self.case)[0], self.check)
        if not row.failed:
            return
        if self.suite.gate.given and row.outcome.status is not Status.ERROR:
            pytest.xfail(f"{row.outcome.reasoning} (the gate decides)")
        raise CheckFailed(row.outcome.reasoning, row.outcome.misses)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Why it failed, without a traceback of calque's own code."""
        return _told(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case stands in its file."""
        words = self.case.place.split()
        line = int(words[1]) - 1 if len(words) > 1 else None
        return self.path, line, self.name


class GateItem(pytest.Item):
    """What must hold of the whole suite, whichever of its cases were chosen."""

    def __init__(self, *, suite: Suite, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.suite = suite

    def runtest(self) -> None:
        """Judge every case, and hold the numbers against the gate."""
        result = self.suite.run()
        if result.failures:
            raise CheckFailed("the gate does not hold", result.failures)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What does not hold, without a traceback of calque's own code."""
        return _told(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The suite's file."""
        return self.path, None, self.name


def _told(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    """What failed and why, when it is a case or a gate that did."""
    error = excinfo.value
    return "\n".join([error.reasoning, *(f"  - {miss}" for miss in error.misses)]) if isinstance(error, CheckFailed) else ""


class CheckFailed(Exception):
    """A case failed or could not be judged, or a gate does not hold."""

    def __init__(self, reasoning: str, misses: Any) -> None:
        super().__init__(reasoning)
        self.reasoning = reasoning
        self.misses = tuple(misses)
