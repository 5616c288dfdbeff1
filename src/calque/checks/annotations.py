"""Failures as GitHub workflow commands, which the web page shows beside the lines of the suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from calque.checks.outcome import Status
from calque.checks.runner import Row
from calque.core.presentation import printable

_LINE = re.compile(r"line (\d+)(?: column (\d+))?")


def annotated(rows: Sequence[Row], file: str) -> Iterator[str]:
    """One line for each result that failed or could not be had."""
    for row in rows:
        if row.outcome.failed:
            what = "could not be judged" if row.outcome.status is Status.ERROR else "failed"
            title = f"{row.case.id}: {row.evaluator} {what}"
            place = "".join(f",{key}={value}" for key, value in _place(row.case.place).items())
            yield printable(f"::error file={_property(file)}{place},title={_property(title)}::{_data(row.outcome.reasoning)}")


def _place(text: str) -> dict[str, str]:
    match = _LINE.match(text)
    if match is None:
        return {}
    return {key: value for key, value in (("line", match[1]), ("col", match[2])) if value}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
