"""A state is data: whatever stands in its header, loading, merging and computing it import and open nothing that it names."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.subject import Subject
from tests.laws.test_laws import SUBJECTS
from tests.states import opened_state, sealed_state

CANARY = "canary_of_states"
"""The name of a module and of files; only what a state names leads there."""

# Every state is loaded under the eyes of an audit hook, which hears of each import and each opened file.
LOADING = """
import sys
from calque import CalqueError, Evaluator
import calque.detection, calque.layout, calque.fields, calque.words, calque.tables, calque.order, calque.checks.task
import calque.ceiling
heard = []
def hear(event, arguments):
    named = repr(arguments[:2])
    if event in ("import", "open", "exec", "compile") and "canary" in named and ".state" not in named:
        heard.append((event, named))
sys.addaudithook(hear)
ends = []
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    try:
        Evaluator.from_state(data, file="s").merge(Evaluator.from_state(data, file="s"))
        ends.append("merged")
    except CalqueError as error:
        ends.append("refused")
    try:
        Evaluator.from_state(data, file="s").compute()
    except CalqueError as error:
        pass
assert not heard, heard
print(*ends)
"""


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value below a node."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _places(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _places(value, (*path, number))
    yield path


def _with(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = _with(copy[path[0]], path[1:], value)
    return copy


def _changed(state: bytes, folder: Path) -> Iterator[bytes]:
    """The state with each setting, and each text of the header, in the place of which a name stands, and a true checksum."""
    text, columns = opened_state(state)
    header = json.loads(text)
    names = (f"{CANARY}:Canary", f"{folder}/{CANARY}.json", f"{folder}/{CANARY}.py:judge")
    for path in _places({key: header[key] for key in ("signature", "fields", "keep", "sources")}):
        for name in names if path else ():
            yield sealed_state(json.dumps(_with(header, path, name)).encode(), columns)


@pytest.mark.long  # each example is a process
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_nothing_that_a_state_names_is_looked_up(subject: Subject, data: st.DataObject) -> None:
    state = subject.evaluator(data.draw(subject.documents)).state()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{CANARY}.py").write_text("class Canary: pass\ndef judge(output, expected): return 1\n")
        (folder / f"{CANARY}.json").write_text('{"fields": {"a": {"type": "str"}}}')
        paths = []
        for number, changed in enumerate(_changed(state, folder)):
            paths.append(folder / f"{number}.state")
            paths[-1].write_bytes(changed)
        assert len(paths) > 20
        command = [sys.executable, "-c", LOADING, *map(str, paths)]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout.split()
