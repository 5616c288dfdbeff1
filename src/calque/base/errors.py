"""What can go wrong: issues found in data, and the exceptions that carry them.

CalqueError
├── ContractError   a file breaks its schema; carries every issue, each with its place
├── ConfigError     a setting, class map or suite is not valid
├── MergeError      two states cannot become one
└── MissingExtra    an optional dependency is not installed

Misuse of the Python API stays ``TypeError`` or ``ValueError``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

Given = TypeVar("Given")

SHOWN = 50
"""How many issues a message lists before it only counts."""

KEPT = 100_000
"""How many issues of one file stay in memory one by one; beyond that they are counted by code."""


class Severity(StrEnum):
    """What an issue does to the evaluation."""

    ERROR = "error"
    """The file is refused."""
    LOSS = "loss"
    """Something could not be evaluated; the rest was (exit code 3)."""
    NOTE = "note"
    """Nothing was lost; the reader should know."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One finding about the data: what, where, and what to do about it."""

    code: str
    message: str
    file: str = ""
    pointer: str = ""
    """A JSON pointer (``/predictions/3/objects/0/bbox``) or ``line L column C``."""
    help: str = ""
    severity: Severity = Severity.ERROR
    count: int = 1

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.file, self.pointer) if part)
        text = f"{place}: {self.message}" if place else self.message
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"{text}{times}; {self.help}" if self.help else f"{text}{times}"

    def to_dict(self) -> dict[str, object]:
        """The JSON form, as in the ``issues`` of every result."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "file": self.file,
            "pointer": self.pointer,
            "message": self.message,
            "help": self.help,
            "count": self.count,
        }

    def renamed(self, files: Mapping[str, str]) -> Issue:
        """The same with other names for these files, wherever it speaks of them."""
        file, message, help = self.file, self.message, self.help
        for path, name in files.items():
            file, message, help = (text.replace(path, name) for text in (file, message, help))
        return replace(self, file=file, message=message, help=help)

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> Issue:
        """The issue that ``to_dict`` wrote."""
        return cls(
            code=str(data["code"]),
            message=str(data["message"]),
            file=str(data["file"]),
            pointer=str(data["pointer"]),
            help=str(data["help"]),
            severity=Severity(str(data["severity"])),
            count=int(str(data["count"])),
        )


class IssueLog:
    """Collects the issues of one file in the order in which they are found."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.total = 0
        self.errors = 0
        self._kept: list[Issue] = []
        self._beyond: dict[tuple[str, Severity], Issue] = {}
        self._hints: list[str] = []

    def add(
        self, code: str, pointer: str, message: str, *, help: str = "", severity: Severity = Severity.ERROR, count: int = 1
    ) -> None:
        """Write one issue down. A pointer may be what else stands before others: ``line 3: `` of ``line 3: /boxes``."""
        pointer = pointer.removesuffix(": ")
        self.total += count
        self.errors += count if severity is Severity.ERROR else 0
        issue = Issue(code, message, self.file, pointer, help, severity, count)
        if len(self._kept) < KEPT:
            self._kept.append(issue)
        else:
            known = self._beyond.get((code, severity))
            self._beyond[code, severity] = issue if known is None else replace(known, count=known.count + count)

    def hint(self, text: str) -> None:
        """Name a likely common cause of the issues of this file."""
        self._hints.append(text)

    @property
    def hints(self) -> tuple[str, ...]:
        """The likely causes, in the order in which they were found."""
        return tuple(self._hints)

    def __iter__(self) -> Iterator[Issue]:
        return iter([*self._kept, *self._beyond.values()])

    def raise_errors(self) -> None:
        """Raise a `ContractError` with everything found if any of it is an error."""
        if self.errors:
            raise ContractError(self, hints=self.hints)


