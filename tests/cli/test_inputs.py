"""What can be read only once, a pipe or standard input: read through, and called as people called it."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import Evaluator
from tests.conftest import Run


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_through_by_every_verb(process: Callable[..., Run], files: tuple[str, str], tmp_path: Path) -> None:
    """As ``<(command)`` is; it gives what the file gives, and is called as it was called."""
    truth, found = files
    os.mkfifo(tmp_path / "pipe")
    for verb in (["detect"], ["layout"], ["validate"], ["audit"]):
        usual = process(*verb, truth, found)
        data = (tmp_path / found).read_bytes()
        feeding = threading.Thread(target=lambda data=data: (tmp_path / "pipe").write_bytes(data))
        feeding.start()
        through = process(*verb, truth, "pipe")
        feeding.join()
        assert (through.code, through.out.replace("pipe", found)) == (usual.code, usual.out)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_state_never_names_a_temporary_file(calque: Callable[..., Run], files: tuple[str, str], tmp_path: Path) -> None:
    """What was a stream is called as people called it, in the sources and in every issue."""
    truth, found = files
    os.mkfifo(tmp_path / "pipe")
    feeding = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / found).read_bytes()))
    feeding.start()
    run = calque("detect", truth, "pipe", "--save", "run.state", "--format", "json")
    feeding.join()
    kept = Evaluator.load(tmp_path / "run.state").compute().to_dict()
    for said in (run.json, kept):
        assert [entry["file"] for entry in said["sources"]["predictions"]] == ["pipe"]
        assert {issue["file"] for issue in said["issues"]} <= {truth, "pipe"}
    assert tempfile.gettempdir().encode() not in (tmp_path / "run.state").read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_cases_of_a_suite_from_a_pipe(calque: Callable[..., Run], tmp_path: Path) -> None:
    kind = "{type: iou_score, bbox_path: box, expected_bbox_path: box, threshold: 0.5}"
    (tmp_path / "suite.yaml").write_text(f"evaluators: [{kind}]\ncases: [{{id: a, output: 1, expected: 1}}]\n")
    case = '{"id": "a", "output": {"box": [0, 0, 2, 2]}, "expected": {"box": [0, 0, 2, 2]}}\n'
    os.mkfifo(tmp_path / "pipe")
    feeding = threading.Thread(target=lambda: (tmp_path / "pipe").write_text(case))
    feeding.start()
    run = calque("check", "suite.yaml", "--data", "pipe", "--save", "run.state")
    feeding.join()
    assert (run.code, run.out.splitlines()[0]) == (0, "The only case passes.")
    assert [file for file, _ in Evaluator.load(tmp_path / "run.state").compute().sources.truth] == ["pipe"]
    refused = calque("check", "-")
    assert refused.code == 2
    assert "cases can be read so: --data -" in refused.err
