"""YAML as plain data: 1.2 scalars, places, and everything that is refused."""

from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError
from calque.base.yaml_tree import load


def read(text: str) -> object:
    return load(text.encode(), "f.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        ("1_000", "1_000"),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-5", -5),
        ("+.5", 0.5),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("'12'", "12"),
        ('"true"', "true"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!int 12", 12),
        ("2026-01-01", "2026-01-01"),
        ("12:30:45", "12:30:45"),
        ("=", "="),
        ("[1, [2, {a: b}]]", [1, [2, {"a": "b"}]]),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("1: one", {"1": "one"}),
        ("\ufeffa: 1", {"a": 1}),
        ("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3", {"base": {"x": 1, "y": 2}, "more": {"x": 1, "y": 3}}),
        ("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}", {"a": {"x": 1}, "b": {"x": 2, "y": 2}, "c": {"x": 1, "y": 2}}),
        ("a: &x 5\nb: *x", {"a": 5, "b": 5}),
    ],
)
def test_values(text: str, value: object) -> None:
    assert read(text) == value
    assert type(read(text)) is type(value) or isinstance(value, dict | list)


def test_not_a_number() -> None:
    assert math.isnan(read(".nan"))  # type: ignore[arg-type]


BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{','.join(['*' + chr(97 + k)] * 10)}]\n" for k in range(8)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "line 4 column 3: the key 'c' occurs twice"),
        (
            "a: !!python/object:os.system x",
            "line 1 column 4: the tag 'tag:yaml.org,2002:python/object:os.system' is not allowed",
        ),
        ("a: !!binary aGk=", "is not allowed"),
        ("!!set {a, b}", "is not allowed"),
        ("a: !custom [1]", "the tag '!custom' is not allowed"),
        ("!foo a: 1", "the tag '!foo' is not allowed"),
        (BOMB, "unfold to more than 1,000,000 values"),
        ("a: &a [*a]", "stands for something that it is part of"),
        ("a: *nowhere", "line 1 column 4"),
        ("a: [1, 2", "(it began at line 1 column 4)"),
        ("a:\n\t- b", "line 2 column 1: is not YAML"),
        ("a: \x00", "line 1 column 4: a character that YAML does not allow"),
        ("a: \x07", "line 1 column 4"),
        ("", "the file is empty"),
        ("# only a remark", "the file is empty"),
        ("a: 1\n---\nb: 2", "a second document"),
        ("? [a, b]\n: 1", "a key must be a plain word"),
        ("a: &x k\n? *x\n: 1", "a key must be a plain word, not an alias"),
        ("<<: 5", "takes a mapping"),
        ("a: " + "[" * 200, "levels of nesting"),
        ("a: " + "9" * 5000, "too many digits"),
    ],
    ids=lambda value: value[:20].replace("\n", "/"),
)
def test_what_is_refused_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(text)
    assert str(raised.value).startswith("f.yaml: ")
    assert message in str(raised.value)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ConfigError, match="line 2: is not UTF-8"):
        load(b"a: 1\nb: \xff", "f.yaml")


def test_places_are_kept_but_not_below_data() -> None:
    tree = load(b"evaluators:\n  - type: x\n    a: 1\ncases:\n  - output: {b: [1]}\n", "f.yaml", plain=frozenset({"output"}))
    assert tree["evaluators"].places == ["line 2 column 5"]
    assert tree["evaluators"][0].places == {"type": "line 2 column 5", "a": "line 3 column 5"}
    assert type(tree["cases"][0]["output"]) is dict


def test_without_the_c_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert read("a: [1, yes]") == {"a": [1, "yes"]}
    with pytest.raises(ConfigError, match="line 1 column 4: a character"):
        read("a: \x07")


WORDS = st.text("aé漢 :#-'\"\\\n{}[]1.,&*", max_size=6)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
def test_json_is_yaml(value: object) -> None:
    assert load(json.dumps(value, ensure_ascii=False).encode(), "f.yaml") == value


@given(st.binary(max_size=60) | st.text("a:-[]{},&*!?|>#'\"\n \t<1.~%@`\\", max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ConfigError):
        load(data, "f.yaml")


@pytest.mark.parametrize("opened", ["[", "{a: "])
def test_a_hundred_levels_are_read_and_one_more_is_refused(opened: str) -> None:
    closed = "]" if opened == "[" else "}"
    assert load((opened * 100 + closed * 100).encode(), "deep.yaml")
    with pytest.raises(ConfigError, match="more than 100 levels of nesting"):
        load((opened * 101 + closed * 101).encode(), "deep.yaml")
