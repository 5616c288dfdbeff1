"""A checkpoint that is left while something is being written, or while its inputs change: nothing half, and nothing wrong."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from calque import CalqueError, Detection, Evaluator
from calque.base.files import write_whole
from calque.evaluation.shards.checkpoint import Checkpoint, KeptBatches

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


def test_whoever_leaves_without_trouble_waits_for_all_that_was_begun(tmp_path: Path) -> None:
    go_on = threading.Event()

    def late() -> None:
        assert go_on.wait(GENEROUS)
        write_whole(tmp_path / "0.state", b"batch")

    with Checkpoint(str(tmp_path)) as checkpoint:
        checkpoint.begin(late)
        for number in range(1, 4):
            checkpoint.follow(lambda number=number: write_whole(tmp_path / f"{number}.state", b"batch"))
        threading.Timer(0.1, go_on.set).start()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number}.state" for number in range(4)]


def test_that_something_could_not_be_written_is_told_at_the_end(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no space left")

    def leave() -> None:
        with Checkpoint(str(tmp_path)) as checkpoint:
            checkpoint.begin(fail)

    with pytest.raises(OSError, match="no space left"):
        leave()


def test_who_is_interrupted_hears_of_that_and_not_of_what_could_not_be_written(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no space left")

    def leave() -> None:
        with Checkpoint(str(tmp_path)) as checkpoint:
            checkpoint.begin(fail)
            raise Interrupted

    with pytest.raises(Interrupted):
        leave()


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no signal of one's own on this system")
def test_a_second_signal_does_not_cut_short_what_is_being_written(tmp_path: Path) -> None:
    """Whoever presses Ctrl-C twice finds a whole file as well."""
    go_on = threading.Event()

    def late() -> None:
        assert go_on.wait(GENEROUS)
        write_whole(tmp_path / "0.state", b"batch")

    def interrupt(*_: object) -> None:
        threading.Timer(0.1, go_on.set).start()
        raise Interrupted

    def leave() -> None:
        with Checkpoint(str(tmp_path)) as checkpoint:
            checkpoint.begin(late)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            leave()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (tmp_path / "0.state").exists()


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
            checkpoint.evaluated(Detection(), "numbers", checkpoint.contents([str(file), str(file)], str), evaluate)

    with pytest.raises(CalqueError, match=r"pages\.ndjson: was changed while it was being evaluated"):
        run()
    kept = [path.name for path in (tmp_path / "kept").iterdir()]
    assert len(kept) <= (1 if moment == "at the end" else 0)  # the batch may have been written by then
    assert all("-0.state" in name for name in kept)
    moment = "never"
    with Checkpoint(str(tmp_path / "kept")) as checkpoint:
        again = checkpoint.evaluated(Detection(), "numbers", checkpoint.contents([str(file), str(file)], str), evaluate)
    assert checkpoint.reused == 0
    assert again.compute().to_json() == Evaluator(Detection(), keep="numbers").update(file, file).compute().to_json()
