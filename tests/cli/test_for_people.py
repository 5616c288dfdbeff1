"""What a person at a terminal meets: brief results, narrow terminals, progress, completion, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from calque.cli import app
from calque.cli.progress import BAR, progress
from calque.evaluation.boxes.reading import BOX_FORMATS
from calque.evaluation.presentation.sections import width
from calque.readers.boxes.formats import FORMATS
from calque.words.presentation import side_by_side
from tests.cli.test_process import on_a_terminal
from tests.conftest import Run

Command = Callable[..., Run]
Files = tuple[str, str]


@pytest.mark.parametrize("verb", ["detect", "layout"])
def test_brief_is_the_sentence_the_headline_and_the_signature(verb: str, calque: Command, files: Files) -> None:
    whole, brief = calque(verb, *files).out.splitlines(), calque(verb, *files, "--brief").out.splitlines()
    assert (brief[0], brief[-1]) == (whole[0], whole[-1])
    assert len(brief) < 12 < len(whole)
    assert "\\toprule" in calque(verb, *files, "--brief", "--format", "latex").out
    assert calque(verb, *files, "--brief", "-o", "result.md").code == 0


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "template"])
def test_brief_shortens_nothing_for_programs(format: str, calque: Command, files: Files) -> None:
    run = calque("detect", *files, "--brief", "--format", format)
    assert (run.code, run.out) == (2, "")
    assert f"--brief is for what people read (table, markdown, latex); {format} is always whole" in run.err


def test_only_a_source_document_with_a_template_has_one(calque: Command, files: Files) -> None:
    assert calque("detect", *files, "--format", "template").out.startswith(
        "## Model: model-a\n\n### Detection Metrics (T=0.5)\n"
    )
    run = calque("layout", *files, "--format", "template")
    assert (run.code, run.out) == (2, "")
    assert "layout has no reporting template; use --format markdown" in run.err


def test_check_tells_the_gate_in_every_format(calque: Command, tmp_path: Path) -> None:
    case = "{id: good, expected: {box: [0, 0, 4, 4]}, output: {box: [0, 0, 4, 4]}}"
    evaluator = "{type: iou_score, bbox_path: box, expected_bbox_path: box}"
    (tmp_path / "suite.yaml").write_text(f"name: s\nevaluators: [{evaluator}]\ncases: [{case}]\n")
    assert "\nGate: passed\n" in calque("check", "suite.yaml", "--brief").out
    assert "### Gate: passed\n" in calque("check", "suite.yaml", "--format", "markdown").out
    assert ",passed," in calque("check", "suite.yaml", "--format", "csv").out.splitlines()[1]
    assert "Gate: passed" in calque("check", "suite.yaml", "--format", "latex").out


@pytest.mark.parametrize("columns", [60, 80])
def test_tables_adapt_to_the_terminal(columns: int, files: Files, tmp_path: Path) -> None:
    shown = click.unstyle(on_a_terminal(tmp_path, "detect", *files, "--crops", COLUMNS=str(columns)))
    assert max(width(line) for line in shown.splitlines()) <= columns
    assert "purity" in shown


def test_two_texts_adapt_to_the_terminal_and_can_show_differences_only() -> None:
    words = [f"word{k}" for k in range(60)]
    read = [*words[:30], "other", *words[31:]]
    pairs = [(k, k) for k in range(60) if k != 30]
    assert max(map(width, side_by_side(words, read, pairs, columns=60))) <= 60
    few = [line.split() for line in side_by_side(words, read, pairs, columns=60, context=0)]
    assert few == [["…", "…"], ["word30", "|", "other"], ["…", "…"]]


def test_differences_are_about_show(calque: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three")
    (tmp_path / "b.txt").write_text("one too three")
    shown = calque("words", "a.txt", "b.txt", "--show", "a", "--differences")
    assert [line.split() for line in shown.out.splitlines()[1:]] == [["one", "one"], ["two", "|", "too"], ["three", "three"]]
    assert "--differences is about --show DOC" in calque("words", "a.txt", "b.txt", "--differences").err


def test_progress_counts_to_the_end() -> None:
    for done in range(101):
        told = progress(done, 100, 10.0, "state")
        assert len(told.split(" ")[0]) == BAR
        assert f"{done} of 100 states" in told
        assert ("left" in told) == (0 < done < 100)


IMPATIENT = """
import sys, threading
from calque.cli import progress
progress.PATIENCE = 0.0
shown = threading.Event()
writing, sys.stderr.flush = sys.stderr.flush, lambda: (writing(), shown.set())
with progress.working("merging", steps=4, noun="state") as merging:
    merging.advance(3)
    for _ in range(2):  # the first line may have been counted before the steps
        shown.clear()
        shown.wait(float(sys.argv[1]))
"""


def test_progress_is_a_bar_on_a_terminal_and_silence_on_a_pipe(tmp_path: Path) -> None:
    piped = subprocess.run([sys.executable, "-c", IMPATIENT, "0"], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("", "")
    seen = on_a_terminal(tmp_path, "60", script=IMPATIENT)
    assert "merging ███████████████░░░░░ 3 of 4 states" in seen
    assert seen.endswith("\r\x1b[K")


def test_help_and_completion_know_every_format(calque: Command) -> None:
    assert sorted(BOX_FORMATS) == sorted(entry.name for entry in FORMATS)
    for verb in ("detect", "convert", "validate"):
        told = " ".join(calque(verb, "--help").out.replace("-\n", "-").split()).replace("- ", "-")
        assert all(name in told for name in BOX_FORMATS), verb


FILES = {"FILE", "FOLDER", "DIR", "STATE", "PATH", "BASELINE", "IN", "OUT", "SUITE", "RESULT", "TRUTH", "RUN"}


def commands(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, context)
        elif command is not None:
            yield command


def test_shells_complete_files_wherever_one_is_asked_for() -> None:
    """Also where an option that takes ``-`` or refuses a folder is one of files."""
    every = [each for command in commands(app.calque, click.Context(app.calque)) for each in command.params]
    asking = [
        each for each in every if each.metavar and "=" not in each.metavar and {*re.findall(r"[A-Z]+", each.metavar)} & FILES
    ]
    assert len(asking) > 50
    assert [each.opts for each in asking if not isinstance(each.type, click.Path)] == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("calque det", ["detect"]),
        ("calque detect --bri", ["--brief"]),
        ("calque detect a b --from-truth coco-", ["coco-results"]),
        ("calque detect a b --format lat", ["latex"]),
        ("calque explain mean_p", ["mean_purity"]),
    ],
)
def test_shells_complete_verbs_options_formats_and_measures(typed: str, expected: list[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_CALQUE_COMPLETE": "bash_complete"}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'calque'; from calque.__main__ import main; main()"]
    done = subprocess.run(command, env={**os.environ, **words}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [f"plain,{word}" for word in expected]


AT_IMPORT = """
import os, signal, sys
from calque.__main__ import main
at = sys.argv.pop(1)
class Interrupting:
    def find_spec(self, name, *rest):
        if name == at:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.mark.parametrize(
    "module",
    ["calque.cli", "click", "calque.cli.app", "calque.cli.exits", "calque.cli.detect", "numpy", "calque.evaluation.evaluator"],
)
def test_an_interrupt_while_modules_are_imported_is_one_line(module: str, files: Files, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_IMPORT, module, "detect", *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted; nothing was written\n")
