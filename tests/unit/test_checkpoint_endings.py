"""A checkpoint that is left while something is being written, or while its inputs change: nothing half, and nothing wrong."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from calque import CalqueError, Detection, Evaluator
from calque.core.shards.checkpoint import Checkpoint, KeptBatches
from calque.core.storage.files import write_whole

GENEROUS = 60


class Interrupted(BaseException):
    """As a signal raises it."""


def test_what_is_being_written_is_finished_and_nothing_is_begun(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        begun.set()
        yield b"first half, "
        assert go_on.wait(GENEROUS)
        yield b"second half"

    def leave(checkpoint: Checkpoint) -> None:
        with checkpoint:
            checkpoint.begin(lambda: write_whole(tmp_path / "one.state", pieces()))
            assert begun.wait(GENEROUS)
            threading.Timer(0.1, go_on.set).start()
            raise Interrupted

    checkpoint = Checkpoint(str(tmp_path))
    with pytest.raises(Interrupted):
        leave(checkpoint)
    assert [path.name for path in tmp_path.iterdir()] == ["one.state"]
    assert (tmp_path / "one.state").read_bytes() == b"first half, second half"
    # As of a thread that was being started when the signal came.
    checkpoint.begin(lambda: write_whole(tmp_path / "two.state", b"late")).result(GENEROUS)
    assert [path.name for path in tmp_path.iterdir()] == ["one.state"]


def test_what_a_killed_process_left_is_taken_away_after_an_hour(tmp_path: Path) -> None:
    left = f".{'0a' * 20}.state.{'b1' * 6}"
    names = {left: 3700, left.replace(".state", "-12.state"): 3700, left.replace("b1", "c2"): 3500, "mine.state": 9999}
    for name, age in names.items():
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    Checkpoint(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {left.replace("b1", "c2"), "mine.state"}


def page(number: int) -> str:
    return json.dumps({"doc_id": f"d{number}", "page_index": 0, "boxes": [[0, 0, 9, 9]], "labels": ["Table"], "scores": [0.5]})


@pytest.mark.parametrize("moment", ["while it is read", "at the end"])
def test_what_changes_meanwhile_is_told_and_not_kept(tmp_path: Path, moment: str) -> None:
    """Kept under the digest of what was there before, it would be taken for what that comes to, or the other way about."""
    file = tmp_path / "pages.ndjson"
    file.write_text(page(1) + "\n")

    def evaluate(known: KeptBatches) -> Evaluator:
        if moment == "while it is read":
            file.write_text(page(2) + "\n" + page(3) + "\n")
        evaluator = Evaluator(Detection(), keep="numbers").update(file, file, known=known)
        if moment == "at the end":
            file.write_text(page(2) + "\n" + page(3) + "\n")
        return evaluator

    def run() -> None:
        with Checkpoint(str(tmp_path / "kept")) as checkpoint:
            checkpoint.evaluated(Detection(), "numbers", [str(file), str(file)], evaluate)

    with pytest.raises(CalqueError, match=r"pages\.ndjson: was changed while it was being evaluated"):
        run()
    kept = [path.name for path in (tmp_path / "kept").iterdir()]
    assert len(kept) <= (1 if moment == "at the end" else 0)  # the batch may have been written by then
    assert all("-0.state" in name for name in kept)
    moment = "never"
    with Checkpoint(str(tmp_path / "kept")) as checkpoint:
        again = checkpoint.evaluated(Detection(), "numbers", [str(file), str(file)], evaluate)
    assert checkpoint.reused == 0
    assert again.compute().to_json() == Evaluator(Detection(), keep="numbers").update(file, file).compute().to_json()
