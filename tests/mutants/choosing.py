"""Which of the tests that run a line are tried, and in which order, when there is no time for all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONG = 6
"""A test that takes more than such a part of the budget waits for the others."""
MOST_OF_LINE = 2
"""A long line shares words with tests of anything."""
EVERYWHERE = {"src", "test", "tests", "unit", "py", "init"}


@dataclass(frozen=True)
class Candidate:
    """A test that runs the line: how long it takes, and which share of all the lines that it runs is in the file."""

    name: str
    seconds: float
    share: float

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


def choose(file: str, tests: Iterable[Candidate], budget: float, line: str = "") -> list[str]:
    """As many tests as fit into the budget, always one; those of one file together, since they may share what takes long.

    A third of the time is for tests whose names are like the file's and the line's, a third for those that run little else, and
    a third for the quickest, which are the most.
    """
    known = sorted(tests, key=lambda test: (test.seconds, test.name))
    queues = [
        sorted(known, key=lambda test: (test.seconds > budget / LONG, -likeness(file, test.name, line))),
        sorted(known, key=lambda test: (test.seconds > budget / LONG, -test.share)),
        known,
    ]
    chosen = alternating(queues, budget) or known[:1]
    first: dict[str, int] = {}
    for place, test in enumerate(chosen):
        first.setdefault(test.file, place)
    return [test.name for test in sorted(chosen, key=lambda test: first[test.file])]


def alternating(queues: Sequence[Sequence[Candidate]], budget: float) -> list[Candidate]:
    """Take from each queue in turn, by the time that each has had; what does not fit is left out, for shorter ones."""
    chosen: dict[str, Candidate] = {}
    ahead = [iter(queue) for queue in queues]
    spent = dict.fromkeys(range(len(queues)), 0.0)
    left = budget
    while spent:
        turn = min(spent, key=lambda place: (spent[place], place))
        test = next((test for test in ahead[turn] if test.name not in chosen and test.seconds <= left), None)
        if test is None:
            del spent[turn]
            continue
        chosen[test.name] = test
        spent[turn] += test.seconds
        left -= test.seconds
    return list(chosen.values())


def likeness(file: str, test: str, line: str = "") -> float:
    """How much the name of a test says that it is about a file, or a line of it; most, where it is the file's own example.

    >>> likeness("src/calque/checks/pictured.py", "tests/unit/checks/test_pictured.py")
    3
    >>> likeness("src/calque/checks/pictured.py", "tests/cli/test_check.py")
    1
    >>> likeness("src/calque/checks/task.py", "tests/laws/test_settings.py::test_names[checks]", "partial = setting()")
    2
    """
    if file == test.partition("::")[0]:
        return float("inf")
    *folders, last = file.removesuffix("/__init__.py").split("/")
    near = words(test)
    return 2 * len(words(last) & near) + len(words("/".join(folders[2:])) & near) + min(MOST_OF_LINE, len(words(line) & near))


def words(path: str) -> set[str]:
    """The words of a path that tell it from others, without an s for many."""
    return {word.rstrip("s") for word in re.findall("[a-z0-9]+", path.lower())} - EVERYWHERE
