"""Exit codes and usage."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from calque import Detection, Evaluator
from calque.cli import app, exits, progress
from calque.cli.render import coloured
from calque.engines import run_in_background
from calque.evaluation.presentation.sections import to_text
from tests.conftest import Run
from tests.snapshots import valid_predictions, valid_truth, write

Command = Callable[..., Run]
Files = tuple[str, str]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["detcet"], "there is no verb 'detcet'. did you mean 'detect'?"),
        (["xyzzy"], "there is no verb 'xyzzy'."),
        (["--nonsense"], "No such option"),
        (["detect"], "Missing argument 'TRUTH'"),
        (["detect", "gt.json"], "Missing argument 'PREDICTIONS'"),
        (["detect", "gt.json", "pred.json", "more.json"], "unexpected extra argument"),
        (["detect", "gt.json", "pred.json", "--treshold", "0.5"], "No such option"),
        (["detect", "gt.json", "pred.json", "--format", "xml"], "'xml' is not one of"),
        (["detect", "gt.json", "pred.json", "--missing", "ignore"], "'ignore' is not one of"),
        (["detect", "gt.json", "pred.json", "--min-area", "big"], "'big' is not a valid float"),
        (["detect", "gt.json", "pred.json", "--iou", "high"], "for --iou: high is not a number or a list of numbers"),
        (["detect", "gt.json", "pred.json", "--iou", ""], "is not a number or a list of numbers"),
        (["detect", "gt.json", "pred.json", "--iou", "0"], "iou must be above 0 and at most 1"),
        (["detect", "gt.json", "pred.json", "--iou", "50"], "iou must be above 0 and at most 1"),
        (["detect", "gt.json", "pred.json", "--min-score", "nan"], "min_score must be a finite number"),
        (["detect", "gt.json", "pred.json", "--class-weight", "Table"], "for --class-weight: Table is not NAME=WEIGHT"),
        (["detect", "gt.json", "pred.json", "--class-weight", "2"], "NAME=WEIGHT"),
        (["detect", "gt.json", "pred.json", "--class-weight", "Table=-2"], "class weights must be NAME=WEIGHT, from 0"),
        (["detect", "gt.json", "pred.json", "--labels", "Figur"], "no file has the label 'Figur'; did you mean 'Figure'?"),
        (["detect", "gt.json", "pred.json", "--class-weight", "Stamp=2"], "no file has the label 'Stamp'; the labels are"),
        (["check", "gt.json", "--evaluator", "x"], "for --evaluator: 'x' is not NAME=FILE.py:FUNCTION"),
        (["validate", "gt.json", *["--from", "coco"] * 2], "for --from: is given 2 times for 1 files"),
        (["merge"], "Missing argument 'STATE...'"),
        (["validate"], "Missing argument 'FILE...'"),
    ],
)
def test_usage_errors_exit_with_2(arguments: list[str], message: str, calque: Command, files: Files, tmp_path: Path) -> None:
    run = calque(*arguments)
    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert set(os.listdir(tmp_path)) == set(files)


@pytest.mark.parametrize(
    ("uses", "thresholds"),
    [(["--iou", "0.9", "--iou", "0.3"], [0.3, 0.9]), (["--iou", "0.9,0.3"], [0.3, 0.9]), ([], [0.5, 0.75])],
)
def test_thresholds_are_repeated_or_listed(uses: list[str], thresholds: list[float], calque: Command, files: Files) -> None:
    assert calque("detect", *files, *uses, "--format", "json").json["thresholds"] == thresholds


def test_options_reach_the_settings(calque: Command, files: Files) -> None:
    options = ("--labels", "Figure,Table", "--min-area", "0.001", "--min-score", "0.1", "--missing", "intersect")
    more = ("--class-weight", "Table=2", "--class-weight", "Figure=0.5", "--allow-missing-scores", "--lenient")
    more += ("--max-detections", "10,1", "--document-key", "file_name")
    more += ("--errors", "tide", "--error-limits", "0.6,0.2,0.5,0.8")
    more += ("--from-truth", "snapshot", "--from-pred", "snapshot", "--units", "normalized", "--page-size", "600,800")
    settings = calque("detect", *files, *options, *more, "--format", "json").json["settings"]
    assert settings == {
        "match": "greedy",
        "iou": "0.5,0.75",
        "labels": "Figure,Table",
        "min-area": "0.001",
        "min-score": "0.1",
        "missing": "intersect",
        "class-weight": "Figure=0.5,Table=2.0",
        "maxdets": "1,10",
        "errors": "tide",
        "error-limits": "0.6,0.2,0.5,0.8",
        "document-key": "file_name",
        "missing-scores": "yes",
        "lenient": "yes",
        "recall-floor": "0.0",
        "precision-floor": "0.0",
        "from-truth": "snapshot",
        "from-pred": "snapshot",
        "boxes": "auto",
        "on": "shapes",
        "units": "normalized",
        "origin": "top_left",
        "page-size": "600.0,800.0",
        "class-map": "none",
        "class-map-truth": "none",
        "class-map-pred": "none",
    }


def test_without_a_verb_the_help_is_shown(calque: Command) -> None:
    run = calque()
    assert "Usage: calque" in run.out + run.err


def test_something_that_could_not_be_evaluated_exits_with_3(calque: Command, tmp_path: Path) -> None:
    tree = valid_predictions()
    tree["predictions"][0]["objects"][0]["label"] = "Stamp"
    write(tmp_path / "gt.json", valid_truth())
    write(tmp_path / "pred.json", tree)
    run = calque("detect", "gt.json", "pred.json", "--lenient", "--save", "state")
    assert run.code == 3
    assert "the label 'Stamp' is not in label_map" in run.out
    assert calque("merge", "state").code == 3


def ended(capsys: pytest.CaptureFixture[str], command: Callable[[], int | None]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ending:
        exits.run(command)
    return ending.value.code, capsys.readouterr().err


def test_what_should_not_happen_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> int:
        raise ZeroDivisionError("by nothing")

    monkeypatch.delenv("CALQUE_DEBUG", raising=False)
    code, err = ended(capsys, broken)
    assert code == 2
    assert err.startswith("error: this should not happen: ZeroDivisionError: by nothing\n")
    assert "Traceback" not in err
    monkeypatch.setenv("CALQUE_DEBUG", "1")
    assert "Traceback" in ended(capsys, broken)[1]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, click.Abort])
def test_interrupts_exit_with_130(capsys: pytest.CaptureFixture[str], kind: type[BaseException]) -> None:
    def interrupted() -> int:
        raise kind

    assert ended(capsys, interrupted) == (130, "error: interrupted; nothing was written\n")


def test_sigterm_ends_in_order_with_143(capsys: pytest.CaptureFixture[str]) -> None:
    tidied = []

    def terminated() -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)  # once more, while things are put in order
            tidied.append(True)
        return 0

    try:
        assert ended(capsys, terminated) == (143, "error: ended by a signal (SIGTERM); nothing was written\n")
        assert tidied
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN  # nor does it disturb what is told on the way out
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_handlers_are_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = [signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)]
    assert ended(capsys, lambda: 0) == (0, "")
    assert [signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)] == before


def test_whoever_has_plans_for_sigterm_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
    try:
        assert ended(capsys, lambda: signal.raise_signal(signal.SIGTERM)) == (0, "")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [True]


def test_commands_run_in_other_threads_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_in_background(lambda: ended(capsys, lambda: 3)).result() == (3, "")


def test_no_code_is_a_fine_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys, lambda: None) == (0, "")


def test_version_and_help_without_a_process(calque: Command) -> None:
    run = calque("--version")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("calque ")
    assert "\n  merge " in calque("--help").out


def test_completion_knows_the_verbs() -> None:
    assert app.calque.list_commands(click.Context(app.calque)) == list(app.VERBS)
    assert app.calque.get_command(click.Context(app.calque), "nonsense") is None


def test_closed_output_before_a_verdict_exits_with_141() -> None:
    script = "import sys; from calque.cli import exits\ndef leave(): raise {}\nexits.run(leave)"
    for error in ("BrokenPipeError", "SystemExit(1)"):
        done = subprocess.run([sys.executable, "-c", script.format(error)], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (141, b"")


def test_colour_changes_nothing_but_colour() -> None:
    sections = Evaluator(Detection()).update(valid_truth(), valid_predictions()).compute().sections()
    text = coloured(sections)
    assert "\x1b" in text
    assert click.unstyle(text) == to_text(sections)


# Progress.


class Terminal:
    """A terminal that remembers what was written, and tells when it was first written to."""

    def __init__(self) -> None:
        import threading

        self.text = ""
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        self.written.set()
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_shows_a_sign_of_life_and_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.working("evaluating"):
        assert terminal.written.wait(10)
    assert terminal.text.startswith("\revaluating … 0 s")
    assert terminal.text.endswith("\r\x1b[K")


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 1000)
    with progress.working("evaluating"):
        pass
    assert terminal.text == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_silent_when_asked_or_piped(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.working("evaluating", quiet=quiet):
        pass
    assert capsys.readouterr().err == ""
