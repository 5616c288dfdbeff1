"""Mutated snapshot files: the reader returns a corpus or raises a CalqueError, never anything else."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import CalqueError, Corpus, Detection, Evaluator, read
from calque.base.columns import Strings
from calque.kernels import TWINS, VARIABLE, native_built
from tests.examples import examples
from tests.fuzz.mutation import opened_state, sealed_state
from tests.snapshots import valid_predictions, valid_truth

ORIGINALS = {"truth": valid_truth(), "predictions": valid_predictions()}

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), 10**400, -(10**400),
    2**63, 2**53, "", "1", "Figure", "a.pdf", "ground_truth", "\ud800", "\x00", "\x1b[31m", "é" * 300, [], {}, [[]], [{}],
    [None] * 4, [0, 0, 1, 1], ["0"] * 4, [10**400] * 4, {"1": "Figure"}, {"": ""}, [[[[[[[[[[0.1]]]]]]]]]],
]  # fmt: skip
values = st.one_of(
    st.sampled_from(ODD_VALUES),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
        max_leaves=6,
    ),
)


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        yield node, key
        yield from places(child)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid file with one to four values replaced, removed, repeated or put beside others."""
    tree = copy.deepcopy(draw(st.sampled_from(list(ORIGINALS.values()))))
    for _ in range(draw(st.integers(1, 4))):
        spots = list(places(tree))
        if not spots:
            break
        container, key = draw(st.sampled_from(spots))
        action = draw(st.sampled_from(["replace", "remove", "add", "repeat"]))
        if action == "replace":
            container[key] = copy.deepcopy(draw(values))
        elif action == "remove":
            del container[key]
        elif isinstance(container, dict):
            container[draw(st.text(max_size=6))] = copy.deepcopy(container[key])
        else:
            container.append(copy.deepcopy(container[key] if action == "repeat" else draw(values)))
    return tree


def attempt(source: Any, **options: Any) -> None:
    """Read it for either side; what is accepted can be evaluated."""
    for side in (None, "ground_truth", "prediction"):
        try:
            corpus = read(source, side=side, **options)
        except CalqueError:
            continue
        assert isinstance(corpus, Corpus)
        Evaluator(Detection()).update(corpus, corpus).compute().to_json()


@examples(150)
@given(tree=mutated(), lenient=st.booleans())
def test_mutated_trees(tree: Any, lenient: bool) -> None:
    if isinstance(tree, dict):
        attempt(tree, lenient=lenient, allow_missing_scores=lenient)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "file.json"


@examples(100)
@given(tree=mutated())
def test_mutated_trees_as_files(file: Path, tree: Any) -> None:
    file.write_text(json.dumps(tree))
    attempt(str(file))


@examples(100)
@given(
    original=st.sampled_from([json.dumps(tree).encode() for tree in ORIGINALS.values()]),
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=4)), min_size=1, max_size=4),
)
def test_mutated_bytes(file: Path, original: bytes, edits: list[tuple[float, int, bytes]]) -> None:
    data = bytearray(original)
    for where, removed, put in edits:
        start = int(where * len(data))
        data[start : start + removed] = put
    file.write_bytes(bytes(data))
    attempt(str(file))


@examples(60)
@given(data=st.binary(max_size=60))
@example(b"[" * 200_000)
@example(b'{"a":' * 200_000)
@example(b"\xff\xfe[]")
@example(b"\xef\xbb\xbf{}")
@example(b"1" * 5000)
@example(b"nul")
@example(b'"\\ud800"')
def test_any_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    attempt(str(file))


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
@examples(150)
@given(
    tree=st.one_of(st.sampled_from(list(ORIGINALS.values())), mutated()), side=st.sampled_from(["ground_truth", "prediction"])
)
def test_compiled_and_plain_reading_agree(file: Path, tree: Any, side: str) -> None:
    """The same columns, or the same words about what is wrong."""
    file.write_text(json.dumps(tree))
    told = []
    for kernels in TWINS:
        with patch.dict(os.environ, {VARIABLE: kernels}):
            told.append(what_is_read(file, side))
    assert told[0] == told[1]


def what_is_read(file: Path, side: str) -> Any:
    try:
        corpus = read(file, side=side)
    except CalqueError as error:
        return str(error)
    return [_plain(getattr(corpus, field.name)) for field in dataclasses.fields(corpus)]  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value.tolist() if isinstance(value, Strings) else value


@given(cut=st.floats(0, 1, exclude_max=True), flip=st.integers(0, 255))
def test_damaged_states(cut: float, flip: int) -> None:
    state = Evaluator(Detection()).update(valid_truth(), valid_predictions()).state()
    place = int(cut * len(state))
    with pytest.raises(CalqueError):
        Evaluator.from_state(state[:place])
    damaged = bytearray(state)
    damaged[place] ^= flip or 1
    with pytest.raises(CalqueError):
        Evaluator.from_state(bytes(damaged))


@pytest.mark.parametrize("file", ["", "kept.state"])
def test_a_state_that_only_measuring_stumbles_over_is_called_by_its_name(file: str) -> None:
    header, columns = opened_state(Evaluator(Detection()).update(valid_truth(), valid_predictions()).state())
    tree = json.loads(header)
    tables = tree["ledger"]["tables"]
    tables["found"] = {{"score": "scores"}.get(name, name): column for name, column in tables["found"].items()}
    forged = Evaluator.from_state(sealed_state(json.dumps(tree).encode(), columns), file=file)
    with pytest.raises(CalqueError, match=rf"^{file or 'a state'}: .*does not hold what it should"):
        forged.compute()
