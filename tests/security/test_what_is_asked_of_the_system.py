"""Every verb reads its samples under an audit hook: no network, no program, no code from data, nothing written elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long  # every verb is run and watched
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def heard() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.watched"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def events(heard: dict[str, Any], *kinds: str) -> list[Any]:
    return [event for event in heard["heard"] if event[0].startswith(kinds)]


@pytest.mark.long
def test_no_verb_uses_the_network(heard: dict[str, Any]) -> None:
    assert events(heard, "socket.", "urllib.", "ftplib.", "http.", "smtplib.", "webbrowser.") == []


def test_no_verb_runs_a_program(heard: dict[str, Any]) -> None:
    assert events(heard, "os.", "subprocess.", "pty.", "ctypes.") == []


def test_nothing_that_data_names_is_imported_opened_or_run(heard: dict[str, Any]) -> None:
    assert events(heard, "import", "open", "exec", "compile", "pickle.") == []


def test_nothing_is_written_outside_the_folder_of_the_outputs(heard: dict[str, Any]) -> None:
    assert heard["outside"] == []
