"""Files on which commands are tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.kept import Kept
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


BOXES = """\
name: boxes
evaluators: [{type: iou_score, name: box, bbox_path: box, expected_bbox_path: box}]
gate: {pass_rate: 0.25}
cases:
  - {id: good, output: {box: [0, 0, 2, 2]}, expected: {box: [0, 0, 2, 2]}}
  - {id: bad, output: {box: [0, 0, 2, 2]}, expected: {box: [5, 5, 6, 6]}}
"""


@pytest.fixture
def here(made_once: MadeOnce, calque: Callable[..., Run], tmp_path: Path) -> Path:
    """A folder with something to evaluate for every verb."""
    return made_once(_make, calque, tmp_path)


Make = Callable[[Callable[..., Run], Path], None]
MadeOnce = Callable[[Make, Callable[..., Run], Path], Path]


@pytest.fixture(scope="session")
def made_once() -> MadeOnce:
    """Fills a folder with files that several commands make: the first time by them, from then on with copies."""
    kept: Kept[dict[str, bytes]] = Kept()

    def lay_out(make: Make, calque: Callable[..., Run], folder: Path) -> Path:
        def made() -> dict[str, bytes]:
            make(calque, folder)
            return {path.name: path.read_bytes() for path in folder.iterdir()}

        for name, content in kept(f"files of {make.__module__}", made).items():
            (folder / name).write_bytes(content)
        return folder

    return lay_out


def _make(calque: Callable[..., Run], tmp_path: Path) -> None:
    expected = {("a", 0): [("Figure", BOX), ("Figure", (0.6, 0.6, 0.9, 0.9))], ("b", 0): [("Figure", BOX), ("Table", BOX)]}
    found = {("a", 0): [("Figure", BOX, 0.9), ("Table", (0.6, 0.1, 0.9, 0.4), 0.8)], ("b", 0): [("Figure", BOX, 0.7)]}
    write(tmp_path / "truth.json", truth(expected))
    write(tmp_path / "found.json", predictions(found))
    for name, document, boxes in (("one", "c", [("Figure", BOX, 0.5)]), ("two", "d", [])):
        write(
            tmp_path / "t.json",
            truth({(document, 0): [("Figure", BOX), ("Table", (0.6, 0.6, 0.9, 0.9))][: 1 + (name == "two")]}),
        )
        write(tmp_path / "p.json", predictions({(document, 0): boxes}))
        assert calque("detect", "t.json", "p.json", "--save", f"{name}.state").code == 0
    write(tmp_path / "t.json", truth({("c", 0): [("Figure", BOX), ("Table", (0.6, 0.6, 0.9, 0.9))]}))
    write(tmp_path / "p.json", predictions({("c", 0): [("Figure", BOX, 0.5), ("Table", (0.6, 0.6, 0.9, 0.9), 0.5)]}))
    assert calque("detect", "t.json", "p.json", "--save", "one.state").code == 0
    (tmp_path / "truth.jsonl").write_text('{"id": 1, "total": 5}\n{"id": 2, "total": 7}\n')
    (tmp_path / "found.jsonl").write_text('{"id": 1, "total": 5}\n{"id": 2, "total": 9}\n')
    (tmp_path / "truth.html").write_text("<table><tr><th>Item<th>2019<tr><td>Revenue<td>4</table>")
    (tmp_path / "found.html").write_text("<table><tr><th>Item<th>2019<tr><td>Revenua<td>5</table>")
    (tmp_path / "truth.txt").write_text("to be or not")
    (tmp_path / "found.txt").write_text("to be and nothing")
    (tmp_path / "suite.yaml").write_text(BOXES)
