"""Results for machines that run suites: JUnit XML for CI servers, and GitHub workflow commands for web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from calque.checks.evaluators.outcome import Status, is_failure
from calque.checks.suites.runner import Row
from calque.core.presentation.sections import printable

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(results: Sequence[Mapping[str, Any]], suite: str) -> str:
    """The XML text of results in their JSON form.

    >>> row = {"id": "a", "evaluator": "iou_score", "verdict": "fail", "status": "ok", "reasoning": "iou 0.1", "misses": []}
    >>> print(to_junit([row], "boxes"))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="1" failures="1" errors="0">
      <testsuite name="boxes" tests="1" failures="1" errors="0">
        <testcase classname="boxes.iou_score" name="a">
          <failure message="iou 0.1"></failure>
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    errors = sum(row["status"] == "error" for row in results)
    failures = sum(is_failure(row) and row["status"] != "error" for row in results)
    counts = f'tests="{len(results)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"  <testsuite name={_quoted(suite)} {counts}>",
        *(line for row in results for line in _case(row, suite)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(row: Mapping[str, Any], suite: str) -> list[str]:
    head = f"    <testcase classname={_quoted(suite + '.' + row['evaluator'])} name={_quoted(str(row['id']))}"
    if row["status"] == "error":
        return [head + ">", f"      {_told('error', row)}", "    </testcase>"]
    if is_failure(row):
        return [head + ">", f"      {_told('failure', row)}", "    </testcase>"]
    return [head + "/>"]


def _told(kind: str, row: Mapping[str, Any]) -> str:
    body = "\n".join(row.get("misses", []))
    return f"<{kind} message={_quoted(row.get('reasoning', ''))}>{_escaped(body)}</{kind}>"


def _escaped(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


_LINE = re.compile(r"line (\d+)(?: column (\d+))?")


def annotated(rows: Sequence[Row], file: str) -> Iterator[str]:
    """One line for each result that failed or could not be had."""
    for row in rows:
        if row.failed:
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
