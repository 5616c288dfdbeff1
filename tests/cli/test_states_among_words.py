"""When something goes wrong with a state, the states among the words of the command line are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from calque import Corpus, Detection, Evaluator
from calque.cli.inputs import states_among


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    boxes = Corpus.from_arrays([[0, 0, 9, 9]], ["x"], scores=[0.5])
    (tmp_path / "kept").mkdir()
    for name in ("a.state", "kept/b.state", "kept/a.state"):
        Evaluator(Detection()).update(boxes, boxes).save(tmp_path / name)
    (tmp_path / "kept" / "note.txt").write_text("no state")
    (tmp_path / "pred.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), []),
        (("pred.json", "nowhere", "--format", "json", "\0"), []),
        (("a.state",), ["a.state"]),
        (("a.state", "pred.json", "a.state"), ["a.state"]),
        (("--baseline=a.state",), ["a.state"]),
        (("kept", "a.state"), ["a.state", "kept/a.state", "kept/b.state"]),
    ],
)
@pytest.mark.usefixtures("here")
def test_files_that_begin_as_states_are_named_each_once_and_those_of_folders_too(
    words: tuple[str, ...], named: list[str]
) -> None:
    assert states_among(words) == named
