"""The page of threats and the tests that hold its promises: each promise names its tests, and all of these exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/threats.md").read_text()
TABLES = [table.split("\n\n")[0] for table in PAGE.split("| promise | held by |\n")[1:]]
ROWS = [line.strip("| ").split(" | ") for table in TABLES for line in table.splitlines() if line.startswith("| ")]
PROMISES = {row[0]: re.findall(r"`(tests/[\w/]+\.py::\w+)`", row[1]) for row in ROWS}


def named_in(file: Path) -> set[str]:
    return {
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    }


def test_the_page_was_understood() -> None:
    assert len(PROMISES) > 15


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_is_held_by_tests_that_exist(promise: str) -> None:
    assert PROMISES[promise], "no test is named"
    for named in PROMISES[promise]:
        file, _, name = named.partition("::")
        assert name in named_in(ROOT / file), named


def test_every_test_of_this_folder_holds_a_promise() -> None:
    """But those that look after the table of promises, and after the samples."""
    named = {name for tests in PROMISES.values() for name in tests}
    for file in sorted((ROOT / "tests/security").glob("test_*.py")):
        if file.name == Path(__file__).name:
            continue
        assert any(f"tests/security/{file.name}::{name}" in named for name in named_in(file)), file.name


ASKED = (
    "network",
    "code from data",
    "text in html",
    "terminal",
    "formula",
    "xml",
    "leaves the folder",
    "whole",
    "input is overwritten",
)


@pytest.mark.parametrize("subject", ASKED)
def test_nothing_that_must_be_promised_is_missing(subject: str) -> None:
    assert any(subject in promise.lower() for promise in PROMISES)
