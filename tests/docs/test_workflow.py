"""The workflow for GitHub in the written pages does what they say: its own commands are run."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from .pages import ROOT, blocks, lay_out

PAGE = ROOT / "docs/how-to/gates.md"
ELSEWHERE = ("pip ", "gh ")
"""Commands that need a package index, or GitHub."""


def workflow() -> dict[str, Any]:
    (text,) = blocks(PAGE, "yaml")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def steps() -> list[dict[str, Any]]:
    (job,) = workflow()["jobs"].values()
    return [step for step in job["steps"] if "run" in step and not step["run"].startswith(ELSEWHERE)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """What the page says is in the repository: the truth, and the baseline."""
    lay_out(PAGE, tmp_path)
    assert shell("calque detect truth.json finder.json --save finder.state -o finder.md", tmp_path) == 0
    assert shell("calque bless finder.state -o baseline.state", tmp_path) == 0
    return tmp_path


def shell(command: str, folder: Path) -> int:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=given, capture_output=True, check=False).returncode


def test_the_workflow_fails_when_the_gates_do_and_passes_once_the_loss_is_accepted(repository: Path) -> None:
    codes = [shell(step["run"], repository) for step in steps()]
    assert codes == [0, 1, 0]
    assert (repository / "summary.md").read_text() == (repository / "comment.md").read_text()
    assert (repository / "summary.md").read_text().startswith("### Gate failed: f1@0.5 ")
    assert len(list(ET.parse(repository / "gates.xml").getroot().iter("failure"))) == 1
    assert shell("calque bless new.state -o baseline.state", repository) == 0
    assert [shell(step["run"], repository) for step in steps()] == [0, 0, 0]


def test_steps_that_show_a_result_run_in_any_case() -> None:
    (job,) = workflow()["jobs"].values()
    judging = next(place for place, step in enumerate(job["steps"]) if "calque detect" in step.get("run", ""))
    assert all(step.get("if") == "always()" for step in job["steps"][judging + 1 :])
