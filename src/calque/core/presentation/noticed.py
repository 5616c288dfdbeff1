"""What was noticed in the data, for people: alike things together, a few of each kind, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable

from calque.core.errors import Issue, summarize
from calque.core.presentation.sections import Section
from calque.core.presentation.wording import counted

SHOWN = 3
"""How many issues of one kind are told."""


def noticed(issues: Iterable[Issue]) -> list[Section]:
    """One section with the issues, or none."""
    notes = grouped(issues)
    return [Section(title="noticed in the data", notes=notes)] if notes else []


def grouped(issues: Iterable[Issue]) -> list[str]:
    """One line for each issue; those that differ only in their file are one, and of a kind only some are told.

    >>> grouped(Issue("empty", "holds nothing", f"{name}.json") for name in "abc")
    ['a.json and 2 more files: holds nothing (3 times)']
    """
    alike: dict[tuple[str, str, str], list[Issue]] = {}
    for issue in summarize(issues):
        alike.setdefault((issue.code, issue.message, issue.help), []).append(issue)
    kinds: dict[str, list[list[Issue]]] = {}
    for (code, _, _), group in alike.items():
        kinds.setdefault(code, []).append(group)
    lines = []
    for groups in kinds.values():
        lines += [_line(group) for group in groups[:SHOWN]]
        rest = sum(issue.count for group in groups[SHOWN:] for issue in group)
        lines += [f"… and {rest:,} more like it; --format json lists every kind and file"] if rest else []
    return lines


def _line(group: list[Issue]) -> str:
    first, *others = group
    if not others:
        return str(first)
    place = f"{first.file} and {counted(len(others), 'more file')}"
    times = sum(issue.count for issue in group)
    return str(Issue(first.code, first.message, place, help=first.help, severity=first.severity, count=times))
