"""Whoever gets exit code 3, or numbers of a file that was read wrongly, is told why, whatever they asked to see."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
SHOWN = [(), ("--brief",), ("--format", "csv"), ("--format", "json"), ("--format", "jsonl"), ("-o", "result.md")]
VERBS = [("detect", "truth.json", "found.json"), ("compare", "truth.json", "truth-again.json", "found.json")]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Predictions with x and y swapped, and one of an image that is not in the truth."""
    images = [{"id": number, "width": 900, "height": 1200} for number in range(1, 31)]
    boxes = [(image["id"], [20 + 7 * image["id"], 500 - 9 * image["id"], 150, 260]) for image in images]
    truth = [{"id": n, "image_id": n, "category_id": 1, "bbox": box, "area": 1, "iscrowd": 0} for n, box in boxes]
    again = [{"image_id": n, "category_id": 1, "bbox": box, "score": 0.5} for n, box in boxes]
    found = [{**row, "bbox": [row["bbox"][place] for place in (1, 0, 3, 2)]} for row in again]
    categories = [{"id": 1, "name": "Table"}]
    (tmp_path / "truth.json").write_text(json.dumps({"images": images, "categories": categories, "annotations": truth}))
    (tmp_path / "truth-again.json").write_text(json.dumps(again))
    (tmp_path / "found.json").write_text(json.dumps([*found, {**found[0], "image_id": 77}]))
    return tmp_path


@pytest.mark.parametrize("line", VERBS, ids=lambda line: line[0])
@pytest.mark.parametrize("shown", SHOWN, ids=" ".join)
def test_a_loss_and_a_slip_are_told(line: tuple[str, ...], shown: tuple[str, ...], calque: Command, here: Path) -> None:
    if line[0] == "compare":
        shown = (*shown, "--replicates", "100", "--shared-documents")
    run = calque(*line, *shown)
    assert run.code == 3
    for reason in ("images that are not in the truth: 77", "had x and y swapped"):
        told = [reason in run.out, reason in run.err]
        assert any(told), reason
        if run.code == 3 and "--format" not in shown:
            assert told.count(True) == 1, "said once"


def test_quiet_is_quiet(calque: Command, here: Path) -> None:
    run = calque("detect", "truth.json", "found.json", "--brief", "--quiet")
    assert (run.code, run.err) == (3, "")


def test_what_is_whole_has_nothing_to_say(calque: Command, here: Path) -> None:
    run = calque("detect", "truth.json", "truth-again.json", "--brief")
    assert (run.code, run.err) == (0, "")
