"""Cases in, outcomes out, in the order of the cases: here, or in other processes with the same result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeAlias

from calque.base.errors import CalqueError, ConfigError
from calque.base.files import write_entry
from calque.checks.evaluators.assertions import Assertion
from calque.checks.evaluators.commands import FORBIDDEN, Command, CommandFailed, Permission
from calque.checks.evaluators.custom import Reference
from calque.checks.evaluators.outcome import LOGGER, Outcome, Status, Verdict, unusable
from calque.checks.evaluators.registry import Check, build_all
from calque.checks.evaluators.settings import Complaints
from calque.checks.evaluators.two_sides import GeometricCheck
from calque.checks.suites.cases import Case
from calque.engines import Serial, process_engine, warn

CHUNK = 200
"""Cases that are judged, and told of, at a time."""
SOON = 20
"""The same where evaluators take their time and what they say is kept: no more than these are asked again."""

WORTH_PROCESSES = 2
"""From how many chunks on processes are started where evaluators take their time."""
WORTH_PROCESSES_IF_QUICK = 250
"""The same for shapes and everyday assertions: to start workers and to hear from them costs more than to judge."""
NO_SHAPES: Mapping[str, Any] = {}
QUICK = (GeometricCheck, Assertion)


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
    permission: Permission = FORBIDDEN
    system: Command | None = None
    """What gives the outputs, where a suite tests a system and not what it once said."""
    drawn: bool = True
    """Whether shapes are kept for a report, and what is expected for comparisons: that takes as long as to judge."""
    checks: tuple[Check, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        complaints = Complaints(self.file)
        object.__setattr__(self, "checks", self.built(self.configs, complaints))
        complaints.raise_all()

    @classmethod
    def begun(cls, configs: Sequence[Any], complaints: Complaints, **fields: Any) -> Bench:
        """A bench whose evaluators are complained of together with the rest of a suite."""
        bench = cls([], file=complaints.file, **fields)
        object.__setattr__(bench, "configs", configs)
        object.__setattr__(bench, "checks", bench.built(configs, complaints))
        return bench

    def built(self, configs: Sequence[Any], complaints: Complaints, *, from_suite: int | None = None) -> tuple[Check, ...]:
        """The evaluators that these settings describe; what is wrong with them goes to the complaints.

        ``from_suite`` is how many of them the suite names, where a file of data names the others.
        """
        return build_all(configs, complaints, self.registry, self.permission, from_suite=from_suite)

    def checks_for(self, case: Case) -> tuple[Check, ...]:
        """The evaluators of the suite and the case's own; `ConfigError` when there are none, or one is wrong."""
        checks = self.checks
        if case.evaluators:
            complaints = Complaints(self.file, case.place)
            from_suite = len(self.configs) if case.from_data else None
            checks = self.built([*self.configs, *case.evaluators], complaints, from_suite=from_suite)
            complaints.raise_all()
        if not checks:
            raise ConfigError(
                f"{self.file}: {case.place}: the case {case.id!r} has no evaluators; name some in the suite or in the case"
            )
        return checks

    def judge(self, case: Case) -> list[Row]:
        """What every evaluator says of a case."""
        if not case.evaluators and not case.trouble and self.system is None and self.checks:
            return [self.row(case, check) for check in self.checks]
        case, checks = self.prepared(case)
        return [self.row(case, check) for check in checks]

    def checks_of(self, case: Case) -> tuple[Check, ...]:
        """The evaluators that have something to say of a case, and if it is only that it cannot be judged."""
        try:
            return self.checks_for(case) if not case.trouble else self.checks or (UNKNOWN,)
        except ConfigError:
            if not self.checks:
                raise
            return self.checks

    def prepared(self, case: Case) -> tuple[Case, tuple[Check, ...]]:
        """A case with its output and its evaluators; when those are wrong, it is one that cannot be judged."""
        checks = self.checks
        if case.evaluators and not case.trouble:
            try:
                checks = self.checks_for(case)
            except ConfigError as error:
                case = replace(case, trouble=str(error))
        if case.trouble and not checks:
            return case, (UNKNOWN,)
        return self.answered(case), checks or self.checks_for(case)

    def answered(self, case: Case) -> Case:
        """The case with what the system under test says, where there is one."""
        if self.system is None or case.trouble:
            return case
        try:
            return replace(case, output=self.system.ask({"id": case.id, "input": case.input}))
        except CommandFailed as error:
            return replace(case, trouble=f"the system {error}")
        except (ValueError, TypeError, RecursionError) as error:
            return replace(case, trouble=f"{case.place}: the input cannot be written as JSON: {error}")

    def row(self, case: Case, check: Check) -> Row:
        """What one evaluator says of a case."""
        if case.trouble or case.unanswered:
            told = case.trouble or case.unanswered
            status = Status.ERROR if case.trouble else Status.OK
            return Row(case, check.name, check.weight, unusable([told], told, {}, status=status))
        held = self.partial == "fail" and check.threshold is not None
        try:
            shapes = check.shapes(case.output, case.expected) if self.drawn and isinstance(check, GeometricCheck) else NO_SHAPES
            return Row(case, check.name, check.weight, check.evaluate(case.output, case.expected), held, shapes)
        except Exception as error:  # whatever the data of one case does, the others are judged
            LOGGER.debug("%s", check.name, exc_info=True)
            what = str(error) if isinstance(error, CalqueError) else f"{type(error).__name__}: {error}"
            told = f"the evaluator {check.name} cannot judge this case: {what}"
            return Row(case, check.name, check.weight, unusable([told], told, {}, status=Status.ERROR))


