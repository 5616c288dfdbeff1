"""What ``calque validate`` found: the main thing in a sentence, then each file, as text, Markdown, CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from calque.core.presentation.sections import printable, printable_json, printable_lines
from calque.core.presentation.wording import counted

Verdict = dict[str, Any]
"""What is said of a file, or of two together: ``file``, ``valid``, ``total``, ``message``, ``issues``."""
FORMATS = ("table", "json", "csv", "markdown")


def sentence(reports: Sequence[Verdict], files: int, verb: str) -> str:
    """How many files are valid, and what the verb would do with two.

    >>> fine = {"file": "a", "valid": True, "issues": [], "message": "1 document"}
    >>> sentence([fine], 1, "detect"), sentence([fine, {**fine, "valid": False, "total": 3}], 2, "detect")
    ('The file is valid.', '1 of 2 files is not valid: 3 issues.')
    """
    alone, together = reports[:files], reports[files:]
    if not all(report["valid"] for report in alone):
        return _how_many_are_wrong(alone)
    those = "The file is" if files == 1 else "Both files are" if files == 2 else f"All {files:,} files are"
    severities = {issue["severity"] for report in reports for issue in report["issues"]}
    if not all(report["valid"] for report in together):
        return f"{those} valid alone, and calque {verb} refuses them together."
    if "loss" in severities:
        return f"{those} valid, but {f'calque {verb}' if together else 'an evaluation'} would leave something out."
    if any(report["message"].startswith("0 documents") for report in alone):
        return f"{those} valid, but {'it holds' if files == 1 else 'one holds'} nothing."
    return f"{those} valid{', with something to note' if severities else ''}."


def _how_many_are_wrong(alone: Sequence[Verdict]) -> str:
    wrong = [report for report in alone if not report["valid"]]
    total = counted(sum(report["total"] for report in wrong), "issue")
    if len(alone) == 1:
        return f"The file is not valid: {total}."
    if len(wrong) == len(alone):
        return f"None of the {len(alone):,} files is valid: {total}."
    return f"{len(wrong):,} of {len(alone):,} files {'is' if len(wrong) == 1 else 'are'} not valid: {total}."


def rendered(reports: Sequence[Verdict], first: str, format: str, *, brief: bool, told: Callable[[str], str]) -> str:
    """The reports in a format, after the sentence where people read; ``told`` spells names as they were given."""
    if format == "json":
        return told(printable_json(json.dumps({"files": list(reports)}, indent=2, ensure_ascii=False))) + "\n"
    if format == "csv":
        from calque.cli.render import as_csv

        return told(as_csv(_rows(reports)))
    if format == "markdown":
        return told(_markdown(reports, first, brief=brief))
    lines = [first, ""]
    for report in reports:
        lines += _lines(report, brief=brief)
    return told("\n".join(lines)) + "\n"


def _lines(report: Verdict, *, brief: bool) -> list[str]:
    name, message = printable(report["file"]), printable_lines(report["message"])
    if not report["valid"]:
        head = f"{name}: " + click.style("not valid", fg="red") + f", {counted(report['total'], 'issue')}"
        return [head] if brief else [head, "  " + message.replace("\n", "\n  ")]
    head = f"{name}: " + click.style("valid", fg="green") + f", {message}"
    return [head] if brief else [head, *(printable(f"  {_told(issue)}") for issue in _together(report["issues"]))]


def _together(issues: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One issue for those that say the same, at the first of their places, with how often it is said."""
    alike: dict[tuple[str, ...], dict[str, Any]] = {}
    for issue in issues:
        key = tuple(issue[name] for name in ("severity", "code", "message", "help", "file"))
        known = alike.get(key)
        alike[key] = issue if known is None else {**known, "count": known["count"] + issue["count"]}
    return list(alike.values())


def _told(issue: dict[str, Any]) -> str:
    line = ": ".join(part for part in (issue["severity"], issue["pointer"], issue["message"]) if part)
    times = f" ({issue['count']:,} times)" if issue["count"] > 1 else ""
    return f"{line}{times}" + (f"; {issue['help']}" if issue["help"] else "")


def _rows(reports: Sequence[Verdict]) -> list[dict[str, Any]]:
    """One row for each issue, and one for a file that has none."""
    keys = ("severity", "code", "pointer", "message", "help", "count")
    rows = []
    for report in reports:
        head = {"file": report["file"], "valid": report["valid"]}
        rows += [{**head, **{key: issue[key] for key in keys}} for issue in report["issues"]]
        rows += [] if report["issues"] else [{**head, "count": 0}]
    return rows


def _markdown(reports: Sequence[Verdict], first: str, *, brief: bool) -> str:
    from calque.core.presentation.sections import Section, to_markdown

    verdicts = [(report["file"], "valid" if report["valid"] else "not valid", len(report["issues"])) for report in reports]
    sections = [Section(title="", notes=[first]), Section(title="", head=("file", "verdict", "issues"), rows=verdicts)]
    issues = [
        (report["file"], issue["severity"], issue["code"], issue["pointer"], issue["message"], issue["help"], issue["count"])
        for report in reports
        for issue in report["issues"]
    ]
    if issues and not brief:
        head = ("file", "severity", "code", "place", "message", "what to do", "count")
        sections.append(Section(title="Issues", head=head, rows=issues))
    return to_markdown(sections)
