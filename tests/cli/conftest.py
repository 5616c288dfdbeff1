"""Files on which commands are tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Ground truth and predictions with a bit of everything: pairs, misses, inventions, one-sided documents, empty pages."""
    expected = truth({
        ("annual-report.pdf", 0): [("Figure", (0.1, 0.1, 0.9, 0.5)), ("Figure", (0.1, 0.55, 0.45, 0.9))],
        ("annual-report.pdf", 1): [],
        ("budget.pdf", 2): [("Figure", BOX)],
        ("charter.pdf", 0): [("Figure", (0.2, 0.2, 0.8, 0.8))],
    })  # fmt: skip
    found = predictions({
        ("annual-report.pdf", 0): [("Figure", (0.1, 0.15, 0.9, 0.5), 0.9), ("Figure", (0.1, 0.55, 0.45, 0.75), 0.8)],
        ("annual-report.pdf", 1): [("Figure", (0.3, 0.3, 0.4, 0.4), 0.3)],
        ("budget.pdf", 2): [("Figure", BOX, 0.99)],
        ("draft.pdf", 0): [("Figure", BOX, 0.4)],
    })  # fmt: skip
    write(tmp_path / "gt.json", expected)
    write(tmp_path / "pred.json", found)
    return "gt.json", "pred.json"


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Run]:
    """Runs ``calque ARGUMENTS`` in a process of its own."""

    def run(*arguments: str, **environment: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "calque", *arguments],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run
