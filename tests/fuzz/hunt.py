"""A hunt behind one door: files are changed at random, and changes that reach new lines of the package are built upon."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import calque
from tests.fuzz.door import Door, Files, tried
from tests.fuzz.mutation import mutated

PACKAGE = str(Path(calque.__file__).parent)
MOST_KEPT = 400
"""Files that are built upon; of more, some are forgotten."""


class Lines:
    """The lines of the package that have been reached. A function of which nothing is new is not looked at again."""

    def __init__(self) -> None:
        self._left: dict[CodeType, set[int]] = {}
        self.reached = 0

    def new(self, work: Callable[[], str]) -> tuple[str, int]:
        """What some work says, and how many lines it reached for the first time."""
        before = self.reached
        former = sys.gettrace()
        sys.settrace(self._called)
        try:
            said = work()
        finally:
            sys.settrace(former)
        return said, self.reached - before

    def _called(self, frame: FrameType, _event: str, _what: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            inside = code.co_filename.startswith(PACKAGE)
            left = self._left[code] = {line for _, _, line in code.co_lines() if line is not None} if inside else set()
        return self._stepped if left else None

    def _stepped(self, frame: FrameType, event: str, _what: Any) -> Any:
        left = self._left[frame.f_code]
        if event == "line" and frame.f_lineno in left:
            left.remove(frame.f_lineno)
            self.reached += 1
        return self._stepped if left else None


@dataclass
class Hunt:
    """Tries changed files one after the other, each with one of the door's commands; a seed gives the same files again."""

    door: Door
    seed: int = 0
    guided: bool = True
    """Whether lines are counted, which takes about as long as the work itself."""
    kept: list[Files] = field(default_factory=list)
    lines: Lines = field(default_factory=Lines)

    def __iter__(self) -> Iterator[tuple[Files, str]]:
        """Files, and what was wrong with how they were read: nothing, as long as all is well."""
        chance = Random(f"{self.door.name} {self.seed}")
        self.kept.append(self.door.files)
        if self.guided:
            tried(self.door.files, self.door.commands)  # imports what is needed: modules are not what is hunted in
        while True:
            files = self.changed(chance)
            yield files, self._try(files, [chance.choice(self.door.commands)])

    def changed(self, chance: Random) -> Files:
        """Some files that are known to be of interest, one of them changed, now and then several."""
        base = dict(chance.choice(self.kept) if chance.random() < 0.7 else self.door.files)
        names = self.door.attacked
        for name in chance.sample(names, min(len(names), chance.choice((1, 1, 1, 2)))):
            others = [files[name] for files in self.kept[-20:]]
            base[name] = mutated(name, base[name], chance, others)
        return base

    def _try(self, files: Files, commands: list[str]) -> str:
        if not self.guided:
            return tried(files, commands)
        said, new = self.lines.new(lambda: tried(files, commands))
        if new and not said and sum(map(len, files.values())) < 50_000:
            self.kept.append(files)
            if len(self.kept) > MOST_KEPT:
                del self.kept[1 : MOST_KEPT // 2]
        return said
