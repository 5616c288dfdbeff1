"""Shards and checkpoints: many files in one command, killed anywhere, and always the same bits."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque.readers.page_rows import streams
from tests.conftest import Run

Calque = Callable[..., Run]

GENEROUS = 120
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""
SHARDS = 6
DETECT = ["detect", "truth-*.ndjson", "found-*.ndjson", "--format", "json", "--jobs", "1"]


def write_shards(folder: Path, shards: int = SHARDS, pages: int = 20) -> None:
    dice = random.Random("shards")
    for shard in range(shards):
        lines: dict[str, list[str]] = {"truth": [], "found": []}
        for page in range(pages):
            boxes = [[x, y, x + 50, y + 20] for x, y in ((dice.randrange(300), dice.randrange(300)) for _ in range(4))]
            labels = [dice.choice(["Table", "Figure"]) for _ in boxes]
            place: dict[str, Any] = {"doc_id": f"s{shard}p{page}", "page_index": 0, "labels": labels}
            lines["truth"].append(json.dumps({**place, "boxes": boxes}))
            moved = [[value + dice.randrange(4) for value in box] for box in boxes]
            lines["found"].append(
                json.dumps({**place, "boxes": moved, "scores": [dice.choice([0.5, dice.random()]) for _ in boxes]})
            )
        for side, written in lines.items():
            (folder / f"{side}-{shard:02}.ndjson").write_text("\n".join(written) + "\n")


def batches(folder: Path) -> list[Path]:
    """The states of batches; beside them there is one for each shard that says how many it has."""
    return sorted(folder.glob("*-*.state"))


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "calque", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=GENEROUS)


def joined(folder: Path) -> str:
    """What one command says of the same documents in two files, without the names of files."""
    for side in ("truth", "found"):
        parts = sorted(folder.glob(f"{side}-*.ndjson"))
        (folder / f"all.{side}").write_text("".join(part.read_text() for part in parts))
    done = command(
        folder, "detect", "all.truth", "all.found", "--from-truth", "ndjson", "--from-pred", "ndjson", "--format", "json"
    )
    return without_files(done.stdout)


def without_files(printed: str) -> str:
    tree = json.loads(printed)
    formats = ("from-truth", "from-pred")
    tree["settings"] = {key: value for key, value in tree["settings"].items() if key not in formats}
    return json.dumps({key: value for key, value in tree.items() if key not in ("sources", "issues", "signature")})


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    write_shards(tmp_path)
    return tmp_path


def test_a_pattern_stands_for_the_documents_of_all_its_files(calque: Calque, shards: Path) -> None:
    done = calque(*DETECT)
    assert (done.code, done.err) == (0, "")
    assert len(json.loads(done.out)["sources"]["truth"]) == SHARDS
    assert without_files(done.out) == joined(shards)


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        (
            ("truth-0[0-5].ndjson", "found-0[0-3].ndjson"),
            "truth-04.ndjson, truth-05.ndjson: no file of found-0[0-3].ndjson goes with",
        ),
        (("truth-0?.ndjson", "found-00.ndjson"), "truth-0?.ndjson is a pattern and found-00.ndjson is none"),
        (("nothing-*.ndjson", "found-*.ndjson"), "nothing-*.ndjson: no file has such a name"),
    ],
)
def test_files_without_a_partner_are_named(calque: Calque, shards: Path, sides: tuple[str, str], told: str) -> None:
    done = calque("detect", *sides)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert told in done.err


def test_the_same_command_takes_what_is_there(calque: Calque, shards: Path) -> None:
    plain = calque(*DETECT).out
    first, again = (calque(*DETECT, "--checkpoint", "kept") for _ in range(2))
    assert first.out == again.out == plain
    assert first.err == ""
    assert again.err == f"note: kept: {SHARDS} finished parts taken from there\n"
    assert calque(*DETECT, "--checkpoint", "kept", "--quiet").err == ""


def test_what_changed_is_done_again_and_nothing_else(calque: Calque, shards: Path) -> None:
    calque(*DETECT, "--checkpoint", "kept")
    lines = (shards / "found-02.ndjson").read_text().splitlines()
    (shards / "found-02.ndjson").write_text("\n".join(lines[1:]) + "\n")
    changed = calque(*DETECT, "--checkpoint", "kept")
    assert f"{SHARDS - 1} finished parts" in changed.err
    assert without_files(changed.out) == joined(shards)
    other = calque(*DETECT, "--checkpoint", "kept", "--iou", "0.9")
    assert other.err == ""
    assert other.out == calque(*DETECT, "--iou", "0.9").out


@pytest.mark.skipif(os.name != "posix", reason="no limits here")
def test_where_nothing_can_be_kept_nothing_is_told_of_the_result(shards: Path) -> None:
    """Numbers are made while the checkpoint is being written; whoever sees them can count on both."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)); from calque.__main__ import main; main()"
    line = [sys.executable, "-c", limited, *DETECT, "--checkpoint", "kept", "-o", "result.json"]
    done = subprocess.run(line, cwd=shards, capture_output=True, text=True, check=False, timeout=GENEROUS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: kept/")
    assert done.stderr.endswith(".state: file too large\n")
    assert not (shards / "result.json").exists()
    assert list((shards / "kept").iterdir()) == []


@pytest.mark.parametrize("damage", ["cut off", "another byte", "nothing", "something else"])
def test_a_broken_checkpoint_is_told_and_never_trusted(calque: Calque, shards: Path, damage: str) -> None:
    plain = calque(*DETECT, "--checkpoint", "kept").out
    victim = batches(shards / "kept")[2]
    whole = victim.read_bytes()
    broken = {
        "cut off": whole[:-20], "another byte": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:], "nothing": b"",
        "something else": b"{}",
    }  # fmt: skip
    victim.write_bytes(broken[damage])
    again = calque(*DETECT, "--checkpoint", "kept")
    assert again.code == 0
    assert again.out == plain
    assert again.err.count("warning: ") == 1
    assert f"warning: kept/{victim.name}: is not used, and what it stands for is done again" in again.err
    assert f"{SHARDS - 1} finished parts" in again.err
    assert victim.read_bytes() == whole


