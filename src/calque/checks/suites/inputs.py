"""The files that a suite takes its cases from: whole cases, or the two sides in files of their own, joined by id."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from calque.base.regular_files import regular_size
from calque.base.yaml_tree import Located
from calque.checks.evaluators.paths import Missing, Path
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.cases import Case, is_id, is_tags
from calque.checks.suites.data_files import Entry, entries
from calque.checks.suites.named_files import found_files
from calque.corpus.boxes import UnitId

DATA_KEYS = ("data", "expected", "actual", "id")
SIDES = ("expected", "actual")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Which files there are; none where cases are inline."""

    data: tuple[str, ...] = ()
    joined: JoinedFiles | None = None

    def __bool__(self) -> bool:
        return bool(self.data) or self.joined is not None

    @property
    def files(self) -> tuple[str, ...]:
        """All of them."""
        return self.data if self.joined is None else (*self.joined.expected, *self.joined.actual)

    @property
    def first(self) -> str | None:
        """The file that stands for all."""
        return next(iter(self.files), None)

    def lines(self) -> int:
        """About how many cases they have: the lines of the data, or of the expected side."""
        files = self.data if self.joined is None else self.joined.expected or self.joined.actual
        try:
            return sum(_lines(file) for file in files)
        except (OSError, ValueError):
            return 0  # whoever reads it says what is wrong with it

    @classmethod
    def of(
        cls, raw: Mapping[str, Any], folder: str, complaints: Complaints, given: Mapping[str, str], *, system: bool
    ) -> Inputs:
        """The files that a suite names, found from its folder, or those that are given in their place."""
        named = {key: _files(raw, key, folder, complaints) for key in ("data", *SIDES) if key in raw}
        if "data" in given:
            return cls(data=found_files(given["data"]))
        if any(side in given for side in SIDES):
            named = {side: files for side, files in named.items() if side in SIDES}
            named |= {side: found_files(given[side]) for side in SIDES if side in given}
        elif "cases" in raw and named:
            complaints.add(raw, next(iter(named)), f"a suite has cases or {next(iter(named))}, not both")
        elif "data" in named and len(named) > 1:
            complaints.add(raw, "data", "a suite has data, or expected and actual, not both")
        identities = _ids(raw, complaints)
        if "data" in named:
            return cls(data=named["data"])
        if not any(side in named for side in SIDES):
            if "id" in raw and not given:
                complaints.add(raw, "id", "id says how expected and actual are joined, and the suite names neither")
            return cls()
        if "actual" not in named and not system:
            complaints.add(
                raw, "expected", "expected needs actual, the file with the outputs", help="name it here, or with --actual FILE"
            )
        if "actual" in named and system:
            complaints.add(raw, "actual", "a suite has actual, or a system that gives outputs, not both")
        sides = {side: named.get(side, ()) for side in SIDES}
        return cls(joined=JoinedFiles(sides["expected"], sides["actual"], *identities, system=system))


def _lines(file: str) -> int:
    regular_size(file)  # a pipe would block
    with open(file, "rb") as content:
        return sum(piece.count(b"\n") for piece in iter(lambda: content.read(1 << 20), b""))


def _files(raw: Mapping[str, Any], key: str, folder: str, complaints: Complaints) -> tuple[str, ...]:
    names = raw[key] if isinstance(raw[key], list) else [raw[key]]
    if not names or not all(isinstance(name, str) and name for name in names):
        complaints.add(raw, key, f"{key} names a file (JSONL, JSON or CSV) or several, not {shown(raw[key])}")
        return ()
    return tuple(file for name in names for file in found_files(os.path.join(folder, name)))


def _ids(raw: Mapping[str, Any], complaints: Complaints) -> tuple[Path, Path]:
    """Where each side has the id: one path for both, or one for each."""
    named = raw.get("id", "id")
    sides = named if isinstance(named, Mapping) else dict.fromkeys(SIDES, named)
    if not set(sides) <= set(SIDES):
        complaints.add(raw, "id", f"id is a key, or {{expected: KEY, actual: KEY}}, not {shown(named)}")
        return ID, ID
    where = named if isinstance(named, Located) else raw
    paths = []
    for side in SIDES:
        text = sides.get(side, "id")
        try:
            if not isinstance(text, str):
                raise ValueError(f"id names a key, not {shown(text)}")
            paths.append(Path.compile(text))
        except ValueError as error:
            complaints.add(where, side if where is named else "id", str(error))
            paths.append(ID)
    return paths[0], paths[1]


ID = Path("id", ("id",))


