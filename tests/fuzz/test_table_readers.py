"""Tables in files of any shape: HTML and Markdown never fail, other readers only with a CalqueError, and all in linear time."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Evaluator, Tables
from calque.readers.tables import html, markdown, placing, tags
from calque.readers.tables.files import read_tables
from tests.examples import examples
from tests.tables.test_readers import DOCLING, ICDAR_2013, ICDAR_2019, OMNIDOCBENCH, PUBTABNET, TRANSFORMER, listed

UNITS = [
    "<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<th colspan=2>", "<td rowspan=3>", "<td rowspan=0>", "<thead>",
    "</thead>", "<caption>", "<b>", "</b>", "<br>", "x", " ", "&", "&amp;", "&#0;", "<", ">", '"', "'", "<a ", "<a b=",
    '<a b="', "</", "<!--", "-->", "<![CDATA[", "<?", "<!", "<script>", "</script>", "|", "-", "|-|", "\n", "\\|",
    "\\", "**", "`", "```",
    "~~~", ":", "<td colspan=1000>", "\x00", "\ud800", "é", "\u3000",
]  # fmt: skip
texts = st.lists(st.sampled_from(UNITS), max_size=40).map("".join)


@examples(400)
@given(text=texts)
def test_html_and_markdown_never_fail(text: str) -> None:
    for read in (html.tables_of, markdown.tables_of):
        for table in read(text):
            assert table.grid().shape == (table.rows, table.columns)
            assert list(zip(table.row, table.column, strict=True)) == sorted(zip(table.row, table.column, strict=True))


@examples(60)
@given(
    truth=texts, found=texts, mode=st.sampled_from(["none", "pubtabnet", "omnidocbench", "docling-eval", "table-transformer"])
)
def test_whatever_was_read_is_scored(truth: str, found: str, mode: str) -> None:
    sides = ({"d": f"<table><tr><td>{text}</td></tr></table>"} for text in (truth, found))
    numbers = Evaluator(Tables(compat=mode)).update(*sides).compute().numbers
    for name, value in numbers["mean"].items():
        assert value is None or value <= 1 + 1e-12, name
        assert value is None or mode != "none" or value >= 0, name


def steps(read: Any, text: str) -> int:
    """How many lines of the readers run."""
    count, files = 0, {module.__file__ for module in (html, markdown, placing, tags)}

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return inside

    before = sys.gettrace()
    sys.settrace(lambda frame, _, __: inside if frame.f_code.co_filename in files else None)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("read", [html.tables_of, markdown.tables_of], ids=["html", "markdown"])
@pytest.mark.parametrize(
    "unit", [*UNITS, "<table><tr><td>", "|a|\n|-|\n", "<a b='\"'", "<script></", "<td rowspan=2>x", '<a "b" ']
)
def test_the_work_grows_with_the_text(read: Any, unit: str) -> None:
    for begin in ("", "<table><tr><td>"):
        few, many = (steps(read, begin + unit * count) for count in (50, 200))
        assert many <= 6 * few


SOUND: dict[str, str] = {
    "cells.json": json.dumps([{"id": "t", "page": 1, "box": [0, 0, 5, 5], "cells": listed()}]),
    "transformer.json": json.dumps(TRANSFORMER),
    "pubtabnet.jsonl": json.dumps(PUBTABNET) + "\n" + json.dumps(PUBTABNET),
    "docling.json": json.dumps(DOCLING),
    "omnidocbench.json": json.dumps(OMNIDOCBENCH),
    "icdar.xml": ICDAR_2013,
    "ctdar.xml": ICDAR_2019,
}
HOSTILE = (
    "null",
    "-1",
    "1e999",
    "NaN",
    '"a"',
    "[]",
    "{}",
    "[[]]",
    "true",
    "0.5",
    "9223372036854775808",
    '"\\ud800"',
    "7" * 400,
)


@examples(300)
@given(data=st.data())
def test_other_files_fail_only_with_reasons(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    name = data.draw(st.sampled_from(sorted(SOUND)))
    text = SOUND[name]
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 12)))
        text = text[:begin] + data.draw(st.sampled_from([*HOSTILE, "", "<", ">", "&", '"', ",", "}", "]"])) + text[end:]
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_text(text, "utf-8")
    for lenient in (False, True):
        with contextlib.suppress(CalqueError):
            Evaluator(Tables(lenient=lenient)).update(path, path).compute()


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(place for key, child in inner for place in places(child, (*path, key)))]


@pytest.mark.parametrize("name", [name for name in SOUND if name.endswith(".json")])
def test_hostile_values_at_every_place(name: str, tmp_path: Path) -> None:
    for place in places(json.loads(SOUND[name])):
        for value in HOSTILE:
            tree = json.loads(SOUND[name])
            holder: Any = {"": tree}
            steps_to = ("", *place)
            for step in steps_to[:-1]:
                holder = holder[step]
            holder[steps_to[-1]] = "@@"
            whole = value if not place else json.dumps(tree).replace('"@@"', value)
            (tmp_path / name).write_text(whole)
            with contextlib.suppress(CalqueError):
                read_tables(tmp_path / name, lenient=True)
