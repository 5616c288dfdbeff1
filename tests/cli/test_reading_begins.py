"""Files are read from the moment on that the command line is understood; that changes when, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from calque.kernels import VARIABLE
from tests.conftest import Run

Process = Callable[..., Run]
Files = tuple[str, str]


def test_wrong_kernels_are_told_like_any_other_mistake(process: Process, files: Files) -> None:
    run = process("detect", *files, **{VARIABLE: "quantum"})
    assert (run.code, run.out) == (2, "")
    assert "quantum" in run.err
    assert "Traceback" not in run.err


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
    for arguments in (("--iou", "7"), ("-o", "result.unknown")):
        run = process("detect", *files, *arguments)
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith("error: ")
    shown = process("detect", *files, "--help")
    assert (shown.code, shown.err) == (0, "")


def test_one_file_may_stand_on_both_sides(process: Process, files: Files) -> None:
    run = process("detect", files[1], files[1])
    assert run.code == 2
    assert run.err.count("pred.json: /info/type: the file says") == 1
    assert process("detect", "--iou", "0.5", files[1], files[1]) == run