@dataclass(frozen=True, slots=True)
class JoinedFiles:
    """Two sides of a suite in files. An entry's whole content is what is expected, or what was found."""

    expected: tuple[str, ...] = ()
    actual: tuple[str, ...] = ()
    expected_id: Path = ID
    actual_id: Path = ID
    system: bool = False
    """Whether outputs come from a system under test, and not from files."""

    def cases(self) -> Iterator[Case]:
        """Every expected entry with what was found for it, in their order; then what nobody expected."""
        found, broken = self._found()
        position = 0
        for position, case in enumerate(self._expected(found)):
            yield _at(case, position)
        if self.expected:
            where = _named(self.expected)
            for key, side in found.items():
                if not side.used:
                    position += 1
                    entry = side.entry
                    told = f"{entry.file}: {entry.place}: nothing is expected of the id {key!r}: {where} has no such entry"
                    yield Case(side.id, entry.value, None, (), (), entry.place, position, trouble=told)
        for entry in broken:
            position += 1
            yield _broken(entry, "actual", position, several=len(self.actual) > 1)

    def _expected(self, found: Mapping[str, _Found]) -> Iterator[Case]:
        if not self.expected:
            for side in found.values():
                side.used = True
                yield Case(side.id, side.entry.value, None, (), _tags(side.entry.value), side.entry.place, trouble=side.twice())
            return
        for entry in _all(self.expected):
            identity = _identity(entry, self.expected_id)
            if isinstance(identity, Entry):
                yield _broken(identity, "expected", 0, several=len(self.expected) > 1)
                continue
            yield self._joined(identity, entry, found.get(str(identity)))

    def _joined(self, identity: UnitId, entry: Entry, side: _Found | None) -> Case:
        value = entry.value
        given = value.get("input") if isinstance(value, Mapping) else None
        missing = (
            "" if side is not None or self.system else f"output: {_named(self.actual)} has no entry with the id {identity!r}"
        )
        if side is not None:
            side.used = True
        return Case(
            identity,
            None if side is None else side.entry.value,
            value,
            tags=_tags(value),
            place=entry.place,
            input=given,
            trouble=side.twice() if side is not None else "",
            unanswered=missing,
        )

    def _found(self) -> tuple[dict[str, _Found], list[Entry]]:
        """What was found, by the text of its id: files of different kinds spell numbers differently."""
        found: dict[str, _Found] = {}
        broken = []
        for entry in _all(self.actual):
            identity = _identity(entry, self.actual_id)
            if isinstance(identity, Entry):
                broken.append(identity)
            elif str(identity) in found:
                found[str(identity)].again.append(entry.place)
            else:
                found[str(identity)] = _Found(identity, entry, [])
        return found, broken


@dataclass(slots=True)
class _Found:
    """What was found under an id."""

    id: UnitId
    entry: Entry
    again: list[str]
    """Where the same id stands once more."""
    used: bool = False

    def twice(self) -> str:
        if not self.again:
            return ""
        places = " and ".join([self.entry.place, *self.again])
        return f"{self.entry.file}: the id {self.id!r} occurs more than once: {places}"


def _all(files: Iterable[str]) -> Iterator[Entry]:
    return (entry for file in files for entry in entries(file))


def _identity(entry: Entry, path: Path) -> UnitId | Entry:
    """The id of an entry; where it has none, the entry with its trouble."""
    if entry.trouble:
        return entry
    value = path.find(entry.value)
    if is_id(value):
        return value  # type: ignore[no-any-return]  # text or a whole number
    what = f"has no {path.text!r}" if isinstance(value, Missing) else f"has the id {shown(value)}; give text or a whole number"
    return Entry(entry.file, entry.place, entry.value, f"{entry.file}: {entry.place}: {what}")


def _broken(entry: Entry, side: str, position: int, *, several: bool) -> Case:
    file = f"{FilePath(entry.file).name} " if several else ""
    return Case(f"{side} {file}{entry.place}", None, None, place=entry.place, position=position, trouble=entry.trouble)


def _at(case: Case, position: int) -> Case:
    object.__setattr__(case, "position", position)  # nobody else has seen it yet
    return case


def _tags(value: Any) -> tuple[str, ...]:
    tags = value.get("tags") if isinstance(value, Mapping) else None
    if isinstance(tags, str):
        return (tags,) if tags else ()
    return tuple(tags) if tags and is_tags(tags) else ()


def _named(files: tuple[str, ...]) -> str:
    return ", ".join(FilePath(file).name for file in files[:3]) + (" …" if len(files) > 3 else "") or "the suite"
