"""Results for machines that run suites: tests for CI servers, and annotations for the lines of a suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calque.checks.evaluators.outcome import Status, is_failure
from calque.checks.suites.runner import Row
from calque.core.presentation.ci_servers import Judged, annotation


def tests(results: Sequence[Mapping[str, Any]], suite: str) -> list[Judged]:
    """One test for each result in its JSON form: wrong outputs are failures, what could not be judged is an error."""
    return [_test(row, suite) for row in results]


def _test(row: Mapping[str, Any], suite: str) -> Judged:
    group, name = f"{suite}.{row['evaluator']}", str(row["id"])
    if not is_failure(row):
        return Judged(group, name)
    kind = "error" if row["status"] == "error" else "failure"
    return Judged(group, name, kind, row.get("reasoning", ""), row.get("misses", []))


_LINE = re.compile(r"line (\d+)(?: column (\d+))?")


def annotated(rows: Sequence[Row], file: str) -> Iterator[str]:
    """One line for each result that failed or could not be had."""
    for row in rows:
        if row.failed:
            what = "could not be judged" if row.outcome.status is Status.ERROR else "failed"
            title = f"{row.case.id}: {row.evaluator} {what}"
            yield annotation(title, row.outcome.reasoning, file=file, **_place(row.case.place))


def _place(text: str) -> dict[str, str]:
    match = _LINE.match(text)
    if match is None:
        return {}
    return {key: value for key, value in (("line", match[1]), ("col", match[2])) if value}
