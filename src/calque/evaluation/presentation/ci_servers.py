"""What CI servers show: JUnit XML as tests that passed or not, and annotations beside a run and the lines of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calque.evaluation.presentation.sections import printable

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class CiTestCase:
    """One test of a suite."""

    group: str
    name: str
    kind: str = ""
    """``failure`` where something is wrong, ``error`` where it could not be told, nothing where all is well."""
    message: str = ""
    lines: Sequence[str] = ()
    """What more there is to say."""


def to_junit(tests: Sequence[CiTestCase], suite: str, properties: Mapping[str, str] | None = None) -> str:
    """The XML text of a suite; properties say what holds of all of it.

    >>> print(to_junit([CiTestCase("boxes.iou_score", "a", "failure", "iou 0.1")], "boxes"))
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
    failures, errors = (sum(test.kind == kind for test in tests) for kind in ("failure", "error"))
    counts = f'tests="{len(tests)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"  <testsuite name={_quoted(suite)} {counts}>",
        *_properties(properties or {}),
        *(line for test in tests for line in _lines(test)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _properties(properties: Mapping[str, str]) -> list[str]:
    listed = [f"      <property name={_quoted(name)} value={_quoted(value)}/>" for name, value in properties.items()]
    return ["    <properties>", *listed, "    </properties>"] if listed else []


def _lines(test: CiTestCase) -> list[str]:
    head = f"    <testcase classname={_quoted(test.group)} name={_quoted(test.name)}"
    if not test.kind:
        return [head + "/>"]
    told = f"<{test.kind} message={_quoted(test.message)}>{_escaped(chr(10).join(test.lines))}</{test.kind}>"
    return [head + ">", f"      {told}", "    </testcase>"]


def _escaped(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # brings urllib along, which nothing but JUnit needs

    return quoteattr(_FORBIDDEN.sub("\ufffd", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def annotation(title: str, message: str, **place: str) -> str:
    """One error as a GitHub workflow command; ``file``, ``line`` and ``col`` say where.

    >>> annotation("gate: detection", "recall@0.5 0.8 is below 0.9")
    '::error title=gate%3A detection::recall@0.5 0.8 is below 0.9'
    """
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**place, "title": title}.items() if value)
    return printable(f"::error {properties}::{_data(message)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
