"""Values of JSON as readers take them, at their limits: numbers, ids, pages, and what a message shows of anything else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from calque.base.errors import ContractError, IssueLog
from calque.readers.sides.sheets import _spread
from calque.readers.sources.json_tree import (
    ODD,
    a_kind,
    dumped,
    entries,
    has_endless_number,
    identity,
    index,
    kind,
    missing,
    number,
    numbers,
    parse,
    parse_line,
    quickly,
    readable,
    repeated_keys,
    shown,
    text,
)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, 0), (7.0, 7), (7.5, None), (True, None), (None, None), ("", None), ("7", "7"), ([7], None), (math.inf, None),
        (2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63), -(2**63)), (-(2**63) - 1, None), (3**63 - 1, None),
    ],
)  # fmt: skip
def test_an_id_is_a_whole_number_of_64_bits_or_a_text(value: Any, read: Any) -> None:
    assert identity(value) == read
    assert type(identity(value)) is type(read)


@pytest.mark.parametrize(
    ("value", "read"), [(0, 0), (-1, None), (3.0, 3), ("3", None), (2**53 - 1, 2**53 - 1), (2**53, None), (False, None)]
)
def test_a_page_is_a_whole_number_that_floats_can_hold(value: Any, read: int | None) -> None:
    assert index(value) == read


@pytest.mark.parametrize(
    ("value", "read"), [(3, 3.0), (10**400, math.inf), (-(10**400), -math.inf), ("3", None), (True, None), (None, None)]
)
def test_a_number_may_be_too_large(value: Any, read: float | None) -> None:
    assert number(value) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ([], []), ([1, 2], [1.0, 2.0]), ([[1, 2]], [1.0, 2.0]), ([[1, 2], [3, 4]], [1.0, 2.0, 3.0, 4.0]),
        ([[1, 2, 3]], None), ([[1, 2], 3], None), ([1, None], None), ((1, 2), None), ({}, None), ([[1, "2"]], None),
    ],
)  # fmt: skip
def test_numbers_are_flat_or_pairs(value: Any, read: list[float] | None) -> None:
    assert numbers(value) == read


def test_a_text_is_not_empty() -> None:
    assert [text(value) for value in ("a", "", 5, None)] == ["a", None, None, None]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x" * 58, f'"{"x" * 58}"'),
        ("x" * 59, f'"{"x" * 58}…'),
        ([[[[]]]], "[[[[]]]]"),
        ([[[[[]]]]], "a deeply nested array"),
        ({"a": [{"b": {"c": 1}}]}, "a deeply nested object"),
        ({"a": [{"b": 1}]}, '{"a": [{"b": 1}]}'),
    ],
)
def test_a_message_shows_sixty_characters_of_what_is_not_deep(value: Any, said: str) -> None:
    assert shown(value) == said


def test_every_type_has_a_name() -> None:
    values = [{}, parse(b'{"a": 1, "a": 2}', ""), [], "", True, None, 1, 1.5]
    assert [kind(value) for value in values] == ["object", "object", "array", "string", "boolean", "null", *["number"] * 2]
    assert [a_kind(value) for value in values[1:6]] == ["an object", "an array", "a string", "a boolean", "null"]


def test_entries_are_objects_and_the_others_are_told() -> None:
    log = IssueLog("a.json")
    tree = parse(b'[{"a": 1}, 5, {"b": 1, "b": 2, "c": 3}]', "a.json")
    assert list(entries(tree, "/list", log)) == [("/list/0", {"a": 1}), ("/list/2", {"b": 2, "c": 3})]
    assert list(entries({}, "/list", log)) == []
    told = [(issue.code, issue.pointer, issue.message) for issue in log]
    assert told == [
        ("wrong-type", "/list/1", "expected an object, not number 5"),
        ("duplicate-key", "/list/2", "the key 'b' occurs more than once"),
        ("wrong-type", "/list", "expected an array, not object {}"),
    ]
    assert list(repeated_keys([tree])) == [("/0/2", "b")]


def test_what_is_missing_or_something_else() -> None:
    log = IssueLog("a.json")
    missing({"a": 5}, "a", "/0", "a text", log)
    missing({}, "a", "/1", "a text", log)
    missing({"nmae": 5}, "name", "/2", "a text", log)
    assert [(issue.code, issue.pointer, issue.message, issue.help) for issue in log] == [
        ("wrong-type", "/0/a", "expected a text, not number 5", ""),
        ("missing-key", "/1", "the key 'a' is missing", "add a text"),
        ("missing-key", "/2", "the key 'name' is missing", "did you mean 'nmae'?"),
    ]


@pytest.mark.parametrize(("digits", "endless"), [(4299, False), (4300, True), (9000, True)])
def test_a_number_is_endless_from_4300_digits_on(digits: int, endless: bool) -> None:
    for before in range(0, 1200, 97):
        line = b"[" + b" " * before + b"1" * digits + b"]"
        assert has_endless_number(line) is endless
        assert (quickly(line) is ODD) is endless


def test_what_is_wrong_with_a_line_is_told_at_that_line() -> None:
    assert parse_line(b'{"a": 1}  \n', "a.jsonl", 7) == {"a": 1}
    with pytest.raises(ContractError) as raised:
        parse_line(b'{"a": }\n', "a.jsonl", 7)
    assert raised.value.issues[0].pointer == "line 7 column 7"


def test_strict_json_is_written() -> None:
    assert dumped({"a": [1]}) == b'{\n "a": [\n  1\n ]\n}'
    with pytest.raises(ValueError, match="JSON"):
        dumped(math.nan)


@pytest.mark.parametrize(("pages", "wanted"), [(5, 5), (6, 5), (100, 5), (1000, 120)])
def test_pages_that_are_looked_at_are_spread_from_the_first_to_the_last(pages: int, wanted: int) -> None:
    some = _spread(np.arange(pages), wanted)
    assert (some[0], some[-1], len(set(some.tolist()))) == (0, pages - 1, wanted)
    assert np.diff(some).max() - np.diff(some).min() <= 1


@pytest.mark.parametrize(("error", "told"), [(OSError(5, "Bad Disk"), "bad disk"), (OSError("Gone"), "gone")])
def test_what_a_system_says_of_a_file_is_told(error: OSError, told: str) -> None:
    with pytest.raises(ContractError, match=rf"^a\.json: cannot be read: {told}"), readable("a.json"):
        raise error
