"""What a base install does: commands run on plain data without an extra."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_SCIPY = "import sys; sys.modules['scipy'] = None; from calque.__main__ import main; sys.exit(main())"


def run_without_scipy(*arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_SCIPY, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def write(path, record):
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", [140, 600])
@pytest.mark.parametrize("item", ["x", {"name": "x", "price": 1}], ids=["values", "objects"])
def test_fields_with_many_equal_items_runs_without_scipy(tmp_path, size, item):
    truth = write(tmp_path / "truth.json", [{"id": "a", "items": [item] * size}])
    found = write(tmp_path / "found.json", [{"id": "a", "items": [item] * (size - 1)}])
    done = run_without_scipy("fields", truth, found, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["overall"]["fn"] >= 1


@pytest.mark.parametrize(("written", "same"), [("05/03/2024", "2024-05-03"), ("6 March 2024", "2024-03-06")])
def test_fields_reads_dates_of_any_form_in_a_base_install(tmp_path, written, same):
    """The dates are read by a package that pip installs with calque, not by an extra."""
    truth = write(tmp_path / "truth.json", [{"id": "a", "date": written}])
    found = write(tmp_path / "found.json", [{"id": "a", "date": same}])
    done = run_without_scipy("fields", truth, found, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["overall"]["tp"] == 1
    base = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert any(line.startswith("python-dateutil") for line in base)


def test_check_with_many_equal_boxes_runs_without_scipy(tmp_path):
    boxes = [[0, 0, 10, 10]] * 140
    suite = {
        "evaluators": [{"type": "iou_score", "bbox_path": "boxes", "expected_bbox_path": "boxes", "format": "xyxy"}],
        "cases": [{"id": "a", "expected": {"boxes": boxes}, "output": {"boxes": boxes}}],
    }
    done = run_without_scipy("check", write(tmp_path / "suite.json", suite), "--format", "json")
    assert done.returncode == 0, done.stderr
