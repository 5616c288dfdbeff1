"""Reading ahead changes when files are read, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from calque.cli import ahead
from calque.kernels import VARIABLE
from tests.conftest import Run

Process = Callable[..., Run]
Files = tuple[str, str]


@pytest.fixture(autouse=True)
def nothing_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_begun", {})


def test_what_was_begun_is_handed_out_once(files: Files, tmp_path: Path) -> None:
    truth, found = (str(tmp_path / name) for name in files)
    ahead.begin(["detect", truth, found, "--iou", "0.5"])
    begun = dict(ahead._begun)
    assert list(begun) == [truth, found]
    assert ahead.scanned(truth) is begun[truth]
    assert ahead.scanned(truth) is not begun[truth]
    assert ahead.scanned(found) is begun[found]


@pytest.mark.parametrize("arguments", [[], ["detect"], ["--version"], ["merge", "a", "b"], ["check", "gt.json"]])
def test_nothing_is_begun_for_other_verbs(arguments: list[str]) -> None:
    ahead.begin(arguments)
    assert ahead._begun == {}


def test_wrong_kernels_are_left_for_the_verb_to_tell(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "quantum")
    ahead.begin(["detect", *(str(tmp_path / name) for name in files)])
    assert ahead._begun == {}


def test_the_order_of_arguments_makes_no_difference(process: Process, files: Files) -> None:
    usual = process("detect", *files, "--format", "json")
    assert usual.code == 0
    assert process("detect", "--format", "json", *files) == usual
    assert process("detect", files[0], "--format", "json", files[1]) == usual


def test_files_that_turn_out_not_to_be_wanted_leave_no_trace(process: Process, files: Files) -> None:
    for arguments in (("--format", "nonsense"), ("--nonsense",)):
        run = process("detect", *files, *arguments)
        assert (run.code, run.out) == (2, "")
        assert len(run.err.splitlines()) == 4
    shown = process("detect", *files, "--help")
    assert (shown.code, shown.err) == (0, "")


def test_one_file_may_stand_on_both_sides(process: Process, files: Files) -> None:
    run = process("detect", files[1], files[1])
    assert run.code == 2
    assert run.err.count("pred.json: /info/type: the file says") == 1
    assert process("detect", "--iou", "0.5", files[1], files[1]) == run
