"""What a benchmark suite is: data sets, the tools that are run on them, and the numbers they must agree on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Inputs = Mapping[str, str]  # A data set's files, by file name.
Numbers = Mapping[str, float]  # What a tool found, by measure.


@dataclass(frozen=True)
class Tool:
    """One way to do the work, as a whole process in its own environment."""

    name: str
    environment: str  # A name in `peers.ENVIRONMENTS`.
    command: Callable[[Path, Inputs], list[str]]  # From the environment's folder of programs and the data.
    numbers: Callable[[str], Numbers]  # From what the command prints.
    needs: tuple[str, ...] = ()  # Input files beyond those that every tool reads.
    skips: frozenset[str] = frozenset()  # Data sets that take it too long, unless it is asked for by name.


@dataclass(frozen=True)
class DataSet:
    """One input of a suite."""

    name: str
    title: str
    items: int  # What cost is expected to grow with (pages, documents): for the table of growth.
    default: bool = True  # Whether it is run when no sets are named.


@dataclass(frozen=True)
class Suite:
    """All that the runner needs to know about one task."""

    name: str
    sets: tuple[DataSet, ...]
    groups: Mapping[str, tuple[str, ...]]  # Names that stand for several sets, shown as one table of growth.
    tools: tuple[Tool, ...]
    ours: tuple[str, ...]  # The tools that ratios are given for.
    references: tuple[str, ...]  # Whose numbers are taken as right: the first of these that ran.
    tolerance: float
    prepare: Callable[[str, Path, frozenset[str]], Inputs]  # Set, cache folder, file names: makes what is missing.

    def set_named(self, name: str) -> DataSet:
        return next(data for data in self.sets if data.name == name)
