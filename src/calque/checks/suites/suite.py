"""A suite: evaluators, cases and a gate, from one YAML file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.base import yaml_tree
from calque.base.errors import ConfigError, did_you_mean
from calque.base.regular_files import read_regular, reason
from calque.base.short_repr import short_repr
from calque.base.yaml_tree import LocatedList
from calque.checks.evaluators.commands import Command, Permission, system_of
from calque.checks.evaluators.custom import Reference, identities
from calque.checks.evaluators.registry import KNOWN
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.cases import Case, CaseCorpus, Selection, case_of, complain_of_twins, distinct, read_cases
from calque.checks.suites.gate import Gate
from calque.checks.suites.inputs import DATA_KEYS, Inputs
from calque.checks.suites.named_files import LARGEST_SCHEMA, LARGEST_SUITE
from calque.checks.suites.runner import Bench, Judges, Judging, Row, run
from calque.checks.task import Checks, ledger_of
from calque.engines import warn

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator
    from calque.evaluation.result import Result
    from calque.evaluation.shards.checkpoint import Checkpoint

KEYS = ("name", "evaluators", "cases", *DATA_KEYS, "system", "gate", "partial")
PARTIAL = ("fail", "pass")
"""What a partial result can be where a threshold was given."""
DATA = frozenset({"input", "output", "expected"})
"""Keys below which everything is data."""


class NoCases(ConfigError):
    """There is nothing to judge."""


@dataclass(frozen=True)
class Suite:
    """What a suite file says. `run` judges all of it, `stream` hands out results as they come."""

    file: str
    name: str
    bench: Bench
    inline: tuple[Case, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    """The files that the cases are in, if they are not inline."""
    gate: Gate = field(default_factory=Gate)

    __repr__ = short_repr

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        evaluators: Mapping[str, Reference] | None = None,
        data: str | os.PathLike[str] | None = None,
        expected: str | os.PathLike[str] | None = None,
        actual: str | os.PathLike[str] | None = None,
        run: str | os.PathLike[str] | None = None,
        allow_commands: bool = False,
        cache: str | os.PathLike[str] | None = None,
    ) -> Suite:
        """The suite in a file; `ConfigError` with everything that is wrong with it, by line and column.

        ``evaluators`` adds types of one's own: a function, or ``"file.py:function"``. ``data`` replaces the cases,
        ``expected`` and ``actual`` the files of one side, ``run`` the one that has the outputs. Programs that the suite
        names are run only with ``allow_commands``; ``cache`` is a folder that keeps their answers.
        """
        file = os.fspath(path)
        raw = yaml_tree.load(_read(file), file, plain=DATA)
        complaints = Complaints(file)
        if not isinstance(raw, dict):
            raise ConfigError(f"{file}: a suite is a mapping with {', '.join(KEYS)}, not {shown(raw)}")
        permission = Permission(allow_commands, os.path.dirname(file), os.fspath(cache) if cache is not None else "")
        outputs = "actual" if {"expected", "actual"} & raw.keys() else "data"
        sides = (("data", data), ("expected", expected), ("actual", actual), (outputs, run))
        given = {key: os.fspath(name) for key, name in sides if name is not None}
        suite = _suite(cls, file, raw, complaints, dict(evaluators or {}), permission, given)
        complaints.raise_all()
        return suite

    @property
    def data(self) -> str | None:
        """The file that the cases are in, if they are not inline; the first of several."""
        return self.inputs.first

    def cases(self, selection: Selection | None = None) -> Iterator[Case]:
        """The cases that are wanted, in order, read as they are asked for."""
        wanted = selection or Selection()
        every: Iterable[Case] = self.inline
        if self.inputs:
            joined = self.inputs.joined
            read = read_cases(self.inputs.data) if joined is None else joined.cases()
            every = distinct(read if self.bench.system is None else map(_without_output, read), self.data or self.file)
        return (case for case in every if wanted.wants(case)) if selection else iter(every)

    def results_to_come(self) -> int:
        """About how many results all cases have: each evaluator of the suite gives one for each line of the data."""
        cases = self.inputs.lines() if self.inputs else len(self.inline)
        return cases * len(self.bench.checks)

    def corpus(self, selection: Selection | None = None) -> CaseCorpus:
        """The cases that are wanted, as a corpus for `Evaluator.update`."""
        return CaseCorpus(cases=tuple(self.cases(selection)), source=self.data or self.file)

    def task(self, selection: Selection | None = None) -> Checks:
        """The task that the evaluators of this suite make, on the cases that are wanted."""
        wanted = selection or Selection()
        own = identities(self.bench.registry, {str(config["type"]) for config in self.bench.configs} - set(KNOWN))
        return Checks.of(
            self.bench.configs,
            own=own,
            ids=wanted.ids,
            tags=wanted.tags,
            only=wanted.only,
            partial=self.bench.partial,
            gate=self.gate.to_text(),
        )

    def stream(
        self, *, selection: Selection | None = None, jobs: int = 1, checkpoint: Checkpoint | None = None
    ) -> Iterator[list[Row]]:
        """Results in chunks as they come, in the order of the cases; `NoCases` when there is none.

        ``checkpoint`` has chunks that were judged before, and keeps those that are judged now.
        """
        some = False
        for judged in run(self.bench, self.cases(selection), jobs, self._keeping(checkpoint)):
            some = True
            if checkpoint is not None:
                checkpoint.reused += judged.known
            yield judged.rows
        if not some:
            raise NoCases(f"{self.data or self.file}: {'no case matches' if selection else 'there are no cases'}")

    def _keeping(self, checkpoint: Checkpoint | None) -> Callable[[Judging], Judges] | None:
        if checkpoint is None:
            return None
        from calque.checks.suites.kept import KeptJudging, settings_of, uses_own_code

        if self.bench.system is not None or uses_own_code(self.bench.configs):
            warn(
                f"{self.file}: runs programs or evaluators of your own, so the checkpoint keeps nothing of it. "
                "--cache keeps what programs answer."
            )
            return None
        settings = settings_of(self.bench, self.task())
        return lambda judging: KeptJudging(judging, checkpoint.folder, settings)

    def run(self, *, selection: Selection | None = None, jobs: int = 1, checkpoint: Checkpoint | None = None) -> Result:
        """Judge every case that is wanted."""
        rows = [row for chunk in self.stream(selection=selection, jobs=jobs, checkpoint=checkpoint) for row in chunk]
        return self.evaluator(rows, selection).compute()

    def for_numbers(self) -> Suite:
        """The same suite for somebody who wants neither a report nor a state, and compares it with nothing."""
        bench = copy(self.bench)  # its evaluators as they are: they are built, and were complained of, once
        object.__setattr__(bench, "drawn", False)
        return replace(self, bench=bench)

    def evaluator(
        self, rows: list[Row], selection: Selection | None = None, *, by: Sequence[str] = (), metadata: str = ""
    ) -> Evaluator:
        """An evaluator that has taken in these results, for numbers, states and merging."""
        from calque.evaluation.evaluator import Evaluator
        from calque.evaluation.ledger import noted
        from calque.evaluation.result import Sources

        source = ((self.data or self.file, self.name),)
        ledger = ledger_of(rows)
        if self.bench.drawn:
            cases = {row.case.id: row.case for row in rows}
            ledger = noted(ledger, {unit: case.digest() for unit, case in cases.items()})
        task = replace(self.task(selection), by=tuple(by), metadata=metadata)
        return Evaluator(task).add(ledger, sources=Sources(source, source))


def _suite(
    made: type[Suite],
    file: str,
    raw: dict[str, Any],
    complaints: Complaints,
    registry: dict[str, Reference],
    permission: Permission,
    given: Mapping[str, str],
) -> Suite:
    """The suite, and in the complaints everything that is wrong with it."""
    for key in raw:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"known are {', '.join(KEYS)}"
            complaints.add(raw, key, f"unknown key {key!r} in a suite", help=hint)
    partial = raw.get("partial", "fail")
    if partial not in PARTIAL:
        complaints.add(raw, "partial", f"partial is {' or '.join(PARTIAL)}, not {shown(partial)}")
    schemas = _SchemaFiles(os.path.dirname(file), complaints)
    configs = schemas.put_into(_listed(raw, "evaluators", complaints))
    system = system_of(raw["system"], complaints, permission) if "system" in raw else None
    fields = {"registry": registry, "partial": str(partial), "permission": permission, "system": system}
    bench = Bench.begun(configs, complaints, **fields)
    inputs = Inputs.of(raw, os.path.dirname(file), complaints, given, system="system" in raw)
    inline = () if given else _inline(raw, complaints)
    for case in inline:
        schemas.put_into(case.evaluators)
    _check_inline(inline, bench, system, complaints)
    names = tuple(check.name for check in bench.checks)
    gate = Gate.from_config(raw["gate"], names, complaints) if "gate" in raw else Gate()
    if not inputs and not inline and not (set(DATA_KEYS) & raw.keys()):
        complaints.add(
            raw,
            "cases",
            "the suite has no cases",
            help="list them under cases, or name files under data, or expected and actual",
        )
    return made(file, str(raw.get("name") or Path(file).stem), bench, inline, inputs, gate)


def _read(file: str) -> bytes:
    try:
        return read_regular(file, LARGEST_SUITE)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {reason(error)}") from None


def _listed(raw: Mapping[str, Any], key: str, complaints: Complaints) -> list[Any]:
    value = raw.get(key)
    if value is None:
        return LocatedList()
    if not isinstance(value, list):
        complaints.add(raw, key, f"{key} is a list, not {shown(value)}")
        return LocatedList()
    return value


class _SchemaFiles:
    """Reads the JSON Schemas that a suite names, each once: what a file says is the setting."""

    def __init__(self, folder: str, complaints: Complaints) -> None:
        self._folder = folder
        self._complaints = complaints
        self._known: dict[str, Any] = {}

    def put_into(self, configs: Sequence[Any]) -> Sequence[Any]:
        """Replace the names of files by their content."""
        for config in configs:
            if isinstance(config, dict) and config.get("type") == "json_schema" and isinstance(config.get("schema"), str):
                config["schema"] = self._content(config, config["schema"])
        return configs

    def _content(self, config: dict[str, Any], name: str) -> Any:
        if name in self._known:
            return self._known[name]
        self._known[name], told = self._read(os.path.join(self._folder, name))
        if told:
            self._complaints.add(config, "schema", f"the schema {name} {told}")
        return self._known[name]

    def _read(self, path: str) -> tuple[Any, str]:
        """Return the schema in a file and what is wrong with the file."""
        try:
            data = read_regular(path, LARGEST_SCHEMA)
        except (OSError, ValueError) as error:
            return True, reason(error)
        try:
            return json.loads(data), ""
        except (ValueError, RecursionError) as error:
            return True, f"is not JSON: {error}"


def _inline(raw: Mapping[str, Any], complaints: Complaints) -> tuple[Case, ...]:
    listed = _listed(raw, "cases", complaints)
    places = getattr(listed, "places", [""] * len(listed))
    return tuple(
        case_of(entry, position, place, complaints) for position, (entry, place) in enumerate(zip(listed, places, strict=True))
    )


def _check_inline(cases: tuple[Case, ...], bench: Bench, system: Command | None, complaints: Complaints) -> None:
    """Every case must be one that can be judged: distinct, with evaluators that are valid."""
    complain_of_twins(cases, complaints)
    for case in cases:
        if case.evaluators:
            bench.built(case.evaluators, complaints)
        elif not bench.configs:
            told = f"the case {case.id!r} has no evaluators"
            complaints.add_at(case.place, told, help="name some in the suite or in the case")
        if system is not None and case.output is not None:
            complaints.add_at(case.place, f"the case {case.id!r} has an output, and the suite a system that gives it")


def _without_output(case: Case) -> Case:
    """A case of a suite that tests a system: an output of its own would never be looked at."""
    if case.output is None:
        return case
    return replace(case, trouble=case.trouble or f"{case.place}: it has an output, and the suite a system that gives it")