def test_where_the_end_of_a_shard_is_broken_its_batches_are_still_known(calque: Calque, shards: Path) -> None:
    plain = calque(*DETECT, "--checkpoint", "kept").out
    victim = next(path for path in sorted((shards / "kept").iterdir()) if path not in batches(shards / "kept"))
    whole = victim.read_bytes()
    victim.write_bytes(whole[:-1])
    again = calque(*DETECT, "--checkpoint", "kept")
    assert again.out == plain
    assert f"warning: kept/{victim.name}: is not used" in again.err
    assert f"{SHARDS} finished parts" in again.err
    assert victim.read_bytes() == whole


@pytest.mark.parametrize("which", ["batches", "ends"])
def test_states_under_the_names_of_others_are_told_and_never_trusted(calque: Calque, shards: Path, which: str) -> None:
    plain = calque(*DETECT, "--checkpoint", "kept").out
    own = batches(shards / "kept")
    one, other = (own if which == "batches" else sorted({*(shards / "kept").iterdir()} - {*own}))[:2]
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    again = calque(*DETECT, "--checkpoint", "kept")
    assert again.out == plain
    assert again.err.count("this is the state of something else") == 2
    assert (one.read_bytes(), other.read_bytes()) == contents


def test_files_that_were_moved_are_called_as_they_are_now(calque: Calque, shards: Path) -> None:
    calque(*DETECT, "--checkpoint", "kept")
    for side in ("truth", "found"):
        (shards / f"{side}-03.ndjson").rename(shards / f"{side}-99.ndjson")
    again = calque(*DETECT, "--checkpoint", "kept")
    assert f"{SHARDS} finished parts" in again.err
    assert again.out == calque(*DETECT).out


def test_a_file_is_no_folder(calque: Calque, shards: Path) -> None:
    done = calque(*DETECT, "--checkpoint", "truth-00.ndjson")
    assert done.code == 2
    assert "truth-00.ndjson" in done.err


def test_batches_of_one_pair_of_files_are_kept(monkeypatch: pytest.MonkeyPatch, shards: Path, calque: Any) -> None:
    joined(shards)
    monkeypatch.chdir(shards)
    monkeypatch.setattr(streams, "BATCH", 200)
    pair = ["detect", "all.truth", "all.found", "--from-truth", "ndjson", "--from-pred", "ndjson", "--format", "json"]
    plain = calque(*pair)
    first = calque(*pair, "--checkpoint", "kept")
    kept = batches(shards / "kept")
    assert len(kept) > 3
    kept[1].unlink()
    kept[2].write_bytes(kept[2].read_bytes()[:-1])
    again = calque(*pair, "--checkpoint", "kept")
    assert plain.out == first.out == again.out
    assert f"note: kept: {len(kept) - 2} finished parts" in again.err
    assert again.err.count("warning:") == 1


def killed_at(folder: Path, seconds: float) -> int | None:
    """How a run ended that was killed after so long; ``None`` when it was."""
    line = [sys.executable, "-m", "calque", *DETECT, "--checkpoint", "kept", "-o", "result.json"]
    process = subprocess.Popen(line, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return None


def killed_again_and_again(folder: Path, times: int) -> None:
    began = time.monotonic()
    plain = command(folder, *DETECT).stdout
    usual = time.monotonic() - began
    dice = random.Random("kill")
    for _ in range(times):
        if killed_at(folder, dice.uniform(0.1, 1.3) * usual) is not None:
            assert (folder / "result.json").read_text() == plain
            for kept in dice.sample(sorted((folder / "kept").glob("*.state")), dice.randrange(2 * SHARDS)):
                kept.unlink()
        (folder / "result.json").unlink(missing_ok=True)
    done = command(folder, *DETECT, "--checkpoint", "kept")
    assert done.stdout == plain
    assert "warning" not in done.stderr
    assert len(batches(folder / "kept")) == SHARDS


@pytest.mark.skipif(os.name != "posix", reason="no such signal here")
def test_killed_at_some_points_the_same_bits(shards: Path) -> None:
    killed_again_and_again(shards, 4)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="no such signal here")
def test_killed_at_a_hundred_points_the_same_bits(shards: Path) -> None:
    killed_again_and_again(shards, 100)


def test_a_batch_that_was_kept_is_not_written_again_when_its_shard_had_not_ended(calque: Calque, tmp_path: Path) -> None:
    write_shards(tmp_path, shards=1)
    first = calque(*DETECT, "--checkpoint", "kept")
    (batch,) = batches(tmp_path / "kept")
    for ending in set((tmp_path / "kept").glob("*.state")) - {batch}:
        ending.unlink()
    before = batch.stat().st_ino, batch.stat().st_mtime_ns
    second = calque(*DETECT, "--checkpoint", "kept")
    assert (second.code, second.out) == (first.code, first.out)
    assert (batch.stat().st_ino, batch.stat().st_mtime_ns) == before
