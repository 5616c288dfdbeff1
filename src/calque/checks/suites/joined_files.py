"""Expected and actual data in files of their own, joined by id, so that the output of a model needs no merging first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from calque.checks.evaluators.paths import Missing, Path
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.cases import Case, is_id, is_tags
from calque.checks.suites.data_files import Entry, entries
from calque.core.corpus import UnitId

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
