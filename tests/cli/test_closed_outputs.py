"""Readers that close stdout or stderr early, as ``head`` does: the exit code stays the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.conftest import Run

SUITE = """\
name: numbers
evaluators: [{type: equals, name: same}]
cases:
  - {id: bad, output: 1, expected: 2}
"""


COMMANDS = [
    (("detect", "truth.json", "found.json", "--fail-under", "AP=0.99"), 1),
    (("detect", "truth.json", "found.json", "--fail-under", "AP=0.99", "--format", "json"), 1),
    (("detect", "truth.json", "found.json"), 0),
    (("detect", "absent.json", "found.json"), 2),
    (("detect", "truth.json", "found.json", "--nonsense"), 2),
    (("fields", "truth.jsonl", "found.jsonl", "--fail-under", "cm_f1=0.99"), 1),
    (("words", "truth.txt", "found.txt", "--fail-over", "wer=0.01"), 1),
    (("words", "truth.txt", "found.txt", "truth.txt", "--fail-over", "wer=0.01"), 1),
    (("check", "suite.yaml"), 1),
    (("check", "suite.yaml", "--format", "jsonl"), 1),
    (("merge", "one.state", "two.state", "--fail-under", "recall@0.5=0.99"), 1),
    (("compare", "truth.json", "found.json", "found.json", "--fail-under", "AP=0.99"), 1),
    (("validate", "absent.json"), 2),
    (("explain",), 0),
    (("--help",), 0),
]


@pytest.mark.parametrize(("arguments", "code"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_command_with_an_output_closed_by_its_reader_keeps_its_exit_code(
    closed: str, arguments: tuple[str, ...], code: int, here: Path
) -> None:
    (here / "suite.yaml").write_text(SUITE)
    ends = {name: os.pipe() for name in ("stdout", "stderr")}
    for name, (reading, _) in ends.items():
        if closed in (name, "both"):
            os.close(reading)
    command = [sys.executable, "-m", "calque", *arguments]
    done = subprocess.run(command, cwd=here, stdout=ends["stdout"][1], stderr=ends["stderr"][1], check=False, timeout=60)
    for name, (reading, writing) in ends.items():
        os.close(writing)
        if closed not in (name, "both"):
            os.close(reading)
    assert done.returncode == code


@pytest.mark.parametrize("redirection", ["2>&1 | head -1", ">&-", "2>&-", ">&- 2>&-", "| head -c 1", "2> >(head -c 1)"])
def test_gate_behind_a_shell_redirection_still_fails(redirection: str, here: Path) -> None:
    gate = f"'{sys.executable}' -m calque detect truth.json found.json --fail-under AP=0.99"
    script = f'set -o pipefail; {gate} {redirection} > /dev/null; exit "${{PIPESTATUS[0]}}"'
    if ">&-" in redirection:
        script = f"{gate} {redirection}"
    done = subprocess.run(["bash", "-c", script], cwd=here, capture_output=True, check=False, timeout=60)
    assert done.returncode == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_gate_whose_output_file_is_a_pipe_without_reader_still_fails(here: Path) -> None:
    script = f"'{sys.executable}' -m calque detect truth.json found.json --fail-under AP=0.99 -o >(exec true) --format json"
    done = subprocess.run(["bash", "-c", script], cwd=here, capture_output=True, check=False, timeout=60)
    assert done.returncode == 1


def test_default_of_an_empty_path_without_a_parameter_source_is_accepted(
    calque: Callable[..., Run], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """click 8.4.0 reports no source while it converts a default value."""
    monkeypatch.setattr(click.Context, "get_parameter_source", lambda _self, _name: None)
    assert calque("detect", "truth.json", "found.json").code == 0
