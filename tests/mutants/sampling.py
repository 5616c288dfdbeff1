"""Which faults are tried: a few for each package, drawn by a seed, without those that are known to change nothing."""

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.sites import Mutant, mutants_of


@dataclass(frozen=True)
class Equivalent:
    """A fault that no test can notice, by its lines before and after, and why; without the line after, every fault there."""

    file: str
    scope: str
    before: str
    reason: str
    after: str = ""

    def names(self, mutant: Mutant) -> bool:
        here = (self.file, self.scope, self.before) == (mutant.file, mutant.scope, mutant.old)
        return here and self.after in {"", mutant.new}


@dataclass(frozen=True)
class Tuned:
    """A number that says how much is done at a time, and why nobody sees it: half or twice as much would do as well."""

    file: str
    name: str
    reason: str

    def names(self, mutant: Mutant) -> bool:
        if (self.file, "") != (mutant.file, mutant.scope) or not mutant.old.startswith(f"{self.name} = "):
            return False
        before, after = (value_of(line) for line in (mutant.old, mutant.new))
        return 0 < before <= 2 * after <= 4 * before


def value_of(line: str) -> float:
    """What a line gives to its name, where that is made of numbers alone.

    >>> value_of("AT_ONCE = 1 << 4  # bytes")
    16
    """
    value: float = eval(line.partition("=")[2], {"__builtins__": {}})  # a line of our own sources
    return value


def equivalents(path: Path) -> list[Equivalent | Tuned]:
    """What the file of equivalents lists; nothing where there is none."""
    if not path.exists():
        return []
    listed = tomllib.loads(path.read_text("utf-8"))
    return [
        *(Equivalent(**entry) for entry in listed.get("equivalent", [])),
        *(Tuned(**entry) for entry in listed.get("tuned", [])),
    ]


def packages(root: Path, package: str, wanted: str = "") -> dict[str, list[str]]:
    """The files of each package, by its dotted name below the top; ``wanted`` names one, with those inside it."""
    top = root / "src" / package
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(top.rglob("*.py")):
        name = ".".join(path.parent.relative_to(top).parts) or package
        if not wanted or name == wanted or name.startswith(f"{wanted}."):
            found[name].append(path.relative_to(root).as_posix())
    return dict(sorted(found.items()))


def sample(root: Path, files: Mapping[str, Sequence[str]], size: int, seed: int) -> dict[str, list[Mutant]]:
    """For each package as many faults as asked for, each on a line of its own.

    Lines are drawn, and then one fault of each: a table of numbers would otherwise crowd out the code. What is drawn for a
    package hangs on the seed and on its own files only.
    """
    drawn = {}
    for name, paths in files.items():
        lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for path in paths:
            for mutant in mutants_of(path, (root / path).read_bytes()):
                lines[mutant.file, mutant.line].append(mutant)
        dice = random.Random(f"{seed} {name}")
        chosen = dice.sample(sorted(lines), min(size, len(lines)))
        drawn[name] = [dice.choice(lines[line]) for line in chosen]
    return drawn