@dataclass(frozen=True)
class _Unknown:
    """Stands for the evaluators of a case that could not be read, where the suite has none."""

    name: str = "case"
    weight: float = 1.0
    threshold: float | None = None

    def renamed(self, name: str) -> _Unknown:
        return _Unknown(name)

    def evaluate(self, output: Any, expected: Any) -> Outcome:  # noqa: ARG002  # nobody asks
        """A case that could not be read has its outcome before anybody is asked (see `Bench.row`)."""
        raise AssertionError("a case that could not be read was judged")


UNKNOWN = _Unknown()


def run(
    bench: Bench, cases: Iterable[Case], jobs: int = 1, kept: Callable[[Judging], Judges] | None = None
) -> Iterator[Judged]:
    """The outcomes of all cases, in chunks and in order; the same for any number of jobs.

    ``kept`` makes of what judges a chunk something that keeps what came of it.
    """
    quick = bench.system is None and all(isinstance(check, QUICK) for check in bench.checks)
    chunks = _chunks(cases, CHUNK if quick or kept is None else SOON)
    least = WORTH_PROCESSES_IF_QUICK if quick else WORTH_PROCESSES
    judge: Judges = Judging(bench) if kept is None else kept(Judging(bench))
    # Workers cannot see functions that live here only.
    first = (
        [] if jobs == 1 or any(callable(reference) for reference in bench.registry.values()) else list(islice(chunks, least))
    )
    if len(first) < least and kept is None:
        for chunk in chain(first, chunks):
            yield Judged([row for case in chunk for row in bench.judge(case)])
        return
    engine = Serial() if len(first) < least else process_engine(jobs)
    for judged in engine.map(judge, chain(first, chunks)):
        if judged.broken:
            warn(judged.broken)
        if judged.state is not None:
            write_entry(*judged.state)
        for level, message in judged.records:
            LOGGER.log(level, "%s", message)
        yield judged


def _chunks(cases: Iterable[Case], size: int) -> Iterator[list[Case]]:
    rest = iter(cases)
    while chunk := list(islice(rest, size)):
        yield chunk


@dataclass(frozen=True, slots=True)
class Judged:
    """What a worker hands back: outcomes, and what it would have logged."""

    rows: list[Row]
    records: list[tuple[int, str]] = field(default_factory=list)
    known: bool = False
    """Whether this was kept from an earlier run."""
    broken: str = ""
    """What people should hear of what was kept and could not be used."""
    state: tuple[str, bytes] | None = None
    """What is to be kept of it, and in which file: whoever asked writes it, as a worker may be ended while it does."""


Judges: TypeAlias = "Callable[[Sequence[Case]], Judged]"
"""What judges a chunk of cases."""


class Judging:
    """Judges chunks of cases in a worker, which logs nothing itself: whoever asked tells of it."""

    def __init__(self, bench: Bench) -> None:
        # Where a setting stands in the file was for complaints, and those came before.
        configs = [dict(config) for config in bench.configs]
        self._setup = configs, bench.registry, bench.file, bench.partial, bench.permission, bench.system, bench.drawn
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
