"""Cases in, outcomes out, in the order of the cases: here, or in other processes with the same result."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any

from calque.checks.evaluators.custom import Reference
from calque.checks.evaluators.outcome import LOGGER, Outcome
from calque.checks.evaluators.registry import Check, build_all
from calque.checks.evaluators.settings import Complaints
from calque.checks.suites.cases import Case
from calque.core.errors import ConfigError

CHUNK = 200
"""Cases that are judged, and told of, at a time."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one evaluator says of one case."""

    case: Case
    evaluator: str
    weight: float
    outcome: Outcome

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, as in ``results`` and in each line of JSONL."""
        return {"id": self.case.id, "evaluator": self.evaluator, **self.outcome.to_dict()}


@dataclass(frozen=True)
class Bench:
    """The evaluators of a suite, ready to judge any case."""

    configs: Sequence[Mapping[str, Any]]
    registry: Mapping[str, Reference] = field(default_factory=dict)
    file: str = ""
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
        checks = self.checks_for(case)
        return [Row(case, check.name, check.weight, check.evaluate(case.output, case.expected)) for check in checks]


def run(bench: Bench, cases: Iterable[Case], jobs: int = 1) -> Iterator[list[Row]]:
    """The outcomes of all cases, in chunks and in order; the same for any number of jobs."""
    chunks = _chunks(cases)
    first = list(islice(chunks, 2))
    # A pool takes longer to start than a few hundred cases take to judge, and cannot see functions that live here only.
    if jobs == 1 or len(first) < 2 or any(callable(reference) for reference in bench.registry.values()):
        for chunk in (*first, *chunks):
            yield [row for case in chunk for row in bench.judge(case)]
    else:
        yield from _in_processes(bench, (*first, *chunks), jobs)


def _chunks(cases: Iterable[Case]) -> Iterator[list[Case]]:
    rest = iter(cases)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _in_processes(bench: Bench, chunks: Iterable[list[Case]], jobs: int) -> Iterator[list[Row]]:
    configs: list[Mapping[str, Any]] = [dict(config) for config in bench.configs]
    setup = (configs, bench.registry, bench.file)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=setup) as pool:
        waiting: deque[Future[_Judged]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(_judge_chunk, chunk))
            if len(waiting) > 2 * jobs:
                yield _told(waiting.popleft().result())
        while waiting:
            yield _told(waiting.popleft().result())


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a worker hands back: outcomes, and what it would have logged."""

    rows: list[Row]
    records: list[tuple[int, str]]


def _told(judged: _Judged) -> list[Row]:
    for level, message in judged.records:
        LOGGER.log(level, "%s", message)
    return judged.rows


class _Records(logging.Handler):
    """Keeps log records, so that the process that was asked can tell of them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append((record.levelno, record.getMessage()))


_WORKER: dict[str, Any] = {}


def _start_worker(configs: list[Mapping[str, Any]], registry: Mapping[str, Reference], file: str) -> None:
    LOGGER.propagate = False
    LOGGER.addHandler(logging.NullHandler())
    _WORKER["bench"] = Bench(configs, registry, file)


def _judge_chunk(cases: list[Case]) -> _Judged:
    bench: Bench = _WORKER["bench"]
    records = _Records()
    LOGGER.addHandler(records)
    try:
        return _Judged([row for case in cases for row in bench.judge(case)], records.kept)
    finally:
        LOGGER.removeHandler(records)
