"""Files with one thing changed, at every place: each is read as the twin reads it, or refused where the twin refuses it."""

from __future__ import annotations

import copy

import pytest

from tests.kernels.scan_samples import SAMPLES, write
from tests.kernels.test_scan import agree


def mutations_of(tree):
    """Copies of a tree with one member removed, renamed, or replaced by a value of another type."""
    for path in paths(tree):
        for value in (None, True, 1, -1, 1.5, "", "x", [], {}, [1, 2, 3], [1, 2, 3, 4], float("nan"), 10**25):
            yield changed(tree, path, lambda parent, key, value=value: parent.__setitem__(key, value))
        yield changed(tree, path, lambda parent, key: parent.__delitem__(key))
        if isinstance(path[-1], str):
            yield changed(tree, path, lambda parent, key: parent.__setitem__(key + "_", parent.pop(key)))


def paths(tree, path=()):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


def changed(tree, path, change):
    tree = copy.deepcopy(tree)
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return tree


@pytest.mark.parametrize("name", SAMPLES)
def test_every_member_removed_renamed_or_of_another_type(name):
    for tree in mutations_of(SAMPLES[name]):
        agree(write(tree))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("style", ["default", "compact", "indent2"])
def test_truncated_at_every_byte(name, style):
    data = write(SAMPLES[name], style)
    for end in range(len(data)):
        assert not agree(data[:end])


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLES)
def test_every_byte_changed_dropped_or_doubled(name):
    data = write(SAMPLES[name], "compact", ascii_only=False)
    for i in range(len(data)):
        for byte in b'\x00\x1f "\\,:[]{}0-9.eNn\x80\xc3\xff':
            agree(data[:i] + bytes([byte]) + data[i + 1 :])
        agree(data[:i] + data[i + 1 :])
        agree(data[: i + 1] + data[i:])
