"""A suite: evaluators, cases and a gate, from one YAML file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.checks.evaluators.custom import Reference, identities
from calque.checks.evaluators.registry import BUILT_IN
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.cases import Case, CaseCorpus, Selection, case_of, distinct, read_lines
from calque.checks.suites.gate import Gate
from calque.checks.suites.runner import Bench, Row, run
from calque.checks.task import Checks, ledger_of
from calque.core import yaml_tree
from calque.core.digest import json_digest
from calque.core.errors import ConfigError, did_you_mean
from calque.core.yaml_tree import LocatedList

if TYPE_CHECKING:
    from calque.core.evaluator import Evaluator
    from calque.core.result import Result

KEYS = ("name", "evaluators", "cases", "data", "gate", "partial")
PARTIAL = ("fail", "pass")
"""What a partial result can be where a threshold was given."""
DATA = frozenset({"output", "expected"})
"""Keys below which everything is data."""


@dataclass(frozen=True)
class Suite:
    """What a suite file says. `run` judges all of it, `stream` hands out results as they come."""

    file: str
    name: str
    bench: Bench
    inline: tuple[Case, ...] = ()
    data: str | None = None
    """The file that the cases are in, if they are not inline."""
    gate: Gate = field(default_factory=Gate)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        evaluators: Mapping[str, Reference] | None = None,
        data: str | os.PathLike[str] | None = None,
    ) -> Suite:
        """The suite in a file; `ConfigError` with everything that is wrong with it, by line and column.

        ``evaluators`` adds types of one's own: a function, or ``"file.py:function"``. ``data`` replaces the cases.
        """
        file = os.fspath(path)
        raw = yaml_tree.load(_read(file), file, plain=DATA)
        complaints = Complaints(file)
        if not isinstance(raw, dict):
            raise ConfigError(f"{file}: a suite is a mapping with {', '.join(KEYS)}, not {shown(raw)}")
        for key in raw:
            if key not in KEYS:
                hint = did_you_mean(key, KEYS) or f"known are {', '.join(KEYS)}"
                complaints.add(raw, key, f"unknown key {key!r} in a suite", help=hint)
        configs = _listed(raw, "evaluators", complaints)
        complaints.raise_all()
        partial = raw.get("partial", "fail")
        if partial not in PARTIAL:
            complaints.add(raw, "partial", f"partial is {' or '.join(PARTIAL)}, not {shown(partial)}")
        bench = Bench(configs, dict(evaluators or {}), file, str(partial))
        inline = () if data is not None else _inline(raw, complaints)
        source = os.fspath(data) if data is not None else _data(raw, file, complaints)
        names = tuple(check.name for check in bench.checks)
        gate = Gate.from_config(raw["gate"], names, complaints) if "gate" in raw else Gate()
        if source is None and not inline:
            complaints.add(raw, "cases", "the suite has no cases", help="list them under cases, or name a file under data")
        complaints.raise_all()
        suite = cls(file, str(raw.get("name") or Path(file).stem), bench, inline, source, gate)
        suite._check_inline()
        return suite

    def _check_inline(self) -> None:
        """Every case must be one that can be judged: distinct, with evaluators that are valid."""
        for case in distinct(self.inline, self.file):
            if case.evaluators or not self.bench.checks:
                self.bench.checks_for(case)

    def cases(self, selection: Selection | None = None) -> Iterator[Case]:
        """The cases that are wanted, in order, read as they are asked for."""
        wanted = selection or Selection()
        every: Iterable[Case] = self.inline if self.data is None else distinct(read_lines(self.data), self.data)
        return (case for case in every if wanted.wants(case))

    def results_to_come(self) -> int:
        """About how many results all cases have: each evaluator of the suite gives one for each line of the data."""
        if self.data is None:
            return len(self.inline) * len(self.bench.checks)
        try:
            with open(self.data, "rb") as file:
                lines = sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
        except OSError:
            return 0  # whoever reads it says what is wrong with it
        return lines * len(self.bench.checks)

    def corpus(self, selection: Selection | None = None) -> CaseCorpus:
        """The cases that are wanted, as a corpus for `Evaluator.update`."""
        return CaseCorpus(cases=tuple(self.cases(selection)), source=self.data or self.file)

    def task(self, selection: Selection | None = None) -> Checks:
        """The task that the evaluators of this suite make, on the cases that are wanted."""
        wanted = selection or Selection()
        own = identities(self.bench.registry, {str(config["type"]) for config in self.bench.configs} - BUILT_IN.keys())
        return Checks.of(
            self.bench.configs,
            own=own,
            ids=wanted.ids,
            tags=wanted.tags,
            only=wanted.only,
            partial=self.bench.partial,
            gate=self.gate.to_text(),
        )

    def stream(self, *, selection: Selection | None = None, jobs: int = 1) -> Iterator[list[Row]]:
        """Results in chunks as they come, in the order of the cases; `ConfigError` when there is no case at all."""
        some = False
        for rows in run(self.bench, self.cases(selection), jobs):
            some = True
            yield rows
        if not some:
            raise ConfigError(f"{self.data or self.file}: {'no case matches' if selection else 'there are no cases'}")

    def run(self, *, selection: Selection | None = None, jobs: int = 1) -> Result:
        """Judge every case that is wanted."""
        rows = [row for chunk in self.stream(selection=selection, jobs=jobs) for row in chunk]
        return self.evaluator(rows, selection).compute()

    def evaluator(self, rows: list[Row], selection: Selection | None = None) -> Evaluator:
        """An evaluator that has taken in these results, for numbers, states and merging."""
        from calque.core.evaluator import Evaluator
        from calque.core.result import Sources
        from calque.core.truth_digest import noted

        source = ((self.data or self.file, self.name),)
        expected = {row.case.id: row.case.expected for row in rows}
        ledger = noted(ledger_of(rows), {unit: json_digest(value) for unit, value in expected.items()})
        return Evaluator(self.task(selection)).add(ledger, sources=Sources(source, source))


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None


def _listed(raw: Mapping[str, Any], key: str, complaints: Complaints) -> list[Any]:
    value = raw.get(key)
    if value is None:
        return LocatedList()
    if not isinstance(value, list):
        complaints.add(raw, key, f"{key} is a list, not {shown(value)}")
        return LocatedList()
    return value


def _inline(raw: Mapping[str, Any], complaints: Complaints) -> tuple[Case, ...]:
    listed = _listed(raw, "cases", complaints)
    places = getattr(listed, "places", [""] * len(listed))
    return tuple(
        case_of(entry, position, place, complaints) for position, (entry, place) in enumerate(zip(listed, places, strict=True))
    )


def _data(raw: Mapping[str, Any], file: str, complaints: Complaints) -> str | None:
    """The data file, found from where the suite is."""
    if "data" not in raw:
        return None
    if not isinstance(raw["data"], str) or not raw["data"]:
        complaints.add(raw, "data", f"data names a JSONL file, not {shown(raw['data'])}")
        return None
    if "cases" in raw:
        complaints.add(raw, "data", "a suite has cases or data, not both")
    return os.path.join(os.path.dirname(file), raw["data"])
