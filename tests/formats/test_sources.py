"""What readers rest on: JSON with its places, marks of strange files, patterns of names, tags of markup."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from calque.base.errors import ConfigError, ContractError, IssueLog
from calque.readers.sources import json_tree, shards, xml_tree
from calque.readers.sources.compression import strange
from calque.readers.tables.tags import attributes_of, tags
from calque.readers.text.tesseract_tsv import HEAD, blocks_of, looks_like


@pytest.mark.parametrize(
    ("data", "code", "place", "message"),
    [
        (b'{"a": \n 1,2}', "not-json", "line 2 column 4", "is not JSON: expecting property name enclosed in double quotes"),
        (b'{"a": 1', "not-json", "line 1 column 8", "is not JSON: the text ends too early"),
        (b'{"a": "b', "not-json", "line 1 column 7", "is not JSON: the text ends too early"),
        (b"%PDF-1.7", "not-json", "", "is not JSON: it is a PDF"),
        (b'{"a": "\xff"}', "not-utf8", "byte 7", "is not UTF-8 text"),
        ("[1]".encode("utf-16"), "not-utf8", "byte 0", "is not UTF-8 text: it is UTF-16"),
        (b"[" * 100_000, "too-deep", "", "is nested too deeply to be read"),
    ],
)
def test_json_that_is_none(data: bytes, code: str, place: str, message: str) -> None:
    with pytest.raises(ContractError) as raised:
        json_tree.parse(data, "f.json")
    (issue,) = raised.value.issues
    assert (issue.code, issue.pointer, issue.file) == (code, place, "f.json")
    assert issue.message.startswith(message)


@pytest.mark.parametrize(
    ("line", "place"), [(b'{"a": 1,2}', "line 7 column 9"), (b"\xff", "line 7"), (b"[" * 100_000, "line 7")]
)
def test_what_is_wrong_with_a_line_is_told_at_that_line(line: bytes, place: str) -> None:
    with pytest.raises(ContractError) as raised:
        json_tree.parse_line(line, "f", 7)
    assert raised.value.issues[0].pointer == place
    assert json_tree.parse_line(b"[1] \r\n", "f", 7) == [1]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 58, f'"{"x" * 58}"'),
        ("x" * 59, f'"{"x" * 58}…'),
        ([[[[1]]]], "a deeply nested array"),
        ([[[1]]], "[[[1]]]"),
        ({"a": {"b": {"c": {}}}}, '{"a": {"b": {"c": {}}}}'),
        ({"a": {"b": {"c": {"d": 1}}}}, "a deeply nested object"),
    ],
)
def test_values_in_messages(value: Any, shown: str) -> None:
    assert json_tree.shown(value) == shown


@pytest.mark.parametrize(
    ("value", "number", "identity", "index"),
    [
        (3, 3.0, 3, 3), (3.0, 3.0, 3, 3), (3.5, 3.5, None, None), (True, None, None, None), ("3", None, "3", None),
        ("", None, None, None), (None, None, None, None), (-1, -1.0, -1, None), (0, 0.0, 0, 0), (10**400, math.inf, None, None),
        (-(10**400), -math.inf, None, None), (2**53, 2.0**53, 2**53, None), (2**53 - 1, 2.0**53 - 1, 2**53 - 1, 2**53 - 1),
        (2**63, 2.0**63, None, None), (-(2**63), -(2.0**63), -(2**63), None),
    ],
)  # fmt: skip
def test_numbers_and_ids(value: Any, number: float | None, identity: Any, index: int | None) -> None:
    assert (json_tree.number(value), json_tree.identity(value), json_tree.index(value)) == (number, identity, index)


def test_lists_of_numbers_and_kinds() -> None:
    assert json_tree.numbers([[1, 2], [3, 4]]) == [1, 2, 3, 4]
    assert json_tree.numbers([[1, 2], [3]]) is None
    assert (json_tree.numbers([]), json_tree.numbers((1,)), json_tree.numbers([1, True])) == ([], None, None)
    assert [json_tree.a_kind(value) for value in ({}, [], "", True, None, 1.5)] == [
        "an object", "an array", "a string", "a boolean", "null", "a number",
    ]  # fmt: skip
    assert (json_tree.text(""), json_tree.text("a"), json_tree.text(3)) == (None, "a", None)
    assert json_tree.pointer("a~b", "c/d", 0) == "/a~0b/c~1d/0"


def test_keys_that_occur_twice_are_found_where_they_stand() -> None:
    tree = json_tree.parse(b'{"x": [{"b": 1, "a": 2, "b": 3, "a": 4}, {"c": {"d": 1, "d": 2}}]}', "")
    assert list(json_tree.repeated_keys(tree)) == [("/x/0", "a"), ("/x/0", "b"), ("/x/1/c", "d")]
    assert tree["x"][0] == {"b": 3, "a": 4}
    log = IssueLog("f")
    found = list(json_tree.entries(tree["x"], "/x", log))
    assert [place for place, _ in found] == ["/x/0", "/x/1"]
    assert [(issue.code, issue.pointer) for issue in log] == [("duplicate-key", "/x/0"), ("duplicate-key", "/x/0")]


def test_entries_that_are_none_and_keys_that_are_missing() -> None:
    log = IssueLog("f")
    assert [place for place, _ in json_tree.entries([{}, 3, {}], "/x", log)] == ["/x/0", "/x/2"]
    assert list(json_tree.entries({}, "/y", log)) == []
    json_tree.missing({"boxs": 1}, "boxes", "/z", "a list", log)
    json_tree.missing({}, "boxes", "/z", "a list", log)
    json_tree.missing({"boxes": 3}, "boxes", "/z", "a list", log)
    assert [(issue.code, issue.pointer, issue.message, issue.help) for issue in log] == [
        ("wrong-type", "/x/1", "expected an object, not number 3", ""),
        ("wrong-type", "/y", "expected an array, not object {}", ""),
        ("missing-key", "/z", "the key 'boxes' is missing", "did you mean 'boxs'?"),
        ("missing-key", "/z", "the key 'boxes' is missing", "add a list"),
        ("wrong-type", "/z/boxes", "expected a list, not number 3", ""),
    ]


@pytest.mark.parametrize("digits", [json_tree.ENDLESS - 1, json_tree.ENDLESS])
@pytest.mark.parametrize("before", [0, 1, 700])
def test_numbers_without_end_are_noticed(digits: int, before: int) -> None:
    line = b" " * before + b'{"x": ' + b"7" * digits + b"}"
    assert json_tree.has_endless_number(line) is (digits == json_tree.ENDLESS)
    assert (json_tree.quickly(line) is json_tree.ODD) is (digits == json_tree.ENDLESS)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"plain text", None), ("ab".encode("utf-16"), "is UTF-16"), ("ab".encode("utf-16-le"), "is UTF-16"),
        ("ab".encode("utf-16-be"), "is UTF-16"), (b"a\0b", None), (b"\0\0\0\0", None), (b"", None), (b"\xfe\xff", "is UTF-16"),
    ],
)  # fmt: skip
def test_strange_files(data: bytes, what: str | None) -> None:
    found = strange(data)
    assert (found and found[0]) == what


@pytest.mark.parametrize(
    ("pattern", "name", "filled"),
    [
        ("a-*.json", "a-x.json", ("x",)), ("a-?.json", "a-x.json", ("x",)), ("[ab]*.json", "b1.json", ("b", "1")),
        ("[!ab]*.json", "c1.json", ("c", "1")), ("**/t.json", "x/y/t.json", ("x/y/",)), ("**/t.json", "t.json", ("",)),
        ("*.json", "x/y.json", ("x/y.json",)), ("a.b*", "a.b1", ("1",)), ("a.b*", "axb1", ("axb1",)),
        ("**.json", "x/y.json", ("x/y",)),
    ],
)  # fmt: skip
def test_what_stands_in_the_place_of_wildcards(pattern: str, name: str, filled: tuple[str, ...]) -> None:
    assert shards.filled(pattern, name) == filled


def test_files_that_go_together(tmp_path: Path) -> None:
    for name in ("t-b", "t-a", "p-a", "p-b"):
        (tmp_path / name).write_text("x")
    truth, found = str(tmp_path / "t-*"), str(tmp_path / "p-*")
    pairs = [(Path(each.truth).name, Path(each.predictions).name) for each in shards.shards_of(truth, found)]
    assert pairs == [("t-a", "p-a"), ("t-b", "p-b")]
    assert shards.shards_of("x", "y") == [shards.Shard("x", "y")]
    for one, other in ((truth, "y"), ("x", found)):
        with pytest.raises(ConfigError, match=r"is a pattern and [xy] is none"):
            shards.shards_of(one, other)
    (tmp_path / "p-b").unlink()
    with pytest.raises(ConfigError, match=r"t-b: no file of .*p-\* goes with it"):
        shards.shards_of(truth, found)
    with pytest.raises(ConfigError, match="no file has such a name"):
        shards.found(str(tmp_path / "none*"))
    (tmp_path / "odd[1].json").write_text("x")
    assert not shards.is_pattern(str(tmp_path / "odd[1].json"))


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<a>", "a"), (b'<?xml version="1.0"?><p:PcGts x="1">', "PcGts"), (b"<!-- <x> --><y/>", "y"),
        (b"<!DOCTYPE z><w a='1'>", "w"),
        (b"no markup", ""), (b"<!-- never closed <x>", "x"), (b"<!-- a -->\n<!-- b --><c>", "c"), (b"<", ""),
    ],
)  # fmt: skip
def test_the_first_element_of_a_file(head: bytes, name: str) -> None:
    assert xml_tree._first_tag(head) == name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e299", 1e299),
        ("-1e299", -1e299),
        ("1e300", None),
        ("-1e300", None),
        ("nan", None),
        ("0x1", None),
        ("", None),
        (" 3 ", 3.0),
    ],
)
def test_numbers_in_xml(text: str, value: float | None) -> None:
    assert xml_tree.number(text) == value


def test_numbers_and_texts_are_written_to_be_read() -> None:
    assert [xml_tree.shown(value) for value in (3.0, 2.5, 1e15, 1e14, -3.0)] == [
        "3",
        "2.5",
        "1000000000000000.0",
        "100000000000000",
        "-3",
    ]
    assert xml_tree.escaped('<a>&"\n\r\t\x00') == "&lt;a&gt;&amp;&quot;&#10;&#13;&#9;\ufffd"
    assert xml_tree.attributes(a=None, b="", c=0) == ' b="" c="0"'


def plain(text: str) -> list[tuple[str, str]]:
    return [(tag.text, ("/" if tag.closing else "") + tag.name) for tag in tags(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a<b>c</b>d", [("a", "b"), ("c", "/b"), ("d", "")]),
        ("a<!-- <b> -->c", [("ac", "")]),
        ("a<!-- b", [("a b", "")]),
        ("a<!DOCTYPE x>b<?pi?>c", [("abc", "")]),
        ("1 < 2<b>", [("1 < 2", "b"), ("", "")]),
        ("<script>a<b></script>c", [("", "script"), ("", "/script"), ("c", "")]),
        ("<script>a<b>", [("", "script"), ("a", "b"), ("", "")]),
        ('<td a="x>y">z', [("", "td"), ("z", "")]),
        ('<td a="x>z', [("", "td"), ("z", "")]),
        ("<td a='x\">z", [("", "td"), ("z", "")]),
        ("<td", [("<td", "")]),
        ("</>a", [("a", "")]),
    ],
)
def test_tags_of_markup(text: str, found: list[tuple[str, str]]) -> None:
    assert plain(text) == found


def test_tags_have_places_and_attributes() -> None:
    first, second, last = tags('ab<TD rowspan="2">c</td>')
    assert (first.start, first.end, first.name, attributes_of(first.attributes)) == (2, 18, "td", {"rowspan": "2"})
    assert (second.start, second.end, second.closing, last.start) == (19, 24, True, 24)
    assert attributes_of(" a='1' b=\"&lt;\" c=d e a=2") == {"a": "1", "b": "<", "c": "d", "e": ""}


def test_paragraphs_of_tesseract() -> None:
    def word(page: int, paragraph: int, line: int, text: str, level: int = 5) -> str:
        return "\t".join(map(str, (level, page, 1, paragraph, line, 1, 0, 0, 1, 1, 90, text)))

    rows = [
        word(4, 1, 1, "to"),
        word(4, 1, 1, "be"),
        word(4, 1, 2, "or"),
        word(4, 2, 1, " "),
        word(7, 1, 1, "x"),
        word(7, 1, 1, "", 4),
    ]
    text = "\t".join(HEAD) + "\r\n" + "\n\n".join(rows) + "\n"
    assert looks_like(text)
    assert not looks_like("x" + text)
    assert [(block.text, block.page, block.region) for block in blocks_of(text, "f")] == [
        ("to be\nor", 0, "paragraph"),
        ("x", 1, "paragraph"),
    ]
    with pytest.raises(ContractError) as raised:
        blocks_of(text + "5\t1\n", "f")
    assert (raised.value.issues[0].pointer, raised.value.issues[0].file) == ("line 13", "f")