def summarize(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """One issue for each (file, code): the first of its kind, with the number of times it occurs.

    >>> [str(issue) for issue in summarize([Issue("a", "odd", "f", "/1"), Issue("a", "odd", "f", "/2")])]
    ['f: /1: odd (2 times)']
    """
    first: dict[tuple[str, str], Issue] = {}
    for issue in issues:
        key = (issue.file, issue.code)
        known = first.get(key)
        first[key] = issue if known is None else replace(known, count=known.count + issue.count)
    return tuple(first.values())


def by_place(issues: Iterable[Issue]) -> list[Issue]:
    """Sorted, so that the one that `summarize` shows does not depend on which shard came first; numbers in pointers count.

    >>> [issue.pointer for issue in by_place(Issue("odd", "", "a.json", f"/pages/{page}/label") for page in (10, 9))]
    ['/pages/9/label', '/pages/10/label']
    """
    return sorted(issues, key=lambda issue: (issue.file, issue.code, _steps(issue.pointer), issue.message))


def _steps(pointer: str) -> list[tuple[int, str]]:
    """Texts and numbers in turn; a number counts by its length first."""
    return [(len(step) if place % 2 else 0, step) for place, step in enumerate(re.split(r"0*([0-9]+)", pointer))]


class CalqueError(Exception):
    """The root of everything that calque raises about data, settings and states."""


class ContractError(CalqueError):
    """A file breaks its contract. ``issues`` has them all, the message the first fifty."""

    def __init__(self, issues: Iterable[Issue], *, hints: Iterable[str] = ()) -> None:
        self.issues: tuple[Issue, ...] = tuple(issues)
        self.total = sum(issue.count for issue in self.issues)
        self.hints = tuple(hints)
        super().__init__(self._message())

    def __reduce__(self) -> tuple[Any, ...]:
        # The message alone would not bring it back from another process.
        return partial(ContractError, hints=self.hints), (self.issues,)

    def _message(self) -> str:
        # What the file is refused for comes first; remarks may be many.
        shown = sorted(self.issues, key=lambda issue: issue.severity is not Severity.ERROR)[:SHOWN]
        lines = [str(issue) for issue in shown]
        if len(self.issues) > SHOWN:
            lines.append(f"… and {self.total - sum(issue.count for issue in shown):,} more ({self.total:,} issues in all):")
            kinds = sorted(summarize(self.issues), key=lambda issue: -issue.count)
            lines += [f"  {kind.count:>9,} × {kind.code}" for kind in kinds]
        lines += [f"hint: {hint}" for hint in self.hints]
        return "\n".join(lines)

    @classmethod
    def joined(cls, errors: Iterable[ContractError]) -> ContractError:
        """One error with everything that several say."""
        errors = list(errors)
        return cls(
            [issue for error in errors for issue in error.issues], hints=[hint for error in errors for hint in error.hints]
        )

    @classmethod
    def single(cls, code: str, message: str, *, file: str = "", pointer: str = "", help: str = "") -> ContractError:
        """An error with one issue, for files that cannot be looked into any further."""
        return cls([Issue(code, message, file, pointer, help)])


def all_read(reads: Iterable[Callable[[], Given]]) -> list[Given]:
    """What each of several readings gives; where any is refused, one error with every issue of all of them."""
    given: list[Given] = []
    errors: list[ContractError] = []
    for read in reads:
        try:
            given.append(read())
        except ContractError as error:
            errors.append(error)
    if errors:
        raise ContractError.joined(errors)
    return given


class ConfigError(CalqueError):
    """A setting is not valid; the message says which, where and what is."""


class MergeError(CalqueError):
    """Two states cannot become one; the message shows what differs."""


DISTRIBUTION = "calque-eval"
"""The name on the package index. The import name and the command are ``calque``; ``calque`` on the index is another project."""


class MissingExtra(CalqueError):
    """An optional dependency is not installed; the message names the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install '{DISTRIBUTION}[{extra}]'")
        self._told = package, extra, purpose

    def __reduce__(self) -> tuple[Any, ...]:
        return MissingExtra, self._told


def closest(
    word: str, known: Iterable[str], count: int = 1, *, cutoff: float = 0.6, key: Callable[[str], str] = str
) -> list[str]:
    """Return the known words that are spelled most like a word, the closest first.

    Args:
        word: The word, perhaps mistyped.
        known: The words that exist.
        count: The largest number of words to return.
        cutoff: The lowest similarity, from 0 (any word) to 1.
        key: What to compare of each word, such as ``str.casefold``.

    >>> closest("TABLE", ["Text", "Table"], key=str.casefold)
    ['Table']
    """
    import difflib

    spellings = {key(name): name for name in known}
    return [spellings[name] for name in difflib.get_close_matches(key(word), list(spellings), n=count, cutoff=cutoff)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that suggests the closest known word; empty if none is close.

    >>> did_you_mean("lable", ["label", "bbox"])
    "did you mean 'label'?"
    """
    close = closest(word, known)
    return f"did you mean '{close[0]}'?" if close else ""


def nearest(word: str, known: Iterable[str], key: Callable[[str], str] = str) -> str:
    """Return a clause with the three known words that are closest to a mistyped word.

    >>> nearest("recal@0.5", ["recall@0.5", "recall@0.75", "AP", "precision@0.5"])
    'the nearest are recall@0.5, recall@0.75, precision@0.5'
    """
    close = closest(word, known, 3, cutoff=0.0, key=key)
    return f"the nearest are {', '.join(close)}" if close else "there are none"
