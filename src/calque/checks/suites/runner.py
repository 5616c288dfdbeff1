"""Cases in, outcomes out, in the order of the cases: here, or in other processes with the same result."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from calque.checks.evaluators.custom import Reference
from calque.checks.evaluators.outcome import LOGGER, Outcome, Verdict
from calque.checks.evaluators.registry import Check, build_all
from calque.checks.evaluators.settings import Complaints
from calque.checks.evaluators.two_sides import GeometricCheck
from calque.checks.suites.cases import Case
from calque.core.errors import ConfigError
from calque.engines import processes

CHUNK = 200
"""Cases that are judged, and told of, at a time."""

WORTH_PROCESSES = 2
"""From how many chunks on processes are started."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one evaluator says of one case."""

    case: Case
    evaluator: str
    weight: float
    outcome: Outcome
    held: bool = False
    """Whether the case is held to a threshold, so that passing in part is failing."""
    shapes: Mapping[str, Any] = field(default_factory=dict)
    """What can be drawn of both sides."""

    @property
    def failed_in_part(self) -> bool:
        """Whether it passed in part, which is not enough."""
        return self.held and self.outcome.verdict is Verdict.PARTIAL

    @property
    def failed(self) -> bool:
        """Whether someone has to look at it."""
        return self.outcome.failed or self.failed_in_part

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, as in ``results`` and in each line of JSONL."""
        told = {"failed": True} if self.failed_in_part else {}
        return {"id": self.case.id, "evaluator": self.evaluator, **self.outcome.to_dict(), **told}


@dataclass(frozen=True)
class Bench:
    """The evaluators of a suite, ready to judge any case."""

    configs: Sequence[Mapping[str, Any]]
    registry: Mapping[str, Reference] = field(default_factory=dict)
    file: str = ""
    partial: str = "fail"
    """What a partial result is where a threshold was given: ``fail``, or ``pass`` where the suite says so."""
    checks: tuple[Check, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", self._checks(self.configs, ""))

    def _checks(self, configs: Sequence[Any], place: str) -> tuple[Check, ...]:
        complaints = Complaints(self.file, place)
        checks = build_all(configs, complaints, self.registry)
        complaints.raise_all()
        return checks

    def checks_for(self, case: Case) -> tuple[Check, ...]:
        """The evaluators of the suite and the case's own; `ConfigError` when there are none."""
        checks = self._checks([*self.configs, *case.evaluators], case.place) if case.evaluators else self.checks
        if not checks:
            raise ConfigError(
                f"{self.file}: {case.place}: the case {case.id!r} has no evaluators; name some in the suite or in the case"
            )
        return checks

    def judge(self, case: Case) -> list[Row]:
        """What every evaluator says of a case."""
        return [self.row(case, check) for check in self.checks_for(case)]

    def row(self, case: Case, check: Check) -> Row:
        """What one evaluator says of a case."""
        held = self.partial == "fail" and check.threshold is not None
        shapes = check.shapes(case.output, case.expected) if isinstance(check, GeometricCheck) else {}
        return Row(case, check.name, check.weight, check.evaluate(case.output, case.expected), held, shapes)


def run(bench: Bench, cases: Iterable[Case], jobs: int = 1) -> Iterator[list[Row]]:
    """The outcomes of all cases, in chunks and in order; the same for any number of jobs."""
    chunks = _chunks(cases)
    first = list(islice(chunks, WORTH_PROCESSES))
    # Workers take longer to start than a few hundred cases take to judge, and cannot see functions that live here only.
    if jobs == 1 or len(first) < WORTH_PROCESSES or any(callable(reference) for reference in bench.registry.values()):
        for chunk in chain(first, chunks):
            yield [row for case in chunk for row in bench.judge(case)]
        return
    for judged in processes(jobs).map(Judging(bench), chain(first, chunks)):
        for level, message in judged.records:
            LOGGER.log(level, "%s", message)
        yield judged.rows


def _chunks(cases: Iterable[Case]) -> Iterator[list[Case]]:
    rest = iter(cases)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


@dataclass(frozen=True, slots=True)
class Judged:
    """What a worker hands back: outcomes, and what it would have logged."""

    rows: list[Row]
    records: list[tuple[int, str]]


class Judging:
    """Judges chunks of cases in a worker, which logs nothing itself: whoever asked tells of it."""

    def __init__(self, bench: Bench) -> None:
        # Where a setting stands in the file was for complaints, and those came before.
        self._setup = [dict(config) for config in bench.configs], bench.registry, bench.file, bench.partial
        self._bench: Bench | None = None

    def __call__(self, cases: Sequence[Case]) -> Judged:
        """The outcomes of all these cases."""
        with _recorded() as records:
            if self._bench is None:
                self._bench = Bench(*self._setup)
                records.kept.clear()  # what there is to say of settings was said when the suite was read
            return Judged([row for case in cases for row in self._bench.judge(case)], records.kept)


class _Records(logging.Handler):
    """Keeps log records."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append((record.levelno, record.getMessage()))


@contextmanager
def _recorded() -> Iterator[_Records]:
    """Within the block, what is logged goes nowhere else."""
    records = _Records()
    before, LOGGER.handlers = LOGGER.handlers, [records]
    propagates, LOGGER.propagate = LOGGER.propagate, False
    try:
        yield records
    finally:
        LOGGER.handlers, LOGGER.propagate = before, propagates
