"""After an error the last thing on stderr is the error: nothing of what the compiled kernels still hold is complained about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from calque.kernels import native_built
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

COCO = {
    "images": [{"id": 1, "width": 10, "height": 10}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}],
}
FOUND = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.5}]
FAULTS: dict[str, tuple[object, object]] = {
    "an unknown image": (COCO, [{**FOUND[0], "image_id": 7}]),
    "a box that is none": (COCO, [{**FOUND[0], "bbox": "x"}]),
    "text where a number belongs": ({**COCO, "annotations": [{**COCO["annotations"][0], "bbox": [0, 0, "5", 5]}]}, FOUND),
    "sides swapped": (FOUND, COCO),
    "not JSON": (COCO, "{"),
    "nothing": ({}, []),
    "a snapshot with a bad label": (truth({("a", 0): [("Figure", BOX)]}), predictions({("a", 0): [("Figur", BOX, 0.5)]})),
}


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
@pytest.mark.parametrize(
    "verb", ["detect", *(pytest.param(verb, marks=pytest.mark.long) for verb in ("layout", "validate", "audit"))]
)
@pytest.mark.parametrize("fault", list(FAULTS))
def test_no_line_of_leaks_follows_an_error(process: Callable[..., Run], tmp_path: Path, fault: str, verb: str) -> None:
    for name, tree in zip(("t.json", "p.json"), FAULTS[fault], strict=True):
        (tmp_path / name).write_text(tree if isinstance(tree, str) else json.dumps(tree))
    run = process(verb, "t.json", "p.json")
    assert run.code in (2, 3), run.out
    for told in (run.out, run.err):
        assert "nanobind" not in told
        assert "leaked" not in told
        assert "Traceback" not in told


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
def test_nor_an_error_that_a_program_does_not_catch(tmp_path: Path) -> None:
    write(tmp_path / "t.json", truth({("a", 0): [("Figure", BOX)]}))
    (tmp_path / "p.json").write_text("{")
    program = "import calque; calque.Evaluator(calque.Detection()).update('t.json', 'p.json')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False, text=True, env={**os.environ}
    )
    assert done.returncode == 1
    assert "ContractError: p.json" in done.stderr.splitlines()[-1]
    assert "nanobind" not in done.stderr
