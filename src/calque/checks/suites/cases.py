"""The cases of a suite: inline, or streamed from files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from calque.base.errors import ConfigError, did_you_mean
from calque.base.yaml_tree import Located
from calque.checks.evaluators.outcome import is_failure
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.data_files import Entry, entries
from calque.corpus.boxes import Corpus, UnitId, json_digest

KEYS = ("id", "input", "output", "expected", "evaluators", "tags")
KNOWN = frozenset(KEYS)


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
    input: Any = None
    """What the system under test is given."""
    trouble: str = ""
    """Why it cannot be judged, whatever the evaluators are; empty when it can."""
    unanswered: str = ""
    """Why there is no output: the model's failure."""
    from_data: bool = False
    """Whether it comes from a file of data, which may name neither programs nor files nor installed code."""

    def digest(self) -> int:
        """Return a digest of the expected value and of the evaluators that only this case has."""
        return digest_of([self.expected, self.evaluators])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases are wanted; without any wish all are."""

    ids: tuple[str, ...] = ()
    """Patterns as in a shell: ``invoice-*``."""
    tags: tuple[str, ...] = ()
    only: frozenset[UnitId] | None = None

    def wants(self, case: Case) -> bool:
        """Whether a case is wanted; one that cannot be read does not say what it is, and is told of."""
        if case.trouble and self.only is None:
            return True
        return (
            (not self.ids or any(fnmatchcase(str(case.id), pattern) for pattern in self.ids))
            and (not self.tags or any(tag in case.tags for tag in self.tags))
            and (self.only is None or case.id in self.only)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
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
        """Return a digest of what each case expects."""
        return [case.digest() for case in self.cases]

    def select(self, units: Iterable[UnitId]) -> CaseCorpus:
        """Only these cases."""
        wanted = set(units)
        return replace(self, cases=tuple(case for case in self.cases if case.id in wanted))

    def without(self, units: Set[UnitId]) -> CaseCorpus:
        """All cases but these."""
        return replace(self, cases=tuple(case for case in self.cases if case.id not in units)) if units else self


def digest_of(value: Any) -> int:
    """Return the digest of a JSON value, however deeply it is nested."""
    try:
        return json_digest(value)
    except RecursionError:
        return json_digest(_flat(value))


def _flat(value: Any) -> list[Any]:
    """Return the parts of a value in one list, with marks where lists and objects begin."""
    parts: list[Any] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            parts.append({"keys": sorted(map(str, one))})
            waiting += [one[key] for key in sorted(one, key=str)]
        elif isinstance(one, list | tuple):
            parts.append({"items": len(one)})
            waiting += one
        else:
            parts.append(one)
    return parts


def case_of(raw: Any, position: int, place: str, complaints: Complaints, *, from_data: bool = False) -> Case:
    """The case that a mapping describes; what is wrong with it goes to the complaints."""
    if not isinstance(raw, Mapping):
        complaints.add_at(place, f"a case is a mapping with output and expected, not {shown(raw)}")
        raw = {}
    if not raw.keys() <= KNOWN:
        _complain_of_keys(raw, place, complaints)
    identity = raw.get("id", f"case {position + 1}")
    if not is_id(identity):
        complaints.add_at(place, f"the id of a case is text or a whole number, not {shown(identity)}")
        identity = f"case {position + 1}"
    tags = raw.get("tags", ())
    tags = [tags] if isinstance(tags, str) and tags else tags or ()  # an empty cell of CSV is no tag
    if tags and not is_tags(tags):
        complaints.add_at(place, f"tags are a list of words, not {shown(tags)}")
        tags = []
    own = raw.get("evaluators", ())
    if own and not isinstance(own, list):
        complaints.add_at(place, f"evaluators are a list, not {shown(own)}")
        own = []
    return Case(
        identity,
        raw.get("output"),
        raw.get("expected"),
        tuple(own),
        tuple(tags),
        place,
        position,
        input=raw.get("input"),
        from_data=from_data,
    )


def _complain_of_keys(raw: Mapping[str, Any], place: str, complaints: Complaints) -> None:
    for key in raw:
        if key not in KNOWN:
            where = raw.places.get(key, place) if isinstance(raw, Located) else place
            complaints.add_at(
                where, f"unknown key {key!r} in a case", help=did_you_mean(key, KEYS) or f"known are {', '.join(KEYS)}"
            )


def is_id(value: Any) -> bool:
    """Whether a value can name a case."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def is_tags(value: Any) -> bool:
    """Whether a value is a list of words."""
    return isinstance(value, list | tuple) and all(isinstance(tag, str) for tag in value)


def complain_of_twins(cases: Iterable[Case], complaints: Complaints) -> None:
    """Complain of every case whose id was used before."""
    seen: dict[UnitId, str] = {}
    for case in cases:
        if case.id in seen:
            complaints.add_at(case.place, f"the id {case.id!r} was used before, at {seen[case.id]}")
        seen.setdefault(case.id, case.place)


def distinct(cases: Iterable[Case], file: str) -> Iterator[Case]:
    """The same cases; `ConfigError` at the second one with the same id."""
    seen: dict[UnitId, str] = {}
    for case in cases:
        if case.id in seen:
            raise ConfigError(f"{file}: {case.place}: the id {case.id!r} was used before, at {seen[case.id]}")
        seen[case.id] = case.place
        yield case


def read_cases(files: Iterable[str]) -> Iterator[Case]:
    """The cases of some files, one by one; an entry that is none is a case that cannot be judged, with the reason."""
    position = 0
    several = False
    for file in files:
        for entry in entries(file):
            yield _from_entry(entry, position, f"{Path(file).name} " if several else "")
            position += 1
        several = True


def _from_entry(entry: Entry, position: int, prefix: str) -> Case:
    complaints = Complaints(entry.file)
    trouble = entry.trouble
    raw = entry.value if not trouble or isinstance(entry.value, dict) else {}
    case = case_of(raw, position, entry.place, complaints, from_data=True)
    if not trouble and complaints.lines:
        trouble = "; ".join(complaints.lines)
    if not trouble:
        return case
    named = isinstance(entry.value, dict) and is_id(entry.value.get("id"))
    return replace(case, id=case.id if named else f"{prefix}{entry.place}", trouble=trouble)


def failed_ids(path: str | os.PathLike[str], suite: str = "") -> frozenset[UnitId]:
    """The ids of the cases that did not pass, from a JSONL result; of one suite, where the result is of several."""
    file = os.fspath(path)
    failed = set()
    for number, line in enumerate(_lines(file), 1):
        if line.strip():
            try:
                row = json.loads(line)
                if is_failure(row) and row.get("suite", suite) == suite:
                    failed.add(row["id"])
            except (ValueError, KeyError, TypeError):
                raise ConfigError(f"{file}: line {number}: is no result line; give a file made with --format jsonl") from None
    return frozenset(failed)


def _lines(file: str) -> list[bytes]:
    try:
        return Path(file).read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
