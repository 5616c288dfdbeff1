"""The files that a suite takes its cases from: whole cases, or the two sides in files of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calque.checks.evaluators.paths import Path
from calque.checks.evaluators.settings import Complaints
from calque.checks.shapes.coordinates import shown
from calque.checks.suites.data_files import found_files
from calque.checks.suites.joined_files import ID, JoinedFiles
from calque.core.yaml_tree import Located

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
        except OSError:
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
