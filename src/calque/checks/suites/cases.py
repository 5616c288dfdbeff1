"""The cases of a suite: inline, or streamed from a file with one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from calque.checks.evaluators.outcome import is_failure
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.core.corpus import Corpus, UnitId
from calque.core.digest import json_digest
from calque.core.errors import ConfigError, ContractError, did_you_mean
from calque.core.yaml_tree import Located
from calque.readers.sources.json_tree import parse_line, repeated_keys

KEYS = ("id", "output", "expected", "evaluators", "tags")


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to judge."""

    id: UnitId
    output: Any
    expected: Any
    evaluators: tuple[Mapping[str, Any], ...] = ()
    """Settings of evaluators that only this case has."""
    tags: tuple[str, ...] = ()
    place: str = ""
    """Where it stands, as in ``line 12``."""
    position: int = 0
    """How many cases stand before it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases are wanted; without any wish all are."""

    ids: tuple[str, ...] = ()
    """Patterns as in a shell: ``invoice-*``."""
    tags: tuple[str, ...] = ()
    only: frozenset[UnitId] | None = None

    def wants(self, case: Case) -> bool:
        """Whether a case is wanted."""
        return (
            (not self.ids or any(fnmatchcase(str(case.id), pattern) for pattern in self.ids))
            and (not self.tags or any(tag in case.tags for tag in self.tags))
            and (self.only is None or case.id in self.only)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseCorpus(Corpus):
    """Cases as one side, or both sides, of an evaluation."""

    cases: tuple[Case, ...]
    source: str = ""

    def __repr__(self) -> str:
        return f"<CaseCorpus {self.source or 'in memory'}: {len(self.cases):,} case{'' if len(self.cases) == 1 else 's'}>"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all cases."""
        return tuple(case.id for case in self.cases)

    def digests(self) -> list[int]:
        """For each case what it expects."""
        return [json_digest(case.expected) for case in self.cases]

    def select(self, units: Iterable[UnitId]) -> CaseCorpus:
        """Only these cases."""
        wanted = set(units)
        return replace(self, cases=tuple(case for case in self.cases if case.id in wanted))

    def without(self, units: Set[UnitId]) -> CaseCorpus:
        """All cases but these."""
        return replace(self, cases=tuple(case for case in self.cases if case.id not in units)) if units else self


def case_of(raw: Any, position: int, place: str, complaints: Complaints) -> Case:
    """The case that a mapping describes; what is wrong with it goes to the complaints."""
    if not isinstance(raw, Mapping):
        complaints.add_at(place, f"a case is a mapping with output and expected, not {shown(raw)}")
        raw = {}
    for key in raw:
        if key not in KEYS:
            where = raw.places.get(key, place) if isinstance(raw, Located) else place
            complaints.add_at(
                where, f"unknown key {key!r} in a case", help=did_you_mean(key, KEYS) or f"known are {', '.join(KEYS)}"
            )
    identity = raw.get("id", f"case {position + 1}")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        complaints.add_at(place, f"the id of a case is text or a whole number, not {shown(identity)}")
        identity = f"case {position + 1}"
    tags = raw.get("tags", [])
    tags = [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        complaints.add_at(place, f"tags are a list of words, not {shown(tags)}")
        tags = []
    own = raw.get("evaluators", [])
    if not isinstance(own, list):
        complaints.add_at(place, f"evaluators are a list, not {shown(own)}")
        own = []
    return Case(identity, raw.get("output"), raw.get("expected"), tuple(own), tuple(tags), place, position)


def distinct(cases: Iterable[Case], file: str) -> Iterator[Case]:
    """The same cases; `ConfigError` at the second one with the same id."""
    seen: dict[UnitId, str] = {}
    for case in cases:
        if case.id in seen:
            raise ConfigError(f"{file}: {case.place}: the id {case.id!r} was used before, at {seen[case.id]}")
        seen[case.id] = case.place
        yield case


def read_lines(path: str | os.PathLike[str]) -> Iterator[Case]:
    """The cases of a JSONL file, one by one; `ContractError` at the first line that is none."""
    name = os.fspath(path)
    if not Path(name).is_file():
        raise ContractError.single("no-such-file", "does not exist", file=name, help="check the data key of the suite")
    position = 0
    with open(name, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _from_line(line, name, number, position)
                position += 1


def _from_line(line: bytes, file: str, number: int, position: int) -> Case:
    place = f"line {number}"
    raw = parse_line(line, file, number)
    for inside, key in repeated_keys(raw):
        where = ": ".join(filter(None, (place, inside)))
        raise ContractError.single("duplicate-key", f"the key {key!r} occurs twice in one object", file=file, pointer=where)
    complaints = Complaints(file)
    case = case_of(raw, position, place, complaints)
    complaints.raise_all()
    return case


def failed_ids(path: str | os.PathLike[str]) -> frozenset[UnitId]:
    """The ids of the cases that did not pass, from a JSONL result."""
    file = os.fspath(path)
    failed = set()
    for number, line in enumerate(_lines(file), 1):
        if line.strip():
            try:
                row = json.loads(line)
                if is_failure(row):
                    failed.add(row["id"])
            except (ValueError, KeyError, TypeError):
                raise ConfigError(f"{file}: line {number}: is no result line; give a file made with --format jsonl") from None
    return frozenset(failed)


def _lines(file: str) -> list[bytes]:
    try:
        return Path(file).read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
