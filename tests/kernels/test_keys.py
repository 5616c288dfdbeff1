"""Keys that occur twice: against what is written down, over both twins."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

names = st.sampled_from(["a", "b", "é", '"', "\\", "{", ",", "\ud800", "\U0001f600", "a b"])


class Pairs(list):
    """An object as pairs, so that keys may repeat."""


trees = st.recursive(
    st.one_of(st.integers(), st.sampled_from(["x", '"a": 1', "{}", "é,"]), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(st.tuples(names, inner), max_size=4).map(Pairs)),
    max_leaves=20,
)


def written(tree, ascii_only):
    if isinstance(tree, Pairs):
        members = (f"{json.dumps(key, ensure_ascii=ascii_only)}: {written(value, ascii_only)}" for key, value in tree)
        return f"{{{', '.join(members)}}}"
    if isinstance(tree, list):
        return f"[{','.join(written(item, ascii_only) for item in tree)}]"
    return json.dumps(tree)


def repeats(tree):
    if isinstance(tree, Pairs):
        return len({key for key, _ in tree}) < len(tree) or any(repeats(value) for _, value in tree)
    return isinstance(tree, list) and any(map(repeats, tree))


@given(tree=trees, ascii_only=st.booleans())
def test_a_key_that_occurs_twice_is_seen(kernels, tree, ascii_only):
    text = written(tree, ascii_only or any(0xD800 <= ord(character) < 0xE000 for character in written(tree, False)))
    assert kernels.repeats_a_key(text.encode()) == repeats(tree)


def test_escapes_and_many_keys(kernels):
    assert kernels.repeats_a_key(rb'{"a": 1, "\u0061": 2}')
    assert not kernels.repeats_a_key(rb'{"\u0061": 1, "\u0062": {"\u0061": 2}}')
    many = ", ".join(f'"key {number}": {number}' for number in range(1000))
    assert not kernels.repeats_a_key(b"{%s}" % many.encode())
    assert kernels.repeats_a_key(b'{%s, "key 500": 1}' % many.encode())


@pytest.mark.parametrize(
    "text", [b"", b"}", b"]]]", b'{"a', b'{"a": 1, "a"', b'{"\\x": 1}', b'{"\xff": 1}', b",,,", b"[" * 100_000]
)
def test_what_is_not_json_does_no_harm(kernels, text):
    assert not kernels.repeats_a_key(text)
