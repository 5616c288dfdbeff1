"""A checkpoint that is left while something is being written, or while its inputs change: nothing half, and nothing wrong."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from calque import CalqueError, Detection, Evaluator, Words
from calque.base.files import file_stamp, write_entry
from calque.evaluation.evaluator import Keep
from calque.evaluation.shards import checkpoint as checkpoint_module
from calque.evaluation.shards.checkpoint import Checkpoint, KeptBatches
from calque.evaluation.storage import state
from calque.readers.page_rows import streams


class Interrupted(BaseException):
    """As a signal raises it."""


def test_a_batch_that_is_interrupted_while_it_is_written_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"first half, "
        assert len(list(tmp_path.iterdir())) == 1
        raise Interrupted

    with pytest.raises(Interrupted):
        write_entry(tmp_path / "one.state", pieces())
    assert list(tmp_path.iterdir()) == []


def test_two_commands_that_finish_the_same_batch_share_its_file(tmp_path: Path) -> None:
    """The file of the first stays, because the first may be reading it."""
    file = tmp_path / "pages.ndjson"
    file.write_text("".join(page(number) + "\n" for number in range(3)))

    def run(before_the_end: Callable[[], object]) -> Evaluator:
        def evaluate(known: KeptBatches | None) -> Evaluator:
            before_the_end()
            return Evaluator(Detection(), keep="numbers").update(file, file, known=known)

        checkpoint = Checkpoint(str(tmp_path / "kept"))
        return checkpoint.evaluated(Detection(), "numbers", [str(file), str(file)], evaluate)

    stamps = []

    def other() -> None:
        run(lambda: None)
        stamps.extend(file_stamp(path.stat()) for path in (tmp_path / "kept").glob("*-0.state"))

    first = run(other)
    assert [file_stamp(path.stat()) for path in (tmp_path / "kept").glob("*-0.state")] == stamps
    assert first.compute().to_json() == Evaluator(Detection(), keep="numbers").update(file, file).compute().to_json()


@pytest.mark.parametrize("keep", ["numbers", "outcomes"])
def test_batches_that_are_mapped_give_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep) -> None:
    """Written now, found again, and merged with more documents."""
    monkeypatch.setattr(checkpoint_module, "MAPPED_BYTES", 0)
    monkeypatch.setattr(state, "MAPPED_BYTES", 0)
    monkeypatch.setattr(streams, "BATCH", 8)
    file = tmp_path / "pages.ndjson"
    file.write_text("".join(page(number) + "\n" for number in range(30)))
    plain = Evaluator(Detection(), keep=keep).update(file, file).compute()

    def evaluate(known: KeptBatches | None) -> Evaluator:
        return Evaluator(Detection(), keep=keep).update(file, file, known=known)

    for number in range(2):
        checkpoint = Checkpoint(str(tmp_path / "kept"))
        evaluator = checkpoint.evaluated(Detection(), keep, [str(file), str(file)], evaluate)
        assert (checkpoint.reused > 3) is bool(number)
        assert evaluator.compute().to_json() == plain.to_json()
        assert [*evaluator.compute().outcomes().rows()] == [*plain.outcomes().rows()]
        (tmp_path / f"{number}.ndjson").write_text(page(99) + "\n")
        more = tmp_path / f"{number}.ndjson"
        expected = Evaluator(Detection(), keep=keep).update(file, file).update(more, more)
        assert evaluator.update(more, more).compute().numbers == expected.compute().numbers


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

    def evaluate(known: KeptBatches | None) -> Evaluator:
        if moment == "while it is read":
            file.write_text(page(2) + "\n" + page(3) + "\n")
        evaluator = Evaluator(Detection(), keep="numbers").update(file, file, known=known)
        if moment == "at the end":
            file.write_text(page(2) + "\n" + page(3) + "\n")
        return evaluator

    def run() -> tuple[Checkpoint, Evaluator]:
        checkpoint = Checkpoint(str(tmp_path / "kept"))
        return checkpoint, checkpoint.evaluated(Detection(), "numbers", [str(file), str(file)], evaluate)

    with pytest.raises(CalqueError, match=r"pages\.ndjson: was changed while it was being evaluated"):
        run()
    kept = [path.name for path in (tmp_path / "kept").iterdir()]
    assert len(kept) == (1 if moment == "at the end" else 0)
    assert all("-0.state" in name for name in kept)
    moment = "never"
    checkpoint, again = run()
    assert checkpoint.reused == 0
    assert again.compute().to_json() == Evaluator(Detection(), keep="numbers").update(file, file).compute().to_json()


def test_a_new_file_in_a_folder_of_inputs_is_reported_and_nothing_is_kept(tmp_path: Path) -> None:
    for side in ("truth", "found"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text("one two")
    folders = [str(tmp_path / "truth"), str(tmp_path / "found")]

    def evaluate(known: KeptBatches | None) -> Evaluator:
        (tmp_path / "truth" / "b.txt").write_text("three")
        return Evaluator(Words(), keep="numbers").update(*folders, known=known)

    with pytest.raises(CalqueError, match=r"truth: was changed while it was being evaluated"):
        Checkpoint(str(tmp_path / "kept")).evaluated(Words(), "numbers", folders, evaluate)
    assert list((tmp_path / "kept").iterdir()) == []
