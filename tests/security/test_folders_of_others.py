"""Folders that somebody else may have filled: a checkpoint, a cache, the images of a report. No link in them is followed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_checkpoint import DETECT, write_shards
from tests.conftest import Run

Calque = Callable[..., Run]
KEPT = ("--checkpoint", "kept")
PRECIOUS = "export PATH\n"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious.txt"
    path.write_text(PRECIOUS)
    return path


def test_checkpoint_links_in_place_of_states_are_refused(calque: Calque, tmp_path: Path, precious: Path) -> None:
    write_shards(tmp_path, 2)
    assert calque(*DETECT, *KEPT).code == 0
    for state in (tmp_path / "kept").iterdir():
        state.unlink()
        state.symlink_to(precious)
    done = calque(*DETECT, *KEPT)
    assert done.code == 2
    assert "symbolic link" in done.err
    assert precious.read_text() == PRECIOUS


def test_checkpoint_a_link_to_nothing_is_refused(calque: Calque, tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    assert calque(*DETECT, *KEPT).code == 0
    for state in list((tmp_path / "kept").iterdir()):
        state.unlink()
        state.symlink_to(tmp_path / "new.txt")
    assert calque(*DETECT, *KEPT).code == 2
    assert not (tmp_path / "new.txt").exists()


def test_checkpoint_the_folder_itself_may_be_a_link(calque: Calque, tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "kept").symlink_to(tmp_path / "elsewhere")
    assert calque(*DETECT, *KEPT).code == 0
    assert list((tmp_path / "elsewhere").iterdir())


@pytest.mark.skipif(os.name != "posix", reason="no such files here")
def test_checkpoint_a_pipe_in_place_of_a_state_does_not_hang(calque: Calque, tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    plain = calque(*DETECT, *KEPT)
    for state in list((tmp_path / "kept").iterdir()):
        state.unlink()
        os.mkfifo(state)
    done = calque(*DETECT, *KEPT)
    assert done.code == 2
    assert "regular file" in done.err
    assert plain.code == 0


def test_checkpoint_of_a_suite_links_are_refused(calque: Calque, tmp_path: Path, precious: Path) -> None:
    suite = {"evaluators": [{"type": "equals"}], "cases": [{"id": "a", "output": 1, "expected": 1}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    assert calque("check", "suite.yaml", *KEPT).code == 0
    (state,) = (tmp_path / "kept").iterdir()
    state.unlink()
    state.symlink_to(precious)
    assert calque("check", "suite.yaml", *KEPT).code == 2
    assert precious.read_text() == PRECIOUS


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_cache_of_programs_links_are_refused(calque: Calque, tmp_path: Path, precious: Path, linked: str) -> None:
    (tmp_path / "ask.py").write_text("print('{\"score\": 1.0}')\n")
    program = {"type": "command", "name": "own", "command": [sys.executable, "ask.py"], "cache": True}
    (tmp_path / "suite.yaml").write_text(json.dumps({
        "evaluators": [program], "cases": [{"id": "a", "output": 1, "expected": 1}]
    }))  # fmt: skip
    line = ("check", "suite.yaml", "--allow-commands", "--cache", "answers")
    assert calque(*line).code == 0
    (answer,) = (tmp_path / "answers").glob("*/*.json")
    answer.unlink()
    if linked == "file":
        answer.symlink_to(precious)
    else:
        (tmp_path / "elsewhere").mkdir()
        answer.parent.rmdir()
        answer.parent.symlink_to(tmp_path / "elsewhere")
    done = calque(*line)
    assert done.code in (2, 3)
    assert "symbolic link" in done.out + done.err
    assert precious.read_text() == PRECIOUS
    assert not (tmp_path / "elsewhere").exists() or not list((tmp_path / "elsewhere").iterdir())


def test_output_through_a_link_stays_the_choice_of_the_user(calque: Calque, tmp_path: Path) -> None:
    write_shards(tmp_path, 1)
    (tmp_path / "real.json").write_text("")
    (tmp_path / "out.json").symlink_to(tmp_path / "real.json")
    assert calque(*DETECT, "-o", "out.json").code == 0
    assert (tmp_path / "out.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["task"] == "detection"


def test_checkpoint_commands_that_start_together_all_finish(tmp_path: Path) -> None:
    """Each removes the files that killed commands left behind, and writes the same states."""
    write_shards(tmp_path, 2)
    kept = tmp_path / "kept"
    kept.mkdir()
    for number in range(4000):
        path = kept / f".{number:040x}.state.{number:012x}"
        path.touch()
        os.utime(path, (0, 0))
    line = [sys.executable, "-m", "calque", *DETECT, *KEPT, "--quiet"]
    started = [
        subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    ended = [(*each.communicate(), each.returncode) for each in started]
    assert [(err, code) for _, err, code in ended] == [("", 0)] * 4
    assert len({out for out, _, _ in ended}) == 1
    assert not [name for name in os.listdir(kept) if name.startswith(".")]
