"""Work that processes can be sent: it lives in a module."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calque.base.errors import ConfigError, ContractError, Issue, MergeError, MissingExtra, Severity


def square(number: int) -> int:
    return number * number


def late_square(number: int) -> int:
    """The earlier ones take longer, so that outcomes come out of order."""
    time.sleep(0.002 * max(0, 8 - number))
    return number * number


def where(_: object) -> int:
    return os.getpid()


@dataclass
class Times:
    """Carries what all items share."""

    factor: int
    loaded: int = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.loaded += 1

    def __call__(self, number: int) -> tuple[int, int]:
        return number * self.factor, self.loaded


ISSUE = Issue("odd", "is odd", "a.json", "/1", "make it even", Severity.LOSS, 3)


class Stubborn(Exception):
    """Can be pickled, and not be brought back."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def failing(number: int) -> int:
    if number == 3:
        raise ContractError([ISSUE, ISSUE], hints=["look again"])
    if number == 4:
        raise ConfigError("no such setting")
    if number == 5:
        raise MissingExtra("lxml", "xml", "reading XML")
    if number == 6:
        raise MergeError("apart")
    if number == 7:
        raise Stubborn(1, 2)
    if number == 8:
        raise ZeroDivisionError("by nothing")
    return number


def not_picklable(_: object) -> object:
    return lambda: None


def ends_itself(number: int) -> int:
    if number == 2:
        os._exit(5)
    return number


def ends_once(path: str) -> str:
    """Ends its process when it is asked for the first time, as a system does when memory runs out."""
    if not path.endswith("fine"):
        try:
            Path(path).touch(exist_ok=False)
        except FileExistsError:
            return path
        os._exit(5)
    return path


def writes_and_reads(number: int) -> str:
    """Prints on stdout, and reads stdin: neither may touch the messages."""
    print("said by a worker", flush=True)  # noqa: T201  # as evaluators of one's own may
    return input() if number < 0 else Path(os.devnull).name + (os.read(0, 10).decode() or "-empty")


def lies_down(path: str) -> None:
    """Writes its process id to a file, then does not end for longer than any test waits.

    Not never: should the tests be killed, nothing of them stays for good.
    """
    target = Path(path)
    target.with_suffix(".part").write_text(str(os.getpid()))
    target.with_suffix(".part").rename(target)
    until = time.monotonic() + 300
    while time.monotonic() < until:
        time.sleep(0.05)


class Counting:
    """Says how many items it was given so far."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, item: object) -> int:
        self.seen += 1
        return self.seen
