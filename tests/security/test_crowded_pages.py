"""Pages with very many overlapping boxes, and masks that cross very many columns: memory stays bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import ContractError, Corpus, Detection, Evaluator, Layout
from calque.detection.auditing import audit
from calque.evaluation.boxes import crowding

MOST_MEMORY = 500_000_000
"""Bytes. The commands took more than 3 GB before there was a limit."""
MANY = 8_000

CHILD = """
import resource, sys
from calque.cli import app
sys.argv = ["calque", *sys.argv[1:]]
try:
    app.main()
finally:
    # Linux: ru_maxrss also counts the process that started this one.
    lines = open("/proc/self/status").read().splitlines() if sys.platform == "linux" else []
    peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    print("peak", *(peaks or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]), file=sys.stderr)
"""


def run_child(folder: Path, kernels: str, *arguments: str) -> tuple[int, str, int]:
    """Run a command in a process of its own; return its exit code, its messages and its peak memory in bytes."""
    environment = {**os.environ, "CALQUE_KERNELS": kernels}
    command = [sys.executable, "-c", CHILD, *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    messages, _, peak = run.stderr.rpartition("peak ")
    unit = 1 if sys.platform == "darwin" else 1024
    return run.returncode, messages, int(peak) * unit


def crowded(count: int) -> np.ndarray[Any, Any]:
    """Return boxes that all overlap each other and are all different."""
    shift = np.linspace(0, 1, count)
    return np.stack([shift, shift, 90 + shift, 90 + shift], axis=1)


def grid(side: int) -> np.ndarray[Any, Any]:
    """Return boxes that do not overlap, in rows and columns."""
    x, y = np.meshgrid(np.arange(side) * 10.0, np.arange(side) * 10.0)
    left, top = x.reshape(-1), y.reshape(-1)
    return np.stack([left, top, left + 9, top + 9], axis=1)


@pytest.mark.parametrize("command", ["detect", "layout", "audit", "audit with predictions"])
def test_crowded_page_is_refused_by_name_with_bounded_memory(tmp_path: Path, kernels: str, command: str) -> None:
    rows = [{"bbox": box, "category": "Table", "doc_id": "scan-7"} for box in crowded(MANY).tolist()]
    (tmp_path / "truth.json").write_text(json.dumps(rows))
    (tmp_path / "found.json").write_text(json.dumps([{**row, "score": 0.5} for row in rows]))
    files = ["truth.json"] if command == "audit" else ["truth.json", "found.json"]
    code, messages, peak = run_child(tmp_path, kernels, command.split(maxsplit=1)[0], *files, "--boxes", "xyxy")
    assert code == 2
    assert "scan-7" in messages
    assert peak < MOST_MEMORY


def test_audit_with_very_many_findings_is_refused_with_bounded_memory(tmp_path: Path, kernels: str) -> None:
    rows = [{"bbox": box, "category": "Table", "doc_id": "scan-7"} for box in crowded(2_000).tolist()]
    (tmp_path / "truth.json").write_text(json.dumps(rows))
    code, messages, peak = run_child(tmp_path, kernels, "audit", "truth.json", "--boxes", "xyxy")
    assert code == 2
    assert "scan-7" in messages
    assert peak < MOST_MEMORY


def test_audit_with_very_many_equal_boxes_is_refused(kernels: str) -> None:
    truth = Corpus.from_arrays([[0, 0, 9, 9]] * 1_500, ["T"] * 1_500, documents=["scan-7"] * 1_500)
    with pytest.raises(ContractError, match="scan-7") as refused:
        audit.audit(truth)
    assert refused.value.issues[0].code == "too-crowded"


@pytest.mark.parametrize("task", [Detection(), Layout()])
def test_page_with_many_boxes_that_do_not_overlap_is_evaluated(kernels: str, task: Any) -> None:
    boxes = grid(50)
    assert len(boxes) ** 2 > crowding.MOST_PAIRS
    truth = Corpus.from_arrays(boxes, ["T"] * len(boxes))
    found = Corpus.from_arrays(boxes, ["T"] * len(boxes), scores=np.linspace(0.1, 0.9, len(boxes)))
    numbers = Evaluator(task).update(truth, found).compute()
    assert numbers["recall@0.5" if isinstance(task, Detection) else "layout_accuracy_over_total"] == 1.0


def test_crowded_page_with_broken_boxes_is_refused(kernels: str) -> None:
    rows = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 90 + place / 100, 90]} for place in range(3_000)]
    rows[7]["bbox"] = [0, float("nan"), 1, 1]
    truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "T"}], "annotations": rows}
    with pytest.raises(ContractError) as refused:
        Evaluator(Detection()).update(truth, [{**row, "score": 0.5} for row in rows]).compute()
    assert refused.value.issues[0].code == "too-crowded"


@pytest.mark.parametrize("boxes", [True, False])
def test_crowded_masks_are_refused_whatever_their_boxes_say(tmp_path: Path, kernels: str, boxes: bool) -> None:
    ring = [[0, 0, 20, 0, 20, 20, 0, 20]]
    rows = [{"image_id": 1, "category_id": 1, "segmentation": ring} for _ in range(2_400)]
    if boxes:
        rows = [{**row, "bbox": [30 * place, 0, 1, 1]} for place, row in enumerate(rows)]
    truth = {
        "images": [{"id": 1, "width": 40, "height": 40}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{**row, "id": place + 1} for place, row in enumerate(rows)],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "found.json").write_text(json.dumps([{**row, "score": 0.5} for row in rows]))
    code, messages, peak = run_child(tmp_path, kernels, "detect", "truth.json", "found.json", "--on", "masks")
    assert code == 2
    assert "page 0" in messages
    assert peak < MOST_MEMORY


@pytest.mark.parametrize("ring", [[0, 0, 16_000_000, 60, 0, 60], [0, -3e8, 9, 3e8, 20, 3e8]])
def test_ring_with_very_long_edges_takes_bounded_memory(tmp_path: Path, kernels: str, ring: list[float]) -> None:
    row = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "segmentation": [ring]}
    truth = {
        "images": [{"id": 1, "width": 16_000_000, "height": 60}],
        "categories": [{"id": 1, "name": "T"}],
        "annotations": [{**row, "id": 1}],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "found.json").write_text(json.dumps([{**row, "score": 0.5}]))
    code, _, peak = run_child(tmp_path, kernels, "detect", "truth.json", "found.json", "--on", "masks")
    assert code in (0, 3)
    assert peak < MOST_MEMORY
